"""The marks of the history: lines to blocks of chat starts, prompts, messages of the tool, and text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from workbench.ingest.markdown import find_fences, quotations

START: Final = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")

_END: Final = "  "
"""What Aider writes behind the last line of a prompt or of a message of the tool; its prompts have it on every line."""


class Block(NamedTuple):
    """One thing that was written to the history.

    Attributes:
        kind: `start` (the text is its time), `prompt`, `tool` or `text`.
        line: Where it begins, from 1.
        text: What it says, without marks.
    """

    kind: Literal["start", "prompt", "tool", "text"]
    line: int
    text: str


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Tell the marks of the history from those in the answers.

    A prompt stands between blank lines and all its lines end in two spaces; headings in answers do not. A message of
    the tool may have several lines: only the first has the mark, only the last the two spaces. In code that an answer
    quotes nothing is a mark.

    Args:
        lines: The file's lines, without line ends.

    Yields:
        The blocks in order; blank lines between them belong to none.
    """
    scan = _Scan(lines)
    text: list[str] = []
    number = 0
    while number < len(lines):
        end, block = scan.mark(number)
        if block is None:
            if text or lines[number].strip():
                text.append(lines[number])
        else:
            if text:
                yield _text(text, number)
                text = []
            yield block
        number = end
    if text:
        yield _text(text, number)


def _text(lines: list[str], end: int) -> Block:
    return Block("text", end - len(lines) + 1, "\n".join(lines).strip())


class _Scan:
    """One pass over the lines: where the marks are, and what is quoted."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        prompts = dict(_prompts(lines))
        starts = [number for number, line in enumerate(lines) if line.startswith("# aider chat ") and START.match(line)]
        marks = sorted([*prompts, *starts])
        quoted = quotations(find_fences(lines, range(len(lines))), marks)
        self._quoted = {number for block in quoted for number in block}
        self._prompts = {number: end for number, end in prompts.items() if number not in self._quoted}
        self._starts = {number for number in starts if number not in self._quoted}
        self._marks = [number for number in marks if number not in self._quoted]
        self._after_mark = -1  # the line behind a start, prompt or message: no answer begins there

    def mark(self, number: int) -> tuple[int, Block | None]:
        """The block that begins at a line, None where it is text, and the index behind it."""
        lines = self._lines
        line = lines[number]
        if number in self._starts:
            found = START.match(line)
            self._after_mark = number + 2 if number + 1 < len(lines) and not lines[number + 1].strip() else number + 1
            return number + 1, Block("start", number + 1, found[1] if found else "")
        if number in self._prompts:
            end = self._prompts[number]
            text = "\n".join(_prompt_line(each) for each in lines[number:end])
            block = Block("prompt", number + 1, text)
        elif number == self._after_mark and line.strip() and not _is_message(line):
            end = self._message_end(number)
            block = Block("tool", number + 1, "\n".join(lines[number:end]).removeprefix("> ").rstrip())
        elif number not in self._quoted and _is_message(line):
            end = number + 1
            block = Block("tool", number + 1, line[1:].removeprefix(" ").rstrip())
        else:
            return number + 1, None
        self._after_mark = end
        return end, block

    def _message_end(self, number: int) -> int:
        """Behind the last line of a message that goes on: the one with two spaces, else that before a blank line."""
        place = bisect_right(self._marks, number)
        stop = self._marks[place] if place < len(self._marks) else len(self._lines)
        for index in range(number, stop):
            if self._lines[index].endswith(_END):
                if not _is_message(self._lines[index]):
                    return index + 1
                break
        return next((index for index in range(number, stop) if not self._lines[index].strip()), stop)


def _is_message(line: str) -> bool:
    return line.startswith("> ") and line.endswith(_END)


def _prompts(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where blocks of prompt lines begin and end."""
    number = 0
    while number < len(lines):
        if not lines[number].startswith("#### "):
            number += 1
            continue
        start = number
        while number < len(lines) and lines[number].startswith("#### "):
            number += 1
        if (start == 0 or not lines[start - 1].strip()) and all(line.endswith(_END) for line in lines[start:number]):
            yield start, number


def _prompt_line(line: str) -> str:
    """What was typed: without the mark, and without the two spaces that were added."""
    return line.removeprefix("####").removesuffix(_END).removeprefix(" ")
