"""The state graph written down after each turn, so that a session resumes without reading its whole log again.

A snapshot names the last event it has seen; on resume only later events are replayed. One that is missing, damaged or
of another log is no loss: the whole log is replayed.

Source: PRAANA src/state-graph-checkpoint.ts; specification A, 4 and D2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Protocol

import msgspec

from workbench.context.records import StateObject
from workbench.context.state import StateGraph, apply_action

VERSION: Final = 1


class Logged(Protocol):
    """What a replay needs of an event."""

    @property
    def event_id(self) -> str:
        """Its id."""

    @property
    def occurred_at(self) -> datetime | None:
        """When it happened."""

    @property
    def kind(self) -> str:
        """Its kind."""

    @property
    def turn(self) -> int:
        """The exchange it belongs to."""

    @property
    def payload(self) -> dict[str, Any]:
        """Its content."""


class StateSnapshot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A state graph and where in the log it stands."""

    version: int = VERSION
    saved_at: datetime
    last_event_id: str
    session_turn_count: int
    state_graph_turn_count: int
    objects: list[StateObject]


def encode_snapshot(snapshot: StateSnapshot) -> bytes:
    """The file's content."""
    return msgspec.json.encode(snapshot)


def decode_snapshot(content: bytes | None) -> StateSnapshot | None:
    """The snapshot of a file; None where there is none, or it cannot be one.

    Source: PRAANA src/state-graph-checkpoint.ts, `load` (any flaw makes the whole unusable).
    """
    if content is None:
        return None
    try:
        snapshot = msgspec.json.decode(content, type=StateSnapshot)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return snapshot if snapshot.version == VERSION else None


def resume(snapshot: StateSnapshot | None, events: Sequence[Logged]) -> StateGraph:
    """The state at the end of a log.

    Args:
        snapshot: Where to start; from nothing where it is None or its event is not in the log.
        events: The whole log, oldest first.

    Source: PRAANA, "Session Boundary Flow"; specification A, 4 and D2 (the original starts empty without a snapshot).
    """
    start = _after(snapshot, events)
    graph = StateGraph()
    if snapshot is not None and start > 0:
        graph = StateGraph({each.id: each for each in snapshot.objects}, snapshot.state_graph_turn_count)
    for event in events[start:]:
        graph = _seen(graph, event)
    return graph


def _after(snapshot: StateSnapshot | None, events: Sequence[Logged]) -> int:
    if snapshot is None:
        return 0
    newest_first = range(len(events) - 1, -1, -1)
    return next((place + 1 for place in newest_first if events[place].event_id == snapshot.last_event_id), 0)


def _seen(graph: StateGraph, event: Logged) -> StateGraph:
    if event.kind == "context_action":
        ended = max(0, event.turn - 1)
        graph = replace(graph, turn=max(graph.turn, ended))
        return apply_action(graph, event.payload, event.occurred_at)
    if event.kind == "system_note" and event.payload.get("type") == "state_reset":
        return StateGraph() if event.payload.get("cleared") == "all" else graph
    return graph
