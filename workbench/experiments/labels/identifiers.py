"""Identifiers in texts: words of a program, by their form, so that plain English does not count.

An identifier has an underscore or a digit inside, or a capital after a small letter: `run_all`, `parseLine`,
`utf8Text`. Five to eighty characters.
"""

from __future__ import annotations

from typing import Final

import polars as pl

SHORTEST: Final = 5
LONGEST: Final = 80
"""Longer ones are data."""
_WORD: Final = rf"[A-Za-z_][A-Za-z0-9_]{{{SHORTEST - 1},}}"
_FORM: Final = r"[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Za-z][0-9]"


def identifiers(texts: pl.DataFrame, owner: str, text: str) -> pl.DataFrame:
    """The identifiers of texts.

    Args:
        texts: Rows with an owner and a text.
        owner: Column.
        text: Column.

    Returns:
        `owner`, `token`: each pair once.
    """
    return (
        texts.select(owner, pl.col(text).str.extract_all(_WORD).list.unique().alias("token"))
        .explode("token", empty_as_null=False)
        .drop_nulls("token")
        .filter(pl.col("token").str.len_bytes() <= LONGEST)
        .filter(pl.col("token").str.contains(_FORM))
        .unique([owner, "token"], maintain_order=True)
    )
