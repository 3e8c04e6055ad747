"""Many tests at once: p values adjusted so that few of those called significant are wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.experiments.statistics.means import Floats


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Adjusted p values (Benjamini and Hochberg 1995), in the order given.

    Args:
        p: Any shape; NaN or None where no test was made.

    Returns:
        The same shape. What was not tested stays NaN and does not count as a test.

    Raises:
        ValueError: A value is not between 0 and 1.
    """
    given = np.asarray(p, dtype=np.float64)
    values = given.ravel()
    made = np.flatnonzero(~np.isnan(values))
    if ((values[made] < 0) | (values[made] > 1)).any():
        raise ValueError("p values lie between 0 and 1")
    ordered = made[np.argsort(values[made], kind="stable")]
    steps = values[ordered] * len(ordered) / np.arange(1, len(ordered) + 1)
    adjusted = np.full(values.shape, np.nan)
    adjusted[ordered] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted.reshape(given.shape)
