r"""Whether a note says what was learned, or only which files were looked at.

Source: PRAANA src/tools/memory.ts, `detectActivityLogNote`; specification A, 23; specification B, 8.
"""

from __future__ import annotations

import re
from typing import Final

LEAST_CHARS: Final = 20
"""A shorter note is never taken for a log. Source: PRAANA src/tools/memory.ts."""

_LOOKED_AT: Final = re.compile(
    r"(?:read|analyzed|reviewed|checked).{0,40}(?:src/|\b[\w.-]+\.(?:ts|js|tsx|jsx|py|go|rs)\b)",
    re.IGNORECASE | re.ASCII,
)
_LISTS_FILES: Final = re.compile(r"(?:src/[\w./-]+(?:,\s*|\s+and\s+)){2,}", re.IGNORECASE)
_LEARNED: Final = re.compile(
    r"\b(?:uses|implements|returns|calls|handles|because|found|decided|pattern|via|is a|are stored)\b",
    re.IGNORECASE | re.ASCII,
)


def is_activity_log(note: str) -> bool:
    """Whether a note only tells which files were looked at.

    Args:
        note: Its text.

    Source: PRAANA src/tools/memory.ts, `detectActivityLogNote`.
    """
    text = note.strip()
    if len(text) < LEAST_CHARS or _LEARNED.search(text):
        return False
    return bool(_LOOKED_AT.search(text) or _LISTS_FILES.search(text))
