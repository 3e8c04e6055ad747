"""Turns: prompts, and responses put together from their lines."""

from __future__ import annotations

from transcripts import MODEL, SESSION, happened, moment

from workbench.ingest.derive.turns import turn_rows, turns
from workbench.store.tables import TABLES

ABOUT = {"message_id": "msg_1", "request_id": "req_1", "model": MODEL}


def rows(*events):
    """The rows by column, without the landing."""
    names = [column.name for column in TABLES["turns"].declared]
    return [dict(zip(names, row, strict=True)) for row in turn_rows(turns(events))]


def test_a_prompt_and_a_response_with_every_column():
    found = rows(
        happened(1, "user_message", {"text": "Look at both.", "images": 2}),
        happened(2, "agent_message", {"thinking": "two reads", **ABOUT}, seconds=2),
        happened(3, "agent_message", {"text": "Reading.", **ABOUT}, seconds=3),
        happened(4, "tool_call", {"tool": "Read", "args": {}, "tool_call_id": "t1", **ABOUT}, seconds=4),
    )
    assert found == [
        {
            "session_id": SESSION,
            "sequence_number": 0,
            "turn": 1,
            "role": "user",
            "event_id": "e1",
            "seq": 1,
            "occurred_at": moment(0),
            "ended_at": moment(0),
            "text": "Look at both.",
            "thinking": None,
            "images": 2,
            "tokens": 4,
            "tool_calls": 0,
            "model": None,
            "message_id": None,
            "request_id": None,
            "is_error": False,
            "source_id": "s1",
            "agent_id": None,
            "is_sidechain": False,
        },
        {
            "session_id": SESSION,
            "sequence_number": 1,
            "turn": 1,
            "role": "assistant",
            "event_id": "e2",
            "seq": 2,
            "occurred_at": moment(2),
            "ended_at": moment(4),
            "text": "Reading.",
            "thinking": "two reads",
            "images": 0,
            "tokens": 2,
            "tool_calls": 1,
            "model": MODEL,
            "message_id": "msg_1",
            "request_id": "req_1",
            "is_error": False,
            "source_id": "s1",
            "agent_id": None,
            "is_sidechain": False,
        },
    ]


def test_the_lines_of_a_response_are_one_turn_whatever_stands_between_them():
    found = rows(
        happened(1, "tool_call", {"tool_call_id": "t1", **ABOUT}),
        happened(2, "agent_message", {"text": "Meanwhile.", "message_id": "msg_2"}),
        happened(3, "user_message", {"text": "Faster."}),
        happened(4, "tool_call", {"tool_call_id": "t2", **ABOUT}),
        happened(5, "agent_message", {"text": "One.", **ABOUT}),
        happened(6, "agent_message", {"text": "Two.", **ABOUT}),
    )
    assert [(row["message_id"], row["text"], row["tool_calls"]) for row in found] == [
        ("msg_1", "One.\n\nTwo.", 2),
        ("msg_2", "Meanwhile.", 0),
        (None, "Faster.", 0),
    ]


def test_what_has_no_message_id_stands_for_itself():
    found = rows(
        happened(1, "agent_message", {"text": "One.", "message_id": None}),
        happened(2, "agent_message", {"text": "Two."}),
    )
    assert [row["text"] for row in found] == ["One.", "Two."]


def test_a_call_that_two_files_tell_of_counts_once():
    call = {"tool_call_id": "t1", **ABOUT}
    (row,) = rows(happened(1, "tool_call", call), happened(2, "tool_call", call))
    assert row["tool_calls"] == 1


def test_a_response_of_a_sub_agent_and_an_error_of_the_provider_are_marked():
    found = rows(
        happened(1, "agent_message", {"text": "x", "message_id": "m1"}, agent_id="a1", is_sidechain=True),
        happened(2, "agent_message", {"text": "API Error", "message_id": "m2", "is_error": True}),
    )
    assert [(row["agent_id"], row["is_sidechain"], row["is_error"]) for row in found] == [
        ("a1", True, False),
        (None, False, True),
    ]


def test_a_clock_that_goes_back_ends_no_turn_before_its_newest_event():
    (row,) = rows(
        happened(1, "agent_message", {"text": "a", **ABOUT}, seconds=9),
        happened(2, "agent_message", {"text": "b", **ABOUT}, seconds=4),
        happened(3, "agent_message", {"text": "c", **ABOUT}, seconds=None),
    )
    assert (row["occurred_at"], row["ended_at"], row["text"]) == (moment(9), moment(9), "a\n\nb\n\nc")


def test_a_response_whose_first_line_has_no_time_ends_with_the_newest():
    (row,) = rows(
        happened(1, "agent_message", {"text": "a", **ABOUT}, seconds=None),
        happened(2, "agent_message", {"text": "b", **ABOUT}, seconds=4),
    )
    assert (row["occurred_at"], row["ended_at"]) == (None, moment(4))
