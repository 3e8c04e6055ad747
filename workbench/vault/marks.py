"""What a note's body marks: headings, blocks that can be linked to, inline fields."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import Final, NamedTuple

from workbench.vault.code import HIDDEN

_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]([^\n]*))?$", re.MULTILINE)
_CLOSING: Final = re.compile(r"(?:^|(?<=[ \t]))#+$")
_UNDERLINE: Final = re.compile(r"^ {0,3}(=+|-+)[ \t]*$", re.MULTILINE)
_NO_PARAGRAPH: Final = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|>|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|\||[-*_=]+[ \t]*$)"
)
_BLOCK: Final = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_KEY: Final = r"([^\W_][\w \t/-]{0,99}?)"
_BEFORE: Final = r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?:\[.\][ \t]+)?"
_LINE_FIELD: Final = re.compile(rf"^{_BEFORE}[*_~]{{0,3}}{_KEY}[*_~]{{0,3}}[ \t]*::([^\n]*)$", re.MULTILINE)
_BRACKETED: Final = re.compile(rf"[\[(]{_KEY}[ \t]*::[ \t]*((?:\[\[[^\[\]\n]*\]\]|[^\[\]()\n]){{0,500}})[\])]")


class Heading(NamedTuple):
    """A heading: place, level from 1 to 6, text."""

    start: int
    level: int
    text: str


class BlockMark(NamedTuple):
    """The mark of a block: place, name."""

    start: int
    block_id: str


class InlineField(NamedTuple):
    """A field in the text, as the plugin Dataview has them: `key:: value` on a line, `[key:: value]` in one.

    Attributes:
        start: Place of its first character.
        end: Place behind its last one.
        key: Its name.
        value: What stands behind the colons.
    """

    start: int
    end: int
    key: str
    value: str


def headings(text: str, hidden: str, start: int) -> list[Heading]:
    r"""The headings of a body, in order.

    Args:
        text: The note, with `\n` at the ends of lines.
        hidden: The same with code hidden.
        start: Where the body begins.
    """
    found: list[Heading] = []
    if "#" in hidden:
        for match in _HEADING.finditer(hidden, start):
            shown = text[match.start(2) : match.end(2)].strip() if match[2] else ""
            found.append(Heading(match.start(), len(match[1]), _CLOSING.sub("", shown).rstrip()))
    found += _underlined(text, hidden, start)
    return sorted(found)


def _underlined(text: str, hidden: str, start: int) -> Iterator[Heading]:
    """Headings with a line of `=` or `-` below a single line of text."""
    for match in _UNDERLINE.finditer(hidden, start):
        end = match.start() - 1
        begin = hidden.rfind("\n", start, end) + 1 or start
        line = hidden[begin:end] if end > start else ""
        before = hidden[hidden.rfind("\n", start, begin - 1) + 1 or start : begin] if begin > start else ""
        if line.strip() and HIDDEN not in line and not _NO_PARAGRAPH.match(line) and not before.strip():
            yield Heading(begin, 1 if match[1][0] == "=" else 2, text[begin:end].strip())


def block_marks(hidden: str, start: int) -> Iterator[BlockMark]:
    """The names of blocks, `^name` at the end of a line."""
    for match in _BLOCK.finditer(hidden, start):
        if match.start() == start or hidden[match.start() - 1] in " \t\n":
            yield BlockMark(match.start(), match[1])


def inline_fields(text: str, hidden: str, start: int) -> list[InlineField]:
    r"""The inline fields of a body, in order.

    Args:
        text: The note, with `\n` at the ends of lines.
        hidden: The same with code hidden.
        start: Where the body begins.
    """
    if "::" not in hidden:
        return []
    fields = [*_fields(_LINE_FIELD, text, hidden, start)]
    lines = [(field.start, field.end) for field in fields]
    inside = (each for each in _fields(_BRACKETED, text, hidden, start) if not _lies_in(each, lines))
    return sorted([*fields, *inside])


def _fields(pattern: re.Pattern[str], text: str, hidden: str, start: int) -> Iterator[InlineField]:
    for match in pattern.finditer(hidden, start):
        yield InlineField(match.start(), match.end(), match[1].strip(), text[match.start(2) : match.end(2)].strip())


def _lies_in(field: InlineField, spans: list[tuple[int, int]]) -> bool:
    nearest = bisect_right(spans, field.start, key=itemgetter(0)) - 1
    return nearest >= 0 and field.start < spans[nearest][1]
