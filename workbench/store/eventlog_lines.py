"""Lines of an event log: bytes to events, and a payload to what may be written.

A log is read line by line. A fast strict parser sees each line first; a tolerant one sees what it refuses (byte order
mark, zero bytes left by a power loss, half surrogates, `NaN`, `1e400`), so no record is lost to a strict parser. What
is no event of the session is reported as a `LogIssue` and hides nothing else. Only LF ends a record. Design, section 5.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.errors import BadInputError
from workbench.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

EXCERPT_CHARS = 120
"""How much of a line an issue shows."""

_BOM = b"\xef\xbb\xbf"
_STRICT = msgspec.json.Decoder(Event)
_PLAIN_TYPES: Final[tuple[type[Any], ...]] = (str, int, float, dict, list, tuple)


class LogIssue(msgspec.Struct, frozen=True):
    """Something in a log that a reader should know about.

    Attributes:
        line: Line in the file, from 1; 0 where the whole file is meant.
        reason: What is wrong with it.
        excerpt: The beginning of the line.
        file: Which file of the session's folder.
        kept: Whether the line still gave an event.
    """

    line: int
    reason: str
    excerpt: str
    file: str = "events.jsonl"
    kept: bool = False


class Quarantined(msgspec.Struct, frozen=True, omit_defaults=True):
    """The end of a log that was set aside: as `text` where it is UTF-8, else as `base64`."""

    line: int
    reason: str
    recorded_at: datetime
    text: str | None = None
    base64: str | None = None


class ParsedLog:
    """The events of the whole lines seen so far, and where the next chunk goes on.

    Attributes:
        events: In line order.
        issues: In line order.
        lines: Lines seen.
        size: Bytes seen.
        last_bytes: The end of what was seen, by which a grown file is told from another one.
        top_seq: The highest `seq` seen.
        other_session: A session that a refused line named instead of ours.
    """

    def __init__(self, session_id: str, show: Callable[[str], str] = str) -> None:
        """Begin at the first byte; `show` makes a line fit to be shown in an issue."""
        self.session_id = session_id
        self.events: list[Event] = []
        self.issues: list[LogIssue] = []
        self.lines = 0
        self.size = 0
        self.last_bytes = b""
        self.top_seq = 0
        self.other_session: str | None = None
        self._last_seq = 0
        self._show = show

    def feed(self, chunk: bytes) -> None:
        """Parse whole lines, the last LF included."""
        lines = chunk.split(b"\n")
        lines.pop()
        for line in lines:
            self.lines += 1
            event, issues = self.read(line, self.lines)
            self.issues += issues
            if event is not None:
                self._keep(event)
        self._advance(chunk)

    def accept(self, events: list[Event], chunk: bytes) -> None:
        """Take over events whose lines, `chunk`, were just written."""
        self.lines += len(events)
        for event in events:
            self._keep(event)
        self._advance(chunk)

    def read(self, line: bytes, number: int) -> tuple[Event | None, list[LogIssue]]:
        """Parse one line without taking it in."""
        event, reason = parse_line(line)
        if event is not None and event.session_id != self.session_id:
            self.other_session = event.session_id
            reason, event = f"an event of session {event.session_id!r}", None
        elif event is not None:
            event, reason = _with_utc_time(event, reason)
        reasons = [reason] if reason else []
        if event is not None and event.seq != self._last_seq + 1:
            reasons.append(f"seq {event.seq} follows seq {self._last_seq}")
        return event, [LogIssue(number, why, self._excerpt(line), kept=event is not None) for why in reasons]

    def _keep(self, event: Event) -> None:
        self.events.append(event)
        self._last_seq = event.seq
        self.top_seq = max(self.top_seq, event.seq)

    def _advance(self, chunk: bytes) -> None:
        self.size += len(chunk)
        self.last_bytes = (self.last_bytes + chunk[-64:])[-64:]

    def _excerpt(self, line: bytes) -> str:
        try:
            return self._show(line.decode("utf-8", "replace"))[:EXCERPT_CHARS]
        except Exception:  # noqa: BLE001  a redactor that fails must not show what it could not check
            return "(not shown: the redactor failed)"


def parse_line(line: bytes) -> tuple[Event | None, str]:
    """Parse one line, of whatever session.

    Returns:
        The event, if the line holds one, and what is wrong with the line, if anything. Neither for a blank line.
    """
    try:
        return _STRICT.decode(line), ""
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return _parse_tolerantly(line)


def _parse_tolerantly(line: bytes) -> tuple[Event | None, str]:
    text = line.strip(b" \t\r\0").removeprefix(_BOM).strip(b" \t\r\0")
    if not text:
        return None, "zero bytes" if b"\0" in line else ""
    try:
        record = json.loads(
            _decode(text), strict=False, parse_int=_parse_int, parse_float=_parse_float, parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        return None, f"not JSON: {error}"
    try:
        record = map_strings(record, replace_half_surrogates)
        time_issue = _drop_unreadable_time(record)
        return msgspec.convert(record, Event), time_issue
    except (msgspec.ValidationError, BadInputError, RecursionError) as error:
        return None, f"not an event: {error}"


def map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a value as plain JSON, every string and every key changed, however deep.

    Raises:
        BadInputError: The value holds something that is no JSON value, or is nested too deeply.
    """
    try:
        return _map_strings(value, change)
    except RecursionError:
        raise BadInputError("a payload is nested too deeply for JSON; flatten it") from None


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Dispatch on the exact type first: this runs for every value of every event."""
    kind = type(value)
    if kind is str:
        return change(value)
    if kind is dict:
        changed: dict[str, Any] = {}
        for old, item in value.items():
            key = change(old if type(old) is str else _key(old))
            if key in changed:
                key = _free_key(changed, key)
            changed[key] = _map_strings(item, change)
        return changed
    if kind is list or kind is tuple:
        return [_map_strings(item, change) for item in value]
    if value is None or kind is int or kind is bool:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    return _map_strings(_plain(value), change)


def _plain(value: object) -> Any:
    """Enumerations, subclasses of plain types, times, dataclasses in plain form, so that no string passes unseen."""
    if isinstance(value, Enum):
        return value.value
    for plain in _PLAIN_TYPES:
        if isinstance(value, plain):
            return plain(value)
    try:
        return msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, ValueError) as error:
        raise BadInputError(f"a payload holds a {type(value).__name__}, which is no JSON value") from error


def _key(key: object) -> str:
    if isinstance(key, str):
        return str(_plain(key))
    if isinstance(key, int | float):
        return json.dumps(key)
    raise BadInputError(f"a payload has a key of type {type(key).__name__}; JSON keys are strings")


def _free_key(taken: dict[str, Any], key: str) -> str:
    """`key#2` and so on where changing keys has made two alike: no value is dropped."""
    number = 2
    while f"{key}#{number}" in taken:
        number += 1
    return f"{key}#{number}"


def replace_half_surrogates(text: str) -> str:
    """Text that UTF-8 can hold: pairs of surrogates joined, half ones replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


def _parse_int(digits: str) -> int | None:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts
        return None


def _parse_float(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _no_number(_: str) -> None:
    """`NaN` and the infinities are no JSON; they become null, as they do when an event is written."""


def _drop_unreadable_time(record: Any) -> str:
    """Null a time that is none, say so in `time_source`, and return the issue."""
    if not isinstance(record, dict) or record.get("occurred_at") is None:
        return ""
    try:
        msgspec.convert(record["occurred_at"], datetime)
    except msgspec.ValidationError:
        record.update(occurred_at=None, time_source="unreadable")
        return "unreadable time"
    return ""


def _with_utc_time(event: Event, reason: str) -> tuple[Event, str]:
    """The event in UTC; a time without zone says nothing and is dropped, with the reason."""
    at = event.occurred_at
    if at is None or at.tzinfo is UTC:
        return event, reason
    try:
        if at.tzinfo is not None:
            return msgspec.structs.replace(event, occurred_at=at.astimezone(UTC)), reason
    except OverflowError:
        pass
    return msgspec.structs.replace(event, occurred_at=None, time_source="unreadable"), "time without usable zone"
