"""From two lists of chunks to one list of hits; every term of a hit's score stays a column.

score = (fused + context * w_context) * recency, or the cross-encoder's score where there is one
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from workbench.text.fusion import minmax_sum, reciprocal_rank

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from workbench.config.knowledge import Search

Mode = Literal["keyword", "semantic", "hybrid"]
Scores = Callable[[Sequence[str]], "NDArray[np.floating]"]
"""Texts to how well each answers the query."""

HIT: Final = ("session_id", "kind", "id")
"""What one hit is: several chunks of it are one hit, with its best chunk."""

_DAY: Final = 86_400.0


def fused(candidates: pl.DataFrame, mode: Mode, settings: Search) -> pl.DataFrame:
    """Join both scores to one.

    Args:
        candidates: `keyword`, `semantic` Float64, null where that list lacks the chunk.
        mode: In `keyword` and `semantic` the one score is taken as it is.
        settings: Which fusion, and its weights.

    Returns:
        The same rows with `fused` Float64.

    Source: PAI, hybrid mode; Cormack, Clarke, Buettcher 2009.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    if mode != "hybrid":
        return candidates.with_columns(fused=pl.col(mode))
    words, meaning = (candidates[name].fill_null(float("nan")).to_numpy() for name in ("keyword", "semantic"))
    if settings.fusion == "rrf":
        scores = reciprocal_rank(words, meaning, settings.rrf_k)
    else:
        both = settings.keyword_weight + settings.semantic_weight
        scores = minmax_sum(words, meaning, settings.semantic_weight / both if both else 0.5)
    return candidates.with_columns(fused=pl.Series(scores, dtype=pl.Float64))


def with_context(candidates: pl.DataFrame, turns: int) -> pl.DataFrame:
    """See what stands beside a hit: the best score of another hit of its session, at most `turns` exchanges away.

    Args:
        candidates: `chunk_id`, `session_id`, `kind`, `id`, `turn`, `fused`.
        turns: Exchanges to either side.

    Returns:
        The same rows with `context` Float64, 0 where nothing was found beside it.
    """
    import numpy as np  # noqa: PLC0415  (100 ms)
    import polars as pl  # noqa: PLC0415  (175 ms)

    own = [candidates[name].to_list() for name in HIT]
    sessions, hits = _numbers(own[0]), _numbers(list(zip(*own, strict=True)))
    turn, scores = (np.array(candidates[name].to_list(), np.float64) for name in ("turn", "fused"))  # None: NaN
    scores = np.nan_to_num(scores, nan=0.0)
    is_beside = sessions[:, None] == sessions[None, :]
    is_beside &= (hits[:, None] != hits[None, :]) & np.array([each is not None for each in own[0]], bool)[None, :]
    is_beside &= np.abs(turn[:, None] - turn[None, :]) <= turns  # never true of NaN
    best = np.where(is_beside, scores[None, :], 0.0).max(axis=1, initial=0.0)
    return candidates.hstack([pl.Series("context", best, dtype=pl.Float64)])


def _numbers(values: Sequence[Hashable]) -> NDArray[np.integer]:
    """A number for each value, the same for equal ones."""
    import numpy as np  # noqa: PLC0415  (100 ms)

    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], np.int64)


def with_recency(candidates: pl.DataFrame, now: datetime, half_life_days: float) -> pl.DataFrame:
    """Let age count: recency = 0.5 ** (age in days / half life), 1 where a chunk has no time or age does not count.

    Args:
        candidates: `occurred_at` Datetime in UTC.
        now: UTC.
        half_life_days: 0: age does not count.

    Returns:
        The same rows with `recency` Float64.

    Source: PAI src/memory/search.ts.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    if half_life_days <= 0:
        return candidates.with_columns(recency=pl.lit(1.0))
    age_days = (pl.lit(now) - pl.col("occurred_at")).dt.total_seconds(fractional=True) / _DAY
    return candidates.with_columns(recency=(pl.lit(0.5) ** (age_days.clip(0) / half_life_days)).fill_null(1.0))


def hits_of(candidates: pl.DataFrame, mode: Mode, settings: Search) -> pl.DataFrame:
    """Make one row of the chunks of each hit: the best of its scores in either list, and its best chunk.

    So a hit has its best place in each list once, however many of its chunks are there.

    Returns:
        One row a hit, with `fused` of both best scores.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    if len(set(zip(*(candidates[name].to_list() for name in HIT), strict=True))) == candidates.height:
        return fused(candidates, mode, settings)
    best_first = fused(candidates, mode, settings).sort("fused", "chunk_id", descending=[True, False], nulls_last=True)
    others = pl.exclude(*HIT, "keyword", "semantic", "fused")
    rows = best_first.group_by(HIT, maintain_order=True).agg(pl.col("keyword", "semantic").max(), others.first())
    return fused(rows, mode, settings)


def scored(
    candidates: pl.DataFrame, mode: Mode, settings: Search, now: datetime, *, each_chunk: bool = False
) -> pl.DataFrame:
    """Make hits of candidates and score them.

    Scores below 0, as cosines may be, are lifted so that the least is 0 before age counts: a negative one would gain.

    Args:
        candidates: Chunks with `keyword` and `semantic`, and their columns.
        mode: How was searched.
        settings: Fusion, weights.
        now: UTC.
        each_chunk: Whether every chunk stays a row of its own.

    Returns:
        One row a hit with `fused`, `context`, `recency` and `score`, best first, ties to the newest, then by id.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    rows = fused(candidates, mode, settings) if each_chunk else hits_of(candidates, mode, settings)
    beside = with_context(rows, settings.context_turns)
    terms = with_recency(beside, now, settings.recency_boost_days)
    sum_of = pl.col("fused") + pl.col("context") * settings.context_weight
    if settings.recency_boost_days > 0:
        sum_of = (sum_of - pl.min_horizontal(sum_of.min(), 0.0)) * pl.col("recency")
    return ordered_by(terms.with_columns(score=sum_of), "score")


def ordered_by(hits: pl.DataFrame, column: str) -> pl.DataFrame:
    """Best first, ties to the newest, then by id."""
    descending = [True, True, False]
    return hits.sort(column, "occurred_at", "chunk_id", descending=descending, nulls_last=True)


def reranked(hits: pl.DataFrame, scores: Scores, top: int) -> pl.DataFrame:
    """Score the best hits again, by a model that reads query and text together.

    Args:
        hits: Best first, with `text`.
        scores: The model.
        top: How many; the others are left out, since the two scores cannot be compared.

    Returns:
        Those hits with `rerank`, which is their `score` now, best first.

    Source: PAI, Cross-Encoder Reranking.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    best = hits.head(top)
    values = pl.Series([float(score) for score in scores(best["text"].to_list())], dtype=pl.Float64)
    return ordered_by(best.with_columns(rerank=values, score=values), "score")
