"""What a search gains where it did not search: tuned on all parts but one, judged on that one, part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.study.search import Found, search

if TYPE_CHECKING:
    from workbench.experiments.study.objective import Objective
    from workbench.experiments.study.space import Space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A nested search.

    Attributes:
        values: Of each group, under the point that was found without it (groups,).
        in_search: Mean value of the chosen points where they were searched: how much too good that looks.
        found: The search of each part.
        folds: The part of each group.
    """

    values: Floats
    in_search: float
    found: tuple[Found, ...]
    folds: Ints


KnownChoice = Callable[[int], Floats | None]
"""A part's number to the point that was found without it earlier; None where it was not."""
OnFound = Callable[[int, Found], None]
"""Called with a part's number and what was found without it."""


def nested(
    space: Space,
    objective: Objective,
    points: Floats,
    folds: Ints,
    *,
    learning_trials: int,
    seed: int,
    known: KnownChoice | None = None,
    found: OnFound | None = None,
) -> HeldOut:
    """Search without each part in turn.

    Args:
        space: What is searched.
        objective: What points are judged by.
        points: The quasi-random points, the default first.
        folds: The part of each group.
        learning_trials: Of each search.
        seed: Of the samplers.
        known: Choices of an earlier run that was broken off.
        found: Hears of each search that was made.
    """
    seen = objective.search_values(points)
    held = np.full(len(folds), np.nan)
    searches = []
    for part in sorted(set(folds.tolist())):
        within = folds != part
        chosen = known(part) if known else None
        if chosen is None:
            each = search(space, objective, points, seen, within, learning_trials=learning_trials, seed=seed + part)
            if found:
                found(part, each)
        else:
            each = _remembered(objective, chosen, within)
        held[~within] = objective.report_values(each.chosen[None])[0, ~within]
        searches.append(each)
    return HeldOut(held, float(np.mean([each.value for each in searches])), tuple(searches), folds)


def _remembered(objective: Objective, point: Floats, within: NDArray[np.bool_]) -> Found:
    value = float(objective.search_values(point[None])[0, within].mean())
    nothing = np.empty((0, len(point)))
    return Found(point, value, value, nothing, np.empty(0))
