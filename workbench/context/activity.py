"""What happened in an exchange that is worth a line: commits, tests, files, decisions, fixes.

Source: PRAANA src/context-engine/activity-log.ts; specification A, 13, 17.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.context.commands import is_test_command
from workbench.context.recorder import is_commit, paths_of
from workbench.context.records import ActivityEntry

if TYPE_CHECKING:
    from workbench.context.records import ToolCallRecord, TurnDigest, TurnRecord

COMMIT_CHARS: Final = 120
"""Characters of a commit's message. Source: PRAANA src/context-engine/activity-log.ts."""
_FAILING: Final = re.compile(r"([0-9]+)\s+failing")


def activity_of(record: TurnRecord, digest: TurnDigest, *, test_was_failing: bool) -> list[ActivityEntry]:
    """The entries of one exchange, calls first.

    Args:
        record: The exchange.
        digest: Its digest.
        test_was_failing: Whether the tests failed before it.

    Source: PRAANA src/context-engine/activity-log.ts.
    """
    turn = record.turn
    entries = [entry for call in record.tool_calls for entry in _call_entries(call, turn, test_was_failing)]
    entries += [
        ActivityEntry(turn=turn, type="decision_made", summary=f"Decided: {decision.summary}")
        for decision in digest.decisions
    ]
    entries += [
        ActivityEntry(turn=turn, type="error_fixed", summary=f"Fixed: {label}") for label in digest.errors_fixed
    ]
    return entries


def rolling(entries: Sequence[ActivityEntry], new: Sequence[ActivityEntry], most: int) -> tuple[ActivityEntry, ...]:
    """The last entries, new ones included.

    Source: PRAANA src/context-engine/activity-log.ts.
    """
    return tuple([*entries, *new][-most:])


def commit_message(result: str | None) -> str:
    """First line of what a commit printed.

    Source: PRAANA src/context-engine/classification.ts.
    """
    text = _printed(result)
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line[:COMMIT_CHARS] or "changes"


def failure_count(result: str | None) -> str:
    """How many tests failed, in words.

    Source: PRAANA src/context-engine/classification.ts.
    """
    text = _printed(result)
    if not text:
        return "unknown count"
    found = _FAILING.search(text)
    return f"{found[1]} failures" if found else "failures detected"


def _call_entries(call: ToolCallRecord, turn: int, test_was_failing: bool) -> list[ActivityEntry]:
    told = _told(call, test_was_failing)
    if told is None:
        return [
            ActivityEntry(turn=turn, type="file_written", summary=f"Wrote: {path}")
            for path in paths_of(call.tool, call.args)["written"]
            if not call.is_error
        ]
    kind, summary = told
    return [ActivityEntry(turn=turn, type=kind, summary=summary, artifact_ref=call.artifact_id)]


def _told(call: ToolCallRecord, test_was_failing: bool) -> Any:
    command = call.args.get("command")
    if call.tool != "shell" or not isinstance(command, str):
        return None
    if is_commit(command) and not call.is_error:
        return "commit", f"Committed: {commit_message(call.result_text)}"
    if is_test_command(command) and call.is_error:
        return "test_fail", f"Tests failing: {failure_count(call.result_text)}"
    if is_test_command(command) and test_was_failing:
        return "test_pass", f"Tests passing: {' '.join(command.split()[:2])}"
    return None


def _printed(result: str | None) -> str:
    """What a command wrote, whether its result is text or an object."""
    text = (result or "").strip()
    if not text.startswith("{"):
        return text
    try:
        given = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    inner = next((given[name] for name in ("stdout", "output") if isinstance(given.get(name), str)), None)
    return text if inner is None else inner.strip()
