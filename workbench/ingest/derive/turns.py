"""Turns: one message of one role, a response put together from all the lines it was written on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from workbench.events import Event
from workbench.text.tokens import estimate_tokens

Row = tuple[Any, ...]


class Turn(msgspec.Struct, gc=False):
    """A turn while it is put together."""

    first: Event
    role: str
    texts: list[str]
    thinking: list[str]
    ended_at: datetime | None
    images: int = 0
    tool_calls: int = 0

    @property
    def text(self) -> str:
        """All that was said, in order."""
        return "\n\n".join(self.texts)


def turns(events: Sequence[Event]) -> list[Turn]:
    """Put turns together: each prompt is one, and all events of one message id are one.

    A response may stand on several lines with results of its own calls between them, so the message id decides and not
    the neighbourhood; an event without one stands for itself.

    Args:
        events: The session's events of the kinds user_message, agent_message and tool_call, in order.

    Returns:
        The turns by first event.
    """
    found: list[Turn] = []
    responses: dict[str, Turn] = {}
    calls: set[Any] = set()
    for event in events:
        payload = event.payload
        if event.kind == "user_message":
            text = payload.get("text") or ""
            found.append(Turn(event, "user", [text], [], event.occurred_at, images=payload.get("images") or 0))
            continue
        message_id = payload.get("message_id") or event.event_id
        turn = responses.get(message_id)
        if turn is None:
            turn = responses[message_id] = Turn(event, "assistant", [], [], event.occurred_at)
            found.append(turn)
        _add(turn, event, calls)
    return found


def _add(turn: Turn, event: Event, calls: set[Any]) -> None:
    payload = event.payload
    if event.kind == "tool_call":
        key = payload.get("tool_call_id") or event.event_id
        turn.tool_calls += key not in calls
        calls.add(key)
    elif payload.get("text"):
        turn.texts.append(payload["text"])
    elif payload.get("thinking"):
        turn.thinking.append(payload["thinking"])
    if event.occurred_at is not None and (turn.ended_at is None or event.occurred_at > turn.ended_at):
        turn.ended_at = event.occurred_at


def turn_rows(found: Sequence[Turn]) -> list[Row]:
    """Rows of `turns`, in the order of its columns."""
    return [_row(number, turn, turn.first) for number, turn in enumerate(found)]


def _row(number: int, turn: Turn, first: Event) -> Row:
    payload, text = first.payload, turn.text
    return (
        first.session_id,
        number,
        first.turn,
        turn.role,
        first.event_id,
        first.seq,
        first.occurred_at,
        turn.ended_at,
        text,
        "\n\n".join(turn.thinking) or None,
        turn.images,
        estimate_tokens(text),
        turn.tool_calls,
        payload.get("model"),
        payload.get("message_id"),
        payload.get("request_id"),
        bool(payload.get("is_error")),
        first.source_id or "",
        first.agent_id,
        first.is_sidechain,
    )
