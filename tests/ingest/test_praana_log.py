"""PRAANA's event logs. No real log was at hand: the fixture is made after the specification."""

from __future__ import annotations

from pathlib import Path

import pytest
from transcripts import OTHER, SESSION, jsonl, logged, moment

import workbench as wb
from workbench.ingest import formats, praana_log
from workbench.ingest.importer import Importer

MADE = Path(__file__).parent / "data" / "praana-interrupted-and-compacted"
FILE = f"sessions/{SESSION}/events.jsonl"


def event(number, kind, *, seconds=0, **fields):
    base = {
        "event_id": f"e{number}",
        "session_id": SESSION,
        "timestamp": int(moment(seconds).timestamp() * 1000),
        "kind": kind,
        "actor": "user" if kind == "user_message" else "agent",
        "payload": {},
    }
    return {name: value for name, value in (base | fields).items() if value is not ...}


def call(number, tool="shell", **payload):
    return event(number, "tool_call", payload={"tool": tool, "args": {"command": "ls"}, **payload})


def result(number, tool="shell", found=..., **payload):
    found = {"ok": True, "stdout": str(number)} if found is ... else found
    return event(number, "tool_result", payload={"tool": tool, "result": found, **payload})


def drafts(*lines):
    return [draft for record in praana_log.read(jsonl(*lines), FILE).records for draft in record.drafts]


def issues(source):
    return [(issue.line, issue.issue) for issue in source.issues]


def test_an_event_keeps_its_id_its_time_and_its_session():
    source = praana_log.read(jsonl(event(1, "user_message", seconds=4.5, payload={"text": "Go."})), FILE)
    (record,) = source.records
    (draft,) = record.drafts
    assert (record.record_id, record.session_id, record.occurred_at) == ("e1", SESSION, moment(4.5))
    assert (draft.kind, draft.actor, draft.payload, draft.event_id) == ("user_message", "user", {"text": "Go."}, "e1")
    assert (source.session_id, source.session_ids, source.role, source.lines) == (SESSION, [SESSION], "main", 1)


def test_results_are_paired_by_order_within_exchange_and_tool():
    found = drafts(
        call(1),
        call(2, "read_file"),
        call(3),
        result(4),
        result(5, "read_file"),
        result(6),
        result(7),
        call(8),
        event(9, "user_message"),
        result(10),
    )
    pairs = [(each.kind, each.payload["tool_call_id"]) for each in found if each.kind != "user_message"]
    assert pairs == [
        ("tool_call", "e1"),
        ("tool_call", "e2"),
        ("tool_call", "e3"),
        ("tool_result", "e1"),
        ("tool_result", "e2"),
        ("tool_result", "e3"),
        ("tool_result", None),
        ("tool_call", "e8"),
        ("tool_result", None),
    ]


@pytest.mark.parametrize("name", ["tool_call_id", "toolCallId", "call_id", "callId"])
def test_an_id_decides_where_there_is_one(name):
    found = drafts(
        call(1, **{name: "c1"}), call(2, **{name: "c2"}), result(3, **{name: "c2"}), result(4, **{name: "c1"})
    )
    assert [each.payload["tool_call_id"] for each in found] == ["c1", "c2", "c2", "c1"]
    assert found[0].payload == {
        "tool": "shell",
        "args": {"command": "ls"},
        "tool_call_id": "c1",
        "message_id": "e1",
        "model": None,
    }


@pytest.mark.parametrize(
    ("payload", "kept", "is_error"),
    [
        ({"result": {"ok": True, "stdout": "a"}}, {"ok": True, "stdout": "a"}, False),
        ({"result": {"ok": False, "stderr": "b"}}, {"ok": False, "stderr": "b"}, True),
        ({"result": {"error": "tool failed"}}, {"error": "tool failed"}, True),
        ({"result": {"error": None}}, {"error": None}, False),
        ({"result": "thrown", "isError": True}, "thrown", True),
        ({"result": '{"ok":false,"stderr":"b"}'}, {"ok": False, "stderr": "b"}, True),
        ({"result": '{"ok":'}, '{"ok":', False),
        ({"result": '{"ok":"yes"}'}, '{"ok":"yes"}', False),
        ({"result": "plain"}, "plain", False),
        ({}, None, False),
    ],
)
def test_envelopes_tell_whether_a_call_failed(payload, kept, is_error):
    (draft,) = drafts(event(1, "tool_result", payload={"tool": "shell", **payload}))
    assert draft.payload == {"tool": "shell", "tool_call_id": None, "result": kept, "is_error": is_error}


def test_a_response_ends_with_a_result_or_a_prompt():
    found = drafts(
        event(1, "user_message"),
        call(2),
        call(3),
        result(4),
        event(5, "agent_message", payload={"text": "Done."}),
        event(6, "user_message"),
        event(7, "agent_message", payload={"text": "Yes."}),
    )
    assert [each.payload["message_id"] for each in found if "message_id" in each.payload] == ["e2", "e2", "e5", "e7"]


def test_the_model_is_the_one_that_was_chosen_last():
    found = drafts(
        event(1, "agent_message", payload={"text": "a"}),
        event(2, "system_note", payload={"type": "model_override", "model": "qwen3-coder"}),
        event(3, "agent_message", payload={"text": "b"}),
    )
    assert [each.payload.get("model") for each in found] == [None, "qwen3-coder", "qwen3-coder"]


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("context_action", {"action": "setTier", "id": "A", "tier": "soft"}, "context_action"),
        ("ui_transcript", {"entry": {"kind": "banner"}}, "ui_transcript"),
        ("system_note", {"type": "memory_recall", "query": "q", "hits": 1}, "system_note"),
        ("system_note", {"type": "turn_interrupted", "partial": "I"}, "system_note"),
        ("system_note", {"type": "history_compacted", "eventsCompacted": 3}, "compaction"),
    ],
)
def test_other_events_are_kept_as_they_are(kind, payload, expected):
    (draft,) = drafts(event(1, kind, payload=payload))
    assert (draft.kind, draft.payload) == (expected, payload)


def test_unknown_kinds_and_actors_are_kept():
    source = praana_log.read(
        jsonl(event(1, "hologram", payload={"x": 1}), event(2, "system_note", actor="ghost")), FILE
    )
    (unknown,), (noted,) = (record.drafts for record in source.records)
    assert unknown.kind == "unknown"
    assert unknown.payload["record"]["payload"] == {"x": 1}
    assert noted.actor == "kernel"
    assert issues(source) == [(1, "unknown_record")]


def test_odd_lines_and_fields_are_told_and_hide_nothing():
    odd = [
        b"broken",
        b"[1]",
        event(3, "user_message", payload="text"),
        event(4, "tool_call", payload={"tool": 1, "args": "ls"}),
        event(5, "user_message", timestamp="soon"),
        event(6, "user_message", timestamp=1e300),
        event(7, "user_message", event_id=..., session_id=7, timestamp=...),
        event(8, "user_message", payload={"text": "Go."}),
    ]
    source = praana_log.read(jsonl(*odd) + b'{"event_id"', FILE)
    assert source.records[-1].drafts[0].payload == {"text": "Go."}
    assert [record.time_source for record in source.records[2:5]] == ["unreadable", "unreadable", "missing"]
    assert issues(source) == [
        (1, "bad_json"),
        (2, "not_an_object"),
        (3, "odd_field"),
        (4, "odd_field"),
        (5, "odd_field"),
        (7, "odd_field"),
        (9, "unfinished_line"),
    ]


def test_the_session_with_most_events_owns_the_log_else_the_folder():
    lines = [event(1, "user_message", session_id=OTHER), event(2, "user_message"), event(3, "user_message")]
    source = praana_log.read(jsonl(*lines), FILE)
    assert (source.session_id, source.session_ids) == (SESSION, [SESSION, OTHER])
    nameless = praana_log.read(jsonl(event(1, "user_message", session_id=...)), FILE)
    assert (nameless.session_id, nameless.session_ids) == (SESSION, [SESSION])


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (jsonl(event(1, "user_message")), "events.jsonl", True),
        (jsonl(event(1, "user_message")), "events.log", True),
        (jsonl(b"torn", event(1, "user_message")), "events.jsonl", True),
        (jsonl(event(1, "hologram")), "events.jsonl", True),
        (jsonl(logged(1)), "events.jsonl", False),
        (jsonl(event(1, "user_message", seq=1)), "events.jsonl", False),
        (jsonl(event(1, "user_message", timestamp="2026")), "events.jsonl", False),
        (jsonl(event(1, "user_message")), "events.txt", False),
        (b"", "events.jsonl", False),
    ],
)
def test_a_log_is_told_from_our_own_by_its_time_in_numbers(data, name, expected):
    assert praana_log.sniff(data, name) is expected


def test_a_log_lands(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {praana_log.NAME: praana_log})
    bench = wb.open(tmp_path / "home")
    Importer(bench._lake).run([MADE])
    names = (
        "session_id, agent, prompts, responses, tool_calls, tool_errors, interrupts, compactions, model_calls, issues"
    )
    assert bench.sql(f"select {names} from sessions").rows() == [
        ("01KJQ0PRAANA000000000SESSN", "praana", 3, 7, 5, 1, 1, 1, 0, 0)
    ]
    calls = bench.sql("select turn, tool, command, file_path, status, result from tool_calls order by seq").rows()
    assert calls == [
        (1, "read_file", None, "loader.py", "ok", "def load(): ...\n"),
        (1, "shell", "pytest -q", None, "error", "1 failed\n\nE   ValueError"),
        (1, "edit_file", None, "loader.py", "ok", '{"ok":true}'),
        (2, "shell", "make check", None, "open", None),
        (3, "shell", "make check", None, "ok", "all green\n"),
    ]
    exchanges = bench.sql("select user_text, assistant_text, is_interrupted, is_compacted from turn_records").rows()
    assert exchanges == [
        ("Fix the loader; keep it small.", "Fixed.", False, False),
        ("Now run everything.", "Running\n\n[interrupted]", True, False),
        ("Go on.", "All green.", False, True),
    ]
