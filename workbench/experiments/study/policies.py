"""How a policy chooses under a budget, for many moments and many policies at once.

Scores are ranked, ties to the newest unit, and the ranking is walked: what fits is taken, what does not is skipped, and
the walk goes on, as `context.scoring.select_within` does it for one prompt. Nothing here is pinned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from workbench.experiments.study.steps import Block

Scores = NDArray[np.float32]
Bools = NDArray[np.bool_]
Policy = Callable[["Block"], Scores]
"""Scores of the units of a block (moments, units), higher is better."""

_SIGN: Final = np.int32(0x7FFFFFFF)
_SIXTEEN_BITS: Final = np.uint32(0xFFFF)


def ranked(block: Block, scores: Scores) -> NDArray[np.int64]:
    """Units by score, best first, as one number each: 32 bits of the score, 16 of the place, 16 of the tokens.

    Sorting numbers is several times faster than sorting places by a key, and stable: ties go to the lower place.

    Args:
        block: The moments.
        scores: (..., moments, units); -0 and 0 are alike, NaN is not allowed.
    """
    bits = (scores + np.float32(0)).view(np.int32)
    keys = np.empty((*scores.shape, 2), dtype=np.int32)
    keys[..., 1] = ~(bits ^ ((bits >> 31) & _SIGN))
    keys[..., 0] = block.low.view(np.int32)
    return np.sort(keys.view(np.int64)[..., 0], axis=-1)


def places_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of ranked units."""
    return (keys >> 16) & int(_SIXTEEN_BITS)


def taken(block: Block, scores: Scores, budget: int) -> Bools:
    """Which units each policy takes.

    Args:
        block: The moments.
        scores: (..., moments, units).
        budget: Tokens.

    Returns:
        Of the shape of `scores`.
    """
    keys = ranked(block, scores).reshape(-1, scores.shape[-1])
    low = np.ascontiguousarray(keys.view(np.uint32)[:, ::2].T)  # (ranks, rows)
    took = _walk((low & _SIXTEEN_BITS).view(np.int32), budget)
    chosen = np.zeros(keys.size, dtype=np.bool_)
    first = np.arange(0, keys.size, keys.shape[1], dtype=np.int32)
    chosen[((low >> 16).view(np.int32) + first)[took]] = True
    return chosen.reshape(scores.shape)


def _walk(sizes: NDArray[np.int32], budget: int) -> Bools:
    """Which ranks fit (ranks, rows): a loop over ranks, since each hangs on those before; a vector over the rows."""
    left = np.full(sizes.shape[1], budget, dtype=np.int32)
    took = np.empty(sizes.shape, dtype=np.bool_)
    for rank, size in enumerate(sizes):
        np.less_equal(size, left, out=took[rank])
        left -= size * took[rank]
    return took
