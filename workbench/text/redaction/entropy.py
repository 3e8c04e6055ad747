"""The rule that asks for no name and no form: whatever looks drawn by lot. Off unless asked for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from workbench.text.redaction import shapes
from workbench.text.redaction.rule import Rule, Stretch, taken_if

_KNOWN_ID: Final = re.compile(
    r"(?:toolu|srvtoolu|msg|req|call|chatcmpl|resp|run|thread|asst|file|batch|evt|cus|pk)[_-]"
    r"|sha(?:1|256|384|512)[-:]|[0-9A-HJKMNP-TV-Z]{26}=*$|[0-9a-fA-F-]+$"
)
_RANDOM_BITS: Final = 4.0
"""24 random characters of base64 have 4.3 bits a character in the median, words joined by `_` 3.6."""


def bits(value: str) -> float:
    """Shannon entropy of a value's characters, in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_high_entropy(value: str) -> bool:
    """Whether a value looks drawn by lot from a large alphabet and is none of the known kinds of ids."""
    if shapes.is_placeholder(value) or _KNOWN_ID.match(value) or value.count("/") > len(value) // 8:
        return False
    return shapes.changes(value) >= len(value) // 4 and bits(value) >= _RANDOM_BITS


_BARE_VALUE: Final = re.compile(r"(?:^|[\"'`=: \t\n])([A-Za-z0-9+/_-]{24,200}={0,2})(?:[\"'`\s,;)\]}]|$)")


def _high_entropy(text: str) -> Iterator[list[Stretch]]:
    for match in _BARE_VALUE.finditer(text):
        if _is_high_entropy(match[1]):
            yield [match.span(1)]


ENTROPY: Final = Rule(
    "high-entropy",
    "Anything by itself that looks drawn by lot from a large alphabet; off unless asked for, and slow",
    ("",),
    _BARE_VALUE.pattern,
    taken_if(_is_high_entropy),
    ('x = "{b40}"', "value: {40}"),
    ("commit {h40}", "{h8}-{h4}-{h4}-{h4}-{h12}", "toolu_{24}", "integrity sha512-{b86}=="),
    after=r"[A-Za-z0-9+/_\\-]{24}",
    edged=False,
    finder=_high_entropy,
)
