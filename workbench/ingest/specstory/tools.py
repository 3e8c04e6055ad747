"""A tool use of an export: which tool, with what, and what came back, as far as the Markdown shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from workbench.ingest.markdown import FENCE

_ATTRIBUTE: Final = re.compile(r'data-tool-(name|type)="([^"]*)"')
_SUMMARY: Final = re.compile(r"\s*(?:<details>)?\s*<summary>(.*?)</summary>", re.DOTALL)
_DEFAULT_SUMMARY: Final = re.compile(r"Tool use: \*\*(.*?)\*\*\s*(.*)", re.DOTALL)
_FILE_SUMMARY: Final = re.compile(r"• (?:Read|Edit|Write|Create|Delete) file: (.+)")
_FILE_HEADER: Final = re.compile(r"\*\*(?:Add|Update|Modify|Delete): `([^`]+)`\*\*")
_INLINE: Final = re.compile(r"`([^`\n]+)`")
_INPUT: Final = re.compile(r"- (\w+): `(.*)`")
_RESULT_HEADERS: Final = ("**Result:**", "**Error:**")
_PLAIN: Final = ("", "text")
"""What follows the fence of an output; code that was input has its language."""


class ToolUse(NamedTuple):
    """A tool use.

    Attributes:
        tool: Its name.
        arguments: What the export shows of its input; `markdown` is the input as it was laid out.
        result: What came back; None where the export has nothing.
        is_error: Whether the export calls it an error.
    """

    tool: str
    arguments: dict[str, Any]
    result: str | None
    is_error: bool

    @property
    def is_bare(self) -> bool:
        """Whether nothing but the name is told."""
        return not self.arguments and self.result is None


def tool_use(text: str) -> ToolUse:
    """Read a tool use.

    Args:
        text: Its lines, from the opening tag to the closing one.
    """
    opening, _, rest = text.partition("\n")
    told = dict(_ATTRIBUTE.findall(opening))
    rest = rest.rpartition("\n")[0]  # without the closing tag
    summary = ""
    if found := _SUMMARY.match(rest):
        summary, rest = found[1].strip(), rest[found.end() :]
    rest = rest.rstrip().removesuffix("</details>")
    lines = rest.strip("\n").rstrip().split("\n")
    start, is_error = _output_start(lines)
    result = None if start is None else "\n".join(lines[start + 1 : -1])
    shown = lines if start is None else lines[:start]
    before = "\n".join(line for line in shown if line not in _RESULT_HEADERS).strip()
    kind = told.get("type", "")
    return ToolUse(told.get("name", ""), _arguments(kind, summary, before), result, is_error)


def _output_start(lines: Sequence[str]) -> tuple[int | None, bool]:
    """Where the fence of the output stands, which goes to the end of the use; and whether it is of an error."""
    last = FENCE.fullmatch(lines[-1])
    if last is None or last[2].strip():
        return None, False
    number = 0
    is_error = False
    header = next((number for number, line in enumerate(lines) if line in _RESULT_HEADERS), None)
    if header is not None and not _is_in_fence(lines, header):
        number, is_error = header + 1, lines[header] == _RESULT_HEADERS[1]
    while number < len(lines) - 1:
        fence = FENCE.fullmatch(lines[number])
        if fence is not None and fence[2].strip() in _PLAIN:
            return number, is_error
        if fence is not None:
            number = _closing(lines, number, fence[1])
        number += 1
    return None, False


def _is_in_fence(lines: Sequence[str], stop: int) -> bool:
    number = 0
    while number < stop:
        fence = FENCE.fullmatch(lines[number])
        if fence is not None:
            number = _closing(lines, number, fence[1])
        number += 1
    return number > stop


def _closing(lines: Sequence[str], start: int, mark: str) -> int:
    for number in range(start + 1, len(lines)):
        fence = FENCE.fullmatch(lines[number])
        if fence is not None and fence[1].startswith(mark) and not fence[2].strip():
            return number
    return len(lines)


def _arguments(kind: str, summary: str, before: str) -> dict[str, Any]:
    """What can be told of the input, by the kind of tool that the export names."""
    arguments: dict[str, Any] = {}
    default = _DEFAULT_SUMMARY.fullmatch(summary)
    extra = default[2].strip() if default else summary
    if kind == "shell":
        command = _command(extra) or _command(before)
        if command is not None:
            arguments["command"] = command
    file = _FILE_SUMMARY.search(extra) or _FILE_HEADER.search(before)
    if file is None and kind in ("read", "write"):
        file = _INLINE.search(extra) or _INLINE.match(before)
    if file is not None:
        arguments["file_path"] = file[1].strip()
    if "**Input:**" in before:
        arguments.update(_INPUT.findall(before))
    rest = "\n\n".join(part for part in (extra, before) if part)
    if rest and rest.strip("`") not in arguments.values():
        arguments["markdown"] = rest
    return arguments


def _command(text: str) -> str | None:
    """A command in backticks, alone on its line, or in a fence."""
    for line in text.split("\n"):
        if len(line) > 2 and line.startswith("`") and line.endswith("`") and not line.startswith("```"):  # noqa: PLR2004
            return line[1:-1]
    lines = text.split("\n")
    for number, line in enumerate(lines):
        fence = FENCE.fullmatch(line)
        if fence is not None:
            return "\n".join(lines[number + 1 : _closing(lines, number, fence[1])])
    return None
