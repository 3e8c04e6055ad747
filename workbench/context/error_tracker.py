"""Which failures are open, and which a later call has fixed: the same tool with the same command, gone well.

Source: PRAANA src/context-engine/error-tracker.ts; specification A, 17, W18, W19.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.context.cards import command_of
from workbench.context.commands import is_test_command
from workbench.context.records import OpenError
from workbench.context.verbatim import compact_json

if TYPE_CHECKING:
    from workbench.context.records import ToolCallRecord, TurnRecord


@dataclass(frozen=True, slots=True)
class Errors:
    """The open errors after an exchange, and whether the tests failed when they last ran."""

    open: tuple[OpenError, ...] = ()
    test_failed: bool = False


@dataclass(frozen=True, slots=True)
class ErrorNews:
    """What one exchange changed."""

    errors: Errors
    new: tuple[str, ...]
    fixed: tuple[str, ...]


def track_errors(errors: Errors, record: TurnRecord, error_chars: int) -> ErrorNews:
    """Follow the errors through an exchange, call by call.

    Args:
        errors: Before it.
        record: The exchange.
        error_chars: Length of a message taken from a result.

    Source: PRAANA src/context-engine/error-tracker.ts.
    """
    found = {error.key: error for error in errors.open}
    test_failed = errors.test_failed
    new: list[str] = []
    fixed: list[str] = []
    messages = list(record.errors)
    for call in record.tool_calls:
        key, command = _key(call), command_of(call.args) if "command" in call.args else None
        if call.is_error:
            message = messages.pop(0) if messages else (call.result_text or "tool error")[:error_chars]
            new.append(message)
            found.setdefault(
                key, OpenError(key=key, message=message, turn=record.turn, tool=call.tool, command=command)
            )
        elif key in found:
            fixed.append(command or call.tool)
            del found[key]
        if command and is_test_command(command):
            test_failed = call.is_error
    new += [message for message in messages if message not in new]
    return ErrorNews(replace(errors, open=tuple(found.values()), test_failed=test_failed), tuple(new), tuple(fixed))


def _key(call: ToolCallRecord) -> str:
    about = call.args.get("command") or call.args.get("path")
    return f"{call.tool}:{about if isinstance(about, str) else compact_json(call.args)}"
