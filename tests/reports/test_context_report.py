"""The context report: from a lake to a page; what it replays first, what it says is missing, and hostile text."""

import json
from datetime import UTC, datetime

import pytest
from hostile_sessions import HOSTILE_SESSION, write_hostile_sessions
from report_pages import FRAME, HOSTILE, Page

import workbench as wb
from workbench.config.context import Pressure
from workbench.errors import NotFoundError, StoreError
from workbench.reports.context import WHY, context_report
from workbench.reports.context_frames import SCHEMAS, ContextFrames
from workbench.reports.context_job import read_context, to_replay, write_context_report
from workbench.reports.render.html import ELEMENTS
from workbench.reports.render.text import one_line
from workbench.surfaces.shipped import sample_sessions

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
SECTIONS = {"overview", "missing", "tokens", "pressure", "sections", "units", "distillers", "dearest", "counting"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("context-report") / "home")
    bench.ingest(*sample_sessions())
    return bench


@pytest.fixture(scope="module")
def heard():
    return []


@pytest.fixture(scope="module")
def written(bench, heard, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    return bench.report("context", folder, progress=lambda *told: heard.append(told))


@pytest.fixture(scope="module")
def page(written):
    return Page(written.path.read_text("utf-8"))


def test_sessions_are_replayed_first_and_the_progress_is_told(written, heard, bench):
    assert written.sessions == 13
    assert [(done, of) for done, of, _ in heard] == [(done, 13) for done in range(14)]
    assert bench.sql("select count(*) from replays where level = 'exchange'").item() == 13


def test_a_second_report_replays_nothing_and_tells_the_same(written, bench, tmp_path):
    heard = []
    again = bench.report("context", tmp_path, progress=lambda *told: heard.append(told))
    assert heard == []
    assert bench.sql("select count(*) from replays").item() == 13
    bodies = [path.read_text("utf-8").partition('<footer id="foot">')[0] for path in (written.path, again.path)]
    assert bodies[0] == bodies[1]


def test_the_page_has_all_its_sections_and_the_sums_of_the_tables(page, bench):
    assert page.ids() >= SECTIONS | {"tokens-by-exchange", "tokens-by-session", "sessions-table", "units-included"}
    engine, classic, prompts = bench.sql(
        "select sum(raw_tokens), sum(classic_tokens), count(*) from compiles where mode = 'engine'"
    ).row(0)
    assert f"in {prompts} prompts of 13 recorded sessions" in page.text("top")
    assert f"{engine / 1000:.1f} k tokens" in page.text("overview")
    assert f"{classic / 1000:.1f} k tokens" in page.text("overview")
    before, after = bench.sql("select sum(input_tokens), sum(output_tokens) from distiller_stats").row(0)
    assert f"{before:,} {after:,} {before - after:,}" in page.text("distillers-table")
    assert "by words alone" in page.text("missing")


def test_it_is_made_of_allowed_elements_and_leads_nowhere(page):
    assert page.tags <= ELEMENTS | FRAME
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")


def test_the_manifest_names_what_it_was_made_from(written):
    told = json.loads(written.manifest.read_text("utf-8"))
    assert (told["report"], told["file"]) == ("context", "context.html")
    assert set(told["tables"]) >= {"replays", "compiles", "unit_scores", "distiller_stats", "sessions"}
    assert all(isinstance(version, int) for name, version in told["tables"].items() if name != "session_labels")
    assert told["parameters"]["level"] == "exchange"
    assert told["parameters"]["embedders"] == []
    assert len(told["parameters"]["policy_id"]) == 16


def test_a_report_of_one_session_tells_of_no_other(bench, written, tmp_path):
    del written
    session_id = bench.resolve_session("895dc31c")
    one = bench.report("context", tmp_path / "one.html", session_ids=[session_id])
    frames = read_context(bench._lake, [session_id]).frames
    assert (one.sessions, set(frames.prompts["session_id"])) == (1, {session_id})
    assert "of 1 recorded session," in Page(one.path.read_text("utf-8")).text("top")


def test_another_configuration_is_replayed_anew(bench, written, tmp_path):
    del written
    session_id = bench.resolve_session("a6afe694")
    other = wb.open(bench.home.root, context_engine={"scoring": {"w_recency": 0.1}})
    heard = []
    other.report("context", tmp_path, session_ids=[session_id], progress=lambda *told: heard.append(told))
    assert heard[0] == (0, 1, session_id)
    policies = bench.sql("select distinct policy_id from replays where session_id = $id", {"id": session_id})
    assert policies.height == 2


def replay_row(**more):
    told = {"session_id": "s", "exchanges": 2, "replay_id": "r", "policy_id": "p", "is_outdated": False}
    return {**told, "code_version": wb.__version__, **more}


@pytest.mark.parametrize(
    ("row", "replayed"),
    [
        ({}, []),
        ({"embedder": "m"}, []),
        ({"replay_id": None, "policy_id": None, "code_version": None}, ["s"]),
        ({"policy_id": "other"}, ["s"]),
        ({"code_version": "0.0.1"}, ["s"]),
        ({"is_outdated": True}, ["s"]),
        ({"exchanges": 0, "replay_id": None}, []),
    ],
)
def test_a_replay_holds_while_configuration_version_and_session_are_the_same(row, replayed):
    frames = ContextFrames.of(replays=[replay_row(**row)])
    assert to_replay(frames.replays, "p") == replayed


def test_a_session_that_grew_is_replayed_anew(tmp_path):
    log = tmp_path / "talk.jsonl"
    record = (
        '{{"type":"user","uuid":"u{n}","sessionId":"s1","timestamp":"2026-03-01T10:0{n}:00Z","cwd":"/p",'
        '"message":{{"role":"user","content":"hello {n}"}}}}\n'
    )
    bench = wb.open(tmp_path / "home")
    for n in (1, 2):
        with log.open("a", encoding="utf-8") as file:
            file.write(record.format(n=n))
        bench.ingest(log)
        bench.report("context", tmp_path)
    assert bench.sql("select prompts from replays order by recorded_at")["prompts"].to_list() == [1, 2]
    page = Page((tmp_path / "context.html").read_text("utf-8"))
    assert "in 2 prompts of 1 recorded session" in page.text("top")
    assert "No session is long enough" in page.text("units")
    assert "No tool output was large enough" in page.text("distillers")


def test_a_home_without_sessions_has_a_page_that_says_so(tmp_path):
    written = wb.open(tmp_path / "home").report("context", tmp_path)
    page = Page(written.path.read_text("utf-8"))
    assert "no prompts yet" in page.text("empty")
    assert "overview" not in page.ids()


def test_hostile_text_is_only_text(tmp_path):
    bench = wb.open(tmp_path / "home")
    bench.ingest(write_hostile_sessions(tmp_path))
    page = Page(bench.report("context", tmp_path, session_ids=[HOSTILE_SESSION]).path.read_text("utf-8"))
    assert page.tags <= ELEMENTS | FRAME


NAMES = [text for text in HOSTILE[:-1] if text.isascii() or text.encode("utf-8", "ignore").decode() == text]
"""Those that a table can hold: half a surrogate pair cannot come out of one."""


@pytest.mark.parametrize("text", NAMES, ids=range(len(NAMES)))
def test_hostile_titles_and_names_are_shown_and_do_nothing(text):
    prompts = [
        {
            "session_id": text, "turn": turn, "raw_tokens": 9, "classic_tokens": 9, "pressure": 0.1, "cuts": 0,
            "pressure_mode": "normal", "usable_tokens": 100, "frame_tokens": 9, "task_type": text, "units": 1,
            "units_included": 1, "hydrated": 0,
        }
        for turn in (1, 2)
    ]  # fmt: skip
    frames = ContextFrames.of(
        replays=[{"session_id": text, "title": text, "exchanges": 2, "replay_id": "r", "embedder": text}],
        prompts=prompts,
        units=[{"unit_type": text, "age_turns": 3, "why": why, "units": 1, "tokens": 1} for why in WHY],
        distillers=[{"distiller": text, "intensity": "full", "runs": 1, "input_tokens": 9, "output_tokens": 3}],
    )
    page = Page(context_report(frames, Pressure(), created_at=NOW, zone=UTC))
    assert page.tags <= ELEMENTS | FRAME
    assert one_line(text) in page.text("dearest-table")
    assert one_line(text) in page.text("missing")


def test_the_frames_have_the_columns_that_are_declared(bench, written):
    del written
    frames = read_context(bench._lake).frames
    assert {name: dict(frame.schema) for name, frame in frames._asdict().items()} == SCHEMAS


def test_a_place_that_cannot_be_written_is_named(bench, written, tmp_path):
    del written
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        write_context_report(bench._lake, bench.config, tmp_path / "file" / "x.html")
    with pytest.raises(NotFoundError, match="there are: sessions, context"):
        bench.report("weather", tmp_path)
