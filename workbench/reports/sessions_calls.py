"""Model calls of the sessions report: each once, with its price, by quarter of an hour and by session. Pure."""

from __future__ import annotations

import polars as pl

from workbench.providers.prices import PriceList
from workbench.reports.usage import PLACES, TOKENS, WHOLES
from workbench.reports.usage_calls import calls_of


def calls_by_quarter_hour(once: pl.DataFrame, prices: PriceList) -> pl.DataFrame:
    """Model calls, tokens and cost by time and model.

    Every time zone's days begin at a quarter of an hour, so local days can be summed from this.

    Args:
        once: Rows of `usage_once`.
        prices: Rates.

    Returns:
        `quarter_at` (null where no time was recorded), `model`, `calls`, the four counters that do not overlap,
        `cost_usd` (null where no call has a price), `unpriced_calls`.
    """
    return _summed(_priced(once, prices), "quarter_at", "model").sort("quarter_at", "model", nulls_last=True)


def costs_by_session(told: pl.DataFrame, prices: PriceList) -> pl.DataFrame:
    """What each session cost, all the calls that it tells of (rows of `usage`): `cost_usd`, `unpriced_calls`."""
    summed = _summed(_priced(told, prices), "session_id")
    return summed.select("session_id", "cost_usd", "unpriced_calls").sort("session_id")


def _priced(told: pl.DataFrame, prices: PriceList) -> pl.DataFrame:
    calls = calls_of(told).priced(prices)
    return told.select(
        "session_id",
        "model",
        *TOKENS,
        pl.Series("quarter_at", calls.quarters, pl.Datetime("us", "UTC")),
        pl.Series("cost_usd", calls.costs, nan_to_null=True),
        pl.Series("is_unpriced", calls.lacks_price),
    )


def _summed(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Sums by key; of a column that no row tells the sum is null."""
    known = [pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name) for name in (*WHOLES, "cost_usd")]
    grouped = frame.group_by(keys, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("calls"),
        *known,
        pl.col("is_unpriced").sum().cast(pl.Int64).alias("unpriced_calls"),
    )
    return grouped.with_columns(pl.col("cost_usd").round(PLACES))
