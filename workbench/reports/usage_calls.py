"""Model calls as sessions tell of them, or each of them once, out of the lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import duckdb


class ToldCall(NamedTuple):
    """A model call: columns of `usage` and of `usage_once`; time in microseconds since 1970."""

    session_id: str
    occurred_us: int | None
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cache_write_1h_tokens: int | None
    reasoning_tokens: int | None

    @property
    def tokens(self) -> tuple[int | None, ...]:
        """The counters, in the order of their columns."""
        return self[3:]


def told_calls(connection: duckdb.DuckDBPyConnection, view: Literal["usage", "usage_once"]) -> list[ToldCall]:
    """All model calls of a view; tuples, because Polars takes longer to load than the whole question does."""
    columns = ", ".join(ToldCall._fields).replace("occurred_us", "epoch_us(occurred_at)")
    rows = connection.execute(f"select {columns} from {view} order by session_id, call_id").fetchall()
    return list(map(ToldCall._make, rows))
