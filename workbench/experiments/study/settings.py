"""What a study of scoring weights is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.config.context import Scoring
from workbench.errors import BadInputError
from workbench.experiments.labels.rules import NEEDS
from workbench.experiments.study.null import NullRules

if TYPE_CHECKING:
    from workbench.config.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """All that decides what a study does, the data apart.

    Attributes:
        level: step or exchange.
        need: One of `labels.rules.NEEDS`.
        budget: Tokens that a policy may select.
        scoring: Weights in use, the default point.
        seed: Of everything random.
        trials: Points judged in bulk, the default among them.
        learning_trials: Further points of each search.
        folds: Parts of the cross-validation.
        search_steps: Moments of a session looked at while searching.
        seeds: Repeats with other seeds.
        draws: Behind an interval.
        min_sessions: Scored sessions under which there is no verdict.
        window_age: Age in exchanges of the units in the original's own window.
        null: How often labels are permuted.
    """

    level: str
    need: str
    budget: int
    scoring: Scoring
    seed: int
    trials: int
    learning_trials: int
    folds: int
    search_steps: int
    seeds: int
    draws: int
    min_sessions: int
    window_age: int
    null: NullRules


def settings_of(
    study: Study,
    scoring: Scoring,
    *,
    level: str | None = None,
    budget: int | None = None,
    need: str = "vis",
    trials: int | None = None,
    learning_trials: int | None = None,
    permutations: int | None = None,
    seed: int = 0,
) -> StudySettings:
    """The configured study with what was asked for.

    Raises:
        BadInputError: A number or name is not allowed.
    """
    chosen = study.level if level is None else level
    if chosen not in ("step", "exchange"):
        raise BadInputError(f"a study's level is step or exchange, not {chosen!r}")
    if need not in NEEDS:
        raise BadInputError(f"there is no label {need!r}; there are: {', '.join(NEEDS)}")
    asked = {"budget": budget, "trials": trials, "permutations": permutations}
    for name, value in asked.items():
        if value is not None and value < 1:
            raise BadInputError(f"{name} must be at least 1, not {value}")
    learning = study.tpe_trials if learning_trials is None else learning_trials
    if not 0 <= learning <= study.tpe_trials_max:
        raise BadInputError(f"trials that learn are 0 to {study.tpe_trials_max} (study.tpe_trials_max), not {learning}")
    least = study.null_permutations_min if permutations is None else permutations
    null = NullRules(
        least, max(least, study.null_permutations_max), study.null_standard_error_max, study.null_tolerance
    )
    return StudySettings(
        level=chosen,
        need=need,
        budget=study.budget_tokens if budget is None else budget,
        scoring=scoring,
        seed=seed,
        trials=study.bulk_trials if trials is None else trials,
        learning_trials=learning,
        folds=study.folds,
        search_steps=study.tuning_steps_max,
        seeds=study.seeds,
        draws=study.bootstrap_draws,
        min_sessions=study.min_sessions,
        window_age=study.window_min_age,
        null=null,
    )


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is known of sessions besides their moments.

    Attributes:
        shared: Session to the group of sessions that share records with it.
        developers: Session to whose folder it ran in.
        projects: Session to its project.
    """

    shared: Mapping[str, str] = field(default_factory=dict)
    developers: Mapping[str, str | None] = field(default_factory=dict)
    projects: Mapping[str, str | None] = field(default_factory=dict)
