from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config.context import Relevance, Tiers
from workbench.context.hydrate import Hydrated, find_hydrated, hydrate
from workbench.context.state import StateGraph, apply_action, demote, demotions, next_turn, text_of
from workbench.context.state_snapshot import StateSnapshot, decode_snapshot, encode_snapshot, resume

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RELEVANCE = Relevance()


def create(key, text="a note", *, tier="active", kind="note", **payload):
    return {"action": "create", "id": key, "kind": kind, "tier": tier, "statePayload": payload or {"text": text}}


def graph_of(*actions):
    graph = StateGraph()
    for minute, action in enumerate(actions):
        graph = apply_action(graph, action, NOON + timedelta(minutes=minute))
    return graph


def idle(graph, turns):
    for _ in range(turns):
        graph = demote(next_turn(graph), Tiers())
    return graph


def test_a_graph_never_changes_under_its_holder():
    before = graph_of(create("a"))
    after = apply_action(before, {"action": "update", "id": "a", "statePayload": {"text": "new"}}, NOON)
    assert before.objects["a"].payload == {"text": "a note"}
    assert after.objects["a"].payload == {"text": "new"}


def test_an_object_sinks_after_twenty_idle_turns_and_is_hard_after_fifty_in_all():
    graph = graph_of(create("a"))
    tiers = {turns: idle(graph, turns).objects["a"].state_tier for turns in (19, 20, 49, 50)}
    assert tiers == {19: "active", 20: "soft", 49: "soft", 50: "hard"}


def test_demotions_are_actions_and_touch_nothing():
    graph = next_turn(idle(graph_of(create("a")), 19))
    assert demotions(graph, Tiers()) == [{"action": "setTier", "id": "a", "tier": "soft", "reason": "idle"}]
    sunk = demote(graph, Tiers()).objects["a"]
    assert (sunk.state_tier, sunk.touched_turn, sunk.touched_at) == ("soft", 0, NOON)


def test_a_replayed_action_touches_in_the_turn_it_names():
    graph = graph_of(create("a"), {"action": "update", "id": "a", "statePayload": {}, "turn": 17})
    assert graph.objects["a"].touched_turn == 17


def test_only_one_object_has_the_focus_and_it_comes_first():
    graph = graph_of(create("a"), create("b"), {"action": "setFocus", "id": "a"}, {"action": "setFocus", "id": "b"})
    assert [(each.id, each.focused) for each in graph.active()] == [("b", True), ("a", False)]


def test_what_was_taken_back_stays_as_a_tombstone():
    graph = graph_of(create("a"), create("b"), {"action": "retract", "id": "a"})
    assert [each.id for each in graph.listed()] == ["b"]
    assert [each.id for each in graph.snapshot()] == ["a", "b"]


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"action": "create", "id": "x", "kind": "wish", "statePayload": {}},
        {"action": "create", "id": "x", "kind": "note"},
        {"action": "create", "id": 7, "kind": "note", "statePayload": {}},
        {"action": "setTier", "id": "a", "tier": "molten"},
        {"action": "update", "id": "missing", "statePayload": {"text": "x"}},
        {"action": "mystery", "id": "a"},
    ],
)
def test_an_action_that_makes_no_sense_changes_nothing(action):
    graph = graph_of(create("a"))
    assert apply_action(graph, action, NOON) == graph


def test_a_time_out_of_range_in_an_action_gives_way_to_that_of_its_event():
    graph = graph_of(create("a") | {"created": 10**30})
    assert graph.objects["a"].created_at == NOON


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        ("task", {"title": "Fix", "status": "todo"}, "Fix "),
        ("task", {"title": "Fix", "description": "it"}, "Fix it"),
        ("decision", {"summary": "Views", "rationale": "cheap"}, "Views cheap"),
        ("constraint", {"text": "No PII"}, "No PII"),
    ],
)
def test_the_words_an_object_is_found_by(kind, payload, text):
    assert text_of(graph_of(create("a", kind=kind, **payload)).objects["a"]) == text


def soft(*texts):
    return graph_of(*(create(f"n{place}", text, tier="soft") for place, text in enumerate(texts)))


def test_stop_words_bring_nothing_back():
    assert find_hydrated(soft("the cache is cold"), "what is the plan", RELEVANCE) == []


def test_a_word_that_all_objects_share_tells_little():
    graph = soft(*(f"k-v store {letter}" for letter in "abcdefgh"), "k-v k-q index")
    found = find_hydrated(graph, "k-q k-z", RELEVANCE)
    assert [each.text for each in found] == ["k-v k-q index"]


def test_at_most_five_come_back_the_last_updated_first():
    found = find_hydrated(soft(*(f"polars {place}" for place in range(8))), "polars", RELEVANCE)
    assert [each.id for each in found] == ["n7", "n6", "n5", "n4", "n3"]


def test_an_object_close_in_meaning_comes_back_where_there_is_an_embedder():
    vectors = {"S3 upload": [1.0, 0.0], "AWS bucket": [0.8, 0.6], "no PII in plots": [0.0, 1.0]}
    graph = soft("AWS bucket", "no PII in plots")

    def embed(texts):
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    assert find_hydrated(graph, "S3 upload", RELEVANCE) == []
    assert find_hydrated(graph, "S3 upload", RELEVANCE, embed=embed) == [Hydrated("n0", "AWS bucket", "semantic")]


def test_coming_back_touches():
    graph = idle(graph_of(create("a", "polars")), 25)
    back = hydrate(graph, find_hydrated(graph, "polars", RELEVANCE), NOON)
    assert (back.objects["a"].state_tier, back.objects["a"].touched_turn) == ("active", 25)


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=6))
def test_any_text_may_ask_and_be_asked_for(query, texts):
    found = find_hydrated(soft(*texts), query, RELEVANCE)
    assert len(found) <= RELEVANCE.hydrate_max


def event(number, payload, *, kind="context_action", turn=1):
    return SimpleNamespace(
        event_id=f"e{number}", kind=kind, payload=payload, turn=turn, occurred_at=NOON + timedelta(minutes=number)
    )


LOG = [
    event(0, create("a")),
    event(1, {"action": "setTier", "id": "a", "tier": "soft"}, turn=2),
    event(2, {"text": "hi"}, kind="user_message", turn=3),
    event(3, create("b", "later"), turn=3),
]


def snapshot_at(number, graph):
    return StateSnapshot(
        saved_at=NOON,
        last_event_id=f"e{number}",
        session_turn_count=graph.turn,
        state_graph_turn_count=graph.turn,
        objects=graph.snapshot(),
    )


def test_a_resumed_session_has_the_state_of_its_whole_log():
    whole = resume(None, LOG)
    half = resume(None, LOG[:2])
    assert resume(snapshot_at(1, half), LOG) == whole
    assert [(each.id, each.state_tier, each.touched_turn) for each in whole.snapshot()] == [
        ("a", "soft", 1),
        ("b", "active", 2),
    ]


def test_a_snapshot_of_another_log_is_no_loss():
    assert resume(snapshot_at(99, StateGraph()), LOG) == resume(None, LOG)


def test_a_reset_clears_the_state():
    reset = event(4, {"type": "state_reset", "cleared": "all"}, kind="system_note", turn=4)
    assert resume(None, [*LOG, reset]).objects == {}


def test_a_snapshot_survives_being_written_down():
    snapshot = snapshot_at(1, resume(None, LOG))
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"version": 2}', b"\xff\xfe", b'{"version": 1}'])
def test_a_damaged_snapshot_is_none(content):
    assert decode_snapshot(content) is None
