"""What stands beside a study's answer: whole groups held out, other labels, other levels, single weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.labels.rules import NEEDS
from workbench.experiments.statistics import paired_bootstrap_interval
from workbench.experiments.study import baselines
from workbench.experiments.study.folds import known_groups, named_folds, shuffled_folds
from workbench.experiments.study.nested import nested
from workbench.experiments.study.result import BesideRow, Bounds, GroupRow, RuleRow, SensitivityRow
from workbench.experiments.study.scoring import LiftObjective
from workbench.experiments.study.steps import collect_steps

if TYPE_CHECKING:
    from workbench.experiments.frames import SessionFrame
    from workbench.experiments.study.run import Study, _Scored
    from workbench.experiments.study.space import Space

Floats = NDArray[np.float64]

FACTORS: Final = (0.0, 0.25, 0.5, 2.0, 4.0)
"""By which each weight is multiplied alone."""
SMALLEST_GROUP: Final = 3
"""Scored sessions of a developer or project that is held out by itself; smaller ones together."""
FEWEST: Final = 4
"""Sessions under which a comparison beside the study is left out."""


def group_rows(study: Study, scored: _Scored, best: Floats) -> list[GroupRow]:
    """Each developer, then each project, held out whole."""
    rows = []
    known: dict[str, Mapping[str, str | None]] = {
        "developer": study.grouping.developers,
        "project": study.grouping.projects,
    }
    for by, group_of in known.items():
        groups = known_groups(scored.reported.session_ids, group_of)
        folds, names = named_folds(groups, smallest=SMALLEST_GROUP)
        if len(names) > 1:
            rows += _held_groups(scored, best, by, folds, names)
    return rows


def _held_groups(scored: _Scored, best: Floats, by: str, folds: NDArray[np.int64], names: list[str]) -> list[GroupRow]:
    held = nested(scored.space, scored.objective, scored.points, folds, learning_trials=0, seed=scored.settings.seed)
    return [
        GroupRow(
            by=by,
            name=name,
            sessions=int((folds == part).sum()),
            gain=_gain(scored, held.values[folds == part], best[folds == part]),
        )
        for part, name in enumerate(names)
    ]


def rule_rows(study: Study, scored: _Scored) -> list[RuleRow]:
    """Tuned on each label and judged on each, held out by session, in bulk trials alone."""
    objectives = {}
    frames = study.frames[scored.settings.level]
    for need in NEEDS:
        made = _objective(scored, frames, need)
        if made is not None:
            objectives[need] = made
    if len(objectives) < 2:  # noqa: PLR2004
        return []
    names = sorted({name for each in objectives.values() for name in each.groups})
    shared = [study.grouping.shared.get(name, name) for name in names]
    part = dict(zip(names, shuffled_folds(shared, scored.settings.folds, seed=scored.settings.seed), strict=True))
    return [
        row
        for tuned_on in objectives
        for row in _tuned_on(scored, tuned_on, objectives, {name: int(each) for name, each in part.items()})
    ]


def _tuned_on(
    scored: _Scored, tuned_on: str, objectives: Mapping[str, LiftObjective], part: Mapping[str, int]
) -> list[RuleRow]:
    own = objectives[tuned_on]
    folds = np.array([part[name] for name in own.groups])
    if len(set(folds.tolist())) < 2:  # noqa: PLR2004
        return []
    held = nested(scored.space, own, scored.points, folds, learning_trials=0, seed=scored.settings.seed)
    chosen = dict(zip(sorted(set(folds.tolist())), (each.chosen for each in held.found), strict=True))
    points = np.array([scored.space.default, *chosen.values()])
    rows = []
    for judged_on, other in objectives.items():
        values = other.report_values(points)
        row = {fold: place for place, fold in enumerate(chosen, 1)}
        tuned = np.array([values[row.get(part[name], 0), place] for place, name in enumerate(other.groups)])
        gain = _gain(scored, tuned, values[0])
        rows.append(RuleRow(tuned_on=tuned_on, judged_on=judged_on, sessions=len(other.groups), gain=gain))
    return rows


def beside_rows(study: Study, scored: _Scored) -> list[BesideRow]:
    """The other level, and the original's own window, searched in bulk trials alone."""
    asked = scored.settings
    levels = {level: (frames, 0) for level, frames in study.frames.items() if level != asked.level}
    if "exchange" in study.frames:
        levels["window"] = (study.frames["exchange"], asked.window_age)
    return [_beside(study, scored, level, frames, age) for level, (frames, age) in levels.items()]


def _beside(study: Study, scored: _Scored, level: str, frames: Mapping[str, SessionFrame], min_age: int) -> BesideRow:
    objective = _objective(scored, frames, scored.settings.need, min_age=min_age)
    if objective is None:
        reported = collect_steps(frames, need=scored.settings.need, budget=scored.settings.budget, min_age=min_age)
        return BesideRow(
            level=level,
            sessions=len(reported.session_ids),
            moments=len(reported.sessions),
            lift_over_seed=None,
            lift_over_repaired=None,
            repaired_over_seed=None,
        )
    shared = [study.grouping.shared.get(name, name) for name in objective.groups]
    folds = shuffled_folds(shared, scored.settings.folds, seed=scored.settings.seed)
    held = nested(scored.space, objective, scored.points, folds, learning_trials=0, seed=scored.settings.seed)
    policies = baselines.hand_set(scored.settings.scoring, semantic=scored.semantic)
    seed, repaired = (objective.policy_values(policies[name]) for name in (baselines.SEED, baselines.REPAIRED))
    return BesideRow(
        level=level,
        sessions=len(objective.groups),
        moments=len(objective.reported.sessions),
        lift_over_seed=_gain(scored, held.values, seed),
        lift_over_repaired=_gain(scored, held.values, repaired),
        repaired_over_seed=_gain(scored, repaired, seed),
    )


def sensitivity_rows(space: Space, objective: LiftObjective, weights: Floats) -> list[SensitivityRow]:
    """What happens to lift when one weight is multiplied and the others stay."""
    changes = [(place, factor) for place in range(len(weights)) for factor in FACTORS]
    points = np.repeat(weights[None], len(changes), axis=0)
    for row, (place, factor) in enumerate(changes):
        points[row, place] *= factor
    lifts = objective.report_values(np.concatenate([weights[None], points])).mean(axis=1)
    return [
        SensitivityRow(space.names[place], factor, float(lift - lifts[0]))
        for (place, factor), lift in zip(changes, lifts[1:], strict=True)
    ]


def _objective(
    scored: _Scored, frames: Mapping[str, SessionFrame], need: str, *, min_age: int = 0
) -> LiftObjective | None:
    budget, most = scored.settings.budget, scored.settings.search_steps
    reported = collect_steps(frames, need=need, budget=budget, min_age=min_age)
    if len(reported.session_ids) < FEWEST:
        return None
    searched = collect_steps(frames, need=need, budget=budget, min_age=min_age, most_per_session=most)
    return LiftObjective(searched, reported, scored.objective.weigher)


def _gain(scored: _Scored, first: Floats, second: Floats) -> Bounds:
    found = paired_bootstrap_interval(first, second, seed=scored.settings.seed, resamples=scored.settings.draws)
    return Bounds(float(found.estimate), float(found.low), float(found.high))
