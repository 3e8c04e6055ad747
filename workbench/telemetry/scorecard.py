"""Scorecards: one row a session, each metric as defined in `store/tables/metrics.py`, and its rate.

Sessions are compared by rates, not by totals: a long session is not a worse one. A metric that the records of a session
cannot show is null here as it is there, and so is its rate.

Source: PRAANA specification B, 13 ("Analysis rules").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from workbench.store.tables.metrics import BY_NAME, METRICS, NOT_SHOWN, Better, Metric
from workbench.store.tables.telemetry import SCORECARDS

if TYPE_CHECKING:
    import polars as pl

    from workbench.store.lake import Lake

__all__ = [
    "METRICS",
    "NOT_SHOWN",
    "Figure",
    "Metric",
    "card_lines",
    "comparable",
    "figures",
    "metric",
    "read_scorecards",
    "with_rates",
]

Standing = Literal["known", "unknown", "not_applicable"]

UNTOLD: Final = "-"
PLACES: Final = 6
"""Decimal places of a rate in a view; beyond them sessions do not differ."""


class Figure(msgspec.Struct, frozen=True):
    """One metric of one session.

    Attributes:
        name: The metric.
        value: What was counted; None where it is unknown, or where the records cannot show it.
        rate_name: What the rate is called; None where it is compared as it is.
        rate: The value by its denominator; None where that is 0 or not known.
        standing: Whether it is known.
        unit: count, tokens, ms or usd.
        better: Which direction is better; None where neither is.
        version: Of the definition.
        meaning: What is counted.
    """

    name: str
    value: float | int | None
    rate_name: str | None
    rate: float | None
    standing: Standing
    unit: str
    better: Better | None
    version: int
    meaning: str


def read_scorecards(lake: Lake) -> pl.DataFrame:
    """The view `scorecards`, with the tables opened that it reads and no others.

    Raises:
        StoreError: A table cannot be read.
    """
    connection = lake.connection(SCORECARDS.reads)
    try:
        frame: pl.DataFrame = connection.sql("select * from scorecards order by session_id").pl()
        return frame
    finally:
        connection.close()


def with_rates(cards: pl.DataFrame) -> pl.DataFrame:
    """Add each metric's rate.

    Args:
        cards: Rows of `scorecards`; metrics that are no column here are passed over.

    Returns:
        The same rows with a Float64 column for each rate: null where the metric or its denominator is, or where the
        denominator is 0.
    """
    import polars as pl  # noqa: PLC0415

    there = set(cards.columns)
    rated = [each for each in METRICS if each.per is not None and {each.name, each.per} <= there]
    return cards.with_columns(
        pl.when(pl.col(each.per or "") > 0).then(pl.col(each.name) / pl.col(each.per or "")).alias(each.compared)
        for each in rated
    )


def comparable(cards: pl.DataFrame) -> list[Metric]:
    """The metrics that sessions can be compared by: those of which at least one session knows something."""
    return [each for each in METRICS if each.compared in cards.columns and cards[each.compared].count()]


def figures(card: Mapping[str, Any]) -> list[Figure]:
    """One session's metrics with what they mean.

    Args:
        card: A row of a frame with rates.
    """
    hidden = set(card.get("not_applicable") or ())
    return [_figure(each, card, hidden) for each in METRICS if each.name in card]


def card_lines(card: Mapping[str, Any]) -> list[str]:
    """The lines of `/scorecard` for a recorded session; a dash stands for what its records do not show.

    Args:
        card: A row of `scorecards`.
    """

    def told(**columns: str) -> str:
        values = {name: card.get(column) for name, column in columns.items()}
        return "  ".join(f"{name}: {UNTOLD if value is None else value}" for name, value in values.items())

    context = told(
        retrieve_artifact="artifact_retrieve_calls",
        artifact_cards="artifact_cards_produced",
        repeat_reads="repeat_file_reads",
        searches="turn_event_searches",
    )
    pressure = told(
        pressure="pressure_events", compaction="compaction_triggers", contradictions="decision_contradictions"
    )
    skills = told(
        unique="skills_loaded",
        load_events="skill_load_events",
        reloads="skill_reload_count",
        underloads="skill_underload_events",
        tokens="skill_tokens_consumed",
    )
    return [
        f"Scorecard ({card['session_id']}):",
        f"  Engine     {_engine(card)}",
        f"  Context    {context}",
        f"  Context    {pressure}",
        f"  Memory     {told(recalls='recall_calls', used='recall_used_count')}",
        *([f"  Skills     {skills}"] if card.get("skill_load_events") else []),
        f"  Turns      {card['total_turns']}",
    ]


def _engine(card: Mapping[str, Any]) -> str:
    if card.get("compiled_prompts") is None:
        return "off"
    if card.get("replay_id") is None:
        return "on"
    return f"off; replayed by {card['compile_level']} under policy {card['policy_id']}"


def metric(name: str) -> Metric:
    """A metric by its name, or by that of its rate."""
    found = BY_NAME.get(name) or next((each for each in METRICS if each.rate == name), None)
    if found is None:
        raise KeyError(name)
    return found


def _figure(each: Metric, card: Mapping[str, Any], hidden: set[str]) -> Figure:
    value = card[each.name]
    rate = card.get(each.rate) if each.rate else None
    standing: Standing = "not_applicable" if each.name in hidden else "unknown" if value is None else "known"
    return Figure(
        name=each.name,
        value=value,
        rate_name=each.rate,
        rate=None if rate is None else round(rate, PLACES),
        standing=standing,
        unit=each.unit,
        better=each.better,
        version=each.version,
        meaning=each.meaning,
    )
