from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import workbench as wb
from workbench.config.context import Compiler, ContextEngine, Tiers
from workbench.context.classic import Said, compile_classic
from workbench.context.frame import Frame
from workbench.context.session import Policy
from workbench.errors import AmbiguousError, NotFoundError
from workbench.experiments.foreign_plans import ForeignPlans, announced_plan
from workbench.experiments.foreign_tools import our_args, our_name
from workbench.experiments.recorded import read_each, read_recorded
from workbench.experiments.replay import STEPS_SCORED, replay
from workbench.experiments.replay_job import replay_sessions, why
from workbench.experiments.replay_rows import replay_rows
from workbench.store.eventlog import EventLog
from workbench.store.eventlog_files import session_folder

SAMPLES = Path(__file__).parents[2] / "datasets"
NEW_EACH_TIME = {"replay_id", "compile_id", "recorded_at"}


def policy(level="exchange", budget=100_000, window=128_000):
    return Policy(
        compiler=Compiler(token_budget=budget), tiers=Tiers(), engine=ContextEngine(), window=window, level=level
    )


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("home"))
    bench.ingest(SAMPLES / "claude-code")
    return bench


@pytest.fixture(scope="module")
def lake(bench):
    return bench._lake


@pytest.fixture(scope="module")
def ids(lake):
    return [row[0] for row in lake.sql("select session_id from sessions order by tool_calls desc, session_id").rows()]


def comparable(rows):
    return {
        table: [{name: value for name, value in row.items() if name not in NEW_EACH_TIME} for row in found]
        for table, found in rows.items()
    }


@pytest.mark.parametrize("level", ["exchange", "step"])
def test_the_same_session_replayed_twice_gives_equal_rows_apart_from_ids_and_time(lake, ids, level):
    first, second = (
        comparable(
            replay_rows(
                replay(read_recorded(lake, ids[0]), policy(level)),
                mode="engine",
                embedder=None,
                recorded_at=datetime.now(UTC),
            )
        )
        for _ in range(2)
    )
    assert first == second
    assert len(first["compiles"]) > 1


def test_there_is_one_prompt_an_exchange_and_one_a_model_call(lake, ids):
    for session in read_each(lake, ids):
        by_exchange, by_step = replay(session, policy()), replay(session, policy("step"))
        assert [prompt.turn for prompt in by_exchange.prompts] == [exchange.turn for exchange in session.exchanges]
        steps = [(exchange.turn, step.number) for exchange in session.exchanges for step in exchange.steps]
        assert [(prompt.turn, prompt.step) for prompt in by_step.prompts] == steps[-STEPS_SCORED:]


@pytest.mark.parametrize("window", [0, 300, 1_500, 128_000])
def test_no_prompt_of_the_engine_costs_more_than_the_budget(lake, ids, window):
    for session in read_each(lake, ids):
        for prompt in replay(session, policy(window=window)).prompts:
            assert prompt.compiled.raw_tokens <= prompt.compiled.usable == min(window, 100_000)


def test_by_step_the_last_two_model_calls_are_word_for_word_and_not_on_offer(lake, ids):
    session = read_recorded(lake, ids[0])
    exchange = next(each for each in session.exchanges if len(each.steps) > 4)
    called = {call.call_id: step.number for step in exchange.steps for call in step.calls}
    for prompt in replay(session, policy("step")).prompts:
        if prompt.turn == exchange.turn:
            offered = {call for unit in prompt.compiled.scores.units for call in unit.call_ids} & called.keys()
            assert all(prompt.step - called[call] > 2 for call in offered)


def test_classic_mode_counts_the_whole_history_and_cuts_nothing(lake, ids):
    made = replay(read_recorded(lake, ids[0]), policy(), mode="classic")
    tokens = [prompt.classic_tokens for prompt in made.prompts]
    assert all(prompt.compiled is None for prompt in made.prompts)
    assert tokens == sorted(tokens)


def test_classic_tokens_are_those_of_the_classic_prompt(lake, ids):
    """Counted event by event, each rounded up; the prompt names its input apart, which costs a few tokens."""
    for session in read_each(lake, ids[:4]):
        said = []
        for exchange, prompt in zip(session.exchanges, replay(session, policy(), mode="classic").prompts, strict=True):
            frame = Frame(session_id=session.session_id, cwd=session.cwd or "")
            whole = compile_classic(
                said, exchange.user_text, frame, Compiler(), ContextEngine().density, window=128_000
            )
            assert -10 <= prompt.classic_tokens - whole.raw_tokens <= 10 + len(said)
            said.append(Said("user_message", {"text": exchange.user_text}))
            for step in exchange.steps:
                said += [Said("agent_message", {"text": step.text})] if step.text else []
                for call in step.calls:
                    said.append(Said("tool_call", {"tool": call.tool, "args": call.args}))
                    said.append(Said("tool_result", {"tool": call.tool, "result": call.result or ""}))


def test_a_session_without_a_tool_call_is_replayed(tmp_path):
    bench = wb.open(tmp_path / "home")
    log = tmp_path / "talk.jsonl"
    log.write_text(
        '{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-03-01T10:00:00Z","cwd":"/p",'
        '"message":{"role":"user","content":"hello"}}\n',
        encoding="utf-8",
    )
    bench.ingest(log)
    made = replay(read_recorded(bench._lake, "s1"), policy("step"))
    assert made.prompts == []
    assert [ended.digest.user_intent for ended in made.ended] == ["hello"]


@pytest.fixture(scope="module")
def replayed(lake, ids):
    result = replay_sessions(lake, ids, policy())
    replay_sessions(lake, ids[:2], policy("step"))
    return result


def test_a_replay_is_in_the_tables(lake, replayed):
    counted = lake.sql("select count(*) from compiles where level = 'exchange'").item()
    assert counted == sum(each.prompts for each in replayed.sessions) > 0
    assert lake.sql("select count(*) from replays where level = 'exchange'").item() == len(replayed.sessions)
    twice = lake.sql("select count(*) from unit_scores group by compile_id, unit_id having count(*) > 1")
    assert twice.height == 0


@pytest.mark.usefixtures("replayed")
def test_the_terms_of_every_unit_add_up_to_its_score(lake):
    added = "pin + recency + relevance + hydrate_boost + unit_order + last_step"
    assert lake.sql(f"select max(abs({added} - score)) from unit_scores").item() <= 1e-9


@pytest.mark.usefixtures("replayed")
def test_why_tells_the_terms_and_what_the_unit_competed_with(lake):
    row = lake.sql("select session_id, turn, unit_id from unit_scores where step = 0 order by turn desc limit 1").row(0)
    found = why(lake, *row)
    assert sum(found["terms"].values()) == pytest.approx(found["unit"]["score"], abs=1e-9)
    assert found["compile"]["turn"] == row[1]
    step = lake.sql("select session_id, turn, unit_id, step from unit_scores where step > 0 limit 1").row(0)
    assert why(lake, *step[:3], step=step[3])["unit"]["step"] == step[3]


@pytest.mark.usefixtures("replayed")
def test_why_says_what_there_is_where_it_is_asked_for_something_else(lake, ids):
    session, turn = lake.sql("select session_id, turn from unit_scores where step = 0 limit 1").row(0)
    with pytest.raises(NotFoundError, match="has no prompt 999; it has 1, 2"):
        why(lake, session, 999, "turn_1")
    with pytest.raises(NotFoundError, match="no unit 'nothing' was on offer at turn"):
        why(lake, session, turn, "nothing")
    busy, busy_turn, unit, step = _busy_step(lake)
    with pytest.raises(AmbiguousError, match="fits several units"):
        why(lake, busy, busy_turn, unit, step=step)
    with pytest.raises(NotFoundError, match="workbench context replay"):
        why(lake, ids[-1], 1, "turn_1", step=1)


def _busy_step(lake):
    query = """
        select session_id, turn, '_', step from unit_scores where step > 0
        group by all having count(*) > 1 order by all limit 1
    """
    session, turn, unit, step = lake.sql(query).row(0)
    return session, turn, unit, step


def test_a_replay_broken_off_leaves_only_whole_ones(lake, ids):
    before = lake.sql("select count(*) from replays").item()
    seen = []

    def broken(*told):
        seen.append(told)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay_sessions(lake, ids, policy(budget=50_000), progress=broken)
    assert lake.sql("select count(*) from replays").item() == before


def test_an_unknown_session_is_named(lake):
    with pytest.raises(NotFoundError, match="no session 'nope'"):
        list(read_each(lake, ["nope"]))


# -- other agents' words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "args", "ours"),
    [
        ("Bash", {"command": "ls"}, "shell"),
        ("run_shell_command", {}, "shell"),
        ("Read", {}, "read_file"),
        ("str_replace_editor", {"command": "view"}, "read_file"),
        ("str_replace_editor", {"command": "create"}, "write_file"),
        ("str_replace_editor", {"command": "str_replace"}, "edit_file"),
        ("MultiEdit", {}, "edit_file"),
        ("Grep", {}, "search_code"),
        ("mcp__linear__get_issue", {}, "mcp__linear__get_issue"),
    ],
)
def test_tools_have_our_names(tool, args, ours):
    assert our_name(tool, args) == ours


def test_arguments_have_our_names():
    assert our_args("shell", {"cmd": ["bash", "-lc", "ls"]}, "ls", None) == {"command": "ls"}
    assert our_args("read_file", {"file_path": "a.py", "offset": 3}, None, "a.py") == {"path": "a.py", "offset": 3}


def kinds(actions):
    return [(each["action"], each.get("tier") or each.get("statePayload", {}).get("status")) for each in actions]


def todos(*entries):
    return {"todos": [{"content": content, "status": status} for content, status in entries]}


def test_a_todo_list_is_compared_with_the_one_before():
    plans = ForeignPlans("s")
    first = plans.actions("TodoWrite", todos(("load", "in_progress"), ("plot", "pending")), None)
    assert kinds(first) == [("create", "doing"), ("setFocus", None), ("create", "todo")]
    second = plans.actions("TodoWrite", todos(("load", "completed")), None)
    assert kinds(second) == [("update", "done"), ("setTier", "soft"), ("retract", None)]
    assert plans.actions("TodoWrite", todos(("load", "completed")), None) == []


def test_single_task_tools_act_on_their_task():
    plans = ForeignPlans("s")
    (made,) = plans.actions("TaskCreate", {"subject": "Refactor", "description": "it"}, "Task #4 created")
    assert made["statePayload"] == {"title": "Refactor", "status": "todo", "description": "it"}
    assert kinds(plans.actions("TaskUpdate", {"taskId": "4", "status": "in_progress"}, "")) == [
        ("update", "doing"),
        ("setFocus", None),
    ]
    assert kinds(plans.actions("TaskUpdate", {"taskId": "4", "status": "deleted"}, "")) == [("retract", None)]
    assert plans.actions("TaskUpdate", {"taskId": "9", "status": "completed"}, "") == []


@pytest.mark.parametrize("args", [{}, {"todos": None}, {"todos": "x"}, {"todos": [1, {}, {"content": 3}]}])
def test_a_todo_list_of_another_form_does_nothing(args):
    assert ForeignPlans("s").actions("TodoWrite", args, None) == []


def test_two_replays_name_the_same_tasks():
    made = [ForeignPlans("s").actions("update_plan", {"plan": [{"step": "go", "status": "pending"}]}, "") for _ in "ab"]
    assert made[0] == made[1]


def test_a_plan_handed_over_is_a_plan():
    assert announced_plan("ExitPlanMode", {"plan": "1. a\n2. b"}) == "1. a\n2. b"
    assert announced_plan("Bash", {"plan": "x"}) is None


# -- state that sessions recorded themselves ---------------------------------------------------------------------------


def replayed_state(bench, session_id):
    made = replay(read_recorded(bench._lake, session_id), policy())
    return made, {each.id: each for each in made.engine.graph.snapshot()}


def test_the_state_that_our_own_sessions_recorded_stands_in_their_prompts(tmp_path):
    bench = wb.open(tmp_path / "home")
    bench.ingest(SAMPLES / "event-log")
    made, state = replayed_state(bench, "01KMCYR9M0M0VEAD6W301JPHQ2")
    assert [(each.kind, each.state_tier) for each in state.values()] == [
        ("task", "soft"), ("task", "active"), ("constraint", "active"), ("decision", "active"), ("note", "active"),
    ]  # fmt: skip
    text = made.prompts[-1].compiled.text
    assert "01KMCYS34T4DZESYQDRBQK0NDJ settle must not change what it returns" in text
    assert "01KMCYRZVDS8B3C5C9PY1ZHXG1 [task]: Make the settling test strict" in text
    assert [each.summary for each in made.ended[0].digest.decisions] == ["Equal debts are paid in order of name"]


def act(log, turn, **payload):
    log.append("context_action", "kernel", payload, turn=turn)


def test_what_a_policy_did_to_the_state_is_not_replayed_but_done_anew(tmp_path):
    """Who sank or came back under the recorded policy does not do so under another one."""
    bench = wb.open(tmp_path / "home")
    with EventLog(session_folder(bench.home.root, "own"), "own") as log:
        log.append("user_message", "user", {"text": "Keep two notes."}, turn=1)
        for key in ("kept", "sunk"):
            act(log, 1, action="create", id=key, kind="note", statePayload={"text": f"{key}: a quiet thing"})
        log.append("agent_message", "agent", {"text": "Kept."}, turn=1)
        act(log, 1, action="setTier", id="kept", tier="hard", reason="idle")
        act(log, 1, action="setTier", id="sunk", tier="soft")
        log.append("user_message", "user", {"text": "Go on."}, turn=2)
        act(log, 2, action="setTier", id="sunk", tier="active", reason="auto_hydrate", hydrate_method="bm25")
        log.append("agent_message", "agent", {"text": "Yes."}, turn=2)
    bench.land_logs()
    made, state = replayed_state(bench, "own")
    assert {key: each.state_tier for key, each in state.items()} == {"kept": "active", "sunk": "soft"}
    assert [len(prompt.hydrated) for prompt in made.prompts] == [0, 0]


def test_a_reset_that_was_recorded_takes_the_state_away(tmp_path):
    bench = wb.open(tmp_path / "home")
    with EventLog(session_folder(bench.home.root, "own"), "own") as log:
        log.append("user_message", "user", {"text": "Keep a note."}, turn=1)
        act(log, 1, action="create", id="gone", kind="note", statePayload={"text": "a quiet thing"})
        log.append("system_note", "kernel", {"type": "state_reset", "cleared": "all"}, turn=1)
        act(log, 1, action="create", id="kept", kind="note", statePayload={"text": "another"})
        log.append("agent_message", "agent", {"text": "Kept."}, turn=1)
    bench.land_logs()
    assert list(replayed_state(bench, "own")[1]) == ["kept"]
