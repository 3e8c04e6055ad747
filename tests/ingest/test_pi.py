"""pi's entries as events."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from transcripts import CWD, SESSION, jsonl, moment, stamp

import workbench as wb
from workbench.ingest import formats, pi
from workbench.ingest.importer import Importer
from workbench.ingest.records import Environment

DATA = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
REAL = DATA / "transcripts" / "pi" / "pi-large-session.jsonl"
FILE = f"2026-03-02T09-00-00-000Z_{SESSION}.jsonl"
PARENT = "00000000-0000-4000-8000-0000000000ff"
MODEL = "claude-sonnet-4-5"


def entry(kind, seconds=0, **fields):
    return {"type": kind, "timestamp": stamp(seconds), **fields}


def header(**fields):
    return entry("session", id=SESSION, cwd=CWD, **fields)


def message(role, content=..., seconds=0, entry_id=None, **fields):
    inner = {"role": role, **({} if content is ... else {"content": content}), **fields}
    named = {} if entry_id is None else {"id": entry_id, "parentId": None}
    return entry("message", seconds, message=inner, **named)


def usage(**figures):
    return {"input": 3, "output": 20, "cacheRead": 100, "cacheWrite": 50, "cost": {"total": 0.1}, **figures}


def assistant(*blocks, entry_id="a1", stop="stop", **fields):
    return message("assistant", list(blocks), entry_id=entry_id, model=MODEL, stopReason=stop, **fields)


def words(text):
    return {"type": "text", "text": text}


def picture(data="x" * 2000):
    return {"type": "image", "data": data, "mimeType": "image/png"}


def told(*lines):
    source = pi.read(jsonl(header(), *lines), FILE)
    return [(draft.kind, draft.actor, draft.payload) for record in source.records[1:] for draft in record.drafts]


def issues(source):
    return [(issue.line, issue.issue) for issue in source.issues]


ABOUT = {"message_id": "a1", "model": MODEL}

ENTRIES = {
    "prompt": (message("user", "Go on."), ("user_message", "user", {"text": "Go on."})),
    "prompt of blocks": (
        message("user", [words("Look"), picture()]),
        ("user_message", "user", {"text": "Look", "images": 1}),
    ),
    "response": (
        assistant(
            {"type": "thinking", "thinking": "hm"},
            words("Both."),
            {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "a"}},
            {"type": "toolCall", "id": "t2", "name": "bash", "arguments": {"command": "ls"}},
            usage=usage(),
        ),
        ("agent_message", "agent", {"thinking": "hm", **ABOUT}),
        ("agent_message", "agent", {"text": "Both.", **ABOUT}),
        ("tool_call", "agent", {"tool": "read", "args": {"path": "a"}, "tool_call_id": "t1", **ABOUT}),
        ("tool_call", "agent", {"tool": "bash", "args": {"command": "ls"}, "tool_call_id": "t2", **ABOUT}),
        (
            "usage",
            "kernel",
            {
                "input_tokens": 3,
                "output_tokens": 20,
                "cache_read_tokens": 100,
                "cache_write_tokens": 50,
                "reasoning_tokens": None,
                **ABOUT,
            },
        ),
    ),
    "response that the provider named": (
        assistant(words("Yes."), responseId="msg_1"),
        ("agent_message", "agent", {"text": "Yes.", "message_id": "msg_1", "model": MODEL}),
    ),
    "stopped before a word": (
        assistant(stop="aborted", errorMessage="Request was aborted", usage=usage(**dict.fromkeys(usage(), 0))),
        ("agent_message", "agent", {"text": "", **ABOUT}),
        ("system_note", "user", {"type": "turn_interrupted", "text": "Request was aborted"}),
    ),
    "failed": (
        assistant(words("I"), stop="error", errorMessage="terminated"),
        ("agent_message", "agent", {"text": "I", **ABOUT}),
        ("agent_message", "agent", {"text": "terminated", "is_error": True, **ABOUT}),
    ),
    "result": (
        message("toolResult", [words("found"), picture()], toolCallId="t1", toolName="read", isError=False),
        (
            "tool_result",
            "tool",
            {
                "tool_call_id": "t1",
                "result": "found\n[image/png, 2,000 characters of base64]",
                "is_error": False,
                "tool": "read",
                "images": 1,
            },
        ),
    ),
    "failed result": (
        message("toolResult", [words("no such file")], toolCallId="t1", toolName="bash", isError=True),
        ("tool_result", "tool", {"tool_call_id": "t1", "result": "no such file", "is_error": True, "tool": "bash"}),
    ),
    "a command of the person": (
        message("bashExecution", command="ls", output="a", exitCode=0, cancelled=False),
        (
            "system_note",
            "user",
            {"type": "bashExecution", "command": "ls", "output": "a", "exitCode": 0, "cancelled": False},
        ),
    ),
    "message of an extension": (
        entry("custom_message", id="c1", customType="x", content=[words("seen"), picture()], display=True),
        (
            "system_note",
            "kernel",
            {
                "type": "custom_message",
                "customType": "x",
                "content": "seen\n[image/png, 2,000 characters of base64]",
                "display": True,
                "images": 1,
            },
        ),
    ),
    "compaction": (
        entry("compaction", id="k1", parentId="a1", summary="So far.", tokensBefore=50_000, firstKeptEntryId="a0"),
        (
            "compaction",
            "kernel",
            {"type": "boundary", "trigger": None, "pre_tokens": 50_000, "summary": "So far."},
        ),
    ),
    "summary as a message": (
        message("compactionSummary", summary="So far.", tokensBefore=1),
        ("compaction", "kernel", {"type": "summary", "summary": "So far."}),
    ),
    "change of the model": (
        entry("model_change", provider="openai", modelId="gpt-5"),
        ("system_note", "kernel", {"type": "model_change", "provider": "openai", "modelId": "gpt-5"}),
    ),
    "unknown entry": (
        entry("hologram", x=1),
        ("unknown", "kernel", {"record": {"type": "hologram", "timestamp": stamp(0), "x": 1}}),
    ),
    "unknown role": (
        message("ghost", "boo"),
        ("unknown", "kernel", {"record": {"role": "ghost", "content": "boo"}}),
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_become_events(name):
    line, *expected = ENTRIES[name]
    assert told(line) == expected


def test_the_header_says_where_and_with_what():
    source = pi.read(jsonl(header(provider="anthropic", modelId=MODEL, thinkingLevel="off")), FILE)
    (record,) = source.records
    assert record.environment == Environment("pi", CWD, None, None)
    assert record.drafts[0].payload == {
        "type": "session",
        "id": SESSION,
        "provider": "anthropic",
        "modelId": MODEL,
        "thinkingLevel": "off",
    }
    assert (source.session_id, source.session_ids, source.role) == (SESSION, [SESSION], "main")


def test_ids_are_the_entries_own_or_follow_from_the_content():
    lines = [header(), message("user", "a", entry_id="e1"), message("user", "b"), message("user", "b")]
    ids = [record.record_id for record in pi.read(jsonl(*lines), FILE).records]
    assert ids[1] == "e1"
    assert len(set(ids)) == 4
    assert ids == [record.record_id for record in pi.read(jsonl(*lines), FILE).records]


def test_the_message_tells_the_time_that_the_entry_lacks():
    lines = [header(), {"type": "message", "message": {"role": "user", "content": "a", "timestamp": 1772442007000}}]
    assert pi.read(jsonl(*lines), FILE).records[1].occurred_at == moment(7)


def test_what_a_fork_copied_belongs_to_its_parent():
    origin = f"/home/dev1/.pi/agent/sessions/--srv--/2026-03-02T08-00-00-000Z_{PARENT}.jsonl"
    lines = [
        header(version=3, parentSession=origin),
        message("user", "Then.", seconds=-60, entry_id="e1"),
        message("user", "Now.", seconds=60, entry_id="e2"),
    ]
    source = pi.read(jsonl(*lines), FILE)
    assert [record.session_id for record in source.records] == [None, PARENT, None]
    assert (source.session_id, source.session_ids) == (SESSION, [SESSION, PARENT])


def test_without_a_parent_a_clock_that_went_back_moves_nothing():
    source = pi.read(jsonl(header(), message("user", "Early.", seconds=-60)), FILE)
    assert [record.session_id for record in source.records] == [None, None]


def test_odd_lines_and_fields_are_told_and_hide_nothing():
    lines = [
        header(),
        b"broken",
        entry("message", message="what"),
        entry("message", 3, message={"role": "user", "content": 5}),
        entry(
            "message", message={"role": "assistant", "content": ["?", {"type": "toolCall", "name": 1, "arguments": []}]}
        ),
        entry("message", message={"role": "assistant", "usage": {"input": "3", "output": 2}}),
        message("user", "Go on."),
    ]
    source = pi.read(jsonl(*lines) + b'{"type":', FILE)
    kinds = [draft.kind for record in source.records for draft in record.drafts]
    assert kinds[-1] == "user_message"
    assert issues(source) == [
        (2, "bad_json"),
        (3, "odd_field"),
        (3, "unknown_record"),
        (4, "odd_field"),
        (5, "odd_field"),
        (6, "odd_field"),
        (8, "unfinished_line"),
    ]


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (jsonl(header()), "a.jsonl", True),
        (jsonl(b"torn", header()), "a.jsonl", True),
        (jsonl(header()), "a.json", False),
        (jsonl(entry("session")), "a.jsonl", False),
        (jsonl(message("user", "a")), "a.jsonl", False),
        (b"", "a.jsonl", False),
    ],
)
def test_a_file_of_pi_has_its_header(data, name, expected):
    assert pi.sniff(data, name) is expected


def test_a_session_lands(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {pi.NAME: pi})
    lines = [
        header(),
        message("user", "List.", 1, "u1"),
        assistant({"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}}, usage=usage()),
        message("toolResult", [words("a.txt")], 4, "r1", toolCallId="t1", toolName="bash", isError=False),
        assistant(words("One file."), entry_id="a2", usage=usage(output=5)),
    ]
    file = tmp_path / FILE
    file.write_bytes(jsonl(*lines))
    bench = wb.open(tmp_path / "home")
    Importer(bench._lake).run([file])
    session = bench.sql("select agent, cwd, prompts, responses, tool_calls, output_tokens, issues from sessions")
    assert session.rows() == [("pi", CWD, 1, 2, 1, 25, 0)]
    calls = bench.sql("select tool_call_id, command, result, status, message_id from tool_calls")
    assert calls.rows() == [("t1", "ls", "a.txt", "ok", "a1")]


@pytest.mark.skipif(not REAL.is_file(), reason="not in this clone: the real data of WORKBENCH_DATA")
def test_the_counts_of_the_real_file(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {pi.NAME: pi})
    bench = wb.open(tmp_path / "home")
    Importer(bench._lake).run([REAL])
    names = "prompts, responses, tool_calls, tool_errors, interrupts, model_calls"
    tokens = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens"
    session = bench.sql(f"select {names}, {tokens}, issues, cwd from sessions")
    assert session.rows() == [
        (88, 453, 391, 19, 21, 439, 1049, 83156, 43229469, 4296232, 0, "/Users/dev1/workspaces/pi-mono")
    ]
    assert bench.sql("select lines, records from sources").rows() == [(1019, 1019)]
