"""The first use: weights of a context unit's score, judged by lift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.frames import FEATURES
from workbench.experiments.labels.rules import NEEDED_GRADE
from workbench.experiments.study.measures import measure
from workbench.experiments.study.policies import taken
from workbench.experiments.study.space import Parameter, Space

if TYPE_CHECKING:
    from workbench.config.context import Scoring
    from workbench.experiments.study.policies import Policy
    from workbench.experiments.study.steps import Block, StepSet

Floats = NDArray[np.float64]

PREFIX: Final = "context_engine.scoring."
TERMS: Final = {
    "w_recency": "recency",
    "w_relevance": "relevance",
    "w_semantic": "semantic",
    "w_unit_order": "order",
    "w_last_step": "last_step",
}
"""Weights that are searched, and what each weighs."""
SEED_TERMS: Final = ("w_recency", "w_relevance", "w_semantic")
"""Those that the original has."""
NOT_IDENTIFIABLE: Final = {
    "w_pin": "nothing is pinned in sessions of other agents",
    "w_hydrate_boost": "sessions of other agents have no state graph, announced plans apart",
}
"""Weights that stay as they are, and why recorded sessions say nothing of them."""

LEAST_WEIGHT: Final = 0.01
"""Of the heaviest weight; what is lighter decides only ties. Source: the prototype, "Weights are not identified"."""
_AT_ONCE: Final = 250_000
"""Scores ranked at once: 2 MB of keys, which a processor's cache holds."""


def scoring_space(scoring: Scoring, *, semantic: bool, extras: bool) -> Space:
    """The weights as a space.

    Args:
        scoring: The weights in use.
        semantic: Whether units have vectors.
        extras: Whether unit order and last-step relevance are searched too.
    """
    names = [name for name in TERMS if (extras or name in SEED_TERMS) and (semantic or name != "w_semantic")]
    parameters = [
        Parameter(PREFIX + name, getattr(scoring, name), LEAST_WEIGHT, 1.0, log=True, can_be_off=True) for name in names
    ]
    return Space("all terms" if extras else "terms of the original", parameters, by_ratio=True)


@dataclass(frozen=True, slots=True)
class Weigher:
    """Scores of a block under weights.

    Attributes:
        names: Of the searched weights, without prefix.
        scoring: What the others are.
    """

    names: Sequence[str]
    scoring: Scoring

    def scores(self, block: Block, points: Floats) -> NDArray[np.float32]:
        """Array (points, moments, units): the formula of `context.scoring`."""
        weights = {name: points[:, place].astype(np.float32) for place, name in enumerate(self.names)}
        linear = np.zeros((len(points), len(FEATURES)), dtype=np.float32)
        for name, weight in weights.items():
            if name not in ("w_semantic", "w_relevance"):
                linear[:, FEATURES.index(TERMS[name])] = weight
        linear[:, FEATURES.index("pinned")] = self.scoring.w_pin * self.scoring.pin_scale
        linear[:, FEATURES.index("hydrate")] = max(self.scoring.w_hydrate_boost, 0.0)
        nothing = np.zeros(len(points), dtype=np.float32)
        words, meaning = weights.get("w_relevance", nothing), weights.get("w_semantic", nothing)
        if "w_semantic" not in weights:
            linear[:, FEATURES.index("relevance")] = words
            return _product(block, linear)
        cosine = np.clip(np.nan_to_num(block.column("semantic"), nan=0.0), 0.0, 1.0)
        by_words = words[:, None, None] * block.column("relevance")[None]
        return np.asarray(_product(block, linear) + np.maximum(by_words, meaning[:, None, None] * cosine[None]))

    def policy(self, point: Floats) -> Policy:
        """One point as a policy."""
        return lambda block: self.scores(block, point[None])[0]


def _product(block: Block, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Weights times features (points, moments, units); a column at a time, since threads cost more than so few save."""
    made = np.zeros((len(weights), block.tokens.size), dtype=np.float32)
    part = np.empty_like(made)
    for column in np.flatnonzero(weights.any(axis=0) & block.varies).tolist():
        np.multiply(weights[:, column, None], block.flat[column], out=part)
        made += part
    return made.reshape(len(weights), *block.tokens.shape)


@dataclass(frozen=True, slots=True)
class Needs:
    """Where the needed units of a block are: rows and columns, and where each row's begin."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    starts: NDArray[np.int64]

    def recall(self, chosen: NDArray[np.bool_]) -> Floats:
        """Recall of selections (..., moments, units) at each moment (..., moments)."""
        hits = chosen[..., self.rows, self.columns].astype(np.float64)
        sizes = np.diff(np.append(self.starts, len(self.rows)))
        return np.asarray(np.add.reduceat(hits, self.starts, axis=-1) / sizes)


def needs_of(grades: NDArray[np.uint8]) -> Needs:
    """The needed units of a block; every moment has one."""
    rows, columns = np.nonzero(grades >= NEEDED_GRADE)
    return Needs(rows, columns, np.searchsorted(rows, np.arange(len(grades))))


@dataclass(slots=True)
class _Cache:
    """Selections of the points that were judged last in bulk: they do not hang on labels."""

    points: Floats | None = None
    chosen: Sequence[NDArray[np.bool_]] = ()


class LiftObjective:
    """Lift of weights, a value a session.

    Args:
        searched: Moments while searching, few a session.
        reported: Every scored moment of the same sessions.
        weigher: Scores units.
    """

    def __init__(self, searched: StepSet, reported: StepSet, weigher: Weigher, cache: _Cache | None = None) -> None:
        if list(searched.session_ids) != list(reported.session_ids):
            raise ValueError("both sets of moments are of the same sessions")
        self.searched, self.reported, self.weigher = searched, reported, weigher
        self._cache = cache or _Cache()

    @property
    def groups(self) -> Sequence[str]:
        """Session ids."""
        return self.reported.session_ids

    def search_values(self, points: Floats) -> Floats:
        """Lift of each point in each session, over few moments of each (points, sessions)."""
        return _lift(self.searched, self._selections(points))

    def report_values(self, points: Floats) -> Floats:
        """Lift of each point in each session, over all its moments (points, sessions)."""
        return _lift(
            self.reported,
            [_select(self.weigher, block, points, self.reported.budget) for block in self.reported.blocks],
        )

    def policy_values(self, policy: Policy) -> Floats:
        """Lift of any policy in each session, over all its moments (sessions,)."""
        return self.reported.session_means(measure(self.reported, policy)["lift"])

    def permuted(self, seed: int) -> Self:
        """The same, with the labels of each moment dealt out anew among its units."""
        random = np.random.default_rng(seed)
        return type(self)(_dealt(self.searched, random), _dealt(self.reported, random), self.weigher, self._cache)

    def _selections(self, points: Floats) -> Sequence[NDArray[np.bool_]]:
        known = self._cache.points
        if known is not None and known.shape == points.shape and np.array_equal(known, points):
            return self._cache.chosen
        made = [_select(self.weigher, block, points, self.searched.budget) for block in self.searched.blocks]
        if len(points) > 1:
            self._cache.points, self._cache.chosen = points.copy(), made
        return made


def _select(weigher: Weigher, block: Block, points: Floats, budget: int) -> NDArray[np.bool_]:
    """What each point takes (points, moments, units), so many points at a time as fit the processor's cache."""
    at_once = max(1, _AT_ONCE // block.tokens.size)
    parts = [
        taken(block, weigher.scores(block, points[start : start + at_once]), budget)
        for start in range(0, len(points), at_once)
    ]
    return np.concatenate(parts)


def _lift(steps: StepSet, selections: Sequence[NDArray[np.bool_]]) -> Floats:
    lifts = np.empty((len(selections[0]), len(steps.sessions)))
    for block, chosen in zip(steps.blocks, selections, strict=True):
        share = chosen.sum(axis=-1) / block.counts
        lifts[:, block.moments] = needs_of(block.grades).recall(chosen) - share
    return steps.session_means(lifts)


def _dealt(steps: StepSet, random: np.random.Generator) -> StepSet:
    return replace(steps, blocks=[replace(block, grades=_deal(block, random)) for block in steps.blocks])


def _deal(block: Block, random: np.random.Generator) -> NDArray[np.uint8]:
    """The grades of each moment, dealt out at random among its units."""
    keys = np.where(block.is_unit, random.random(block.grades.shape), 2.0)
    return np.take_along_axis(block.grades, np.argsort(keys, axis=1), axis=1)
