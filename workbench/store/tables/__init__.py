"""Every table, declared once, one module a group (design, section 6)."""

from __future__ import annotations

from workbench.store.landing_key import HEAD
from workbench.store.schema import Table, View
from workbench.store.tables import context, experiments, forgotten, sessions, telemetry, vault

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        *sessions.TABLES,
        *context.TABLES,
        *forgotten.TABLES,
        *telemetry.TABLES,
        *vault.TABLES,
        *experiments.TABLES,
    )
}
"""All tables by name, in the order in which they are documented."""

DERIVED: tuple[Table, ...] = tuple(table for table in TABLES.values() if table.kind == "derived" and table.head == HEAD)
"""Those that are functions of sessions."""

VIEWS: dict[str, View] = {view.name: view for view in (*sessions.VIEWS, *telemetry.VIEWS, *vault.VIEWS)}
"""Views beside those of the tables, by name."""
