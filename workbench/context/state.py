"""What the agent keeps in mind: tasks, decisions, constraints and notes in tiers. State is a fold of actions.

A graph never changes; every function gives a new one. An action names the turn it belongs to, so that a replay knows
how long a thing has been idle; demotions are actions too, and do not touch what they demote.

Source: PRAANA, "Adaptive Context"; PRAANA src/state-graph.ts; specification A, 3, W2, W4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.context.records import STATE_KINDS, StateObject

if TYPE_CHECKING:
    from workbench.config.context import Tiers
    from workbench.context.records import StateTier

EPOCH: Final = datetime.fromtimestamp(0, tz=UTC)
TIERS: Final = ("active", "soft", "hard")
RESET: Final = "reset"
"""The action that empties the graph; in a log it is a note of the type `state_reset`."""
BY_AGE: Final = attrgetter("created_at", "id")


@dataclass(frozen=True, slots=True)
class StateGraph:
    """Everything kept in mind at one moment.

    Attributes:
        objects: By id, in the order of creation; tombstones included.
        turn: How many turns have ended.
    """

    objects: Mapping[str, StateObject] = field(default_factory=dict)
    turn: int = 0

    def active(self) -> list[StateObject]:
        """What is in the prompt: the focused one first, then by age, then by id."""
        active = [each for each in self.objects.values() if each.state_tier == "active" and not each.retracted]
        found = sorted(active, key=BY_AGE)
        return [each for each in found if each.focused] + [each for each in found if not each.focused]

    def peripheral(self) -> list[StateObject]:
        """Soft and hard objects, the last updated first."""
        found = [each for each in self.objects.values() if each.state_tier != "active" and not each.retracted]
        found.sort(key=attrgetter("updated_at"), reverse=True)
        return found

    def listed(self) -> list[StateObject]:
        """All that were not taken back, by age, then by id."""
        return sorted((each for each in self.objects.values() if not each.retracted), key=BY_AGE)

    def snapshot(self) -> list[StateObject]:
        """All objects, tombstones included, by age, then by id."""
        return sorted(self.objects.values(), key=BY_AGE)


def next_turn(graph: StateGraph) -> StateGraph:
    """The graph after one more turn."""
    return replace(graph, turn=graph.turn + 1)


def apply_action(graph: StateGraph, action: Mapping[str, Any], occurred_at: datetime | None = None) -> StateGraph:
    """The graph after one action; what makes no sense (an unknown action, id or tier) changes nothing.

    Args:
        graph: Before it.
        action: `{action, id, ...}` as the event log keeps it: `create` with `kind` and `statePayload`, `update` with
            `statePayload`, `setTier` with `tier`, `setFocus`, `retract`; `reset`, without an id, takes everything away.
            Milliseconds `created`, `updated` and `lastTouched`, and the `turn` it belongs to, where they are there;
            the graph's turn unless given.
        occurred_at: When it happened, where the action does not say.

    Source: PRAANA src/state-graph.ts, `replay`.
    """
    name, key = action.get("action"), action.get("id")
    if name == RESET:
        return replace(graph, objects={})
    if not isinstance(key, str) or not key:
        return graph
    moment = occurred_at or EPOCH
    if name == "create":
        return _created(graph, key, action, moment)
    known = graph.objects.get(key)
    if known is None:
        return graph
    changed = _changed(known, action, graph.turn, moment)
    if changed is None:
        return graph
    objects = {**graph.objects, key: changed}
    if name == "setFocus":
        objects = {one: msgspec.structs.replace(each, focused=one == key) for one, each in objects.items()}
    return replace(graph, objects=objects)


def apply_actions(graph: StateGraph, actions: Iterable[tuple[Mapping[str, Any], datetime | None]]) -> StateGraph:
    """The graph after many actions with their times."""
    for action, moment in actions:
        graph = apply_action(graph, action, moment)
    return graph


def demotions(graph: StateGraph, tiers: Tiers) -> list[dict[str, Any]]:
    """The actions that let idle objects sink at the end of a turn. Nothing rises by itself.

    idle = turns since somebody touched it; active becomes hard from `idle_hard_after_turns` on, else soft from
    `idle_soft_after_turns` on; soft becomes hard from `idle_hard_after_turns` on.

    Args:
        graph: After the turn was counted.
        tiers: The thresholds.

    Source: PRAANA src/turn.ts, `applyTierManagement`; specification A, W2 (the original's demotion counts as a touch,
    so that a soft object needs as many turns again).
    """
    found = []
    for each in graph.snapshot():
        if each.retracted or each.state_tier == "hard":
            continue
        tier = _tier_when_idle(graph.turn - each.touched_turn, each.state_tier, tiers)
        if tier != each.state_tier:
            found.append({"action": "setTier", "id": each.id, "tier": tier, "reason": "idle"})
    return found


def demote(graph: StateGraph, tiers: Tiers) -> StateGraph:
    """The graph after its demotions."""
    return apply_actions(graph, ((action, None) for action in demotions(graph, tiers)))


def text_of(each: StateObject) -> str:
    """The words by which an object is found: of a task title and description, of a decision summary and reason.

    Source: PRAANA src/state-graph.ts (a missing description leaves its space).
    """
    payload = each.payload
    if each.kind == "task":
        return f"{payload.get('title', '')} {payload.get('description') or ''}"
    if each.kind == "decision":
        return f"{payload.get('summary', '')} {payload.get('rationale') or ''}"
    return str(payload.get("text", ""))


def _tier_when_idle(idle: int, tier: StateTier, tiers: Tiers) -> StateTier:
    if idle >= tiers.idle_hard_after_turns:
        return "hard"
    return "soft" if idle >= tiers.idle_soft_after_turns else tier


def _created(graph: StateGraph, key: str, action: Mapping[str, Any], moment: datetime) -> StateGraph:
    kind, tier = action.get("kind"), action.get("tier", "active")
    payload = action.get("statePayload")
    if kind not in STATE_KINDS or tier not in TIERS or not isinstance(payload, Mapping):
        return graph
    made = StateObject(
        id=key,
        kind=kind,
        payload=dict(payload),
        created_at=_time(action, "created", moment),
        updated_at=_time(action, "updated", moment),
        touched_at=_time(action, "lastTouched", moment),
        touched_turn=_turn(action, graph.turn),
        state_tier=tier,
        pinned=bool(action.get("pinned", False)),
    )
    return replace(graph, objects={**graph.objects, key: made})


def _changed(known: StateObject, action: Mapping[str, Any], turn: int, moment: datetime) -> StateObject | None:
    touched = _time(action, "lastTouched", moment if moment != EPOCH else known.touched_at)
    touch = {"touched_at": touched, "touched_turn": _turn(action, turn)}
    match action.get("action"):
        case "update":
            payload = action.get("statePayload")
            merged = {**known.payload, **payload} if isinstance(payload, Mapping) else known.payload
            updated = _time(action, "updated", moment if moment != EPOCH else known.updated_at)
            return msgspec.structs.replace(known, payload=merged, updated_at=updated, **touch)
        case "setTier" if action.get("reason") == "idle":
            return msgspec.structs.replace(known, state_tier=action["tier"])
        case "setTier" if action.get("tier") in TIERS:
            return msgspec.structs.replace(known, state_tier=action["tier"], **touch)
        case "setFocus":
            return msgspec.structs.replace(known, focused=True, **touch)
        case "retract":
            updated = _time(action, "updated", moment if moment != EPOCH else known.updated_at)
            return msgspec.structs.replace(known, retracted=True, updated_at=updated)
        case _:
            return None


def _time(action: Mapping[str, Any], name: str, default: datetime) -> datetime:
    value = action.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return default
    try:
        return datetime.fromtimestamp(value / 1000, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return default


def _turn(action: Mapping[str, Any], default: int) -> int:
    turn = action.get("turn")
    return turn if isinstance(turn, int) and not isinstance(turn, bool) else default
