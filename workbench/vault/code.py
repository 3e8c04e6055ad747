"""What is code in a note: fenced blocks and inline code, as CommonMark has them. Indentation alone is not code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

HIDDEN: Final = "\x00"
"""Stands for every character of code, so that places stay; notes themselves have none, see `note_text`."""

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_QUOTE: Final = re.compile(r"[ \t]*>[ \t]?")
_ITEM: Final = re.compile(r"([-*+]|\d{1,9}[.)])([ \t]+|$)")
_FENCE: Final = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_RUN: Final = re.compile(r"`+")
_ESCAPE_OR_RUN: Final = re.compile(r"\\.|`+", re.DOTALL)
_INSIDE: Final = re.compile(r"[^\n]")
_ALONE: Final = re.compile(r"#{1,6}(?:[ \t]|$)|\|")
_WIDEST_INDENT: Final = 4
_TAB: Final = 4


class _Line(NamedTuple):
    """A line: behind how many marks of a quote, how far indented behind them, and what comes then."""

    quotes: int
    indent: int
    rest: str


class _Fence(NamedTuple):
    """An open fence: its mark, the marks of a quote before it, and the indentation of the list item it is in."""

    mark: str
    quotes: int
    base: int

    def is_left(self, line: _Line) -> bool:
        """Whether a line is outside of the quote or the list item of the fence, which ends it."""
        return line.quotes < self.quotes or bool(line.rest and line.indent < self.base)

    def is_closed(self, line: _Line) -> bool:
        """Whether a line closes it: the same character, at least as often, and nothing else."""
        is_mark = line.rest.startswith(self.mark) and not line.rest.strip(self.mark[0])
        return is_mark and line.indent - self.base < _WIDEST_INDENT


def hide_code(text: str, start: int = 0) -> str:
    r"""The text with every character of code hidden; line ends, and the backticks of inline code, stay.

    Args:
        text: A note with `\n` at the ends of lines.
        start: Where the body begins; what stands before stays as it is.
    """
    if "`" not in text and "~~~" not in text:
        return text
    pieces = [text[:start]]
    for piece, is_code in _pieces(text, start):
        if is_code:
            pieces.append(_hidden(piece))
        else:
            pieces.append(_without_inline_code(piece) if "`" in piece else piece)
    return "".join(pieces)


def _pieces(text: str, start: int) -> Iterator[tuple[str, bool]]:
    """The body in order: lines of fenced code, and runs of lines within which inline code may go on."""
    run: list[str] = []
    items: list[int] = []
    fence: _Fence | None = None
    quotes = 0
    for found in _LINE.finditer(text, start):
        whole = found[0]
        if fence is not None:
            line = _line(whole, fence.quotes)
            if not fence.is_left(line):
                yield whole, True
                fence = None if fence.is_closed(line) else fence
                continue
        line = _line(whole)
        begins, fence = _begins(line, items, is_same_quote=line.quotes == quotes)
        quotes = line.quotes
        if run and begins:
            yield "".join(run), False
            run = []
        if fence is not None:
            yield whole, True
        else:
            run.append(whole)
    if run:
        yield "".join(run), False


def _line(whole: str, most_quotes: int | None = None) -> _Line:
    quotes = place = 0
    while most_quotes is None or quotes < most_quotes:
        mark = _QUOTE.match(whole, place)
        if mark is None:
            break
        quotes, place = quotes + 1, mark.end()
    rest = whole[place:].rstrip(" \t\n")
    bare = rest.lstrip(" \t")
    blanks = rest[: len(rest) - len(bare)]
    return _Line(quotes, len(blanks.expandtabs(_TAB)), bare)


def _begins(line: _Line, items: list[int], *, is_same_quote: bool) -> tuple[bool, _Fence | None]:
    """Whether no inline code goes on from the line before into this one, and the fence that this one opens.

    Args:
        line: A line outside of code.
        items: Indentation of the content of the list items that are open, from outside to inside; is kept up to date.
        is_same_quote: Whether it is as deep in a quote as the line before.
    """
    if not is_same_quote:
        items.clear()
    _, indent, rest = line
    if not rest:
        return True, None
    while items and indent < items[-1]:
        items.pop()
    begins = not is_same_quote
    base = items[-1] if items else 0
    while indent - base < _WIDEST_INDENT and (item := _ITEM.match(rest)):
        blanks = len(item[2])
        base = indent = indent + len(item[1]) + (blanks if 1 <= blanks <= _WIDEST_INDENT else 1)
        items.append(base)
        begins, rest = True, rest[item.end() :]
    opened = _FENCE.match(rest) if indent - base < _WIDEST_INDENT else None
    if opened:
        return True, _Fence(opened[1] or opened[2], line.quotes, base)
    return begins or _ALONE.match(rest) is not None, None


def _without_inline_code(piece: str) -> str:
    """Hide what stands between a run of backticks and the next run of the same length."""
    closers: dict[int, list[int]] = {}
    for run in _RUN.finditer(piece):
        closers.setdefault(run.end() - run.start(), []).append(run.start())
    parts: list[str] = []
    done = place = 0
    while found := _ESCAPE_OR_RUN.search(piece, place):
        place = found.end()
        if found[0][0] == "\\":  # an escaped character opens nothing
            continue
        length = found.end() - found.start()
        later = closers.get(length, [])
        nearest = bisect_left(later, place)
        if nearest < len(later):
            closer = later[nearest]
            parts += [piece[done:place], _hidden(piece[place:closer])]
            done, place = closer, closer + length
    return "".join([*parts, piece[done:]])


def _hidden(code: str) -> str:
    return _INSIDE.sub(HIDDEN, code)
