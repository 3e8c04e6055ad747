"""Edits of a note's text: a link's name replaced, a link added to the front matter; everything else stays as it is."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

from workbench.vault.front_matter import Block, block_of, key_lines, read_front_matter
from workbench.vault.parser import PlacedLink, parse_note
from workbench.vault.zettel.suggest import UNLINKABLE

LINKS_KEY: Final = "links"
"""The property that parents are added to; PAI specification, 19."""

_ITEM: Final = re.compile(r"[ \t]*-[ \t]")
_LONE_RETURN: Final = re.compile(r"\r(?!\n)")


class RefusedError(Exception):
    """The text is not as the proposal takes it to be, or cannot hold the edit; nothing is changed."""


class Replacement(NamedTuple):
    """A link whose name is replaced.

    Attributes:
        place: Which link of the note, from 0.
        raw: What it says now.
        name: The new name of a wikilink.
        path: The new target, for a Markdown link.
    """

    place: int
    raw: str
    name: str
    path: str


def replaced(text: str, path: str, replacements: Sequence[Replacement]) -> str:
    """Replace the names of links; headings, blocks, display texts and all other characters stay.

    Args:
        text: The note without a byte-order mark.
        path: Of the note; a Markdown link leads from its folder.
        replacements: Of different links.

    Raises:
        RefusedError: A link is not there, says something else, or cannot be replaced where it stands.
    """
    found = parse_note(text, path).links
    spans = sorted((_span(text, path, found, each) for each in replacements), reverse=True)
    for start, end, new in spans:
        text = text[:start] + new + text[end:]
    return text


def _span(text: str, path: str, found: Sequence[PlacedLink], wanted: Replacement) -> tuple[int, int, str]:
    """The characters to replace, and what by."""
    if wanted.place >= len(found) or found[wanted.place].link.raw != wanted.raw:
        raise RefusedError(f"there is no link {wanted.raw!r} where the index has it")
    link = found[wanted.place].link
    start = text.find(wanted.raw, link.start, link.end)
    if link.syntax.startswith("md_"):
        start = text.rfind(wanted.raw, link.start, link.end)
        name, _, _ = wanted.raw.partition("#")
        new = _destination(wanted.path, path)
    else:
        name = link.target
        new = wanted.name
        if UNLINKABLE & set(new):
            raise RefusedError(f"a wikilink cannot hold the name {new!r}")
    at = text.find(name, start, link.end) if start >= 0 else -1
    if at < 0:
        raise RefusedError(f"the link {wanted.raw!r} is written elsewhere in the note: edit it by hand")
    return at, at + len(name), new


def _destination(target: str, source: str) -> str:
    """A Markdown destination from the folder of a note, percent-encoded."""
    return quote(posixpath.relpath(target, posixpath.dirname(source) or "."))


def with_link(text: str, link: str, key: str = LINKS_KEY) -> str:
    """Add a link to a property of the front matter, which is made where there is none.

    A block list gets one more item, so does an inline list, a single value becomes an inline list. A link that the
    property holds already is not added again.

    Args:
        text: The note without a byte-order mark.
        link: Such as `[[Home]]`.
        key: The property.

    Raises:
        RefusedError: The front matter cannot be read, or would not say what it should after the edit.
    """
    if _LONE_RETURN.search(text):
        raise RefusedError(f"its lines end in a carriage return alone: add {link} by hand")
    block = block_of(text)
    front = read_front_matter(text.replace("\r\n", " \n"), block)
    if front.issues:
        raise RefusedError(f"the front matter cannot be read: {front.issues[0].detail}")
    before = {each.key: each.value for each in front.properties}
    held = before.get(key)
    values = held if isinstance(held, list) else [] if held is None else [held]
    if link in values:
        return text
    if isinstance(held, dict):
        raise RefusedError(f"the property {key!r} is no list: add {link} by hand")
    edited = _inserted(text, block, key, link, held)
    plain = edited.replace("\r\n", " \n")
    after = {each.key: each.value for each in read_front_matter(plain, block_of(plain)).properties}
    if after != before | {key: [*values, link]}:
        raise RefusedError(f"the property {key!r} is written in a form that is not edited: add {link} by hand")
    return edited


def _inserted(text: str, block: Block, key: str, link: str, held: object) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    item = json.dumps(link, ensure_ascii=False)
    if block.body == 0:
        return f"---{newline}{key}:{newline}  - {item}{newline}---{newline}{text}"
    place = next((place for place, name in key_lines(text, block) if name == key), None)
    if place is None:
        return f"{text[: block.end]}{key}:{newline}  - {item}{newline}{text[block.end :]}"
    end = _line_end(text, place)
    value = text[place:end].partition(":")[2].strip()
    if value.endswith("]") and value.startswith("[") and isinstance(held, list):
        at = text.rindex("]", place, end)
        return f"{text[:at]}{', ' if held else ''}{item}{text[at:]}"
    if not value:
        return _with_item(text, block, end, item, newline)
    at = text.index(value, place, end)
    return f"{text[:at]}[{value}, {item}]{text[at + len(value) :]}"


def _with_item(text: str, block: Block, end: int, item: str, newline: str) -> str:
    """One more item behind the last one of the block list that begins after the line of its key."""
    place, indent = _next_line(text, end), "  "
    while place < block.end and (found := _ITEM.match(text, place, block.end)):
        indent = found[0].partition("-")[0]
        place = _next_line(text, _line_end(text, place))
    return f"{text[:place]}{indent}- {item}{newline}{text[place:]}"


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end


def _next_line(text: str, end: int) -> int:
    return text.find("\n", end) + 1 or len(text)
