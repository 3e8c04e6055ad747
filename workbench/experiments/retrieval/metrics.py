"""Measures of ranked answers: recall, reciprocal rank, discounted gain. Pure, over all queries at once.

`gains` holds the grade of the document at each rank, best rank first, 0 for a wrong document or none (queries, ranks).
`ideal` holds the grades of a query's right documents, highest first, padded by 0 (queries, most right documents).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

CUTS: Final = (1, 5, 10, 20)
"""Ranks at which recall is measured."""

DEPTH: Final = max(CUTS)
"""Ranks that are looked at."""

TOP: Final = 10
"""Ranks that reciprocal rank and discounted gain look at, as usual for both."""

Gains = NDArray[np.float64]

HEADLINE: Final = "ndcg@10"
"""What is tuned for: it sees the rank of every right document, and their grades."""


def recall_any(gains: Gains, cut: int) -> Gains:
    """1 for each query with a right document among the first `cut`, else 0 (queries,)."""
    return np.asarray((gains[:, :cut] > 0).any(axis=1), dtype=np.float64)


def recall_all(gains: Gains, ideal: Gains, cut: int) -> Gains:
    """1 for each query all of whose right documents are among the first `cut`, else 0 (queries,)."""
    found, wanted = (gains[:, :cut] > 0).sum(axis=1), (ideal > 0).sum(axis=1)
    return np.asarray(found == wanted, dtype=np.float64)


def reciprocal_rank(gains: Gains, cut: int = TOP) -> Gains:
    """1 / rank of the first right document, 0 where the first `cut` hold none (queries,)."""
    right = gains[:, :cut] > 0
    return np.where(right.any(axis=1), 1.0 / (right.argmax(axis=1) + 1.0), 0.0)


def ndcg(gains: Gains, ideal: Gains, cut: int = TOP) -> Gains:
    """Discounted gain over the best that is possible, from 0 to 1 (queries,).

    dcg = sum of grade / log2(rank + 1) over the first `cut` ranks. Source: Jarvelin and Kekalainen 2002, with the grade
    itself as gain, as trec_eval has it.
    """
    best = _dcg(ideal, cut)
    return np.divide(_dcg(gains, cut), best, out=np.zeros(len(gains)), where=best > 0)


def measures(gains: Gains, ideal: Gains) -> dict[str, Gains]:
    """Every measure of every query, by its name: `recall_any@k`, `recall_all@k`, `mrr@10`, `ndcg@10`."""
    found: dict[str, Gains] = {}
    for cut in CUTS:
        found[f"recall_any@{cut}"] = recall_any(gains, cut)
        found[f"recall_all@{cut}"] = recall_all(gains, ideal, cut)
    found[f"mrr@{TOP}"] = reciprocal_rank(gains)
    found[HEADLINE] = ndcg(gains, ideal)
    return found


def _dcg(grades: Gains, cut: int) -> Gains:
    considered = grades[:, :cut]
    discounts = 1.0 / np.log2(np.arange(considered.shape[1]) + 2.0)
    discounted: Gains = considered @ discounts
    return discounted
