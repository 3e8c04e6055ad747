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
    """The units of a pool, scored and ranked once, selected once a pressure.

    Args:
        pool: The units.
        features: Of all units of the pool.
        weights: Of the score.
        bands: Where the older band begins.
        caps: Tokens of each band.
    """

    def __init__(self, pool: UnitPool, features: Features, weights: Scoring, bands: Bands, caps: Caps) -> None:
        places = np.flatnonzero(pool.live)
        whole = len(places) == len(pool)
        self.units = pool.units[:] if whole else [pool.units[place] for place in places]
        self._terms = score_terms(features if whole else features.take(places), weights)
        self._band = np.where(features.age_turns[places] <= bands.recent_max_age, RECENT, OLDER)
        self._tokens, self._pinned = pool.tokens[places], pool.pinned[places]
        self._droppable = pool.is_digest[places] & ~self._pinned
        ranking = rank_order(self._terms.score, places, ())
        self._rankings = {band: ranking[self._band[ranking] == band] for band in (RECENT, OLDER)}
        self._caps = {RECENT: caps.recent, OLDER: caps.older}
        self._taken: dict[PressureMode, NDArray[np.bool_]] = {}

    def taken(self, mode: PressureMode) -> NDArray[np.bool_]:
        """Which units are in the prompt at a pressure."""
        if mode not in self._taken:
            self._taken[mode] = self._select(mode)
        return self._taken[mode]

    def in_order(self, mode: PressureMode) -> list[ContextUnit]:
        """The units in the prompt, in its order: the recent band, then the older one, each by score."""
        taken = self.taken(mode)
        return [self.units[place] for ranking in self._rankings.values() for place in ranking[taken[ranking]]]

    def scores(self, mode: PressureMode, scored_text: str) -> UnitScores:
        """Every unit with its terms and the reason for its place.

        Args:
            mode: The pressure of the prompt.
            scored_text: The section of scored units as it is sent.
        """
        included = self.taken(mode).copy()
        why = self._reasons(mode)
        for place in np.flatnonzero(included):
            if self.units[place].content not in scored_text:
                included[place], why[place] = False, "cut"
        rank = np.zeros(len(self.units), dtype=np.int64)
        for ranking in self._rankings.values():
            rank[ranking] = np.arange(1, len(ranking) + 1)
        return UnitScores(self.units, self._terms, self._band, rank, included, why)

    def _select(self, mode: PressureMode) -> NDArray[np.bool_]:
        taken = np.zeros(len(self.units), dtype=np.bool_)
        if mode == "emergency":
            return taken
        for band, ranking in self._rankings.items():
            allowed = ranking[~self._droppable[ranking]] if mode == "compact" and band == OLDER else ranking
            taken |= select_within(self._caps[band], self._tokens, self._pinned, allowed)
        return taken

    def _reasons(self, mode: PressureMode) -> list[Why]:
        if mode == "emergency":
            return ["emergency"] * len(self.units)
        dropped = self._droppable & (self._band == OLDER) if mode == "compact" else np.zeros_like(self._droppable)
        told: list[Why] = np.select([self.taken(mode), dropped], ["included", "compact"], "over_budget").tolist()
        return told
