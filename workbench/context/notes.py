"""Whether a note says what was learned, or only which files were looked at.

A note is a log when it tells of looking, or strings files together, and holds no word that says something of them.

Source: PRAANA src/tools/memory.ts, `detectActivityLogNote` (what counts); specification A, 23; specification B, 8.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

LEAST_CHARS: Final = 20
"""A shorter note is never taken for a log. Source: PRAANA src/tools/memory.ts."""
REACH: Final = 40
"""Characters between a word of looking and the file it is about. Source: the same."""
SEVERAL: Final = 3
"""Files strung together that make a list. Source: the same."""

_FILE: Final = re.compile(r"[\w./-]*(?:src/[\w./-]*|\.(?:tsx?|jsx?|py|go|rs)\b)", re.ASCII | re.IGNORECASE)
_SOURCE_FILE: Final = re.compile(r"src/[\w./-]+", re.ASCII | re.IGNORECASE)
_LOOKING: Final = ("read", "analyzed", "reviewed", "checked")
_SAYING: Final = frozenset(
    {"uses", "implements", "returns", "calls", "handles", "because", "found", "decided", "pattern", "via"}
)
_SAYING_PAIRS: Final = frozenset({("is", "a"), ("are", "stored")})


def is_activity_log(note: str) -> bool:
    """Whether a note only tells which files were looked at.

    Args:
        note: Its text.

    Source: PRAANA src/tools/memory.ts, `detectActivityLogNote`.
    """
    text = note.strip()
    if len(text) < LEAST_CHARS or _says_something(text):
        return False
    return _tells_of_looking(text) or _strings_files(text)


def _says_something(text: str) -> bool:
    words = re.findall(r"\w+", text.lower(), re.ASCII)
    return not _SAYING.isdisjoint(words) or not _SAYING_PAIRS.isdisjoint(itertools.pairwise(words))


def _tells_of_looking(text: str) -> bool:
    lower = text.lower()
    ends = [match.end() for word in _LOOKING for match in re.finditer(word, lower)]
    return any(0 <= file.start() - end <= REACH for file in _FILE.finditer(text) for end in ends)


def _strings_files(text: str) -> bool:
    """Files of a source folder with nothing but a comma or `and` between them."""
    run, last = 0, None
    for file in _SOURCE_FILE.finditer(text):
        between = text[last : file.start()] if last is not None else ""
        run = run + 1 if between.strip() in {",", "and"} else 1
        if run >= SEVERAL:
            return True
        last = file.end()
    return False
