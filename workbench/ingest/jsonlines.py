"""JSON lines of foreign files: a fast decoder for what is sound, a tolerant one for what is not.

A record ends at LF and nowhere else (a CR before it is white space). Bytes after the last LF are a record only if they
are whole; if not, the file is being written to and will be read again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

BOM: Final = b"\xef\xbb\xbf"
MOST_DIGITS: Final = 4_000
"""Python refuses to read integers of more than 4,300 digits (CVE-2020-10735)."""


def lines(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Split at LF.

    Yields:
        Line number from 1, the bytes without LF (and without BOM and trailing NULs), and whether an LF ended it.
    """
    *whole, rest = (data.removeprefix(BOM) if data.startswith(BOM) else data).split(b"\n")
    if b"\x00" in data:
        whole = [line.strip(b"\x00") for line in whole]
    for number, line in enumerate(whole, start=1):
        yield number, line, True
    if rest:
        yield len(whole) + 1, rest.strip(b"\x00"), False


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing but white space."""
    return not line or line.isspace()


def decode_tolerant(line: bytes) -> Any:
    """Decode what the strict decoder refuses: bad UTF-8, half surrogates, NaN, numbers out of range, a BOM before it.

    Args:
        line: One line.

    Returns:
        The value. Bytes that are no text and half surrogates become U+FFFD, numbers that are none become null.

    Raises:
        ValueError: It is not JSON whatever one grants it, or it is nested more deeply than can be read.
    """
    text = line.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        value = json.loads(text, parse_constant=lambda _: None, parse_float=_finite, parse_int=_whole, strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply to be read") from error
    return _without_surrogates(value)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _whole(text: str) -> int | float | None:
    return int(text) if len(text) <= MOST_DIGITS else _finite(text)


def _without_surrogates(value: Any) -> Any:
    """The value with half surrogates replaced, level by level: recursion would end before deep values do."""
    root = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    while todo:
        holder, key = todo.pop()
        found = holder[key]
        if isinstance(found, str):
            holder[key] = _text(found)
        elif isinstance(found, list):
            todo += [(found, index) for index in range(len(found))]
        elif isinstance(found, dict):
            holder[key] = renamed = {_text(name): item for name, item in found.items()}
            todo += [(renamed, name) for name in renamed]
    return root[0]


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
