"""A share and how sure it is."""

from __future__ import annotations

import math
from typing import Final

Z_95: Final = 1.959963984540054
"""The 97.5 % point of the normal distribution: an interval of 95 %."""


def wilson(hits: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The score interval of a proportion; it holds for few trials and for shares near 0 and 1.

    Args:
        hits: Successes.
        trials: All; 0 tells nothing.
        z: Width in standard errors.

    Returns:
        Lower and upper end, within 0 and 1; (0, 1) without a trial.

    Source: E. B. Wilson, "Probable inference", JASA 22 (1927).
    """
    if not trials:
        return 0.0, 1.0
    share, spread = hits / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, middle - half), min(1.0, middle + half)
