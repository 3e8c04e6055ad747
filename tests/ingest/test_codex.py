"""Codex' rollouts as events. No real log was at hand: the fixtures are made after written descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from transcripts import CWD, SESSION, jsonl, moment, stamp

import workbench as wb
from workbench.ingest import codex, formats
from workbench.ingest.codex.harness import Typed, directory, typed_by_person
from workbench.ingest.codex.lineage import made_at_ms
from workbench.ingest.importer import Importer
from workbench.ingest.records import Environment

MADE = Path(__file__).parent / "data"
THREADS = MADE / "codex-subagent-and-fork"
BARE = MADE / "codex-bare-items"
FILE = f"rollout-2026-03-02T09-00-00-{SESSION}.jsonl"
MODEL = "gpt-5-codex"
THREAD = "019cadc6-9a80-7000-8000-00000000000a"
AGENT = "019cadcb-2e60-7000-8000-00000000000b"
FORK = "019cadcf-c240-7000-8000-00000000000c"


def line(kind, seconds=0, **payload):
    return {"timestamp": stamp(seconds), "type": kind, "payload": payload}


def header(own_id=SESSION, **fields):
    known = {
        "id": own_id,
        "cwd": CWD,
        "originator": "codex_cli_rs",
        "cli_version": "0.120.0",
        "git": {"branch": "main"},
    }
    return line("session_meta", **known | fields)


def turn(seconds=0, **fields):
    return line("turn_context", seconds, **{"cwd": CWD, "model": MODEL} | fields)


def item(type_, seconds=0, **fields):
    return line("response_item", seconds, type=type_, **fields)


def event(type_, seconds=0, **fields):
    return {"timestamp": stamp(seconds), "type": "event_msg", "payload": {"type": type_, **fields}}


def said(role, *texts, seconds=0):
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", seconds, role=role, content=[{"type": kind, "text": text} for text in texts])


def picture(url="data:image/png;base64," + "x" * 2000):
    return {"type": "input_image", "image_url": url}


def call(call_id="c1", name="shell", arguments='{"command":["ls"]}'):
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def output(found, call_id="c1"):
    return item("function_call_output", call_id=call_id, output=found)


def figures(taken, cached, given, reasoning=0):
    return {
        "input_tokens": taken,
        "cached_input_tokens": cached,
        "output_tokens": given,
        "reasoning_output_tokens": reasoning,
        "total_tokens": taken + given,
    }


def count(total, last, seconds=0):
    return event("token_count", seconds, info={"total_token_usage": total, "last_token_usage": last}, rate_limits=None)


def read(*lines, path=FILE):
    return codex.read(jsonl(header(), turn(), *lines), path)


def drafts(*lines):
    return [draft for record in read(*lines).records[2:] for draft in record.drafts]


def told(*lines):
    """Kind and payload, responses by number in place of their ids."""
    ids: list[str] = []
    found = []
    for draft in drafts(*lines):
        payload = dict(draft.payload)
        if "message_id" in payload:
            ids += [each for each in [payload["message_id"]] if each not in ids]
            payload["message_id"] = ids.index(payload["message_id"])
        found.append((draft.kind, payload))
    return found


def issues(source):
    return [(issue.line, issue.issue) for issue in source.issues]


def prompt(text, **fields):
    return "user_message", {"text": text, **fields}


def answer(number, **payload):
    return "agent_message", {**payload, "message_id": number, "model": MODEL}


def called(number, tool, args, call_id="c1", **fields):
    payload = {"tool": tool, "args": args, "tool_call_id": call_id, **fields}
    return "tool_call", {**payload, "message_id": number, "model": MODEL}


def returned(text, call_id="c1", *, is_error=False, **fields):
    return "tool_result", {"tool_call_id": call_id, "result": text, "is_error": is_error, **fields}


def note(kind, **fields):
    return "system_note", {**fields, "type": kind}


def used(number, fresh, cached, given, reasoning=0, **fields):
    known = {
        "input_tokens": fresh,
        "output_tokens": given,
        "cache_read_tokens": cached,
        "cache_write_tokens": None,
        "reasoning_tokens": reasoning,
    }
    return "usage", {**known, "message_id": number, "model": MODEL, **fields}


ENVIRONMENT = f"<environment_context>\n  <cwd>{CWD}</cwd>\n</environment_context>"
IDE = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nFix it.\n"
EXITED = "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno\n"

LINES = {
    "prompt in both logs": (
        [said("user", "Go."), event("user_message", message="Go.")],
        prompt("Go."),
    ),
    "prompt in both logs, the event first": (
        [event("user_message", message="Go. "), said("user", "Go.")],
        prompt("Go."),
    ),
    "prompt in one log": ([event("user_message", message="Go.")], prompt("Go.")),
    "the same words in a later turn": (
        [said("user", "Go."), event("user_message", message="Go."), turn(), said("user", "Go."), turn()],
        prompt("Go."),
        note("turn_context", model=MODEL),
        prompt("Go."),
        note("turn_context", model=MODEL),
    ),
    "the same words in a later turn, each in another log": (
        [said("user", "Go."), event("task_complete"), event("user_message", message="Go.")],
        prompt("Go."),
        note("task_complete"),
        prompt("Go."),
    ),
    "the turn's settings between a prompt and its event": (
        [said("user", "Go."), turn(), event("user_message", message="Go.")],
        prompt("Go."),
        note("turn_context", model=MODEL),
    ),
    "the same words twice in one log": (
        [said("user", "Go."), said("user", "Go.")],
        prompt("Go."),
        prompt("Go."),
    ),
    "prompt with pictures": (
        [
            item("message", role="user", content=[{"type": "input_text", "text": "<image>"}, picture(), picture("x")]),
            said("user", "Look."),
            event("user_message", message="Look.", images=["data:,"]),
        ],
        prompt("", images=2),
        prompt("Look."),
    ),
    "blocks of the harness": (
        [said("user", "# AGENTS.md instructions for /srv\n\nBe brief.", ENVIRONMENT), said("developer", "Ask first.")],
        note("user_instructions", text="# AGENTS.md instructions for /srv\n\nBe brief."),
        note("environment_context", text=ENVIRONMENT),
        note("developer", text="Ask first."),
    ),
    "a block of the harness in both logs": (
        [said("user", ENVIRONMENT), event("user_message", message=ENVIRONMENT, kind="environment_context")],
        note("environment_context", text=ENVIRONMENT),
    ),
    "what an editor adds": ([said("user", IDE)], note("ide_context", text=IDE), prompt("Fix it.")),
    "answer in both logs": (
        [event("agent_message", message="Done."), said("assistant", "Done.")],
        answer(0, text="Done."),
    ),
    "thoughts in both logs": (
        [
            event("agent_reasoning", text="One"),
            event("agent_reasoning", text="Two"),
            item(
                "reasoning",
                summary=[{"type": "summary_text", "text": text} for text in ("One", "Two", "Three")],
                encrypted_content="x",
            ),
        ],
        answer(0, thinking="One"),
        answer(0, thinking="Two"),
        answer(0, thinking="Three"),
    ),
    "parallel calls": (
        [call("c1"), call("c2", "view"), output("b", "c2"), output("a", "c1"), said("assistant", "Done.")],
        called(0, "shell", {"command": ["ls"]}, "c1"),
        called(0, "view", {"command": ["ls"]}, "c2"),
        returned("b", "c2"),
        returned("a", "c1"),
        answer(1, text="Done."),
    ),
    "arguments that are no object": (
        [call(arguments="ls"), call(arguments="[1]"), call(arguments="{"), call(arguments="")],
        called(0, "shell", {"arguments": "ls"}),
        called(0, "shell", {"arguments": "[1]"}),
        called(0, "shell", {"arguments": "{"}),
        called(0, "shell", {}),
    ),
    "other calls": (
        [
            item("local_shell_call", call_id="c1", status="completed", action={"type": "exec", "command": ["ls"]}),
            item("custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch"),
            item("web_search_call", id="w1", status="completed", action={"type": "search", "query": "ruff"}),
            item("custom_tool_call_output", call_id="c2", output="Success."),
        ],
        called(0, "local_shell", {"type": "exec", "command": ["ls"]}),
        called(0, "apply_patch", {"input": "*** Begin Patch"}, "c2"),
        called(0, "web_search", {"type": "search", "query": "ruff"}, "w1"),
        returned("Success.", "c2"),
    ),
    "a picture that was drawn": (
        [item("image_generation_call", id="i1", status="completed", revised_prompt="a cat", result="x" * 1000)],
        called(0, "image_generation", {"prompt": "a cat"}, "i1"),
        returned("[picture, 1,000 characters of base64]", "i1", images=1),
    ),
    "exit codes": (
        [
            output("Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 3\n"),
            output(EXITED),
            output('{"output":"no\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}'),
            output('{"output":"free text"}'),
            output({"content": "failed", "success": False}),
            output("the log says Exit code: 1"),
        ],
        returned("Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 3\n", exit_code=0),
        returned(EXITED, is_error=True, exit_code=2),
        returned("no\n", is_error=True, exit_code=1),
        returned('{"output":"free text"}'),
        returned("failed", is_error=True),
        returned("the log says Exit code: 1"),
    ),
    "refused and stopped calls": (
        [output("exec command rejected by user"), output("aborted by user after 3.2s")],
        returned("exec command rejected by user", is_error=True, rejected=True),
        returned("aborted by user after 3.2s", is_error=True),
    ),
    "output with a picture": (
        [output([{"type": "input_text", "text": "seen"}, picture(), picture("https://example.org/a.png")])],
        returned("seen\n[image/png, 2,000 characters of base64]\n[picture, https://example.org/a.png]", images=2),
    ),
    "stopped by the person": (
        [event("turn_aborted", reason="interrupted"), said("user", "<turn_aborted>\nStopped.\n</turn_aborted>")],
        note("turn_interrupted", reason="interrupted"),
        note("turn_aborted", text="<turn_aborted>\nStopped.\n</turn_aborted>"),
    ),
    "replaced, not stopped": (
        [event("turn_aborted", reason="replaced")],
        note("turn_aborted", reason="replaced"),
    ),
    "compaction": (
        [line("compacted", message="So far.", replacement_history=[]), event("context_compacted")],
        ("compaction", {"type": "boundary", "trigger": None, "pre_tokens": None, "summary": "So far."}),
        note("context_compacted"),
    ),
    "what was only shown": (
        [event("exec_command_end", call_id="c1", exit_code=0, stdout="a", formatted_output="a")],
        ("ui_transcript", {"type": "exec_command_end", "call_id": "c1", "exit_code": 0}),
    ),
    "unknown types": (
        [line("hologram", x=1), item("hologram", x=1), event("hologram", x=1)],
        ("unknown", {"record": line("hologram", x=1)}),
        ("unknown", {"record": {"type": "hologram", "x": 1}}),
        ("unknown", {"record": {"type": "hologram", "x": 1}}),
    ),
    "usage belongs to the response before": (
        [
            call(),
            count(figures(100, 60, 10, 4), figures(100, 60, 10, 4)),
            output("a"),
            said("assistant", "Done."),
            count(figures(250, 190, 18, 6), figures(150, 130, 8, 2)),
        ],
        called(0, "shell", {"command": ["ls"]}),
        used(0, 40, 60, 10, 4),
        returned("a"),
        answer(1, text="Done."),
        used(1, 20, 130, 8, 2),
    ),
    "usage that is told after the output": (
        [call(), output("a"), count(figures(100, 60, 10), figures(100, 60, 10))],
        called(0, "shell", {"command": ["ls"]}),
        returned("a"),
        used(0, 40, 60, 10),
    ),
    "repeated states and limits are no calls": (
        [
            count(figures(100, 60, 10), figures(100, 60, 10)),
            count(figures(100, 60, 10), figures(100, 60, 10)),
            event("token_count", info=None, rate_limits={}),
            event("token_count", rate_limits={}),
        ],
        used(0, 40, 60, 10),
    ),
    "a call whose line is lost is in the next one's growth": (
        [count(figures(100, 0, 10), figures(100, 0, 10)), count(figures(350, 0, 40), figures(150, 0, 10))],
        used(0, 100, 0, 10),
        used(1, 250, 0, 30),
    ),
    "totals that began anew": (
        [count(figures(100, 0, 10), figures(100, 0, 10)), count(figures(30, 0, 4), figures(30, 0, 4))],
        used(0, 100, 0, 10),
        used(1, 30, 0, 4),
    ),
    "a window that is full is no call": (
        [count({"total_tokens": 272_000}, {"total_tokens": 9}), count(figures(0, 0, 0), figures(0, 0, 0))],
    ),
    "a record of a call, and the count that mirrors it": (
        [
            said("assistant", "Done."),
            line(
                "token_usage_record",
                response_id="resp_1",
                usage=figures(100, 60, 10) | {"cache_write_input_tokens": 30},
            ),
            count(figures(100, 60, 10), figures(100, 60, 10)),
            count(figures(150, 60, 15), figures(50, 0, 5)),
        ],
        answer(0, text="Done."),
        used(0, 10, 60, 10, cache_write_tokens=30, request_id="resp_1"),
        used(1, 50, 0, 5),
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_become_events(name):
    lines, *expected = LINES[name]
    assert told(*lines) == expected


def test_the_header_and_the_turns_say_where_and_with_what():
    source = codex.read(
        jsonl(header(base_instructions={"text": "long"}), turn(), turn(cwd="/srv/work/other"), said("assistant", "a")),
        FILE,
    )
    assert [record.environment for record in source.records] == [
        Environment("codex", CWD, "main", "0.120.0"),
        None,
        Environment("codex", "/srv/work/other", "main", "0.120.0"),
        None,
    ]
    assert source.records[0].drafts[0].payload == {
        "type": "session",
        "originator": "codex_cli_rs",
        "git": {"branch": "main"},
    }
    assert (source.session_id, source.session_ids, source.role, source.lines) == (SESSION, [SESSION], "main", 4)


def test_a_rollout_without_its_header_is_named_by_its_file():
    source = codex.read(jsonl(b"torn", said("user", "Go.")), FILE)
    assert (source.session_id, source.session_ids) == (SESSION, [SESSION])
    assert issues(source) == [(1, "bad_json")]
    assert codex.read(jsonl(said("user", "Go.")), "x.jsonl").session_id is None


def test_odd_lines_and_fields_are_told_and_hide_nothing():
    odd = [
        b"broken",
        b"7",
        line("response_item", type=5),
        item("message", role="user", content=7),
        item("function_call", name=1, arguments=2, call_id=[]),
        event("token_count", info={"total_token_usage": 5, "last_token_usage": figures(10, "x", 2**70)}),
        {"timestamp": 5, "type": "event_msg", "payload": {"type": "agent_message", "message": {}}},
        {"timestamp": stamp(0), "type": "response_item", "payload": "text"},
        {"timestamp": "soon", "type": "compacted", "payload": {"message": None}},
    ]
    source = codex.read(jsonl(header(), *odd, said("user", "Go.")) + b'{"time', FILE)
    assert [draft.payload["text"] for draft in source.records[-1].drafts] == ["Go."]
    assert source.records[-2].time_source == "unreadable"
    assert issues(source) == [
        (2, "bad_json"),
        (3, "not_an_object"),
        (4, "odd_field"),
        (4, "unknown_record"),
        (5, "odd_field"),
        (6, "odd_field"),
        (7, "odd_field"),
        (8, "odd_field"),
        (9, "unknown_record"),
        (12, "unfinished_line"),
    ]


# -- sub-agents and forks ----------------------------------------------------------------------------------------------


def rollout(own_id):
    (file,) = THREADS.rglob(f"*{own_id}.jsonl")
    return file


def texts(source):
    return [draft.payload["text"] for record in source.records for draft in record.drafts if "text" in draft.payload]


def parsed(own_id):
    file = rollout(own_id)
    return codex.read(file.read_bytes(), str(file))


def test_a_sub_agents_records_belong_to_the_session_that_started_it():
    source = parsed(AGENT)
    assert (source.session_id, source.session_ids, source.role) == (THREAD, [THREAD], "subagent")
    found = [draft for record in source.records for draft in record.drafts]
    assert {(draft.agent_id, draft.is_sidechain) for draft in found} == {(AGENT, True)}
    assert [draft.actor for draft in found if draft.kind == "user_message"] == ["agent"]


@pytest.mark.parametrize(
    ("own_id", "copied", "expected"),
    [(AGENT, 14, ["Review demo.py.", "Looks right."]), (FORK, 28, ["Undo the patch instead.", "Undone."])],
)
def test_a_copied_history_is_counted_and_not_told_again(own_id, copied, expected):
    source = parsed(own_id)
    assert texts(source) == expected
    notes = [draft.payload for record in source.records for draft in record.drafts if draft.kind == "system_note"]
    assert {"type": "history_copied", "session_id": THREAD, "records": copied} in notes


def test_a_copy_without_ids_of_turns_ends_when_time_goes_on():
    lines = [
        header(FORK, forked_from_id=SESSION),
        header(SESSION),
        said("user", "Then.", seconds=-60),
        event("task_started", seconds=0.5),
        said("user", "Now.", seconds=2),
    ]
    assert texts(codex.read(jsonl(*lines), FILE)) == ["Now."]


def test_a_copy_ends_with_the_first_turn_that_is_younger_than_the_thread():
    began = int(moment(0).timestamp())
    lines = [
        header(FORK, forked_from_id=SESSION),
        event("task_started", turn_id="1", started_at=began - 60),
        said("user", "Then.", seconds=5),
        event("task_started", turn_id="2", started_at=began, seconds=5),
        said("user", "Now.", seconds=5),
        header(SESSION),
    ]
    assert texts(codex.read(jsonl(*lines), FILE)) == ["Now."]


def test_a_sub_agent_that_copied_nothing_keeps_all_of_its_records():
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION, "depth": 1}}}
    source = codex.read(jsonl(header(AGENT, source=spawned), said("user", "Look."), said("assistant", "Seen.")), FILE)
    assert (source.session_id, source.role, texts(source)) == (SESSION, "subagent", ["Look.", "Seen."])


def test_a_sub_agent_of_nobody_is_a_session():
    source = codex.read(jsonl(header(AGENT, source={"subagent": "review"}), said("user", "Look.")), FILE)
    assert (source.session_id, source.role) == (AGENT, "main")


def test_the_parents_file_is_found_by_the_times_in_ids_and_names():
    assert codex.parent_path(str(rollout(AGENT)), THREAD) == str(rollout(THREAD))
    plain = f"/a/rollout-2026-03-02T10-05-00-{AGENT}.jsonl"
    assert codex.parent_path(plain, SESSION) == f"/a/rollout-2026-03-02T10-05-00-{SESSION}.jsonl"
    assert codex.parent_path("/a/x.jsonl", SESSION) == f"/a/rollout-{SESSION}.jsonl"
    hostile = f"/a/rollout-9999-99-99T99-99-99-{AGENT}.jsonl"
    assert codex.parent_path(hostile, THREAD) == f"/a/rollout-9999-99-99T99-99-99-{THREAD}.jsonl"


def test_threads_land_as_sessions_with_every_token_once(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {codex.NAME: codex})
    bench = wb.open(tmp_path / "home")
    Importer(bench._lake).run([THREADS])
    names = "prompts, responses, tool_calls, sidechain_tool_calls, tool_errors, subagents, model_calls"
    tokens = "input_tokens, cache_read_tokens, output_tokens"
    sessions = bench.sql(f"select session_id, {names}, {tokens}, issues from sessions order by started_at").rows()
    assert sessions == [
        (THREAD, 1, 4, 5, 1, 1, 1, 6, 3_300, 50_700, 450, 0),
        (FORK, 1, 1, 0, 0, 0, 0, 1, 500, 11_500, 10, 0),
    ]
    (own,) = bench.sql(
        "select s.parent_source_id = p.source_id from sources s, sources p "
        f"where s.role = 'subagent' and p.path like '%{THREAD}.jsonl'"
    ).rows()
    assert own == (True,)
    calls = bench.sql("select tool, command, status from tool_calls where not is_sidechain order by seq").rows()
    assert calls == [
        ("exec_command", "pytest -q", "error"),
        ("exec_command", "ruff check", "ok"),
        ("apply_patch", None, "ok"),
        ("spawn_agent", None, "ok"),
    ]


# -- older files -------------------------------------------------------------------------------------------------------


def test_bare_items_are_read_like_enveloped_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {codex.NAME: codex})
    bench = wb.open(tmp_path / "home")
    Importer(bench._lake).run([BARE])
    names = "session_id, cwd, git_branch, prompts, responses, tool_calls, model_calls, input_tokens, issues"
    assert bench.sql(f"select {names} from sessions").rows() == [
        ("00000000-0000-4000-8000-000000000035", CWD, "main", 2, 3, 1, 0, None, 0)
    ]
    assert bench.sql("select command, result, status from tool_calls").rows() == [("bash -lc ls", "demo.py\n", "ok")]
    times = bench.sql("select count(*) from events where time_source = 'missing'").rows()
    assert times == [(9,)]


# -- parts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" Go. ", Typed(None, "Go.")),
        ("<b>bold</b>", Typed(None, "<b>bold</b>")),
        (
            "<environment_context>x</environment_context> and more",
            Typed(None, "<environment_context>x</environment_context> and more"),
        ),
        ("<permissions instructions>x</permissions instructions>", Typed("permissions_instructions", "")),
        ('<skill name="a">x</skill>', Typed("skill", "")),
        ("<image name=[Image #1]>", Typed(None, "")),
        ("# Context from my IDE setup:\nnothing asked", Typed("ide_context", "")),
    ],
)
def test_who_typed_it(text, expected):
    assert typed_by_person(text) == expected


def test_the_directory_of_older_blocks():
    assert directory("Current working directory: /srv/a b\nApproval policy: never") == "/srv/a b"
    assert directory("<cwd>/srv</cwd>") == "/srv"
    assert directory("<cwd></cwd>") is None
    assert directory("nothing") is None


@pytest.mark.parametrize(
    ("uuid", "expected"),
    [(THREAD, 1_772_442_000_000), (SESSION, None), ("zzzzzzzz-zzzz-7000-8000-000000000000", None), (None, None)],
)
def test_when_an_id_was_made(uuid, expected):
    assert made_at_ms(uuid) == expected
    assert made_at_ms(THREAD) == moment(0).timestamp() * 1000


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (jsonl(header()), "a.jsonl", True),
        (jsonl(b"torn", said("user", "Go.")), "a.jsonl", True),
        (jsonl(header()), "a.json", False),
        (jsonl({"id": "s", "timestamp": "t", "instructions": None}, {"record_type": "state"}), "a.jsonl", True),
        (jsonl({"id": "s", "timestamp": "t", "instructions": None}, {"type": "other"}), "a.jsonl", False),
        (jsonl({"id": "s", "timestamp": "t"}), "a.jsonl", False),
        (jsonl({"type": "event_msg"}), "a.jsonl", False),
        (b"", "a.jsonl", False),
    ],
)
def test_a_rollout_is_known_by_its_envelope_or_its_header(data, name, expected):
    assert codex.sniff(data, name) is expected


def test_made_files_are_what_they_should_be():
    for file in MADE.rglob("*.jsonl"):
        assert all(json.loads(each) for each in file.read_text(encoding="utf-8").splitlines())
