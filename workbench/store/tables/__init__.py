"""Every table, declared once, one module a group (design, section 6)."""

from __future__ import annotations

from workbench.store.schema import Table
from workbench.store.tables import sessions

TABLES: dict[str, Table] = {table.name: table for table in sessions.TABLES}
"""All tables by name, in the order in which they are documented."""

DERIVED: tuple[Table, ...] = tuple(table for table in TABLES.values() if table.kind == "derived")
