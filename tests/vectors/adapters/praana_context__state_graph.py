"""The state graph: tiers, rendering, replay, and the file that a session resumes from."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace

from workbench.config.context import Tiers
from workbench.context.records import StateObject
from workbench.context.state import EPOCH, StateGraph, apply_action, demote, next_turn
from workbench.context.state_snapshot import StateSnapshot, decode_snapshot, resume
from workbench.context.state_text import render_active, render_peripheral, status_line, summary_of

FIRST = 1000
"""Milliseconds of the first object without a time; those of the next follow."""


def time_of(milliseconds):
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


def milliseconds(moment):
    return round(moment.timestamp() * 1000)


def graph_of(objects):
    made = [object_of(given, FIRST + place) for place, given in enumerate(objects)]
    return StateGraph({each.id: each for each in made})


def object_of(given, moment):
    return StateObject(
        id=given["id"],
        kind=given["kind"],
        state_tier=given["tier"],
        payload=given["payload"],
        created_at=time_of(given.get("created", moment)),
        updated_at=time_of(given.get("updated", moment)),
        touched_at=time_of(given.get("lastTouched", moment)),
        retracted=given.get("retracted", False),
    )


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


def tiers(case_input):
    settings = Tiers(
        idle_soft_after_turns=case_input["idle_soft_after_turns"],
        idle_hard_after_turns=case_input["idle_hard_after_turns"],
    )
    graph = StateGraph()
    for key in case_input["createAtTurn0"]:
        graph = apply_action(graph, {"action": "create", "id": key, "kind": "note", "statePayload": {"text": key}})
    rows = []
    for turn in range(case_input["turns"]):
        for name, key in case_input["actions"].get(str(turn), ()):
            graph = apply_action(graph, ACTIONS[name] | {"id": key})
        graph = demote(next_turn(graph), settings)
        rows.append(row_of(graph))
    return rows


ACTIONS = {
    "soft": {"action": "setTier", "tier": "soft"},
    "hard": {"action": "setTier", "tier": "hard"},
    "active": {"action": "setTier", "tier": "active"},
    "hydrate": {"action": "setTier", "tier": "active"},
    "focus": {"action": "setFocus"},
    "retract": {"action": "retract"},
    "update": {"action": "update", "statePayload": {}},
    "touch": {"action": "update", "statePayload": {}},
}


def row_of(graph):
    row = {"afterTurn": graph.turn}
    row |= {key: each.state_tier for key, each in graph.objects.items()}
    return row | {f"touched{key.upper()}": each.touched_turn for key, each in graph.objects.items()}


def render(case_input):
    graph = graph_of(case_input["objects"])
    if case_input["focus"]:
        graph = apply_action(graph, {"action": "setFocus", "id": case_input["focus"]})
    return {
        "active": render_active(graph),
        "peripheral": render_peripheral(graph) or None,
        "summary": status_line(graph),
        "list": [
            {"id": each.id, "kind": each.kind, "tier": each.state_tier, "summary": summary_of(each)}
            for each in graph.listed()
        ],
    }


def replay(case_input):
    events, last = [told(event) for event in case_input["events"]], case_input["lastEventId"]
    start = 0 if last is None else next((i + 1 for i, e in enumerate(events) if e.event_id == last), 0)
    snapshot = StateSnapshot(
        saved_at=EPOCH, last_event_id=last or "", session_turn_count=0, state_graph_turn_count=0, objects=[]
    )
    return {
        "startIndex": start,
        "replayed": sum(event.kind == "context_action" for event in events[start:]),
        "objects": [replayed_object(each) for each in resume(snapshot, events).snapshot()],
    }


def told(event):
    return SimpleNamespace(
        event_id=event["event_id"], kind=event["kind"], payload=event["payload"], turn=1, occurred_at=None
    )


def replayed_object(each):
    shown = {
        "id": each.id,
        "kind": each.kind,
        "tier": each.state_tier,
        "payload": each.payload,
        "created": milliseconds(each.created_at),
        "updated": milliseconds(each.updated_at),
        "lastTouched": milliseconds(each.touched_at),
        "focused": each.focused,
        "retracted": each.retracted,
    }
    return {name: value for name, value in shown.items() if name != "updated" or each.updated_at != EPOCH}


def load_checkpoint(case_input):
    text = case_input["fileText"]
    if text is None:
        return loaded(None)
    try:
        given = json.loads(text)
    except ValueError:
        return loaded(text.encode())
    if isinstance(given.get("touched_turn"), dict):  # ours keeps the turn with the object
        del given["touched_turn"]
    if isinstance(given.get("saved_at"), int):
        given["saved_at"] = time_of(given["saved_at"]).isoformat()
    return loaded(json.dumps(given).encode())


def loaded(content):
    snapshot = decode_snapshot(content)
    if snapshot is None:
        return None
    return {
        "version": snapshot.version,
        "saved_at": milliseconds(snapshot.saved_at),
        "last_event_id": snapshot.last_event_id,
        "session_turn_count": snapshot.session_turn_count,
        "state_graph_turn_count": snapshot.state_graph_turn_count,
        "objects": snapshot.objects,
        "touched_turn": {each.id: each.touched_turn for each in snapshot.objects},
    }


OPERATIONS = {"tiers": tiers, "render": render, "replay": replay, "loadCheckpoint": load_checkpoint}


def compare(actual, expected):
    """What the original counts as savings is not part of the specification; absent marks are false."""
    if isinstance(expected, dict) and "savings" in expected:
        expected = {name: value for name, value in expected.items() if name != "savings"}
    if isinstance(expected, dict) and "objects" in expected and isinstance(actual, dict):
        assert [marked(each) for each in actual["objects"]] == [marked(each) for each in expected["objects"]]
        actual, expected = ({k: v for k, v in side.items() if k != "objects"} for side in (actual, expected))
    assert actual == expected


def marked(each):
    marks = {"focused": False, "retracted": False, **each}
    return {name: value for name, value in marks.items() if not (name == "updated" and marks["retracted"])}


# -- where the right answer differs ------------------------------------------------------------------------------------


def demotes(case_input):
    return case_input["op"] == "tiers"


def touched_by_people_only(case_input):
    """Idle turns counted from the last touch by hand: plain Python over the same input."""
    soft, hard = case_input["idle_soft_after_turns"], case_input["idle_hard_after_turns"]
    state = {key: ["active", 0] for key in case_input["createAtTurn0"]}
    rows = []
    for turn in range(case_input["turns"]):
        for name, key in case_input["actions"].get(str(turn), ()):
            state[key] = [ACTIONS[name].get("tier", state[key][0]), turn]
        for each in state.values():
            idle = turn + 1 - each[1]
            if idle >= hard:
                each[0] = "hard"
            elif idle >= soft and each[0] == "active":
                each[0] = "soft"
        rows.append(
            {"afterTurn": turn + 1}
            | {key: each[0] for key, each in state.items()}
            | {f"touched{key.upper()}": each[1] for key, each in state.items()}
        )
    return rows


def has_lost_its_anchor(case_input):
    known = {event["event_id"] for event in case_input.get("events", ())}
    return case_input["op"] == "replay" and case_input["lastEventId"] not in {None, *known}


def replayed_whole(case_input):
    return replay(replace_anchor(case_input))


def replace_anchor(case_input):
    return {**case_input, "lastEventId": None}
