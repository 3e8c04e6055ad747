"""Usage: tokens of each model call of a session, each call once (design, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from workbench.events import Event

MOST_TOKENS: Final = 2**48
"""More than any model call has; 32,000 of them still sum up below 2^63."""


class ModelCall(NamedTuple):
    """A row of `usage`, in the order of its columns."""

    session_id: str
    call_id: str
    turn: int
    event_id: str
    occurred_at: datetime | None
    message_id: str | None
    request_id: str | None
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cache_write_1h_tokens: int | None
    reasoning_tokens: int | None
    source_id: str
    agent_id: str | None
    is_sidechain: bool


def model_calls(events: Sequence[Event]) -> list[ModelCall]:
    """One row a model call.

    An agent writes one call on several lines whose figures grow; the line with the most output tokens tells the whole.
    Message id and request id name a call; a line without a request id belongs to the call of its message id.

    Args:
        events: The session's events of kind usage, in order.

    Returns:
        The calls by first telling.
    """
    requests: dict[str, list[str]] = {}
    for event in events:
        message_id, request_id = event.payload.get("message_id"), event.payload.get("request_id")
        if message_id and request_id:
            known = requests.setdefault(message_id, [])
            if request_id not in known:
                known.append(request_id)
    best: dict[tuple[str, str | None], Event] = {}
    for event in events:
        message_id = event.payload.get("message_id") or event.event_id
        request_id = event.payload.get("request_id") or next(iter(requests.get(message_id, ())), None)
        told = best.setdefault((message_id, request_id), event)
        if told is not event and _output(event) > _output(told):
            best[message_id, request_id] = event
    return [_row(key, event, shared=len(requests.get(key[0], ())) > 1) for key, event in best.items()]


def _output(event: Event) -> int:
    return _figure(event.payload.get("output_tokens")) or 0


def _figure(value: object) -> int | None:
    """A count of tokens; what cannot be one is unknown, and sums of those that can do not overflow."""
    return value if isinstance(value, int) and 0 <= value < MOST_TOKENS else None


def _row(key: tuple[str, str | None], event: Event, *, shared: bool) -> ModelCall:
    payload, (message_id, request_id) = event.payload, key
    return ModelCall(
        event.session_id,
        f"{message_id}/{request_id}" if shared else message_id,
        event.turn,
        event.event_id,
        event.occurred_at,
        payload.get("message_id"),
        request_id,
        payload.get("model"),
        _figure(payload.get("input_tokens")),
        _figure(payload.get("output_tokens")),
        _figure(payload.get("cache_read_tokens")),
        _figure(payload.get("cache_write_tokens")),
        _figure(payload.get("cache_write_1h_tokens")),
        _figure(payload.get("reasoning_tokens")),
        event.source_id or "",
        event.agent_id,
        event.is_sidechain,
    )


_FIRST_TOTAL: Final = ModelCall._fields.index("input_tokens")
TOTALS: Final = slice(_FIRST_TOTAL, _FIRST_TOTAL + 4)
"""The four counters of a row that do not overlap: input, output, cache read, cache write."""


def total_tokens(calls: Sequence[ModelCall]) -> tuple[int | None, ...]:
    """Sums of the four counters; one that no call tells is unknown, not 0."""
    if not calls:
        return (None, None, None, None)
    columns = zip(*[call[TOTALS] for call in calls], strict=True)
    return tuple(None if set(column) == {None} else sum(filter(None, column)) for column in columns)
