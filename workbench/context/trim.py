"""Making a text fit a number of tokens, and saying so in the text.

Every function here keeps its promise: what it returns costs at most what was allowed, the note included.

Source: PRAANA src/compiler.ts, `trimSectionToTokenBudget`, `trimAgentsContext`; specification A, W8 and W9 (the
original always keeps a first line, however long).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from workbench.text.tokens import estimate_tokens

ELLIPSIS: Final = "…"
HEADINGS: Final = 5
"""Headings listed in the place of a project's instructions. Source: PRAANA src/compiler.ts, `trimAgentsContext`."""
SHORTENED: Final = "[Project context truncated to fit budget]"
FIRST_LINE_CHARS: Final = 120
"""Characters of their first line where they have no heading. Source: the same."""


def trim_lines(text: str, cap: int, note: str, *, keep: Literal["head", "tail"] = "head") -> tuple[str, bool]:
    """Keep whole lines while they fit, and end with a note of what happened.

    Args:
        text: Any text.
        cap: Tokens allowed; 0 or less means no cap.
        note: Why lines are gone; stands in the text as `... (note)`.
        keep: Which end stays.

    Returns:
        The text, and whether anything is gone. Where not even one line fits, it is cut within.

    Source: PRAANA src/compiler.ts, `trimSectionToTokenBudget`.
    """
    if cap <= 0 or estimate_tokens(text) <= cap:
        return text, False
    return shorten(text, cap, f"... ({note})", keep=keep), True


def shorten(text: str, cap: int, mark: str, *, keep: Literal["head", "tail"] = "head") -> str:
    """Cut a text to at most `cap` tokens: at lines where that is possible, else within a line.

    Args:
        text: A text that costs more.
        cap: Tokens allowed, at least 0.
        mark: Stands where lines are gone; left out where it would not fit either.
        keep: Which end stays.

    Returns:
        At most `cap` tokens; the empty string where nothing fits.
    """
    if estimate_tokens(text) <= cap:
        return text
    lines = text.split("\n")
    whole = _most(len(lines) - 1, lambda count: estimate_tokens(_lines(lines, count, mark, keep)) <= cap)
    if whole:
        return _lines(lines, whole, mark, keep)
    if estimate_tokens(mark + "\n") >= cap:
        mark = ELLIPSIS
    line = lines[0] if keep == "head" else lines[-1]
    chars = _most(len(line), lambda count: estimate_tokens(_part(line, count, mark, keep)) <= cap)
    return _part(line, chars, mark, keep) if chars else ""


def trim_project_context(text: str | None, cap: int) -> tuple[str | None, bool]:
    """A project's instructions, or a list of what they are about where they are too long.

    Args:
        text: The file, if there is one.
        cap: Tokens allowed; 0 or less means no cap.

    Returns:
        The stripped text or one line about it, and whether it was replaced.

    Source: PRAANA src/compiler.ts, `trimAgentsContext`.
    """
    if text is None:
        return None, False
    whole = text.strip()
    if cap <= 0 or estimate_tokens(whole) <= cap:
        return whole, False
    lines = whole.split("\n")
    headings = [line.strip() for line in lines if line.startswith(("#", "<!--"))][:HEADINGS]
    about = "; ".join(headings) if headings else lines[0][:FIRST_LINE_CHARS]
    summary = f"{SHORTENED} {about}"
    chars = _most(len(summary), lambda count: estimate_tokens(summary[:count]) <= cap)
    return summary[:chars], True


def _lines(lines: list[str], count: int, mark: str, keep: str) -> str:
    kept = lines[:count] if keep == "head" else lines[len(lines) - count :]
    return "\n".join([*kept, mark] if keep == "head" else [mark, *kept])


def _part(line: str, count: int, mark: str, keep: str) -> str:
    glue = "\n" if mark != ELLIPSIS else ""
    return line[:count] + glue + mark if keep == "head" else mark + glue + line[len(line) - count :]


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """The highest count up to a limit that fits, found by halving; 0 where none does."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
