"""What the adapters look up: a false expectation fails, and so does one that no rule knows."""

from __future__ import annotations

import pytest
from transcripts import OTHER, SESSION, jsonl, small_session

import workbench as wb
from cases.landed import Landed, UnknownKeyError

TRUE = {
    "sessions": {SESSION: {"prompts": 1, "responses": 2, "tool_calls": 1, "model_calls": 2, "output_tokens": 28}},
    "totals": {"sessions": 1, "prompts": 1, "model_calls": 2, "output_tokens": 28},
    "prompts": ["Build a."],
    "prompts_count": 1,
    "texts_in_order": ["Build a.", "Done."],
    "tool_calls": [{"id": "toolu_a", "name": "Bash", "result": "built"}],
    "tool_input_command": "make",
    "tool_result_text": "built",
    "lines": 4,
    "import_issues": 0,
    "interrupts": 0,
    "projects": 1,
    "cwd": {SESSION: "/srv/work/demo"},
    "same_project": [[SESSION]],
    "started_at": "2026-03-02T09:00:00Z",
    "tool_errors": 0,
    "turn_records": 1,
    "tool_result": 1,
    "negative_durations": 0,
    "search_finds": "at least one event",
    "why": "prose",
}

FALSE = {
    "sessions": {OTHER: {"prompts": 0}},
    "totals": {"sessions": 2},
    "prompts": ["Build a.", "More."],
    "prompts_count": 2,
    "texts_in_order": ["Done.", "Build a."],
    "tool_calls": [{"id": "toolu_a", "name": "Bash", "result": "other"}],
    "tool_input_command": "ls",
    "tool_result_text": "other",
    "lines": 5,
    "import_issues": [{"line": 1, "issue": "bad_json"}],
    "cwd": {SESSION: "/srv"},
    "different_project": [[SESSION, SESSION]],
    "started_at": "2026-03-02T10:00:00Z",
    "turn_records": 2,
    "compaction": 1,
    "model_calls": 3,
    "output_tokens": 29,
    "the_tail": "reported as unfinished",
}

UNKNOWN = {
    "colour": "blue",
    "usage": "many",
    "search_finds": 3,
    "the_tail": "gone",
    "tool_calls": [{"shape": "round"}],
    "sessions": {SESSION: {"colour": "blue"}},
}


@pytest.fixture(scope="module")
def landed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("landed")
    (folder / f"{SESSION}.jsonl").write_bytes(jsonl(*small_session()))
    bench = wb.open(folder / "home")
    bench.ingest(folder / f"{SESSION}.jsonl")
    return Landed.now(bench, words="built")


def test_what_is_so_passes(landed):
    landed.check(TRUE)


@pytest.mark.parametrize("key", FALSE)
def test_what_is_not_so_fails(landed, key):
    with pytest.raises(AssertionError, match=r"expected .*, found "):
        landed.check({key: FALSE[key]})


@pytest.mark.parametrize("key", UNKNOWN)
def test_what_no_rule_knows_fails(landed, key):
    with pytest.raises(UnknownKeyError):
        landed.check({key: UNKNOWN[key]})
