"""The score of a context unit: a weighted sum whose every term is kept.

score = pin + recency + max(bm25, semantic) + hydrate_boost + unit_order + last_step, where

    pin           = pinned * pin_scale * w_pin
    recency       = w_recency / (1 + age in turns)
    bm25          = relevance to the prompt by words (0..1) * w_relevance
    semantic      = cosine with the prompt (0..1, 0 without a vector) * w_semantic
    hydrate_boost = highest relevance to an object just brought back (0..1) * w_hydrate_boost
    unit_order    = place among all units of the session, oldest 0 to newest 1, * w_unit_order
    last_step     = relevance to the last model call's text (0..1) * w_last_step

The last two weigh 0 until a study says otherwise.

Source: design, "Score"; PRAANA, "Engine mode"; PRAANA src/context-engine/scoring.ts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.config.context import Scoring

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of each unit before anything is weighted: one array a feature, one value a unit.

    Attributes:
        pinned: 0 or 1.
        age_turns: Turns between the unit's exchange and the prompt, never negative.
        relevance: Relevance to the prompt by words, 0 to 1 (the baseline `seed` has no upper bound).
        semantic: Cosine with the prompt, NaN where either has no vector.
        hydrate: Highest relevance to an object just brought back.
        order: Place among the units of the session, 0 oldest to 1 newest.
        last_step: Relevance to the last model call's text.
    """

    pinned: Floats
    age_turns: Floats
    relevance: Floats
    semantic: Floats
    hydrate: Floats
    order: Floats
    last_step: Floats

    def __len__(self) -> int:
        """Count the units."""
        return len(self.pinned)

    def take(self, places: NDArray[np.intp]) -> Features:
        """The features of some units."""
        return Features(*(getattr(self, each.name)[places] for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Terms:
    """The weighted terms, and their sum: one array a term, one value a unit. `relevance` is max(bm25, semantic)."""

    pin: Floats
    recency: Floats
    bm25: Floats
    semantic: Floats
    relevance: Floats
    hydrate_boost: Floats
    unit_order: Floats
    last_step: Floats
    score: Floats


TERMS: Final = tuple(each.name for each in fields(Terms))
FIRST_RANKED: Final = 64
"""Units ranked before it is asked what else may fit: more than the default bands hold of units of usual size."""
ADDED: Final = ("pin", "recency", "relevance", "hydrate_boost", "unit_order", "last_step")
"""The terms that add up to the score."""


def recency(age_turns: Floats) -> Floats:
    """1 / (1 + age in turns); a unit from the future counts as of now.

    Source: PRAANA, "Engine mode".
    """
    return 1.0 / (1.0 + np.maximum(age_turns, 0.0))


def score_terms(features: Features, weights: Scoring) -> Terms:
    """Weigh the features of every unit, by the formula of this module.

    Args:
        features: Of n units.
        weights: The seed's defaults unless configured.

    Returns:
        Arrays of n values.

    Source: PRAANA src/context-engine/scoring.ts, `scoreUnit`.
    """
    pin = features.pinned * weights.pin_scale * weights.w_pin
    fresh = recency(features.age_turns) * weights.w_recency
    bm25 = features.relevance * weights.w_relevance
    semantic = np.minimum(np.fmax(features.semantic, 0.0), 1.0) * max(weights.w_semantic, 0.0)
    relevance = np.maximum(bm25, semantic)
    hydrate = features.hydrate * max(weights.w_hydrate_boost, 0.0)
    order = features.order * weights.w_unit_order
    last_step = features.last_step * weights.w_last_step
    score = pin + fresh + relevance + hydrate + order + last_step
    return Terms(pin, fresh, bm25, semantic, relevance, hydrate, order, last_step, score)


def collation_key(text: str) -> tuple[list[tuple[bool, bool, str]], str]:
    """Sort key of an id: punctuation, digits, letters; letters without case first, then small before capital.

    Source: PRAANA src/context-engine/scoring.ts, `localeCompare` (the root locale, as far as ids go).
    """
    return [(char.isalpha(), char.isdigit(), char) for char in text.lower()], text.swapcase()


def rank_order(score: Floats, order: NDArray[np.int64], ids: Sequence[str]) -> NDArray[np.intp]:
    """Places of the units, highest score first; ties go to the newest unit, then by id.

    Args:
        score: One a unit.
        order: Position of each unit in the session, later is newer.
        ids: Their ids.

    Returns:
        A permutation of 0 to n - 1.

    Source: design, "Score" (the original breaks ties by id alone).
    """
    if np.all(order[1:] > order[:-1]):  # as in a pool: no two are alike, and the last is the newest
        return len(score) - 1 - np.argsort(-score[::-1], kind="stable")
    by_id = np.empty(len(ids), dtype=np.intp)
    by_id[sorted(range(len(ids)), key=lambda place: collation_key(ids[place]))] = np.arange(len(ids))
    return np.lexsort((by_id, -order, -score))


def select_within(
    budget: int, tokens: NDArray[np.int64], pinned: NDArray[np.bool_], score: Floats, places: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Walk down the ranking of some units and take what fits.

    A pinned unit is always taken and counted, so it may overflow the budget; another is taken when it still fits, else
    skipped, and the walk goes on: a smaller one further down may fit.

    What is left only shrinks, so a unit larger than that is out for good: the best units are ranked and walked, then
    the best of those that may still fit, until there are none. Most of a long session is never ranked.

    Args:
        budget: Tokens.
        tokens: Of each unit.
        pinned: Whether each is pinned.
        score: Of each unit.
        places: Of the units to choose from, the newest last.

    Returns:
        Places of the units taken, the best first.

    Source: PRAANA src/context-engine/scoring.ts, `selectWithinBudget`.
    """
    taken, left, count = [places[:0]], budget, FIRST_RANKED
    while len(places := places[(tokens[places] <= left) | pinned[places]]):
        best, places = _split_best(score, places, count)
        ranking = best[rank_order(score[best], best, ())]
        taken.append(ranking[_walk(left, tokens[ranking], pinned[ranking])])
        left -= int(tokens[taken[-1]].sum())
        count *= 2
    return np.concatenate(taken)


def _walk(budget: int, tokens: NDArray[np.int64], pinned: NDArray[np.bool_]) -> list[int]:
    """Places in a ranking that are taken; a loop over plain numbers, since each step hangs on those before."""
    taken, used = [], 0
    for place, (size, always) in enumerate(zip(tokens.tolist(), pinned.tolist(), strict=True)):
        if always or used + size <= budget:
            taken.append(place)
            used += size
    return taken


def _split_best(score: Floats, places: NDArray[np.intp], count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """At least so many units of the highest scores, none of the rest as high; each in the order of `places`."""
    if len(places) <= count:
        return places, places[:0]
    given = score[places]
    lowest = np.partition(given, -count)[-count]
    if np.isnan(lowest):  # weights may be anything; what is not a number ranks last, yet partitions as the highest
        return places, places[:0]
    high = given >= lowest
    return places[high], places[~high]
