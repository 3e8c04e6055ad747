"""All rows of one session, out of its events."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from workbench.events import Event
from workbench.ingest.derive.exchanges import Row, exchange_rows, first_line, is_compaction, is_interrupt, time_span
from workbench.ingest.derive.tool_calls import Credit, ToolCall, artifacts, tool_calls
from workbench.ingest.derive.turns import Turn, turn_rows, turns
from workbench.ingest.derive.usage import ModelCall, model_calls, total_tokens
from workbench.text.ids import content_hash

DERIVE_VERSION: Final = 2
"""Raised whenever the same events would give other rows; sessions landed by an older version are landed anew."""

TITLE_LENGTH: Final = 100

_encode = msgspec.json.Encoder().encode


class Derived(NamedTuple):
    """Rows by table, without `landing_id`; and the texts of artifacts by hash."""

    rows: dict[str, list[Row]]
    blobs: dict[str, str]


def project_id(cwd: str | None) -> str | None:
    """The project of a directory: a hash of its normalised path, so that every machine gives it the same id."""
    if not cwd:
        return None
    path = cwd.replace("\\", "/")
    return content_hash(os.path.normpath(path))[:16]


def derive(session_id: str, agent: str, events: Sequence[Event], credit: Credit, issues: int) -> Derived:
    """Derive everything that the events of a session say.

    Args:
        session_id: The session.
        agent: Whose it is, where no event says.
        events: Its events in order.
        credit: Rank of each source, for facts that several tell.
        issues: Rows in `import_issues`.

    Returns:
        Rows of events, turns, turn_records, tool_calls, usage, artifacts and sessions.
    """
    event_rows = _event_rows(events)  # first: a text that was encoded once is encoded again by copying
    spoken = [e for e in events if e.kind in ("user_message", "agent_message", "tool_call")]
    calls = tool_calls([e for e in events if e.kind in ("tool_call", "tool_result")], credit)
    usage = model_calls([e for e in events if e.kind == "usage"])
    said = turns(spoken)
    artifact_rows, blobs = artifacts(calls)
    rows: dict[str, list[Row]] = {
        "events": event_rows,
        "turns": turn_rows(said),
        "turn_records": exchange_rows(events, said, calls, usage),
        "tool_calls": list(calls),
        "usage": list(usage),
        "artifacts": list(artifact_rows),
        "sessions": [_session_row(session_id, agent, events, said, calls, usage, issues)],
    }
    return Derived(rows, blobs)


def _event_rows(events: Sequence[Event]) -> list[Row]:
    payloads = [_encode(event.payload) for event in events]  # bytes: Arrow takes them as they are
    return [
        (
            event.session_id,
            event.seq,
            event.event_id,
            event.occurred_at,
            event.time_source,
            event.kind,
            event.actor,
            event.turn,
            event.parent_event_id,
            payload,
            event.source_line,
            event.source_id or "",
            event.agent_id,
            event.is_sidechain,
        )
        for event, payload in zip(events, payloads, strict=True)
    ]


def _session_row(
    session_id: str,
    agent: str,
    events: Sequence[Event],
    said: Sequence[Turn],
    calls: Sequence[ToolCall],
    usage: Sequence[ModelCall],
    issues: int,
) -> Row:
    notes = [event for event in events if event.kind == "system_note"]
    where = [note.payload for note in notes if note.payload.get("type") == "environment"]
    main = [turn for turn in said if not turn.first.is_sidechain]
    compacted = [event for event in events if event.kind == "compaction"]
    compactions = sum(map(is_compaction, compacted)) or len(compacted)
    answered = (call.model for call in usage if call.model)
    cwd = _first_told(where, "cwd")
    return (
        session_id,
        project_id(cwd),
        _first_told(where, "agent") or agent,
        _first_told(where[::-1], "agent_version"),
        _title(main),
        cwd,
        _first_told(where, "git_branch"),
        *time_span(events),
        sum(turn.role == "user" for turn in main),
        sum(turn.role == "assistant" for turn in main),
        len(said),
        len(events),
        len(calls),
        sum(call.is_sidechain for call in calls),
        sum(bool(call.is_error) for call in calls),
        len({event.agent_id for event in events if event.agent_id is not None}),
        sum(map(is_interrupt, notes)),
        compactions,
        list(dict.fromkeys(answered)),
        len(usage),
        *total_tokens(usage),
        issues,
    )


def _first_told(notes: Sequence[dict[str, Any]], name: str) -> str | None:
    return next((note[name] for note in notes if note.get(name)), None)


def _title(main: Sequence[Turn]) -> str | None:
    """The first line of the first prompt; one that only announces (`Implement this:`) with the line after it."""
    text = next((turn.text for turn in main if turn.role == "user" and turn.text), None)
    if text is None:
        return None
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    announced = len(lines) > 1 and lines[0].endswith(":")
    return first_line(f"{lines[0]} {lines[1].lstrip('# ')}" if announced else text, TITLE_LENGTH)
