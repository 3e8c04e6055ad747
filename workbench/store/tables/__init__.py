"""Every table, declared once, one module a group (design, section 6)."""

from __future__ import annotations

from workbench.store.schema import Table, View
from workbench.store.tables import context, forgotten, sessions

TABLES: dict[str, Table] = {table.name: table for table in (*sessions.TABLES, *context.TABLES, *forgotten.TABLES)}
"""All tables by name, in the order in which they are documented."""

DERIVED: tuple[Table, ...] = tuple(table for table in TABLES.values() if table.kind == "derived")

VIEWS: dict[str, View] = {view.name: view for view in sessions.VIEWS}
"""Views beside those of the tables, by name."""
