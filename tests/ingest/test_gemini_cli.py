"""Gemini CLI's messages as events, in both layouts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from transcripts import SESSION, jsonl, moment, stamp

import workbench as wb
from workbench.ingest import formats, gemini_cli
from workbench.ingest.importer import Importer

DATA = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
REAL = DATA / "transcripts" / "gemini-cli" / "gemini-session.json"
FILE = "tmp/demo/chats/session-2026-03-02T09-00-00000000"
MODEL = "gemini-2.5-flash"
HEADER = {"sessionId": SESSION, "projectHash": "ab12", "startTime": stamp(0), "lastUpdated": stamp(9)}


def message(message_id, kind, content="", seconds=0, **fields):
    return {"id": message_id, "timestamp": stamp(seconds), "type": kind, "content": content, **fields}


def prompt(message_id="m1", content="Read both.", **fields):
    return message(message_id, "user", content, **fields)


def answer(message_id="m2", content="", **fields):
    return message(message_id, "gemini", content, **({"thoughts": [], "model": MODEL} | fields))


def call(call_id="t1", status="success", output=..., seconds=4, **fields):
    response = {} if output is ... else {"result": returned(call_id, output=output)}
    named = {"id": call_id, "name": "read_file", "args": {"file_path": f"{call_id}.txt"}}
    return {**named, "status": status, "timestamp": stamp(seconds), **response, **fields}


def returned(call_id, **response):
    return [{"functionResponse": {"id": call_id, "name": "read_file", "response": response}}]


def tokens(**figures):
    return {"input": 120, "output": 25, "cached": 40, "thoughts": 5, "tool": 0, "total": 150, **figures}


def whole(*messages, **fields):
    return json.dumps({**HEADER, **fields, "messages": list(messages)}, indent=2).encode()


def lines(*messages, **fields):
    return jsonl({**HEADER, **fields}, *messages)


def told(*messages, data=None):
    source = gemini_cli.read(whole(*messages) if data is None else data, f"{FILE}.json")
    return [(draft.kind, draft.actor, draft.payload) for record in source.records[1:] for draft in record.drafts]


ABOUT = {"message_id": "m2", "model": MODEL}
CALL = {"tool": "read_file", "args": {"file_path": "t1.txt"}, "tool_call_id": "t1", **ABOUT}


def result(text, **fields):
    known = {"tool_call_id": "t1", "result": text, "is_error": False, "tool": "read_file"}
    return "tool_result", "tool", known | fields


MESSAGES = {
    "prompt": (prompt(), ("user_message", "user", {"text": "Read both."})),
    "prompt in parts": (
        prompt(content=[{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": "x"}}, "here"]),
        ("user_message", "user", {"text": "Look\nhere", "images": 1}),
    ),
    "what was typed, not what was sent": (
        prompt(content=[{"text": "See @a.txt"}, {"text": "--- a.txt ---"}], displayContent="See @a.txt"),
        ("user_message", "user", {"text": "See @a.txt"}),
    ),
    "results that came back as the user's": (prompt(content=returned("t1", output="alpha")),),
    "a summary in place of the history": (
        prompt(content="<state_snapshot>So far.</state_snapshot>"),
        ("compaction", "kernel", {"type": "summary", "summary": "<state_snapshot>So far.</state_snapshot>"}),
    ),
    "answer": (
        answer(
            content="Looking.",
            thoughts=[{"subject": "Where", "description": "In t1.", "timestamp": stamp(0)}],
            tokens=tokens(),
        ),
        ("agent_message", "agent", {"thinking": "Where\nIn t1.", **ABOUT}),
        ("agent_message", "agent", {"text": "Looking.", **ABOUT}),
        (
            "usage",
            "kernel",
            {
                "input_tokens": 80,
                "output_tokens": 30,
                "cache_read_tokens": 40,
                "cache_write_tokens": None,
                "reasoning_tokens": 5,
                **ABOUT,
            },
        ),
    ),
    "figures that are not told are unknown": (
        answer(content="Yes.", tokens={"input": 7, "output": 2}),
        ("agent_message", "agent", {"text": "Yes.", **ABOUT}),
        (
            "usage",
            "kernel",
            {
                "input_tokens": 7,
                "output_tokens": 2,
                "cache_read_tokens": None,
                "cache_write_tokens": None,
                "reasoning_tokens": None,
                **ABOUT,
            },
        ),
    ),
    "zeros alone are no usage": (
        answer(content="Yes.", tokens=dict.fromkeys(tokens(), 0)),
        ("agent_message", "agent", {"text": "Yes.", **ABOUT}),
    ),
    "nothing said": (answer(), ("agent_message", "agent", {"text": "", **ABOUT})),
    "call": (answer(toolCalls=[call(output="alpha")]), ("tool_call", "agent", CALL), result("alpha")),
    "call that runs": (answer(toolCalls=[call(status="executing")]), ("tool_call", "agent", CALL)),
    "failed call": (
        answer(toolCalls=[call(status="error", result=returned("t1", error="no such file"))]),
        ("tool_call", "agent", CALL),
        result("no such file", is_error=True),
    ),
    "cancelled call": (
        answer(toolCalls=[call(status="cancelled", result=returned("t1", error="[Operation Cancelled]"))]),
        ("tool_call", "agent", CALL),
        result("[Operation Cancelled]", is_error=True, rejected=True),
    ),
    "result that was only shown": (
        answer(toolCalls=[call(resultDisplay="3 lines")]),
        ("tool_call", "agent", CALL),
        result("3 lines"),
    ),
    "result with a picture": (
        answer(
            toolCalls=[
                call(result=[*returned("t1", output="seen"), {"inlineData": {"mimeType": "image/png", "data": "xx"}}])
            ]
        ),
        ("tool_call", "agent", CALL),
        result("seen\n[image/png, 2 characters of base64]", images=1),
    ),
    "result with a file that lies elsewhere": (
        answer(toolCalls=[call(result=[{"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a/b.pdf"}}])]),
        ("tool_call", "agent", CALL),
        result("[application/pdf, gs://a/b.pdf]"),
    ),
    "note": (
        message("m3", "info", "Update available."),
        ("system_note", "kernel", {"type": "info", "text": "Update available."}),
    ),
    "stopped by the person": (
        message("m3", "info", "Request cancelled."),
        ("system_note", "user", {"type": "turn_interrupted", "text": "Request cancelled."}),
    ),
    "unknown message": (
        message("m3", "hologram", 1),
        ("unknown", "kernel", {"record": message("m3", "hologram", 1)}),
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_become_events_in_both_layouts(name):
    found, *expected = MESSAGES[name]
    assert told(found) == expected
    assert told(data=lines(found)) == expected


def test_the_last_line_with_an_id_is_the_message():
    grown = answer(content="Looking.", tokens=tokens(), toolCalls=[call(output="alpha"), call("t2", output="beta")])
    source = gemini_cli.read(
        lines(
            prompt(),
            answer(content="Looking.", tokens=tokens(output=10)),
            answer(content="Looking.", toolCalls=[call(status="executing")]),
            message("m3", "info", "Meanwhile."),
            grown,
            {"$set": {"lastUpdated": stamp(9)}},
        ),
        f"{FILE}.jsonl",
    )
    assert [(record.record_id, record.line) for record in source.records] == [
        (f"session:{SESSION}", 1),
        ("m1", 2),
        ("m2", 6),
        ("m2/t1", 6),
        ("m2/t2", 6),
        ("m3", 5),
    ]
    usage = [draft.payload for record in source.records for draft in record.drafts if draft.kind == "usage"]
    assert [each["output_tokens"] for each in usage] == [30]


def test_a_result_has_the_time_at_which_its_call_ended():
    source = gemini_cli.read(whole(answer(seconds=2, toolCalls=[call(output="a", seconds=4)])), f"{FILE}.json")
    assert [record.occurred_at for record in source.records] == [moment(0), moment(2), moment(4)]


def test_a_message_lies_on_the_line_that_its_id_is_on():
    source = gemini_cli.read(whole(prompt(), answer()), f"{FILE}.json")
    assert [record.line for record in source.records] == [1, 8, 14]
    assert source.lines == 22


def test_a_history_that_was_replaced_is_marked_and_nothing_is_lost():
    summary = prompt("m9", "<state_snapshot>So far.</state_snapshot>")
    masked = answer(content="[masked]")
    data = lines(prompt(), answer(content="Said."), {"$set": {"messages": [summary, masked], "lastUpdated": stamp(9)}})
    assert told(data=data) == [
        ("user_message", "user", {"text": "Read both."}),
        ("agent_message", "agent", {"text": "Said.", **ABOUT}),
        ("compaction", "kernel", {"type": "boundary", "trigger": None, "pre_tokens": None}),
        ("compaction", "kernel", {"type": "summary", "summary": "<state_snapshot>So far.</state_snapshot>"}),
    ]


def test_changes_of_the_header_and_messages_taken_back_are_notes():
    data = lines(
        {"$set": {"lastUpdated": stamp(1)}},
        {"$set": {"summary": "Two files.", "lastUpdated": stamp(2)}},
        {"$rewindTo": "m1"},
        {"x": 1},
    )
    assert told(data=data) == [
        ("system_note", "kernel", {"type": "session", "summary": "Two files."}),
        ("system_note", "kernel", {"type": "rewind", "to": "m1"}),
        ("unknown", "kernel", {"record": {"x": 1}}),
    ]


def test_a_sub_agents_file_belongs_to_the_session_of_its_folder():
    path = f"tmp/demo/chats/{SESSION}/helper-1.jsonl"
    data = lines(prompt(content="Look."), answer(content="Seen."), sessionId="helper-1", kind="subagent")
    source = gemini_cli.read(data, path)
    assert (source.session_id, source.role) == (SESSION, "subagent")
    drafts = [draft for record in source.records for draft in record.drafts]
    assert [(draft.kind, draft.actor, draft.agent_id, draft.is_sidechain) for draft in drafts] == [
        ("user_message", "agent", "helper-1", True),
        ("agent_message", "agent", "helper-1", True),
    ]
    assert gemini_cli.parent_path(path, SESSION) == "tmp/demo/chats/session-00000000.jsonl"
    elsewhere = gemini_cli.read(data, "copies/helper-1.jsonl")
    assert (elsewhere.session_id, elsewhere.role) == ("helper-1", "main")


@pytest.mark.parametrize("data", [whole(prompt())[:-9], b"{", b'{"sessionId":"s","projectHash":"p","messages":[{'])
def test_a_broken_object_is_one_issue_and_no_session(data):
    source = gemini_cli.read(data, f"{FILE}.json")
    assert (source.session_id, source.records) == (None, [])
    assert [(issue.line, issue.issue) for issue in source.issues] == [(0, "bad_json")]


def test_broken_lines_hide_nothing():
    data = jsonl(b"torn", HEADER, b"[1]", prompt(content=7), {"$set": 1}, prompt("m5")) + b'{"id":"m6"'
    source = gemini_cli.read(data, f"{FILE}.jsonl")
    assert [record.record_id for record in source.records if record.record_id.startswith("m")] == ["m1", "m5"]
    assert source.session_id == SESSION
    assert [(issue.line, issue.issue) for issue in source.issues] == [
        (1, "bad_json"),
        (3, "not_an_object"),
        (5, "odd_field"),
        (5, "unknown_record"),
        (7, "unfinished_line"),
    ]


def test_odd_fields_are_told_and_cost_only_themselves():
    odd = answer(model=7, tokens={"input": "1", "output": 2}, toolCalls=[3, {"id": 4}], thoughts="hm")
    odd |= {"timestamp": 5}
    source = gemini_cli.read(
        whole(prompt(), odd, "what", {"id": ["m"], "type": "user", "content": "x"}), f"{FILE}.json"
    )
    assert [draft.kind for record in source.records[1:] for draft in record.drafts] == [
        "user_message",
        "tool_call",
        "usage",
        "user_message",
    ]
    assert {issue.issue for issue in source.issues} == {"odd_field"}


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (whole(prompt()), "a.json", True),
        (whole(prompt()), "full.jsonl", True),
        (whole(prompt())[:100], "a.json", True),
        (lines(prompt()), "a.jsonl", True),
        (lines(prompt()), "a.txt", False),
        (jsonl(prompt()), "a.jsonl", False),
        (b'{"messages":[]}', "a.json", False),
    ],
)
def test_a_file_begins_with_session_and_project(data, name, expected):
    assert gemini_cli.sniff(data, name) is expected


def test_a_session_told_in_both_layouts_lands_once(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {gemini_cli.NAME: gemini_cli})
    messages = [prompt(), answer(toolCalls=[call(output="alpha")], tokens=tokens())]
    (tmp_path / "a.json").write_bytes(whole(*messages))
    (tmp_path / "b.jsonl").write_bytes(lines(*messages, answer("m3", "Read.", tokens=tokens(input=150, cached=100))))
    bench = wb.open(tmp_path / "home")
    Importer(bench._lake).run([tmp_path / "a.json", tmp_path / "b.jsonl"])
    names = "agent, cwd, prompts, responses, tool_calls, model_calls, input_tokens, cache_read_tokens, output_tokens"
    assert bench.sql(f"select {names} from sessions").rows() == [("gemini-cli", None, 1, 2, 1, 2, 130, 140, 60)]
    assert bench.sql("select tool_call_id, file_path, result, status from tool_calls").rows() == [
        ("t1", "t1.txt", "alpha", "ok")
    ]


@pytest.mark.skipif(not REAL.is_file(), reason="not in this clone: the real data of WORKBENCH_DATA")
def test_the_counts_of_the_real_file(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {gemini_cli.NAME: gemini_cli})
    bench = wb.open(tmp_path / "home")
    Importer(bench._lake).run([REAL])
    names = "prompts, responses, tool_calls, tool_errors, model_calls"
    tokens = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens"
    assert bench.sql(f"select {names}, {tokens}, issues from sessions").rows() == [
        (1, 11, 9, 0, 10, 17_521, 1_812, 113_854, None, 0)
    ]
    assert bench.sql("select lines, records from sources").rows() == [(521, 23)]
