"""The whole scorecard of every session: the view, what the model calls cost, and the kind of task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.experiments.task_types import TABLES, task_types
from workbench.reports.usage import usage_frame
from workbench.telemetry.scorecard import read_scorecards, with_rates

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.store.lake import Lake


def scorecards_frame(lake: Lake, config: Config) -> pl.DataFrame:
    """Every session with its metrics and rates.

    Args:
        lake: The tables.
        config: Decides what kind of task a session is at.

    Returns:
        Columns of the view `scorecards`; `task_type` told of every session that has an exchange; `cost_usd` (null where
        no model call of it has a price) and `unpriced_calls`; and each metric's rate. The newest session first.

    Raises:
        StoreError: A table cannot be read.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    cards = read_scorecards(lake)
    costs = usage_frame(lake, "session").select("session_id", "cost_usd", "unpriced_calls")
    connection = lake.connection(TABLES)
    try:
        kinds = task_types(connection, config.context_engine)
    finally:
        connection.close()
    told = pl.DataFrame(
        {"session_id": list(kinds), "told": list(kinds.values())}, schema=dict.fromkeys(_TOLD, pl.String)
    )
    whole = cards.join(costs, on="session_id", how="left").join(told, on="session_id", how="left")
    whole = whole.with_columns(pl.coalesce("task_type", "told").alias("task_type")).drop("told")
    return with_rates(whole).sort("started_at", "session_id", descending=[True, False], nulls_last=True)


_TOLD = ("session_id", "told")
