"""Arms compared: metric by metric, how much they differ, how sure that is, and what could not be told. Pure.

The unit is a session, or a pair: one session replayed twice, or the sessions of one project and kind of task. Each arm
stands against the first. Which statistics and why: `experiments.statistics`; how far they hold: `reports/statistics`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from workbench.experiments import statistics as st

Floats = NDArray[np.float64]
Design = Literal["arms", "pairs"]
Verdict = Literal["better", "worse", "differs", "not shown", "not tested"]

ALPHA: Final = 0.05
SMALL: Final = 50
"""Units of the smaller arm below which intervals may hold less or more often than they say (`reports/statistics`)."""
RESAMPLES: Final = 4_000
"""Of an interval; source: the prototype of the study, as `study.bootstrap_draws`."""
ALMOST_NONE: Final = 2


@dataclass(frozen=True)
class Measure:
    """One metric as it is compared.

    Attributes:
        name: The metric.
        column: What is compared: the rate where there is one.
        unit: Of the metric.
        better: `lower`, `higher`, or None where neither is.
    """

    name: str
    column: str
    unit: str
    better: str | None


@dataclass(frozen=True)
class Sample:
    """What is compared: rows are units, columns are measures, NaN is not known.

    Attributes:
        arm: Name of the arm.
        values: (n, m).
        before: What the metric was in each unit's pre-period (n, m); None without one.
    """

    arm: str
    values: Floats
    before: Floats | None = None


class Cuped(msgspec.Struct, frozen=True):
    """The difference with what was known before taken out."""

    difference: float
    low: float | None
    high: float | None
    variance_reduction: float
    covered: float
    """Part of the units whose pre-period is known; the others count as its mean."""


class Effect(msgspec.Struct, frozen=True):
    """One metric of one arm against the baseline. What could not be told is None."""

    metric: str
    column: str
    unit: str
    better: str | None
    baseline: str
    arm: str
    n_baseline: int
    n_arm: int
    mean_baseline: float
    mean_arm: float
    median_baseline: float
    median_arm: float
    difference: float
    """Mean of the arm minus mean of the baseline."""
    low: float | None
    high: float | None
    p: float | None
    """Of the permutation test, exact where there are few splits; None where an arm is a single unit."""
    p_adjusted: float | None
    """Benjamini-Hochberg over all tests of the comparison."""
    p_rank: float | None
    """Mann-Whitney, of pairs Wilcoxon: whether values tend to be larger, whatever the means do."""
    minimum_detectable: float | None
    """The true difference found with power 80 % at 5 %."""
    sequential_low: float | None
    """Of the interval that holds however often one looks."""
    sequential_high: float | None
    cuped: Cuped | None
    verdict: Verdict
    notes: list[str]


class Dropped(msgspec.Struct, frozen=True):
    """A metric that was not compared."""

    metric: str
    arm: str
    why: str


class Comparison(msgspec.Struct, frozen=True):
    """Everything that came of a comparison."""

    design: Design
    baseline: str
    units: dict[str, int]
    effects: list[Effect]
    dropped: list[Dropped]
    ratio: dict[str, Any]
    notes: list[str]
    confidence: float
    resamples: int
    permutations: int
    seed: int


@dataclass(frozen=True)
class Settings:
    """How a comparison is made.

    Attributes:
        seed: Of all random draws.
        resamples: Of an interval.
        permutations: Random splits of a test; fewer possible ones are all tried.
        confidence: Of the intervals.
    """

    seed: int = 0
    resamples: int = RESAMPLES
    permutations: int = 9_999
    confidence: float = 1.0 - ALPHA


def compare(
    samples: Sequence[Sample],
    measures: Sequence[Measure],
    *,
    design: Design = "arms",
    planned: Mapping[str, float] | None = None,
    dropped: Sequence[Dropped] = (),
    notes: Sequence[str] = (),
    settings: Settings = Settings(),
) -> Comparison:
    """Compare each arm with the first.

    Args:
        samples: The baseline, then the other arms, all with the columns of `measures`; as pairs, row by row the same
            units.
        measures: What is compared.
        design: `arms` of different units, or `pairs`.
        planned: Shares of units by arm, where there was a plan.
        dropped: Metrics that were left out before.
        notes: What else is to be said.
        settings: How.

    Raises:
        ValueError: The plan names other arms.
    """
    baseline, others = samples[0], samples[1:]
    effects: list[Effect] = []
    left_out = list(dropped)
    for other in others:
        for found in _against(baseline, other, measures, design, settings):
            (left_out if isinstance(found, Dropped) else effects).append(found)  # type: ignore[arg-type]
    units = {sample.arm: len(sample.values) for sample in samples}
    ratio = st.sample_ratio_check(units, planned if design == "arms" else None)
    return Comparison(
        design=design,
        baseline=baseline.arm,
        units=units,
        effects=_judged(effects),
        dropped=left_out,
        ratio={"chi2": ratio.chi2, "p": ratio.p, "alarm": ratio.alarm, "note": ratio.note},
        notes=[*notes, *_small(units)],
        confidence=settings.confidence,
        resamples=settings.resamples,
        permutations=settings.permutations,
        seed=settings.seed,
    )


def _small(units: Mapping[str, int]) -> Iterator[str]:
    least = min(units.values())
    if least < SMALL:
        arm = min(units, key=lambda name: units[name])
        counted = f"{least} unit" if least == 1 else f"{least} units"
        yield (
            f"{arm} has {counted}: below {SMALL} intervals of skewed metrics "
            "may hold the truth more or less often than they say"
        )


def _against(
    baseline: Sample, other: Sample, measures: Sequence[Measure], design: Design, settings: Settings
) -> Iterator[Effect | Dropped]:
    """Effects in the order of the measures; metrics that the same units have are tested together."""
    found: dict[int, Effect | Dropped] = {}
    for places, rows in _groups(baseline.values, other.values, design):
        one, two = baseline.values[np.ix_(rows[0], places)], other.values[np.ix_(rows[1], places)]
        if not (len(one) and len(two)):
            why = " and ".join(s.arm for s, r in zip((baseline, other), rows, strict=True) if not len(r))
            none = (
                "no pair has it in both"
                if design == "pairs" and len(baseline.values)
                else f"no session of {why} shows it"
            )
            found |= {place: Dropped(measures[place].name, other.arm, none) for place in places}
            continue
        told = _effects(one, two, [measures[place] for place in places], (baseline.arm, other.arm), design, settings)
        for place, effect in zip(places, told, strict=True):
            found[place] = effect
            if isinstance(effect, Effect) and design == "arms":
                found[place] = _with_cuped(effect, baseline, other, place, rows, settings)
    yield from (found[place] for place in range(len(measures)))


def _groups(one: Floats, two: Floats, design: Design) -> Iterator[tuple[list[int], tuple[Any, Any]]]:
    """Columns by which rows know them: the places of the columns, and the rows of both samples."""
    known, also = ~np.isnan(one), ~np.isnan(two)
    if design == "pairs":
        known = also = known & also
    patterns: dict[bytes, list[int]] = {}
    for place in range(one.shape[1]):
        key = np.packbits(known[:, place]).tobytes() + b"|" + np.packbits(also[:, place]).tobytes()
        patterns.setdefault(key, []).append(place)
    for places in patterns.values():
        yield places, (np.flatnonzero(known[:, places[0]]), np.flatnonzero(also[:, places[0]]))


@dataclass(frozen=True)
class _Told:
    """What the statistics say of metrics that the same units have, an entry a metric; and how they were asked."""

    interval: st.Intervals
    sequence: st.Intervals
    p: Floats
    p_rank: Floats
    detectable: Floats
    least_p: float
    design: Design


def _effects(
    one: Floats, two: Floats, measures: Sequence[Measure], names: tuple[str, str], design: Design, settings: Settings
) -> list[Effect | Dropped]:
    """Effects of metrics that the same units have."""
    told = _told(one, two, design, settings)
    return [
        _dropped_or_effect(one[:, place], two[:, place], measure, names, told, place)
        for place, measure in enumerate(measures)
    ]


def _told(one: Floats, two: Floats, design: Design, settings: Settings) -> _Told:
    span: Any = {"seed": settings.seed, "resamples": settings.resamples, "confidence": settings.confidence}
    draws: Any = {"seed": settings.seed, "permutations": settings.permutations}
    if design == "pairs":
        difference, interval = st.paired_t(one, two), st.paired_interval(one, two, **span)
        test, ranks = st.sign_flip_test(one, two, **draws), st.wilcoxon(one, two)
    else:
        difference, interval = st.welch(one, two), st.difference_interval(one, two, **span)
        test, ranks = st.permutation_test(one, two, studentised=True, **draws), st.mann_whitney(one, two)
    sequence = st.sequential_interval(difference, confidence=settings.confidence)
    detectable = st.minimum_detectable_effect(difference.standard_error, difference.degrees)
    mirrored = 2 if design == "pairs" or len(one) == len(two) else 1  # splits that do as much as the furthest one
    least = mirrored / test.permutations if test.is_exact else 0.0
    return _Told(interval, sequence, test.p, ranks, detectable, least, design)


def _dropped_or_effect(
    first: Floats, second: Floats, measure: Measure, names: tuple[str, str], told: _Told, place: int
) -> Effect | Dropped:
    if (first == first[0]).all() and (second == first[0]).all():
        return Dropped(measure.name, names[1], f"it is {first[0]:g} in every session")
    is_tested = min(len(first), len(second)) >= ALMOST_NONE
    return Effect(
        metric=measure.name,
        column=measure.column,
        unit=measure.unit,
        better=measure.better,
        baseline=names[0],
        arm=names[1],
        n_baseline=len(first),
        n_arm=len(second),
        mean_baseline=float(first.mean()),
        mean_arm=float(second.mean()),
        median_baseline=float(np.median(first)),
        median_arm=float(np.median(second)),
        difference=float(told.interval.estimate[place]),
        low=_finite(told.interval.low[place]),
        high=_finite(told.interval.high[place]),
        p=_finite(told.p[place]) if is_tested else None,
        p_adjusted=None,
        p_rank=_finite(told.p_rank[place]) if is_tested else None,
        minimum_detectable=_finite(told.detectable[place]),
        sequential_low=_finite(told.sequence.low[place]),
        sequential_high=_finite(told.sequence.high[place]),
        cuped=None,
        verdict="not tested",
        notes=list(_remarks(first, second, told, place)),
    )


def _remarks(first: Floats, second: Floats, told: _Told, place: int) -> Iterator[str]:
    least, low = min(len(first), len(second)), told.interval.low[place]
    if least < ALMOST_NONE:
        yield "a single unit in an arm: there is no interval and no test"
        return
    if told.least_p > ALPHA:
        yield f"so few units that no p can be below {told.least_p:.2g}"
    if np.isnan(low):
        yield "nothing varies within the arms: there is no interval"
    elif np.isinf(low):
        yield "too few units differ from the rest for an interval"
    elif least < SMALL:
        yield f"fewer than {SMALL} units in an arm"
        if told.design == "arms" and any(len(each) < SMALL and (each == each[0]).all() for each in (first, second)):
            yield "a small arm does not vary: the interval knows the spread of the other alone and is too narrow"


def _with_cuped(
    effect: Effect, baseline: Sample, other: Sample, place: int, rows: tuple[Any, Any], settings: Settings
) -> Effect:
    """The effect with its difference adjusted, where the pre-period of both arms' units is known for half of them."""
    if baseline.before is None or other.before is None or min(effect.n_baseline, effect.n_arm) < ALMOST_NONE:
        return effect
    values = [sample.values[rows[side], place] for side, sample in enumerate((baseline, other))]
    before = [baseline.before[rows[0], place], other.before[rows[1], place]]
    everything = np.concatenate(before)
    covered = float(np.mean(~np.isnan(everything)))
    if covered < COVERED or np.nanstd(everything) == 0:
        return effect
    filled = [np.where(np.isnan(each), np.nanmean(everything), each) for each in before]
    adjusted = st.cuped(*values, *filled)
    span = st.difference_interval(
        adjusted.first,
        adjusted.second,
        seed=settings.seed,
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    cuped = Cuped(float(span.estimate[0]), _finite(span.low[0]), _finite(span.high[0]), adjusted.reduction, covered)
    return msgspec.structs.replace(effect, cuped=cuped)


COVERED: Final = 0.5
"""Part of the units whose pre-period must be known before it is used; ours."""


def _judged(effects: Sequence[Effect]) -> list[Effect]:
    """The effects with p values adjusted over all of them, and what they amount to."""
    adjusted = st.benjamini_hochberg([np.nan if each.p is None else each.p for each in effects])
    return [
        msgspec.structs.replace(each, p_adjusted=_finite(p), verdict=_verdict(each, _finite(p)))
        for each, p in zip(effects, adjusted, strict=True)
    ]


def _verdict(effect: Effect, p: float | None) -> Verdict:
    if p is None:
        return "not tested"
    if p > ALPHA:
        return "not shown"
    if effect.better is None or not effect.difference:
        return "differs"
    return "better" if (effect.difference > 0) == (effect.better == "higher") else "worse"


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
