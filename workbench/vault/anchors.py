"""Whether a note has the heading or block that a link names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from workbench.vault.names import name_key

_MARKS: Final = re.compile(r"[#|^:%\[\]\\*_`~=]+")


def heading_key(text: str) -> str:
    """The form in which headings are compared: without marks that a link cannot hold, blanks and case."""
    return name_key(" ".join(_MARKS.sub(" ", text).split()))


def has_heading(named: str, headings: Sequence[str]) -> bool:
    """Whether the headings of a note hold those that a link names, one below the other.

    Args:
        named: One heading, or several from the outer to the inner with `#` between them.
        headings: Keys of the note's headings, in order.
    """
    place = 0
    for part in named.split("#"):
        key = heading_key(part)
        if not key:
            continue
        try:
            place = headings.index(key, place) + 1
        except ValueError:
            return False
    return True


def has_block(named: str, blocks: Collection[str]) -> bool:
    """Whether a note has a block of this name; case does not matter."""
    return named.casefold() in blocks
