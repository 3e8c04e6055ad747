"""Bootstrap intervals of differences of means: symmetric bootstrap-t, many metrics at once.

Each resample gives a t value, its mean's distance from the sample's mean over its own standard error; the 95 % quantile
of their absolute values takes the place of Student's (Hall 1988, "On symmetric bootstrap confidence intervals"). Over
skewed counts, rates and shares, arms of 50, it held the truth in 94 to 96 of 100 samples where the percentile bootstrap
held it in 92 to 95 (the table of `simulation`). All metrics are resampled by the same draws of units, as one product of
matrices: counts of draws (resamples, n) times values and squares (n, 2m).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from workbench.experiments.statistics.bootstrap import CONFIDENCE, RESAMPLES
from workbench.experiments.statistics.means import Difference, Floats, arms, mean, paired_t, pairs, welch

DRAWS_AT_ONCE: Final = 250_000
"""Elements of a matrix of draws: 2 MB, which stay near the processor (three times as fast as 64 MB)."""
FIGURES_AT_ONCE: Final = 8_000_000
"""Elements of a matrix of resampled figures: 64 MB."""

_NOTHING: Final = 1e-12
"""What a sum of squares of standardised values may be for rounding alone."""

Moments = tuple[Floats, Floats]
"""Distances of resampled means from the sample's, and variances of these means: (resamples, m) each."""


@dataclass(frozen=True)
class Intervals:
    """Figures and how far they may be off, an entry a metric.

    Attributes:
        estimate: The differences (m,).
        low: Lower ends; NaN where an arm has fewer than two units or nothing varies, minus infinity where so few units
            differ that resamples often have no variance.
        high: Upper ends; likewise.
    """

    estimate: Floats
    low: Floats
    high: Floats


def difference_interval(
    first: ArrayLike, second: ArrayLike, *, seed: int, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> Intervals:
    """Intervals of mean(second) - mean(first), of different units.

    Args:
        first: The baseline (n1,) or (n1, m), finite.
        second: The other arm (n2,) or (n2, m).
        seed: Of the random draws; the same seed and sizes draw the same units whatever the metrics.
        confidence: Share of samples whose interval holds the truth.
        resamples: Samples drawn of each arm.

    Raises:
        ValueError: A value is not finite, the arms' metrics differ in number, or a share or number makes no sense.
    """
    one, other = arms(first, second)
    found = welch(one, other)
    scale = _scale(found)

    def studentise(random: np.random.Generator, size: int, chosen: slice) -> Floats:
        moved = [resampled_moments(each[:, chosen], scale[chosen], random, size) for each in (one, other)]
        return _t(moved[1][0] - moved[0][0], moved[0][1] + moved[1][1])

    return _symmetric(found, studentise, max(len(one), len(other)), seed, confidence, resamples)


def paired_interval(
    first: ArrayLike, second: ArrayLike, *, seed: int, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> Intervals:
    """Intervals of the mean of second - first, measured on the same units.

    Args:
        first: The baseline (n,) or (n, m), finite.
        second: The same units, in the same order.
        seed: As for `difference_interval`.
        confidence: As for `difference_interval`.
        resamples: As for `difference_interval`.

    Raises:
        ValueError: The samples differ in shape; else as for `difference_interval`.
    """
    differences = pairs(first, second)
    found = paired_t(first, second)
    scale = _scale(found)

    def studentise(random: np.random.Generator, size: int, chosen: slice) -> Floats:
        return _t(*resampled_moments(differences[:, chosen], scale[chosen], random, size))

    return _symmetric(found, studentise, len(differences), seed, confidence, resamples)


def resampled_moments(values: Floats, scale: Floats, random: np.random.Generator, resamples: int) -> Moments:
    """Means of resamples as distances from the sample's mean, and their variances, all over a scale.

    Args:
        values: (n, m), n at least 2.
        scale: (m,), above 0.
        random: Draws the units.
        resamples: How many.
    """
    size, metrics = values.shape
    standard = (values - mean(values)) / scale
    both = np.hstack([standard, standard**2])
    sums = np.vstack([drawn @ both for drawn in draw_counts(size, resamples, random)])
    means = sums[:, :metrics] / size
    variances = np.maximum(sums[:, metrics:] / size - means**2, 0.0) / (size - 1)
    return means, variances


def draw_counts(size: int, resamples: int, random: np.random.Generator) -> Iterator[Floats]:
    """How often each unit is in each sample drawn with replacement: parts of a matrix (resamples, size)."""
    at_once = max(1, DRAWS_AT_ONCE // size)
    for done in range(0, resamples, at_once):
        rows = min(at_once, resamples - done)
        places = random.integers(0, size, (rows, size), dtype=np.int64)
        places += np.arange(rows)[:, None] * size
        yield np.bincount(places.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


def _scale(found: Difference) -> Floats:
    """What values are divided by, so that rounding is told from a difference whatever the unit."""
    return np.where(found.standard_error > 0, found.standard_error * np.sqrt(max(found.information, 1.0)), 1.0)


def _t(distance: Floats, variance: Floats) -> Floats:
    """Absolute t values; infinite where a resample moved and has no variance, 0 where it did not move at all."""
    is_flat = variance <= _NOTHING
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(distance) / np.sqrt(variance)
    return np.where(is_flat, np.where(np.abs(distance) <= _NOTHING, 0.0, np.inf), t)


def _symmetric(
    found: Difference,
    studentise: Callable[[np.random.Generator, int, slice], Floats],
    largest: int,
    seed: int,
    confidence: float,
    resamples: int,
) -> Intervals:
    """The intervals of all metrics, some at a time, each part with the same draws."""
    if not 0.0 < confidence < 1.0 or resamples < 1:
        raise ValueError(f"no interval of confidence {confidence} from {resamples} samples")
    metrics = len(found.estimate)
    widths = np.full(metrics, np.nan)
    if largest and found.information and not np.isnan(found.standard_error).all():
        at_once = max(1, FIGURES_AT_ONCE // resamples)
        for first in range(0, metrics, at_once):
            part = slice(first, first + at_once)
            t = studentise(np.random.default_rng(seed), resamples, part)
            widths[part] = np.quantile(t, confidence, axis=0, method="inverted_cdf")
    with np.errstate(invalid="ignore"):
        reach = np.where(found.standard_error > 0, widths * found.standard_error, np.nan)
    return Intervals(found.estimate, found.estimate - reach, found.estimate + reach)
