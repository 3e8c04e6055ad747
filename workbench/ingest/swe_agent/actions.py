"""What the model did in a response: calls of tools, or a command as text."""

from __future__ import annotations

import re
import shlex
from typing import Any, Final

from workbench.ingest.swe_agent.document import decoded

_FILE_COMMANDS: Final = ("open", "create", "edit", "insert", "goto", "scroll_up", "scroll_down")
_COMMANDS: Final = frozenset((*_FILE_COMMANDS, "search_dir", "search_file", "find_file", "submit"))
"""SWE-agent's own commands; whatever else stands in an action is a shell's."""

Call = tuple[str, Any, str | None]
"""A tool, its arguments, and the provider's id of the call."""


def calls(tool_calls: Any, action: Any, open_file: str | None) -> list[Call]:
    """The calls of a response.

    Args:
        tool_calls: What the provider's interface gave, where it was used.
        action: The command as text.
        open_file: The file that SWE-agent's editor shows, to which `edit` and its like apply.
    """
    if isinstance(tool_calls, list) and tool_calls:
        return [_called(call) for call in tool_calls if isinstance(call, dict)]
    if isinstance(action, str) and action.strip():
        return [_typed(action.strip(), open_file)]
    return []


def _called(call: dict[str, Any]) -> Call:
    function = call.get("function")
    function = function if isinstance(function, dict) else call
    arguments = decoded(function.get("arguments"))
    call_id = call.get("id")
    return str(function.get("name") or ""), arguments, call_id if isinstance(call_id, str) and call_id else None


def _typed(action: str, open_file: str | None) -> Call:
    words = re.match(r"\S+", action)
    command = words[0] if words else ""
    if command not in _COMMANDS:
        return "bash", {"command": action}, None
    arguments = {"command": action}
    if command in _FILE_COMMANDS:
        file = _named_file(action) if command in ("open", "create") else open_file
        if file is not None:
            arguments["path"] = file
    return command, arguments, None


def _named_file(action: str) -> str | None:
    first_line = action.split("\n", 1)[0]
    try:
        words = shlex.split(first_line)
    except ValueError:
        words = first_line.split()
    return words[1] if len(words) > 1 else None
