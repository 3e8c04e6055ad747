"""The documentation page of the tables, out of their declarations; a test holds `docs/tables.md` to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from workbench.store.schema import LANDING_ID, Table

KINDS: Final = {
    "derived": "a function of a session's log or archived sources; delete it and it comes back",
    "recorded": "only grows",
    "entity": "versions of things: `{name}` is the newest version of each, `{name}_history` has all",
}


def document(tables: Iterable[Table]) -> str:
    """Markdown: a section a table, a line a column.

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
    for table in tables:
        kind = KINDS[table.kind].format(name=table.name)
        key = ", ".join(f"`{name}`" for name in table.key)
        head = f"## {table.name}\n\nOne row: {table.grain}. Key: {key}. {table.kind.capitalize()}: {kind}."
        lines = ["| column | type | | meaning |", "| --- | --- | --- | --- |"]
        lines += [
            f"| `{column.name}` | {column.type} | {'required' if column.required else ''} | {column.meaning} |"
            for column in table.columns
            if column.name not in (LANDING_ID, "deleted")
        ]
        parts += [head, "\n".join(lines)]
    return "\n\n".join(parts) + "\n"
