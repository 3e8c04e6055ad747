"""The documentation page of the tables, out of their declarations; a test holds `docs/tables.md` to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from workbench.store.landing_key import VAULT_HEAD
from workbench.store.schema import LANDING_ID, Table, View

KINDS: Final = {
    "derived": "a function of a session's log or archived sources; delete it and it comes back",
    "recorded": "only grows",
    "entity": "versions of things: `{name}` is the newest version of each, `{name}_history` has all",
}

OF_VAULT: Final = "a function of a vault's notes and files; delete it and the next run makes it again"


def document(tables: Iterable[Table | View]) -> str:
    """Markdown: a section a table or view, a line a column.

    Args:
        tables: The declarations, in order.
    """
    parts = [
        "# Tables",
        (
            "Every table is a view in `workbench sql`, `bench.sql` and `bench.scan`. Times are UTC. "
            "This page is made from the declarations in `workbench/store/tables/`: `make docs`."
        ),
    ]
    return "\n\n".join([*parts, *map(section, tables)]) + "\n"


def section(table: Table | View) -> str:
    """Markdown of one table or view: its grain, its key, and a line a column."""
    key = ", ".join(f"`{name}`" for name in table.key)
    head = f"## {table.name}\n\nOne row: {table.grain}. Key: {key}. {_origin(table)}."
    lines = ["| column | type | | meaning |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{column.name}` | {column.type} | {'required' if column.required else ''} | {column.meaning} |"
        for column in table.columns
        if column.name not in (LANDING_ID, "deleted")
    ]
    return f"{head}\n\n" + "\n".join(lines)


def _origin(table: Table | View) -> str:
    if isinstance(table, View):
        reads = " and ".join(f"`{name}`" for name in table.reads)
        return f"View of {reads}: `workbench/store/sql/{table.name}.sql`"
    if table.kind == "derived" and table.head == VAULT_HEAD:
        return f"Derived: {OF_VAULT}"
    return f"{table.kind.capitalize()}: {KINDS[table.kind].format(name=table.name)}"
