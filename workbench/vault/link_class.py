"""Sequential or associative: whether the note that a link leads to goes on where the other one stops.

Sequential is a link that stands in a field for order; one to the next note of a series of numbers or dates; one to a
note whose Folgezettel id goes on from the other's; and one to a note with a tag in common. All others associate.
The seed names tags and direct continuation and leaves open what the latter is; the rules are ours.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from workbench.vault.names import name_key, stem

LinkClass = Literal["sequential", "associative"]
Reason = Literal["field", "number", "date", "folgezettel", "tag"]

ORDER_FIELDS: Final = frozenset({"prev", "previous", "next", "up", "parent"})
"""Properties and inline fields whose links say an order; as Breadcrumbs and most templates name them."""

LONGEST_ORDINAL: Final = 4
"""Digits of a number that stands alone before differing names, as in `02 Method`; longer ones are times or keys."""

_DATE: Final = re.compile(r"(?<!\d)(\d{4})([-_. ]?)(?:(\d{2})(?:\2(\d{2}))?|[Ww](\d{2}))(?!\d)")
_NUMBER: Final = re.compile(r"\d{1,18}")
_FOLGEZETTEL: Final = re.compile(r"(\d{1,18}(?:[./]?(?:[a-z]{1,3}(?![a-z])|\d{1,18}))*)(?=\s|$|[_)]|\.\s)")
_PARTS: Final = re.compile(r"\d+|[a-z]+")


class Classed(NamedTuple):
    """What a link is, and why; an associative one has no reason."""

    link_class: LinkClass
    reason: Reason | None


class _Place(NamedTuple):
    """The place of a note in a series: the rest of its name, and what is counted."""

    series: tuple[str, str, str, str]
    value: int


class LinkClasses:
    """Tells the class of links of one vault.

    Args:
        paths: All notes.
        tags: Note to its tags, case folded.
    """

    def __init__(self, paths: Iterable[str], tags: Mapping[str, AbstractSet[str]]) -> None:
        self._tags = tags
        self._places = {path: place for path in paths if (place := _place(path))}
        self._ids = {path: parts for path in paths if (parts := folgezettel(path))}
        values: dict[tuple[str, str, str, str], set[int]] = defaultdict(set)
        for place in self._places.values():
            values[place.series].add(place.value)
        self._next = {
            series: dict(pairwise(ordered)) for series, found in values.items() if len(ordered := sorted(found)) > 1
        }

    def classed(self, source: str, target: str, key: str | None) -> Classed:
        """The class of one link between two notes.

        Args:
            source: The note with the link.
            target: The note that it leads to.
            key: The field that it stands in, if it does.
        """
        if key is not None and key.casefold() in ORDER_FIELDS:
            return Classed("sequential", "field")
        here, there = self._places.get(source), self._places.get(target)
        if here and there and _Place(here.series, self._next.get(here.series, {}).get(here.value, -1)) == there:
            return Classed("sequential", "date" if here.series[0] == "date" else "number")
        reason = self._by_id(source, target)
        if reason:
            return Classed("sequential", reason)
        if not self._tags.get(source, _NONE).isdisjoint(self._tags.get(target, _NONE)):
            return Classed("sequential", "tag")
        return Classed("associative", None)

    def _by_id(self, source: str, target: str) -> Reason | None:
        """Whether the target's id goes on below the source's (1a to 1a1) or beside it (1a to 1b, 1 to 2)."""
        own, other = self._ids.get(source, ()), self._ids.get(target, ())
        if not own or not other:
            return None
        if len(own) < len(other):
            return "folgezettel" if other[: len(own)] == own else None
        if own[:-1] != other[:-1] or len(own) != len(other) or not _is_next(own[-1], other[-1]):
            return None
        if len(own) > 1:
            return "folgezettel"
        is_numbered = len(own[0]) <= LONGEST_ORDINAL and posixpath.dirname(source) == posixpath.dirname(target)
        return "number" if is_numbered else None


_NONE: Final[frozenset[str]] = frozenset()


def _is_next(own: str, other: str) -> bool:
    if own.isdigit() and other.isdigit():
        return int(other) == int(own) + 1
    return len(own) == len(other) == 1 and ord(other) == ord(own) + 1


def folgezettel(path: str) -> tuple[str, ...]:
    """The parts of the Folgezettel id that a note's name begins with: `1a2 Name` has 1, a, 2; else none."""
    found = _FOLGEZETTEL.match(name_key(stem(posixpath.basename(path))))
    return tuple(part.lstrip("0") or "0" for part in _PARTS.findall(found[1])) if found else ()


def _place(path: str) -> _Place | None:
    """The place of a note in a series of its folder: by the date in its name, else by the last number in it."""
    folder, name = posixpath.split(path)
    key = name_key(stem(name))
    for found in _DATE.finditer(key):
        moment = _day(found)
        if moment is not None:
            kind = "week" if found[5] else "day" if found[4] else "month"
            rest = f"{key[: found.start()]}\0{found[2]}{kind}\0{key[found.end() :]}"
            return _Place(("date", folder, rest, kind), moment)
    numbers = list(_NUMBER.finditer(key))
    if not numbers:
        return None
    last = numbers[-1]
    return _Place(("number", folder, f"{key[: last.start()]}\0{key[last.end() :]}", ""), int(last[0]))


def _day(found: re.Match[str]) -> int | None:
    """The day number of a date, of the first day of a month or a week; None where there is no such day."""
    year = int(found[1])
    try:
        if found[5]:
            return date.fromisocalendar(year, int(found[5]), 1).toordinal()
        return date(year, int(found[3]), int(found[4] or 1)).toordinal()
    except ValueError:
        return None
