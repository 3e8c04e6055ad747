"""Rank tests, by scipy: whether one arm tends to larger values, whatever the means do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.experiments.statistics.means import Floats, arms, pairs


def mann_whitney(first: ArrayLike, second: ArrayLike) -> Floats:
    """Two-sided p values of the Mann-Whitney U test (1947), an entry a metric.

    Exact for at most eight units an arm without ties, else by the normal approximation, corrected for ties and
    continuity.

    Args:
        first: (n1,) or (n1, m), finite.
        second: (n2,) or (n2, m).

    Returns:
        NaN where an arm is empty; 1 where all values are the same.

    Raises:
        ValueError: As for `means.arms`.
    """
    one, other = arms(first, second)
    if not (len(one) and len(other)):
        return np.full(one.shape[1], np.nan)
    from scipy.stats import mannwhitneyu  # type: ignore[import-untyped]  # noqa: PLC0415  (800 ms)

    is_constant = (one == one[0]).all(axis=0) & (other == one[0]).all(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.asarray(mannwhitneyu(other, one, alternative="two-sided", axis=0).pvalue, dtype=np.float64)
    return np.where(is_constant, 1.0, p)


def wilcoxon(first: ArrayLike, second: ArrayLike) -> Floats:
    """Two-sided p values of Wilcoxon's signed-rank test (1945), an entry a metric; pairs without a difference are out.

    Args:
        first: (n,) or (n, m), finite.
        second: The same units, in the same order.

    Returns:
        NaN without pairs; 1 where no pair has a difference.

    Raises:
        ValueError: As for `means.pairs`.
    """
    differences = pairs(first, second)
    return np.array([_signed_rank(column[column != 0]) for column in differences.T], dtype=np.float64)


def _signed_rank(differences: Floats) -> float:
    if not len(differences):
        return 1.0
    from scipy.stats import wilcoxon as signed_rank  # noqa: PLC0415

    return float(signed_rank(differences, alternative="two-sided").pvalue)
