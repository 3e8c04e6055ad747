"""From what a caller says of an event to the line that is written: checked, redacted, numbered, encoded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.errors import BadInputError
from workbench.events import ACTORS, KINDS, Event
from workbench.store.eventlog_lines import map_strings
from workbench.text.ids import new_ulid

if TYPE_CHECKING:
    from collections.abc import Callable

_ENCODER: Final = msgspec.json.Encoder()


class NewEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller knows of an event before the log numbers it; the fields are those of `Event`."""

    kind: str
    actor: str
    payload: dict[str, Any]
    turn: int
    occurred_at: datetime | None = None
    event_id: str | None = None
    parent_event_id: str | None = None
    agent_id: str | None = None
    is_sidechain: bool = False


def checked(new: NewEvent, now: Callable[[], datetime], clean: Callable[[str], str]) -> NewEvent:
    """The event with its payload made of plain JSON values, each string, key and id cleaned, and its time in UTC.

    Args:
        new: As the caller gave it; its own payload is not changed.
        now: The clock, asked where `occurred_at` is None.
        clean: Redaction, and what makes a text fit for UTF-8.

    Raises:
        BadInputError: Kind, actor, turn, payload or time are not what they should be.
    """
    if new.kind not in KINDS:
        raise BadInputError(f"no event kind {new.kind!r}; there are {', '.join(sorted(KINDS))}")
    if new.actor not in ACTORS:
        raise BadInputError(f"no actor {new.actor!r}; there are {', '.join(sorted(ACTORS))}")
    if type(new.turn) is not int or new.turn < 0:
        raise BadInputError(f"turn is {new.turn!r}; it counts from 1, and 0 is before the first prompt")
    at = now() if new.occurred_at is None else new.occurred_at
    if at.utcoffset() is None:
        raise BadInputError(f"occurred_at is {at}, without a zone; give a time in UTC")
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        raise BadInputError(f"occurred_at is {at}, which UTC cannot express") from None
    payload = map_strings(new.payload, clean)
    if not isinstance(payload, dict):
        raise BadInputError(f"a payload is a dict, not a {type(new.payload).__name__}")
    return msgspec.structs.replace(new, payload=payload, occurred_at=at, **_ids(new, clean))


def _ids(new: NewEvent, clean: Callable[[str], str]) -> dict[str, str]:
    """The ids that the caller gave, cleaned, by field."""
    given = {"event_id": new.event_id, "parent_event_id": new.parent_event_id, "agent_id": new.agent_id}
    ids = {name: each for name, each in given.items() if each is not None}
    for each in ids.values():
        if not isinstance(each, str):
            raise BadInputError(f"an id is a string, not {each!r}")
        try:
            each.encode()
        except UnicodeEncodeError as error:
            raise BadInputError(f"an id cannot be written as JSON: {error}") from None
    return {name: clean(each) for name, each in ids.items()}


def encoded(new: NewEvent, session_id: str, seq: int) -> tuple[Event, bytes]:
    """The line of a checked event, LF included, and the event that a reader will make of it.

    Raises:
        BadInputError: A field is not what it should be, or no text that UTF-8 can hold.
    """
    event = Event(
        event_id=new.event_id or new_ulid(),
        session_id=session_id,
        seq=seq,
        occurred_at=new.occurred_at,
        kind=new.kind,
        actor=new.actor,
        turn=new.turn,
        parent_event_id=new.parent_event_id,
        payload=new.payload,
        agent_id=new.agent_id,
        is_sidechain=bool(new.is_sidechain),
    )
    try:
        return event, _ENCODER.encode(event) + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInputError(f"an event cannot be written as JSON: {error}") from error
