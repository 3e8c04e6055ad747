"""All that a home shows, for comparing two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.store.tables import TABLES

if TYPE_CHECKING:
    from workbench.bench import Workbench

WHEN_IMPORTED = "sources.imported_at"
"""The one column that tells of the import and not of the sessions."""


def views(bench: Workbench, *leaving_out: str) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every view, sorted.

    Args:
        bench: The home.
        leaving_out: Further columns that may differ, as `table.column`.
    """
    connection = bench._lake.connection()
    try:
        return {name: connection.sql(_select(name, (WHEN_IMPORTED, *leaving_out))).fetchall() for name in TABLES}
    finally:
        connection.close()


def _select(table: str, leaving_out: tuple[str, ...]) -> str:
    left = ", ".join(column.partition(".")[2] for column in leaving_out if column.startswith(f"{table}."))
    return f"select * {left and f'exclude ({left})'} from {table} order by all"
