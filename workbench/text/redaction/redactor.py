"""Taking credentials out of bytes and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, NamedTuple

from workbench.text.redaction.rule import Rule, Stretch
from workbench.text.redaction.rules import ENTROPY, RULES
from workbench.text.redaction.sieve import Sieve
from workbench.text.redaction.views import views

BEFORE: Final = 384
"""Bytes before a mark that are looked at with it: more than lie between the beginning of any match and its mark."""

AFTER: Final = 512
"""Bytes after it that are looked at at first."""

CLOSE: Final = 64
"""What is found so close to an end of what was looked at may go on beyond it: more is looked at."""

EXCERPT: Final = 40
"""Bytes of a line shown on either side of a finding."""

FARTHEST_BREAK: Final = 1024
"""How far back a break is looked for: longer runs without one are pictures."""

_NO_ESCAPE: Final = (b" ", b",", b":", b"\n")
"""Behind one of these no escape is under way."""

_RUN: Final = re.compile(rb"[A-Za-z0-9_.+/=~%-]{0,4096}")
"""As long as most tokens; shorter than a picture, in which a mark may stand by chance."""

_LONGEST_ESCAPE: Final = 6
_BACKSLASH: Final = 0x5C

_FURTHER_BYTE: Final = 0x80
"""The two highest bits of every byte of a character of UTF-8 but its first."""


class Finding(NamedTuple):
    """One credential in a text.

    Attributes:
        line: Number of the line it begins on, from 1.
        rule: Name of the rule.
        excerpt: What stands around it on this line, it and all other credentials replaced.
    """

    line: int
    rule: str
    excerpt: str


class _Gone(NamedTuple):
    """Bytes that go; `rule` is what is shown in their place, or empty where it is shown further up."""

    start: int
    end: int
    rank: int
    rule: str

    @property
    def shown(self) -> bytes:
        return f"[REDACTED:{self.rule}]".encode() if self.rule else b""

    @property
    def shift(self) -> int:
        """How much shorter the text becomes."""
        return self.end - self.start - len(self.shown)


class Redaction:
    """Replaces credentials by `[REDACTED:rule]`.

    Lines keep their number, records stay the same records, JSON stays JSON, and whatever is no credential stays byte
    for byte. What is redacted already does not change again. It may be pickled.

    Args:
        rules: Rules of the table; all of them unless given.
        entropy: Whether whatever looks drawn by lot goes as well: slow, and wrong now and then.
    """

    def __init__(self, rules: Iterable[Rule] = RULES, *, entropy: bool = False) -> None:
        self._rules = (*rules, *([ENTROPY] if entropy else []))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rules hold functions; what is pickled is their places in the table."""
        return _of_table, ([_TABLE.index(rule) for rule in self._rules],)

    def __call__(self, data: bytes) -> bytes:
        """Take credentials out of the bytes of a file.

        Args:
            data: Text in UTF-8, or in another encoding that holds ASCII: JSON, JSON lines, Markdown, a log.

        Returns:
            The same bytes without credentials; the same object where there are none.
        """
        gone = self._gone(data)
        return _without(data, gone) if gone else data

    def text(self, value: str) -> str:
        """Take credentials out of a decoded text: a payload of an event, a message, a line of a report."""
        data = value.encode("utf-8", "surrogatepass")
        clean = self(data)
        return value if clean is data else clean.decode("utf-8", "surrogatepass")

    def findings(self, data: bytes) -> list[Finding]:
        """What would be taken out, in order; nothing of it is shown."""
        gone = self._gone(data)
        clean = _without(data, gone)
        found: list[Finding] = []
        line, place, shift = 1, 0, 0
        for each in gone:
            line += data.count(b"\n", place, each.start)
            place = each.start
            if each.rule:
                found.append(Finding(line, each.rule, _excerpt(clean, place - shift, len(each.shown))))
            shift += each.shift
        return found

    @cached_property
    def _sieve(self) -> Sieve:
        return Sieve(self._rules)

    def _gone(self, data: bytes) -> list[_Gone]:
        """What goes, and then what goes of the rest: what a rule reaches may lie nearer once something is gone."""
        gone: list[_Gone] = []
        clean = data
        while fresh := self._gone_at_once(clean):
            gone = sorted([*gone, *_in_original(fresh, gone)])
            clean = _without(data, gone)
        return gone

    def _gone_at_once(self, data: bytes) -> list[_Gone]:
        found: list[_Gone] = []
        done = 0
        for start, end in _widened(self._sieve.stretches(data)):
            if min(end, len(data)) > done:
                within, done = self._around(data, start, end)
                found += within
        return [each._replace(end=_whole(data, each.end)) for each in _joined(found)]

    def _around(self, data: bytes, start: int, end: int) -> tuple[list[_Gone], int]:
        """What goes of a part of some bytes, and where the part ended that was looked at."""
        before = after = 0
        while True:
            first, last = _cut(data, start - before), _end_of_run(data, min(len(data), end + after))
            found = [*self._within(data[first:last].decode("latin-1"), first)]
            is_early = first > 0 and any(each.start < first + CLOSE for each in found)
            is_late = last < len(data) and any(each.end > last - CLOSE for each in found)
            if not is_early and not is_late:
                return found, last
            before, after = before * 4 + BEFORE * is_early, after * 4 + AFTER * 4 * is_late

    def _within(self, text: str, offset: int) -> Iterator[_Gone]:
        for view in views(text):
            for rule, stretches in self._credentials(view.text):
                name = rule.name
                for stretch in stretches:
                    if (place := view.in_text(*stretch)) is not None:
                        yield _Gone(offset + place[0], offset + place[1], self._sieve.rank[rule], name)
                        name = ""

    def _credentials(self, text: str) -> Iterator[tuple[Rule, list[Stretch]]]:
        done: dict[Rule, int] = {}
        for rule, place in sorted(self._sieve.places(text), key=itemgetter(1)):
            if place >= done.get(rule, 0):
                for stretches in rule.at(text, place):
                    done[rule] = max(end for _, end in stretches)
                    yield rule, stretches


_TABLE: Final = (*RULES, ENTROPY)


def _of_table(places: Sequence[int]) -> Redaction:
    return Redaction(_TABLE[place] for place in places)


def _widened(stretches: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Stretches with what is looked at around them; those that meet become one."""
    first = last = -1
    for start, end in stretches:
        if start - BEFORE > last:
            if last >= 0:
                yield first, last
            first = start - BEFORE
        last = end + AFTER
    if last >= 0:
        yield first, last


def _cut(data: bytes, place: int) -> int:
    """A place before one, or that one, at which no escape is under way."""
    start = max(0, place - FARTHEST_BREAK)
    last = max(data.rfind(char, start, max(0, place)) for char in _NO_ESCAPE)
    if last >= 0 or start == 0:
        return last + 1
    backslash = data.rfind(b"\\", place - _LONGEST_ESCAPE, place)  # one long run: a picture, most likely
    place = place if backslash < 0 else backslash
    while place > 0 and data[place - 1] == _BACKSLASH:
        place -= 1
    return place


def _end_of_run(data: bytes, place: int) -> int:
    """The end of the word that a place lies in, or the place itself: the word may be half a token."""
    match = _RUN.match(data, place)
    return match.end() if match is not None else place


def _whole(data: bytes, end: int) -> int:
    """The end of the character of UTF-8 that a place lies in, or the place itself where it lies between two."""
    while end < len(data) and data[end] & 0xC0 == _FURTHER_BYTE:
        end += 1
    return end


def _joined(gone: list[_Gone]) -> list[_Gone]:
    """What overlaps becomes one, named by the most telling rule."""
    joined: list[_Gone] = []
    for each in sorted(gone):
        if joined and each.start < joined[-1].end:
            one = joined[-1]
            name = min(one, each, key=lambda gone: gone.rank).rule
            joined[-1] = _Gone(one.start, max(one.end, each.end), min(one.rank, each.rank), name)
        else:
            joined.append(each)
    return joined


def _in_original(fresh: list[_Gone], gone: list[_Gone]) -> Iterator[_Gone]:
    """Where what goes of a text that lost some already lies in the original; a replacement is never part of it."""
    shift = place = 0
    for each in fresh:
        while place < len(gone) and gone[place].start - shift <= each.start:
            shift += gone[place].shift
            place += 1
        yield each._replace(start=each.start + shift, end=each.end + shift)


def _without(data: bytes, gone: list[_Gone]) -> bytes:
    parts: list[bytes] = []
    end = 0
    for each in gone:
        parts += data[end : each.start], each.shown
        end = each.end
    parts.append(data[end:])
    return b"".join(parts)


def _excerpt(data: bytes, start: int, length: int) -> str:
    first = max(data.rfind(b"\n", 0, start) + 1, start - EXCERPT)
    newline = data.find(b"\n", start)
    last = min(len(data) if newline < 0 else newline, start + length + EXCERPT)
    return data[first:last].decode("utf-8", "replace").strip()
