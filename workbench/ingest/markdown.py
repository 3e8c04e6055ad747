"""Logs in Markdown: their lines, and fenced code, where the marks of the log and of what it quotes look the same.

A fence that closes before the next mark of the log quotes what it holds. Where a mark stands between the two ends there
are two readings: either the mark is quoted, or the answer broke off inside the fence, the mark is real and what looks
like the closing end opens a block of the next answer. The first fence behind the mark decides: a closing one has
nothing behind its backticks and a blank line below it, an opening one has a language or code.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def text_lines(data: bytes) -> list[str]:
    """The lines of a text, without line ends; bytes that are no UTF-8 become U+FFFD.

    Args:
        data: The text, with or without BOM, with LF or CRLF.
    """
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


class Fence(NamedTuple):
    """A line that opens or closes a block of code.

    Attributes:
        line: Its index.
        mark: Its backticks or tildes.
        info: What follows them, such as `python`; a line with it cannot close a block.
        ends_paragraph: Whether a blank line or nothing follows the line.
    """

    line: int
    mark: str
    info: str
    ends_paragraph: bool

    @property
    def kind(self) -> tuple[str, int]:
        """What its other end must have: the same character, at least as often."""
        return self.mark[0], len(self.mark)


def find_fences(lines: Sequence[str], where: Iterable[int]) -> list[Fence]:
    """All fences among some of the lines.

    Args:
        lines: All lines.
        where: Indexes of those to look at, in order.
    """
    found = []
    for number in where:
        if "```" not in lines[number] and "~~~" not in lines[number]:
            continue
        fence = FENCE.match(lines[number])
        if fence is not None and not (fence[1][0] == "`" and "`" in fence[2]):
            ends_paragraph = number + 1 == len(lines) or not lines[number + 1].strip()
            found.append(Fence(number, fence[1], fence[2].strip(), ends_paragraph))
    return found


def quotations(fences: Sequence[Fence], marks: Sequence[int]) -> list[range]:
    """The lines that are quoted for certain, whatever they look like.

    Args:
        fences: The fences of the log's texts, in order.
        marks: Indexes of the lines that look like a mark of the log, in order.

    Returns:
        One range a block, both fences included; they do not overlap.
    """
    pairs = Pairs(fences)
    found: list[range] = []
    after = -1
    for fence in fences:
        if fence.line <= after:
            continue
        end = pairs.end_of(fence)
        place = bisect_right(marks, fence.line)
        mark = marks[place] if place < len(marks) else None
        if end is not None and (mark is None or end.line < mark or pairs.closes(fence, end, mark)):
            found.append(range(fence.line, end.line + 1))
            after = end.line
        elif mark is not None:
            after = mark
    return found


class Pairs:
    """Which fences may belong together.

    Args:
        fences: In order.
    """

    def __init__(self, fences: Sequence[Fence]) -> None:
        self._fences = fences
        self._fitting: dict[tuple[str, int], tuple[list[int], list[int], list[Fence]]] = {}

    def _of_kind(self, kind: tuple[str, int]) -> tuple[list[int], list[int], list[Fence]]:
        """Of the fences with a character at least so often: their lines, the lines of the bare ones, the bare ones."""
        if kind not in self._fitting:
            character, length = kind
            fitting = [fence for fence in self._fences if fence.mark[0] == character and len(fence.mark) >= length]
            bare = [fence for fence in fitting if not fence.info]
            self._fitting[kind] = [each.line for each in fitting], [each.line for each in bare], bare
        return self._fitting[kind]

    def end_of(self, fence: Fence) -> Fence | None:
        """The fence that closes a block, if the given one opens one."""
        _, lines, bare = self._of_kind(fence.kind)
        place = bisect_right(lines, fence.line)
        return bare[place] if place < len(bare) else None

    def closes(self, fence: Fence, end: Fence, mark: int) -> bool:
        """Whether a block goes on behind a mark, to its end."""
        lines, _, _ = self._of_kind(fence.kind)
        return lines[bisect_left(lines, mark)] == end.line and end.ends_paragraph
