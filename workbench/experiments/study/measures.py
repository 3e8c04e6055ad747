"""How well a selection did at each moment.

    recall   share of the needed units (grade 2 and 3) that were taken
    share    share of the pool's units that were taken: what chance alone recalls
    lift     recall - share
    matched  recall - what chance recalls within units of the same kind and class of size, as many of each as were taken
    ndcg     discounted gain of the taken units in their order, all grades, over the best possible order
    weak     recall of the units of grade 1 alone; NaN where there are none

Source: design, "Study"; the prototype, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.labels.rules import NEEDED_GRADE
from workbench.experiments.study.policies import places_of, ranked, taken

if TYPE_CHECKING:
    from workbench.experiments.study.policies import Policy
    from workbench.experiments.study.steps import Block, StepSet

MEASURES: Final = ("recall", "share", "lift", "matched", "ndcg", "weak")

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def measure(steps: StepSet, policy: Policy, *, budget: int | None = None) -> dict[str, Floats]:
    """Measure a policy at every moment.

    Args:
        steps: The moments.
        policy: Scores their units.
        budget: Tokens; those of the study unless given.

    Returns:
        A value a moment, by measure.
    """
    found = {name: np.full(len(steps.sessions), np.nan) for name in MEASURES}
    for block in steps.blocks:
        scores = policy(block)
        chosen = taken(block, scores, steps.budget if budget is None else budget)
        for name, values in judge(block, scores, chosen).items():
            found[name][block.moments] = values
    return found


def judge(block: Block, scores: NDArray[np.float32], chosen: Bools) -> dict[str, Floats]:
    """Every measure of the selections of a block (moments,)."""
    needed = block.grades >= NEEDED_GRADE
    recall = _share_of(chosen, needed)
    share = chosen.sum(axis=1) / block.counts
    return {
        "recall": recall,
        "share": share,
        "lift": recall - share,
        "matched": recall - _expected_in_class(block, chosen, needed),
        "ndcg": _ndcg(block, scores, chosen),
        "weak": _share_of(chosen, block.grades == 1),
    }


def _share_of(chosen: Bools, wanted: Bools) -> Floats:
    count = wanted.sum(axis=1)
    hits = (chosen & wanted).sum(axis=1)
    return np.asarray(np.divide(hits, count, out=np.full(len(count), np.nan), where=count > 0))


def _expected_in_class(block: Block, chosen: Bools, needed: Bools) -> Floats:
    """What chance recalls when as many units of each class are taken."""
    expected = np.zeros(len(chosen))
    for kind in np.unique(block.classes[block.is_unit]):
        of_kind = block.classes == kind
        size = of_kind.sum(axis=1)
        share = np.divide((chosen & of_kind).sum(axis=1), size, out=np.zeros(len(size)), where=size > 0)
        expected += share * (needed & of_kind).sum(axis=1)
    return np.asarray(expected / needed.sum(axis=1))


def _ndcg(block: Block, scores: NDArray[np.float32], chosen: Bools) -> Floats:
    order = places_of(ranked(block, scores))
    took = np.take_along_axis(chosen, order, axis=1)
    grades = np.take_along_axis(block.grades, order, axis=1).astype(np.float64)
    rank = np.cumsum(took, axis=1)
    gains = np.where(took, grades / np.log2(rank + 1.0, where=took, out=np.ones_like(grades)), 0.0).sum(axis=1)
    best = -np.sort(-block.grades.astype(np.float64), axis=1)
    ideal = best @ (1.0 / np.log2(np.arange(best.shape[1]) + 2.0))
    return np.asarray(np.divide(gains, ideal, out=np.zeros(len(ideal)), where=ideal > 0))
