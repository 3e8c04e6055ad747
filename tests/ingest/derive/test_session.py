"""The row of a session, and all rows of one together."""

from __future__ import annotations

import pytest
from transcripts import MODEL, SESSION, happened, moment

from workbench.ingest.derive.session import derive, project_id
from workbench.store.tables import TABLES


def rows(table, *events, issues=0):
    names = [column.name for column in TABLES[table].declared]
    found = derive(SESSION, "claude-code", events, {"s1": (True, "s1")}, issues).rows[table]
    return [dict(zip(names, row, strict=True)) for row in found]


def environment(seq, cwd="/srv/work/demo", version="2.1.40", branch="main", **more):
    payload = {
        "type": "environment",
        "agent": "claude-code",
        "cwd": cwd,
        "git_branch": branch,
        "agent_version": version,
    }
    return happened(seq, "system_note", payload, turn=0, **more)


SIDE = {"agent_id": "a1", "is_sidechain": True}

EVENTS = [
    environment(1),
    happened(2, "user_message", {"text": "Build it.\nAll of it."}, seconds=1),
    happened(3, "tool_call", {"tool": "Bash", "args": {}, "tool_call_id": "t1", "message_id": "m1"}, seconds=2),
    happened(4, "usage", {"message_id": "m1", "model": MODEL, "output_tokens": 5, "input_tokens": 2}, seconds=2),
    happened(5, "tool_result", {"tool_call_id": "t1", "result": "no", "is_error": True}, seconds=3),
    happened(6, "subagent", {"agent_id": "a1"}, seconds=4, **SIDE),
    happened(7, "user_message", {"text": "Look."}, seconds=4, **SIDE),
    happened(8, "tool_call", {"tool": "Read", "args": {}, "tool_call_id": "t2", "message_id": "m2"}, seconds=5, **SIDE),
    happened(9, "usage", {"message_id": "m2", "model": "small", "output_tokens": 7}, seconds=5, **SIDE),
    happened(10, "system_note", {"type": "turn_interrupted"}, seconds=6),
    happened(11, "compaction", {"type": "boundary"}, seconds=7),
    happened(12, "compaction", {"type": "summary"}, seconds=7),
    environment(13, "/elsewhere", "2.1.41", seconds=None),
    happened(14, "user_message", {"text": "Again."}, seconds=9, turn=2),
]


def test_a_session_with_every_column():
    assert rows("sessions", *EVENTS, issues=3) == [
        {
            "session_id": SESSION,
            "project_id": project_id("/srv/work/demo"),
            "agent": "claude-code",
            "agent_version": "2.1.41",
            "title": "Build it.",
            "cwd": "/srv/work/demo",
            "git_branch": "main",
            "started_at": moment(0),
            "ended_at": moment(9),
            "duration_ms": 9000,
            "prompts": 2,
            "responses": 1,
            "turns": 5,
            "events": 14,
            "tool_calls": 2,
            "sidechain_tool_calls": 1,
            "tool_errors": 1,
            "subagents": 1,
            "interrupts": 1,
            "compactions": 1,
            "models": [MODEL, "small"],
            "model_calls": 2,
            "input_tokens": 2,
            "output_tokens": 12,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
            "issues": 3,
        }
    ]


def test_an_event_with_every_column():
    event = happened(3, "unknown", {"record": {"é": [1, None]}}, seconds=None, time_source="unreadable", **SIDE)
    assert rows("events", event) == [
        {
            "session_id": SESSION,
            "seq": 3,
            "event_id": "e3",
            "occurred_at": None,
            "time_source": "unreadable",
            "kind": "unknown",
            "actor": "kernel",
            "turn": 1,
            "parent_event_id": None,
            "payload": '{"record":{"é":[1,null]}}'.encode(),
            "source_line": 3,
            "source_id": "s1",
            "agent_id": "a1",
            "is_sidechain": True,
        }
    ]


def test_every_table_gets_its_rows():
    found = derive(SESSION, "claude-code", EVENTS, {"s1": (True, "s1")}, 0).rows
    assert {name: len(rows) for name, rows in found.items()} == {
        "events": 14,
        "turns": 5,
        "turn_records": 2,
        "tool_calls": 2,
        "usage": 2,
        "artifacts": 0,
        "sessions": 1,
    }


def test_a_session_of_which_nothing_is_known():
    (row,) = rows("sessions", happened(1, "system_note", {"type": "summary"}, seconds=None, turn=0))
    unknown = (
        "project_id",
        "agent_version",
        "title",
        "cwd",
        "git_branch",
        "started_at",
        "duration_ms",
        "output_tokens",
    )
    assert [row[name] for name in unknown] == [None] * len(unknown)
    assert (row["agent"], row["prompts"], row["models"]) == ("claude-code", 0, [])


def test_a_compaction_of_which_only_the_summary_is_left_counts():
    (row,) = rows("sessions", happened(1, "compaction", {"type": "summary"}))
    assert row["compactions"] == 1


@pytest.mark.parametrize(
    ("text", "title"), [("One.\nTwo.", "One."), ("\n\n Two.", "Two."), ("x" * 300, "x" * 99 + "…"), ("", None)]
)
def test_the_title_is_the_first_line_of_the_first_prompt(text, title):
    (row,) = rows("sessions", happened(1, "user_message", {"text": text}))
    assert row["title"] == title


def test_a_sub_agents_prompt_is_no_title_and_no_prompt():
    (row,) = rows("sessions", happened(1, "user_message", {"text": "Look."}, **SIDE))
    assert (row["title"], row["prompts"], row["turns"]) == (None, 0, 1)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/srv/work/demo", "/srv/work/demo/", True),
        ("/srv/work/demo", "/srv/work/x/../demo", True),
        ("/srv/work/demo", "/srv/work//demo", True),
        ("C:\\work\\demo", "C:/work/demo", True),
        ("/srv/work/open source", "/srv/work/open-source", False),
        ("/srv/work/demo", "/srv/work/Demo", False),
        ("/srv/work/demo", "/srv/work/demo/.worktrees/t1", False),
    ],
)
def test_a_project_is_its_normalised_directory(one, other, same):
    assert (project_id(one) == project_id(other)) is same
    assert len(project_id(one)) == 16


@pytest.mark.parametrize("cwd", [None, ""])
def test_no_directory_no_project(cwd):
    assert project_id(cwd) is None


@pytest.mark.parametrize("number", [2**64, 10**30])
def test_a_payload_may_hold_any_number_that_a_file_can_hold(number):
    (row,) = rows("events", happened(1, "unknown", {"record": {"n": number}}))
    assert str(number).encode() in row["payload"]
