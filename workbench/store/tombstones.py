"""Tombstones: which sessions were forgotten, told by the hash of their ids, so that no import brings them back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from workbench.store.entities import record
from workbench.store.lake import Lake
from workbench.text.ids import content_hash

NAME = "forgotten_sessions"
"""The table; see `store.tables.forgotten`."""


class Tombstones:
    """The sessions that imports leave out; picklable, for the processes that read files.

    Args:
        hashes: Hashes of their ids.
        lifted: Whether what is met of them is to be brought back.
    """

    def __init__(self, hashes: Iterable[str] = (), *, lifted: bool = False) -> None:
        self.hashes = frozenset(hashes)
        self.lifted = lifted

    def among(self, session_ids: Iterable[str]) -> set[str]:
        """Those of some sessions that were forgotten."""
        if not self.hashes:
            return set()
        return {session_id for session_id in session_ids if content_hash(session_id) in self.hashes}


def read_tombstones(lake: Lake, *, lifted: bool = False) -> Tombstones:
    """The tombstones that stand now; see there for `lifted`.

    Raises:
        StoreError: The table cannot be read.
    """
    _, rows = lake.stores[NAME].read(["session_hash", "recorded_at", "row_id", "deleted"])
    if not rows.num_rows:
        return Tombstones()
    ordered = rows.sort_by([("recorded_at", "ascending"), ("row_id", "ascending")])
    newest = dict(zip(ordered["session_hash"].to_pylist(), ordered["deleted"].to_pylist(), strict=True))
    return Tombstones((str(known) for known, deleted in newest.items() if not deleted), lifted=lifted)


def bury(lake: Lake, session_ids: Iterable[str], *, recorded_by: str, now: datetime | None = None) -> None:
    """Set tombstones; those that stand already are not set again.

    Raises:
        StoreError: The table cannot be written.
    """
    ids = set(session_ids)
    new = sorted(ids - read_tombstones(lake).among(ids))
    rows = [{"session_hash": content_hash(session_id)} for session_id in new]
    record(lake.stores[NAME], rows, recorded_by=recorded_by, now=now)


def revive(lake: Lake, session_ids: Iterable[str], *, recorded_by: str, now: datetime | None = None) -> None:
    """Take tombstones away, so that the next import brings these sessions in again.

    Raises:
        StoreError: The table cannot be written.
    """
    back = sorted(read_tombstones(lake).among(session_ids))
    rows = [{"session_hash": content_hash(session_id)} for session_id in back]
    record(lake.stores[NAME], rows, recorded_by=recorded_by, now=now, deleted=True)


def rows_of(rows: pa.Table, session_ids: Iterable[str]) -> pa.Table:
    """The rows of some sessions."""
    return rows.filter(pc.is_in(rows["session_id"], pa.array(sorted(session_ids), pa.string())))
