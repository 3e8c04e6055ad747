"""`workbench context` and `workbench report context` over the samples; and what docs/context.md says of them."""

import re
import shlex
from pathlib import Path

import pytest
from in_process import runner

import workbench as wb
from workbench.surfaces.shipped import sample_sessions

DOCS = Path(__file__).parents[2] / "docs" / "context.md"
CURRENCIES = "895dc31c-6255-4222-94eb-1eb6c03087e3"
FIRST = "a6afe694-5405-49fb-968c-a8764e"
TERMS = ["pin", "recency", "relevance", "hydrate_boost", "unit_order", "last_step"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with two replays of one session, by exchange and by step."""
    home = tmp_path_factory.mktemp("cli-context") / "home"
    bench = wb.open(home)
    bench.ingest(*sample_sessions())
    bench.replay(CURRENCIES)
    bench.replay(CURRENCIES, level="step")
    return home


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, home):
    inside = runner(capsys, monkeypatch, tmp_path)
    return lambda *arguments: inside(*arguments, "--home", home)


def test_replay_prints_json_of_a_stable_shape(run):
    told = run("context", "replay", "895dc31c", "--json").json
    assert list(told) == ["policy_id", "mode", "level", "embedder", "sessions"]
    assert (told["mode"], told["level"], told["embedder"]) == ("engine", "exchange", None)
    assert re.fullmatch("[0-9a-f]{16}", told["policy_id"])
    (session,) = told["sessions"]
    assert list(session) == [
        "replay_id", "session_id", "prompts", "raw_tokens", "classic_tokens", "most_pressure",
    ]  # fmt: skip
    assert (session["session_id"], session["prompts"]) == (CURRENCIES, 4)
    assert 0 < session["most_pressure"] < 1


def test_replay_tells_a_person_what_was_sent_and_by_what(run):
    done = run("context", "replay", "895dc31c", "--level", "step")
    head, row, last = done.out.splitlines()
    assert head.split("  ")[0] == "session"
    assert row.split()[:2] == [CURRENCIES, "40"]
    assert re.fullmatch(r"1 session, engine by step, policy [0-9a-f]{16}, by words alone", last)
    assert (done.code, done.err) == (0, "")


def test_classic_sends_the_whole_history(run):
    (session,) = run("context", "replay", "895dc31c", "--classic", "--json").json["sessions"]
    assert session["raw_tokens"] == session["classic_tokens"]


@pytest.mark.parametrize(("turn", "unit"), [("4", "turn_1"), ("4.13", "call_33"), ("4", "art_")])
def test_why_prints_terms_that_add_up(run, turn, unit):
    told = run("context", "why", "895dc31c", turn, unit, "--json").json
    assert list(told) == ["unit", "terms", "compile", "last_included", "first_left_out"]
    assert list(told["terms"]) == TERMS
    assert sum(told["terms"].values()) == pytest.approx(told["unit"]["score"], abs=1e-12)
    printed = run("context", "why", "895dc31c", turn, unit).out.splitlines()
    values = dict(line.split() for line in printed if line.split()[0] in [*TERMS, "score"] and len(line.split()) == 2)
    assert sum(float(values[name]) for name in TERMS) == pytest.approx(float(values["score"]), abs=1e-8)
    assert printed[0].endswith("in the prompt") == (told["unit"]["why"] == "included")


def test_why_names_rivals_on_both_sides_of_the_line(run):
    printed = run("context", "why", "895dc31c", "4.13", "call_33").out
    assert "last one in: " in printed
    assert "first one out: " in printed


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("replay", "ffff"), 3, "no session begins with 'ffff'"),
        (("replay", "01KM"), 3, "fits several sessions"),
        (("why", "895dc31c", "seven", "turn_1"), 2, "'seven' is no turn; write 7, or 7.3"),
        (("why", "895dc31c", "99", "turn_1"), 3, "has no prompt 99; it has 1, 2, 3, 4"),
        (("why", "895dc31c", "4", "nothing"), 3, "no unit 'nothing' was on offer at turn 4; there were"),
        (("why", "895dc31c", "4.13", "call"), 3, "'call' fits several units of turn 4"),
        (("why", FIRST, "1", "turn_1"), 3, f"make one: workbench context replay {FIRST}"),
        (("why", "895dc31c", "4", "turn_1", "--replay", "none"), 3, "has no replay none by exchange"),
        (("replay", "last", "--level", "hour"), 2, "hour"),
    ],
)
def test_errors_are_one_line_with_a_remedy(run, arguments, code, told):
    done = run("context", *arguments)
    assert done.code == code
    assert told in done.err.replace("\n", " ")
    assert done.out == ""


def test_the_report_is_written_and_told(run, tmp_path):
    told = run("report", "context", "--session", "895dc31c", "--out", tmp_path / "one.html", "--json").json
    assert list(told) == ["path", "manifest", "sessions", "size_bytes", "session_ids"]
    assert (told["sessions"], told["session_ids"]) == (1, [CURRENCIES])
    assert Path(told["path"]).stat().st_size == told["size_bytes"]
    done = run("report", "context", "--session", "895dc31c", "--out", tmp_path / "one.html")
    first, second, third = done.out.splitlines()
    assert first.startswith(f"{tmp_path / 'one.html'}: 1 session, ")
    assert (second, third) == ("only session 895dc31c", f"open  {(tmp_path / 'one.html').as_uri()}")
    assert run("report", "context", "--session", "ffff").code == 3


def commands():
    text = DOCS.read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("workbench ")]


def test_the_commands_of_the_documentation_work(run):
    """`last` stands for a session; here for one that has what the page asks for."""
    listed = commands()
    assert len(listed) == 8
    for line in listed:
        if line.startswith("workbench lab"):
            continue  # tests/browser/test_context.py opens it
        words = [CURRENCIES if word == "last" else word for word in shlex.split(line)[1:]]
        done = run(*words)
        assert (done.code, done.err) == (0, ""), line


def test_the_python_of_the_documentation_works(home):
    bench = wb.open(home)
    blocks = re.findall(r"^```python\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    names = {"bench": bench}
    assert len(blocks) == 2
    for block in blocks:
        exec(block.replace('"last", 7, 3', f'"{CURRENCIES}", 4, 3').replace('"last"', f'"{CURRENCIES}"'), names)
    assert names["halted"].compiled.text
    assert names["anatomy"].show == "in"
