"""Foreign text for a reader's eyes: it shows everything and does nothing.

Transcripts hold colour codes, cursor movements, marks that turn the direction of writing, and characters that cannot be
seen. The record keeps them; what a person reads goes through `visible`.
"""

from __future__ import annotations

import re
from typing import Final

_CODES: Final = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n]*(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard: with what they carry
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x90\x98\x9c\x9e\x9f\n]*(?:\x1b\\|\x9c)"  # other strings for the terminal
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor
    r"|\x1b[ -/]*[0-~]?"
)
"""Terminal codes (ECMA-48). A string without an end hides nothing: only what begins it goes."""

_HIDDEN: Final = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x180E, 0x180E),
    (0x200B, 0x200B),  # zero width space; joiners (200C, 200D) are needed for writing
    (0x200E, 0x200F),  # direction marks
    (0x202A, 0x202E),  # embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, isolates
    (0x3164, 0x3164),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),  # tags: text that only a model reads
)
"""Characters that cannot be seen and change what is, or carry what is not (Unicode, UAX 9 and Default_Ignorable)."""

_SHOWN: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **{code: f"[U+{code:04X}]" for code in range(0x80, 0xA0)},
    **{code: f"[U+{code:04X}]" for first, last in _HIDDEN for code in range(first, last + 1)},
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
    **dict.fromkeys((0x2028, 0x2029), "\n"),
    **dict.fromkeys((0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}"),
}


def visible(text: str) -> str:
    r"""The text as a person may see it.

    Terminal codes are taken out; of a line that was rewritten by carriage returns the last state is kept; every other
    control character becomes its picture, and every invisible one its number.

    >>> visible("\x1b[31mFAIL\x1b[0m 10%\r100%")
    '100%'
    >>> visible("abc\u202edef\x00")
    'abc[U+202E]def␀'
    """
    if text.isprintable():
        return text
    plain = _CODES.sub("", text)
    if "\r" in plain:
        plain = "\n".join(map(_last_state, plain.replace("\r\n", "\n").split("\n")))
    return plain.translate(_SHOWN)


def _last_state(line: str) -> str:
    return next((state for state in reversed(line.split("\r")) if state), "")


def one_line(text: str) -> str:
    """Visible text with every run of spaces and line ends as one space."""
    return " ".join(visible(text).split())


def shorten(text: str, limit: int) -> str:
    """The text, or its beginning and a note of how much more there is.

    >>> shorten("abcdef", 4)
    'abcd… (2 more characters)'
    """
    more = len(text) - limit
    if more <= 0:
        return text
    return f"{text[:limit]}… ({more:,} more character{'s' if more > 1 else ''})"
