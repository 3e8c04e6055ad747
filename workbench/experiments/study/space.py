"""What is searched: settings with a default and a range each, together a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_DECIMALS: Final = 9

OFF_SHARE: Final = 0.15
"""Share of the trials of a setting that can be off at which it is."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One setting.

    Attributes:
        name: As the configuration has it, such as `context_engine.scoring.w_recency`.
        default: In use now.
        low: Least value tried, above 0 where `log`.
        high: Highest value tried.
        log: Whether orders of magnitude are tried alike.
        can_be_off: Whether 0 is tried too.
        step: Values are multiples of it, where it is given.
    """

    name: str
    default: float
    low: float
    high: float
    log: bool = False
    can_be_off: bool = False
    step: float | None = None

    def at(self, share: Floats) -> Floats:
        """Values at places of the range, 0 its lower end and 1 its upper one."""
        if self.can_be_off:
            return np.where(share < OFF_SHARE, 0.0, self._between((share - OFF_SHARE) / (1.0 - OFF_SHARE)))
        return self._between(share)

    def share(self, value: float) -> float:
        """The place of a value in the range; of one outside it the nearer end."""
        if self.can_be_off and value < self.low:
            return 0.0
        inside = min(max(value, self.low), self.high)
        place = np.log(inside / self.low) / np.log(self.high / self.low) if self.log else inside - self.low
        place = place if self.log else place / (self.high - self.low)
        return float(OFF_SHARE + place * (1.0 - OFF_SHARE)) if self.can_be_off else float(place)

    def _between(self, share: Floats) -> Floats:
        share = np.clip(share, 0.0, 1.0)
        if self.log:
            value = np.asarray(self.low * (self.high / self.low) ** share)
        else:
            value = np.asarray(self.low + (self.high - self.low) * share)
        return value if self.step is None else np.round(np.rint(value / self.step) * self.step, _DECIMALS)


@dataclass(frozen=True, slots=True)
class Space:
    """Several settings.

    Attributes:
        name: What a report calls it.
        parameters: The settings.
        by_ratio: Whether only their ratios matter, as of weights: points then add up to what the defaults add up to.
    """

    name: str
    parameters: Sequence[Parameter]
    by_ratio: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the settings."""
        return [each.name for each in self.parameters]

    @property
    def default(self) -> Floats:
        """The point in use."""
        return np.array([each.default for each in self.parameters])

    def points(self, shares: Floats) -> Floats:
        """Points at places of the unit cube (trials, settings)."""
        raw = np.stack([each.at(shares[:, place]) for place, each in enumerate(self.parameters)], axis=1)
        if not self.by_ratio:
            return raw
        sums = raw.sum(axis=1, keepdims=True)
        scaled = np.divide(raw, sums, out=np.zeros_like(raw), where=sums > 0) * self.default.sum()
        return np.where(sums > 0, scaled, self.default)

    def quasi_random(self, count: int, *, seed: int) -> Floats:
        """The default and evenly spread points, `count` in all (Sobol, scrambled)."""
        from scipy.stats import qmc  # type: ignore[import-untyped]  # noqa: PLC0415  (0.8 s)

        sampler = qmc.Sobol(len(self.parameters), rng=np.random.default_rng(seed))
        shares = sampler.random_base2(max(1, int(np.ceil(np.log2(max(count - 1, 2))))))[: max(count - 1, 1)]
        return np.concatenate([self.default[None], self.points(shares)])

    def distance(self, points: Floats) -> Floats:
        """How far points lie from the default (trials,): of each setting in parts of its range, or of their sum."""
        if self.by_ratio:
            whole = self.default.sum() or 1.0
            return np.asarray(np.linalg.norm((points - self.default) / whole, axis=1))
        ranges = np.array([each.high - each.low for each in self.parameters])
        return np.asarray(np.linalg.norm((points - self.default) / ranges, axis=1))
