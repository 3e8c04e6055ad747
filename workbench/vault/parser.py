"""A note's text, taken apart. Nothing is too odd to be read: whatever is no mark of Markdown is text.

The body is read by scanners of our own. markdown-it-py's parse alone takes about two thirds of the time of all of this
(`tests/benchmarks/bench_vault.py`), and tells neither places in the text nor wikilinks, tags and fields, which would
come on top; so it is the oracle of the tests for what is code, and not a part of the way.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final, Literal, NamedTuple

from workbench.vault.code import HIDDEN, hide_code
from workbench.vault.front_matter import (
    CREATED_KEYS,
    Block,
    FrontMatter,
    block_of,
    key_lines,
    moment_in,
    names_in,
    read_front_matter,
)
from workbench.vault.links import Link, links, wikilinks
from workbench.vault.marks import InlineField, block_marks, headings, inline_fields
from workbench.vault.note_text import NoteIssue
from workbench.vault.tags import inline_tags, listed_tags

Origin = Literal["front_matter", "inline"]

LineOf = Callable[[int], int]
"""From a place in a text to its line."""

_INSIDE: Final = re.compile(r"[^\n]")


class PlacedLink(NamedTuple):
    """A link in a note.

    Attributes:
        line: From 1.
        link: What it says.
        in_front_matter: Whether it stands there.
        key: The property or inline field whose value it is part of; None elsewhere.
    """

    line: int
    link: Link
    in_front_matter: bool
    key: str | None


class PlacedTag(NamedTuple):
    """An occurrence of a tag, spelled as where the note has it first."""

    tag: str
    origin: Origin
    line: int


class PlacedField(NamedTuple):
    """A property or an inline field; `value` is as JSON has it."""

    key: str
    value: Any
    origin: Origin
    line: int


class PlacedHeading(NamedTuple):
    """A heading."""

    line: int
    level: int
    text: str


class PlacedBlock(NamedTuple):
    """The mark of a block."""

    block_id: str
    line: int


@dataclass(frozen=True)
class ParsedNote:
    """What a note says.

    Attributes:
        title: Front matter's `title`, else the first heading of level 1, else the file's name.
        words: Words of the body, separated by white space.
        created_at: What the front matter says.
        links: In order of place.
        tags: Every occurrence, front matter first.
        aliases: Other names, each once.
        headings: In order.
        blocks: In order.
        fields: Properties, then inline fields.
        issues: What could not be read as it was meant.
    """

    title: str
    words: int
    created_at: datetime | None = None
    links: Sequence[PlacedLink] = ()
    tags: Sequence[PlacedTag] = ()
    aliases: Sequence[str] = ()
    headings: Sequence[PlacedHeading] = ()
    blocks: Sequence[PlacedBlock] = ()
    fields: Sequence[PlacedField] = ()
    issues: Sequence[NoteIssue] = field(default=())


def parse_note(text: str, path: str) -> ParsedNote:
    r"""Take a note apart.

    Args:
        text: The note without its byte-order mark; ends of lines of any kind.
        path: Its path, whose last part is the title where the note has none.

    Returns:
        What it says; lines are counted from 1, by `\n`, `\r\n` or `\r`.

    Source: PAI, Vault Index; Obsidian's help, "Internal links", "Tags", "Properties"; CommonMark 0.31.
    """
    plain = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
    block = block_of(plain)
    front = read_front_matter(plain, block)
    hidden = hide_code(plain, block.body)
    line = _line_counter(plain)
    fields = inline_fields(plain, hidden, block.body)
    marked = [(line(each.start), each) for each in headings(plain, hidden, block.body)]
    found = links(hidden, block.body)
    return ParsedNote(
        title=_title(front, [(each.level, each.text) for _, each in marked], path),
        words=len(plain[block.body :].split()),
        created_at=next((at for key in CREATED_KEYS if (at := moment_in(front.first(key)))), None),
        links=[*_front_links(plain, block, line), *_body_links(found, fields, line)],
        tags=_tags(plain, front, _without(hidden, found), block, line),
        aliases=list(dict.fromkeys(each for key in ("aliases", "alias") for each in names_in(front.first(key)))),
        headings=[PlacedHeading(at, each.level, each.text) for at, each in marked],
        blocks=[PlacedBlock(each.block_id, line(each.start)) for each in block_marks(hidden, block.body)],
        fields=[
            *(PlacedField(each.key, each.value, "front_matter", each.line) for each in front.properties),
            *(PlacedField(each.key, each.value, "inline", line(each.start)) for each in fields),
        ],
        issues=front.issues,
    )


def _line_counter(text: str) -> LineOf:
    ends = [found.start() for found in re.finditer("\n", text)]
    return lambda place: bisect_left(ends, place) + 1


def _title(front: FrontMatter, marked: Sequence[tuple[int, str]], path: str) -> str:
    named = front.first("title")
    if isinstance(named, str | int | float) and not isinstance(named, bool) and str(named).strip():
        return str(named).strip()
    return next((text for level, text in marked if level == 1 and text), PurePosixPath(path).stem)


def _front_links(text: str, block: Block, line: LineOf) -> Iterator[PlacedLink]:
    """Wikilinks of the front matter, read from its text: they count whether or not it parses."""
    found = list(wikilinks(text, block.start, block.end, embeds=False))
    keys = list(key_lines(text, block)) if found else []
    places = [place for place, _ in keys]
    for link in found:
        nearest = bisect_right(places, link.start) - 1
        yield PlacedLink(line(link.start), link, in_front_matter=True, key=keys[nearest][1] if nearest >= 0 else None)


def _body_links(found: Sequence[Link], fields: Sequence[InlineField], line: LineOf) -> Iterator[PlacedLink]:
    starts = [each.start for each in fields]
    for link in found:
        nearest = bisect_right(starts, link.start) - 1
        is_value = nearest >= 0 and link.start < fields[nearest].end
        key = fields[nearest].key if is_value else None
        yield PlacedLink(line(link.start), link, in_front_matter=False, key=key)


def _without(hidden: str, found: Sequence[Link]) -> str:
    """The text with links hidden too: `#` in one of them marks no tag."""
    if not found or "#" not in hidden:
        return hidden
    parts, done = [], 0
    for link in found:
        if link.start >= done:
            parts += [hidden[done : link.start], _INSIDE.sub(HIDDEN, hidden[link.start : link.end])]
            done = link.end
    return "".join([*parts, hidden[done:]])


def _tags(text: str, front: FrontMatter, hidden: str, block: Block, line: LineOf) -> list[PlacedTag]:
    found: list[tuple[str, Origin, int]] = []
    for each in front.properties:
        if each.key.casefold() in ("tags", "tag"):
            for tag in listed_tags(each.value):
                place = text.find(tag, text.find(each.key, block.start), block.end)
                found.append((tag, "front_matter", line(place) if place >= 0 else each.line))
    found += [(each.tag, "inline", line(each.start)) for each in inline_tags(hidden, block.body)]
    spelled: dict[str, str] = {}
    return [PlacedTag(spelled.setdefault(tag.casefold(), tag), origin, at) for tag, origin, at in found]
