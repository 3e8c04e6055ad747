"""One study of scoring weights, from frames to a result. Nothing is read or written here.

Source: design, "Study"; the prototype, section 5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.statistics import Interval, minimum_detectable_effect, paired_bootstrap_interval
from workbench.experiments.study import baselines
from workbench.experiments.study.beside import beside_rows, group_rows, rule_rows, sensitivity_rows
from workbench.experiments.study.folds import shuffled_folds
from workbench.experiments.study.measures import MEASURES, measure
from workbench.experiments.study.memory import WHOLE, Memory
from workbench.experiments.study.nested import HeldOut, nested
from workbench.experiments.study.null import NullResult, NullRules, null_gains
from workbench.experiments.study.ranker import measure_ranker
from workbench.experiments.study.result import (
    BesideRow,
    Bounds,
    NullRow,
    PolicyResult,
    RuleRow,
    SessionRow,
    StudyResult,
)
from workbench.experiments.study.scoring import (
    NOT_IDENTIFIABLE,
    PREFIX,
    LiftObjective,
    Weigher,
    scoring_space,
)
from workbench.experiments.study.search import Found, search
from workbench.experiments.study.settings import Grouping, StudySettings
from workbench.experiments.study.steps import StepSet, collect_steps
from workbench.experiments.study.verdict import verdict_of

if TYPE_CHECKING:
    from workbench.experiments.frames import SessionFrame
    from workbench.experiments.study.policies import Policy
    from workbench.experiments.study.space import Space

Floats = NDArray[np.float64]

TUNED: Final = "tuned, all terms"
TUNED_SEED: Final = "tuned, terms of the original"
RANKER: Final = "boosted trees"
SIZED_RANKER: Final = "boosted trees with size and kind"

FEWEST_TO_HOLD_OUT: Final = 4
"""Sessions under which nothing can be held out."""
FEWEST_TO_LEARN: Final = 10
"""Sessions under which no ranker is learnt."""

Progress = Callable[[int, int, str], None]


@dataclass(slots=True)
class Study:
    """A study at work.

    Attributes:
        study_id: Its name.
        settings: What was asked for.
        frames: By level (`step`, `exchange`), then by session.
        grouping: What is known of the sessions.
        embedder: Model behind `semantic`.
        memory: What was done already.
        progress: Hears of each part.
    """

    study_id: str
    settings: StudySettings
    frames: Mapping[str, Mapping[str, SessionFrame]]
    grouping: Grouping
    embedder: str | None
    memory: Memory
    progress: Progress | None = None

    def run(self) -> StudyResult:
        """Make the study; what is in `memory` already is not made again.

        On one thread: the matrices are small, and threads of BLAS and OpenMP wait for each other by spinning, which
        on a busy machine took a hundred times as long.
        """
        from threadpoolctl import threadpool_limits  # noqa: PLC0415

        with threadpool_limits(1):
            return self._made()

    def _made(self) -> StudyResult:
        asked = self.settings
        reported = collect_steps(self._own, need=asked.need, budget=asked.budget)
        searched = collect_steps(self._own, need=asked.need, budget=asked.budget, most_per_session=asked.search_steps)
        if len(reported.session_ids) < FEWEST_TO_HOLD_OUT:
            return _too_few(self, reported)
        return _Scored(self, reported, searched).result()

    @property
    def _own(self) -> Mapping[str, SessionFrame]:
        return self.frames[self.settings.level]

    def tell(self, done: int, total: int, what: str) -> None:
        """Say how far it is."""
        if self.progress:
            self.progress(done, total, what)


class _Scored:
    """A study with enough sessions to hold some out."""

    def __init__(self, study: Study, reported: StepSet, searched: StepSet) -> None:
        self.study, self.settings = study, study.settings
        self.reported, self.searched = reported, searched
        self.semantic = study.embedder is not None
        scoring = self.settings.scoring
        self.space = scoring_space(scoring, semantic=self.semantic, extras=True)
        self.objective = LiftObjective(searched, reported, Weigher(_short(self.space), scoring))
        shared = [study.grouping.shared.get(each, each) for each in reported.session_ids]
        self.shared = shared
        self.folds = shuffled_folds(shared, self.settings.folds, seed=self.settings.seed)
        self.points = self.space.quasi_random(self.settings.trials, seed=self.settings.seed)

    def result(self) -> StudyResult:
        self.study.tell(0, 1, "trials")
        started = time.perf_counter()
        values = self.objective.search_values(self.points)
        seconds = time.perf_counter() - started
        self._keep("bulk", "main", WHOLE, self.space, self.points, values.mean(axis=1))
        held = self._nested("main", self.space, self.objective, self.points, self.folds)
        measured = self._measured(held)
        lifts = {name: self.reported.session_means(each["lift"]) for name, (_, each) in measured.items()}
        best = max(self.hand_set, key=lambda name: float(lifts[name].mean()))
        gain = bounds(self._interval(lifts[TUNED], lifts[best]))
        weights = self._final(values)
        null = self._null()
        verdict, why = verdict_of(gain, null, best, len(self.folds), least=self.settings.min_sessions)
        rules, beside = rule_rows(self.study, self), beside_rows(self.study, self)
        may_apply = verdict == "better" and not np.allclose(weights, self.space.default)
        seed_default = self.objective.search_values(self.space.default[None])[0]
        return StudyResult(
            **_about(self.study, self.reported, len(set(self.folds.tolist()))),
            policies=self._rows(measured, lifts, best),
            best_hand_set=best,
            gain=gain,
            in_search_gain=held.in_search - float(seed_default.mean()),
            minimum_detectable_effect=detectable(lifts[TUNED] - lifts[best]),
            null=null_row(null, self._null_rules),
            seeds=self._seeds(lifts[best]),
            groups=group_rows(self.study, self, lifts[best]),
            rules=rules,
            beside=beside,
            default_weights=named(self.space, self.space.default),
            weights=named(self.space, weights),
            fold_weights=[named(self.space, each.chosen) for each in held.found],
            sensitivity=sensitivity_rows(self.space, self.objective, weights),
            sessions=self._sessions(lifts),
            evaluations=len(self.points),
            evaluations_per_second=len(self.points) / max(seconds, 1e-9),
            verdict=verdict,
            why=why,
            may_apply=may_apply,
            warnings=[
                *self._search_warnings(held, lifts, held.in_search - float(seed_default.mean())),
                *self._warnings(rules, held),
                *_window_warnings(self.settings, beside),
            ],
            lacks=[] if self.semantic else ["closeness of meaning: no vectors were asked for (--semantic)"],
        )

    @property
    def hand_set(self) -> Mapping[str, Policy]:
        """The policies that a person could have set."""
        return baselines.hand_set(self.settings.scoring, semantic=self.semantic)

    def _interval(self, first: Floats, second: Floats) -> Interval:
        return paired_bootstrap_interval(first, second, seed=self.settings.seed, resamples=self.settings.draws)

    def _keep(self, stage: str, run: str, part: int, space: Space, points: Floats, values: Floats) -> None:
        self.study.memory.keep_points(stage, run, part, space.names, points, values)

    def _nested(
        self,
        run: str,
        space: Space,
        objective: LiftObjective,
        points: Floats,
        folds: NDArray[np.int64],
        *,
        seed: int | None = None,
    ) -> HeldOut:
        """Hold each part out; choices are kept as they come."""
        memory = self.study.memory
        return nested(
            space,
            objective,
            points,
            folds,
            learning_trials=self.settings.learning_trials,
            seed=self.settings.seed if seed is None else seed,
            known=lambda part: memory.chosen(run, part, space.names),
            found=lambda part, each: self._chose(run, part, space, each),
        )

    def _chose(self, run: str, part: int, space: Space, found: Found) -> None:
        self._keep("learnt", run, part, space, found.learnt, found.learnt_values)
        self._keep("chosen", run, part, space, found.chosen[None], np.array([found.value]))

    def _measured(self, held: HeldOut) -> dict[str, tuple[str, dict[str, Floats]]]:
        """Kind and measures at each moment, by policy."""
        steps, asked = self.reported, self.settings
        made = {name: ("hand-set", measure(steps, policy)) for name, policy in self.hand_set.items()}
        made[baselines.EVERYTHING] = ("bound", baselines.measure_everything(steps))
        made[baselines.RANDOM] = ("bound", baselines.measure_random(steps, seed=asked.seed))
        made[baselines.ORACLE] = ("bound", measure(steps, baselines.oracle))
        made[TUNED_SEED] = ("tuned", self._original())
        made[TUNED] = ("tuned", held_out_measures(steps, self.objective.weigher, held))
        if len(steps.session_ids) >= FEWEST_TO_LEARN:
            for name, with_size in ((RANKER, False), (SIZED_RANKER, True)):
                self.study.tell(0, 1, name)
                learnt = measure_ranker(self.searched, steps, self.folds, with_size=with_size, seed=asked.seed)
                made[name] = ("learned", learnt)
        return made

    def _original(self) -> dict[str, Floats]:
        """The terms of the original alone, tuned in the same way."""
        space = scoring_space(self.settings.scoring, semantic=self.semantic, extras=False)
        weigher = Weigher(_short(space), self.settings.scoring)
        objective = LiftObjective(self.searched, self.reported, weigher)
        points = space.quasi_random(self.settings.trials, seed=self.settings.seed)
        held = self._nested("terms of the original", space, objective, points, self.folds)
        return held_out_measures(self.reported, weigher, held)

    def _final(self, values: Floats) -> Floats:
        """Weights found on all sessions."""
        known = self.study.memory.chosen("main", WHOLE, self.space.names)
        if known is not None:
            return known
        everyone = np.ones(len(self.folds), dtype=np.bool_)
        trials = self.settings.learning_trials
        found = search(
            self.space, self.objective, self.points, values, everyone, learning_trials=trials, seed=self.settings.seed
        )
        self._chose("main", WHOLE, self.space, found)
        return found.chosen

    @property
    def _null_rules(self) -> NullRules:
        """Where there is no verdict anyway, no more permutations than the least."""
        rules = self.settings.null
        if len(self.folds) >= self.settings.min_sessions:
            return rules
        return NullRules(rules.least, rules.least, rules.standard_error, rules.tolerance)

    def _null(self) -> NullResult:
        def tell(done: int, total: int) -> None:
            self.study.tell(done, total, "permuted labels")

        return null_gains(self._null_gain, self._null_rules, progress=tell)

    def _null_gain(self, number: int) -> float:
        """Gain over the repaired default when the labels mean nothing."""
        known = self.study.memory.gain(number)
        if known is not None:
            return known
        permuted = self.objective.permuted(self.settings.seed + 1000 + number)
        held = nested(
            self.space,
            permuted,
            self.points,
            shuffled_folds(self.shared, self.settings.folds, seed=self.settings.seed + 1000 + number),
            learning_trials=self.settings.learning_trials,
            seed=self.settings.seed + 1000 + number,
        )
        gain = float((held.values - permuted.report_values(self.space.default[None])[0]).mean())
        self.study.memory.keep_gain(number, gain)
        return gain

    def _seeds(self, best: Floats) -> list[float]:
        """The held-out gain under other seeds of folds, points and sampler."""
        gains = []
        for repeat in range(1, self.settings.seeds + 1):
            self.study.tell(repeat - 1, self.settings.seeds, "other seeds")
            seed = self.settings.seed + 100 * repeat
            points = self.space.quasi_random(self.settings.trials, seed=seed)
            folds = shuffled_folds(self.shared, self.settings.folds, seed=seed)
            held = self._nested(f"seed {repeat}", self.space, self.objective, points, folds, seed=seed)
            gains.append(float((held.values - best).mean()))
        return gains

    def _rows(
        self, measured: Mapping[str, tuple[str, dict[str, Floats]]], lifts: Mapping[str, Floats], best: str
    ) -> list[PolicyResult]:
        matched = {name: self.reported.session_means(each["matched"]) for name, (_, each) in measured.items()}
        return [
            PolicyResult(
                name=name,
                kind=kind,
                **{key: float(self.reported.session_means(each[key]).mean()) for key in MEASURES if key != "weak"},
                weak=_mean_or_none(each["weak"]),
                lift_over_seed=bounds(self._interval(lifts[name], lifts[baselines.SEED])),
                lift_over_best=bounds(self._interval(lifts[name], lifts[best])),
                matched_over_repaired=bounds(self._interval(matched[name], matched[baselines.REPAIRED])),
            )
            for name, (kind, each) in measured.items()
        ]

    def _search_warnings(self, held: HeldOut, lifts: Mapping[str, Floats], in_search: float) -> list[str]:
        """What became of the gain over the weights in use where nothing was searched."""
        if all(np.allclose(each.chosen, self.space.default) for each in held.found):
            return ["the search found nothing better than the weights in use"]
        found = self._interval(lifts[TUNED], lifts[baselines.REPAIRED])
        told = f"{in_search:+.3f} where it searched, {found.estimate:+.3f} held out, over the weights in use"
        if found.high < 0:
            return [f"the search found weights that do worse on sessions it did not see: overfit ({told})"]
        if found.estimate <= 0:
            return [f"the search gained nothing on sessions it did not see ({told})"]
        return []

    def _warnings(self, rules: Sequence[RuleRow], held: HeldOut) -> list[str]:
        told = [
            f"weights tuned on {row.tuned_on} lose on {row.judged_on}: {row.gain.estimate:+.3f}"
            for row in rules
            if row.gain.high < 0
        ]
        largest = _largest_share(self.study.grouping.developers, self.reported.session_ids)
        if largest is not None:
            told.append(largest)
        spread = np.ptp(np.array([each.chosen for each in held.found]), axis=0) / self.space.default.sum()
        if spread.max() > _WIDE_SPREAD:
            told.append("weights are not identified: they differ between the parts that were held out")
        return told

    def _sessions(self, lifts: Mapping[str, Floats]) -> list[SessionRow]:
        counts = np.bincount(self.reported.sessions, minlength=len(self.reported.session_ids))
        grouping = self.study.grouping
        return [
            SessionRow(
                session_id=name,
                project_id=grouping.projects.get(name),
                developer=grouping.developers.get(name),
                fold=int(self.folds[place]),
                moments=int(counts[place]),
                lift={policy: float(values[place]) for policy, values in lifts.items()},
            )
            for place, name in enumerate(self.reported.session_ids)
        ]


_WIDE_SPREAD: Final = 0.25
"""Share of all weights by which one may differ from part to part."""
_LARGE_SHARE: Final = 0.3
"""Share of the scored sessions from which one developer is named."""


def held_out_measures(steps: StepSet, weigher: Weigher, held: HeldOut) -> dict[str, Floats]:
    """Every measure at every moment, under the weights found without its session."""
    found = {name: np.full(len(steps.sessions), np.nan) for name in MEASURES}
    for part, each in zip(sorted(set(held.folds.tolist())), held.found, strict=True):
        inside = held.folds[steps.sessions] == part
        for name, values in measure(steps, weigher.policy(each.chosen)).items():
            found[name][inside] = values[inside]
    return found


def bounds(interval: Interval) -> Bounds:
    """An interval as it is kept."""
    return Bounds(float(interval.estimate), float(interval.low), float(interval.high))


def named(space: Space, point: Floats) -> dict[str, float]:
    """A point by the names of its settings."""
    return {name: float(value) for name, value in zip(space.names, point, strict=True)}


def null_row(null: NullResult, rules: NullRules) -> NullRow:
    """Gains on permuted labels as they are kept."""
    return NullRow(
        permutations=len(null.gains),
        most=rules.most,
        mean=_finite(null.mean),
        standard_error=_finite(null.standard_error),
        tolerance=rules.tolerance,
        standard_error_asked=rules.standard_error,
        is_precise=null.is_precise,
        holds=null.holds,
        gains=list(null.gains),
    )


def _short(space: Space) -> list[str]:
    return [name.removeprefix(PREFIX) for name in space.names]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _mean_or_none(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def detectable(differences: Floats) -> float | None:
    """The true mean that differences like these would show four times of five; None where nothing varies."""
    count = len(differences)
    error = differences.std(ddof=1) / np.sqrt(count) if count > 1 else np.nan
    return _finite(float(minimum_detectable_effect(error, count - 1)))


def _window_warnings(asked: StudySettings, beside: Sequence[BesideRow]) -> list[str]:
    """By exchange, units are on offer that a live prompt shows word for word; a gain among these is of no use there."""
    window = next((each.lift_over_repaired for each in beside if each.level == "window"), None)
    if asked.level != "exchange" or window is None or window.low > 0:
        return []
    told = f"{window.estimate:+.3f} ({window.low:+.3f} to {window.high:+.3f})"
    return [f"no gain is shown among units at least {asked.window_age} exchanges old, a live prompt's own pool: {told}"]


def _largest_share(developers: Mapping[str, str | None], session_ids: Sequence[str]) -> str | None:
    known = [name for each in session_ids if (name := developers.get(each))]
    if not known:
        return None
    largest = max(set(known), key=known.count)
    share = known.count(largest) / len(session_ids)
    return f"{share:.0%} of the scored sessions are by one developer ({largest})" if share > _LARGE_SHARE else None


def _about(study: Study, reported: StepSet, folds: int) -> dict[str, Any]:
    asked = study.settings
    return {
        "study_id": study.study_id,
        "level": asked.level,
        "need": asked.need,
        "budget_tokens": asked.budget,
        "embedder": study.embedder,
        "seed": asked.seed,
        "trials": asked.trials,
        "learning_trials": asked.learning_trials,
        "folds": folds,
        "dropped": asdict(reported.dropped),
        "not_identifiable": {PREFIX + name: why for name, why in NOT_IDENTIFIABLE.items()},
    }


def _too_few(study: Study, reported: StepSet) -> StudyResult:
    """A study of so few sessions that nothing can be held out: what was looked at, and no verdict."""
    sessions = len(reported.session_ids)
    scoring = study.settings.scoring
    space = scoring_space(scoring, semantic=study.embedder is not None, extras=True)
    return StudyResult(
        **_about(study, reported, 0),
        policies=[],
        best_hand_set=None,
        gain=None,
        in_search_gain=None,
        minimum_detectable_effect=None,
        null=None,
        seeds=[],
        groups=[],
        rules=[],
        beside=[],
        default_weights=named(space, space.default),
        weights=named(space, space.default),
        fold_weights=[],
        sensitivity=[],
        sessions=[],
        evaluations=0,
        evaluations_per_second=None,
        verdict="no verdict",
        why=f"{sessions} scored sessions, at least {study.settings.min_sessions} are needed",
        may_apply=False,
        warnings=[],
        lacks=[],
    )
