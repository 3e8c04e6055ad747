"""A learned ranker, for what the features could give at most: boosted trees, each session judged by trees without it.

Its gain is to be read matched by size: most of what it learns is that long outputs hold more identifiers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.frames import FEATURES
from workbench.experiments.labels.rules import NEEDED_GRADE
from workbench.experiments.study.measures import MEASURES, judge
from workbench.experiments.study.policies import taken

if TYPE_CHECKING:
    from workbench.experiments.study.steps import Block, StepSet

Floats = NDArray[np.float64]

TREES: Final = 80
LEAVES: Final = 15
LEARNT: Final = [FEATURES.index(name) for name in ("recency", "relevance", "semantic", "order", "last_step", "seed")]


def measure_ranker(
    searched: StepSet, reported: StepSet, folds: NDArray[np.int64], *, with_size: bool, seed: int
) -> dict[str, Floats]:
    """Measure the ranker at every moment of `reported`.

    Args:
        searched: Moments to learn from, of the same sessions.
        reported: Moments to judge.
        folds: The part of each session.
        with_size: Whether tokens, kind and class of size are features too.
        seed: Of the trees.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]  # noqa: PLC0415  (1.2 s)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(1):  # a limit that was set before the import above knows nothing of its threads
        return _measured(searched, reported, folds, HistGradientBoostingClassifier, with_size=with_size, seed=seed)


def _measured(
    searched: StepSet, reported: StepSet, folds: NDArray[np.int64], trees: Any, *, with_size: bool, seed: int
) -> dict[str, Floats]:
    found = {name: np.full(len(reported.sessions), np.nan) for name in MEASURES}
    for part in sorted(set(folds.tolist())):
        features, needed = _pairs(searched, folds != part, with_size=with_size)
        telling = _telling(features)
        if not (needed.any() and not needed.all() and telling.any()):
            continue
        model = trees(max_iter=TREES, max_leaf_nodes=LEAVES, random_state=seed)
        model.fit(features[:, telling], needed)
        for block in reported.blocks:
            held = folds[reported.sessions[block.moments]] == part
            if held.any():
                scores = np.full(block.tokens.shape, -1.0, dtype=np.float32)
                scores[block.is_unit] = model.predict_proba(_columns(block, with_size=with_size)[:, telling])[:, 1]
                for name, values in judge(block, scores, taken(block, scores, reported.budget)).items():
                    found[name][block.moments[held]] = values[held]
    return found


def _pairs(steps: StepSet, sessions: NDArray[np.bool_], *, with_size: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Features and labels of all pairs of some sessions."""
    features, needed = [], []
    for block in steps.blocks:
        wanted = block.is_unit & sessions[steps.sessions[block.moments]][:, None]
        features.append(_columns(block, with_size=with_size)[wanted[block.is_unit]])
        needed.append((block.grades >= NEEDED_GRADE)[wanted])
    return np.concatenate(features), np.concatenate(needed)


def _telling(features: Floats) -> NDArray[np.bool_]:
    """Which features differ between pairs, as `semantic` does not where there are no vectors."""
    known = np.nan_to_num(features, nan=-1.0)
    return np.asarray((known != known[:1]).any(axis=0))


def _columns(block: Block, *, with_size: bool) -> Floats:
    """Features of the units of a block (units, features)."""
    known = block.features[block.is_unit][:, LEARNT]
    if not with_size:
        return known.astype(np.float64)
    size = np.stack([block.tokens[block.is_unit], block.classes[block.is_unit]], axis=1)
    return np.concatenate([known, size], axis=1).astype(np.float64)
