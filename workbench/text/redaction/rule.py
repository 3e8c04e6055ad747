"""What a rule is.

A rule is a pattern and a judge. The pattern is tried where one of the rule's marks stands; the judge looks at what it
matched and names the parts that go. Patterns are in the syntax of Rust's `regex`: no look-around, no back references.
They see decoded text, as bytes in the guise of characters (Latin-1, ASCII classes), and what they take holds no quote
and no backslash, other than whole escapes inside a quoted value: so what goes is always a part of one string.

Examples are written with gaps, so that nothing here looks like a credential: `{36}` stands for 36 letters and digits,
`{h32}` for hexadecimal digits, `{l34}` for letters, `{A16}` for capitals and digits, `{w40}` for letters, digits, `-`
and `_`, `{b40}` for base64, `{d10}` for digits, `{p12}` for base64 of a user and a password of that length, `{}` for
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

NEAR: Final = 256
"""A mark and what follows it, as far as it is looked at, are no longer."""

FAR: Final = 4096
"""How far behind its mark a match ends at most that would run on to the next quote, or begins before its mark."""

Stretch = tuple[int, int]
Judge = Callable[[re.Match[str]], Iterable[Stretch]]
Finder = Callable[[str], Iterator[list[Stretch]]]


def taken_if(accepts: Callable[[str], bool]) -> Judge:
    """A judge that takes the group of a match that took part, if its value is accepted."""

    def judge(match: re.Match[str]) -> Iterator[Stretch]:
        group = match.lastindex or 0
        if accepts(match[group]):
            yield match.span(group)

    return judge


@dataclass(frozen=True, eq=False)
class Rule:
    """One kind of credential.

    Attributes:
        name: What replaces it: `[REDACTED:name]`.
        about: What it is.
        marks: Literals; every match holds one of them.
        pattern: What is looked for around a mark.
        judge: The parts of a match that go; none of them if it is no credential.
        taken: Texts of which something goes.
        kept: Texts that look alike and stay whole.
        after: What follows a mark in raw bytes, escapes and all; as much as it takes to pass by most marks that stand
            for something else.
        edged: Whether the mark has an edge before it: anything but a letter or digit.
        before: How far before the mark a match may begin; 0: it begins with it.
        behind: How far behind the beginning of the mark it may end.
        finder: Finds what goes in a text where a pattern alone cannot.
    """

    name: str
    about: str
    marks: tuple[str, ...]
    pattern: str
    judge: Judge
    taken: tuple[str, ...]
    kept: tuple[str, ...] = ()
    after: str = ""
    edged: bool = True
    before: int = 0
    behind: int = 1_000_000
    finder: Finder | None = None

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.ASCII)

    def at(self, text: str, place: int) -> Iterator[list[Stretch]]:
        """What goes where a mark stands: one list a credential, which is named at the first of its stretches."""
        if self.finder is not None:
            yield from self.finder(text)
        elif self.before:
            start = max(0, place - self.before)
            while (around := self._compiled.search(text, start, place + self.behind)) and around.start() <= place:
                start = around.start() + 1
                if around.end() > place:
                    yield from ([stretch] for stretch in self.judge(around))
        elif (match := self._compiled.match(text, place, place + self.behind)) is not None:
            yield from ([stretch] for stretch in self.judge(match))
