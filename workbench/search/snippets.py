"""The part of a text that shows why it was found, and where in it the words are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_WORD_BEGINS: Final = r"(?:(?<![^\W_])|(?<=[a-z0-9])(?=[A-Z]))"
_WORD_ENDS: Final = r"(?:(?![^\W_])|(?<=[a-z0-9])(?=[A-Z]))"
_ENDINGS: Final = re.compile(r"(?:ing|ed|es|s|e|er|ion)$")
_LEAST_STEM: Final = 4
"""Words of fewer letters are marked only as they are, and only where they stand alone; of longer ones, what the index
takes for the same word is marked too: `failing` finds `failed`."""

_LEAD: Final = 4
"""A snippet begins a quarter of its length before the first mark, so that what stands before it can be read."""


class Snippet(NamedTuple):
    """A part of a text.

    Attributes:
        text: Its characters, as they are.
        start: Place of its first character in the text.
        marks: Begin and end of what was found, within `text`, ascending, apart from each other.
    """

    text: str
    start: int
    marks: list[list[int]]


def snippet(text: str, words: Sequence[str], length: int) -> Snippet:
    """Take the part of a text in which most of the words stand.

    Args:
        text: Any text.
        words: Lower-case, as `query_terms` gives them.
        length: Most characters; a text that is shorter is taken whole.

    Returns:
        The earliest of the best parts; the beginning where no word is found.
    """
    found = _found(text, words)
    start = 0 if len(text) <= length else _best_start(text, found, length)
    end = min(start + length, len(text))
    inside = ([max(first, start) - start, min(last, end) - start] for first, last, _ in found if first < end)
    return Snippet(text[start:end], start, _merged([first, last] for first, last in inside if last > max(first, 0)))


def _found(text: str, words: Sequence[str]) -> list[tuple[int, int, str]]:
    """Begin, end and word of everything that is found; pairs in a CJK run overlap."""
    plain, pairs = _patterns(tuple(words))
    found = [(match.start(), match.end(), match[0].lower()) for match in plain.finditer(text)] if plain else []
    if pairs is not None and not text.isascii():
        found += [(match.start(1), match.end(1), match[1]) for match in pairs.finditer(text)]
    return sorted(found)


@lru_cache(maxsize=64)
def _patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    plain = [_form(word) for word in longest_first if word.isascii()]
    pairs = [f"(?i:{re.escape(word)})" for word in longest_first if not word.isascii()]
    return (
        re.compile(f"{_WORD_BEGINS}(?:{'|'.join(plain)})") if plain else None,
        re.compile(f"(?=({'|'.join(pairs)}))") if pairs else None,
    )


def _form(word: str) -> str:
    stem = _ENDINGS.sub("", word)
    if len(stem) < _LEAST_STEM:
        return f"(?i:{re.escape(word)}){_WORD_ENDS}"
    return f"(?i:{re.escape(stem)})[a-z]*"


def _best_start(text: str, found: Sequence[tuple[int, int, str]], length: int) -> int:
    best, best_start = (0, 0), 0
    for number, (first, _, _) in enumerate(found):
        start = max(0, min(first - length // _LEAD, len(text) - length))
        inside = [word for begin, end, word in found[number:] if end <= start + length]
        if (len(set(inside)), len(inside)) > best:
            best, best_start = (len(set(inside)), len(inside)), start
    return best_start


def _merged(marks: Iterable[list[int]]) -> list[list[int]]:
    merged: list[list[int]] = []
    for first, last in sorted(marks):
        if merged and first <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    return merged
