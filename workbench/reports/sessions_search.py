"""Find words in what was said and done in sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from workbench.reports.asking import Ask, answer

HITS: Final = 20

SCHEMA: Final[Mapping[str, Any]] = {
    "session_id": pl.String,
    "event_id": pl.String,
    "kind": pl.String,
    "occurred_at": pl.Datetime("us", "UTC"),
    "excerpt": pl.String,
}
"""Columns of what is found."""


def find(ask: Ask, words: str, session_ids: Sequence[str] | None = None, *, limit: int = HITS) -> pl.DataFrame:
    """Prompts, responses and tool calls that hold all of the words, the newest first.

    Case does not matter; a word is found inside longer ones too.

    Args:
        ask: Runs SQL.
        words: Separated by spaces; none finds nothing.
        session_ids: Only in these sessions; in all unless given.
        limit: At most so many.

    Returns:
        One row an event: `session_id`, `event_id`, `kind` (prompt, response or tool), `occurred_at`, and `excerpt`,
        some 200 characters around the first word.
    """
    wanted = words.split()
    if not wanted:
        return pl.DataFrame(schema=SCHEMA)
    return answer(ask, "events_with_words", session_ids, words=[word.lower() for word in wanted], most=limit)
