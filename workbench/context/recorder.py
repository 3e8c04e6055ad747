"""An exchange as a record: what its calls read, wrote and failed at.

Source: PRAANA src/context-engine/turn-recorder.ts; specification A, 17, W16, W18.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from workbench.context.records import ToolCallRecord, TurnRecord

RESULT_CHARS: Final = 400
"""Characters of a result in a record. Source: PRAANA src/context-engine/turn-recorder.ts."""
ERROR_TAIL_LINES: Final = 3
"""Last lines of what a failed command wrote, as its message: the reason usually stands at the end."""

_READS: Final = frozenset({"read_file", "read_and_summarize"})
_WRITES: Final = frozenset({"write_file", "edit_file"})
_BATCHES: Final = {"batch_write": "files", "batch_edit": "edits"}
_COMMIT: Final = re.compile(r"\bgit\s+commit\b")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as it came back.

    Attributes:
        tool: Its name.
        args: Its arguments.
        result: What came back: text, or an object with `ok`.
        is_error: Whether it raised.
        error: Why it failed, where the caller knows better than the result says.
        artifact_id: Where the whole result is kept.
        step: The model call that made it, from 1.
        call_id: The provider's id.
    """

    tool: str
    args: dict[str, Any] = {}
    result: Any = None
    is_error: bool = False
    error: str | None = None
    artifact_id: str | None = None
    step: int = 0
    call_id: str | None = None

    @property
    def failure(self) -> str | None:
        """Why it failed; None where it did not."""
        return self.error or tool_error(self.result, is_error=self.is_error)


def record_turn(
    turn: int,
    user_message: str,
    calls: Iterable[Call],
    assistant_message: str,
    *,
    token_count: int = 0,
    occurred_at: datetime | None = None,
) -> TurnRecord:
    """Write an exchange down.

    Args:
        turn: Its number.
        user_message: What was asked.
        calls: In their order.
        assistant_message: The last thing the agent said.
        token_count: Tokens of prompt and answer.
        occurred_at: When it began.
    """
    made = list(calls)
    errors = [message for call in made if (message := call.failure)]
    paths = [paths_of(call.tool, call.args) for call in made]
    return TurnRecord(
        turn=turn,
        user_message=user_message,
        assistant_message=assistant_message,
        tool_calls=tuple(_record(call) for call in made),
        artifact_ids=_distinct(call.artifact_id for call in made),
        files_read=_distinct(path for one in paths for path in one["read"]),
        files_written=_distinct(path for one in paths for path in one["written"]),
        errors=tuple(errors),
        token_count=token_count,
        occurred_at=occurred_at,
    )


def tool_error(result: Any, *, is_error: bool) -> str | None:
    """Why a call failed, in its own words; None where it did not.

    A command that ended with another code than 0 says `ok: false`: that is a failure, and the end of what it wrote is
    the message.

    Source: PRAANA src/context-engine/turn-recorder.ts; specification A, W18 (the original says `tool failed`).
    """
    said = result.get("error") if isinstance(result, Mapping) else None
    if is_error:
        return str(said) if said else "tool error"
    if isinstance(result, Mapping) and result.get("ok") is False:
        wrote = str(result.get("stderr") or result.get("stdout") or "")
        return str(said) if said else last_lines(wrote) or "tool failed"
    return None


def paths_of(tool: str, args: Mapping[str, Any]) -> dict[Literal["read", "written"], list[str]]:
    """Files that a call reads and writes, those of batches included.

    Source: PRAANA src/context-engine/turn-recorder.ts; specification A, W16.
    """
    if tool in _BATCHES:
        items = args.get(_BATCHES[tool])
        entries = items if isinstance(items, list) else []
        return {"read": [], "written": [path for entry in entries if (path := _path(entry))]}
    path = _path(args)
    found = [path] if path else []
    return {"read": found if tool in _READS else [], "written": found if tool in _WRITES else []}


def is_commit(command: str) -> bool:
    """Whether a command commits to git."""
    return _COMMIT.search(command) is not None


def result_text(result: Any) -> str | None:
    """A result as text: itself, or its JSON."""
    if result is None or isinstance(result, str):
        return result
    return msgspec.json.encode(result).decode()


def _record(call: Call) -> ToolCallRecord:
    text = result_text(call.result)
    return ToolCallRecord(
        tool=call.tool,
        args=call.args,
        is_error=call.failure is not None,
        result_text=text if text is None or len(text) <= RESULT_CHARS else text[:RESULT_CHARS] + "…",
        artifact_id=call.artifact_id,
        step=call.step,
        call_id=call.call_id,
    )


def last_lines(text: str) -> str:
    """The end of what a failed command wrote."""
    return "\n".join(text.strip().splitlines()[-ERROR_TAIL_LINES:])


def _path(entry: Any) -> str | None:
    path = entry.get("path") if isinstance(entry, Mapping) else None
    return path if isinstance(path, str) and path else None


def _distinct(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))
