"""Reads one file of Gemini CLI, of either layout: messages to records."""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from workbench.ingest import jsonlines
from workbench.ingest.gemini_cli.drafts import noted, response, result, said
from workbench.ingest.objects import (
    Fields,
    ObjectLine,
    ObjectLines,
    UnknownTypes,
    bad_json,
    decode,
    first_objects,
    odd_fields,
)
from workbench.ingest.record_ids import RecordIds
from workbench.ingest.records import Draft, Environment, Issue, ParsedSource, Record

NAME: Final = "gemini-cli"

_HEADER: Final = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"sessionId"\s*:\s*"[^"]*"\s*,\s*"projectHash"\s*:')
_NOTES: Final = frozenset(("info", "warning", "error"))


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is Gemini CLI's: it begins with a session id and a project hash."""
    if not name.endswith((".json", ".jsonl")):
        return False
    return _HEADER.match(head) is not None or any(map(_is_header, first_objects(head)))


def _is_header(found: dict[str, Any]) -> bool:
    return isinstance(found.get("sessionId"), str) and isinstance(found.get("projectHash"), str)


def parent_path(path: str, session_id: str) -> str:
    """Where the session lies whose sub-agent's file this is, but for the time in its name, which nothing tells."""
    return str(PurePath(path).parent.parent / f"session-{session_id[:8]}.jsonl")


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole file of either layout; a part of the older one is nothing, since it is one object."""
    reader = _Reader()
    whole = _whole(data)
    if isinstance(whole, Issue):
        return ParsedSource(None, [], "main", _count_lines(data), [], [whole])
    if whole is not None:
        reader.conversation(whole, data)
        return reader.finish(path, _count_lines(data), [])
    lines = ObjectLines(data)
    for line in lines:
        reader.line(line)
    return reader.finish(path, lines.lines, lines.issues)


def _whole(data: bytes) -> dict[str, Any] | Issue | None:
    """The one object of the older layout, why it cannot be read, or None for the newer layout."""
    for _, line, _ in jsonlines.lines(data):
        if jsonlines.is_blank(line):
            continue
        try:
            first = decode(line)
        except ValueError:
            break
        return first if isinstance(first, dict) and "messages" in first else None
    text = data.removeprefix(jsonlines.BOM).strip(b"\x00")
    try:
        found = decode(text)
    except ValueError as error:
        return None if jsonlines.is_blank(text) or _has_lines(data) else bad_json(0, text, error)
    return found if isinstance(found, dict) else None


def _has_lines(data: bytes) -> bool:
    """Whether a broken file is one of lines: some line of it is a header or a message."""
    return any(_is_header(found) or isinstance(found.get("id"), str) for found in first_objects(data))


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))


class _Told(NamedTuple):
    """A message as its last line tells it."""

    fields: Fields
    line: int
    odd: list[str]


class _Reader:
    """State of one pass over one file."""

    def __init__(self) -> None:
        self._header: _Told | None = None
        self._messages: dict[str, _Told] = {}
        self._order: list[str | Record] = []
        self._ids = RecordIds()
        self._unknown = UnknownTypes()

    def conversation(self, whole: dict[str, Any], data: bytes) -> None:
        """Take the one object of the older layout apart; a message lies on the line that its id is on."""
        odd: list[str] = []
        header = {name: value for name, value in whole.items() if name not in ("messages", "summary")}
        self._header = _Told(Fields(header, odd), 1, odd)
        place, line, ids = 0, 1, RecordIds()
        for message in Fields(whole, odd).objects("messages"):
            named = message.value.get("id")
            found = data.find(json.dumps(named).encode(), place) if isinstance(named, str) else -1
            if found >= 0:
                line += data.count(b"\n", place, found)
                place = found
            self._message(message.value, line, ids)

    def line(self, line: ObjectLine) -> None:
        """Read one line of the newer layout."""
        found = line.fields
        if isinstance(found.value.get("$rewindTo"), str):
            self._note(line, {"type": "rewind", "to": found.text("$rewindTo")})
        elif isinstance(found.value.get("$set"), dict):
            self._set(line, found.inner("$set"))
        elif isinstance(found.value.get("id"), str):
            self._message(found.value, line.number, self._ids)
        elif _is_header(found.value) and self._header is None:
            odd: list[str] = []
            self._header = _Told(Fields(found.value, odd), line.number, odd)
        elif _is_header(found.value):
            self._note(line, {**found.without("lastUpdated"), "type": "session"})
        else:
            self._unknown.add(str(found.value.get("type")), line.number)
            self._plain(line, Draft("unknown", "kernel", {"record": found.value}))

    def _set(self, line: ObjectLine, changed: Fields) -> None:
        """The header changes. A list of messages replaces the history; those that it alone has are told here."""
        messages = changed.objects("messages")
        named = {message.value["id"] for message in messages if isinstance(message.value.get("id"), str)}
        if "messages" in changed.value and not named.issuperset(self._messages):
            payload = {"type": "boundary", "trigger": None, "pre_tokens": None}
            self._plain(line, Draft("compaction", "kernel", payload))
        ids = RecordIds()
        for message in messages:
            known = message.value.get("id")
            if not isinstance(known, str) or known not in self._messages:
                self._message(message.value, line.number, ids)
        rest = changed.without("messages", "lastUpdated", "sessionId")
        if rest:
            self._note(line, {**rest, "type": "session"})

    def _message(self, message: dict[str, Any], line: int, ids: RecordIds) -> None:
        named = message.get("id")
        if not isinstance(named, str):
            named = ids.of(json.dumps(message, sort_keys=True).encode())
        if named not in self._messages:
            self._order.append(named)
        odd: list[str] = []
        self._messages[named] = _Told(Fields(message, odd), line, odd)

    def _note(self, line: ObjectLine, payload: dict[str, Any]) -> None:
        self._plain(line, Draft("system_note", "kernel", payload))

    def _plain(self, line: ObjectLine, draft: Draft) -> None:
        moment = line.fields.inner("$set").moment("lastUpdated")
        record_id = self._ids.of(line.raw)
        self._order.append(Record(record_id, None, moment.at, moment.source, line.number, None, [draft]))

    def finish(self, path: str, lines: int, issues: list[Issue]) -> ParsedSource:
        """Make the records: each message where it was told first and as it was told last."""
        own_id = None if self._header is None else self._header.fields.text("sessionId")
        folder = PurePath(path).parent
        agent_id = own_id if self._is_subagent() and folder.parent.name == "chats" else None
        records = [] if self._header is None else [_session(self._header, is_subagent=agent_id is not None)]
        for item in self._order:
            records += [item] if isinstance(item, Record) else self._records(item)
        told = [*self._messages.values(), *([self._header] if self._header else [])]
        issues = [
            *issues,
            *self._unknown.issues(),
            *(issue for each in told for issue in odd_fields(each.line, each.odd)),
        ]
        issues.sort(key=lambda issue: issue.line)
        if agent_id is None:
            return ParsedSource(own_id, [own_id] if own_id else [], "main", lines, records, issues)
        for draft in (draft for record in records for draft in record.drafts):
            draft.agent_id, draft.is_sidechain = agent_id, True
            draft.actor = "agent" if draft.kind == "user_message" else draft.actor
        return ParsedSource(folder.name, [folder.name], "subagent", lines, records, issues)

    def _is_subagent(self) -> bool:
        return self._header is not None and self._header.fields.text("kind") == "subagent"

    def _records(self, named: str) -> list[Record]:
        """A message, and each result of its calls, which has a time of its own."""
        fields, line, _ = self._messages[named]
        moment, kind = fields.moment("timestamp"), fields.text("type")
        results: list[Record] = []
        if kind == "user":
            drafts = said(fields)
        elif kind == "gemini":
            drafts = response(fields, named)
            found = [result(call, named, line) for call in fields.objects("toolCalls")]
            results = [record for record in found if record is not None]
        elif kind in _NOTES:
            drafts = [noted(str(kind), fields)]
        else:
            self._unknown.add(str(kind), line)
            drafts = [Draft("unknown", "kernel", {"record": fields.value})]
        return [Record(named, None, moment.at, moment.source, line, None, drafts), *results]


def _session(header: _Told, *, is_subagent: bool) -> Record:
    """The header; a sub-agent's file begins with its prompt, so that its start can name it."""
    fields = header.fields
    moment = fields.moment("startTime")
    note = Draft("system_note", "kernel", {**fields.without("lastUpdated", "startTime"), "type": "session"})
    return Record(
        f"session:{fields.text('sessionId')}",
        None,
        moment.at,
        moment.source,
        header.line,
        None,
        [] if is_subagent else [note],
        Environment(NAME, None, None, None),
    )
