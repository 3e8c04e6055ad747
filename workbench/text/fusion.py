"""Joining what words found with what meaning found: two lists of scores become one.

Scores of the two lists cannot be compared as they are: a full-text score has no upper bound, a cosine lies within -1..1
and in practice in a narrow band. The weighted sum scales each list to 0..1 first, reciprocal rank fusion looks at ranks
alone. Which of them is the default, and with which weight, was measured: reports/retrieval/README.md.

Arrays hold one score a document in their last axis, NaN where that list does not have the document; leading axes, say
one row a query, are taken along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

RRF_K: Final = 60.0
"""Source: Cormack, Clarke, Buettcher, "Reciprocal rank fusion outperforms Condorcet", SIGIR 2009."""


def minmax_sum(keyword: ArrayLike, semantic: ArrayLike, weight: float) -> NDArray[np.float64]:
    """Add the two lists, each scaled to 0..1.

    score = (1 - weight) * scaled(keyword) + weight * scaled(semantic), where scaled(s) = (s - min) / (max - min) over
    the list, 1 where all scores of the list are equal, 0 where the list lacks the document.

    Args:
        keyword: Scores by words (..., documents), higher is better, NaN where not found.
        semantic: Scores by meaning, of the same shape.
        weight: Share of meaning, 0 to 1; words have the rest.

    Returns:
        Scores within 0..1, of the same shape; a document that both lists lack has 0.

    Raises:
        ValueError: The shapes differ, or the weight is not within 0..1.

    Source: PAI, hybrid mode (0.5 each).
    """
    words, meaning = _pair(keyword, semantic)
    if not 0.0 <= weight <= 1.0:
        raise ValueError(f"the weight of meaning is a share, from 0 to 1, not {weight}")
    return (1.0 - weight) * _scaled(words) + weight * _scaled(meaning)


def reciprocal_rank(keyword: ArrayLike, semantic: ArrayLike, k: float = RRF_K) -> NDArray[np.float64]:
    """Add the reciprocal ranks of the two lists.

    score = 1 / (k + rank in keyword) + 1 / (k + rank in semantic); ranks count from 1, equal scores share the best of
    their ranks, and a list that lacks the document adds nothing.

    Args:
        keyword: Scores by words (..., documents), higher is better, NaN where not found.
        semantic: Scores by meaning, of the same shape.
        k: Damping of ranks, above -1; the greater, the less the first places count.

    Returns:
        Scores of at least 0, of the same shape.

    Raises:
        ValueError: The shapes differ, or k is -1 or less.

    Source: Cormack, Clarke, Buettcher 2009.
    """
    words, meaning = _pair(keyword, semantic)
    if not k > -1.0:
        raise ValueError(f"the damping of ranks is above -1, not {k}")
    return _reciprocal(words, k) + _reciprocal(meaning, k)


def _pair(keyword: ArrayLike, semantic: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np  # noqa: PLC0415  # 100 ms to import, and keyword search alone needs none of it

    words, meaning = np.asarray(keyword, dtype=np.float64), np.asarray(semantic, dtype=np.float64)
    if words.shape != meaning.shape or words.ndim == 0:
        raise ValueError(f"both lists hold a place for each document, but they have {words.shape} and {meaning.shape}")
    return words, meaning


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each list to 0..1; NaN becomes 0."""
    import numpy as np  # noqa: PLC0415  # as above

    found = ~np.isnan(scores)
    least = np.min(scores, axis=-1, keepdims=True, initial=np.inf, where=found)
    most = np.max(scores, axis=-1, keepdims=True, initial=-np.inf, where=found)
    # halves, so that the span of a list from -1e308 to 1e308 stays finite
    span = most / 2 - least / 2
    scaled = np.zeros_like(scores)
    np.divide(scores / 2 - least / 2, span, out=scaled, where=found & (span > 0))
    scaled[found & ~(span > 0)] = 1.0
    return scaled


def _reciprocal(scores: NDArray[np.float64], k: float) -> NDArray[np.float64]:
    """1 / (k + rank) of each score; NaN becomes 0."""
    import numpy as np  # noqa: PLC0415  # as above

    # ascending order of the negated scores puts the best first and NaN last
    order = np.argsort(-scores, axis=-1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=-1)
    places = np.broadcast_to(np.arange(scores.shape[-1]), scores.shape)
    is_new = np.ones(scores.shape, dtype=bool)
    is_new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, np.maximum.accumulate(np.where(is_new, places, 0), axis=-1) + 1.0, axis=-1)
    return np.where(np.isnan(scores), 0.0, 1.0 / (k + ranks))
