"""The story of a session: one line for each exchange in which something was settled.

Source: PRAANA, "Session Checkpoint" (session narrative); PRAANA src/context-engine/turn-digest.ts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.context.records import TurnDigest


def narrative_entry(digest: TurnDigest, previous_intent: str, most_chars: int) -> str | None:
    """What an exchange adds to the story; None where it adds nothing.

    Args:
        digest: The exchange.
        previous_intent: What was asked before it.
        most_chars: Length of an entry.

    Source: PRAANA src/context-engine/turn-digest.ts, `isNarrativeWorthy`, `narrativeEntry`.
    """
    asks_anew = bool(previous_intent) and digest.user_intent != previous_intent
    parts = [digest.user_intent] if asks_anew and digest.user_intent else []
    parts += _told("Decided", (decision.summary for decision in digest.decisions))
    parts += _told("Fixed", digest.errors_fixed)
    parts += _told("Error", digest.errors_new)
    parts += _told("Wrote", digest.files_written)
    parts += _told("Constraints", digest.constraints)
    if not parts:
        return None
    text = ". ".join(parts)
    return text if len(text) <= most_chars else text[: most_chars - 1] + "…"


def _told(name: str, things: Iterable[str]) -> list[str]:
    listed = ", ".join(things)
    return [f"{name}: {listed}"] if listed else []
