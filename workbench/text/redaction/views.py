r"""A text as it reads once its escapes are undone, and the way back from a place in it to the text.

A secret in a transcript may stand plain, in a JSON string (`\n`, `\/`, `\u0041`), or in JSON inside a JSON string, and
so on. Undoing the escapes of a whole line at once gives every string of it decoded, in place, whether or not the line
is sound JSON; undoing them again gives the strings of JSON inside those strings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST: Final = 4
"""Escapes inside escapes that are looked through; one in a transcript is usual, two are common, three happen."""

_ESCAPE: Final = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|.|\Z)", re.DOTALL)
_CODE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})")
_NAMED: Final = (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\b", "\b"), ("\\f", "\f"))
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]{0,20}m")
_LETTERS: Final = frozenset("bfnrtu")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_ASCII: Final = 0x80
_BACKSLASH: Final = "\U0010ffff"
"""Stands for a backslash for a moment; no byte and no escape gives this character."""


class View:
    """A text, or what it reads like with escapes undone.

    Args:
        text: What it reads like; the colours of a terminal are spaces in a view, as many as they have characters.
        below: The view whose escapes were undone; none for the text itself.
    """

    def __init__(self, text: str, below: View | None = None) -> None:
        self.text = _COLOUR.sub(_spaces, text) if "\x1b" in text else text
        self.below = below

    def unescaped(self) -> View | None:
        """The view with one more level of escapes undone; none where there are no escapes."""
        if "\\" not in self.text:
            return None
        text = self.text.replace("\\\\", _BACKSLASH)
        for escape, char in _NAMED:
            text = text.replace(escape, char)
        if "\\u" in text:
            text = _CODE.sub(_char, text)
        return View(text.replace("\\", "").replace(_BACKSLASH, "\\"), self)

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Places before and after each escape: in this view, and in the one below; both ascending."""
        here, there = [0], [0]
        length = end = 0
        for match in _ESCAPE.finditer(self.below.text if self.below is not None else ""):
            length += match.start() - end
            end = match.end()
            here += length, length + 1
            there += match.start(), end
            length += 1
        return here, there

    def _down(self, place: int) -> int:
        here, there = self._places
        nearest = bisect_right(here, place) - 1
        return there[nearest] + place - here[nearest]

    def in_text(self, start: int, end: int) -> tuple[int, int] | None:
        r"""Where a stretch of this view lies in the text itself.

        What it covers there are whole characters of strings: it never begins inside an escape, and it ends before a
        quote that closes a string (a `"` that is not escaped further down).

        Returns:
            Start and end; none where the stretch begins inside an escape, as `npm_` does in `\npm_`.
        """
        if _inside_escape(self.text, start):
            return None
        view = self
        while view.below is not None:
            start, end = view._down(start), view._down(end)
            view = view.below
            end = _before_closing_quote(view.text, start, end)
        return (start, end) if start < end else None


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _char(escape: re.Match[str]) -> str:
    """The character of an escape with a code; for all beyond ASCII one that is no part of any mark."""
    code = int(escape[1], 16)
    return chr(code) if code < _ASCII else "\xff"


def views(text: str) -> Iterator[View]:
    """The text itself, then with one level of escapes undone after the other."""
    view: View | None = View(text)
    for _ in range(DEEPEST + 1):
        if view is None:
            return
        yield view
        view = view.unescaped()


def _inside_escape(text: str, place: int) -> bool:
    r"""Whether a place lies behind the backslash of an escape, or among the four digits of one.

    `n` behind two backslashes counts as well: `\\n` is a line end of a string inside a string.
    """
    count = _backslashes(text, place)
    if count % 2 or (count and text[place : place + 1] in _LETTERS):
        return True
    start = place
    while place - start < 4 and start > 0 and text[start - 1] in _HEX:  # noqa: PLR2004  (digits of an escape)
        start -= 1
    return any(text[u - 1 : u] == "u" and _backslashes(text, u - 1) for u in range(max(start, place - 3), place + 1))


def _backslashes(text: str, place: int) -> int:
    """How many backslashes stand right before a place."""
    start = place
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return place - start


def _before_closing_quote(text: str, start: int, end: int) -> int:
    quote = text.find('"', start, end)
    while quote >= 0:
        if _backslashes(text, quote) % 2 == 0:
            return quote
        quote = text.find('"', quote + 1, end)
    return end
