"""Cutting a note by its sections, each part begun by the end of the one before: PAI's chunking, its faults mended.

`text.chunking` makes few large parts without overlap and is what the indices use; this one is its alternative, chosen
by name where the two are compared (`workbench eval retrieval --chunking sections`). A section is a part of its own
however short it is; one that is too long falls into paragraphs, a paragraph that is too long into sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from workbench.text.chunking import MOST_CHARS_A_TOKEN, CountTokens, chunk_text

MAX_TOKENS: Final = 400
OVERLAP_TOKENS: Final = 80
"""Of a part, and of what it repeats. Source of both: PAI, memory index, chunking."""

_HEADING: Final = re.compile(r"#{1,3}\s")
_FENCE: Final = re.compile(r" {0,3}(?:(`{3,})[^`]*$|(~{3,}))")
_SENTENCE_GAP: Final = re.compile("(?<=[.!?])\\s+(?=[A-Z\"'\u2018\u201c\u00ab])")
_OUTSIDE: Final = -1


class SectionChunk(NamedTuple):
    """A part of a text, with the end of the part before it.

    Attributes:
        text: What is repeated, the end of a line, then the part. The lines of sentences are joined by spaces.
        repeated: Characters of `text` that belong to the part before; 0 where nothing is repeated.
        start: Place of the part's first character in the whole text.
        end: Place behind its last one.
        first_line: Of the part, from 1; a section's own blank lines count as its.
        last_line: Likewise.
    """

    text: str
    repeated: int
    start: int
    end: int
    first_line: int
    last_line: int


def chunk_sections(
    text: str,
    count_tokens: CountTokens,
    max_tokens: int = MAX_TOKENS,
    overlap_tokens: int = OVERLAP_TOKENS,
    most_tokens: int | None = None,
) -> list[SectionChunk]:
    """Cut a text at its headings of the first three levels; what is too long at blank lines, then into sentences.

    Args:
        text: Markdown or not.
        count_tokens: Tokens of a text, whatever marks the model adds included.
        max_tokens: Tokens of a part, what it repeats not counted. A sentence of more is cut between words, a word
            between characters.
        overlap_tokens: Whole lines at the end of a part are repeated in the next until they have so many; 0 repeats
            nothing.
        most_tokens: Tokens of a part and what it repeats, such as a model reads; to keep to it, less is repeated.

    Returns:
        The parts in order; a blank text has none. A fence of code that fits stays whole, in the part and where it is
        repeated; a longer one is cut at its lines.

    Raises:
        ValueError: A number of tokens is out of its range.

    Source: PAI, memory index, chunking. Otherwise than there, a `#` or a blank line inside a fence cuts nothing, the
    overlap is the end of the part before and not of what that repeated itself, no sentence is longer than a part, and
    the lines of sentences are theirs and no estimates.
    """
    if max_tokens < 1 or overlap_tokens < 0:
        raise ValueError(f"a part has at least one token and repeats none or more: {max_tokens}, {overlap_tokens}")
    cutter = _Cutter(text, count_tokens, max_tokens)
    chunks: list[SectionChunk] = []
    before = ""
    for block in cutter.blocks():
        repeated = _end_of(before, count_tokens, overlap_tokens)
        if most_tokens is not None:
            while repeated and count_tokens("\n".join([*repeated, block.text])) > most_tokens:
                del repeated[0]
        head = "".join(f"{unit}\n" for unit in repeated)
        chunks.append(SectionChunk(head + block.text, len(head), *block[1:]))
        before = block.text
    return chunks


class _Piece(NamedTuple):
    """A sentence, or lines of code, by its place."""

    start: int
    end: int
    is_code: bool


class _Block(NamedTuple):
    text: str
    start: int
    end: int
    first_line: int
    last_line: int


class _Cutter:
    """One text on its way into blocks. Lines are counted from 0 here; a range of them ends behind its last."""

    def __init__(self, text: str, count_tokens: CountTokens, max_tokens: int) -> None:
        self._text = text
        self._count = count_tokens
        self._most = max_tokens
        self._lines = text.split("\n")
        self._begins = [0]
        for line in self._lines:
            self._begins.append(self._begins[-1] + len(line) + 1)
        self._fences = _fences(self._lines)

    def blocks(self) -> Iterator[_Block]:
        """All blocks that are not blank."""
        for first, end in self._sections():
            if self._fits(self._of_lines(first, end)):
                yield from self._whole(first, end)
                continue
            for begin, behind in self._paragraphs(first, end):
                if self._fits(self._of_lines(begin, behind)):
                    yield from self._whole(begin, behind)
                else:
                    yield from self._packed(list(self._pieces(begin, behind)))

    def _sections(self) -> Iterator[tuple[int, int]]:
        first = 0
        for number, line in enumerate(self._lines):
            if number and self._fences[number] == _OUTSIDE and _HEADING.match(line):
                yield first, number
                first = number
        yield first, len(self._lines)

    def _paragraphs(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """A blank line ends a paragraph, and begins one where it follows another."""
        begin = first
        for number in range(first, end):
            if number > begin and self._fences[number] == _OUTSIDE and not self._lines[number].strip():
                yield begin, number
                begin = number + 1
        if begin < end:
            yield begin, end

    def _pieces(self, first: int, end: int) -> Iterator[_Piece]:
        """The sentences of a paragraph, and its code: a fence whole, or its lines where it is too long."""
        while first < end:
            fence, behind = self._fences[first], first + 1
            while behind < end and self._fences[behind] == fence:
                behind += 1
            start, stop = self._begins[first], self._begins[behind] - 1
            if fence == _OUTSIDE:
                yield from self._sentences(start, stop)
            elif self._fits(self._text[start:stop]):
                yield _Piece(start, stop, is_code=True)
            else:
                for number in range(first, behind):
                    yield from self._short(self._begins[number], self._begins[number + 1] - 1, is_code=True)
            first = behind

    def _sentences(self, start: int, stop: int) -> Iterator[_Piece]:
        for gap in _SENTENCE_GAP.finditer(self._text, start, stop):
            yield from self._short(start, gap.start(), is_code=False)
            start = gap.end()
        yield from self._short(start, stop, is_code=False)

    def _short(self, start: int, stop: int, *, is_code: bool) -> Iterator[_Piece]:
        """A piece as it is where it fits, else cut."""
        for part in chunk_text(self._text[start:stop], self._count, self._most):
            yield _Piece(start + part.start, start + part.end, is_code)

    def _packed(self, pieces: Sequence[_Piece]) -> Iterator[_Block]:
        """As many pieces together as fit."""
        first = 0
        while first < len(pieces):
            behind = first + 1
            while behind < len(pieces) and self._fits(self._joined(pieces[first : behind + 1])):
                behind += 1
            yield from self._block(self._joined(pieces[first:behind]), pieces[first].start, pieces[behind - 1].end)
            first = behind

    def _joined(self, pieces: Sequence[_Piece]) -> str:
        """Sentences side by side, code on lines of its own, a word that was cut as one word."""
        text = ""
        for place, piece in enumerate(pieces):
            own = self._text[piece.start : piece.end]
            text += self._between(pieces[place - 1], piece) if place else ""
            text += own if piece.is_code else own.replace("\n", " ").strip()
        return text

    def _between(self, before: _Piece, piece: _Piece) -> str:
        is_one_line = before.end == piece.start
        if piece.is_code or before.is_code:
            return "" if is_one_line else "\n"
        around = self._text[piece.start - 1 : piece.start + 1]
        return "" if is_one_line and not any(map(str.isspace, around)) else " "

    def _whole(self, first: int, end: int) -> Iterator[_Block]:
        text, begin = self._of_lines(first, end), self._begins[first]
        if text.strip():
            yield _Block(text.strip(), *self._trimmed(begin, begin + len(text)), first + 1, end)

    def _block(self, text: str, start: int, end: int) -> Iterator[_Block]:
        if text.strip():
            start, end = self._trimmed(start, end)
            lines = (bisect_right(self._begins, place) for place in (start, end - 1))
            yield _Block(text.strip(), start, end, *lines)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        text = self._text[start:end]
        return end - len(text.lstrip()), start + len(text.rstrip())

    def _of_lines(self, first: int, end: int) -> str:
        return self._text[self._begins[first] : self._begins[end] - 1]

    def _fits(self, text: str) -> bool:
        return len(text) <= self._most * MOST_CHARS_A_TOKEN and self._count(text) <= self._most


def _fences(lines: Sequence[str]) -> list[int]:
    """For each line the number of the first line of the fence that it is in, its marks included; -1 outside."""
    inside: list[int] = []
    begin, mark = _OUTSIDE, ""
    for number, line in enumerate(lines):
        if begin == _OUTSIDE:
            found = _FENCE.match(line)
            if found:
                begin, mark = number, found[1] or found[2]
            inside.append(begin)
            continue
        inside.append(begin)
        if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            begin = _OUTSIDE
    return inside


def _end_of(block: str, count_tokens: CountTokens, tokens: int) -> list[str]:
    """The last lines of a block, a fence as one, until they have so many tokens."""
    lines = block.split("\n") if block and tokens else []
    fences = _fences(lines)
    units: list[str] = []
    behind = len(lines)
    while behind and (not units or count_tokens("\n".join(units)) < tokens):
        first = behind - 1
        while first and fences[first] != _OUTSIDE and fences[first - 1] == fences[first]:
            first -= 1
        units.insert(0, "\n".join(lines[first:behind]))
        behind = first
    return units
