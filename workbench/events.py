"""The event: one thing that happened in a session, whichever agent recorded it.

Everything after this module is common to all agents: importers turn foreign files into events, a session run here
writes them itself, and every derived table is a function of them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal, get_args

import msgspec

EventKind = Literal[
    "user_message",  # a person's (or, on a sidechain, the parent agent's) prompt: {"text", "images"?}
    "agent_message",  # what the model said: {"text"} or {"thinking"}, plus {"message_id", "model", ...}
    "tool_call",  # {"tool", "args", "tool_call_id", "message_id"?}
    "tool_result",  # {"tool_call_id", "result", "is_error", "tool"?}
    "context_action",  # a change of the state graph: {"action", "id", ...}
    "system_note",  # the harness speaking: {"type", ...}
    "ui_transcript",  # what was shown to the person and not to the model: {"type", ...}
    "compaction",  # the history was replaced by a summary: {"trigger"?, "pre_tokens"?, "summary"?}
    "subagent",  # a sub-agent was started: {"agent_id", "tool_call_id"?, "prompt"?}
    "usage",  # tokens of one model call: {"model", "message_id"?, "request_id"?, "input_tokens", ...}
    "unknown",  # a record of a type that nobody here knows, raw: {"record"}
]
"""The seven kinds of PRAANA's event log, and what other agents' files add."""

KINDS: Final[frozenset[str]] = frozenset(get_args(EventKind))

Actor = Literal["user", "agent", "kernel", "tool"]
ACTORS: Final[frozenset[str]] = frozenset(get_args(Actor))


class Event(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One event of one session.

    Attributes:
        event_id: ULID; of an imported event derived from its time and its record, so that a rebuild repeats it.
        session_id: The session the event belongs to.
        seq: Position in the session, from 1, without gaps. The order of a session is `seq`, never a clock.
        occurred_at: UTC; None where the source has no usable time (`time_source` says so).
        kind: One of `KINDS`.
        actor: One of `ACTORS`.
        turn: The exchange it belongs to, from 1; 0 before the first prompt.
        parent_event_id: The event that caused it, where known.
        payload: By kind, as listed at `EventKind`. Plain JSON values.
        agent_id: The sub-agent it belongs to; None on the main chain.
        is_sidechain: Whether a sub-agent did it.
        source_id: The file it came from; None in a log that is its own source.
        source_line: Line in that file, from 1.
        time_source: `recorded`, or `missing` or `unreadable` where `occurred_at` is None.
    """

    event_id: str
    session_id: str
    seq: int
    occurred_at: datetime | None
    kind: str
    actor: str
    turn: int
    parent_event_id: str | None
    payload: dict[str, Any]
    agent_id: str | None = None
    is_sidechain: bool = False
    source_id: str | None = None
    source_line: int | None = None
    time_source: str = "recorded"
