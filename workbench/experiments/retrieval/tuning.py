"""Mixtures of words and meaning: the candidates of every query as arrays, a grid of mixtures, the choice among them.

A mixture is chosen on one half of the queries and reported on the other; which half a query is in is told by the hash
of its id, so that it is the same on every machine and stays when queries are added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.retrieval.metrics import DEPTH, ndcg
from workbench.experiments.statistics import Interval, paired_bootstrap_interval
from workbench.text.fusion import RRF_K, minmax_sum, reciprocal_rank

GRID: Final = tuple(round(step / 20, 2) for step in range(21))
"""Weights of meaning that are tried; at 0 and 1 one mode decides and the other only fills up what it did not find."""

NOBODY: Final = -1


class Mixture(NamedTuple):
    """A way to join both lists.

    Attributes:
        method: `minmax` or `rrf`.
        parameter: Weight of meaning, or the damping of ranks.
    """

    method: str
    parameter: float

    def __str__(self) -> str:
        """As a report names it."""
        if self.method == "rrf":
            return f"reciprocal rank, k {self.parameter:g}"
        return f"min-max sum, meaning {self.parameter:.2f}"


ENDS: Final = (Mixture("minmax", 0.0), Mixture("minmax", 1.0))
"""One mode alone."""

MIXTURES: Final = (*(Mixture("minmax", weight) for weight in GRID), Mixture("rrf", RRF_K))


@dataclass(frozen=True)
class Candidates:
    """What both modes found for every query, as arrays (queries, places); a place without candidate has document -1.

    Attributes:
        documents: Number of the document that the chunk is a part of.
        keyword: Score by words, NaN where not found by them.
        semantic: Score by meaning, NaN where not found by it.
        grades: Grade of the document for the query, 0 where wrong.
        ideal: Grades of the query's right documents, highest first.
        chunks: Number of the chunk, by which equal scores are ordered.
    """

    documents: NDArray[np.int64]
    keyword: NDArray[np.float64]
    semantic: NDArray[np.float64]
    grades: NDArray[np.float64]
    ideal: NDArray[np.float64]
    chunks: NDArray[np.int64]


class Ranking(NamedTuple):
    """The best documents of every query, as arrays (queries, ranks).

    Attributes:
        places: Place of the document's best chunk among the candidates; -1 where there are no more.
        gains: Grade at each rank.
    """

    places: NDArray[np.int64]
    gains: NDArray[np.float64]


def mix(candidates: Candidates, mixture: Mixture) -> NDArray[np.float64]:
    """Scores of the candidates by a mixture (queries, places); -inf where there is none."""
    join: Callable[..., NDArray[np.float64]] = minmax_sum if mixture.method == "minmax" else reciprocal_rank
    scores = join(candidates.keyword, candidates.semantic, mixture.parameter)
    return np.where(candidates.documents == NOBODY, -np.inf, scores)


def rank(candidates: Candidates, scores: NDArray[np.float64], depth: int = DEPTH) -> Ranking:
    """Rank documents by their best chunk.

    Args:
        candidates: Of every query.
        scores: Of each candidate (queries, places); NaN or -inf: not found.
        depth: Ranks wanted.

    Returns:
        The ranking; ties by number of the chunk.
    """
    usable = np.where(np.isnan(scores), -np.inf, scores)
    order = np.lexsort((candidates.chunks, -usable), axis=-1)
    documents = np.take_along_axis(candidates.documents, order, axis=1)
    is_found = np.take_along_axis(usable, order, axis=1) > -np.inf
    is_first = is_found & ~_seen_before(documents)
    # found and first ones to the front, in their order
    front = np.argsort(~is_first, axis=1, kind="stable")[:, :depth]
    kept = np.take_along_axis(is_first, front, axis=1)
    places = np.take_along_axis(order, front, axis=1)
    gains = np.where(kept, np.take_along_axis(candidates.grades, places, axis=1), 0.0)
    return Ranking(np.where(kept, places, NOBODY), gains)


def is_tuning_half(query_ids: Sequence[str]) -> NDArray[np.bool_]:
    """Which queries are for choosing (True) and which for reporting: the lowest bit of the first byte of SHA-256."""
    return np.array(
        [sha256(query_id.encode("utf-8", "surrogatepass")).digest()[0] % 2 == 0 for query_id in query_ids], dtype=bool
    )


def headline_by_mixture(
    candidates: Candidates, mixtures: Sequence[Mixture] = MIXTURES
) -> dict[Mixture, NDArray[np.float64]]:
    """The headline measure of every query under every mixture."""
    return {mixture: ndcg(rank(candidates, mix(candidates, mixture)).gains, candidates.ideal) for mixture in mixtures}


class Choice(NamedTuple):
    """What was chosen on the tuning half.

    Attributes:
        mixture: The choice.
        best: The mixture with the best mean there, which is the choice only where it is better beyond chance.
        gain: Best mixture minus the better single mode there, paired over queries.
    """

    mixture: Mixture
    best: Mixture
    gain: Interval


def choose(headline: Mapping[Mixture, NDArray[np.float64]], chosen_on: NDArray[np.bool_], *, seed: int) -> Choice:
    """Choose a mixture by some queries.

    The best of many mixtures looks better than it is. So the choice is the one with the best mean if its paired
    difference from the better single mode is above 0 with its whole interval, and else that single mode.

    Args:
        headline: The measure of each query, by mixture; the weights 0 and 1 are the single modes.
        chosen_on: The queries that count.
        seed: Of the interval.

    Returns:
        The choice; among equal means the mixture nearest to even weights.
    """

    def worth(mixture: Mixture) -> tuple[float, float]:
        evenness = -abs(mixture.parameter - 0.5) if mixture.method == "minmax" else -1.0
        return round(float(headline[mixture][chosen_on].mean()), 12), evenness

    best, single = max(headline, key=worth), max(ENDS, key=worth)
    gain = paired_bootstrap_interval(headline[best][chosen_on], headline[single][chosen_on], seed=seed)
    return Choice(best if gain.low > 0 else single, best, gain)


def _seen_before(documents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a document stands further left in its row already."""
    order = np.argsort(documents, axis=1, kind="stable")
    ordered = np.take_along_axis(documents, order, axis=1)
    repeats = np.zeros(documents.shape, dtype=bool)
    repeats[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    seen = np.empty_like(repeats)
    np.put_along_axis(seen, order, repeats, axis=1)
    return seen
