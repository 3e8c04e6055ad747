"""A study of any space: search, hold out, permute, compare with what a person could have set. Nothing is read here.

`run` does the same for weights of units and knows much more about them; this needs a `Space` and an `Objective` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from workbench.errors import BadInputError
from workbench.experiments.statistics import paired_bootstrap_interval
from workbench.experiments.study.folds import shuffled_folds
from workbench.experiments.study.nested import HeldOut, nested
from workbench.experiments.study.null import NullRules, null_gains
from workbench.experiments.study.result import Bounds, NullRow, Verdict
from workbench.experiments.study.run import bounds, detectable, named, null_row
from workbench.experiments.study.search import search
from workbench.experiments.study.verdict import verdict_of

if TYPE_CHECKING:
    from workbench.config.study import Study
    from workbench.experiments.study.objective import Objective
    from workbench.experiments.study.space import Space

Floats = NDArray[np.float64]
Progress = Callable[[int, int, str], None]

FEWEST: Final = 4
"""Groups under which nothing can be held out."""
TUNED: Final = "tuned"


class SettingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One way to set the space: its mean, and its gain over the setting in use; `tuned` is held out."""

    name: str
    mean: float
    over_default: Bounds


class SpaceResult(msgspec.Struct, frozen=True, kw_only=True):
    """A study of a space.

    Attributes:
        what: Name of the space.
        measure: What a gain is a gain in.
        of: What the groups are, such as queries.
        groups: How many.
        looked_at: How many there were, those included of which nothing can be said.
        seed: Of everything random.
        trials: Points judged in bulk.
        learning_trials: Further points of each search.
        folds: Parts of the cross-validation.
        rows: What was set by hand, then `tuned`.
        best_hand_set: The one to beat.
        gain: Of the tuned settings over it, held out.
        in_search_gain: Over the settings in use where they were searched: no evidence.
        minimum_detectable_effect: The true gain that such a study finds four times in five.
        null: Gains on permuted labels.
        seeds: The held-out gain again under other seeds.
        default: The settings in use.
        found: Found on all groups.
        fold_points: Found without each part.
        verdict: One of `Verdict`.
        why: In words.
        may_apply: Whether the settings may be written.
        study_id: Its id, where it was kept.
    """

    what: str
    measure: str
    of: str
    groups: int
    looked_at: int
    seed: int
    trials: int
    learning_trials: int
    folds: int
    rows: list[SettingRow]
    best_hand_set: str
    gain: Bounds
    in_search_gain: float
    minimum_detectable_effect: float | None
    null: NullRow
    seeds: list[float]
    default: dict[str, float]
    found: dict[str, float]
    fold_points: list[dict[str, float]]
    verdict: Verdict
    why: str
    may_apply: bool
    study_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSettings:
    """What decides a study of a space, the data apart; see `StudySettings`.

    Attributes:
        measure: What a gain is a gain in.
        of: What the groups are.
        seed: Of everything random.
        trials: Points judged in bulk, the default among them.
        learning_trials: Further points of each search.
        folds: Parts of the cross-validation.
        seeds: Repeats with other seeds.
        draws: Behind an interval.
        least: Groups under which there is no verdict.
        null: How often labels are permuted.
    """

    measure: str
    of: str
    seed: int
    trials: int
    learning_trials: int
    folds: int
    seeds: int
    draws: int
    least: int
    null: NullRules


def plain_settings(
    study: Study, *, measure: str, of: str, seed: int, trials: int, learning_trials: int, permutations: int
) -> PlainSettings:
    """How a study of settings is made, by the configuration; see `PlainSettings`."""
    most = max(permutations, study.null_permutations_max)
    return PlainSettings(
        measure=measure,
        of=of,
        seed=seed,
        trials=trials,
        learning_trials=learning_trials,
        folds=study.folds,
        seeds=study.seeds,
        draws=study.bootstrap_draws,
        least=study.min_sessions,
        null=NullRules(permutations, most, study.null_standard_error_max, study.null_tolerance),
    )


def study_space(
    space: Space,
    objective: Objective,
    hand_set: Mapping[str, Floats],
    shared: Sequence[str],
    asked: PlainSettings,
    *,
    looked_at: int | None = None,
    progress: Progress | None = None,
) -> SpaceResult:
    """Find out whether other settings are better than all that a person could have set.

    Args:
        space: What is searched; its default is in use.
        objective: What settings are judged by.
        hand_set: Values a group of other ways, by name; the default is added.
        shared: A name a group: groups of one name are never parted.
        asked: How.
        looked_at: How many groups there were, where some have no value; their number unless given.
        progress: Called with things done, things in all and what they are.

    Raises:
        BadInputError: There are too few groups to hold any out.
    """
    count = len(objective.groups)
    if len(set(shared)) < FEWEST:
        raise BadInputError(
            f"{count} {asked.of} in {len(set(shared))} parts that share nothing are too few to hold any out; "
            f"{FEWEST} are needed, {asked.least} for a verdict"
        )
    default = objective.report_values(space.default[None])[0]
    by_hand = {"in use": default, **hand_set}
    best = max(by_hand, key=lambda name: float(by_hand[name].mean()))
    held = _held(space, objective, shared, asked, asked.seed)
    gain = bounds(paired_bootstrap_interval(held.values, by_hand[best], seed=asked.seed, resamples=asked.draws))

    def null_gain(number: int) -> float:
        permuted = objective.permuted(asked.seed + 1000 + number)
        found = _held(space, permuted, shared, asked, asked.seed + 1000 + number)
        return float((found.values - permuted.report_values(space.default[None])[0]).mean())

    def tell(done: int, total: int) -> None:
        if progress:
            progress(done, total, "permuted labels")

    rules = asked.null if count >= asked.least else replace(asked.null, most=asked.null.least)
    null = null_gains(null_gain, rules, progress=tell)
    verdict, why = verdict_of(gain, null, best, count, least=asked.least, measure=asked.measure, of=asked.of)
    points = space.quasi_random(asked.trials, seed=asked.seed)
    seen, everyone = objective.search_values(points), np.ones(count, dtype=np.bool_)
    final = search(
        space, objective, points, seen, everyone, learning_trials=asked.learning_trials, seed=asked.seed
    ).chosen
    rows = {**by_hand, TUNED: held.values}
    others = [_held(space, objective, shared, asked, asked.seed + 100 * repeat) for repeat in _repeats(asked)]
    return SpaceResult(
        what=space.name,
        measure=asked.measure,
        of=asked.of,
        groups=count,
        looked_at=count if looked_at is None else looked_at,
        seed=asked.seed,
        trials=len(points),
        learning_trials=asked.learning_trials,
        folds=len(held.found),
        rows=[
            SettingRow(
                name=name,
                mean=float(values.mean()),
                over_default=bounds(paired_bootstrap_interval(values, default, seed=asked.seed, resamples=asked.draws)),
            )
            for name, values in rows.items()
        ],
        best_hand_set=best,
        gain=gain,
        in_search_gain=held.in_search - float(objective.search_values(space.default[None]).mean()),
        minimum_detectable_effect=detectable(held.values - by_hand[best]),
        null=null_row(null, rules),
        seeds=[float((each.values - by_hand[best]).mean()) for each in others],
        default=named(space, space.default),
        found=named(space, final),
        fold_points=[named(space, each.chosen) for each in held.found],
        verdict=verdict,
        why=why,
        may_apply=verdict == "better" and not np.allclose(final, space.default),
    )


def _repeats(asked: PlainSettings) -> range:
    return range(1, asked.seeds + 1)


def _held(space: Space, objective: Objective, shared: Sequence[str], asked: PlainSettings, seed: int) -> HeldOut:
    return nested(
        space,
        objective,
        space.quasi_random(asked.trials, seed=seed),
        shuffled_folds(shared, asked.folds, seed=seed),
        learning_trials=asked.learning_trials,
        seed=seed,
    )
