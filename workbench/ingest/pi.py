"""pi: one JSON object a line, one file a session (`~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl`).

Learnt from a real file of the first version of the format (a header, entries one after the other, no ids) and, for
what came later (ids, a tree of entries, compaction, forks), from the session format page of the pi repository.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePath
from typing import Any, Final

from workbench.ingest.objects import Fields, ObjectLine, ObjectLines, UnknownTypes, as_text, first_objects, picture
from workbench.ingest.record_ids import RecordIds
from workbench.ingest.records import Draft, Environment, ParsedSource, Record, own_path
from workbench.ingest.times import Moment

NAME: Final = "pi"

parent_path: Final = own_path

_NOTES: Final = frozenset(
    (
        "model_change",
        "thinking_level_change",
        "service_tier_change",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "context_transform",
        "context_edit",
        "ephemeral",
    )
)
"""Entries that are kept as notes; `session`, `message`, `compaction` and `usage` are read, all others are unknown."""

_MESSAGE_NOTES: Final = frozenset(("bashExecution", "branchSummary", "custom", "hookMessage"))
"""Messages that neither a person nor the model said; `bashExecution` is a command that the person ran with `!`."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_TOKENS: Final = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_tokens": "cacheRead",
    "cache_write_tokens": "cacheWrite",
    "reasoning_tokens": "reasoning",
}
"""Our names of the figures and theirs. Theirs do not overlap, but for reasoning, which is a part of the output."""


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is pi's: one of its first whole lines is a session's header."""
    return name.endswith(".jsonl") and any(
        found.get("type") == "session" and isinstance(found.get("id"), str) for found in first_objects(head)
    )


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole file."""
    del path
    reader = _Reader()
    lines = ObjectLines(data)
    for line in lines:
        reader.line(line)
    sessions = {record.session_id for record in reader.records} | {reader.session_id}
    issues = sorted([*lines.issues, *reader.unknown.issues()], key=lambda issue: issue.line)
    return ParsedSource(reader.session_id, sorted(filter(None, sessions)), "main", lines.lines, reader.records, issues)


class _Reader:
    """State of one pass over one file."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.records: list[Record] = []
        self.unknown = UnknownTypes()
        self._ids = RecordIds()
        self._parent_session: str | None = None
        self._began_at: datetime | None = None

    def line(self, line: ObjectLine) -> None:
        """Read one entry."""
        entry, number = line.fields, line.number
        kind = entry.text("type")
        plain_id = self._ids.of(line.raw)
        record_id = plain_id if kind == "session" else entry.text("id") or plain_id
        moment = entry.moment("timestamp")
        message = entry.inner("message")
        if moment.at is None and message.value:
            moment = message.epoch("timestamp")
        environment = None
        if kind == "session":
            environment, drafts = self._header(entry, moment)
        elif kind == "message":
            drafts = self._message(message, record_id, number)
        elif kind == "compaction":
            drafts = [_compaction(entry)]
        elif kind == "usage":
            drafts = _usage(entry.inner("usage"), {"message_id": record_id, "model": entry.text("model")})
        elif kind in _NOTES:
            drafts = [_note(str(kind), entry)]
        else:
            drafts = [self._unknown(str(kind), entry, number)]
        self.records.append(
            Record(
                record_id,
                self._owner(moment.at),
                moment.at,
                moment.source,
                number,
                entry.text("parentId"),
                drafts,
                environment,
            )
        )

    def _message(self, message: Fields, record_id: str, number: int) -> list[Draft]:
        role = message.text("role")
        if role == "user":
            text, images = _content(message)
            return [Draft("user_message", "user", {"text": text, "images": images} if images else {"text": text})]
        if role == "assistant":
            return _response(message, record_id)
        if role == "toolResult":
            return _result(message, record_id)
        if role == "compactionSummary":
            return [Draft("compaction", "kernel", {"type": "summary", "summary": message.text("summary") or ""})]
        if role in _MESSAGE_NOTES:
            actor = "user" if role == "bashExecution" else "kernel"
            return [_note(str(role), message, actor)]
        return [self._unknown(f"message of role {role}", message, number)]

    def _unknown(self, kind: str, found: Fields, number: int) -> Draft:
        self.unknown.add(kind, number)
        return Draft("unknown", "kernel", {"record": found.value})

    def _header(self, entry: Fields, moment: Moment) -> tuple[Environment | None, list[Draft]]:
        """The session begins; a header that comes again, as after a fault of the writer, is a note."""
        note = Draft("system_note", "kernel", {**entry.without("timestamp", "cwd"), "type": "session"})
        if self.session_id is not None:
            return None, [note]
        self.session_id = entry.text("id")
        self._began_at = moment.at
        origin = entry.text("parentSession") or entry.text("branchedFrom")
        named = _UUID.findall(PurePath(origin.replace("\\", "/")).stem) if origin else []
        self._parent_session = named[-1] if named else None
        return Environment(NAME, entry.text("cwd"), None, None), [note]

    def _owner(self, at: datetime | None) -> str | None:
        """A fork's file begins with copies of its parent's entries, times and all; they belong to the parent."""
        if self._parent_session is None or at is None or self._began_at is None or at >= self._began_at:
            return None
        return self._parent_session


def _response(message: Fields, record_id: str) -> list[Draft]:
    """A model call: its blocks, its usage, and the mark of a person who stopped it."""
    stop, error = message.text("stopReason"), message.text("errorMessage")
    about: dict[str, Any] = {
        "message_id": message.text("responseId") or record_id,
        "model": message.text("model"),
    }
    drafts = [_block(block, about) for block in message.objects("content")]
    if stop == "error":
        drafts.append(Draft("agent_message", "agent", {"text": error or "", "is_error": True, **about}))
    if not drafts:
        drafts.append(Draft("agent_message", "agent", {"text": "", **about}))
    drafts += _usage(message.inner("usage"), about)
    if stop == "aborted":
        drafts.append(Draft("system_note", "user", {"type": "turn_interrupted", "text": error or ""}))
    return drafts


def _block(block: Fields, about: dict[str, Any]) -> Draft:
    kind = block.text("type")
    if kind == "toolCall":
        payload = {
            "tool": block.text("name") or "",
            "args": block.arguments("arguments"),
            "tool_call_id": block.text("id"),
        }
        return Draft("tool_call", "agent", {**payload, **about})
    if kind == "thinking":
        return Draft("agent_message", "agent", {"thinking": block.text("thinking") or "", **about})
    if kind == "text":
        return Draft("agent_message", "agent", {"text": block.text("text") or "", **about})
    return Draft("agent_message", "agent", {"text": block.text("text") or "", "block_type": kind, **about})


def _result(message: Fields, record_id: str) -> list[Draft]:
    text, images = _content(message, named=True)
    payload: dict[str, Any] = {
        "tool_call_id": message.text("toolCallId"),
        "result": text,
        "is_error": bool(message.flag("isError")),
        "tool": message.text("toolName"),
    }
    if images:
        payload["images"] = images
    nested = _usage(message.inner("usage"), {"message_id": record_id, "model": None})
    return [Draft("tool_result", "tool", payload), *nested]


def _content(message: Fields, *, named: bool = False) -> tuple[str, int]:
    """Words and number of pictures of a content, which is a text or a list of blocks; pictures by name if wanted."""
    if isinstance(message.value.get("content"), str):
        return message.text("content") or "", 0
    parts: list[str] = []
    images = 0
    for block in message.items("content"):
        found = block if isinstance(block, dict) else {"text": as_text(block)}
        if isinstance(found.get("text"), str):
            parts.append(found["text"])
        elif found.get("type") == "image":
            images += 1
            media_type = found.get("mimeType")
            if named:
                size = len(str(found.get("data") or ""))
                parts.append(picture(media_type if isinstance(media_type, str) else None, size))
        else:
            parts.append(as_text(found))
    return "\n".join(parts), images


def _compaction(entry: Fields) -> Draft:
    payload = {
        "type": "boundary",
        "trigger": None,
        "pre_tokens": entry.count("tokensBefore"),
        "summary": entry.text("summary") or "",
    }
    return Draft("compaction", "kernel", payload)


def _note(kind: str, found: Fields, actor: str = "kernel") -> Draft:
    payload = {**found.without("id", "parentId", "timestamp", "role"), "type": kind}
    if "content" in payload:
        payload["content"], images = _content(found, named=True)
        payload |= {"images": images} if images else {}
    return Draft("system_note", actor, payload)


def _usage(usage: Fields, about: dict[str, Any]) -> list[Draft]:
    """Tokens of a call. pi writes zeros where the provider told nothing, so zeros alone say nothing."""
    tokens = {ours: usage.count(theirs) for ours, theirs in _TOKENS.items()}
    if not any(tokens.values()):
        return []
    return [Draft("usage", "kernel", {**tokens, **about})]
