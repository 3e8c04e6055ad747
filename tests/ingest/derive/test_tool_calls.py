"""Tool calls with their results, and large results as artifacts."""

from __future__ import annotations

import json

import pytest
from transcripts import SESSION, happened, moment

from workbench.ingest.derive.tool_calls import ARTIFACT_TOKENS, PICTURE_TOKENS, artifacts, result_tokens, tool_calls
from workbench.ingest.objects import picture
from workbench.text.ids import content_hash
from workbench.text.tokens import estimate_tokens

CREDIT = {"s1": (True, "s1"), "s2": (True, "s2"), "agent": (False, "agent")}


def call(seq, tool_call_id="t1", tool="Bash", **more):
    args = more.pop("args", {"command": "make"})
    payload = {"tool": tool, "args": args, "tool_call_id": tool_call_id, "message_id": "msg_1"}
    return happened(seq, "tool_call", payload, **more)


def result(seq, tool_call_id="t1", words="ok", *, is_error=False, rejected=None, **more):
    payload = {"tool_call_id": tool_call_id, "result": words, "is_error": is_error}
    return happened(seq, "tool_result", payload if rejected is None else payload | {"rejected": rejected}, **more)


def test_a_call_with_its_result_with_every_column():
    (row,) = tool_calls([call(3, seconds=1, turn=2), result(5, seconds=3, turn=2)], CREDIT)
    assert row._asdict() == {
        "session_id": SESSION,
        "tool_call_id": "t1",
        "turn": 2,
        "seq": 3,
        "call_event_id": "e3",
        "result_event_id": "e5",
        "message_id": "msg_1",
        "tool": "Bash",
        "input": '{"command":"make"}',
        "command": "make",
        "file_path": None,
        "called_at": moment(1),
        "returned_at": moment(3),
        "duration_ms": 2000,
        "status": "ok",
        "is_error": False,
        "result": "ok",
        "result_tokens": 1,
        "artifact_id": None,
        "source_id": "s1",
        "agent_id": None,
        "is_sidechain": False,
    }


@pytest.mark.parametrize(
    ("answers", "status", "is_error"),
    [
        ([], "open", None),
        ([result(2)], "ok", False),
        ([result(2, is_error=True)], "error", True),
        ([result(2, is_error=True, rejected=True)], "rejected", True),
    ],
)
def test_how_a_call_ended(answers, status, is_error):
    (row,) = tool_calls([call(1), *answers], CREDIT)
    assert (row.status, row.is_error) == (status, is_error)
    assert (row.result is None, row.result_event_id is None, row.result_tokens is None) == (status == "open",) * 3


def test_results_are_paired_by_id_and_not_by_place():
    events = [result(1, "t2", "second"), call(2, "t1"), call(3, "t2"), result(4, "t1", "first"), result(5, "t9", "?")]
    assert [(row.tool_call_id, row.result) for row in tool_calls(events, CREDIT)] == [("t1", "first"), ("t2", "second")]


def test_the_first_of_two_results_counts():
    (row,) = tool_calls([call(1), result(2, words="one"), result(3, words="two")], CREDIT)
    assert row.result == "one"


def test_a_call_without_an_id_stands_for_itself():
    events = [call(1, None), call(2, None), result(3, None, "nobody's")]
    assert [(row.tool_call_id, row.status) for row in tool_calls(events, CREDIT)] == [("e1", "open"), ("e2", "open")]


@pytest.mark.parametrize(
    ("sources", "credited"),
    [
        (("s2", "s1"), "s1"),
        (("s1", "s2"), "s1"),
        (("s1", "agent"), "agent"),
        (("agent", "s1"), "agent"),
        (("s2", "unknown", "s1"), "s1"),
    ],
)
def test_a_call_that_several_files_tell_of_is_credited_to_a_sub_agents_file_else_to_the_smaller_id(sources, credited):
    events = [
        call(number, source_id=source, is_sidechain=source == "agent", agent_id="a1" if source == "agent" else None)
        for number, source in enumerate(sources, start=1)
    ]
    (row,) = tool_calls(events, CREDIT)
    assert (row.source_id, row.is_sidechain) == (credited, credited == "agent")


@pytest.mark.parametrize(("start", "end"), [(5, 3), (None, 3), (3, None), (None, None)])
def test_a_duration_that_would_be_negative_or_lacks_an_end_is_unknown(start, end):
    (row,) = tool_calls([call(1, seconds=start), result(2, seconds=end)], CREDIT)
    assert row.duration_ms is None
    assert [row.called_at, row.returned_at] == [None if each is None else moment(each) for each in (start, end)]


@pytest.mark.parametrize(
    ("args", "command", "file_path"),
    [
        ({"command": "ls -l", "description": "list"}, "ls -l", None),
        ({"cmd": ["git", "status"]}, "git status", None),
        ({"file_path": "a.py", "limit": 3}, None, "a.py"),
        ({"notebook_path": "n.ipynb"}, None, "n.ipynb"),
        ({"absolute_path": "/x/y"}, None, "/x/y"),
        ({"command": {"odd": 1}, "path": 7}, None, None),
        (["a", "list"], None, None),
        (None, None, None),
        ("text", None, None),
        ({}, None, None),
    ],
)
def test_command_and_file_are_taken_from_the_arguments(args, command, file_path):
    (row,) = tool_calls([call(1, args=args)], CREDIT)
    assert (row.command, row.file_path) == (command, file_path)
    assert json.loads(row.input) == args


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30, -(10**30)])
def test_an_argument_may_be_any_number_that_a_file_can_hold(number):
    (row,) = tool_calls([call(1, args={"n": number})], CREDIT)
    assert json.loads(row.input) == {"n": number}


LARGE = "word " * (ARTIFACT_TOKENS + 100)


def test_large_results_are_artifacts_once_a_content_and_small_ones_are_none():
    calls = tool_calls(
        [
            call(1, "t1", args={"command": "cat a"}, turn=3),
            result(2, "t1", LARGE, turn=3),
            call(3, "t2", "Read", args={"file_path": "a"}),
            result(4, "t2", LARGE),
            call(5, "t3"),
            result(6, "t3", "small"),
            call(7, "t4"),
        ],
        CREDIT,
    )
    (row,), texts = artifacts(calls)
    assert [each.artifact_id for each in calls] == [content_hash(LARGE)] * 2 + [None] * 2
    assert texts == {content_hash(LARGE): LARGE}
    assert row._asdict() == {
        "session_id": SESSION,
        "artifact_id": content_hash(LARGE),
        "created_turn": 3,
        "created_event_id": "e2",
        "source_tool": "Bash",
        "command": "cat a",
        "file_path": None,
        "raw_tokens": calls[0].result_tokens,
        "size_bytes": len(LARGE),
        "uses": 2,
    }


def test_the_size_of_an_artifact_is_in_bytes():
    text = "界" * 2000
    (row,), _ = artifacts(tool_calls([call(1), result(2, words=text)], CREDIT))
    assert row.size_bytes == 6000


@pytest.mark.parametrize("characters", [0, 104, 1_136, 12_345_678])
def test_a_picture_counts_the_same_however_long_its_encoding_is(characters):
    text = f"seen\n{picture('image/png', characters)}"
    assert result_tokens(text, estimate_tokens(text)) == estimate_tokens("seen\n") + PICTURE_TOKENS


def test_a_picture_alone_is_no_artifact():
    (row,) = tool_calls([call(1), result(2, words=picture("image/png", 9_000_000))], CREDIT)
    assert (row.result_tokens, row.artifact_id) == (PICTURE_TOKENS, None)
