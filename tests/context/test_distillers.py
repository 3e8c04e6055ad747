from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from workbench.config.context import ContextEngine, Distiller
from workbench.context.artifacts import PENDING, Shelf
from workbench.context.classify import content_type_of
from workbench.context.distillers import DISTILLERS, Registered, distil
from workbench.context.distillers.distilled import HEADER_CHARS
from workbench.context.distillers.test_output import summarise_tests

RECORDED = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data") / "distiller"
FAILING = tomllib.loads((Path(__file__).parent / "data" / "failing_tests.toml").read_text(encoding="utf-8"))
SETTINGS = Distiller()
TYPES = [kind for kind in DISTILLERS if kind not in {"json", "error"}]
COLOURS = ["\x1b[0m", "\x1b[1;31m", "\x1b[38;5;160m", "\x1b]8;;https://example.org\x1b\\"]
WORDS = [
    "FAIL", "FAILED", "PASS", "ok  \t", "--- FAIL: TestX (0.00s)", "test a ... FAILED", "error", "error[E0308]: x",
    "diff --git a/x b/x", "@@ -1 +1 @@", "src/a.ts(1,2): error TS1: m", "=== RUN   TestX", "E   x", "____ t ____",
    "==== FAILURES ====", "panic: x", "● a \u203a b", "2 failed", "failures:", "---- a stdout ----", "x.go:1:2: m",
    "npm error", '"a/\\346.md"', "\r", "\x1b[31m", " --> a.rs:1:2", "#", "+", "-", " ", "漢", "\\", "goroutine 1", "{",
    "C:\\src\\a.ts(1,2): error TS2: m", '{"Action":"fail"}',
]  # fmt: skip
ODD_TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=12), max_size=40).flatmap(
    lambda parts: st.sampled_from(["\n", " ", "\r\n", ""]).map(lambda glue: glue.join(parts))
)


def manifest():
    if not RECORDED.is_dir():
        return []
    return [json.loads(line) for line in (RECORDED / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]


def recorded(name):
    path = RECORDED / name
    if not path.is_file():
        pytest.skip("not in this clone: the real data of WORKBENCH_DATA")
    return path.read_text(encoding="utf-8"), next(each for each in manifest() if each["file"] == name)


def distilled_every_way(text, kind):
    """Lite, full, and as the card that stands in the prompt."""
    shelf = Shelf(ContextEngine(artifact_inline_threshold=0))
    card = shelf.ingest("shell", text, 1, content_type=kind).prompt_text
    return [*(distil(text, kind, SETTINGS, intensity=how).text for how in ("lite", "full")), card]


# -- recorded outputs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAILING["failed"])
def test_nothing_that_failed_is_missing(name):
    text, about = recorded(name)
    kind = content_type_of("shell", about["command"], text)
    for made in distilled_every_way(text, kind):
        assert [wanted for wanted in FAILING["failed"][name] if wanted not in made] == []


@pytest.mark.parametrize("name", FAILING["passes"])
def test_a_run_without_failures_reads_as_a_pass(name):
    text, about = recorded(name)
    kind = content_type_of("shell", about["command"], text)
    assert (kind, summarise_tests(text).status) == ("test_output", "passed")
    assert len(distil(text, kind, SETTINGS, intensity="lite").text) < 200


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("go_test-01.txt", "test_output"),  # filtered by grep
        ("pytest-01.txt", "test_output"),
        ("tsc-01.txt", "build_output"),
        ("tsc-04.txt", "build_output"),  # filtered by grep
        ("lint-01.txt", "build_output"),
        ("ripgrep-01.txt", "search_results"),
        ("git_diff-04.txt", "diff"),
        ("tokf-gradle-build-failure.txt", "build_output"),
        ("tokf-kubectl-get-pods-success.txt", "json"),
    ],
)
def test_the_kind_of_recorded_output_is_told(name, kind):
    text, about = recorded(name)
    assert content_type_of("shell", about["command"], text) == kind


def test_every_distiller_saves_on_recorded_output():
    if not manifest():
        pytest.skip("not in this clone: the real data of WORKBENCH_DATA")
    spent: dict[str, list[int]] = {}
    for about in manifest():
        text = (RECORDED / about["file"]).read_text(encoding="utf-8")
        made = distil(text, content_type_of("shell", about["command"], text), SETTINGS)
        before, after = spent.setdefault(made.distiller, [0, 0])
        spent[made.distiller] = [before + made.input_tokens, after + made.output_tokens]
    saved = {name: 1 - after / before for name, (before, after) in spent.items()}
    least = {"npm-test": 0.8, "tsc-errors": 0.6, "rg-search": 0.75, "log": 0.6, "generic": 0.3, "git-diff": 0.1}
    assert {name: saved[name] for name in least if saved[name] < least[name]} == {}


# -- whatever comes in -------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TYPES), st.sampled_from(["lite", "full"]), ODD_TEXTS)
def test_nothing_raises_and_nothing_grows_by_more_than_a_header(kind, how, text):
    assert len(distil(text, kind, SETTINGS, intensity=how).text) <= len(text) + HEADER_CHARS
    content_type_of("shell", "make", text)


def pytest_run(names):
    blocks = "".join(
        f"____________ {name} ____________\n\n    def {name}():\n>       assert 1 == 2\nE      "
        f" AssertionError: {name} is off\n\n"
        f"tests/test_a.py:{number}: AssertionError\n"
        for number, name in enumerate(names, start=1)
    )
    told = "".join(f"FAILED tests/test_a.py::{name} - AssertionError: {name} is off\n" for name in names)
    return (
        f"======= test session starts =======\ntests/test_a.py {'F' * len(names)}   [100%]\n\n======="
        f" FAILURES =======\n{blocks}"
        f"======= short test summary info =======\n{told}======= {len(names)} failed, 3 passed in 0.10s =======\n"
    )


def go_run(names):
    failed = "".join(f"--- FAIL: {name} (0.00s)\n    a_test.go:7: {name} is off, want 2\n" for name in names)
    return f"{failed}FAIL\nFAIL\texample.org/a\t0.010s\nok  \texample.org/b\t0.010s\nFAIL\n"


def cargo_run(names):
    lines = "".join(f"test {name} ... FAILED\n" for name in names)
    blocks = "".join(
        f"---- {name} stdout ----\nthread '{name}' panicked at src/lib.rs:9:5:\n{name} is off\nnote: run with"
        f" `RUST_BACKTRACE=1`\n\n"
        for name in names
    )
    listed = "".join(f"    {name}\n" for name in names)
    return (
        f"running {len(names)} tests\n{lines}\nfailures:\n\n{blocks}\nfailures:\n{listed}\n"
        f"test result: FAILED. 3 passed; {len(names)} failed; 0 ignored; 0 measured; 0 filtered out\n"
    )


def jest_run(names):
    blocks = "".join(
        f"  ● suite \u203a {name}\n\n    Error: {name} is off\n\n      at Object.<anonymous> (a.test.js:7:9)\n\n"
        for name in names
    )
    totals = f"Test Suites: 1 failed, 1 total\nTests:       {len(names)} failed, 3 passed, {len(names) + 3} total\n"
    return f"FAIL ./a.test.js\n{blocks}{totals}"


def tsc_run(names):
    return "".join(f"src/a.ts({line},1): error TS2304: {name} is off\n" for line, name in enumerate(names, 1))


def rustc_run(names):
    noise = "".join(f"warning: unused variable: `w{k}`\n --> src/lib.rs:{k}:1\n  |\n\n" for k in range(1, len(names)))
    errors = "".join(
        f"error[E0425]: {name} is off\n --> src/lib.rs:9:1\n  |\n9 | x\n  | ^ not found\n\n" for name in names
    )
    return f"{noise}{errors}error: could not compile `a` due to {len(names)} previous errors\n"


NAMES = st.lists(
    st.from_regex(r"[Tt]est_[a-z]{2,8}(?:_[0-9]{1,3})?", fullmatch=True), min_size=1, max_size=120, unique=True
)


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (pytest_run, "test_output"),
        (go_run, "test_output"),
        (cargo_run, "test_output"),
        (jest_run, "test_output"),
        (tsc_run, "build_output"),
        (rustc_run, "build_output"),
    ],
)
@settings(
    max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate]
)  # to shrink takes minutes
@given(names=NAMES)
def test_every_failure_stays_with_its_message_whatever_the_size(made, kind, names):
    text = made(names)
    for short in distilled_every_way(text, kind):
        assert [name for name in names if f"{name} is off" not in short] == []
        assert "failed" in short or "error" in short


@pytest.mark.parametrize("made", [pytest_run, go_run, cargo_run, jest_run, tsc_run, rustc_run])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_colours_make_no_difference_wherever_they_are(made, data):
    text = made(["test_a", "test_b"])
    kind = "build_output" if made in {tsc_run, rustc_run} else "test_output"
    coloured = text
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(text)))
        coloured = text[:place] + data.draw(st.sampled_from(COLOURS)) + text[place:]
    for how in ("lite", "full"):
        assert distil(coloured, kind, SETTINGS, intensity=how).text == distil(text, kind, SETTINGS, intensity=how).text


@pytest.mark.parametrize("made", [pytest_run, go_run, cargo_run, jest_run, tsc_run, rustc_run])
def test_line_ends_of_windows_make_no_difference(made):
    text = made(["test_a", "test_b"])
    kind = "build_output" if made in {tsc_run, rustc_run} else "test_output"
    assert distilled_every_way(text.replace("\n", "\r\n"), kind)[:2] == distilled_every_way(text, kind)[:2]


@pytest.mark.parametrize("made", [pytest_run, go_run, cargo_run, jest_run])
@settings(max_examples=20, deadline=None)
@given(share=st.floats(0.0, 1.0))
def test_a_run_that_was_cut_off_never_reads_as_a_pass_once_a_failure_was_seen(made, share):
    text = made([f"test_{letter}" for letter in "abcdefgh"])
    seen = text[: int(share * len(text))]
    first = {
        "pytest_run": "\n____________ test_a",
        "go_run": "--- FAIL: test_a ",
        "cargo_run": "test test_a ... FAILED",
    }
    if first.get(made.__name__, "FAIL ./a.test.js") in seen:
        assert summarise_tests(seen).status == "failed"


@pytest.mark.parametrize("cut", ["", " ", " (", " (0", " (0.", " (0.00", " (0.00s", " (0.00s)"])
@pytest.mark.parametrize("before", ["", "=== RUN   test_a\n"])
def test_a_failure_of_go_counts_wherever_its_line_was_cut_off(before, cut):
    run = summarise_tests(f"{before}--- FAIL: test_a{cut}")
    assert (run.runner, run.status, [each.name for each in run.failures]) == ("go test", "failed", ["test_a"])


@pytest.mark.parametrize("text", ["--- FAIL: test_a (0\nmore", "--- FAIL: ", "--- FAIL: a b", "--- PASS: test_a (0."])
def test_half_a_line_of_go_tells_nothing_elsewhere(text):
    assert summarise_tests(text).status == "unknown"


# -- put off -----------------------------------------------------------------------------------------------------------


def shelf_with(function):
    registry = {**DISTILLERS, "prose": Registered("slow", function, deferred=True)}
    return Shelf(ContextEngine(artifact_inline_threshold=0), registry)


def test_a_deferred_distiller_is_run_at_the_end_of_the_turn():
    shelf = shelf_with(lambda text, _how, _settings: text[:4])
    first = shelf.ingest("shell", "long enough", 1, content_type="prose")
    assert (first.artifact.summary, first.distilled, "retrieve_artifact" in PENDING) == (PENDING, None, True)
    ((done, run),) = shelf.finish()
    assert (done.summary, run.text, run.distiller) == ("long", "long", "slow")
    assert (shelf.get(done.id).summary, shelf.finish()) == ("long", [])


def test_a_deferred_distiller_that_fails_says_so_in_the_card():
    def fails(_text, _how, _settings):
        raise ValueError("no model")

    shelf = shelf_with(fails)
    shelf.ingest("shell", "long enough", 1, content_type="prose")
    ((done, run),) = shelf.finish()
    assert (done.summary, run) == (f"[compression failed: no model]\n{PENDING}", None)
