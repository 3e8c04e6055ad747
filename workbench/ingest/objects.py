"""JSON objects of foreign files: read by name and type, whatever else is in them.

Of a file of JSON lines every line is an object or an issue. A field of another type than usual counts as absent and is
named in an issue; a record of a type that nobody here knows is kept and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from workbench.ingest import jsonlines
from workbench.ingest.records import Issue
from workbench.ingest.times import MISSING, UNREADABLE, Moment, from_iso

DEEPEST: Final = 200
"""Levels of nesting that are read. What is deeper is no record, and could not be written as JSON again."""

_LARGEST: Final = 2**48
"""Beyond any figure that is meant; sums of thousands of them still fit into a table."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def decode(text: bytes) -> Any:
    """Decode JSON, fast where it is sound and tolerantly where it is not.

    Raises:
        ValueError: It is not JSON whatever one grants it, or nested deeper than `DEEPEST`.
    """
    try:
        value = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = jsonlines.decode_tolerant(text)
    if text.count(b"[") + text.count(b"{") > DEEPEST and _is_deep(value):
        raise ValueError("nested too deeply")
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [child for each in level if isinstance(each, (dict, list)) for child in _children(each)]
        if not level:
            return False
    return True


def _children(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def as_text(value: Any) -> str:
    """A value as text: a text as it is, nothing as nothing, all else as JSON."""
    return value if isinstance(value, str) else "" if value is None else _encode(value).decode()


def picture(media_type: str | None, characters: int) -> str:
    """What stands in a text for a picture; its bytes stay in the archive."""
    return f"[{media_type or 'picture'}, {characters:,} characters of base64]"


class Fields:
    """An object whose fields are asked for by type.

    Args:
        value: The object.
        odd: Takes the names of fields that were asked for and have another type.
        path: Names of the objects it lies in, each with a dot.
    """

    __slots__ = ("_odd", "_path", "value")

    def __init__(self, value: dict[str, Any], odd: list[str], path: str = "") -> None:
        self.value = value
        self._odd = odd
        self._path = path

    def text(self, name: str) -> str | None:
        """A text that is not empty."""
        found = self.value.get(name)
        if isinstance(found, str):
            return found or None
        self._odd_if_there(name, found)
        return None

    def whole(self, name: str) -> int | None:
        """A whole number of a size that can be added up."""
        found = self.value.get(name)
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, int) and not isinstance(found, bool) and -_LARGEST <= found < _LARGEST:
            return found
        self._odd_if_there(name, found)
        return None

    def count(self, name: str) -> int | None:
        """A whole number of things, so none below zero."""
        found = self.whole(name)
        if found is None or found >= 0:
            return found
        self._odd_if_there(name, found)
        return None

    def flag(self, name: str) -> bool | None:
        """Yes or no."""
        found = self.value.get(name)
        if isinstance(found, bool):
            return found
        self._odd_if_there(name, found)
        return None

    def inner(self, name: str) -> Fields:
        """An object inside; empty where there is none."""
        found = self.value.get(name)
        if not isinstance(found, dict):
            self._odd_if_there(name, found)
            found = {}
        return Fields(found, self._odd, f"{self._path}{name}.")

    def items(self, name: str) -> list[Any]:
        """A list; empty where there is none."""
        found = self.value.get(name)
        if isinstance(found, list):
            return found
        self._odd_if_there(name, found)
        return []

    def objects(self, name: str) -> list[Fields]:
        """The objects of a list; what else is in it is odd."""
        found = []
        for item in self.items(name):
            if isinstance(item, dict):
                found.append(Fields(item, self._odd, f"{self._path}{name}."))
            else:
                self._odd_if_there(name, item)
        return found

    def moment(self, name: str) -> Moment:
        """A time in ISO 8601."""
        found = self.value.get(name)
        if found is None or isinstance(found, str):
            return from_iso(found)
        self._odd_if_there(name, found)
        return UNREADABLE

    def epoch(self, name: str) -> Moment:
        """A time in milliseconds since 1970."""
        found = self.value.get(name)
        if found is None:
            return MISSING
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            self._odd_if_there(name, found)
            return UNREADABLE
        try:
            return Moment(_EPOCH + timedelta(milliseconds=found), "recorded")
        except (OverflowError, ValueError):
            return UNREADABLE

    def arguments(self, name: str) -> Any:
        """Arguments of a call, mostly an object; empty where there are none."""
        found = self.value.get(name)
        return {} if found is None else found

    def without(self, *names: str) -> dict[str, Any]:
        """All fields but some."""
        return {name: value for name, value in self.value.items() if name not in names}

    def _odd_if_there(self, name: str, found: Any) -> None:
        if found is not None:
            self._odd.append(f"{self._path}{name}")


class ObjectLine(NamedTuple):
    """One line that holds an object: its number from 1, its bytes without white space around, its fields."""

    number: int
    raw: bytes
    fields: Fields


class ObjectLines:
    """Goes through a file of JSON lines once.

    Args:
        data: The whole file.

    Attributes:
        lines: Lines seen so far, the unfinished last one included.
        issues: What is wrong with them.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.lines = 0
        self.issues: list[Issue] = []

    def __iter__(self) -> Iterator[ObjectLine]:
        """Give every line that is an object; the others become issues and hide nothing."""
        for number, line, ended in jsonlines.lines(self._data):
            self.lines = number
            if jsonlines.is_blank(line):
                continue
            try:
                value = decode(line)
            except ValueError as error:
                self.issues.append(bad_json(number, line, error) if ended else unfinished(number, line))
                continue
            if not isinstance(value, dict):
                detail = f"a JSON {type(value).__name__} where an object was expected; left out: {excerpt(line)}"
                self.issues.append(Issue(number, "not_an_object", detail))
                continue
            odd: list[str] = []
            yield ObjectLine(number, line.strip(), Fields(value, odd))
            self.issues += odd_fields(number, odd)


def bad_json(number: int, line: bytes, error: ValueError) -> Issue:
    """The issue of bytes that are no JSON."""
    return Issue(number, "bad_json", f"not JSON ({error}); {len(line):,} bytes left out: {excerpt(line)}")


def unfinished(number: int, line: bytes) -> Issue:
    """The issue of a last line that is being written."""
    return Issue(number, "unfinished_line", f"{len(line):,} bytes after the last line end are not a record yet")


def odd_fields(number: int, odd: list[str]) -> list[Issue]:
    """The issue of fields of other types, if there are any."""
    names = ", ".join(dict.fromkeys(odd))
    return [Issue(number, "odd_field", f"of another type than usual and left out: {names}")] if odd else []


class UnknownTypes:
    """Counts records of types that a format's reader does not know."""

    def __init__(self) -> None:
        self._lines: dict[str, list[int]] = {}

    def add(self, kind: str, number: int) -> None:
        """Count one."""
        self._lines.setdefault(kind, []).append(number)

    def issues(self) -> list[Issue]:
        """One issue a type, at the first line of it."""
        return [
            Issue(
                numbers[0],
                "unknown_record",
                f"records of type {kind!r} are kept as they are; this version does not know them",
                len(numbers),
            )
            for kind, numbers in self._lines.items()
        ]


def first_objects(head: bytes, most: int = 50) -> Iterator[dict[str, Any]]:
    """The objects among the first lines of a file, for telling its format; a line that is cut off is none."""
    for number, line, _ in jsonlines.lines(head):
        if number > most:
            return
        try:
            value = decode(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def excerpt(line: bytes, length: int = 80) -> str:
    """The beginning of a line, fit to be shown."""
    text = line[: length * 4].decode("utf-8", "replace")
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:length])
    return shown + ("…" if len(text) > length else "")
