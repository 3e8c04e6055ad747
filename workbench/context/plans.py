"""Plans that an agent announces: the steps as text, and which of them a later exchange seems to have done.

Source: PRAANA src/context-engine/turn-digest.ts; specification A, 16.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.context.records import TurnDigest

_FENCED: Final = re.compile(r"```.*?```", re.DOTALL)
_NUMBERED: Final = re.compile(r"^\s*[0-9]+[.)]\s+(.+)$")
_STEP: Final = re.compile(r"^\s*(?:[-*]\s+)?(?:step\s+[0-9]+|first|next)\s*:\s*(.+)$", re.IGNORECASE)
_BOX: Final = re.compile(r"^\s*[-*]\s+\[[ x]\]\s+(.+)$")
_BULLET: Final = re.compile(r"^\s*[-*]\s+(.+)$")
_PHRASES: Final = re.compile(r"\b(?:the plan|my approach|i'll start by|next i'll)\b", re.IGNORECASE)
_SPOKEN: Final = re.compile(
    r"\b(?:the plan is to|my approach is to|i'll start by)\s+(.+?)\s*(?:\n\s*\n|\Z)", re.IGNORECASE | re.DOTALL
)
_INDENTED: Final = re.compile(r"^\s{2,}\S")
_LEAST_STEPS: Final = 2
_LEAST_WORD: Final = 3
"""Words of an item longer than this can tell that it was done. Source: PRAANA src/context-engine/turn-digest.ts."""


def extract_plan(message: str) -> str | None:
    """The plan in an agent's message, one step a line; None where it announces none.

    Args:
        message: What the agent said; code blocks do not count.

    Returns:
        The lines of a list of at least two steps, else what follows `the plan is to` and the like.

    Source: PRAANA src/context-engine/turn-digest.ts, `extractPlan`.
    """
    text = _FENCED.sub("", message)
    lines = text.split("\n")
    if not (_PHRASES.search(text) or any(_begins(line) for line in lines)):
        return None
    steps = _first_list(lines)
    if len(steps) >= _LEAST_STEPS:
        return "\n".join(steps)
    if spoken := _SPOKEN.search(text):
        return spoken[1].strip()
    numbered = [line.strip() for line in lines if _NUMBERED.match(line)]
    return "\n".join(numbered) if len(numbered) >= _LEAST_STEPS else None


def plan_items(plan: str) -> list[str]:
    """The steps of a plan; where it is no list, its parts between commas and semicolons.

    Source: PRAANA src/context-engine/turn-digest.ts, `extractPlanItems`.
    """
    items = [item for line in plan.split("\n") if (item := _item(line))]
    return items or [part.strip() for part in re.split(r"[,;]", plan) if part.strip()]


def completed_items(items: Sequence[str], digest: TurnDigest) -> list[str]:
    """Items of which a longer word stands in the files, decisions or constraints of an exchange.

    Source: PRAANA src/context-engine/turn-digest.ts, `detectCompletedPlanItems`.
    """
    told = [
        *digest.files_changed,
        *digest.files_written,
        *(decision.summary for decision in digest.decisions),
        *digest.constraints,
    ]
    evidence = " ".join(told).lower()
    return [item for item in items if any(word in evidence for word in _long_words(item))]


def _begins(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_NUMBERED, _STEP, _BOX))


def _first_list(lines: Sequence[str]) -> list[str]:
    steps: list[str] = []
    for line in lines:
        if _begins(line) or (steps and (_BULLET.match(line) or _INDENTED.match(line))):
            steps.append(line.strip())
        elif steps and line.strip():
            break
    return steps


def _item(line: str) -> str | None:
    for pattern in (_NUMBERED, _BOX, _STEP, _BULLET):
        if match := pattern.match(line):
            return match[1].strip()
    return None


def _long_words(item: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", item.lower()) if len(word) > _LEAST_WORD]
