"""Named questions of the lake (`store/sql`), of all sessions or of some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.store.sql import query

if TYPE_CHECKING:
    import polars as pl

Ask: TypeAlias = "Callable[[str, Mapping[str, Any]], pl.DataFrame]"
"""Runs SQL with named parameters over the lake: `bench.sql`, `lake.sql`."""


def answer(ask: Ask, name: str, session_ids: Sequence[str] | None = None, **bound: Any) -> pl.DataFrame:
    """The answer to a question of `store/sql` that starts from `sessions`.

    Args:
        ask: Runs SQL.
        name: The question's file without ending, such as `tool_outcomes`.
        session_ids: Only of these sessions; of all unless given.
        bound: Values of the question's own parameters.
    """
    if session_ids is None:
        return ask(query(name), bound)
    chosen = "from temp.sessions semi join (select unnest($ids::varchar[]) as session_id) using (session_id)"
    return ask(f"with sessions as ({chosen})\nfrom (\n{query(name)})", {"ids": list(session_ids), **bound})
