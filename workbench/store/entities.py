"""Entity tables: things that change, kept as versions that only grow in number (design 4, "Entity tables")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import SchemaError
from workbench.store.delta import DeltaStore
from workbench.text.ids import new_ulid


def record(
    store: DeltaStore,
    rows: Sequence[Mapping[str, Any]],
    *,
    recorded_by: str,
    now: datetime | None = None,
    deleted: bool = False,
    at: int | None = None,
) -> list[str]:
    """Append one version of each of the given things.

    `recorded_at` is the later of `now` and one microsecond after the newest version of the key, so that no update is
    lost to a clock that went back.

    Args:
        store: An entity table.
        rows: The declared columns of each thing; those left out become null.
        recorded_by: Who says so.
        now: UTC; the clock unless given.
        deleted: Whether these versions say that the things are gone.
        at: The version of the table that the rows were made from; whatever was committed since is a conflict.

    Returns:
        The `row_id` of each version.

    Raises:
        SchemaError: No entity table, a key is missing, or a value does not fit.
        ConflictError: Another version of the table was committed since `at`.
        StoreError: The table cannot be written.
    """
    table = store.table
    if table.kind != "entity":
        raise SchemaError(f"{table.name} is a {table.kind} table; only entity tables keep versions")
    moment = now or datetime.now(UTC)
    if moment.tzinfo is None:
        raise SchemaError(f"{table.name} wants a time with a zone, got {moment!r}")
    moment = moment.astimezone(UTC)
    for row in rows:
        if None in map(row.get, table.key):
            raise SchemaError(f"{table.name} needs {list(table.key)}, got {dict(row)}")
    newest = _newest(store, table.from_dicts(rows))
    versions = []
    for row in rows:
        key = tuple(map(row.get, table.key))
        before = newest.get(key)
        recorded_at = moment if before is None else max(moment, before + timedelta(microseconds=1))
        newest[key] = recorded_at
        versions.append(
            {**row, "row_id": new_ulid(), "recorded_at": recorded_at, "recorded_by": recorded_by, "deleted": deleted}
        )
    if versions:
        store.append(table.from_dicts(versions), transaction=None if at is None else table.name, at=at)
    return [str(version["row_id"]) for version in versions]


def _newest(store: DeltaStore, rows: pa.Table) -> dict[tuple[Any, ...], datetime]:
    """When the newest version of each key was recorded; of the keys of `rows`, and perhaps of some more."""
    first, *_ = store.table.key
    _, every = store.read([*store.table.key, "recorded_at"])
    found = every.filter(pc.is_in(every[first], rows[first].combine_chunks()))
    newest: dict[tuple[Any, ...], datetime] = {}
    for row in found.to_pylist():
        key = tuple(map(row.get, store.table.key))
        newest[key] = max(row["recorded_at"], newest.get(key, row["recorded_at"]))
    return newest
