"""Studies of how state sinks and comes back: what is needed, what is held, and planted truths that must be found."""

import json
import random
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import runner

import workbench as wb
from workbench.config.context import Compiler, ContextEngine, Relevance, Tiers
from workbench.context.session import EngineSession, Policy
from workbench.errors import BadInputError
from workbench.experiments.recorded import (
    RecordedAction,
    RecordedCall,
    RecordedExchange,
    RecordedSession,
    RecordedStep,
    read_recorded,
)
from workbench.experiments.setting_jobs import settings_to_apply
from workbench.experiments.state_objective import moments_of
from workbench.experiments.state_study import IDLE_SOFT, THRESHOLD, state_settings
from workbench.experiments.state_traces import StateExchange, StateTrace, in_full, pairs, state_trace
from workbench.store.eventlog import EventLog
from workbench.store.eventlog_files import session_folder
from workbench.store.eventlog_new import NewEvent

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXCHANGES_MADE = 14
CONFIG = {"study": {"seeds": 1, "bootstrap_draws": 500}}


def exchange(text, *changes, written=""):
    return StateExchange(text, None, tuple(RecordedAction(each, None) for each in changes), written)


def note(key, text):
    return {"action": "create", "id": key, "kind": "note", "statePayload": {"text": text}}


def touch(key):
    return {"action": "update", "id": key, "statePayload": {}}


# -- what is held ------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["one", "two", "three"])
WORDS = st.sampled_from(["otter", "heron", "ab", "cd", "Go on"])
TIERS = st.sampled_from(["soft", "hard"])
CHANGES = st.one_of(
    st.builds(note, KEYS, WORDS),
    st.builds(touch, KEYS),
    st.builds(lambda key: {"action": "retract", "id": key}, KEYS),
    st.builds(
        lambda key, tier: {"action": "setTier", "id": key, "tier": tier}, KEYS, st.sampled_from(["soft", "hard"])
    ),
)
EXCHANGES = st.builds(lambda text, changes: exchange(text, *changes), WORDS, st.lists(CHANGES, max_size=3))


@given(st.lists(EXCHANGES, max_size=8), st.integers(1, 4), st.integers(1, 4), st.sampled_from([0.05, 0.3, 2.0]))
def test_a_prompt_holds_what_the_engine_itself_holds(exchanges, soft, more, threshold):
    tiers = Tiers(idle_soft_after_turns=soft, idle_hard_after_turns=soft + more)
    relevance = Relevance(hydrate_threshold=threshold)
    engine = ContextEngine(relevance=relevance)
    session = EngineSession("s", Policy(compiler=Compiler(), tiers=tiers, engine=engine, window=100_000))
    held = []
    for turn, each in enumerate(exchanges, 1):
        session.begin(turn, each.user_text)
        held.append(frozenset(known.id for known in session.graph.active()))
        for change in each.changes:
            session.act(change.action)
        session.end("")
    assert list(in_full(StateTrace("s", tuple(exchanges)), tiers, relevance)) == held


# -- what is needed ----------------------------------------------------------------------------------------------------


def test_what_is_changed_or_named_is_needed():
    trace = StateTrace(
        "s",
        (
            exchange("Begin.", note("first", "use run_all"), note("second", "stay calm"), note("0123456789", "x")),
            exchange("Next.", touch("second"), written="I call run_all now"),
            exchange("Last.", written="see 0123456789"),
        ),
    )
    assert pairs(trace).rows() == [
        (1, "0123456789", False, False),
        (1, "first", False, True),
        (1, "second", True, False),
        (2, "0123456789", False, True),
        (2, "first", False, False),
        (2, "second", False, False),
    ]


def test_a_list_of_tasks_that_is_told_again_names_none_of_them():
    def call(tool, args):
        return RecordedCall(
            tool=tool, args=args, our_tool=tool, our_args=args, result="", is_error=False, call_id="c", called_at=None
        )

    def todo(*statuses):
        titles = ("fix parseLine", "test run_all")
        todos = [{"content": title, "status": status} for title, status in zip(titles, statuses, strict=True)]
        return call("TodoWrite", {"todos": todos})

    def step(*calls):
        return RecordedStep(number=1, text="", calls=calls)

    def recorded(turn, *calls):
        return RecordedExchange(turn=turn, user_text="Go.", answer="", started_at=None, steps=(step(*calls),))

    session = RecordedSession(
        session_id="s", agent="claude-code", cwd=None, project_id=None,
        exchanges=(
            recorded(1, todo("pending", "pending")),
            recorded(2, todo("in_progress", "pending")),
            recorded(3, call("Bash", {"command": "grep parseLine"})),
        ),
    )  # fmt: skip
    found = pairs(state_trace(session)).select("place", "acted", "named").rows()
    assert sorted(found) == [(1, False, False), (1, True, False), (2, False, False), (2, False, True)]


def test_moments_at_which_all_or_nothing_was_needed_tell_nothing():
    both = exchange("Begin.", note("a", "x"), note("b", "y"))
    trace = StateTrace(
        "s", (both, exchange("One.", touch("a")), exchange("All.", touch("a"), touch("b")), exchange("None."))
    )
    moments = moments_of([StateTrace("empty", ()), trace])
    assert moments.sessions == ["s"]
    assert moments.keys == [(1, 1, "a"), (1, 1, "b")]
    assert moments.needed.tolist() == [True, False]
    assert moments.lift(np.array([True, False])).tolist() == [0.5]
    assert moments.lift(np.array([False, True])).tolist() == [-0.5]
    assert moments.lift(np.array([True, True])).tolist() == moments.lift(np.array([False, False])).tolist() == [0.0]


def test_permuted_needs_stay_in_their_moments():
    trace = StateTrace("s", (
        exchange("Begin.", *(note(f"n{number}", "x") for number in range(6))),
        *(exchange("Go.", *(touch(f"n{key}") for key in range(count))) for count in (1, 2, 5)),
    ))  # fmt: skip
    moments = moments_of([trace])
    drawn = [moments.permuted(seed) for seed in range(20)]
    counts = [np.bincount(each.moment, each.needed).tolist() for each in drawn]
    assert counts == [[1.0, 2.0, 5.0]] * 20
    assert len({tuple(each.needed.tolist()) for each in drawn}) > 10


# -- planted truths ----------------------------------------------------------------------------------------------------


def write_log(bench, session, exchanges):
    """A session of ours: of each exchange a message and changes."""
    events = []
    for turn, (text, changes) in enumerate(exchanges, 1):
        events.append(NewEvent(kind="user_message", actor="user", payload={"text": text}, turn=turn))
        events += [NewEvent(kind="context_action", actor="kernel", payload=each, turn=turn) for each in changes]
        events.append(NewEvent(kind="agent_message", actor="agent", payload={"text": "Done."}, turn=turn))
    with EventLog(
        session_folder(bench.home.root, session), session, now=lambda: datetime(2026, 3, 1, tzinfo=UTC)
    ) as log:
        log.append_many(events)


def used_for_three_turns(draw):
    """A note in every exchange, changed twice in the three exchanges after, never later."""
    uses = {turn: sorted(draw.sample(range(1, 4), 2)) for turn in range(EXCHANGES_MADE)}
    for turn in range(EXCHANGES_MADE):
        again = [touch(f"note{earlier}") for earlier in range(turn) if turn - earlier in uses[earlier]]
        yield "Go on.", [note(f"note{turn}", "a quiet thing"), *again]


def codes_of_two_letters(draw):
    """Notes of two codes each; a message has both codes of the one that is needed, and one of two others."""
    codes = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op"]
    known = [f"{first} {second}" for first, second in zip(codes, codes[1:] + codes[:1], strict=True)]
    yield "Begin.", [note(f"note{place}", text) for place, text in enumerate(known)]
    for _ in range(8):
        place = draw.randrange(len(known))
        yield known[place], [touch(f"note{place}")]


def planted(folder, write, sessions, **config):
    bench = wb.open(folder / "home", **CONFIG, **config)
    for number in range(sessions):
        write_log(bench, f"session{number:02}", list(write(random.Random(number))))
    bench.land_logs()
    return bench


def test_idle_turns_that_sessions_need_are_found_and_written(tmp_path):
    bench = planted(tmp_path, used_for_three_turns, 32)
    found = bench.tune_state("idle-turns", permutations=20, trials=32)
    assert (found.verdict, found.groups, found.best_hand_set) == ("better", 32, "after 5 turns")
    assert found.found == {IDLE_SOFT: 3.0}
    assert found.gain.low > 0
    assert found.null.holds
    assert {row.name: round(row.mean, 6) for row in found.rows}["never"] == 0
    bench.apply_weights(found)
    written = json.loads((bench.home.root / "config.json").read_text("utf-8"))
    assert written == {"tiers": {"idle_soft_after_turns": 3}}
    told = bench.reproduce(bench.tuning_report(tmp_path / "out").manifest)
    assert (told.equal, told.report) == (True, "tuning")


def test_a_threshold_of_hydration_that_parts_the_needed_from_the_alike_is_found(tmp_path):
    bench = planted(tmp_path, codes_of_two_letters, 32, tiers={"idle_soft_after_turns": 1, "idle_hard_after_turns": 2})
    found = bench.tune_state("hydration", permutations=20, trials=32)
    by_name = {row.name: row.mean for row in found.rows}
    assert by_name["by keyword alone"] == 0
    assert by_name["from 0.6 on"] > by_name["in use"] + 0.1
    assert by_name["tuned"] > by_name["in use"] + 0.1
    assert found.found[THRESHOLD] > 0.3
    assert found.null.holds


def test_below_thirty_sessions_there_is_no_verdict_and_nothing_is_written(tmp_path):
    bench = planted(tmp_path, used_for_three_turns, 6)
    found = bench.tune_state("idle-turns", permutations=2, trials=16)
    assert (found.verdict, found.groups, found.looked_at) == ("no verdict", 6, 6)
    with pytest.raises(BadInputError, match="nothing was applied: no verdict"):
        settings_to_apply(found, bench.config)


def test_objects_become_hard_later_than_soft_whatever_is_found():
    assert state_settings({IDLE_SOFT: 30.0}, Tiers()) == {IDLE_SOFT: 30}
    assert state_settings({IDLE_SOFT: 55.0}, Tiers()) == {IDLE_SOFT: 55, "tiers.idle_hard_after_turns": 56}
    assert state_settings({THRESHOLD: 0.25}, Tiers()) == {THRESHOLD: 0.25}


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


def test_the_command_tells_how_many_sessions_tell_something(run, tmp_path):
    bench = planted(tmp_path, used_for_three_turns, 5)
    write_log(bench, "silent", [("Hello.", [])])
    options = ("tune", "--what", "idle-turns", "--home", bench.home.root, "--permutations", "2", "--trials", "16")
    told = json.loads(run(*options, "--json").out)
    assert (told["groups"], told["looked_at"], told["of"], told["verdict"]) == (5, 6, "sessions", "no verdict")
    assert told["default"] == {"tiers.idle_soft_after_turns": 20.0}
    lines = run(*options).out.splitlines()
    assert lines[0].startswith("idle turns until state sinks: 5 of 6 sessions tell something, ")
    done = run(*options, "--apply")
    assert (done.code, "nothing was applied: no verdict" in done.err) == (1, True)
    some = json.loads(run("tune", "session00", "session01", "session02", "session03", *options[1:], "--json").out)
    assert (some["groups"], some["looked_at"]) == (4, 4)


def test_sessions_without_state_are_told_as_that(run, tmp_path):
    bench = wb.open(tmp_path / "home")
    write_log(bench, "silent", [("Hello.", [])])
    done = run("tune", "--what", "hydration", "--home", bench.home.root)
    assert done.code == 2
    assert "none of 1 sessions kept a state of which an exchange used some and left some" in done.err


def test_what_a_session_recorded_of_its_state_is_in_the_trace(tmp_path):
    bench = planted(tmp_path, used_for_three_turns, 1)
    trace = state_trace(read_recorded(bench._lake, "session00"))
    assert [change.action["action"] for change in trace.exchanges[0].changes] == ["create"]
    assert len(trace.exchanges) == EXCHANGES_MADE
