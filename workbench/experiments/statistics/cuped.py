"""Less noise by what was known before: CUPED (Deng, Xu, Kohavi and Walker 2013)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.experiments.statistics.means import Floats


@dataclass(frozen=True)
class Adjusted:
    """One metric of two arms with what a covariate tells taken out; their means' difference stays unbiased.

    Attributes:
        first: The baseline's values (n1,).
        second: The other arm's values (n2,).
        theta: Change of the metric a unit of the covariate.
        reduction: Share of the metric's variance that went.
    """

    first: Floats
    second: Floats
    theta: float
    reduction: float


def cuped(first: ArrayLike, second: ArrayLike, first_before: ArrayLike, second_before: ArrayLike) -> Adjusted:
    """Take out what the pre-period tells: y - theta (x - mean of x), theta and mean over both arms together.

    Args:
        first: The metric in the baseline (n1,).
        second: The metric in the other arm (n2,).
        first_before: A covariate of the baseline's units from before the experiment (n1,).
        second_before: The same of the other arm's units (n2,).

    Returns:
        The values as they were, theta 0, where the covariate is the same everywhere.

    Raises:
        ValueError: Lengths differ or a value is not finite.
    """
    y1, y2, x1, x2 = (np.asarray(each, dtype=np.float64) for each in (first, second, first_before, second_before))
    if y1.shape != x1.shape or y2.shape != x2.shape or y1.ndim != 1 or y2.ndim != 1:
        raise ValueError("every unit has one value of the metric and one of the covariate")
    y, x = np.r_[y1, y2], np.r_[x1, x2]
    if not (np.isfinite(y).all() and np.isfinite(x).all()):
        raise ValueError("the metric and the covariate are finite numbers; leave out what was not measured")
    if len(x) < 2 or (x == x[0]).all():  # noqa: PLR2004
        return Adjusted(y1, y2, 0.0, 0.0)
    covariance = np.cov(y, x, ddof=1)
    theta = float(covariance[0, 1] / covariance[1, 1])
    correlation = covariance[0, 1] ** 2 / (covariance[0, 0] * covariance[1, 1]) if covariance[0, 0] > 0 else 0.0
    return Adjusted(y1 - theta * (x1 - x.mean()), y2 - theta * (x2 - x.mean()), theta, float(correlation))
