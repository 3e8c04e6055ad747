"""What a comparison could have found: the smallest true difference that it detects most of the time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from workbench.experiments.statistics.means import Floats

POWER: Final = 0.8
"""Share of such comparisons that find it; Cohen 1988, and what most calculators take."""
ALPHA: Final = 0.05

_WIDEST: Final = 1e6
_HALVINGS: Final = 80


def minimum_detectable_effect(
    standard_error: ArrayLike, degrees: ArrayLike, *, alpha: float = ALPHA, power: float = POWER
) -> Floats:
    """The true difference that a two-sided t test at `alpha` finds with probability `power`.

    Args:
        standard_error: Of the difference, any shape.
        degrees: Its degrees of freedom.
        alpha: Share of false positives.
        power: Share of true differences that are found, above `alpha`.

    Returns:
        In the metric's unit; NaN where the standard error is 0 or not known.

    Raises:
        ValueError: A share makes no sense.
    """
    if not 0 < alpha < power < 1:
        raise ValueError(f"no effect can be found with power {power} at {alpha}")
    error, freedom = np.broadcast_arrays(np.asarray(standard_error, float), np.asarray(degrees, float))
    known = np.isfinite(error) & np.isfinite(freedom) & (error > 0) & (freedom > 0)
    found = np.full(error.shape, np.nan)
    found[known] = error[known] * _shift(freedom[known], alpha, power)
    return found


def _shift(degrees: Floats, alpha: float, power: float) -> Floats:
    """How many standard errors the truth must lie off (noncentral t), by halving an interval."""
    from scipy.special import nctdtr, stdtrit  # type: ignore[import-untyped]  # noqa: PLC0415

    bar = stdtrit(degrees, 1 - alpha / 2)
    low, high = np.zeros_like(degrees), bar + 1.0
    while (short := 1 - nctdtr(degrees, high, bar) < power).any() and high.max() < _WIDEST:
        high = np.where(short, 2 * high, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_enough = 1 - nctdtr(degrees, middle, bar) + nctdtr(degrees, middle, -bar) >= power
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return np.asarray((low + high) / 2, dtype=np.float64)
