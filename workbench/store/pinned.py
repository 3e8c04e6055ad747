"""A lake at exact versions of its tables: what a report was made from, read again.

A version can be read as long as its files are kept: `maintain` removes replaced files after
`store.file_retention_days`, and `forget` at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from workbench.errors import StoreError
from workbench.store.delta import NOTHING, DeltaStore, Snapshot
from workbench.store.lake import Lake
from workbench.store.schema import Table


class PinnedStore(DeltaStore):
    """One version of a table; it cannot be written to.

    Args:
        folder: The table's folder.
        table: The declaration.
        at: The version; None for a table that did not exist.
    """

    def __init__(self, folder: Path, table: Table, at: int | None) -> None:
        super().__init__(folder, table)
        self._at = NOTHING if at is None else at
        self._pinned: Snapshot | None = None

    def version(self) -> int:
        """The version; `NOTHING` for a table that did not exist."""
        return self._at

    def snapshot(self) -> Snapshot:
        """The version itself.

        Raises:
            StoreError: Its log or its files are not there any more.
        """
        if self._pinned is None:
            self._pinned = self._opened()
        return self._pinned

    def handle(self) -> DeltaTable | None:
        """What deltalake has of the version; None for a table that did not exist.

        Raises:
            StoreError: As for `snapshot`.
        """
        if self._at == NOTHING:
            return None
        try:
            return DeltaTable(self.folder, version=self._at)
        except (DeltaError, TableNotFoundError, OSError) as error:
            raise self._gone() from error

    def append(self, rows: pa.Table, *, transaction: str | None = None, at: int | None = None) -> int:
        """Refused.

        Raises:
            StoreError: Always.
        """
        del rows, transaction, at
        raise StoreError(f"version {self._at} of {self.table.name} is the past; nothing can be written to it")

    def _opened(self) -> Snapshot:
        handle: Any = self.handle()
        if handle is None:
            return Snapshot(NOTHING, (), self.table.schema, is_uniform=True)
        names = [unquote(uri.rsplit("/", 1)[-1]) for uri in handle.file_uris()]
        files = tuple(str(self.folder / name) for name in names)
        if not all(Path(file).exists() for file in files):
            raise self._gone()
        return Snapshot(self._at, files, self.table.schema, is_uniform=False)

    def _gone(self) -> StoreError:
        return StoreError(
            f"version {self._at} of the table {self.table.name} cannot be read any more: its files were removed by "
            "`maintain` (store.file_retention_days) or `forget`, or this is another home"
        )


class UnpinnedStore(DeltaStore):
    """A derived table that nobody fixed: its rows of today belong to other landings than those that are pinned."""

    def snapshot(self) -> Snapshot:
        """Refused.

        Raises:
            StoreError: Always.
        """
        raise StoreError(
            f"what was made from these versions does not say which version of the table {self.table.name} it read: an "
            "older workbench made it; make it anew"
        )


def versions_of(lake: Lake, tables: Iterable[str]) -> dict[str, int | None]:
    """The Delta version of each of some tables; None for one that does not exist."""
    found = {name: lake.stores[name].version() for name in sorted(tables)}
    return {name: None if version == NOTHING else version for name, version in found.items()}


def pinned_lake(lake: Lake, versions: Mapping[str, int | None]) -> Lake:
    """The same home with some tables at exact versions; other derived ones cannot be read, recorded ones as they are.

    Args:
        lake: The home.
        versions: By table; None for one that did not exist.

    Raises:
        StoreError: A table is not known to this version of workbench.
    """
    unknown = sorted(set(versions) - set(lake.tables))
    if unknown:
        raise StoreError(f"this workbench knows no tables {', '.join(unknown)}; use the version that wrote them")
    pinned = Lake(lake.home, lake.tables)
    for name, table in lake.tables.items():
        if table.kind == "derived":
            pinned.stores[name] = UnpinnedStore(lake.stores[name].folder, table)
    for name, at in versions.items():
        pinned.stores[name] = PinnedStore(lake.stores[name].folder, lake.tables[name], at)
    return pinned
