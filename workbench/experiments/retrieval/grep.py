"""The baseline that every agent has: look for the words of a query in all texts, as ripgrep would."""

from __future__ import annotations

import re
from typing import Final

import polars as pl

_WORD: Final = re.compile(r"\w+")


def grep_words(query: str) -> list[str]:
    """The different words of a query, lowered, in their order; a run of Chinese is one word, as one types it."""
    return list(dict.fromkeys(_WORD.findall(query.lower())))


def grep(documents: pl.DataFrame, query: str, limit: int) -> pl.DataFrame:
    """Rank documents by how many of the words they hold, wherever in them and whatever the case; then by how often.

    Args:
        documents: `document_id`, `text` in small letters.
        query: What is looked for.
        limit: Most documents returned.

    Returns:
        `document_id`, `words` (different words held, at least 1), `hits` (places), best first, ties by id.
    """
    words = grep_words(query)
    if not words:
        return documents.select("document_id", words=pl.lit(0), hits=pl.lit(0)).clear()
    counts = [pl.col("text").str.count_matches(word, literal=True) for word in words]
    return (
        documents.select(
            "document_id",
            words=pl.sum_horizontal([count > 0 for count in counts]),
            hits=pl.sum_horizontal(counts),
        )
        .filter(pl.col("words") > 0)
        .sort("words", "hits", "document_id", descending=[True, True, False])
        .head(limit)
    )


def matching_lines(text: str, query: str) -> str:
    """The lines of a text that hold a word of the query: what ripgrep prints of it."""
    words = grep_words(query)
    return "\n".join(line for line in text.splitlines() if any(word in line.lower() for word in words))
