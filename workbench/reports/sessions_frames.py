"""What the sessions report is made of: small frames, most of them answers of `store/sql`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

_TIME: Final = pl.Datetime("us", "UTC")
_TOKENS: Final = {
    "input_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "cache_read_tokens": pl.Int64,
    "cache_write_tokens": pl.Int64,
}

SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "session_overview": {
        "session_id": pl.String,
        "project_id": pl.String,
        "agent": pl.String,
        "title": pl.String,
        "cwd": pl.String,
        "started_at": _TIME,
        "ended_at": _TIME,
        "duration_ms": pl.Int64,
        "active_ms": pl.Int64,
        "prompts": pl.Int64,
        "responses": pl.Int64,
        "tool_calls": pl.Int64,
        "sidechain_tool_calls": pl.Int64,
        "tool_errors": pl.Int64,
        "subagents": pl.Int64,
        "interrupts": pl.Int64,
        "compactions": pl.Int64,
        "model_calls": pl.Int64,
        **_TOKENS,
        "issues": pl.Int64,
    },
    "model_calls_by_quarter_hour": {
        "quarter_at": _TIME,
        "model": pl.String,
        "calls": pl.Int64,
        **_TOKENS,
        "cost_usd": pl.Float64,
        "unpriced_calls": pl.Int64,
    },
    "session_costs": {"session_id": pl.String, "cost_usd": pl.Float64, "unpriced_calls": pl.Int64},
    "tool_outcomes": {
        "tool": pl.String,
        "calls": pl.Int64,
        "sessions": pl.Int64,
        "sidechain_calls": pl.Int64,
        "failed": pl.Int64,
        "rejected": pl.Int64,
        "unanswered": pl.Int64,
        "median_ms": pl.Int64,
        "p90_ms": pl.Int64,
    },
    "tool_failure_lines": {
        "tool": pl.String,
        "line": pl.String,
        "calls": pl.Int64,
        "sessions": pl.Int64,
        "session_id": pl.String,
    },
    "tool_retries": {
        "tool": pl.String,
        "failed": pl.Int64,
        "retried": pl.Int64,
        "unchanged": pl.Int64,
        "recovered": pl.Int64,
    },
    "files_touched": {
        "file": pl.String,
        "project_id": pl.String,
        "cwd": pl.String,
        "exchanges_wrote": pl.Int64,
        "exchanges_read": pl.Int64,
        "sessions": pl.Int64,
    },
    "subagent_runs": {
        "session_id": pl.String,
        "agent_id": pl.String,
        "event_id": pl.String,
        "task": pl.String,
        "answer": pl.String,
        "model": pl.String,
        "started_at": _TIME,
        "duration_ms": pl.Int64,
        "responses": pl.Int64,
        "tool_calls": pl.Int64,
        "tool_errors": pl.Int64,
        "output_tokens": pl.Int64,
    },
    "import_issue_kinds": {
        "issue": pl.String,
        "records": pl.Int64,
        "files": pl.Int64,
        "sessions": pl.Int64,
        "example": pl.String,
        "path": pl.String,
        "line": pl.Int64,
    },
}
"""Columns of each frame; a test holds the queries to them."""

FROM_CALLS: Final = ("model_calls_by_quarter_hour", "session_costs")
"""Frames made from model calls, each counted once and priced (`sessions_calls`); all others are queries."""

QUERIES: Final = tuple(name for name in SCHEMAS if name not in FROM_CALLS)

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class SessionsFrames:
    """The frames of the sessions report.

    Attributes:
        session_overview: One row a session, newest first.
        model_calls_by_quarter_hour: Model calls, tokens and cost by time and model, each call once.
        session_costs: What each session cost.
        tool_outcomes: One row a tool, the most used first.
        tool_failure_lines: The commonest lines of each tool's failures.
        tool_retries: What came after failed calls, one row a tool.
        files_touched: One row a file, the most written first.
        subagent_runs: One row a sub-agent, the newest first.
        import_issue_kinds: One row a kind of issue.
    """

    session_overview: pl.DataFrame
    model_calls_by_quarter_hour: pl.DataFrame
    session_costs: pl.DataFrame
    tool_outcomes: pl.DataFrame
    tool_failure_lines: pl.DataFrame
    tool_retries: pl.DataFrame
    files_touched: pl.DataFrame
    subagent_runs: pl.DataFrame
    import_issue_kinds: pl.DataFrame

    @classmethod
    def of(cls, **rows: Rows) -> SessionsFrames:
        """Frames out of rows; columns and frames that are left out are null and empty.

        >>> SessionsFrames.of(tool_outcomes=[{"tool": "Bash", "calls": 3}]).tool_outcomes["calls"].to_list()
        [3]
        """
        return cls(**{name: _frame(rows.get(name, ()), schema) for name, schema in SCHEMAS.items()})


def typed(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A query's answer with the types of the frame: sums come as wide integers; one that is too large is not known."""
    return frame.with_columns(pl.col(column).cast(dtype, strict=False) for column, dtype in SCHEMAS[name].items())


def _frame(rows: Rows, schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
