"""Scorecards and replays as what a comparison takes: rows of units, columns of metrics, and metrics that are left out.

Sessions are compared by rates and not by totals. A metric is left out, by name and with the reason, where no session of
an arm shows it, or where its definition differs between the arms.

Source: PRAANA specification B, 13 ("Analysis rules").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from workbench.errors import BadInputError
from workbench.experiments.comparison import Dropped, Floats, Measure, Sample
from workbench.store.tables.metrics import METRICS, Metric

if TYPE_CHECKING:
    import polars as pl

    from workbench.experiments.arms import Arm

CELLS: Final = ("project_id", "task_type", "agent", "model")
"""Columns by whose values sessions may be paired."""


@dataclass(frozen=True)
class Samples:
    """What `comparison.compare` takes.

    Attributes:
        samples: The baseline first.
        measures: Columns of the samples.
        dropped: What was left out.
        notes: What else is to be said.
    """

    samples: list[Sample]
    measures: list[Measure]
    dropped: list[Dropped]
    notes: list[str]


def sample_arms(cards: pl.DataFrame, arms: Sequence[Arm]) -> Samples:
    """Arms of different sessions.

    Args:
        cards: Rows of `bench.scorecards()`.
        arms: From `arms_where` or `arms_by`, checked.
    """
    chosen = [_rows(cards, arm) for arm in arms]
    kept, dropped = _split(cards, chosen, arms)
    measures = [measure_of(metric) for metric in kept]
    earlier = _earlier(cards, chosen)
    samples = [
        Sample(arm.name, matrix(rows, measures), _before(rows, earlier, measures))
        for arm, rows in zip(arms, chosen, strict=True)
    ]
    return Samples(samples, measures, dropped, [*_left_out(arms), *_formats(chosen, arms)])


def sample_cells(cards: pl.DataFrame, arms: Sequence[Arm], by: Sequence[str]) -> Samples:
    """Two arms, paired by project, kind of task or the like: a unit is the mean of a cell's sessions in each arm.

    Sessions of one project are like each other; pairs of cells do not count them as independent.

    Args:
        cards: Rows of `bench.scorecards()`.
        arms: Two, checked.
        by: Of `CELLS`.

    Raises:
        BadInputError: There are not two arms, a column does not pair, or no cell has sessions of both arms.
    """
    if len(arms) != 2:  # noqa: PLR2004
        raise BadInputError(f"sessions are paired between two arms, not {len(arms)}")
    odd = sorted(set(by) - set(CELLS))
    if odd or not by:
        raise BadInputError(
            f"sessions cannot be paired by {', '.join(odd) or 'nothing'}; they can by {', '.join(CELLS)}"
        )
    chosen = [_rows(cards, arm) for arm in arms]
    kept, dropped = _split(cards, chosen, arms)
    measures = [measure_of(metric) for metric in kept]
    cells = [_cell_means(rows, by, measures) for rows in chosen]
    both = cells[0].select(by).join(cells[1].select(by), on=list(by), nulls_equal=True).sort(by, nulls_last=True)
    if not both.height:
        raise BadInputError(f"no {' and '.join(by)} has sessions of both {arms[0].name} and {arms[1].name}")
    paired = [both.join(each, on=list(by), how="left", nulls_equal=True, maintain_order="left") for each in cells]
    samples = [Sample(arm.name, matrix(rows, measures)) for arm, rows in zip(arms, paired, strict=True)]
    used = [int(rows["sessions"].sum()) for rows in paired]
    told = f"{both.height} pairs by {' and '.join(by)}, of " + " and ".join(
        f"{count} of {rows.height} sessions of {arm.name}" for count, rows, arm in zip(used, chosen, arms, strict=True)
    )
    return Samples(samples, measures, dropped, [told, *_left_out(arms), *_formats(chosen, arms)])


def measure_of(metric: Metric) -> Measure:
    """A metric of the scorecard as it is compared."""
    return Measure(metric.name, metric.compared, metric.unit, metric.better)


def _rows(cards: pl.DataFrame, arm: Arm) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415

    return cards.filter(pl.col("session_id").is_in(arm.session_ids)).sort("session_id")


def _split(
    cards: pl.DataFrame, chosen: Sequence[pl.DataFrame], arms: Sequence[Arm]
) -> tuple[list[Metric], list[Dropped]]:
    """Metrics that every arm shows in one definition, and the others."""
    kept, dropped = [], []
    for metric in METRICS:
        if metric.compared not in cards.columns:
            continue
        why = _why_dropped(metric, chosen, arms)
        if why is None:
            kept.append(metric)
        else:
            dropped.append(Dropped(metric.name, *why))
    return kept, dropped


def _why_dropped(metric: Metric, chosen: Sequence[pl.DataFrame], arms: Sequence[Arm]) -> tuple[str, str] | None:
    """The arm and the reason."""
    for rows, arm in zip(chosen, arms, strict=True):
        if not rows[metric.compared].count():
            return arm.name, _unknown(metric, rows, arm)
    if metric.origin == "compiles":
        known = [rows.filter(rows[metric.compared].is_not_null()) for rows in chosen]
        levels = [sorted(set(rows["compile_level"].drop_nulls())) for rows in known]
        if any(each != levels[0] for each in levels):
            told = ", ".join(f"by {' and '.join(each)} in {arm.name}" for each, arm in zip(levels, arms, strict=True))
            return arms[-1].name, f"its definition differs between the arms: prompts are counted {told}"
    return None


def _unknown(metric: Metric, rows: pl.DataFrame, arm: Arm) -> str:
    hidden = (
        rows.filter(rows["not_applicable"].list.contains(metric.name)) if "not_applicable" in rows.columns else rows
    )
    if hidden.height == rows.height:
        formats = ", ".join(sorted(set(rows["format"].drop_nulls())))
        return f"records of {formats or 'this format'} cannot show it, and {arm.name} has no others"
    return f"no session of {arm.name} shows it"


def matrix(rows: pl.DataFrame, measures: Sequence[Measure]) -> Floats:
    """Values of rows (n, m), NaN where they are not known."""
    import polars as pl  # noqa: PLC0415

    columns = [pl.col(measure.column).cast(pl.Float64).fill_null(np.nan) for measure in measures]
    if not columns:
        return np.empty((rows.height, 0))
    return np.ascontiguousarray(rows.select(columns).to_numpy(), dtype=np.float64)


def _earlier(cards: pl.DataFrame, chosen: Sequence[pl.DataFrame]) -> pl.DataFrame | None:
    """The pre-period: sessions of no arm that ended before the first session of any arm began."""
    import polars as pl  # noqa: PLC0415

    begun = [moment for rows in chosen if (moment := rows["started_at"].min()) is not None]
    if not begun:
        return None
    taken = pl.concat([rows.select("session_id") for rows in chosen])
    before = cards.join(taken, on="session_id", how="anti").filter(
        (pl.col("ended_at") < min(begun)) & pl.col("final") & (pl.col("total_turns") >= 1)
    )
    return before if before["project_id"].n_unique() > 1 else None


def _before(rows: pl.DataFrame, earlier: pl.DataFrame | None, measures: Sequence[Measure]) -> Floats | None:
    """What each metric was, on the mean, in the pre-period of a session's project; NaN where that is not known."""
    if earlier is None:
        return None
    means = _cell_means(earlier, ["project_id"], measures)
    return matrix(rows.select("project_id").join(means, on="project_id", how="left", maintain_order="left"), measures)


def _cell_means(rows: pl.DataFrame, by: Sequence[str], measures: Sequence[Measure]) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415

    return rows.group_by(by).agg(
        pl.len().alias("sessions"), *(pl.col(measure.column).cast(pl.Float64).mean() for measure in measures)
    )


def _left_out(arms: Sequence[Arm]) -> list[str]:
    told = [
        f"{arm.name}: {arm.not_final} that did not come to their end, {arm.without_turns} without an exchange"
        for arm in arms
        if arm.not_final or arm.without_turns
    ]
    return [f"left out of {each}" for each in told]


def _formats(chosen: Sequence[pl.DataFrame], arms: Sequence[Arm]) -> list[str]:
    """A warning where arms are of different agents: a difference may be one of the records."""
    if "format" not in chosen[0].columns:
        return []
    formats = [sorted(set(rows["format"].drop_nulls())) for rows in chosen]
    if all(each == formats[0] for each in formats):
        return []
    told = ", ".join(f"{arm.name}: {' and '.join(each) or 'unknown'}" for arm, each in zip(arms, formats, strict=True))
    return [f"the arms' records differ in format ({told}); a difference may be one of the records"]
