"""Claude Code's records as events: literal records in, literal events out."""

from __future__ import annotations

import pytest
from transcripts import (
    CWD,
    MODEL,
    SESSION,
    Line,
    call,
    jsonl,
    line,
    moment,
    nested,
    picture,
    prompt,
    response,
    result,
    sidechain,
    stamp,
    text,
    thinking,
    tokens,
)

from workbench.ingest.claude_code import parent_path, read, sniff

FILE = f"{SESSION}.jsonl"


def parsed(*lines):
    return read(jsonl(*lines), FILE)


def drafts(source):
    return [draft for record in source.records for draft in record.drafts]


def told(*lines):
    return [(draft.kind, draft.payload) for draft in drafts(parsed(*lines))]


def issues(source):
    return [(issue.line, issue.issue, issue.count) for issue in source.issues]


def event(kind, **payload):
    return kind, payload


def answer(message_id="msg_1", kind="agent_message", request_id="req_1", **payload):
    return kind, payload | {"message_id": message_id, "request_id": request_id, "model": MODEL}


def returned(words, *, is_error=False, **more):
    return event("tool_result", tool_call_id="t1", result=words, is_error=is_error, **more)


def note(kind, **more):
    return event("system_note", type=kind, **more)


def attached(**attachment) -> Line:
    return line("attachment", "x", attachment=attachment)


def progress(**data) -> Line:
    return line("progress", "p", data=data)


def system(subtype, **fields) -> Line:
    return line("system", "s", subtype=subtype, **fields)


def bare(kind, **fields) -> Line:
    """A record without the usual envelope, as the smaller types have it."""
    return {"type": kind, "sessionId": SESSION, **fields}


REFUSED = "The user doesn't want to proceed with this tool use."
STOPPED = "[Request interrupted by user for tool use]"
OUTPUT = "<local-command-stdout>See ya!</local-command-stdout>"
NOTICE = "<task-notification><task-id>t</task-id></task-notification>"
DETAIL = {"agentId": "a7", "totalDurationMs": 1200, "totalTokens": 90, "content": []}

RECORDS = {
    "prompt": (prompt("u", "Go on."), event("user_message", text="Go on.")),
    "prompt with picture": (
        prompt("u", [text("Look"), picture()]),
        event("user_message", text="Look", images=1),
    ),
    "pictures alone": (prompt("u", [picture(), picture()]), event("user_message", text="", images=2)),
    "prompt in two blocks": (prompt("u", [text("One."), text("Two.")]), event("user_message", text="One.\n\nTwo.")),
    "prompt as a bare string in a list": (prompt("u", ["Go on."]), event("user_message", text="Go on.")),
    "reminder and prompt": (
        prompt("u", [text("<system-reminder>none</system-reminder>"), text("Go on.")]),
        note("system-reminder", text="<system-reminder>none</system-reminder>"),
        event("user_message", text="Go on."),
    ),
    "result": (prompt("u", [result("t1", "done")]), returned("done")),
    "result of nothing": (prompt("u", [result("t1", None)]), returned("")),
    "failed result": (
        prompt("u", [result("t1", "no such file", is_error=True)], toolUseResult="Error: no such file"),
        returned("no such file", is_error=True),
    ),
    "refused call": (
        prompt("u", [result("t1", REFUSED, is_error=True)], toolUseResult=f"Error: {REFUSED}"),
        returned(REFUSED, is_error=True, rejected=True),
    ),
    "result with picture": (
        prompt("u", [result("t1", [text("found"), picture("x" * 2000)])]),
        returned("found\n[image/png, 2,000 characters of base64]", images=1),
    ),
    "result of another kind": (
        prompt("u", [result("t1", [{"type": "tool_reference", "tool_name": "x"}])]),
        returned('{"type":"tool_reference","tool_name":"x"}'),
    ),
    "result of a sub-agent": (
        prompt("u", [result("t1", "report")], toolUseResult=DETAIL),
        returned("report", subagent_id="a7", duration_ms=1200, total_tokens=90),
    ),
    "interrupted result": (
        prompt("u", [result("t1", "cut")], toolUseResult={"stdout": "cut", "interrupted": True}),
        returned("cut", interrupted=True),
    ),
    "interrupt": (prompt("u", [text(STOPPED)]), note("turn_interrupted", text=STOPPED)),
    "meta": (prompt("u", "A caveat.", isMeta=True), note("meta", text="A caveat.")),
    "compact summary": (
        prompt("u", "What happened before.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        event("compaction", type="summary", summary="What happened before."),
    ),
    "output of a command": (prompt("u", OUTPUT), note("local-command-stdout", text=OUTPUT)),
    "response": (
        response("a", "msg_1", text("Yes."), usage=tokens(7, 3, 20, 40)),
        answer(text="Yes."),
        answer(kind="usage", input_tokens=3, output_tokens=7, cache_read_tokens=20, cache_write_tokens=40),
    ),
    "response with thoughts and a call": (
        response("a", "msg_1", thinking("hm"), text("Yes."), call("t1", "Read", file_path="a.txt")),
        answer(thinking="hm"),
        answer(text="Yes."),
        answer(kind="tool_call", tool="Read", args={"file_path": "a.txt"}, tool_call_id="t1"),
    ),
    "cache writes of two lifetimes": (
        response(
            "a",
            "msg_1",
            usage=tokens(1, 2, 3, 500)
            | {"cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 200}},
        ),
        answer(text=""),
        answer(
            kind="usage",
            input_tokens=2,
            output_tokens=1,
            cache_read_tokens=3,
            cache_write_tokens=500,
            cache_write_1h_tokens=200,
        ),
    ),
    "hidden thoughts": (response("a", "msg_1", {"type": "redacted_thinking", "data": "zz"}), answer(thinking="")),
    "block of an unknown kind": (
        response("a", "msg_1", {"type": "hologram", "text": "..."}),
        answer(text="...", block_type="hologram"),
    ),
    "empty response": (response("a", "msg_1"), answer(text="")),
    "response as a string": (
        line("assistant", "a", message={"id": "msg_1", "model": MODEL, "content": "Yes."}, requestId="req_1"),
        answer(text="Yes."),
    ),
    "error of the provider": (
        response("a", "msg_1", text("API Error: 529"), isApiErrorMessage=True, requestId=...),
        answer(text="API Error: 529", request_id=None, is_error=True),
    ),
    "hook_progress": (
        line("progress", "p", data={"type": "hook_progress", "hookName": "Stop"}, toolUseID="t"),
        event("ui_transcript", type="hook_progress", toolUseID="t", hookName="Stop"),
    ),
    "bash_progress": (
        progress(type="bash_progress", output=".", totalLines=2),
        event("ui_transcript", type="bash_progress", output=".", totalLines=2),
    ),
    "mcp_progress": (
        progress(type="mcp_progress", status="started"),
        event("ui_transcript", type="mcp_progress", status="started"),
    ),
    "waiting_for_task": (
        progress(type="waiting_for_task", taskType="local_bash"),
        event("ui_transcript", type="waiting_for_task", taskType="local_bash"),
    ),
    "query_update": (
        progress(type="query_update", query="q"),
        event("ui_transcript", type="query_update", query="q"),
    ),
    "search_results_received": (
        progress(type="search_results_received", resultCount=3),
        event("ui_transcript", type="search_results_received", resultCount=3),
    ),
    "turn_duration": (system("turn_duration", durationMs=300), note("turn_duration", durationMs=300)),
    "stop_hook_summary": (system("stop_hook_summary", hookCount=1), note("stop_hook_summary", hookCount=1)),
    "away_summary": (system("away_summary", content="Busy."), note("away_summary", content="Busy.")),
    "local_command": (system("local_command", content="/mcp"), note("local_command", content="/mcp")),
    "compact_boundary": (
        system("compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 158105}),
        event("compaction", type="boundary", trigger="auto", pre_tokens=158105),
    ),
    "microcompact_boundary": (
        system("microcompact_boundary", microcompactMetadata={"trigger": "auto", "preTokens": 9}),
        event("compaction", type="micro", trigger="auto", pre_tokens=9),
    ),
    "summary": (
        {"type": "summary", "summary": "Jobs", "leafUuid": "z"},
        note("summary", summary="Jobs", leafUuid="z"),
    ),
    "file-history-snapshot": (
        {"type": "file-history-snapshot", "messageId": "u", "snapshot": {"trackedFileBackups": {}}},
        note("file-history-snapshot", messageId="u", snapshot={"trackedFileBackups": {}}),
    ),
    "queue-operation": (bare("queue-operation", operation="remove"), note("queue-operation", operation="remove")),
    "permission-mode": (bare("permission-mode", permissionMode="plan"), note("permission-mode", permissionMode="plan")),
    "last-prompt": (bare("last-prompt", lastPrompt="Go on."), note("last-prompt", lastPrompt="Go on.")),
    "pr-link": (bare("pr-link", prNumber=7), note("pr-link", prNumber=7)),
    "attachment": (
        attached(type="task_reminder", content=[]),
        note("attachment", content=[], attachment_type="task_reminder"),
    ),
    "prompt typed meanwhile": (
        attached(type="queued_command", prompt="Faster."),
        event("user_message", text="Faster."),
    ),
    "prompt with picture typed meanwhile": (
        attached(type="queued_command", prompt=[text("See"), picture()]),
        event("user_message", text="See", images=1),
    ),
    "notice queued meanwhile": (
        attached(type="queued_command", prompt=NOTICE),
        note("task-notification", text=NOTICE),
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_becomes_these_events(name):
    record, *events = RECORDS[name]
    assert told(record) == events
    assert issues(parsed(record)) == []


@pytest.mark.parametrize(
    ("kind", "actor"),
    [
        ("prompt", "user"),
        ("result", "tool"),
        ("response", "agent"),
        ("interrupt", "user"),
        ("meta", "kernel"),
        ("hook_progress", "kernel"),
        ("compact_boundary", "kernel"),
        ("prompt typed meanwhile", "user"),
        ("notice queued meanwhile", "kernel"),
    ],
)
def test_who_did_it(kind, actor):
    assert drafts(parsed(RECORDS[kind][0]))[0].actor == actor


def test_a_record_keeps_its_id_time_place_and_predecessor():
    (first, second) = parsed(prompt("u1", "Hi", seconds=1), response("u2", "msg_1", seconds=2, parentUuid="u1")).records
    assert (first.record_id, first.occurred_at, first.line, first.parent_id) == ("u1", moment(1), 1, None)
    assert (second.record_id, second.occurred_at, second.line, second.parent_id) == ("u2", moment(2), 2, "u1")
    assert (first.session_id, first.time_source) == (SESSION, "recorded")


def test_a_record_without_an_id_is_named_by_its_content_and_counted():
    same = bare("permission-mode", permissionMode="plan")
    first, second, other = (record.record_id for record in parsed(same, same, bare("mode", mode="x")).records)
    again, *_ = (record.record_id for record in parsed(same).records)
    assert len({first, second, other}) == 3
    assert again == first


def test_a_record_tells_where_the_agent_worked():
    source = parsed(
        prompt("u1", "Hi", cwd=...),
        prompt("u2", "Hi"),
        prompt("u3", "Hi", cwd=f"{CWD}/tree", gitBranch=""),
        nested("p1", prompt("n1", "Look.")),
    )
    assert [record.environment for record in source.records] == [
        None,
        ("claude-code", CWD, "main", "2.1.40"),
        ("claude-code", f"{CWD}/tree", None, "2.1.40"),
        ("claude-code", CWD, "main", "2.1.40"),
    ]


# -- responses on several lines ---------------------------------------------------------------------------------------


def test_parallel_calls_stand_on_lines_of_their_own_and_their_results_come_in_any_order():
    events = told(
        response("a1", "msg_1", thinking("two reads")),
        response("a2", "msg_1", call("t1", "Read")),
        response("a3", "msg_1", call("t2", "Grep")),
        prompt("u1", [result("t2", "second")]),
        prompt("u2", [result("t1", "first")]),
    )
    assert [(kind, payload.get("tool_call_id")) for kind, payload in events] == [
        ("agent_message", None),
        ("tool_call", "t1"),
        ("tool_call", "t2"),
        ("tool_result", "t2"),
        ("tool_result", "t1"),
    ]


# -- sub-agents -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outer", [{}, {"isSidechain": True, "agentId": "zz"}, {"isSidechain": ..., "agentId": ...}])
def test_what_is_nested_in_a_progress_record_is_sidechain_whatever_the_outer_record_says(outer):
    record = nested("p1", response("n1", "msg_1", call("t1"), usage=tokens(5), seconds=7), "a1", seconds=8, **outer)
    source = parsed(record)
    assert {(draft.agent_id, draft.is_sidechain) for draft in drafts(source)} == {("a1", True)}
    assert [draft.kind for draft in drafts(source)] == ["tool_call", "usage"]
    assert (source.records[0].record_id, source.records[0].occurred_at) == ("n1", moment(7))
    assert source.records[0].session_id == SESSION


def test_a_nested_prompt_is_the_parent_agents():
    source = parsed(nested("p1", prompt("n1", "Look around.")), prompt("u1", "Go on."))
    assert [(draft.kind, draft.actor, draft.payload) for draft in drafts(source)] == [
        ("user_message", "agent", {"text": "Look around."}),
        ("user_message", "user", {"text": "Go on."}),
    ]
    assert source.role == "main"


def test_a_nested_record_without_id_and_time_takes_the_outer_ones():
    inner = {"type": "user", "message": {"role": "user", "content": "Look."}}
    (record,) = parsed(nested("p1", inner, seconds=9)).records
    assert (record.record_id, record.occurred_at) == ("p1", moment(9))


def test_sidechain_records_of_a_main_file_are_sidechain():
    source = parsed(prompt("u1", "Go."), sidechain(prompt("s1", "Look.")), sidechain(response("s2", "msg_s")))
    assert [(draft.kind, draft.is_sidechain, draft.agent_id) for draft in drafts(source)] == [
        ("user_message", False, None),
        ("user_message", True, "a1"),
        ("agent_message", True, "a1"),
    ]
    assert source.role == "main"


def test_sidechain_records_of_older_versions_name_no_agent():
    source = parsed(prompt("u1", "Go."), prompt("s1", "Look.", isSidechain=True))
    assert [(draft.actor, draft.is_sidechain, draft.agent_id) for draft in drafts(source)] == [
        ("user", False, None),
        ("agent", True, None),
    ]


@pytest.mark.parametrize(
    "first", [prompt("s1", "Look."), response("s1", "msg_s", text("Looking."))], ids=["user", "agent"]
)
def test_a_file_of_nothing_but_a_sub_agents_records_is_that_sub_agents(first):
    source = read(jsonl(sidechain(first), sidechain(response("s2", "msg_t"))), "agent-a1.jsonl")
    assert (source.role, source.session_id) == ("subagent", SESSION)


@pytest.mark.parametrize(
    ("path", "parent"),
    [
        (f"/p/{SESSION}/subagents/agent-a1.jsonl", f"/p/{SESSION}.jsonl"),
        ("/p/agent-a1.jsonl", f"/p/{SESSION}.jsonl"),
    ],
)
def test_the_session_of_a_sub_agents_file_lies_beside_or_above_it(path, parent):
    assert parent_path(path, SESSION) == parent


# -- whose file it is -------------------------------------------------------------------------------------------------


def test_a_resumed_file_is_about_the_session_of_its_name_and_carries_both():
    source = read(jsonl(prompt("u1", "Old", session="s-old"), prompt("u2", "New", session="s-new")), "s-new.jsonl")
    assert (source.session_id, source.session_ids) == ("s-new", ["s-new", "s-old"])
    assert [record.session_id for record in source.records] == ["s-old", "s-new"]


def test_a_file_of_another_name_is_about_the_session_it_ends_with():
    source = read(jsonl(prompt("u1", "Old", session="s-old"), prompt("u2", "New", session="s-new")), "export.jsonl")
    assert source.session_id == "s-new"


def test_no_record_names_a_session():
    source = read(jsonl({"type": "summary", "summary": "x"}), FILE)
    assert (source.session_id, source.session_ids) == (None, [])


# -- what is not as it should be --------------------------------------------------------------------------------------


def test_bad_lines_are_told_and_hide_nothing():
    source = parsed(
        prompt("u1", "one"),
        b'{"type":"user","broken',
        b"\x89PNG\r\x1a",
        b"",
        b"[1, 2]",
        b'"text"',
        b" \t\r",
        prompt("u2", "two"),
    )
    assert [draft.payload for draft in drafts(source)] == [{"text": "one"}, {"text": "two"}]
    assert issues(source) == [
        (2, "bad_json", 1),
        (3, "bad_json", 1),
        (5, "not_an_object", 1),
        (6, "not_an_object", 1),
    ]
    assert source.lines == 8


def test_an_issue_shows_the_beginning_of_a_bad_line_without_its_control_characters():
    (issue,) = parsed(b'{"x": \x1b[31m' + b"y" * 500).issues
    assert '{"x": \N{REPLACEMENT CHARACTER}[31myyy' in issue.detail
    assert len(issue.detail) < 300


@pytest.mark.parametrize("tail", [b'{"type":"user","mess', '{"x":"\u4e16'.encode()[:-1], b"{", b"\0" * 9 + b"{"])
def test_the_end_of_a_file_that_is_being_written_is_no_damage(tail):
    source = read(jsonl(prompt("u1", "one")) + tail, FILE)
    assert [draft.payload for draft in drafts(source)] == [{"text": "one"}]
    assert issues(source) == [(2, "unfinished_line", 1)]


def test_a_whole_last_record_without_its_line_end_is_a_record():
    source = read(jsonl(prompt("u1", "one"), prompt("u2", "two"))[:-1], FILE)
    assert [draft.payload for draft in drafts(source)] == [{"text": "one"}, {"text": "two"}]
    assert issues(source) == []


def test_zero_bytes_at_the_end_are_no_record_and_no_damage():
    source = read(jsonl(prompt("u1", "one")) + b"\0" * 512, FILE)
    assert [draft.payload for draft in drafts(source)] == [{"text": "one"}]
    assert issues(source) == []


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_byte_order_mark_and_crlf_change_nothing(mark, end):
    plain = jsonl(prompt("u1", "one\ntwo"), response("u2", "msg_1", text("x")))
    source = read(mark + plain.replace(b"\n", end), FILE)
    assert drafts(source) == drafts(read(plain, FILE))
    assert issues(source) == []


def test_records_of_unknown_types_are_kept_as_they_are_and_counted():
    strange = line("hologram", "h1", beam={"colour": "blue"})
    source = parsed(strange, line("hologram", "h2"), line("ripple", "r1"), prompt("u1", "Hi"))
    assert [draft.kind for draft in drafts(source)] == ["unknown", "unknown", "unknown", "user_message"]
    assert drafts(source)[0].payload == {"record": strange}
    assert issues(source) == [(1, "unknown_record", 2), (3, "unknown_record", 1)]


ODD = [5, 2.5, True, None, "text", [], [1], {}, {"a": 1}]


TEXTS = ("uuid", "parentUuid", "timestamp", "cwd", "gitBranch", "version", "requestId", "agentId")
FLAGS = ("isSidechain", "isMeta", "isApiErrorMessage")


def is_usual(field, value):
    """Whether a value is of a type that the field has in sound files, or the field is not read at all."""
    if value is None or field not in (*TEXTS, *FLAGS, "message", "toolUseResult"):
        return True
    if field == "toolUseResult":
        return isinstance(value, dict | str | list)
    return isinstance(value, dict if field == "message" else str if field in TEXTS else bool)


def odd_ones(holds):
    """Values for which something does not hold; an exception counts as such."""
    wrong = []
    for value in ODD:
        try:
            held = holds(value)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            held = f"{type(error).__name__}: {error}"
        if held is not True:
            wrong.append((value, held))
    return wrong


def kept(source):
    """Whether the word `Kept.` is still there."""
    return "Kept." in str([draft.payload for draft in drafts(source)])


@pytest.mark.parametrize("field", [*TEXTS, *FLAGS, "toolUseResult", "data", "attachment", "slug"])
def test_a_field_of_another_type_is_told_and_costs_only_itself(field):
    def holds(value):
        source = parsed(response("a1", "msg_1", text("Kept."), usage=tokens(5)) | {field: value})
        named = all(field in issue.detail for issue in source.issues)
        found = [draft.kind for draft in drafts(source)]
        right = [] if is_usual(field, value) else [(1, "odd_field", 1)]
        return kept(source) and named and found == ["agent_message", "usage"] and issues(source) == right

    assert odd_ones(holds) == []


@pytest.mark.parametrize("field", ["type", "sessionId", "message"])
@pytest.mark.parametrize("kind", ["user", "assistant", "progress", "system", "hologram"])
def test_no_record_vanishes_whatever_its_type_session_or_message(kind, field):
    def holds(value):
        odd = line(kind, "x1", message={"content": "Hi", "id": "msg_1"}, data={"type": "bash_progress"})
        source = parsed(odd | {field: value}, prompt("u1", "next"))
        events = source.records[0].drafts
        nothing_to_lose = field == "message" and value in (None, {}, {"a": 1})
        return [record.line for record in source.records] == [1, 2] and bool(events or source.issues or nothing_to_lose)

    assert odd_ones(holds) == []


@pytest.mark.parametrize("field", ["id", "model", "usage", "content", "role"])
def test_no_response_is_lost_whatever_its_message_holds(field):
    def holds(value):
        odd = response("a1", "msg_1", text("Kept."), usage=tokens(5))
        odd["message"][field] = value
        kinds = [draft.kind for draft in drafts(parsed(odd))]
        return (
            "agent_message" in kinds
            and (field == "usage" or "usage" in kinds)
            and (field == "content" or kept(parsed(odd)))
        )

    assert odd_ones(holds) == []


@pytest.mark.parametrize("field", ["type", "text", "id", "name", "input", "tool_use_id", "content", "is_error"])
def test_no_block_is_lost_whatever_its_fields_hold(field):
    def holds(value):
        said = parsed(response("a1", "msg_1", text("Kept."), call("t1") | {field: value}))
        came = parsed(prompt("u1", [result("t1") | {field: value}, text("Kept.")]))
        return len(drafts(said)) == 2 and kept(said) and kept(came)

    assert odd_ones(holds) == []


@pytest.mark.parametrize("field", ["output_tokens", "input_tokens", "cache_creation"])
def test_an_odd_figure_costs_only_itself(field):
    def holds(value):
        odd = response("a1", "msg_1", text("Kept."), usage=tokens(5, 3) | {field: value})
        (usage,) = [draft.payload for draft in drafts(parsed(odd)) if draft.kind == "usage"]
        return all(usage[name] == figure for name, figure in USUAL.items() if name != field)

    assert odd_ones(holds) == []


USUAL = {"input_tokens": 3, "output_tokens": 5}


@pytest.mark.parametrize("field", ["uuid", "timestamp", "requestId", "message"])
def test_a_nested_message_of_an_odd_shape_is_kept_and_told(field):
    def holds(value):
        record = nested("p1", response("n1", "msg_1", text("Kept."), seconds=3))
        record["data"]["message"][field] = value
        source = parsed(record)
        right = [] if is_usual(field, value) else [(1, "odd_field", 1)]
        return bool(drafts(source)) and (field == "message" or kept(source)) and issues(source) == right

    assert odd_ones(holds) == []


def test_a_nested_message_of_an_unknown_type_is_kept_as_it_is():
    def holds(value):
        record = nested("p1", response("n1", "msg_1", text("Kept.")))
        record["data"]["message"]["type"] = value
        return kept(parsed(record))

    assert odd_ones(holds) == []


@pytest.mark.parametrize("data", [..., None, [], [1], "text", 5, {}, {"type": None}, {"message": "text"}], ids=str)
def test_progress_of_any_shape_is_kept(data):
    source = parsed(line("progress", "p1", data=data))
    assert [draft.kind for draft in drafts(source)] == ["ui_transcript"]


@pytest.mark.parametrize("attachment", [..., None, [], "text", 5, {}, {"type": "queued_command"}], ids=str)
def test_attachments_of_any_shape_are_kept(attachment):
    source = parsed(line("attachment", "x1", attachment=attachment))
    assert [draft.kind for draft in drafts(source)] == ["system_note"]


def test_a_prompt_of_nothing_but_a_document_is_a_prompt():
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}}
    assert [draft.kind for draft in drafts(parsed(prompt("u1", [document])))] == ["user_message"]


# -- values that a strict decoder refuses, wherever they stand --------------------------------------------------------

HARD = {
    "half surrogate": b'"x \\ud83d y"',
    "invalid UTF-8": b'"x \xff y"',
    "cut character": b'"x \xe4\xb8 y"',
    "NaN": b"[NaN]",
    "infinity": b"[-Infinity]",
    "1e400": b"[1e400]",
    "30 digits": b"[" + b"9" * 30 + b"]",
    "5,000 digits": b"[" + b"9" * 5000 + b"]",
    "600 levels": b"[" * 600 + b"]" * 600,
    "600 levels and NaN": b"[" * 600 + b"NaN" + b"]" * 600,
    "raw control character": b'"x \x01 y"',
}
PLACES = {
    "input of a call": response("a1", "msg_1", text("Kept."), call("t1", value="HARD")),
    "result": prompt("a1", [result("t1", "HARD"), text("Kept.")]),
    "block of a result": prompt("a1", [result("t1", [{"type": "x", "y": "HARD"}]), text("Kept.")]),
    "toolUseResult": prompt("a1", [result("t1"), text("Kept.")], toolUseResult={"stdout": "HARD"}),
    "ignored field": prompt("a1", "Kept.", todos=["HARD"]),
    "progress": line("progress", "a1", data={"type": "bash_progress", "output": "HARD", "text": "Kept."}),
    "attachment": attached(type="file", content="HARD", text="Kept."),
    "note": system("away_summary", content="HARD", text="Kept."),
    "unknown type": line("hologram", "a1", beam="HARD", text="Kept."),
    "nested message": nested("p1", response("a1", "msg_1", text("Kept."), call("t1", value="HARD"))),
}


@pytest.mark.parametrize("hard", HARD)
def test_no_record_is_lost_to_a_strict_decoder(hard):
    wrong = {}
    for place, record in PLACES.items():
        odd = jsonl(record).replace(b'"HARD"', HARD[hard])
        try:
            source = read(odd + jsonl(prompt("u1", "next")), FILE)
        except (ValueError, RecursionError) as error:
            wrong[place] = f"{type(error).__name__}: {error}"
            continue
        if [record.line for record in source.records] != [1, 2] or not kept(source):
            wrong[place] = [issue.detail for issue in source.issues]
    assert wrong == {}


@pytest.mark.parametrize("depth", [1_200, 5_000, 100_000])
def test_a_record_nested_deeper_than_anyone_reads_is_told_and_hides_nothing(depth):
    deep = b'{"type":"progress","uuid":"p1","data":' + b"[" * depth + b"]" * depth + b"}"
    source = parsed(deep, prompt("u1", "next"))
    assert [draft.payload for draft in drafts(source)][-1] == {"text": "next"}
    assert [issue.line for issue in source.issues] in ([], [1])


# -- telling the format -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        jsonl(prompt("u1", "Hi")),
        jsonl({"type": "summary", "summary": "x"}, {"type": "file-history-snapshot"}, prompt("u1", "Hi")),
        jsonl(b"broken", prompt("u1", "Hi")),
        jsonl(line("hologram", "h"), prompt("u1", "Hi")),
        b"\xef\xbb\xbf" + jsonl(prompt("u1", "Hi")),
        jsonl(nested("p1", prompt("n1", "Hi"))),
        jsonl(bare("queue-operation", operation="enqueue")),
    ],
    ids=["prompt", "notes first", "broken first", "unknown first", "byte order mark", "nested", "queue"],
)
def test_a_file_of_this_format_is_recognised(head):
    assert sniff(head, "x.jsonl")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (jsonl(prompt("u1", "Hi")), "x.md"),
        (b"", "x.jsonl"),
        (b"# Notes\n", "x.jsonl"),
        (jsonl({"type": "session", "id": "s", "cwd": "/x"}), "x.jsonl"),
        (jsonl({"type": "message", "sessionId": "s"}), "x.jsonl"),
        (jsonl({"type": "user", "text": "no session"}), "x.jsonl"),
        (jsonl(prompt("u1", "Hi")).decode().encode("utf-16"), "x.jsonl"),
        (b"\x7fELF" + bytes(range(256)) * 20, "x.jsonl"),
    ],
)
def test_a_file_of_another_format_is_not(head, name):
    assert not sniff(head, name)


def test_a_time_without_zone_is_read_as_utc_and_told():
    (record,) = parsed(prompt("u1", "Hi", timestamp=stamp(4).removesuffix("Z"))).records
    assert (record.occurred_at, record.time_source) == (moment(4), "no_zone")


@pytest.mark.parametrize(("written", "source"), [(None, "missing"), ("soon", "unreadable"), ("", "missing")])
def test_a_record_without_a_usable_time_says_why(written, source):
    (record,) = parsed(prompt("u1", "Hi", timestamp=written)).records
    assert (record.occurred_at, record.time_source) == (None, source)
