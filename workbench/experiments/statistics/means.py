"""Differences of means with their standard errors, many metrics at once: of two arms (Welch 1947), or of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """Mean of the second arm minus mean of the first, an entry a metric.

    Attributes:
        estimate: The difference (m,); NaN where an arm is empty.
        standard_error: Of the difference; NaN where an arm has fewer than two units.
        degrees: Degrees of freedom of the standard error; NaN where it is 0 or not known.
        cautious_error: Of two arms the larger of Welch's and the pooled standard error: a small arm in which nothing
            happens to vary does not pass for one that cannot vary. Of pairs the standard error itself.
        information: What the standard error is the inverse root of, times the variance of one unit: pairs, or
            `n1 * n2 / (n1 + n2)` of two arms.
    """

    estimate: Floats
    standard_error: Floats
    degrees: Floats
    cautious_error: Floats
    information: float


def columns(values: ArrayLike) -> Floats:
    """Observations as a matrix (n, m), a metric a column; one row of numbers is one metric.

    Raises:
        ValueError: A value is not finite, or there are more than two axes.
    """
    matrix = np.asarray(values, dtype=np.float64)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2 or not np.isfinite(matrix).all():  # noqa: PLR2004
        raise ValueError("a sample is one row of finite numbers, or a matrix of them; leave out what was not measured")
    return matrix


def arms(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Both arms as matrices of the same metrics.

    Raises:
        ValueError: As for `columns`, or the arms have other numbers of metrics.
    """
    one, other = columns(first), columns(second)
    if one.shape[1] != other.shape[1]:
        raise ValueError(f"the arms have {one.shape[1]} and {other.shape[1]} metrics")
    return one, other


def pairs(first: ArrayLike, second: ArrayLike) -> Floats:
    """Second minus first, unit by unit (n, m).

    Raises:
        ValueError: As for `columns`, or the samples differ in shape.
    """
    one, other = columns(first), columns(second)
    if one.shape != other.shape:
        raise ValueError(f"pairs have two values each, but there are {one.shape} and {other.shape}")
    return other - one


def welch(first: ArrayLike, second: ArrayLike) -> Difference:
    """The difference of two arms of different units, without equal variances.

    Args:
        first: The baseline (n1,) or (n1, m).
        second: The other arm (n2,) or (n2, m).

    Raises:
        ValueError: As for `arms`.
    """
    one, other = arms(first, second)
    parts = [variance_of_mean(one), variance_of_mean(other)]
    sizes = (len(one), len(other))
    information = sizes[0] * sizes[1] / sum(sizes) if all(sizes) else 0.0
    error = np.sqrt(parts[0] + parts[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = error**4 / (parts[0] ** 2 / (sizes[0] - 1.0) + parts[1] ** 2 / (sizes[1] - 1.0))
    cautious = np.fmax(error, _pooled_error(parts, sizes))
    return Difference(mean(other) - mean(one), error, degrees, cautious, information)


def paired_t(first: ArrayLike, second: ArrayLike) -> Difference:
    """The mean difference of pairs.

    Args:
        first: The baseline (n,) or (n, m).
        second: The same units under the other arm, in the same order.

    Raises:
        ValueError: As for `pairs`.
    """
    differences = pairs(first, second)
    error = np.sqrt(variance_of_mean(differences))
    degrees = np.where(error > 0, len(differences) - 1.0, np.nan)
    return Difference(mean(differences), error, degrees, error, float(len(differences)))


def _pooled_error(parts: Sequence[Floats], sizes: tuple[int, int]) -> Floats:
    """The standard error if both arms have one variance; NaN where there are too few units."""
    if min(sizes) < 1 or sum(sizes) < 3:  # noqa: PLR2004
        return np.full_like(parts[0], np.nan)
    squares = sum(part * size * (size - 1) for part, size in zip(parts, sizes, strict=True))
    return np.asarray(np.sqrt(squares / (sum(sizes) - 2) * (1 / sizes[0] + 1 / sizes[1])), dtype=np.float64)


def mean(values: Floats) -> Floats:
    """Means of columns; NaN of none."""
    return values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)


def variance_of_mean(values: Floats) -> Floats:
    """Estimated variances of the means of columns; NaN for fewer than two rows, exactly 0 for a constant column."""
    size = len(values)
    if size < 2:  # noqa: PLR2004
        return np.full(values.shape[1], np.nan)
    is_constant = (values == values[0]).all(axis=0)
    return np.where(is_constant, 0.0, values.var(axis=0, ddof=1) / size)
