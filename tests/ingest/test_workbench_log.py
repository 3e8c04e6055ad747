"""Our own logs as sources: the order of the lines is the order of the session."""

from __future__ import annotations

import pytest
from transcripts import OTHER, SESSION, jsonl, logged, moment

from workbench.ingest.workbench_log import read

FILE = "events.jsonl"


def issues(source):
    return [(issue.line, issue.issue) for issue in source.issues]


def test_an_event_keeps_all_that_its_log_says():
    line = logged(1, "tool_call", seconds=4, turn=3, parent_event_id="p", agent_id="a1", is_sidechain=True)
    source = read(jsonl(line | {"payload": {"tool": "Bash", "args": {}}}), FILE)
    (record,) = source.records
    (draft,) = record.drafts
    assert (record.record_id, record.session_id, record.occurred_at) == (line["event_id"], SESSION, moment(4))
    assert (draft.kind, draft.actor, draft.payload) == ("tool_call", "agent", {"tool": "Bash", "args": {}})
    assert (draft.event_id, draft.turn, draft.parent_event_id) == (line["event_id"], 3, "p")
    assert (draft.agent_id, draft.is_sidechain) == ("a1", True)
    assert (source.session_id, source.role, source.lines) == (SESSION, "log", 1)


def test_bad_lines_are_told_and_hide_nothing():
    source = read(
        jsonl(logged(1), b"broken", b"[1]", b"", logged(2, seconds=-60), b'{"event_id":"e"}') + b'{"event_id":"01', FILE
    )
    assert [record.drafts[0].payload["text"] for record in source.records] == ["event 1", "event 2"]
    assert issues(source) == [(2, "bad_json"), (3, "bad_json"), (6, "bad_json"), (7, "unfinished_line")]


def test_a_whole_last_event_without_its_line_end_is_an_event():
    source = read(jsonl(logged(1), logged(2))[:-1], FILE)
    assert (len(source.records), source.issues) == (2, [])


def test_an_unknown_kind_and_an_unknown_actor_are_kept():
    source = read(jsonl(logged(1, "hologram", payload={"x": 1}), logged(2, actor="ghost")), FILE)
    assert [(each.drafts[0].kind, each.drafts[0].actor) for each in source.records] == [
        ("unknown", "agent"),
        ("user_message", "kernel"),
    ]
    assert source.records[0].drafts[0].payload == {"record": {"kind": "hologram", "x": 1}}
    assert issues(source) == [(1, "unknown_record")]


def test_a_time_that_is_none_costs_only_itself():
    source = read(jsonl(logged(1, occurred_at="soon"), logged(2, occurred_at=None), logged(3, occurred_at=...)), FILE)
    assert [each.time_source for each in source.records] == ["unreadable", "missing", "missing"]


def test_the_session_with_most_events_owns_the_file():
    source = read(jsonl(logged(1, session=OTHER), logged(2), logged(3)), FILE)
    assert (source.session_id, source.session_ids) == (SESSION, [SESSION, OTHER])


@pytest.mark.parametrize(
    "value",
    [b'"x \\ud83d y"', b'"x \xff y"', b"NaN", b"1e400", b"9" * 30, b"9" * 5000, b"[" * 600 + b"NaN" + b"]" * 600],
    ids=["surrogate", "invalid UTF-8", "NaN", "1e400", "30 digits", "5,000 digits", "600 levels"],
)
def test_no_event_is_lost_to_a_strict_decoder(value):
    odd = jsonl(logged(1, payload={"text": "Kept.", "x": "HARD"})).replace(b'"HARD"', value)
    try:
        source = read(odd + jsonl(logged(2)), FILE)
    except (ValueError, RecursionError) as error:
        pytest.fail(f"reading raised {type(error).__name__}: {error}", pytrace=False)
    assert [each.drafts[0].payload["text"] for each in source.records] == ["Kept.", "event 2"]


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_an_event_nested_deeper_than_anyone_reads_is_told(depth):
    deep = jsonl(logged(1, payload={"x": "HARD"})).replace(b'"HARD"', b"[" * depth + b"]" * depth)
    try:
        source = read(deep + jsonl(logged(2)), FILE)
    except RecursionError:
        pytest.fail("reading raised RecursionError", pytrace=False)
    assert [each.drafts[0].payload["text"] for each in source.records][-1:] == ["event 2"]
    assert issues(source) == [(1, "bad_json")]
