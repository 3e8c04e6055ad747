"""Which units of a pool a prompt takes at each pressure, and why each is in it or not.

Units up to `recent_max_age` exchanges old compete for the recent band, older ones for the older band. Compact pressure
leaves older digests out; an emergency leaves all out (the prompt then shows the cards of the last exchanges).

Source: PRAANA, "Engine mode" and "Pressure"; specification A, D4 to D6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.context.scoring import Features, Terms, rank_order, score_terms, select_within

if TYPE_CHECKING:
    from workbench.config.context import Bands, Scoring
    from workbench.context.caps import Caps
    from workbench.context.pool import UnitPool
    from workbench.context.records import ContextUnit, PressureMode

RECENT: Final = 4
OLDER: Final = 5
"""Numbers of the scored bands. Source: PRAANA, "Engine mode"."""

Why = Literal["included", "over_budget", "compact", "emergency", "cut"]
"""`compact`, `emergency`: left out by that pressure. `cut`: taken, and cut off where the whole was still too long."""


@dataclass(frozen=True, slots=True)
class UnitScores:
    """The units of one compile with all their terms, in the order of the pool.

    Attributes:
        units: Those that stand for themselves.
        terms: One value a unit.
        band: `RECENT` or `OLDER`.
        rank: Place within its band, from 1.
        included: Whether it is in the prompt.
        why: The reason.
    """

    units: Sequence[ContextUnit]
    terms: Terms
    band: NDArray[np.int64]
    rank: NDArray[np.int64]
    included: NDArray[np.bool_]
    why: Sequence[Why]


class Selection:
    """The units of a pool, scored once, selected once a pressure, ranked as far as that is asked.

    Args:
        pool: The units.
        features: Of all units of the pool.
        weights: Of the score.
        bands: Where the older band begins.
        caps: Tokens of each band.
    """

    def __init__(self, pool: UnitPool, features: Features, weights: Scoring, bands: Bands, caps: Caps) -> None:
        self._units = pool.units  # only ever longer: what stands at a place stays there
        self._places = np.flatnonzero(pool.live)
        whole = len(self._places) == len(pool)
        self._terms = score_terms(features if whole else features.take(self._places), weights)
        self._recent = features.age_turns[self._places] <= bands.recent_max_age
        self._bands = {RECENT: np.flatnonzero(self._recent), OLDER: np.flatnonzero(~self._recent)}
        self._caps = {RECENT: caps.recent, OLDER: caps.older}
        self._tokens, self._pinned = pool.tokens[self._places], pool.pinned[self._places]
        self._droppable = pool.is_digest[self._places] & ~self._pinned & ~self._recent
        self._taken: dict[PressureMode, NDArray[np.intp]] = {}

    def in_order(self, mode: PressureMode) -> list[ContextUnit]:
        """The units in the prompt, in its order: the recent band, then the older one, each by score."""
        return [self._units[place] for place in self._places[self._of(mode)].tolist()]

    def scores(self, mode: PressureMode, scored_text: str) -> UnitScores:
        """Every unit with its terms and the reason for its place.

        Args:
            mode: The pressure of the prompt.
            scored_text: The section of scored units as it is sent.
        """
        units = [self._units[place] for place in self._places.tolist()]
        included = np.zeros(len(units), dtype=np.bool_)
        included[self._of(mode)] = True
        why = self._reasons(mode, included)
        for place in self._of(mode).tolist():
            if units[place].content not in scored_text:
                included[place], why[place] = False, "cut"
        return UnitScores(units, self._terms, np.where(self._recent, RECENT, OLDER), self._ranks(), included, why)

    def _of(self, mode: PressureMode) -> NDArray[np.intp]:
        """Places of the units in the prompt at a pressure, in its order."""
        if mode not in self._taken:
            none = np.empty(0, dtype=np.intp)
            self._taken[mode] = none if mode == "emergency" else np.concatenate(self._select(mode))
        return self._taken[mode]

    def _select(self, mode: PressureMode) -> list[NDArray[np.intp]]:
        given = [
            (self._caps[band], places[~self._droppable[places]] if mode == "compact" else places)
            for band, places in self._bands.items()
        ]
        return [select_within(cap, self._tokens, self._pinned, self._terms.score, places) for cap, places in given]

    def _ranks(self) -> NDArray[np.int64]:
        rank = np.zeros(len(self._places), dtype=np.int64)
        for places in self._bands.values():
            rank[places[rank_order(self._terms.score[places], places, ())]] = np.arange(1, len(places) + 1)
        return rank

    def _reasons(self, mode: PressureMode, taken: NDArray[np.bool_]) -> list[Why]:
        if mode == "emergency":
            return ["emergency"] * len(taken)
        dropped = self._droppable if mode == "compact" else np.zeros_like(taken)
        told: list[Why] = np.select([taken, dropped], ["included", "compact"], "over_budget").tolist()
        return told
