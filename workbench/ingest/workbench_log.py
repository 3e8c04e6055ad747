"""Our own event log as a source: sessions run here, and logs brought from elsewhere."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from workbench.events import ACTORS, KINDS
from workbench.ingest import jsonlines
from workbench.ingest.records import Draft, Issue, ParsedSource, Record, own_path
from workbench.ingest.times import from_iso

NAME: Final = "workbench"

parent_path: Final = own_path


MOST_TURNS: Final = 2**31
"""A larger number is damage."""

TEXTS: Final = ("text", "thinking", "tool", "tool_call_id", "message_id", "request_id", "model", "type")
"""Fields of a payload that tables hold as text."""


class LoggedEvent(msgspec.Struct, gc=False):
    """An event as a log has it; everything but kind and payload may be missing in a damaged one."""

    event_id: str
    session_id: str
    kind: str
    payload: dict[str, Any]
    seq: int | None = None
    occurred_at: str | None = None
    actor: str = "kernel"
    turn: int | None = None
    parent_event_id: str | None = None
    agent_id: str | None = None
    is_sidechain: bool = False


_decode = msgspec.json.Decoder(LoggedEvent).decode


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is one of our logs: the first of its lines that can be read is an event with a `seq`."""
    if not name.endswith(".jsonl"):
        return False
    for _, line, _ in jsonlines.lines(head):
        if jsonlines.is_blank(line):
            continue
        try:
            event = _logged(line)
        except (ValueError, msgspec.ValidationError):
            continue
        return event.kind in KINDS and event.seq is not None
    return False


def _logged(line: bytes) -> LoggedEvent:
    try:
        return _decode(line)
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        RecursionError,
    ):  # among them numbers that a strict decoder refuses
        return msgspec.convert(jsonlines.decode_tolerant(line), LoggedEvent)


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole log; the order of its lines is the order of the session, whatever the clocks said."""
    del path
    records: list[Record] = []
    issues: list[Issue] = []
    sessions: dict[str, int] = {}
    number = 0
    for number, line, ended in jsonlines.lines(data):
        if jsonlines.is_blank(line):
            continue
        try:
            event = _logged(line)
        except (ValueError, msgspec.ValidationError) as error:
            if ended:
                issues.append(Issue(number, "bad_json", f"not an event and left out: {error}"))
            else:
                issues.append(
                    Issue(
                        number, "unfinished_line", f"{len(line):,} bytes after the last line end are not an event yet"
                    )
                )
            continue
        if event.kind not in KINDS:
            issues.append(Issue(number, "unknown_record", f"kind {event.kind!r} is kept as unknown"))
        sessions[event.session_id] = sessions.get(event.session_id, 0) + 1
        records.append(_record(event, number))
    owner = max(sessions, key=sessions.__getitem__, default=None)
    return ParsedSource(owner, sorted(sessions), "log", number, records, issues)


def _plain(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload with text where text belongs; anything else there is written as JSON."""
    odd = {name: payload[name] for name in TEXTS if not isinstance(payload.get(name), str | None)}
    return payload | {name: msgspec.json.encode(value).decode() for name, value in odd.items()} if odd else payload


def _record(event: LoggedEvent, line: int) -> Record:
    moment = from_iso(event.occurred_at)
    known = event.kind in KINDS
    draft = Draft(
        event.kind if known else "unknown",
        event.actor if event.actor in ACTORS else "kernel",
        _plain(event.payload) if known else {"record": {"kind": event.kind, **event.payload}},
        event.agent_id,
        event.is_sidechain,
        event_id=event.event_id,
        turn=event.turn if event.turn is not None and 0 <= event.turn < MOST_TURNS else None,
        parent_event_id=event.parent_event_id,
    )
    return Record(event.event_id, event.session_id, moment.at, moment.source, line, None, [draft])
