"""What changed between two texts, in the form that Claude Code records."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, Final

_CONTEXT: Final = 3


def hunks(before: str, after: str) -> list[dict[str, Any]]:
    """The changes from `before` to `after`, each with three lines around it."""
    old, new = before.split("\n"), after.split("\n")
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT)
    return [_hunk(old, new, list(group)) for group in groups]


def _hunk(old: list[str], new: list[str], group: list[tuple[str, int, int, int, int]]) -> dict[str, Any]:
    lines: list[str] = []
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            lines += [f" {line}" for line in old[old_from:old_to]]
        else:
            lines += [f"-{line}" for line in old[old_from:old_to]]
            lines += [f"+{line}" for line in new[new_from:new_to]]
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
    return {
        "oldStart": old_start + 1,
        "oldLines": old_end - old_start,
        "newStart": new_start + 1,
        "newLines": new_end - new_start,
        "lines": lines,
    }


def numbered(lines: list[str], first: int) -> str:
    """Lines as `cat -n` shows them to the model."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, first))


def around(text: str, part: str) -> str:
    """The numbered lines of `text` that hold `part`, with four before and after."""
    lines = text.split("\n")
    start = text[: text.index(part)].count("\n")
    first, last = max(0, start - 4), min(len(lines), start + part.count("\n") + 5)
    return numbered(lines[first:last], first + 1)
