"""SWE-agent's trajectories: literal runs in, literal events and rows out."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from workbench.ingest import formats, swe_agent

DATA = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
REAL = DATA / "transcripts" / "swe-agent" / "marshmallow-1867.traj"

# -- what SWE-agent writes -----------------------------------------------------------------------------------------


def entry(role, content, **more):
    return {"role": role, "content": content, "agent": "main", **more}


SYSTEM = entry("system", "Rules.", message_type="system_prompt")
TASK = entry("user", "Fix the sum.", message_type="observation")


def called(content, *calls, **more):
    """A response with calls: name, arguments as JSON, id."""
    tool_calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments, call_id in calls
    ]
    return entry("assistant", content, action="x", tool_calls=tool_calls, message_type="action", **more)


def commanded(content, action, **more):
    """A response with a command as text."""
    return entry("assistant", content, thought=content, action=action, message_type="action", **more)


def observed(content, *call_ids):
    if call_ids:
        return entry("tool", content, message_type="observation", tool_call_ids=list(call_ids))
    return entry("user", content, message_type="observation")


def step(response, action, observation, **more):
    base = {"response": response, "action": action, "observation": observation, "thought": response, "state": {}}
    return base | {"execution_time": 0.25, "messages": [SYSTEM, TASK]} | more


def traj(*history, trajectory=(), **more):
    return {"trajectory": list(trajectory), "history": list(history), "info": {}, **more}


# -- what is read --------------------------------------------------------------------------------------------------


def read(run, path="runs/demo.traj"):
    return swe_agent.read(run if isinstance(run, bytes) else json.dumps(run, indent=1).encode(), path)


def told(source):
    """Kind and payload of every event but the first note; ids that the reader made are left out."""
    made = {record.record_id for record in source.records}
    return [
        (draft.kind, {name: value for name, value in draft.payload.items() if name not in ("message_id", "model")})
        for record in source.records
        for draft in record.drafts
        if draft.payload.get("type") != "run" and record.record_id in made
    ]


def acted(source):
    """Kind of each event of the agent and the tools, with the part of it that matters."""
    names = {"agent_message": "text", "tool_call": "args", "tool_result": "result"}
    return [(kind, payload[names[kind]]) for kind, payload in told(source) if kind in names and names[kind] in payload]


def usage(source):
    return [draft.payload for record in source.records for draft in record.drafts if draft.kind == "usage"]


def issues(source):
    return [(issue.line, issue.issue, issue.count) for issue in source.issues]


# -- telling the format --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "head", "is_ours"),
    [
        ("a.traj", '{"trajectory": [', True),
        ("a.traj", '\ufeff{\n  "environment": "swe_main",', True),
        ("a.traj", '{\n  "attempts": [', True),
        ("a.traj", '{"history": broken', True),
        ("a.traj", '{"atoms": 3}', False),
        ("a.traj", "- of Ulm", False),
        ("a.traj", "", False),
        ("a.json", '{"trajectory": []}', False),
        ("a.traj.json", '{"info": {}, "messages": []}', False),
    ],
)
def test_a_trajectory_is_told_by_its_ending_and_first_name(name, head, is_ours):
    assert swe_agent.sniff(head.encode(), name) is is_ours


# -- events --------------------------------------------------------------------------------------------------------


def test_a_run_is_a_session_with_its_events_in_order():
    run = traj(
        SYSTEM,
        TASK,
        called("Look first.", ("bash", '{"command": "cat sum.py"}', "c1")),
        observed("return a-b\n(Open file: n/a)", "c1"),
        commanded("Fix it.", "sed -i s/-/+/ sum.py"),
        observed("Your command ran without output."),
        trajectory=[
            step("Look first.", "x", "return a-b", state={"working_dir": "/repo", "open_file": "n/a"}),
            step("Fix it.", "sed -i s/-/+/ sum.py", "", state={"working_dir": "/repo", "open_file": "/repo/sum.py"}),
        ],
        info={"exit_status": None, "submission": "diff", "swe_agent_version": "1.1.0", "edited_files30": "long"},
        replay_config=json.dumps({"agent": {"model": {"name": "gpt-4o"}}, "problem_statement": {"id": "acme__sum-1"}}),
        environment="main",
    )
    source = read(run)
    first, second = source.records[3].record_id, source.records[5].record_id
    config = {"agent": {"model": {"name": "gpt-4o"}}, "problem_statement": {"id": "acme__sum-1"}}
    noted = {"type": "run", "instance": "acme__sum-1", "environment": "main", "replay_config": config}
    assert [(draft.kind, draft.actor, draft.payload) for record in source.records for draft in record.drafts] == [
        ("system_note", "kernel", noted),
        ("system_note", "kernel", {"type": "system_prompt", "text": "Rules."}),
        ("user_message", "user", {"text": "Fix the sum."}),
        ("agent_message", "agent", {"text": "Look first.", "message_id": first, "model": "gpt-4o"}),
        (
            "tool_call",
            "agent",
            {
                "tool": "bash",
                "args": {"command": "cat sum.py"},
                "tool_call_id": "c1",
                "message_id": first,
                "model": "gpt-4o",
            },
        ),
        (
            "tool_result",
            "tool",
            {
                "tool_call_id": "c1",
                "result": "return a-b",
                "is_error": False,
                "duration_ms": 250,
                "working_dir": "/repo",
            },
        ),
        ("agent_message", "agent", {"text": "Fix it.", "message_id": second, "model": "gpt-4o"}),
        (
            "tool_call",
            "agent",
            {
                "tool": "bash",
                "args": {"command": "sed -i s/-/+/ sum.py"},
                "tool_call_id": f"{second}.0",
                "message_id": second,
                "model": "gpt-4o",
            },
        ),
        (
            "tool_result",
            "tool",
            {
                "tool_call_id": f"{second}.0",
                "result": "",
                "is_error": False,
                "shown": "Your command ran without output.",
                "duration_ms": 250,
                "working_dir": "/repo",
                "open_file": "/repo/sum.py",
            },
        ),
        (
            "system_note",
            "kernel",
            {"exit_status": None, "submission": "diff", "swe_agent_version": "1.1.0", "type": "result"},
        ),
    ]
    assert source.records[0].environment == ("swe-agent", "/repo", None, "1.1.0")
    assert {record.time_source for record in source.records} == {"missing"}
    assert (source.session_ids, source.role, source.issues) == ([source.session_id], "main", [])
    assert source.session_id.startswith("acme__sum-1-")


def test_an_item_is_told_at_its_line():
    run = traj(SYSTEM, TASK, commanded("a", "ls"), observed("x"), trajectory=[step("b", "", ""), step("a", "ls", "x")])
    text = json.dumps(run, indent=1)
    lines = text.split("\n")
    source = read(text.encode())
    assert source.lines == len(lines)
    assert [(lines[record.line - 1].strip(), lines[record.line].strip()) for record in source.records[1:]] == [
        ("{", '"role": "system",'),
        ("{", '"role": "user",'),
        ("{", '"response": "b",'),
        ("{", '"role": "assistant",'),
        ("{", '"role": "user",'),
    ]
    assert {record.line for record in read(json.dumps(run).encode()).records} == {1}


def test_demonstrations_are_no_turns_of_the_run():
    run = traj(
        SYSTEM,
        entry("user", "See how it is done.", is_demo=True, message_type="demonstration"),
        entry("assistant", "I look.", action="ls", is_demo=True),
        TASK,
        commanded("Mine.", "ls"),
        observed("a.py"),
    )
    notes = [payload["text"] for kind, payload in told(read(run)) if payload.get("type") == "demonstration"]
    assert notes == ["See how it is done.", "I look."]
    assert [payload["text"] for kind, payload in told(read(run)) if kind == "user_message"] == ["Fix the sum."]
    assert [text for kind, text in acted(read(run)) if kind == "agent_message"] == ["Mine."]


def test_failed_attempts_that_only_the_steps_tell_of_stand_before_what_came_of_them():
    run = traj(
        TASK,
        commanded("Now right.", "ls"),
        observed("a.py"),
        entry("assistant", "Exit due to cost limit", action=""),
        observed("Exited (autosubmitted)"),
        trajectory=[
            step("No action at all.", "", "", execution_time=0.0),
            step("Blocked.", "vim a.py", "", execution_time=0.0),
            step("Now right.", "ls", "a.py"),
            step("Exit due to cost limit", "", "Exited (autosubmitted)", execution_time=0.0),
        ],
    )
    assert acted(read(run)) == [
        ("agent_message", "No action at all."),
        ("agent_message", "Blocked."),
        ("tool_call", {"command": "vim a.py"}),
        ("agent_message", "Now right."),
        ("tool_call", {"command": "ls"}),
        ("tool_result", "a.py"),
    ]
    notes = [(payload["type"], payload["text"]) for kind, payload in told(read(run)) if kind == "system_note"]
    assert notes == [("exit", "Exit due to cost limit"), ("harness_message", "Exited (autosubmitted)")]


@pytest.mark.parametrize(
    "run",
    [
        {"trajectory": [step("Look.", "ls", "a.py"), step("Done.", "submit", "diff")]},
        traj(TASK, commanded("Look.", "ls"), observed("a.py"), commanded("Done.", "submit"), observed("diff")),
        traj(
            TASK,
            commanded("Look.", "ls"),
            observed("a.py"),
            commanded("Done.", "submit"),
            trajectory=[step("Look.", "ls", "a.py"), step("Done.", "submit", "diff")],
        ),
        traj(
            TASK,
            commanded("Look. ", "ls"),
            observed("a.py"),
            commanded("Said otherwise", "submit"),
            observed("diff"),
            trajectory=[step("Look.", "ls\n", "a.py"), step("Done.", "submit", "diff")],
        ),
    ],
    ids=["steps alone", "history alone", "no last observation", "told differently"],
)
def test_a_step_is_one_response_and_one_call(run):
    events = acted(read(run))
    assert Counter(kind for kind, _ in events) == {"agent_message": 2, "tool_call": 2, "tool_result": 2}
    assert [text for kind, text in events if kind == "tool_result"] == ["a.py", "diff"]


def test_a_history_that_is_longer_than_the_steps_keeps_its_own_results():
    run = traj(
        TASK,
        commanded("a", "one"),
        observed("1"),
        commanded("b", "two"),
        observed("2"),
        trajectory=[step("b", "two", "two!")],
    )
    assert [text for kind, text in acted(read(run)) if kind == "tool_result"] == ["1", "two!"]


def test_calls_that_share_an_id_are_calls_of_their_own():
    run = traj(
        TASK,
        called("a", ("bash", '{"command": "ls"}', "c1")),
        observed("1", "c1"),
        called("b", ("bash", '{"command": "ls"}', "c1")),
        observed("2", "c1"),
    )
    pairs = [payload["tool_call_id"] for kind, payload in told(read(run)) if kind in ("tool_call", "tool_result")]
    assert pairs == ["c1", "c1", "c1#2", "c1#2"]


def test_results_of_several_calls_go_by_their_ids():
    run = traj(
        TASK,
        called("a", ("one", "{}", "c1"), ("two", "{}", "c2"), ("three", "{}", None)),
        observed("2", "c2"),
        observed("1", "c1"),
        observed("3"),
    )
    source = read(run)
    own = f"{source.records[2].record_id}.2"
    results = [(payload["tool_call_id"], payload["result"]) for kind, payload in told(source) if kind == "tool_result"]
    assert results == [("c2", "2"), ("c1", "1"), (own, "3")]


@pytest.mark.parametrize(
    ("action", "tool", "arguments"),
    [
        ("ls -F", "bash", {"command": "ls -F"}),
        ('open "src/a b.py" 12', "open", {"command": 'open "src/a b.py" 12', "path": "src/a b.py"}),
        ("create b.py", "create", {"command": "create b.py", "path": "b.py"}),
        ("open it's", "open", {"command": "open it's", "path": "it's"}),
        ("create", "create", {"command": "create"}),
        ("edit 1:2\nx\nend_of_edit", "edit", {"command": "edit 1:2\nx\nend_of_edit", "path": "/repo/a.py"}),
        ("search_dir x", "search_dir", {"command": "search_dir x"}),
        ("submit", "submit", {"command": "submit"}),
    ],
)
def test_commands_of_its_own_are_tools_and_the_editor_names_the_open_file(action, tool, arguments):
    state = json.dumps({"working_dir": "/repo", "open_file": "/repo/a.py"})
    run = traj(
        TASK,
        commanded("o", "open a.py"),
        observed(""),
        commanded("c", action),
        trajectory=[step("o", "open a.py", "", state=state), step("c", action, "")],
    )
    calls = [payload for kind, payload in told(read(run)) if kind == "tool_call"]
    assert (calls[1]["tool"], calls[1]["args"]) == (tool, arguments)


@pytest.mark.parametrize(
    ("arguments", "read_as"),
    [('{"a": 1}', {"a": 1}), ("not JSON", "not JSON"), ({"a": 1}, {"a": 1}), (None, None), ('{"a": NaN}', {"a": None})],
)
def test_arguments_are_read_or_kept(arguments, read_as):
    assert ("tool_call", read_as) in acted(read(traj(TASK, called("a", ("bash", arguments, "c1")))))


def test_thoughts_apart_from_the_response_are_told():
    blocks = [{"type": "thinking", "thinking": "Hm."}, {"type": "redacted_thinking"}, "odd"]
    run = traj(
        TASK,
        commanded("a", "ls", thinking_blocks=blocks),
        observed("1"),
        commanded("b", "ls"),
        observed("2"),
        trajectory=[step("a", "ls", "1", reasoning_content="Hm."), step("b", "ls", "2", reasoning_content="Well.")],
    )
    assert [payload["thinking"] for _, payload in told(read(run)) if "thinking" in payload] == ["Hm.", "Well."]


def test_contents_may_be_blocks():
    blocks = [{"type": "text", "text": "Fix"}, {"type": "image_url", "image_url": "..."}, "the sum."]
    assert told(read(traj(entry("user", blocks))))[0] == ("user_message", {"text": "Fix\nthe sum."})


# -- usage ---------------------------------------------------------------------------------------------------------


def test_a_run_has_one_usage_of_all_its_calls():
    stats = {"instance_cost": 0.25, "tokens_sent": 45_000, "tokens_received": 900, "api_calls": 12}
    assert usage(read(traj(TASK, info={"model_stats": stats}))) == [
        {
            "message_id": None,
            "model": None,
            "input_tokens": 45_000,
            "output_tokens": 900,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
            "approximate": True,
            "api_calls": 12,
            "reported_cost_usd": 0.25,
        }
    ]


@pytest.mark.parametrize(
    "stats",
    [
        None,
        {},
        "many",
        {"instance_cost": 0.1},
        {"tokens_sent": 0, "tokens_received": 0, "api_calls": 13},
        {"tokens_sent": "1"},
        {"tokens_sent": 1e30, "tokens_received": -1, "api_calls": 2**63},
    ],
)
def test_figures_that_are_not_there_are_no_usage(stats):
    assert usage(read(traj(TASK, info={"model_stats": stats}))) == []


# -- sessions and ids ----------------------------------------------------------------------------------------------

RUN = [SYSTEM, TASK, commanded("a", "ls"), observed("1"), commanded("a", "ls"), observed("1")]
STEPS = [step("a", "ls", "1", execution_time=0.125), step("a", "ls", "1", execution_time=0.5)]


def test_the_session_does_not_depend_on_the_file():
    run = traj(*RUN, trajectory=STEPS)
    assert read(run, "one/demo.traj") == read(run, "/other/copy.traj")
    assert swe_agent.parent_path("a/b.traj", "s") == "a/b.traj"


def test_two_runs_of_one_task_are_two_sessions():
    again = [STEPS[0] | {"execution_time": 0.126}, STEPS[1]]
    assert read(traj(*RUN, trajectory=STEPS)).session_id != read(traj(*RUN, trajectory=again)).session_id


def test_a_run_without_times_is_named_by_all_of_it():
    steps = [{name: value for name, value in each.items() if name != "execution_time"} for each in STEPS]
    copies = [each | {"messages": []} for each in steps]
    assert read(traj(*RUN, trajectory=steps)).session_id == read(traj(*RUN, trajectory=copies)).session_id
    assert read(traj(*RUN, trajectory=steps)).session_id != read(traj(*RUN[:-1], trajectory=steps)).session_id


def test_session_and_ids_stay_while_the_run_goes_on():
    before = read(traj(*RUN[:4], trajectory=STEPS[:1], info={"exit_status": None}))
    after = read(traj(*RUN, trajectory=STEPS, info={"exit_status": "submitted"}))
    assert before.session_id == after.session_id
    old, new = ([record.record_id for record in source.records] for source in (before, after))
    assert (set(old) - set(new), len(set(new))) == (set(), len(after.records))


def test_each_attempt_is_the_session_that_its_own_file_tells_of():
    other = [commanded("b", "ls"), observed("2")]
    attempts = [traj(*RUN, trajectory=STEPS), traj(TASK, *other, trajectory=[step("b", "ls", "2")])]
    stats = {"tokens_sent": 7, "tokens_received": 8, "api_calls": 1}
    source = read({"attempts": attempts, **attempts[1], "info": {"best_attempt_idx": 1, "rloop_model_stats": stats}})
    alone = [read(attempt) for attempt in attempts]
    assert source.session_ids == sorted(each.session_id for each in alone)
    told_once = {record.record_id for each in alone for record in each.records}
    extra = [record for record in source.records if record.record_id not in told_once]
    assert [draft.payload.get("type") for record in extra for draft in record.drafts] == ["retry", None]
    assert [each["input_tokens"] for each in usage(source)] == [7]


def test_attempts_that_are_alike_in_everything_stay_apart():
    source = read({"attempts": [traj(*RUN), traj(*RUN)]})
    assert len(source.session_ids) == 2


# -- odd files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "issue"),
    [
        (b'{"trajectory": [{"action": "ls"', (1, "bad_json", 1)),
        (b"{\n\n oops", (3, "bad_json", 1)),
        (b"", (1, "bad_json", 1)),
        (b"\xff\xfe\x00", (1, "bad_json", 1)),
        (b"[" * 100_000, (0, "bad_json", 1)),
        (b"[]", (0, "not_an_object", 1)),
        (b'{"info": {}}', (0, "not_an_object", 1)),
        (b'{"history": {}, "trajectory": null}', (0, "not_an_object", 1)),
        (b'{"history": [], "trajectory": []}', (0, "empty_run", 1)),
        (b'{"attempts": [1, {}]}', (0, "empty_run", 1)),
    ],
)
def test_a_file_that_tells_of_no_run_is_one_issue_and_no_session(data, issue):
    source = read(data)
    assert (issues(source), source.session_id, source.records) == ([issue], None, [])


def test_odd_entries_are_kept_and_counted():
    run = traj(
        TASK,
        3,
        None,
        4,
        entry("oracle", "Fate."),
        commanded("a", "ls"),
        trajectory=["odd", step("a", "ls", "1")],
        score=0.5,
    )
    source = read(run)
    unknown = [
        draft.payload["record"] for record in source.records for draft in record.drafts if draft.kind == "unknown"
    ]
    assert unknown == [3, None, 4, entry("oracle", "Fate."), "odd", {"score": 0.5}]
    assert [(issue.issue, issue.count, issue.detail.split("'")[1]) for issue in source.issues] == [
        ("unknown_record", 2, "entry: int"),
        ("unknown_record", 1, "entry: NoneType"),
        ("unknown_record", 1, "entry: role oracle"),
        ("unknown_record", 1, "step: str"),
        ("unknown_record", 1, "field: score"),
    ]


@pytest.mark.parametrize("odd", [None, 3, 2**70, 1e308, -1, "text", [], {}, [3], {"a": {"b": []}}, True])
def test_fields_of_any_type_are_read(odd):
    names = ("content", "action", "tool_calls", "tool_call_ids", "thinking_blocks", "message_type", "thought")
    spoiled = dict.fromkeys(names, odd)
    steps = [dict.fromkeys(("response", "action", "observation", "state", "execution_time", "reasoning_content"), odd)]
    run = {
        "history": [TASK, {"role": "assistant", **spoiled}, {"role": "tool", **spoiled}, {"role": odd}, {}],
        "trajectory": steps,
        "info": odd,
        "replay_config": odd,
        "environment": odd,
    }
    for whole in (run, run | {"info": {"model_stats": odd, "exit_status": odd, "swe_agent_version": odd}}):
        source = read(whole)
        assert source.session_id
        assert len({record.record_id for record in source.records}) == len(source.records)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data + b"\x00\x00",
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b'"info": {}', b'"info": {"cost": NaN}'),
    ],
    ids=["BOM", "NULs", "CRLF", "NaN"],
)
def test_a_file_that_is_odd_as_a_whole_tells_the_same(change):
    data = json.dumps(traj(*RUN, trajectory=STEPS), indent=1).encode()
    assert acted(read(change(data))) == acted(read(data))
    assert read(change(data)).session_id == read(data).session_id


# -- rows ----------------------------------------------------------------------------------------------------------


def test_rows_count_responses_and_calls_and_a_run_that_goes_on_replaces_what_it_said(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {swe_agent.NAME: swe_agent})
    path = tmp_path / "runs" / "demo.traj"
    path.parent.mkdir()
    state = {"working_dir": "/repo", "open_file": "/repo/a.py"}
    history = [
        SYSTEM,
        TASK,
        commanded("a", "create a.py"),
        observed("made"),
        commanded("b", "edit 1:1"),
        observed("done"),
    ]
    steps = [step("a", "create a.py", "made", state=state), step("b", "edit 1:1", "done", state=state)]
    stats = {"tokens_sent": 10, "tokens_received": 2, "api_calls": 1}
    for end, status in ((1, None), (2, "submitted")):
        info = {"exit_status": status, "model_stats": {name: value * end for name, value in stats.items()}}
        run = traj(*history[: 2 + 2 * end], trajectory=steps[:end], info=info)
        path.write_text(json.dumps(run, indent=2), encoding="utf-8")
        bench.ingest(path)
    columns = "agent, title, cwd, started_at, prompts, responses, tool_calls, model_calls, input_tokens, output_tokens"
    assert bench.sql(f"select {columns}, cache_read_tokens from sessions").rows() == [
        ("swe-agent", "Fix the sum.", "/repo", None, 1, 2, 2, 1, 20, 4, None)
    ]
    assert bench.sql("select files_written from turn_records").rows() == [(["a.py", "/repo/a.py"],)]
    assert bench.sql("select tool, status, result from tool_calls order by seq").rows() == [
        ("create", "ok", "made"),
        ("edit", "ok", "done"),
    ]
    ends = "select payload ->> 'exit_status' from events where payload ->> 'type' = 'result'"
    assert bench.sql(ends).rows() == [("submitted",)]


def test_a_broken_file_is_left_out_and_told(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {swe_agent.NAME: swe_agent})
    path = tmp_path / "demo.traj"
    path.write_text('{"trajectory": [', encoding="utf-8")
    done = bench.ingest(path)
    assert (done.sessions, len(done.skipped), done.errors) == (0, 1, [])


@pytest.mark.skipif(not REAL.is_file(), reason="not in this clone: the real data of WORKBENCH_DATA")
def test_the_real_run_gives_the_counts_of_its_readme():
    data = REAL.read_bytes()
    source = read(data, str(REAL))
    kinds = Counter(draft.kind for record in source.records for draft in record.drafts)
    assert swe_agent.sniff(data[:65_536], REAL.name)
    assert (len(source.records), source.issues) == (28 + 2, [])  # the history, and what is told of the whole run
    assert (kinds["user_message"], kinds["agent_message"], kinds["tool_call"], kinds["tool_result"]) == (1, 13, 13, 13)
    calls = [payload["tool_call_id"] for kind, payload in told(source) if kind == "tool_call"]
    assert (len(set(calls)), usage(source)) == (13, [])
    assert source.session_id.startswith("marshmallow-code__marshmallow-1867-")
    assert source.records[0].environment == ("swe-agent", "/testbed", None, None)
    lines = data.split(b"\n")
    assert {lines[record.line - 1].strip() for record in source.records[1:-1]} == {b"{"}
