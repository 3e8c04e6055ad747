"""Policies that nobody searched for, beside which a searched one must stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.frames import FEATURES
from workbench.experiments.study.measures import MEASURES, judge, measure

if TYPE_CHECKING:
    from workbench.config.context import Scoring
    from workbench.experiments.study.policies import Policy
    from workbench.experiments.study.steps import Block, StepSet

Scores = NDArray[np.float32]
Floats = NDArray[np.float64]

SEED: Final = "seed default"
REPAIRED: Final = "repaired default"
SCALED: Final = "repaired default, scaled by the pool's maximum"
RECENCY: Final = "recency"
RELEVANCE: Final = "relevance"
COSINE: Final = "cosine"
EVERYTHING: Final = "everything"
RANDOM: Final = "random"
ORACLE: Final = "oracle"

RANDOM_DRAWS: Final = 20
"""Random rankings that `random` is the mean of."""


def hand_set(scoring: Scoring, *, semantic: bool) -> dict[str, Policy]:
    """Policies that a person could have set, by name.

    Args:
        scoring: The default weights.
        semantic: Whether units have vectors.
    """
    policies: dict[str, Policy] = {
        SEED: lambda block: _weighed(block, scoring, block.column("seed"), block.column("seed_hydrate")),
        REPAIRED: lambda block: _weighed(block, scoring, block.column("relevance"), block.column("hydrate")),
        SCALED: lambda block: _weighed(block, scoring, _by_maximum(block), block.column("hydrate")),
        RECENCY: lambda block: block.column("recency"),
        RELEVANCE: lambda block: block.column("relevance"),
    }
    if semantic:
        policies[COSINE] = _cosine
    return policies


def oracle(block: Block) -> Scores:
    """Needed units first, of the highest grade, smaller ones before larger; then the newest."""
    size = 1.0 / (1.0 + block.tokens)
    newest = -np.arange(block.tokens.shape[1], dtype=np.float32) * np.float32(1e-6)
    return np.where(block.grades > 0, block.grades + size, newest).astype(np.float32)


def measure_random(steps: StepSet, *, seed: int) -> dict[str, Floats]:
    """What chance does at each moment: the mean over random rankings."""
    random = np.random.default_rng(seed)
    draws = [
        measure(steps, lambda block: random.random(block.tokens.shape, dtype=np.float32)) for _ in range(RANDOM_DRAWS)
    ]
    return {name: np.mean([draw[name] for draw in draws], axis=0) for name in MEASURES}


def measure_everything(steps: StepSet) -> dict[str, Floats]:
    """What taking the whole pool does, whatever it costs."""
    found = {name: np.full(len(steps.sessions), np.nan) for name in MEASURES}
    for block in steps.blocks:
        for name, values in judge(block, block.column("order"), block.is_unit).items():
            found[name][block.moments] = values
    return found


def _weighed(block: Block, scoring: Scoring, relevance: Scores, hydrate: Scores) -> Scores:
    """The formula of `context.scoring`, with relevance and boost of one's choice."""
    words = relevance * np.float32(scoring.w_relevance)
    cosine = _cosine(block) * np.float32(max(scoring.w_semantic, 0.0))
    score = block.column("pinned") * np.float32(scoring.pin_scale * scoring.w_pin)
    score = score + block.column("recency") * np.float32(scoring.w_recency) + np.maximum(words, cosine)
    score = score + hydrate * np.float32(max(scoring.w_hydrate_boost, 0.0))
    score = score + block.column("order") * np.float32(scoring.w_unit_order)
    return np.asarray(score + block.column("last_step") * np.float32(scoring.w_last_step), dtype=np.float32)


def _by_maximum(block: Block) -> Scores:
    relevance = block.column("relevance")
    highest = relevance.max(axis=1, keepdims=True)
    return np.asarray(np.divide(relevance, highest, out=np.zeros_like(relevance), where=highest > 0))


def _cosine(block: Block) -> Scores:
    return np.clip(np.nan_to_num(block.features[:, :, FEATURES.index("semantic")], nan=0.0), 0.0, 1.0)
