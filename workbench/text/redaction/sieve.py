r"""Where in a text the rules have to look.

The marks of some rules, each with what follows it, are one expression for the regex engine of Rust that comes with
pydantic-core. It keeps what it compiled, answers for a short text in a microsecond, and passes by several GB a second
as long as an expression begins with few literals (24 here), which it looks for with vector instructions. Measured on
the same rules: Python's own `re` 2 to 20 MB a second; RE2 in pyarrow 370, but it compiles at every call, 5 ms; Polars,
the same engine, takes 0.2 s to import where pydantic-core takes 0.06.

Few parts of a text are left, and only there are escapes undone and rules tried. Escapes cannot hide a secret: letters,
digits and the like that are escaped (`\u0041`) are a mark of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.text.redaction.rule import NEAR, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LITERALS: Final = 24
"""Marks in one expression; with more, the engine falls back to going byte by byte (measured)."""

SIZES: Final = (131_072, 8192, 512)
"""Bytes looked at in one call; where something is found, again in smaller parts. A third faster than from 32 kB, and
twice as fast as from 1 MB, which no cache holds (measured on real sessions)."""

HIDDEN: Final = r"\\u00(?:2[b-fB-F]|3[0-9adAD]|[46][0-9a-fA-F]|5[0-9afAF]|7[0-9aA])"
"""Escapes of the characters that credentials consist of; `<`, `>`, `&` and quotes are escaped by many programs."""

_LONGEST_EDGE: Final = 3
_EDGE: Final = re.compile(r"(?:[^A-Za-z0-9]|%[0-9A-Fa-f]{2}|^)\Z")
"""Before a key: anything but a letter or digit; `%20` ends in one and is none."""


Test = Callable[[str], bool]


class Group(NamedTuple):
    """Some marks.

    Attributes:
        holds: Whether a text holds one of them, with what follows it.
        rules: The rules of each mark.
    """

    holds: Test
    rules: dict[str, list[Rule]]


class Sieve:
    """Tells where some rules have to look.

    Args:
        rules: The rules, the most telling first.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rank = {rule: rank for rank, rule in enumerate(rules)}
        self._after: dict[Rule, Test] = {}

    @cached_property
    def _groups(self) -> list[Group]:
        of_mark: dict[str, list[Rule]] = {}
        for rule in self.rank:
            for mark in rule.marks:
                of_mark.setdefault(mark, []).append(rule)
        families = _families(of_mark)
        heads = sorted(families, key=len)  # the engine looks at as many characters of each as the shortest has
        groups = [Group(_expression(HIDDEN), {})]
        for start in range(0, len(heads), LITERALS):
            some = {head: families[head] for head in heads[start : start + LITERALS]}
            pattern = "|".join(_family_pattern(head, marks, of_mark) for head, marks in some.items())
            groups.append(
                Group(_expression(pattern), {mark: of_mark[mark] for marks in some.values() for mark in marks})
            )
        return groups

    def stretches(self, data: bytes) -> Iterator[tuple[int, int]]:
        """The parts of raw bytes that may hold a credential, in order; they may overlap."""
        tests = [group.holds for group in self._groups]
        for start, end in _cut(len(data), SIZES[0]):
            yield from _narrowed(data[start:end].decode("latin-1"), start, tests, SIZES[1:])

    def places(self, text: str) -> Iterator[tuple[Rule, int]]:
        """Where in a decoded text which rules are to be tried; a rule with a finder once."""
        for group in self._groups:
            if group.holds(text):
                for mark, rules in group.rules.items():
                    yield from self._places_of(mark, rules, text)

    def _places_of(self, mark: str, rules: Sequence[Rule], text: str) -> Iterator[tuple[Rule, int]]:
        place = text.find(mark)
        if place >= 0:
            yield from ((rule, place) for rule in rules if rule.finder is not None)
        rules = [rule for rule in rules if rule.finder is None]
        while rules and place >= 0:
            is_edge = _EDGE.search(text, max(0, place - _LONGEST_EDGE), place) is not None
            behind = text[place + len(mark) : place + NEAR]
            yield from ((r, place) for r in rules if (is_edge or not r.edged) and self._follows(r)(behind))
            place = text.find(mark, place + 1)

    def _follows(self, rule: Rule) -> Test:
        """Whether a text begins with what follows a mark of a rule; in linear time, as Python's `re` is not."""
        if rule not in self._after:
            self._after[rule] = _expression(rf"^(?:{rule.after})")
        return self._after[rule]


def _narrowed(text: str, offset: int, tests: list[Test], sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The smallest parts of a text in which one of some tests finds something."""
    passed = [holds for holds in tests if holds(text)]
    if passed and sizes:
        for start, end in _cut(len(text), sizes[0]):
            yield from _narrowed(text[start:end], offset + start, passed, sizes[1:])
    elif passed:
        yield offset, offset + len(text)


def _families(marks: Iterable[str]) -> dict[str, list[str]]:
    """Marks by the shortest of them that they begin with: one literal stands for a family."""
    families: dict[str, list[str]] = {}
    for mark in sorted(marks):
        head = next((mark[:length] for length in range(len(mark)) if mark[:length] in families), mark)
        families.setdefault(head, []).append(mark)
    return families


def _family_pattern(head: str, marks: Iterable[str], of_mark: dict[str, list[Rule]]) -> str:
    rest = dict.fromkeys(re.escape(mark[len(head) :]) + f"(?:{rule.after})" for mark in marks for rule in of_mark[mark])
    return f"{re.escape(head)}(?:{'|'.join(rest)})"


def _expression(pattern: str) -> Test:
    from pydantic_core import SchemaValidator, core_schema  # noqa: PLC0415  (60 ms)

    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python


def _cut(length: int, size: int) -> Iterator[tuple[int, int]]:
    """Parts of some size that overlap, so that a mark and what follows it is in one of them."""
    for place in range(0, max(length - NEAR, 1), size):
        yield place, min(place + size + NEAR, length)
