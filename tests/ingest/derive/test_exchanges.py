"""Exchanges: a prompt and all that followed."""

from __future__ import annotations

import pytest
from transcripts import SESSION, happened, moment

from workbench.ingest.derive.exchanges import exchange_rows, first_line, time_span
from workbench.ingest.derive.tool_calls import tool_calls
from workbench.ingest.derive.turns import turns
from workbench.ingest.derive.usage import model_calls
from workbench.store.tables import TABLES


def rows(*events):
    kinds = {kind: [event for event in events if event.kind in kind] for kind in (SPOKEN, CALLS, USAGE)}
    found = exchange_rows(events, turns(kinds[SPOKEN]), tool_calls(kinds[CALLS], {}), model_calls(kinds[USAGE]))
    names = [column.name for column in TABLES["turn_records"].declared]
    return [dict(zip(names, row, strict=True)) for row in found]


SPOKEN = ("user_message", "agent_message", "tool_call")
CALLS = ("tool_call", "tool_result")
USAGE = ("usage",)


def call(seq, tool_call_id, tool, args, **more):
    return happened(seq, "tool_call", {"tool": tool, "args": args, "tool_call_id": tool_call_id}, **more)


def result(seq, tool_call_id, words="ok", *, is_error=False, **more):
    return happened(seq, "tool_result", {"tool_call_id": tool_call_id, "result": words, "is_error": is_error}, **more)


def test_an_exchange_with_every_column():
    found = rows(
        happened(1, "system_note", {"type": "environment"}, turn=0),
        happened(2, "user_message", {"text": "Repair it."}, seconds=10),
        happened(3, "agent_message", {"text": "Looking.", "message_id": "m1"}, seconds=11),
        call(4, "t1", "Read", {"file_path": "a.py"}, seconds=12),
        result(5, "t1", seconds=13),
        call(6, "t2", "Read", {"file_path": "a.py"}, seconds=14),
        call(7, "t3", "Edit", {"file_path": "b.py"}, seconds=14),
        result(8, "t3", "\n  no such file\nat line 3", is_error=True, seconds=15),
        happened(9, "usage", {"message_id": "m1", "output_tokens": 7, "input_tokens": 2}, seconds=15),
        happened(10, "agent_message", {"text": "Repaired.", "message_id": "m2"}, seconds=16),
        happened(11, "agent_message", {"text": "aside", "message_id": "m3"}, is_sidechain=True, seconds=17),
    )
    assert found == [
        {
            "session_id": SESSION,
            "turn": 1,
            "user_text": "Repair it.",
            "assistant_text": "Repaired.",
            "started_at": moment(10),
            "ended_at": moment(17),
            "duration_ms": 7000,
            "responses": 5,
            "tool_calls": 3,
            "tool_errors": 1,
            "files_read": ["a.py"],
            "files_written": ["b.py"],
            "errors": ["no such file"],
            "is_interrupted": False,
            "is_compacted": False,
            "input_tokens": 2,
            "output_tokens": 7,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
        }
    ]


def test_what_comes_before_the_first_prompt_is_no_exchange():
    assert rows(happened(1, "system_note", {"type": "summary"}, turn=0)) == []


def test_each_prompt_begins_one():
    found = rows(
        happened(1, "user_message", {"text": "One."}, turn=1),
        happened(2, "agent_message", {"text": "1"}, turn=1),
        happened(3, "user_message", {"text": "Two."}, turn=2),
    )
    assert [(row["turn"], row["user_text"], row["assistant_text"], row["responses"]) for row in found] == [
        (1, "One.", "1", 1),
        (2, "Two.", "", 0),
    ]


@pytest.mark.parametrize(
    ("event", "interrupted", "compacted"),
    [
        (happened(2, "system_note", {"type": "turn_interrupted"}), True, False),
        (happened(2, "compaction", {"type": "boundary"}), False, True),
        (happened(2, "compaction", {"type": "micro"}), False, True),
        (happened(2, "compaction", {"type": "summary"}), False, False),
        (happened(2, "system_note", {"type": "meta"}), False, False),
    ],
)
def test_interrupts_and_compactions_are_marked(event, interrupted, compacted):
    (row,) = rows(happened(1, "user_message", {"text": "Go."}), event)
    assert (row["is_interrupted"], row["is_compacted"]) == (interrupted, compacted)


@pytest.mark.parametrize(
    ("seconds", "span"),
    [
        ((10, 12, 5, 5, 13), (moment(5), moment(13), 8000)),
        ((None, 3, None), (moment(3), moment(3), 0)),
        ((None, None), (None, None, None)),
        ((), (None, None, None)),
    ],
)
def test_a_span_is_newest_minus_oldest_whatever_the_clocks_did(seconds, span):
    events = [happened(seq, "system_note", {}, seconds=at) for seq, at in enumerate(seconds, start=1)]
    assert time_span(events) == span


@pytest.mark.parametrize(
    ("text", "line"),
    [("one\ntwo", "one"), ("\n\n  one  \ntwo", "one"), ("", ""), (" \n ", ""), ("x" * 300, "x" * 199 + "…")],
)
def test_the_first_line_that_says_something(text, line):
    assert first_line(text) == line
