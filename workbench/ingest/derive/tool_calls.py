"""Tool calls with their results, and the large results as artifacts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from workbench.events import Event
from workbench.text.ids import content_hash
from workbench.text.tokens import estimate_tokens

ARTIFACT_TOKENS: Final = 400
"""A result above this many estimated tokens is an artifact. PRAANA, `context_engine.artifact_inline_threshold`."""

PICTURE_TOKENS: Final = 1600
"""Tokens that a picture in a result counts. A model is charged by size in pixels, which no record tells, never by the
length of the encoding; this is what the largest costs that is not scaled down. Source: Anthropic documentation,
"Vision" (width x height / 750, at most some 1,600)."""

_PICTURE: Final = re.compile(r"\[[^\[\]\n]{1,80}, [0-9,]+ characters of base64\]")
"""What stands for a picture in a text (see `ingest.objects.picture`)."""

COMMAND_KEYS: Final = ("command", "cmd", "script")
PATH_KEYS: Final = ("file_path", "path", "filePath", "notebook_path", "absolute_path", "target_file", "filename")
"""Names under which agents' tools take a file: Claude Code, pi, Gemini CLI, Codex, SWE-agent."""

Credit = Mapping[str, tuple[bool, str]]
"""Source id to its rank: the lowest is credited with a call that several sources tell of (see `merge`)."""


class ToolCall(NamedTuple):
    """A row of `tool_calls`, in the order of its columns."""

    session_id: str
    tool_call_id: str
    turn: int
    seq: int
    call_event_id: str
    result_event_id: str | None
    message_id: str | None
    tool: str
    input: str
    command: str | None
    file_path: str | None
    called_at: datetime | None
    returned_at: datetime | None
    duration_ms: int | None
    status: str
    is_error: bool | None
    result: str | None
    result_tokens: int | None
    artifact_id: str | None
    source_id: str
    agent_id: str | None
    is_sidechain: bool


class Artifact(NamedTuple):
    """A row of `artifacts`, in the order of its columns, and its text."""

    session_id: str
    artifact_id: str
    created_turn: int
    created_event_id: str
    source_tool: str
    command: str | None
    file_path: str | None
    raw_tokens: int
    size_bytes: int
    uses: int


def tool_calls(events: Sequence[Event], credit: Credit) -> list[ToolCall]:
    """Pair calls with results by the call's id, never by order or place.

    Args:
        events: The session's events of the kinds tool_call and tool_result, in order.
        credit: Rank of each source.

    Returns:
        One row a call id, in the order of first telling; of several tellings the best credited one counts.
    """
    calls: dict[str, Event] = {}
    results: dict[str, Event] = {}
    for event in events:
        key = event.payload.get("tool_call_id") or event.event_id
        if event.kind == "tool_call":
            if key not in calls or _rank(event, credit) < _rank(calls[key], credit):
                calls[key] = event
        elif key not in results:
            results[key] = event
    return [_row(key, call, results.get(key)) for key, call in calls.items()]


def _rank(event: Event, credit: Credit) -> tuple[bool, str]:
    source_id = event.source_id or ""
    return credit.get(source_id, (True, source_id))


def _row(key: str, call: Event, result: Event | None) -> ToolCall:
    args = call.payload.get("args")
    text = tokens = artifact_id = None
    status, is_error = "open", None
    if result is not None:
        text = result_text(result.payload.get("result"))
        written = estimate_tokens(text)
        tokens = result_tokens(text, written)
        is_error = failed(result.payload)
        status = "rejected" if result.payload.get("rejected") else "error" if is_error else "ok"
        artifact_id = content_hash(text) if written > ARTIFACT_TOKENS else None
    return ToolCall(
        call.session_id,
        key,
        call.turn,
        call.seq,
        call.event_id,
        None if result is None else result.event_id,
        call.payload.get("message_id"),
        str(call.payload.get("tool") or ""),
        msgspec.json.encode(args).decode(),
        _first_text(args, COMMAND_KEYS),
        _first_text(args, PATH_KEYS),
        call.occurred_at,
        None if result is None else result.occurred_at,
        _milliseconds_between(call.occurred_at, None if result is None else result.occurred_at),
        status,
        is_error,
        text,
        tokens,
        artifact_id,
        call.source_id or "",
        call.agent_id,
        call.is_sidechain,
    )


def result_text(result: Any) -> str:
    """What a tool gave back, as text; of an envelope such as PRAANA's `{"ok", "stdout", ...}` what it carries."""
    if isinstance(result, str):
        return result
    if result is None:
        return ""
    if isinstance(result, dict):
        carried = [
            result[name] for name in ("content", "stdout", "stderr", "error") if isinstance(result.get(name), str)
        ]
        if carried:
            return "\n".join(part for part in carried if part)
    return msgspec.json.encode(result).decode()


def result_tokens(text: str, written: int) -> int:
    """Estimated tokens of a result, a picture counted with `PICTURE_TOKENS`, however long its encoding was.

    Args:
        text: What the tool gave back, pictures by name.
        written: Estimated tokens of that text.
    """
    if "characters of base64]" not in text:
        return written
    plain, pictures = _PICTURE.subn("", text)
    return estimate_tokens(plain) + PICTURE_TOKENS * pictures


def failed(payload: Mapping[str, Any]) -> bool:
    """Whether a result tells of a failure: marked as one, or an envelope with `ok` false (PRAANA, W18)."""
    result = payload.get("result")
    return bool(payload.get("is_error")) or (isinstance(result, dict) and result.get("ok") is False)


def _first_text(args: Any, names: Sequence[str]) -> str | None:
    if isinstance(args, dict):
        for name in names:
            value = args.get(name)
            if isinstance(value, str):
                return value
            if isinstance(value, list) and value and name in COMMAND_KEYS:
                return " ".join(map(str, value))
    return None


def _milliseconds_between(start: datetime | None, end: datetime | None) -> int | None:
    if start is None or end is None or end < start:
        return None
    return round((end - start).total_seconds() * 1000)


def artifacts(calls: Sequence[ToolCall]) -> tuple[list[Artifact], dict[str, str]]:
    """The large results of a session by content.

    Returns:
        One row a content, by first use; and the texts by hash.
    """
    rows: dict[str, Artifact] = {}
    texts: dict[str, str] = {}
    for call in calls:
        if call.artifact_id is None or call.result is None:
            continue
        known = rows.get(call.artifact_id)
        if known is not None:
            rows[call.artifact_id] = known._replace(uses=known.uses + 1)
            continue
        texts[call.artifact_id] = call.result
        rows[call.artifact_id] = Artifact(
            call.session_id,
            call.artifact_id,
            call.turn,
            call.result_event_id or call.call_event_id,
            call.tool,
            call.command,
            call.file_path,
            call.result_tokens or 0,
            len(call.result.encode()),
            1,
        )
    return list(rows.values()), texts
