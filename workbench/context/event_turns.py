"""The exchanges of an event log: for a session whose ledger is missing or older than its log.

Source: PRAANA src/context-engine/turn-ledger.ts (migration from events); specification A, 15.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from workbench.context.recorder import Call, record_turn
from workbench.context.records import TurnRecord
from workbench.events import Event


class EventGroup(msgspec.Struct, frozen=True):
    """A prompt and the events up to the next."""

    prompt: Event
    events: tuple[Event, ...]


def group_events(events: Iterable[Event]) -> list[EventGroup]:
    """The events of each exchange; what comes before the first prompt belongs to none.

    Args:
        events: Of one session, in order.

    Source: PRAANA src/context-engine/turn-ledger.ts.
    """
    groups: list[tuple[Event, list[Event]]] = []
    for event in events:
        if event.kind == "user_message":
            groups.append((event, []))
        elif groups:
            groups[-1][1].append(event)
    return [EventGroup(prompt, tuple(rest)) for prompt, rest in groups]


def records_of_events(events: Iterable[Event], *, first_turn: int = 1) -> list[TurnRecord]:
    """The exchanges of an event log as the ledger keeps them.

    Args:
        events: Of one session, in order.
        first_turn: Number of the first exchange.
    """
    return [_record(turn, group) for turn, group in enumerate(group_events(events), first_turn)]


def _record(turn: int, group: EventGroup) -> TurnRecord:
    said = [_text(event) for event in group.events if event.kind == "agent_message"]
    return record_turn(
        turn,
        _text(group.prompt),
        _calls(group.events),
        "\n".join(text for text in said if text),
        occurred_at=group.prompt.occurred_at,
    )


def _text(event: Event) -> str:
    text = event.payload.get("text")
    return text if isinstance(text, str) else ""


def _calls(events: Sequence[Event]) -> list[Call]:
    """Calls with their results: by the call's id, or where there is none by the tool's name in order."""
    results: dict[str, deque[Event]] = {}
    for event in events:
        if event.kind == "tool_result":
            results.setdefault(_key(event.payload), deque()).append(event)
    made = []
    for event in events:
        if event.kind == "tool_call":
            waiting = results.get(_key(event.payload))
            made.append(_call(event.payload, waiting.popleft().payload if waiting else None))
    return made


def _key(payload: dict[str, Any]) -> str:
    return str(payload.get("tool_call_id") or payload.get("tool") or "")


def _call(call: dict[str, Any], result: dict[str, Any] | None) -> Call:
    args = call.get("args")
    back = (result or {}).get("result")
    return Call(
        tool=str(call.get("tool") or ""),
        args=args if isinstance(args, dict) else {},
        result=back,
        is_error=bool((result or {}).get("is_error")) or (isinstance(back, dict) and bool(back.get("error"))),
        call_id=call.get("tool_call_id"),
    )
