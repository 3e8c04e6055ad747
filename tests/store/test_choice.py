"""Choosing sessions by a text: wherever it stands, present or past, and nowhere else."""

import pytest
from transcripts import OTHER, SESSION, call, jsonl, prompt, response, result

import workbench as wb
from workbench.store import choice
from workbench.store.lake import Lake

THIRD = "00000000-0000-4000-8000-000000000003"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    root = tmp_path_factory.mktemp("choice")
    (root / "agent").mkdir()
    sessions = {
        SESSION: [
            prompt("a1", 'say "hello"\nC:\\temp'),
            response("a2", "msg_a", call("toolu_a", "Read", file_path="/srv/needle.py")),
            prompt("a3", [result("toolu_a", "far away in a long result " * 300 + "the end")]),
        ],
        OTHER: [prompt("b1", "hello", session=OTHER)],
        THIRD: [prompt("c1", "HELLO", session=THIRD), b'{"broken": caf\xc3\xa9'],
    }
    for session, lines in sessions.items():
        (root / "agent" / f"{session}.jsonl").write_bytes(jsonl(*lines))
    bench = wb.open(root / "home")
    bench.ingest(root / "agent")
    bench.label(OTHER, title="a title of once", tags=["tag, with a comma"])
    bench.label(OTHER, title="another")
    return Lake(bench.home)


@pytest.mark.parametrize(
    ("text", "sessions"),
    [
        ("hello", {SESSION, OTHER}),
        ('say "hello"\nC:\\temp', {SESSION}),
        ('"hello"', {SESSION}),
        ('"text":"hello"', set()),
        ("/srv/needle.py", {SESSION}),
        ("the end", {SESSION}),
        ("a title of once", {OTHER}),
        ("tag, with a comma", {OTHER}),
        ("café", {THIRD}),
        (f"{THIRD}.jsonl", {THIRD}),
        ("%", set()),
        ("' or true --", set()),
    ],
)
def test_a_text_is_found_wherever_it_stands(lake, text, sessions):
    assert choice.matching(lake, text) == sessions


def test_a_project_is_its_id_or_a_folder_and_nothing_that_begins_alike(lake):
    assert choice.of_project(lake, "/srv/work") == {SESSION, OTHER, THIRD}
    assert choice.of_project(lake, "/srv/work/demo/") == {SESSION, OTHER, THIRD}
    assert choice.of_project(lake, "/srv/work/dem") == set()
    assert choice.of_project(lake, "work") == set()
    assert choice.of_project(lake, "") == set()
