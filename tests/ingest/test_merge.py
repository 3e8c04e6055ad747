"""One list of events out of all files that tell of a session: the same from the same files, whatever their order."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import (
    OTHER,
    SESSION,
    call,
    jsonl,
    moment,
    nested,
    prompt,
    response,
    result,
    sidechain,
    small_session,
    text,
    tokens,
)

from workbench.ingest.claude_code import read
from workbench.ingest.merge import SessionSource, merge
from workbench.ingest.records import Draft, ParsedSource, Record


def record(name, seconds=0, *drafts, session=SESSION, parent=None):
    at = None if seconds is None else moment(seconds)
    said = drafts or (Draft("user_message", "user", {"text": name}),)
    return Record(name, session, at, "missing" if at is None else "recorded", 1, parent, list(said))


def source(source_id, *records, role="main", age=0, session=SESSION):
    sessions = sorted({each.session_id or session for each in records})
    return SessionSource(source_id, age, ParsedSource(session, sessions, role, len(records), list(records), []))


def file(source_id, *lines, name=f"{SESSION}.jsonl", age=0):
    """The same from lines of Claude Code."""
    return SessionSource(source_id, age, read(jsonl(*lines), name))


def texts(events):
    return [event.payload.get("text") for event in events]


def facts(events):
    """What the events say, without which file and line said it."""
    return [(e.event_id, e.seq, e.turn, e.kind, e.payload, e.parent_event_id, e.occurred_at) for e in events]


# -- one file ---------------------------------------------------------------------------------------------------------


def test_events_are_numbered_in_the_order_of_the_file():
    events = merge(SESSION, [source("s1", record("a", 3), record("b", 1), record("c", None), record("d", 2))])
    assert texts(events) == ["a", "b", "c", "d"]
    assert [event.seq for event in events] == [1, 2, 3, 4]
    assert [event.occurred_at for event in events] == [moment(3), moment(1), None, moment(2)]
    assert [event.time_source for event in events] == ["recorded", "recorded", "missing", "recorded"]


def test_a_record_that_a_file_repeats_counts_once():
    events = merge(SESSION, [source("s1", record("a"), record("b"), record("a"))])
    assert texts(events) == ["a", "b"]


def test_only_the_records_of_the_session_count():
    one = source("s1", record("a"), record("b", session=OTHER), record("c", session=None))
    assert texts(merge(SESSION, [one])) == ["a", "c"]
    assert texts(merge(OTHER, [one])) == ["b"]


def test_a_prompt_of_the_main_chain_begins_an_exchange():
    said = Draft("agent_message", "agent", {"text": "x"})
    side = Draft("user_message", "agent", {"text": "look"}, None, is_sidechain=True)
    records = (record("n", 0, said), record("a"), record("b", 0, said), record("c", 0, side), record("d"))
    assert [event.turn for event in merge(SESSION, [source("s1", *records)])] == [0, 1, 1, 1, 2]


def test_the_environment_is_noted_where_it_is_first_told_and_where_it_changes():
    lines = [
        prompt("u1", "Hi", cwd=...),
        prompt("u2", "Hi"),
        prompt("u3", "Hi"),
        prompt("u4", "Hi", cwd="/elsewhere", gitBranch=""),
    ]
    events = merge(SESSION, [file("s1", *lines)])
    assert [(event.kind, event.source_line) for event in events] == [
        ("user_message", 1),
        ("system_note", 2),
        ("user_message", 2),
        ("user_message", 3),
        ("system_note", 4),
        ("user_message", 4),
    ]
    told = {"type": "environment", "agent": "claude-code", "agent_version": "2.1.40"}
    assert [event.payload for event in events if event.kind == "system_note"] == [
        told | {"cwd": "/srv/work/demo", "git_branch": "main"},
        told | {"cwd": "/elsewhere", "git_branch": None},
    ]


def test_that_a_sub_agent_was_started_is_told_once_before_its_first_record():
    lines = [
        prompt("u1", "Go."),
        nested("p1", prompt("n1", "Look."), "a1"),
        nested("p2", response("n2", "msg_n"), "a1"),
        nested("p3", response("n3", "msg_m"), "a2"),
    ]
    events = merge(SESSION, [file("s1", *lines)])
    assert [(event.kind, event.agent_id) for event in events if event.kind != "system_note"] == [
        ("user_message", None),
        ("subagent", "a1"),
        ("user_message", "a1"),
        ("agent_message", "a1"),
        ("subagent", "a2"),
        ("agent_message", "a2"),
    ]
    assert [event.payload for event in events if event.kind == "subagent"] == [
        {"agent_id": "a1", "prompt": "Look."},
        {"agent_id": "a2", "prompt": None},
    ]


def test_figures_that_are_repeated_are_told_once_and_those_that_grow_each_time():
    lines = [
        response("a1", "msg_1", text("One."), usage=tokens(2)),
        response("a2", "msg_1", text("Two."), usage=tokens(340)),
        response("a3", "msg_1", call("t1"), usage=tokens(340)),
        response("a4", "msg_2", text("Three."), usage=tokens(340)),
        response("a5", None, text("Four."), usage=tokens(7)),
        response("a6", None, text("Five."), usage=tokens(7)),
    ]
    events = merge(SESSION, [file("s1", *lines)])
    assert [event.payload["output_tokens"] for event in events if event.kind == "usage"] == [2, 340, 340, 7, 7]


def test_a_log_tells_the_exchange_itself():
    drafts = [Draft("user_message", "user", {"text": "x"}, turn=turn, event_id=f"e{turn}") for turn in (4, 7)]
    events = merge(SESSION, [source("s1", *(record(str(n), n, draft) for n, draft in enumerate(drafts)), role="log")])
    assert [(event.event_id, event.turn) for event in events] == [("e4", 4), ("e7", 7)]


def test_the_parent_of_a_result_is_its_call_and_of_anything_else_the_record_it_follows():
    lines = [
        prompt("u1", "Go."),
        response("u2", "msg_1", call("t1"), parentUuid="u1"),
        response("u3", "msg_1", call("t2"), parentUuid="u2"),
        prompt("u4", [result("t2")], parentUuid="u3"),
        prompt("u5", [result("t1")], parentUuid="u4"),
        response("u6", "msg_2", text("Done."), parentUuid="u5"),
    ]
    events = {event.payload.get("tool_call_id") or event.kind: event for event in merge(SESSION, [file("s1", *lines)])}
    calls = {e.payload["tool_call_id"]: e for e in merge(SESSION, [file("s1", *lines)]) if e.kind == "tool_call"}
    assert events["t1"].parent_event_id == calls["t1"].event_id
    assert events["t2"].parent_event_id == calls["t2"].event_id
    assert events["agent_message"].parent_event_id == events["t1"].event_id


def test_ids_are_repeatable_and_sort_by_time():
    one = source("s1", record("a", 1), record("b", 2))
    first, again = merge(SESSION, [one]), merge(SESSION, [one])
    assert facts(first) == facts(again)
    assert first[0].event_id < first[1].event_id
    assert merge(OTHER, [source("s1", record("a", 1, session=OTHER))])[0].event_id != first[0].event_id


# -- several files ----------------------------------------------------------------------------------------------------


def test_a_sub_agents_own_file_is_credited_before_a_nested_message_and_the_smaller_id_else():
    inner = response("n1", "msg_n", call("t1"), seconds=3)
    main = file("s1", prompt("u1", "Go."), nested("p1", inner, seconds=3))
    own = file("s2", sidechain(prompt("n0", "Look.", seconds=2)), sidechain(inner), name="agent-a1.jsonl")
    copy = file("s0", prompt("u1", "Go."), nested("p1", inner, seconds=3))
    (found,) = [event for event in merge(SESSION, [main, own]) if event.kind == "tool_call"]
    assert found.source_id == "s2"
    (found,) = [event for event in merge(SESSION, [main, copy]) if event.kind == "tool_call"]
    assert found.source_id == "s0"


def test_sub_agents_go_between_the_records_of_the_main_file_by_their_times():
    main = source("s1", record("a", 0), record("d", 10), record("e", 5))
    agent = source("s2", record("b", 3), record("c", 7), role="subagent")
    assert texts(merge(SESSION, [main, agent])) == ["a", "b", "c", "d", "e"]


def test_records_without_a_time_stay_with_those_before_them():
    main = source("s1", record("a", None), record("b", 4), record("c", None), record("f", 9))
    agent = source("s2", record("d", 5), record("e", None), role="subagent")
    assert texts(merge(SESSION, [main, agent])) == ["a", "b", "c", "d", "e", "f"]


def test_the_newest_content_of_a_rewritten_file_tells_first_and_older_ones_add_what_it_lacks():
    new = source("s1", record("a", 0), record("c", 2, Draft("user_message", "user", {"text": "c, edited"})))
    old = source("s1", record("a", 0), record("b", 1), record("c", 2), age=1)
    assert texts(merge(SESSION, [new, old])) == ["a", "b", "c, edited"]


@pytest.mark.parametrize("ids", [("s1", "s2"), ("s2", "s1")])
def test_records_of_one_moment_keep_the_order_of_the_file_that_has_them_all(ids):
    whole = source(ids[0], record("a"), record("b"), record("c"), record("d"))
    part = source(ids[1], record("b"), record("d"))
    assert texts(merge(SESSION, [whole, part])) == ["a", "b", "c", "d"]


def test_a_rewritten_file_that_lost_its_beginning_keeps_the_order():
    new = source("s1", record("b"), record("c"))
    old = source("s1", record("a"), record("b"), record("c"), age=1)
    assert texts(merge(SESSION, [new, old])) == ["a", "b", "c"]


CHAIN = [
    prompt("u1", "Go."),
    response("u2", "msg_1", text("One."), usage=tokens(5), seconds=1),
    response("u3", "msg_1", call("t1"), usage=tokens(5), seconds=2),
    prompt("u4", [result("t1")], seconds=3, cwd="/elsewhere"),
    response("u5", "msg_2", text("Done."), usage=tokens(9), seconds=4, cwd="/elsewhere"),
]


@pytest.mark.parametrize("ids", [("s1", "s2"), ("s2", "s1")], ids=["whole first", "part first"])
@pytest.mark.parametrize("start", [1, 2, 3, 4])
def test_a_copy_of_the_end_of_a_file_adds_nothing(ids, start):
    """A resumed file, or one that was cut: it tells its environment and figures anew at its own first records."""
    whole, part = file(ids[0], *CHAIN), file(ids[1], *CHAIN[start:])
    assert facts(merge(SESSION, [whole, part])) == facts(merge(SESSION, [whole]))


@pytest.mark.parametrize("ids", [("s1", "s2"), ("s2", "s1")], ids=["main first", "agent first"])
def test_a_sub_agents_file_beside_nested_messages_changes_no_id(ids):
    inner = [
        prompt("n1", "Look.", seconds=1),
        response("n2", "msg_n", call("t1"), usage=tokens(3), seconds=2),
        prompt("n3", [result("t1")], seconds=3),
    ]
    main = [prompt("u1", "Go."), *(nested(f"p{n}", each, seconds=n) for n, each in enumerate(inner, start=1))]
    alone = merge(SESSION, [file(ids[0], *main)])
    both = merge(SESSION, [file(ids[0], *main), file(ids[1], *map(sidechain, inner), name="agent-a1.jsonl")])
    assert {e.event_id for e in alone} <= {e.event_id for e in both}
    assert [e.kind for e in both if e.is_sidechain].count("subagent") == 1


TIMES = st.one_of(st.none(), st.integers(0, 3))


@st.composite
def copies(draw):
    """A session's records with times that repeat, lack and go back; and files that have parts of them, in order."""
    base = [record(f"r{n}", draw(TIMES)) for n in range(draw(st.integers(1, 7)))]
    parts = draw(st.lists(st.lists(st.sampled_from(range(len(base))), unique=True), min_size=0, max_size=3))
    roles = st.sampled_from(["main", "subagent"])
    files = [
        source(f"s{n}", *(base[index] for index in sorted(part)), role=draw(roles), age=draw(st.integers(0, 2)))
        for n, part in enumerate(parts, start=1)
        if part
    ]
    return base, files


@given(copies(), st.randoms())
def test_the_order_in_which_files_are_found_does_not_matter(drawn, random):
    base, files = drawn
    files = [source("s0", *base), *files]
    shuffled = random.sample(files, len(files))
    assert merge(SESSION, files) == merge(SESSION, shuffled)


@given(copies(), st.sampled_from(["s0", "s9"]))
def test_copies_of_parts_add_nothing_and_change_no_order(drawn, source_id):
    base, files = drawn
    whole = source(source_id, *base)
    assert facts(merge(SESSION, [whole, *files])) == facts(merge(SESSION, [whole]))


@given(copies())
def test_each_file_keeps_its_order_and_every_record_counts_once(drawn):
    _, files = drawn
    if not files:
        return
    merged = texts(merge(SESSION, files))
    assert sorted(merged) == sorted({each.record_id for file in files for each in file.parsed.records})
    for file in files:
        own = [each.record_id for each in file.parsed.records]
        assert [name for name in merged if name in own] == own


@given(copies())
def test_seq_has_no_gap_and_ids_do_not_change_when_another_file_is_found(drawn):
    base, files = drawn
    merged = merge(SESSION, [source("s0", *base), *files])
    assert [event.seq for event in merged] == list(range(1, len(merged) + 1))
    assert len({event.event_id for event in merged}) == len(merged)
    for file in files:
        assert {event.event_id for event in merge(SESSION, [file])} <= {event.event_id for event in merged}


def test_all_orders_of_three_real_looking_files_give_the_same_events():
    resumed = small_session()[:2]
    sources = [
        file("s1", *small_session()),
        file("s2", *resumed, prompt("b1", "More.", session=OTHER, seconds=60), name=f"{OTHER}.jsonl"),
        file("s3", sidechain(prompt("n1", "Look.", seconds=2)), name="agent-a1.jsonl"),
    ]
    found = [merge(SESSION, order) for order in permutations(sources)]
    assert all(each == found[0] for each in found)
    assert datetime(1970, 1, 1, tzinfo=UTC) < found[0][0].occurred_at
