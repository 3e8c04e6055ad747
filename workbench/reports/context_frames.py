"""What the context report is made of: answers of `store/sql`, small but for one row a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

SECTIONS: Final = (
    "frame", "skills", "workflow", "checkpoint", "verbatim", "scored", "memory", "active_state", "peripheral", "input",
)  # fmt: skip
"""Parts of a prompt in its order. Source: context.compile."""

SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "replays": {
        "session_id": pl.String,
        "title": pl.String,
        "agent": pl.String,
        "started_at": pl.Datetime("us", "UTC"),
        "exchanges": pl.Int64,
        "replay_id": pl.String,
        "policy_id": pl.String,
        "embedder": pl.String,
        "code_version": pl.String,
        "is_outdated": pl.Boolean,
    },
    "prompts": {
        "session_id": pl.String,
        "turn": pl.Int64,
        "task_type": pl.String,
        "pressure_mode": pl.String,
        "pressure": pl.Float64,
        "usable_tokens": pl.Int64,
        "raw_tokens": pl.Int64,
        "classic_tokens": pl.Int64,
        **{f"{name}_tokens": pl.Int64 for name in SECTIONS},
        "units": pl.Int64,
        "units_included": pl.Int64,
        "hydrated": pl.Int64,
        "cuts": pl.Int64,
    },
    "units": {
        "unit_type": pl.String,
        "age_turns": pl.Int64,
        "why": pl.String,
        "units": pl.Int64,
        "tokens": pl.Int64,
    },
    "distillers": {
        "distiller": pl.String,
        "intensity": pl.String,
        "runs": pl.Int64,
        "sessions": pl.Int64,
        "input_tokens": pl.Int64,
        "output_tokens": pl.Int64,
    },
}
"""Columns of each frame; the questions are `store/sql/context_*.sql`."""

Rows = Sequence[Mapping[str, Any]]


class ContextFrames(NamedTuple):
    """The frames of `SCHEMAS`.

    Attributes:
        replays: One row a session, the newest first, with the replay that the others tell of; null where it has none.
        prompts: One row a prompt, by session and exchange.
        units: Units on offer, by kind, age and why they were in or not.
        distillers: Runs of each distiller, by how hard it shortened.
    """

    replays: pl.DataFrame
    prompts: pl.DataFrame
    units: pl.DataFrame
    distillers: pl.DataFrame

    @classmethod
    def of(cls, **rows: Rows) -> ContextFrames:
        """Frames out of rows; columns and frames that are left out are null and empty.

        >>> ContextFrames.of(prompts=[{"turn": 3}]).prompts["turn"].to_list()
        [3]
        """
        return cls(**{name: _frame(rows.get(name, ()), schema) for name, schema in SCHEMAS.items()})


def typed(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A question's answer with the columns and types of the frame of that name; sums come as wide integers."""
    return frame.select(pl.col(column).cast(dtype) for column, dtype in SCHEMAS[name].items())


def _frame(rows: Rows, schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
