"""Search hits: the first distinct ones, and how many there are.

Source: PRAANA src/distillers/rg-search.ts; specification A, 14.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.context.distillers.distilled import by_intensity, cut_line

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity

_NOT_BLANK: Final = re.compile(r"^.*\S", re.MULTILINE)


class SearchSummary(msgspec.Struct, frozen=True):
    """What a search found: lines that are not blank, and the first distinct of them."""

    lines: int
    shown: tuple[str, ...]


def summarise_search(text: str, most: int, key_chars: int) -> SearchSummary:
    """Read the hits of a search.

    Args:
        text: What the search wrote.
        most: Distinct hits that are kept.
        key_chars: Two lines whose first characters are alike, blanks apart, are one hit.

    Source: PRAANA src/distillers/rg-search.ts.
    """
    kept: dict[str, str] = {}
    lines = 0
    for found in _NOT_BLANK.finditer(text):
        lines += 1
        if len(kept) < most:
            kept.setdefault(" ".join(found[0].split())[:key_chars], found[0])
    return SearchSummary(lines, tuple(kept.values()))


def distil_search(text: str, intensity: Intensity, settings: Distiller) -> str:
    """The first distinct hits under a header that counts all.

    Source: PRAANA src/distillers/rg-search.ts.
    """
    found = summarise_search(text, by_intensity(settings.search_lines, intensity), settings.search_key_chars)
    if not found.shown:
        return text[: settings.search_fallback_chars]
    most = by_intensity(settings.line_chars, intensity)
    shown = len(found.shown)
    head = f"showing {shown} of {found.lines} lines" if shown < found.lines else f"{found.lines} lines"
    return "\n".join([f"Search results: {head}", *(cut_line(line, most) for line in found.shown)])
