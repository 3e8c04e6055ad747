"""The numbers of the sessions report: pure, frames in and small rows out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import polars as pl

from workbench.reports.render.numbers import Clock
from workbench.reports.sessions_frames import SessionsFrames

MOST_BARS: Final = 100
"""A chart over time shows days while there are at most so many, then weeks, months, years."""

FEWEST_BARS: Final = 14
"""A chart over fewer days leaves room at its end, so that one day does not fill the page."""

MOST_SERIES: Final = 5
"""More models or agents than so many are summed into one."""

Unit = Literal["day", "week", "month", "year"]

_AT_MOST: Final[dict[Unit, int]] = {"day": 1, "week": 7, "month": 31, "year": 366}
"""Days of a unit."""

TokenRow = dict[str, Any]


class Totals(NamedTuple):
    """Sums over all sessions; None where no session tells."""

    sessions: int
    projects: int
    agents: list[str]
    prompts: int
    responses: int
    tool_calls: int
    sidechain_tool_calls: int
    tool_errors: int
    rejected: int
    subagents: int
    interrupts: int
    compactions: int
    issues: int
    active_ms: int | None
    first_at: datetime | None
    last_at: datetime | None
    model_calls: int
    repeated_calls: int
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    unpriced_calls: int

    @property
    def all_input(self) -> int | None:
        """Input of every kind."""
        return all_input(self._asdict())


def _sum(column: pl.Series) -> int | None:
    return int(column.sum()) if column.count() else None


def totals(frames: SessionsFrames) -> Totals:
    """Sum everything up. Tokens and model calls count each call once; so they may be less than the sessions' sum."""
    sessions, calls = frames.session_overview, frames.model_calls_by_quarter_hour
    counted = int(calls["calls"].sum())
    summed: dict[str, Any] = {name: int(sessions[name].sum()) for name in _SUMMED}
    tokens: dict[str, Any] = {name: _sum(calls[name]) for name in TOKENS}
    return Totals(
        sessions=sessions.height,
        projects=sessions["project_id"].drop_nulls().n_unique(),
        agents=sorted(sessions["agent"].drop_nulls().unique()),
        **summed,
        rejected=int(frames.tool_outcomes["rejected"].sum()),
        active_ms=_sum(sessions["active_ms"]),
        first_at=sessions["started_at"].min(),  # type: ignore[arg-type]
        last_at=sessions["ended_at"].max(),  # type: ignore[arg-type]
        model_calls=counted,
        repeated_calls=max(0, int(sessions["model_calls"].sum()) - counted),
        **tokens,
        cost_usd=math.fsum(calls["cost_usd"].drop_nulls()) if calls["cost_usd"].count() else None,
        unpriced_calls=int(calls["unpriced_calls"].sum()),
    )


_SUMMED: Final = (
    "prompts",
    "responses",
    "tool_calls",
    "sidechain_tool_calls",
    "tool_errors",
    "subagents",
    "interrupts",
    "compactions",
    "issues",
)
TOKENS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
INPUT: Final = ("input_tokens", "cache_read_tokens", "cache_write_tokens")


def all_input(row: TokenRow) -> int | None:
    """Input of every kind: fresh, written to the cache, read from it."""
    told = [row[name] for name in INPUT if row[name] is not None]
    return sum(told) if told else None


# -- over time ---------------------------------------------------------------------------------------------------------


class Span(NamedTuple):
    """One bar of a chart over time: a day, week, month or year of one series."""

    first: date
    after: date
    series: str
    value: float


def begin(value: date, unit: Unit) -> date:
    """The first day of the unit that a day lies in; weeks begin on Monday."""
    if unit == "week":
        return value - timedelta(days=value.weekday())
    if unit == "month":
        return value.replace(day=1)
    return value.replace(month=1, day=1) if unit == "year" else value


def following(value: date, unit: Unit) -> date:
    """The first day of the next unit, for the first day of one; the end of time follows itself."""
    try:
        return begin(value + timedelta(days=_AT_MOST[unit]), unit)
    except OverflowError:
        return date.max


def unit_of(days: Iterable[date]) -> Unit:
    """The smallest unit of which at most `MOST_BARS` hold all days."""
    known = sorted(set(days))
    if not known:
        return "day"
    span = (known[-1] - known[0]).days + 1
    sizes: tuple[tuple[Unit, int], ...] = (("day", 1), ("week", 7), ("month", 30))
    return next((unit for unit, size in sizes if span / size <= MOST_BARS), "year")


def over_time(entries: Iterable[tuple[date, str, float]], unit: Unit, series: Sequence[str]) -> list[Span]:
    """Sum entries of (day, series, value) by unit; series that are not named become the last one."""
    sums: dict[tuple[date, str], float] = defaultdict(int)
    for when, name, value in entries:
        sums[begin(when, unit), name if name in series else series[-1]] += value
    rank = {name: place for place, name in enumerate(series)}
    ordered = sorted(sums.items(), key=lambda item: (item[0][0], rank[item[0][1]]))
    return [Span(first, following(first, unit), name, value) for (first, name), value in ordered if value]


def largest_series(entries: Iterable[tuple[str, float]], rest: str) -> list[str]:
    """Names by falling sum, those without any left out; beyond `MOST_SERIES` the smaller are called `rest`."""
    sums: dict[str, float] = defaultdict(int)
    for name, value in entries:
        sums[name] += value
    names = [name for name, value in sorted(sums.items(), key=lambda item: (-item[1], item[0])) if value]
    return names if len(names) <= MOST_SERIES else [*names[:MOST_SERIES], rest]


def by_hour(frames: SessionsFrames, clock: Clock) -> dict[tuple[int, int], int]:
    """Model calls by weekday (0 is Monday) and hour."""
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for moment, calls in frames.model_calls_by_quarter_hour.select("quarter_at", "calls").drop_nulls().iter_rows():
        local = clock.local(moment)
        counts[local.weekday(), local.hour] += calls
    return dict(counts)


# -- by model, project, size -------------------------------------------------------------------------------------------


def by_model(frames: SessionsFrames) -> list[TokenRow]:
    """Model calls, tokens and cost of each model, the most output first."""
    calls = frames.model_calls_by_quarter_hour
    summed = calls.group_by("model").agg(
        pl.col("calls", "unpriced_calls").sum(),
        *(pl.when(pl.col(n).count() > 0).then(pl.col(n).sum()).alias(n) for n in (*TOKENS, "cost_usd")),
    )
    rows = summed.sort(["output_tokens", "calls", "model"], descending=[True, True, False], nulls_last=True).to_dicts()
    return [{**row, "all_input": all_input(row)} for row in rows]


def by_project(sessions: pl.DataFrame) -> list[dict[str, Any]]:
    """Sessions, prompts, calls, failures and output of each project, the one used last first."""
    grouped = sessions.group_by("project_id").agg(
        pl.col("cwd").drop_nulls().first(),
        pl.col("agent").unique().sort().str.join(", "),
        pl.len().alias("sessions"),
        pl.col("prompts", "responses", "tool_calls", "tool_errors").sum(),
        pl.when(pl.col("output_tokens").count() > 0).then(pl.col("output_tokens").sum()).alias("output_tokens"),
        pl.col("ended_at").max(),
    )
    return grouped.sort(["ended_at", "cwd"], descending=[True, False], nulls_last=True).to_dicts()


class Bin(NamedTuple):
    """How many sessions lie in [low, high)."""

    low: int
    high: int
    sessions: int


def by_size(values: Iterable[int]) -> list[Bin]:
    """Count values in steps of 1, 2, 5, 10, 20, ...; those without any value are kept between the others."""
    known = sorted(value for value in values if value >= 0)
    if not known:
        return []
    edges = _edges(known[0], known[-1])
    return [Bin(low, high, sum(low <= value < high for value in known)) for low, high in pairwise(edges)]


def _edges(smallest: int, largest: int) -> list[int]:
    decades = range(math.ceil(math.log10(max(largest, 1))) + 2)
    edges = [0, *(factor * 10**decade for decade in decades for factor in (1, 2, 5))]
    first = max(edge for edge in edges if edge <= smallest)
    last = min(edge for edge in edges if edge > largest)
    return [edge for edge in edges if first <= edge <= last]


def top(sessions: pl.DataFrame, column: str, number: int) -> list[dict[str, Any]]:
    """The sessions with the most of something; those with none or nothing known are left out."""
    ranked = sessions.filter(pl.col(column) > 0).sort([column, "session_id"], descending=[True, False])
    return ranked.head(number).to_dicts()


def with_sum(sessions: pl.DataFrame, name: str, columns: Sequence[str]) -> pl.DataFrame:
    """The sessions with the sum of some columns as another one."""
    return sessions.with_columns(pl.sum_horizontal(pl.col(list(columns)).fill_null(0)).alias(name))


def share_of_top(sessions: pl.DataFrame, column: str, number: int) -> float | None:
    """Which part of a sum the largest so many sessions have; None where there is no sum."""
    values = sessions[column].drop_nulls().sort(descending=True)
    whole = int(values.sum())
    return int(values.head(number).sum()) / whole if whole else None


def failing_tools(frames: SessionsFrames) -> list[dict[str, Any]]:
    """Tools with failed or rejected calls, the most first, each with the commonest lines of its failures."""
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in frames.tool_failure_lines.to_dicts():
        lines[row["tool"]].append(row)
    failing = frames.tool_outcomes.with_columns(pl.col("failed", "rejected").fill_null(0)).filter(
        (pl.col("failed") > 0) | (pl.col("rejected") > 0)
    )
    ranked = failing.sort(["failed", "rejected", "tool"], descending=[True, True, False])
    return [{**row, "lines": lines[row["tool"]]} for row in ranked.to_dicts()]
