"""Text that its author marked as private: `<private>…</private>` is read by nobody but the author."""

from __future__ import annotations

import re
from typing import Final

_PRIVATE: Final = re.compile(r"<private>.*?</private>", re.IGNORECASE | re.DOTALL)
_INSIDE: Final = re.compile(r"[^\n]")


def hide_private(text: str) -> str:
    """The text with blanks in the place of what is private, marks included, so that places and lines stay.

    Args:
        text: Any text; case does not matter, a mark that is not closed hides nothing.

    Source: PAI, memory index, what is removed before chunking.
    """
    if "</" not in text:
        return text
    return _PRIVATE.sub(lambda found: _INSIDE.sub(" ", found[0]), text)
