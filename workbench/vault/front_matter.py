"""Front matter: the block of YAML between two lines of `---` at the beginning of a note.

The block is found by its lines, whether or not it parses. Each property is made by itself, so that one that cannot be
read costs no other; a block that is no YAML at all costs its properties, and never the note.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from typing import Any, Final, NamedTuple

import yaml  # type: ignore[import-untyped]

from workbench.vault.note_text import NoteIssue

MOST_VALUES: Final = 20_000
"""Values of one property. YAML's references let a few lines stand for billions of values."""

DEEPEST: Final = 100
"""Levels of one property; libyaml itself is asked nothing deeper, since it recurses on the C stack."""

_OPENING: Final = re.compile(r"---[ \t]*\r?(?:\n|\Z)")
_CLOSING: Final = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_KEY: Final = re.compile(r"([^\s#\-\[\]{},&*!|>%@`'\"][^\n]*?|'[^'\n]*'|\"[^\"\n]*\")[ \t]*:(?=[ \t\r\n]|\Z)")
_UNCLOSED: Final = re.compile(r"---[ \t]*\r?\n[A-Za-z_][\w -]*:(?:[ \t].*)?\r?$", re.MULTILINE)
"""A first line `---` may be a rule; with a property below it, it was meant to begin front matter."""

_LEAST_INT: Final = -(2**63)

CREATED_KEYS: Final = ("created", "created_at", "date created", "created at", "creation date", "date")
"""Properties that say when a note was made, as the usual templates and plugins call them; the first that has a time."""


class Block(NamedTuple):
    """Where a note's front matter is.

    Attributes:
        start: Place of the first character behind the opening line; 0 without front matter.
        end: Place of the closing line.
        body: Place of the first character of the body.
    """

    start: int
    end: int
    body: int


class Property(NamedTuple):
    """One property; `line` is of the note, `value` is as JSON has it."""

    key: str
    value: Any
    line: int


class FrontMatter(NamedTuple):
    """What a note's front matter says."""

    properties: list[Property]
    issues: list[NoteIssue]

    def first(self, *keys: str) -> Any:
        """The value of the first of some keys that is there and not null; case does not matter."""
        known = {each.key.casefold(): each.value for each in reversed(self.properties) if each.value is not None}
        return next((known[key] for key in keys if key in known), None)


def block_of(text: str) -> Block:
    """Find the front matter by its lines.

    The first line is `---`, and so is a later one; blanks behind them and a file that ends there are allowed.

    Args:
        text: A note, without a byte-order mark.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Block(0, 0, 0)
    behind = closing.end() + (text[closing.end() : closing.end() + 1] == "\n")
    return Block(opening.end(), closing.start(), behind)


def read_front_matter(text: str, block: Block) -> FrontMatter:
    """The properties of a note.

    Args:
        text: The note.
        block: Its front matter.
    """
    source = text[block.start : block.end]
    if not block.body and _UNCLOSED.match(text):
        detail = "the block that begins here is not closed by a line `---`; it is read as text"
        return FrontMatter([], [_issue("front_matter", -1, detail)])
    if not source.strip():
        return FrontMatter([], [])
    if _is_deep(source):
        return FrontMatter([], [_issue("front_matter", 0, f"brackets nested deeper than {DEEPEST} levels")])
    loader = yaml.CSafeLoader(_readable(source))
    try:
        return _properties(loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return FrontMatter([], [_unparsed(error)])
    finally:
        loader.dispose()


def names_in(value: Any) -> list[str]:
    """Texts of a property that lists names: a list, or one text with commas between them."""
    if isinstance(value, str):
        return [part for each in value.split(",") if (part := each.strip())]
    items = value if isinstance(value, list) else [value]
    return [name for item in items if isinstance(item, str | int | float) and (name := str(item).strip())]


def moment_in(value: Any) -> datetime | None:
    """A time that a property says; without a zone it is taken for UTC, a day for its beginning."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None


def key_lines(text: str, block: Block) -> Iterator[tuple[int, str]]:
    """Place and name of the properties at the margin of the block, whether or not it parses."""
    place = block.start
    while place < block.end:
        found = _KEY.match(text, place, block.end)
        if found:
            yield place, found[1].strip("'\" ")
        place = text.find("\n", place, block.end) + 1 or block.end


def _readable(source: str) -> str:
    """Characters that YAML does not allow become U+FFFD; lines stay."""
    source = source.replace("\r\n", "\n")
    return source if source.isprintable() else _UNREADABLE.sub("\ufffd", source)


_UNREADABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _is_deep(source: str) -> bool:
    depth = deepest = 0
    for mark in re.finditer(r"[\[\]{}]", source):
        depth = max(0, depth + (1 if mark[0] in "[{" else -1))
        deepest = max(deepest, depth)
    indents = [len(line) - len(line.lstrip(" -?")) for line in source.splitlines()]
    return deepest > DEEPEST or max(indents, default=0) > 4 * DEEPEST


def _properties(loader: Any) -> FrontMatter:
    root = loader.get_single_node()
    if root is None:
        return FrontMatter([], [])
    if not isinstance(root, yaml.MappingNode):
        return FrontMatter([], [_issue("front_matter", root.start_mark.line, "it is no list of `name: value`")])
    properties: list[Property] = []
    issues: list[NoteIssue] = []
    for key, node in root.value:
        line = key.start_mark.line
        if not isinstance(key, yaml.ScalarNode):
            issues.append(_issue("front_matter", line, "a name of a property is a list or a mapping; put it in quotes"))
            continue
        if any(each.key == key.value for each in properties):
            issues.append(_issue("front_matter", line, f"{key.value!r} comes twice; both are kept"))
        value, problem = _value(loader, node)
        if problem:
            issues.append(_issue("front_matter", node.start_mark.line, f"{key.value!r}: {problem}; put it in quotes"))
        properties.append(Property(str(key.value), value, line + 2))
    return FrontMatter(properties, issues)


def _value(loader: Any, node: Any) -> tuple[Any, str | None]:
    """A property's value as JSON has it; null, and why, where it cannot be made."""
    try:
        return _plain(loader.construct_object(node, deep=True), [MOST_VALUES], 0), None
    except yaml.YAMLError as error:
        return None, getattr(error, "problem", None) or "it cannot be read"
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        return None, str(error) or type(error).__name__


def _plain(value: Any, left: list[int], depth: int) -> Any:
    left[0] -= 1
    if left[0] < 0 or depth > DEEPEST:
        raise ValueError(f"it stands for more than {MOST_VALUES:,} values, or is deeper than {DEEPEST} levels")
    if isinstance(value, dict):
        return {_name(key): _plain(item, left, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item, left, depth + 1) for item in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if _LEAST_INT <= value < -_LEAST_INT else str(value)
    return value if isinstance(value, str | bool | float) or value is None else repr(value)


def _name(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(_plain(key, [MOST_VALUES], 0))


def _unparsed(error: Exception) -> NoteIssue:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    told = getattr(error, "problem", None) or str(error)
    return _issue("front_matter", mark.line if mark else 0, f"{told}; the note is read without its properties")


def _issue(kind: str, line_in_block: int, detail: str) -> NoteIssue:
    return NoteIssue(kind, line_in_block + 2, detail)
