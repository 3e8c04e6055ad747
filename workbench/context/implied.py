"""Corrections that a person makes in passing: `not npm, pnpm` means that pnpm is to be used.

Only a pair of short names counts, and not what someone says of a state of things (`it is not broken, just slow`). The
sentence it comes from is kept, so that a person can judge it and take it back.

Source: PRAANA, "Session Checkpoint" (implicit constraints); specification A, 16 and W17.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from workbench.text.stop_words import STOP_WORDS

_PAIR: Final = re.compile(
    r"(?:(?<![\w'])(?P<before>[\w']+)\s+)?"
    r"\bnot\s++(?P<out>[^,.!?;\n][^,!?;\n]{0,200}+)\s*+,\s*(?:but\s+)?(?:actually\s+)?"
    r"(?P<instead>.+?)(?=[.!?](?:\s|$)|[;\n]|$)",
    re.IGNORECASE | re.ASCII,
)
"""Nothing in it is tried twice: a message of a megabyte, pasted, takes no longer than reading it."""
_BEFORE_A_STATEMENT: Final = (
    "is are was were be been being am it's that's isn't do does did have has had can could will would should may must "
    "why if or"
)
_PREDICATES: Final = frozenset(_BEFORE_A_STATEMENT.split())
"""Words before `not` that make it a statement or a question."""
_NAME: Final = re.compile(r"[\w.+#/@:-]+(?: [\w.+#/@:-]+){0,2}")
"""A name: up to three words without punctuation between them."""
_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*")
_BEFORE_A_CORRECTION: Final = frozenset({"use", "said", "say", "want", "prefer", "mean", "meant", "with", "in"})


class Implied(msgspec.Struct, frozen=True):
    """A constraint that a message implies, the sentence it stands in, and how sure that is."""

    text: str
    sentence: str
    confidence: Literal["high", "medium"]


def implied_constraints(message: str) -> list[Implied]:
    """The correction that a message makes, if it makes one; at most one.

    Args:
        message: What the person said.

    Returns:
        `Use <instead>, not <out>`, or nothing.

    Source: PRAANA src/context-engine/turn-digest.ts, `extractImplicitConstraints`; specification A, W17.
    """
    text = message.strip()
    match = _PAIR.search(text)
    if match is None:
        return []
    before = (match["before"] or "").lower()
    out, instead = match["out"].strip(), match["instead"].strip()
    if before in _PREDICATES or not (_is_name(out) and _is_name(instead)):
        return []
    confidence: Literal["high", "medium"] = "high" if not before or before in _BEFORE_A_CORRECTION else "medium"
    return [Implied(f"Use {instead}, not {out}", _sentence_around(text, match.start("out")), confidence)]


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and not any(word in STOP_WORDS for word in text.lower().split())


def _sentence_around(text: str, place: int) -> str:
    for match in _SENTENCE.finditer(text):
        if match.start() <= place <= match.end() and match[0].strip():
            return match[0].strip()
    return text
