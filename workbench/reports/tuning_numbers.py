"""A study's result as rows: for its report, for Parquet, and to be compared with the same study made again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

import polars as pl

from workbench.experiments.study.memory import WHOLE
from workbench.experiments.study.result import Bounds, NullRow, PolicyResult, StudyResult, Verdict
from workbench.experiments.study.run import TUNED, TUNED_SEED
from workbench.reports.render.numbers import UNKNOWN

Row = dict[str, Any]

SCHEMA: Final[dict[str, Any]] = {
    "name": pl.String,
    "figure": pl.String,
    "part": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "says": pl.String,
}
"""Columns of `numbers_frame`."""

MEASURES: Final = ("recall", "share", "lift", "matched", "ndcg", "weak")
GAINS: Final = ("lift_over_seed", "lift_over_best", "matched_over_repaired")

LEFT_OUT: Final = (
    ("sessions", "sessions_scored", "scored"),
    ("sessions", "sessions_within_budget", "every pool fits the budget: all policies take everything"),
    ("sessions", "sessions_without_need", "a pool exceeds the budget, but no rule of the label fires"),
    ("sessions", "sessions_without_moments", "nothing was on offer when a model was asked"),
    ("moments", "moments_scored", "scored"),
    ("moments", "moments_within_budget", "the pool fits the budget"),
    ("moments", "moments_without_need", "no rule of the label fires on a unit of the pool"),
)
"""What was looked at, the name of its count, and what became of it."""


class Gained(Protocol):
    """What studies of every kind say of their gain; see `StudyResult`."""

    @property
    def gain(self) -> Bounds | None: ...  # noqa: D102
    @property
    def best_hand_set(self) -> str | None: ...  # noqa: D102
    @property
    def in_search_gain(self) -> float | None: ...  # noqa: D102
    @property
    def minimum_detectable_effect(self) -> float | None: ...  # noqa: D102
    @property
    def null(self) -> NullRow | None: ...  # noqa: D102
    @property
    def seeds(self) -> list[float]: ...  # noqa: D102
    @property
    def verdict(self) -> Verdict: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102


def numbers_frame(result: StudyResult) -> pl.DataFrame:
    """Every number of a study, a row each; the one that is not is how fast it was.

    Returns:
        `name` of what it is about and `figure`, `part` of the report, `value` with `low` and `high` of its interval
        where it has one, and `says` where it is a text.
    """
    return numbers_of(_rows(result))


def numbers_of(rows: Iterable[Row]) -> pl.DataFrame:
    """A frame of `number_row`s."""
    return pl.DataFrame([dict.fromkeys(SCHEMA) | row for row in rows], schema=SCHEMA)


def _rows(result: StudyResult) -> Iterator[Row]:
    yield from _about(result)
    for policy in result.policies:
        yield from _policy(policy)
    yield from null_numbers(result)
    yield from _beside(result)
    yield from _weights(result)
    for session in result.sessions:
        for policy_name, lift in session.lift.items():
            yield number_row("sessions", session.session_id, f"lift of {policy_name}", lift)


def _about(result: StudyResult) -> Iterator[Row]:
    texts = {
        "study": result.study_id,
        "verdict": result.verdict,
        "why": result.why,
        "best hand-set": result.best_hand_set,
        "may be applied": "yes" if result.may_apply else "no",
        "warnings": "; ".join(result.warnings),
    }
    for figure, says in texts.items():
        yield number_row("overview", "study", figure, says=says)
    yield number_row("overview", "study", "gain", bounds=result.gain)
    yield number_row("overview", "study", "gain where searched", result.in_search_gain)
    yield number_row("overview", "study", "detectable", result.minimum_detectable_effect)
    for name, value in result.dropped.items():
        yield number_row("dropped", "looked at", name, value)


def _policy(policy: PolicyResult) -> Iterator[Row]:
    for name in MEASURES:
        yield number_row("policies", policy.name, name, getattr(policy, name))
    for name in GAINS:
        yield number_row("policies", policy.name, name, bounds=getattr(policy, name))


def null_numbers(result: Gained) -> Iterator[Row]:
    """Gains on permuted labels and under other seeds, as rows of `numbers_frame`."""
    if result.null is not None:
        yield number_row("null", "permuted labels", "mean", result.null.mean)
        yield number_row("null", "permuted labels", "standard error", result.null.standard_error)
        yield number_row("null", "permuted labels", "holds", says="yes" if result.null.holds else "no")
        for number, gain in enumerate(result.null.gains, 1):
            yield number_row("null", f"permutation {number}", "gain", gain)
    for number, gain in enumerate(result.seeds, 1):
        yield number_row("null", f"other seed {number}", "gain", gain)


def _beside(result: StudyResult) -> Iterator[Row]:
    for level in result.beside:
        for name in ("lift_over_seed", "lift_over_repaired", "repaired_over_seed"):
            yield number_row("beside", f"level {level.level}", name, bounds=getattr(level, name))
    for group in result.groups:
        yield number_row("beside", f"{group.by} {group.name}", "gain", bounds=group.gain)
    for rule in result.rules:
        yield number_row("rules", f"tuned on {rule.tuned_on}", f"gain on {rule.judged_on}", bounds=rule.gain)


def _weights(result: StudyResult) -> Iterator[Row]:
    for name, value in result.weights.items():
        yield number_row("weights", name, "in use", result.default_weights[name])
        yield number_row("weights", name, "found", value)
        for number, fold in enumerate(result.fold_weights, 1):
            yield number_row("weights", name, f"without part {number}", fold[name])
    for each in result.sensitivity:
        yield number_row("sensitivity", each.weight, f"times {each.factor:g}", each.change)


def number_row(
    part: str,
    name: str,
    figure: str,
    value: float | None = None,
    *,
    bounds: Bounds | None = None,
    says: str | None = None,
) -> Row:
    """A row of `numbers_frame`."""
    spanned = {} if bounds is None else {"value": bounds.estimate, "low": bounds.low, "high": bounds.high}
    return {"name": name, "figure": figure, "part": part, "value": value, "says": says} | spanned


# -- rows of the page --------------------------------------------------------------------------------------------------


def signed(value: float | None) -> str:
    """Three decimals with their sign, as lift is told: +0.034; a dash where it is not known."""
    if value is None:
        return UNKNOWN
    text = f"{value:+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def spanned(bounds: Bounds | None) -> str:
    """A figure with its interval: -0.006 (-0.027 to +0.009)."""
    if bounds is None:
        return "too few sessions"
    return f"{signed(bounds.estimate)} ({signed(bounds.low)} to {signed(bounds.high)})"


def forest_rows(result: StudyResult) -> list[Row]:
    """Gain in lift of each policy over the seed default and over the best hand-set one, with its interval."""
    over = {"the seed default": "lift_over_seed", "the best hand-set": "lift_over_best"}
    return [
        {"over": name, "policy": policy.name, "kind": policy.kind, **_ends(getattr(policy, key))}
        | {"says": f"{policy.name} over {name}: {spanned(getattr(policy, key))}"}
        for name, key in over.items()
        for policy in result.policies
    ]


def measure_rows(result: StudyResult) -> list[Row]:
    """Recall of each policy, and what is left of it above chance and among units of like kind and size."""
    names = {"recall": "recall", "lift": "lift: above chance", "matched": "matched: of like kind and size"}
    return [
        {"measure": name, "policy": policy.name, "kind": policy.kind, "value": getattr(policy, key)}
        | {"says": f"{policy.name}: {key} {getattr(policy, key):.3f}"}
        for key, name in names.items()
        for policy in result.policies
    ]


def null_rows(result: Gained) -> list[Row]:
    """The held-out gain, gains under other seeds, gains on permuted labels and their mean, on one scale."""
    rows = [] if result.gain is None else [_point("held out", result.gain, "held-out gain")]
    rows += [_tick("other seeds", gain, f"seed {n}") for n, gain in enumerate(result.seeds, 1)]
    if result.null is not None:
        rows += [_tick("permuted labels", gain, f"permutation {n}") for n, gain in enumerate(result.null.gains, 1)]
        mean, error = result.null.mean, result.null.standard_error
        if mean is not None and error is not None:
            two = Bounds(mean, mean - 2 * error, mean + 2 * error)
            rows.append(_point("mean of these", two, "mean, with two standard errors"))
    return rows


def _ends(bounds: Bounds) -> Row:
    return {"gain": bounds.estimate, "low": bounds.low, "high": bounds.high}


def _point(of: str, bounds: Bounds, says: str) -> Row:
    return {"of": of, **_ends(bounds), "says": f"{says}: {spanned(bounds)}"}


def _tick(of: str, gain: float, says: str) -> Row:
    return {"of": of, "gain": gain, "low": None, "high": None, "says": f"{says}: {signed(gain)}"}


def weight_rows(result: StudyResult) -> list[Row]:
    """Each weight: in use, found, its range over the parts held out, and what is to be said of it."""
    rows: list[Row] = []
    for name, found in result.weights.items():
        folds = [fold[name] for fold in result.fold_weights]
        low, high = (min(folds), max(folds)) if folds else (None, None)
        rows.append(
            {
                "weight": short(name),
                "in_use": result.default_weights[name],
                "found": found if result.policies else None,
                "low": low,
                "high": high,
                "note": "0 in what was found: to multiply it changes nothing" if result.policies and not found else "",
            }
        )
    rows += [
        {"weight": short(name), "in_use": None, "found": None, "low": None, "high": None}
        | {"note": f"not identifiable: {why}"}
        for name, why in result.not_identifiable.items()
    ]
    return rows


def weight_marks(result: StudyResult) -> list[Row]:
    """Each weight as marks: in use, found on all sessions, found without each part."""
    rows = []
    for name, found in result.weights.items():
        marks = [("in use", result.default_weights[name]), ("found", found)]
        marks += [(f"without part {number}", fold[name]) for number, fold in enumerate(result.fold_weights, 1)]
        for what, value in marks:
            kind = what if what in ("in use", "found") else "without one part"
            says = f"{short(name)}, {what}: {value:.3f}"
            rows.append({"weight": short(name), "kind": kind, "value": value, "says": says})
    return rows


def sensitivity_rows(result: StudyResult) -> list[Row]:
    """Change in lift when one weight is multiplied, times 1 among them; weights that are 0 have none."""
    names = dict.fromkeys(each.weight for each in result.sensitivity if result.weights[each.weight])
    changes = {(each.weight, each.factor): each.change for each in result.sensitivity}
    changes |= {(name, 1.0): 0.0 for name in names}
    return [
        {"weight": short(name), "factor": f"{factor:g}", "change": change}
        | {"says": f"{short(name)} times {factor:g}: {signed(change)}"}
        for name in names
        for (weight, factor), change in sorted(changes.items(), key=lambda item: item[0][1])
        if weight == name
    ]


def session_gains(result: StudyResult) -> list[Row]:
    """Each scored session's gain of the tuned weights over the best hand-set policy, the largest change first."""
    best = str(result.best_hand_set)
    rows = [
        {
            "session": each.session_id,
            "developer": each.developer,
            "moments": each.moments,
            "best": each.lift[best],
            "tuned": each.lift[TUNED],
            "gain": each.lift[TUNED] - each.lift[best],
        }
        for each in result.sessions
    ]
    return sorted(rows, key=lambda row: (-abs(row["gain"]), row["session"]))


def progress_rows(trials: pl.DataFrame) -> list[Row]:
    """The best point so far of the search over all sessions, trial by trial.

    Evenly spread trials come first; those that learn begin at the last of them.

    Args:
        trials: Rows of the table `trials` of one study; it need not have ended.
    """
    stages = {"bulk": "evenly spread", "learnt": "learning"}
    whole = trials.filter(pl.col("run") == "main", pl.col("part") == WHOLE, pl.col("stage").is_in(list(stages)))
    ordered = whole.sort("stage", "number").select("stage", best=pl.col("value").cum_max()).rows()
    rows = [_trial(stages[stage], trial, best) for trial, (stage, best) in enumerate(ordered, 1)]
    spread = sum(stage == "bulk" for stage, _ in ordered)
    begins = [_trial(stages["learnt"], spread, ordered[spread - 1][1])] if 0 < spread < len(ordered) else []
    return rows[:spread] + begins + rows[spread:]


def _trial(run: str, trial: int, best: float) -> Row:
    return {"run": run, "trial": trial, "best": best, "says": f"after trial {trial}, {run}: {best:.3f}"}


def short(name: str) -> str:
    """A weight without the place of its setting: w_recency."""
    return name.rpartition(".")[2]


def policy_order(policies: Sequence[PolicyResult]) -> list[PolicyResult]:
    """What was tuned first, then what a person could have set, then what was learnt, then the bounds."""
    order = {"tuned": 0, "hand-set": 1, "learned": 2, "bound": 3}
    first = {TUNED: 0, TUNED_SEED: 1}
    return sorted(policies, key=lambda policy: (order.get(policy.kind, 4), first.get(policy.name, 2)))
