"""The search: many evenly spread points at once, then some that learn from them, then a cautious choice.

Among points that are as good as the best within one standard error of the difference, the one nearest to the default is
chosen, so that noise alone moves nothing.

Source: design, "Study"; the one-standard-error rule: Breiman et al. 1984, section 3.4.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from workbench.experiments.study.objective import Objective
    from workbench.experiments.study.space import Space

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TAUGHT: Final = 32
"""Best quasi-random points that the sampler is told of before it begins."""
_CLOSE: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes:
        chosen: The point.
        value: Its mean value in the search.
        best: The highest mean there, of a point that may lie further from the default.
        learnt: The points that the sampler tried (trials, settings).
        learnt_values: Their means (trials,).
    """

    chosen: Floats
    value: float
    best: float
    learnt: Floats
    learnt_values: Floats


def search(
    space: Space,
    objective: Objective,
    points: Floats,
    values: Floats,
    within: Bools,
    *,
    learning_trials: int,
    seed: int,
) -> Found:
    """Find a point by some of the groups.

    Args:
        space: What is searched.
        objective: What points are judged by.
        points: Tried already, the default first (trials, settings).
        values: Their search values of every group (trials, groups).
        within: The groups that count.
        learning_trials: Further points, each proposed from what is known so far (TPE, Optuna).
        seed: Of the sampler.
    """
    learnt, learnt_values = _learn(space, objective, points, values, within, learning_trials, seed)
    everything = np.concatenate([points, learnt])
    seen = np.concatenate([values[:, within], learnt_values])
    chosen = cautious_choice(seen, space.distance(everything))
    means = seen.mean(axis=1)
    return Found(everything[chosen], float(means[chosen]), float(means.max()), learnt, learnt_values.mean(axis=1))


def cautious_choice(values: Floats, distance: Floats) -> int:
    """The point nearest to the default among those as good as the best, within one standard error of the difference.

    Args:
        values: Of each point and group (points, groups).
        distance: Of each point from the default.
    """
    means = values.mean(axis=1)
    behind = values[int(means.argmax())] - values
    groups = values.shape[1]
    error = behind.std(axis=1, ddof=1) / np.sqrt(groups) if groups > 1 else np.zeros(len(values))
    equal = behind.mean(axis=1) <= error + _CLOSE
    return int(np.flatnonzero(equal)[distance[equal].argmin()])


def _learn(
    space: Space,
    objective: Objective,
    points: Floats,
    values: Floats,
    within: Bools,
    trials: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Points that a tree-structured Parzen estimator proposes, and their values (trials, groups that count)."""
    if trials <= 0:
        return np.empty((0, points.shape[1])), np.empty((0, int(within.sum())))
    propose, tell = _sampler(space, points, values[:, within].mean(axis=1), seed)
    tried, seen = [], []
    for _ in range(trials):
        point = propose()
        value = objective.search_values(point[None])[0, within]
        tell(float(value.mean()))
        tried.append(point)
        seen.append(value)
    return np.array(tried), np.array(seen)


def _sampler(
    space: Space, points: Floats, means: Floats, seed: int
) -> tuple[Callable[[], Floats], Callable[[float], None]]:
    import optuna  # noqa: PLC0415  (0.25 s)

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    unit: dict[str, optuna.distributions.BaseDistribution] = {
        name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in space.names
    }
    for place in np.argsort(-means, kind="stable")[:TAUGHT].tolist():
        shares = _shares(space, points[place])
        known = dict(zip(space.names, shares.tolist(), strict=True))
        study.add_trial(optuna.trial.create_trial(params=known, distributions=unit, value=float(means[place])))
    asked: list[optuna.Trial] = []

    def propose() -> Floats:
        trial = study.ask(unit)
        asked.append(trial)
        return np.asarray(space.points(np.array([[trial.params[name] for name in space.names]]))[0])

    def tell(value: float) -> None:
        study.tell(asked.pop(), value)

    return propose, tell


def _shares(space: Space, point: Floats) -> Floats:
    """A place of the unit cube that gives the point; of weights any multiple of it will do."""
    if space.by_ratio:
        point = point / point.max() * max(each.high for each in space.parameters)
    return np.array([each.share(value) for each, value in zip(space.parameters, point.tolist(), strict=True)])
