"""The words of the context engine, as frozen records. Every judgement of this package is a function of them.

Turns are exchanges; their numbers are whatever the caller counts by (recorded sessions count from 1), and only
differences between them matter. Times are UTC.

Source: PRAANA, "Data model"; PRAANA src/context-engine/types.ts, src/state-graph.ts.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal, get_args

import msgspec

StateKind = Literal["task", "decision", "constraint", "note"]
STATE_KINDS: Final[tuple[StateKind, ...]] = get_args(StateKind)
StateTier = Literal["active", "soft", "hard"]
TaskStatus = Literal["todo", "doing", "done"]

ContentType = Literal[
    "code", "diff", "log", "json", "test_output", "build_output", "search_results", "error", "prose", "other"
]
Intensity = Literal["lite", "full"]
ActivityType = Literal["commit", "test_pass", "test_fail", "error_fixed", "file_written", "decision_made"]
PressureMode = Literal["normal", "compact", "emergency"]
TaskType = Literal["general", "debugging", "testing", "implementing", "refactoring", "reviewing"]
UnitType = Literal[
    "verbatim_turn", "turn_digest", "checkpoint_section", "artifact_card", "activity_entry", "memory_digest",
    "active_state",
]  # fmt: skip


class StateObject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing the agent keeps in mind.

    Attributes:
        id: ULID; of a recorded session derived from the event.
        kind: One of `STATE_KINDS`.
        state_tier: `active` is in the prompt, `soft` as a stub, `hard` as a name.
        payload: task `{title, description?, status}`, decision `{summary, rationale}`, constraint and note `{text}`.
        created_at: When it was made.
        updated_at: When its payload last changed, or it was taken back.
        touched_at: When somebody last touched it; demotion does not touch.
        touched_turn: Turn in which that was.
        focused: Whether it is the task at hand.
        retracted: Whether it was taken back; it stays as a tombstone.
        pinned: Whether a person wants it in every prompt.
    """

    id: str
    kind: StateKind
    payload: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    touched_at: datetime
    touched_turn: int = 0
    state_tier: StateTier = "active"
    focused: bool = False
    retracted: bool = False
    pinned: bool = False


class ToolCallRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call of an exchange.

    Attributes:
        tool: Its name, in the words of our own tools where they do the same (`shell`, `read_file`, ...).
        args: Its arguments.
        is_error: Whether it failed, by exception, by its own word (`ok` false) or by its exit code.
        result_text: The result as the model saw it, or its beginning where it became an artifact.
        artifact_id: Where the whole result is kept.
        step: The model call that made it, from 1; 0 where unknown.
        call_id: The provider's id of the call.
    """

    tool: str
    args: dict[str, Any] = {}
    is_error: bool = False
    result_text: str | None = None
    artifact_id: str | None = None
    step: int = 0
    call_id: str | None = None


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One exchange: a prompt and all that followed until the next."""

    turn: int
    user_message: str
    assistant_message: str = ""
    tool_calls: tuple[ToolCallRecord, ...] = ()
    artifact_ids: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_written: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    token_count: int = 0
    occurred_at: datetime | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decision as digests and checkpoints carry it."""

    summary: str
    rationale: str | None = None


class TurnDigest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of one exchange.

    Attributes:
        turn: The exchange.
        user_intent: What was asked, in one line.
        files_changed: Files read or written.
        files_written: Files written.
        artifact_refs: Artifacts made.
        decisions: Decisions made or changed.
        constraints: Constraints set, said or implied.
        errors_new: Messages of errors that opened.
        errors_fixed: Labels of errors that closed.
        tool_summary: Tools used with their counts, or `no tools`.
        extracted_plan: The plan the agent announced, if any.
    """

    turn: int
    user_intent: str = ""
    files_changed: tuple[str, ...] = ()
    files_written: tuple[str, ...] = ()
    artifact_refs: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    constraints: tuple[str, ...] = ()
    errors_new: tuple[str, ...] = ()
    errors_fixed: tuple[str, ...] = ()
    tool_summary: str = "no tools"
    extracted_plan: str | None = None


class ActivityEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened and is worth one line."""

    turn: int
    type: ActivityType
    summary: str
    artifact_ref: str | None = None


class OpenError(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A failure that nothing has fixed yet; `key` is tool and command, so that the same call closes it."""

    key: str
    message: str
    turn: int
    tool: str
    command: str | None = None


class ContextUnit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of the past that may go into the prompt.

    Attributes:
        id: Unique in one compile.
        type: What it is.
        content: What would stand in the prompt.
        tokens: Estimated tokens of the content.
        source_turn: The exchange it comes from.
        order: Position among all units of the session, from 0; later is newer.
        pinned: Whether it comes before all that is not pinned.
        artifact_refs: Artifacts it speaks of.
        call_ids: Tool calls it speaks of, for labels.
    """

    id: str
    type: UnitType
    content: str
    tokens: int
    source_turn: int
    order: int = 0
    pinned: bool = False
    artifact_refs: tuple[str, ...] = ()
    call_ids: tuple[str, ...] = ()
