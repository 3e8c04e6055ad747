"""Other agents' tools in the words of our own, where they do the same thing.

Names come from Claude Code, Codex CLI, Gemini CLI, pi, SWE-agent and Aider. A tool that is not listed keeps its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SHELL: Final = "shell"

_OURS: Final = {
    "shell": (
        "bash", "shell", "run_shell_command", "exec_command", "local_shell", "execute_bash", "run_terminal_cmd",
        "shell_command", "container.exec", "bash_tool", "powershell",
    ),
    "read_file": ("read", "read_file", "view", "view_file", "cat", "open", "open_file", "notebookread"),
    "write_file": ("write", "write_file", "create", "create_file"),
    "edit_file": (
        "edit", "multiedit", "edit_file", "replace", "str_replace", "str_replace_editor", "str_replace_based_edit_tool",
        "notebookedit", "apply_patch", "insert",
    ),
    "search_code": (
        "grep", "glob", "search", "search_code", "search_file_content", "find", "find_file", "search_dir",
        "search_file", "codebase_search",
    ),
}  # fmt: skip
_NAMES: Final = {foreign: ours for ours, names in _OURS.items() for foreign in names}
_EDITOR_COMMANDS: Final = {"view": "read_file", "create": "write_file"}


def our_name(tool: str, args: Mapping[str, Any]) -> str:
    """The name of our tool that does the same; the tool's own name where there is none.

    Args:
        tool: As the agent writes it.
        args: Its arguments: an editor tool reads, creates or edits by one of them.
    """
    name = tool.lower()
    if name.startswith("str_replace") and args.get("command") in _EDITOR_COMMANDS:
        return _EDITOR_COMMANDS[args["command"]]
    return _NAMES.get(name, tool)


def our_args(tool: str, args: Mapping[str, Any], command: str | None, path: str | None) -> dict[str, Any]:
    """Arguments with `command` and `path` where our tools have them.

    Args:
        tool: Our name of the tool.
        args: As the agent wrote them.
        command: The shell command, as import found it.
        path: The file, as import found it.
    """
    if tool == SHELL and command:
        return {"command": command}
    if tool in {"read_file", "write_file", "edit_file"} and path:
        rest = {name: value for name, value in args.items() if name not in _PATH_NAMES}
        return {"path": path, **rest}
    return dict(args)


_PATH_NAMES: Final = frozenset({"path", "file_path", "filePath", "notebook_path", "absolute_path", "target_file"})
