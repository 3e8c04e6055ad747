"""A vault's rows in the tables: what is known of it, and how a run's rows are shown all at once.

A run appends versions to `notes` and rows to the derived tables under a mark of its own, which nobody sees until one
commit to `vault_runs` names it. Then the rows of the run before are deleted, and what runs that died have left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import BusyError, ConflictError
from workbench.store.delta import DeltaStore
from workbench.store.entities import record
from workbench.store.lake import Lake
from workbench.store.landing_key import VAULT_HEAD
from workbench.store.schema import LANDING_ID
from workbench.store.tables import vault
from workbench.vault.changes import KnownFile, KnownNote, KnownVault

RECORDER: Final = "vault index"
"""Who says so, in `notes.recorded_by`."""

DERIVED: Final = tuple(table for table in vault.TABLES if table.kind == "derived")

WRITERS: Final = 4
"""Tables written at once; as in `store.landing`."""

TURNS: Final = 50
"""How often the commit is tried while runs over other vaults go before."""

_RUN: Final = ["run_id", "vault_id", "recorded_at", "started_at", "derive_version", "links", LANDING_ID]


class RunRow(NamedTuple):
    """What `vault_runs` needs to know of the newest run of a vault."""

    run_id: str
    recorded_at: datetime
    started_at: datetime
    derive_version: int
    links: int
    landing_id: int


def newest_run(head: DeltaStore, vault_id: str) -> tuple[int, RunRow | None]:
    """The version of `vault_runs`, and the newest run over a vault in it.

    Raises:
        StoreError: The table cannot be read.
    """
    version, rows = head.read(_RUN)
    own = [row for row in rows.to_pylist() if row["vault_id"] == vault_id]
    newest = max(own, key=lambda row: (row["recorded_at"], row["run_id"]), default=None)
    return version, None if newest is None else RunRow(**{name: newest[name] for name in RunRow._fields})


def read_known(lake: Lake, vault_id: str, *, with_text: bool = False) -> KnownVault:
    """A vault as the last run left it.

    Args:
        lake: The tables.
        vault_id: The vault.
        with_text: Whether the notes' texts are wanted.

    Raises:
        StoreError: The tables cannot be read.
    """
    _, run = newest_run(lake.stores[VAULT_HEAD], vault_id)
    if run is None:
        return KnownVault()
    files = shown_rows(lake, "vault_files", run.landing_id)
    kinds = zip(*(files[name].to_pylist() for name in _FILE), strict=True)
    since = datetime.fromtimestamp(0, UTC)
    return KnownVault(
        run.landing_id,
        run.derive_version,
        run.recorded_at,
        run.links,
        (run.started_at - since) // timedelta(microseconds=1) * 1000,
        {path: KnownFile(*about) for path, kind, *about in kinds if kind == "note"},
        _notes(lake, vault_id, with_text=with_text),
    )


_FILE: Final = ("path", "kind", "size_bytes", "mtime_ns", "inode", "content_hash")


def _notes(lake: Lake, vault_id: str, *, with_text: bool) -> dict[str, KnownNote]:
    text = "text" if with_text else "null"
    columns = ", ".join(name for name in KnownNote._fields if name != "text")
    connection = lake.connection(["notes", VAULT_HEAD])
    try:
        asked = f"select path, {columns}, {text} as text from notes where vault_id = $1"
        rows = connection.sql(asked, params=[vault_id]).to_arrow_table()
    finally:
        connection.close()
    return {path: KnownNote(*about) for path, *about in zip(*map(pa.ChunkedArray.to_pylist, rows.columns), strict=True)}


def shown_rows(lake: Lake, name: str, landing_id: int | None) -> pa.Table:
    """The rows of a derived table that a run wrote, the mark included."""
    store = lake.stores[name]
    _, rows = store.read(store.table.schema.names, pc.field(LANDING_ID) == (-1 if landing_id is None else landing_id))
    return store.table.cast(rows)


def land(
    lake: Lake,
    run: Mapping[str, Any],
    notes: Sequence[Mapping[str, Any]],
    gone: Sequence[Mapping[str, Any]],
    rows: Mapping[str, pa.Table],
    known: KnownVault,
) -> None:
    """Write a run and show it.

    Args:
        lake: The tables.
        run: The row of `vault_runs` without `recorded_at`.
        notes: New versions of notes.
        gone: Versions that say a note is gone.
        rows: Rows of each derived table; none where they stay as they are.
        known: What the run began from.

    Raises:
        BusyError: Another run over the same vault ended meanwhile.
        StoreError: The tables cannot be written.
    """
    stores = lake.stores
    if rows:
        dead = _dead(lake, str(run["vault_id"]))
        with ThreadPoolExecutor(WRITERS, thread_name_prefix="vault") as pool:
            done = [pool.submit(_append, stores[name], table) for name, table in rows.items()]
            done.append(pool.submit(_record, stores["notes"], notes, gone, int(run[LANDING_ID])))
            for each in done:
                each.result()
            _commit(stores[VAULT_HEAD], run, known)
            list(pool.map(lambda table: _sweep(stores[table.name], dead[table.name]), (*DERIVED, vault.NOTES)))
    else:
        _commit(stores[VAULT_HEAD], run, known)


def _append(store: DeltaStore, rows: pa.Table) -> None:
    if rows.num_rows:
        store.append(rows)


def _record(
    store: DeltaStore, notes: Iterable[Mapping[str, Any]], gone: Iterable[Mapping[str, Any]], landing_id: int
) -> None:
    for rows, deleted in ((notes, False), (gone, True)):
        versions = [{**row, LANDING_ID: landing_id} for row in rows]
        if versions:
            record(store, versions, recorded_by=RECORDER, deleted=deleted)


def _dead(lake: Lake, vault_id: str) -> dict[str, list[int]]:
    """Marks of rows that nobody will see once the run is shown: of the run before, and of runs that died."""
    finished = set(lake.stores[VAULT_HEAD].read([LANDING_ID])[1][LANDING_ID].to_pylist())
    found: dict[str, list[int]] = {}
    for table in (*DERIVED, vault.NOTES):
        _, rows = lake.stores[table.name].read(["vault_id", LANDING_ID])
        of_vault = pc.is_in(rows["vault_id"], pa.array([vault_id]))
        own = map(int, pc.unique(rows.filter(of_vault)[LANDING_ID]).to_pylist())  # type: ignore[arg-type]
        is_derived = table.kind == "derived"
        found[table.name] = [landing for landing in own if is_derived or landing not in finished]
    return found


def _sweep(store: DeltaStore, landing_ids: Sequence[int]) -> None:
    store.delete_where(LANDING_ID, landing_ids)
    store.compact_if_scattered()


def _commit(head: DeltaStore, run: Mapping[str, Any], known: KnownVault) -> None:
    for _ in range(TURNS):
        version, newest = newest_run(head, str(run["vault_id"]))
        if (newest and newest.recorded_at) != known.recorded_at:
            break
        now = datetime.now(UTC)
        recorded_at = max(now, known.recorded_at + timedelta(microseconds=1)) if known.recorded_at else now
        row = head.table.from_dicts([{**run, "recorded_at": recorded_at}])
        try:
            head.append(row, transaction=VAULT_HEAD, at=version)
        except ConflictError:
            continue
        head.compact_if_scattered()
        return
    raise BusyError(f"another process indexed {run['root']} at the same time; run the same command again")
