"""PRAANA's event log: `<log_dir>/<session>/events.jsonl`, formerly `events.log`, one event a line.

The events are of our own kinds, since ours are theirs and a few more. What differs: times are milliseconds since 1970,
results come without the id of their call, and nothing tells which calls one response made. The working directory
stands in `meta.json` beside the log, so that it is unknown here. Source: PRAANA specification, 1 and 2; no real log was
at hand.
"""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import PurePath
from typing import Any, Final

from workbench.events import ACTORS
from workbench.ingest import objects
from workbench.ingest.objects import Fields, ObjectLine, ObjectLines, UnknownTypes, first_objects
from workbench.ingest.record_ids import RecordIds
from workbench.ingest.records import Draft, ParsedSource, Record, own_path

NAME: Final = "praana"

parent_path: Final = own_path

_KINDS: Final = frozenset(
    (
        "user_message",
        "agent_message",
        "tool_call",
        "tool_result",
        "context_action",
        "system_note",
        "ui_transcript",
    )
)
_OURS: Final = ("seq", "occurred_at")
"""Fields that every event of our own log has, and none of PRAANA's."""

_OUR_MEANING: Final = ("images", "is_error", "message_id", "model", "request_id", "thinking")
"""Names in a message that mean something in our events and nothing in PRAANA's."""
_CALL_IDS: Final = ("tool_call_id", "toolCallId", "call_id", "callId")


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is PRAANA's log: the first of its lines that is an object is an event with a time in numbers."""
    if not name.endswith((".jsonl", ".log")):
        return False
    for found in first_objects(head):
        return (
            isinstance(found.get("event_id"), str)
            and isinstance(found.get("kind"), str)
            and isinstance(found.get("timestamp"), (int, float))
            and not any(field in found for field in _OURS)
        )
    return False


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole log; an event that names no session belongs to the one that its folder is named after."""
    reader = _Reader()
    lines = ObjectLines(data)
    for line in lines:
        reader.line(line)
    sessions = reader.sessions
    owner = max(sessions, key=sessions.__getitem__, default=None)
    if owner is None and reader.records:
        owner = PurePath(path).parent.name or None
    issues = sorted([*lines.issues, *reader.unknown.issues()], key=lambda issue: issue.line)
    return ParsedSource(owner, sorted(filter(None, {*sessions, owner})), "main", lines.lines, reader.records, issues)


class _Reader:
    """State of one pass over one log."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.sessions: dict[str, int] = {}
        self.unknown = UnknownTypes()
        self._ids = RecordIds()
        self._model: str | None = None
        self._response: str | None = None
        self._open: defaultdict[str, deque[str]] = defaultdict(deque)

    def line(self, line: ObjectLine) -> None:
        """Read one event."""
        event = line.fields
        plain_id = self._ids.of(line.raw)
        record_id = event.text("event_id") or plain_id
        session_id = event.text("session_id")
        if session_id is not None:
            self.sessions[session_id] = self.sessions.get(session_id, 0) + 1
        moment = event.epoch("timestamp")
        draft = self._draft(event, record_id, line.number)
        self.records.append(Record(record_id, session_id, moment.at, moment.source, line.number, None, [draft]))

    def _draft(self, event: Fields, record_id: str, number: int) -> Draft:
        kind, payload = event.text("kind"), event.inner("payload")
        told = event.text("actor")
        actor = told if told in ACTORS else "kernel"
        event_id = event.text("event_id")
        if kind not in _KINDS:
            self.unknown.add(str(kind), number)
            return Draft("unknown", actor, {"record": event.without("event_id", "session_id")}, event_id=event_id)
        if kind in ("agent_message", "tool_call"):
            self._response = self._response or record_id
            about = {"message_id": self._response, "model": payload.text("model") or self._model}
            body = self._call(payload, record_id) if kind == "tool_call" else _said(payload)
            return Draft(kind, actor, {**body, **about}, event_id=event_id)
        if kind in ("user_message", "tool_result"):
            self._response = None
        if kind == "user_message":
            self._open.clear()
            return Draft(kind, actor, _said(payload), event_id=event_id)
        if kind == "tool_result":
            return Draft(kind, actor, self._result(payload), event_id=event_id)
        if kind == "system_note":
            return self._note(payload, actor, event_id)
        return Draft(str(kind), actor, payload.value, event_id=event_id)

    def _call(self, payload: Fields, record_id: str) -> dict[str, Any]:
        """A call; where it has no id, it waits under its event's for the next result of its tool in this exchange."""
        tool, call_id = payload.text("tool") or "", _call_id(payload)
        if call_id is None:
            call_id = record_id
            self._open[tool].append(record_id)
        return {
            **payload.without(*_CALL_IDS),
            "tool": tool,
            "args": payload.arguments("args"),
            "tool_call_id": call_id,
        }

    def _result(self, payload: Fields) -> dict[str, Any]:
        tool, call_id = payload.text("tool") or "", _call_id(payload)
        if call_id is None and self._open[tool]:
            call_id = self._open[tool].popleft()
        result = _envelope(payload.value.get("result"))
        failed = payload.value.get("isError") or payload.value.get("is_error")
        failed = failed or (isinstance(result, dict) and (result.get("ok") is False or bool(result.get("error"))))
        return {
            **payload.without(*_CALL_IDS, "isError"),
            "tool_call_id": call_id,
            "result": result,
            "is_error": bool(failed),
        }

    def _note(self, payload: Fields, actor: str, event_id: str | None) -> Draft:
        kind = payload.text("type")
        if kind == "model_override":
            self._model = payload.text("model")
        if kind == "history_compacted":
            return Draft("compaction", actor, payload.value, event_id=event_id)
        return Draft("system_note", actor, payload.value, event_id=event_id)


def _said(payload: Fields) -> dict[str, Any]:
    return {**payload.without(*_OUR_MEANING), "text": payload.text("text") or ""}


def _call_id(payload: Fields) -> str | None:
    return next((found for name in _CALL_IDS if (found := payload.text(name)) is not None), None)


def _envelope(result: Any) -> Any:
    """A result as it is; of an envelope that was written as text, what it says."""
    if isinstance(result, str) and result.startswith("{") and '"ok"' in result:
        try:
            found = objects.decode(result.encode("utf-8", "replace"))
        except ValueError:
            return result
        if isinstance(found, dict) and isinstance(found.get("ok"), bool):
            return found
    return result
