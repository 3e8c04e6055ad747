"""Maintenance: fewer and larger files, and nothing kept that nobody can read any more.

A home works without it; it only grows. Every step looks first what there is to do, so that a dry run tells the same
and a second run does nothing. Readers and importers go on: what a query may still read is kept for the file retention,
and what only an import at rest allows is done under its lock, or left for next time.

Design 4, "Care".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import BusyError, StoreError
from workbench.store.archive import Archive
from workbench.store.delta import NOTHING, DeltaStore
from workbench.store.eventlog_files import LOG_NAME, SNAPSHOT_NAME
from workbench.store.lake import Lake
from workbench.store.landing_key import HEAD
from workbench.store.lease import held
from workbench.store.litter import abandoned
from workbench.store.schema import LANDING_ID
from workbench.store.vectors import VectorDatabase, optimise
from workbench.text.ids import content_hash

LEASE_NAME: Final = "maintain.lease"

Progress = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and the name of the one at hand."""


class Change(NamedTuple):
    """One thing that was done, or would be.

    Attributes:
        step: The step that did it.
        where: Path in the home.
        detail: What, in words.
        files: Files that went, or that became fewer.
        bytes: Bytes that are free now; 0 where the files of before are kept for the retention.
    """

    step: str
    where: str
    detail: str
    files: int
    bytes: int


class LeftOut(NamedTuple):
    """A step that could not be done, or not everywhere; `is_error` where another run will not do either."""

    step: str
    reason: str
    is_error: bool


@dataclass(frozen=True)
class Upkeep:
    """What a step works on.

    Attributes:
        lake: The home's tables.
        retention: How long replaced files are kept.
        compact_above_files: Files beyond which a table is compacted.
        now: When it is; UTC.
        dry_run: Whether nothing is to be changed.
        left_out: Where a step notes what it could not do.
    """

    lake: Lake
    retention: timedelta
    compact_above_files: int
    now: datetime
    dry_run: bool
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def archive(self) -> Archive:
        """The home's archive."""
        return Archive(self.lake.home.archive)

    def place(self, path: Path) -> str:
        """A path as it is told: below the home."""
        return path.relative_to(self.lake.home.root).as_posix()

    def is_kept(self, path: Path) -> bool:
        """Whether a file is younger than the retention."""
        return datetime.fromtimestamp(path.stat().st_mtime, UTC) > self.now - self.retention

    def stores(self, step: str) -> Iterator[DeltaStore]:
        """Every table that there is; one that cannot be read is left out, and hides no other."""
        for store in self.lake.stores.values():
            try:
                if store.version() != NOTHING:
                    yield store
            except StoreError as error:
                self.left_out.append(LeftOut(step, f"{error}; `workbench verify` tells more", is_error=True))


class Step(NamedTuple):
    """One step of the maintenance.

    Attributes:
        name: As it is told.
        run: Does it, or with `Upkeep.dry_run` tells what there is to do.
        alone: Whether no import may be at work meanwhile.
    """

    name: str
    run: Callable[[Upkeep], Iterator[Change]]
    alone: bool = False


@dataclass
class MaintainResult:
    """What a maintenance did, or would do.

    Attributes:
        dry_run: Whether nothing was changed.
        retention_days: For how long replaced files are kept.
        changes: In order.
        left_out: What was not done, and why.
    """

    dry_run: bool
    retention_days: float
    changes: list[Change] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Bytes that became free."""
        return sum(change.bytes for change in self.changes)


def maintain(
    lake: Lake,
    *,
    retention: timedelta,
    compact_above_files: int,
    dry_run: bool = False,
    now: datetime | None = None,
    progress: Progress | None = None,
    wait_seconds: float = 10,
) -> MaintainResult:
    """Do every step of `STEPS`.

    Args:
        lake: The home's tables.
        retention: How long replaced files are kept: what a reader opened longer ago it cannot read on.
        compact_above_files: Files beyond which a table is compacted.
        dry_run: Only tell what there is to do.
        now: When it is; UTC, the clock unless given.
        progress: Told how far it is.
        wait_seconds: How long to wait for an import, a backup or a `forget`.

    Raises:
        BusyError: Another maintenance, a backup or a `forget` is at work.
        StoreError: The home cannot be written to.
    """
    home = lake.home
    work = Upkeep(lake, retention, compact_above_files, now or datetime.now(UTC), dry_run)
    result = MaintainResult(dry_run, retention / timedelta(days=1), left_out=work.left_out)
    with held(home.root / LEASE_NAME, f"maintenance of {home.root}"), home.copying_lock(wait_seconds=wait_seconds):
        for number, step in enumerate(STEPS):
            if progress is not None:
                progress(number, len(STEPS), step.name)
            result.changes += _changes(step, work, wait_seconds)
    if progress is not None:
        progress(len(STEPS), len(STEPS), "done")
    return result


def _changes(step: Step, work: Upkeep, wait_seconds: float) -> list[Change]:
    changes: list[Change] = []
    try:
        if not step.alone:
            changes.extend(step.run(work))
            return changes
        with work.lake.home.landing_lock(wait_seconds=wait_seconds, is_import=False):
            changes.extend(step.run(work))
    except BusyError:
        reason = "an import is at work; the next maintenance will do it"
        work.left_out.append(LeftOut(step.name, reason, is_error=False))
    except (StoreError, OSError) as error:
        work.left_out.append(LeftOut(step.name, str(error), is_error=True))
    return changes


# -- the steps ---------------------------------------------------------------------------------------------------------


def _sweep_hidden_rows(work: Upkeep) -> Iterator[Change]:
    """Delete rows that an interrupted import left, and that no view shows.

    Without a sign of an interruption they are none of our business: the session that showed them was lost, and
    `verify` says so. So are they where there is no `sessions` at all.
    """
    stores = work.lake.stores
    if not work.lake.home.unfinished.exists() or stores[HEAD].version() == NOTHING:
        return
    shown = stores[HEAD].read([LANDING_ID])[1][LANDING_ID].combine_chunks()
    for store in work.stores("hidden rows"):
        if not _is_landed(store):
            continue
        hidden = _hidden(store, shown)
        if hidden.num_rows:
            ids = pc.unique(hidden[LANDING_ID]).to_pylist()
            detail = f"{hidden.num_rows:,} rows of {len(ids):,} landings that an interrupted import left"
            if not work.dry_run:
                store.delete_where(LANDING_ID, ids)
            yield Change("hidden rows", work.place(store.folder), detail, 0, 0)


def _is_landed(store: DeltaStore) -> bool:
    """Whether imports land rows in it that `sessions` must show; after a dead run over a vault the next cleans up."""
    return store.table.kind == "derived" and store.table.head == HEAD and store.table.name != HEAD


def _hidden(store: DeltaStore, shown: pa.Array[pa.Int64Scalar]) -> pa.Table:
    _, rows = store.read([LANDING_ID])
    return rows.filter(pc.invert(pc.is_in(rows[LANDING_ID], shown)))


def _compact_tables(work: Upkeep) -> Iterator[Change]:
    for store in work.stores("compact"):
        files = store.snapshot().files
        if len(files) <= work.compact_above_files:
            continue
        size, version = _size(map(Path, files)), store.version()
        if not work.dry_run and not store.compact_if_scattered(work.compact_above_files):
            reason = f"{work.place(store.folder)}: another process kept committing; the next maintenance will do it"
            work.left_out.append(LeftOut("compact", reason, is_error=False))
            continue
        if not work.dry_run and store.version() == version:
            continue  # many files, all of them large
        detail = f"{len(files):,} files of {size:,} bytes rewritten as few; they are kept for the retention"
        yield Change("compact", work.place(store.folder), detail, len(files), 0)


def _vacuum_tables(work: Upkeep) -> Iterator[Change]:
    for store in work.stores("vacuum"):
        expired = store.expired(work.retention)
        if not expired:
            continue
        size = _size(expired)
        if not work.dry_run:
            store.vacuum(work.retention)
        yield Change("vacuum", work.place(store.folder), "files that no kept version has", len(expired), size)


def _remove_temporary_files(work: Upkeep) -> Iterator[Change]:
    for litter in abandoned(work.lake.home, work.now):
        if not work.dry_run:
            litter.path.unlink(missing_ok=True)
        yield Change("temporary files", work.place(litter.path), "left by a killed writer", 1, litter.size_bytes)


def _remove_stale_snapshots(work: Upkeep) -> Iterator[Change]:
    """Resume snapshots that are older than their log: a resume folds the log anew instead (design 3)."""
    for path in sorted(work.lake.home.sessions.glob(f"*/{SNAPSHOT_NAME}")):
        about, log = path.stat(), path.with_name(LOG_NAME)
        is_stale = not log.exists() or log.stat().st_mtime_ns > about.st_mtime_ns
        if not is_stale or work.is_kept(path):
            continue
        if not work.dry_run:
            path.unlink(missing_ok=True)
        yield Change("snapshots", work.place(path), "a snapshot older than its log", 1, about.st_size)


def _clear_archive(work: Upkeep) -> Iterator[Change]:
    """Remove contents that an interrupted import archived and that nothing refers to, or that a newer one contains."""
    archive, rows = work.archive, work.lake.derived_rows("sources", ["source_id", "sha256", "older_sha256s"])
    newest: dict[Any, Any] = dict(zip(rows["source_id"].to_pylist(), rows["sha256"].to_pylist(), strict=True))
    named = {sha256 for older in rows["older_sha256s"].to_pylist() for sha256 in older or ()} | set(newest.values())
    for sha256 in archive.strays():
        path = archive.folder / f"{sha256}.zst"
        if sha256 in named or work.is_kept(path):
            continue
        size = path.stat().st_size
        if not work.dry_run:
            path.unlink(missing_ok=True)
        yield Change("archive", work.place(path), "a content that no entry tells of", 1, size)
    yield from _superseded(work, archive, newest, named)


def _superseded(
    work: Upkeep, archive: Archive, newest: Mapping[str, str | None], named: Collection[str | None]
) -> Iterator[Change]:
    for sha256, entry in list(archive.entries()):
        current = newest.get(entry.source_id)
        if sha256 in named or current is None or work.is_kept(archive.folder / f"{sha256}.json"):
            continue
        if not _begins_with(archive, current, sha256):
            continue  # it tells what the newest content does not
        path = archive.folder / f"{sha256}.zst"
        size = path.stat().st_size if path.exists() else 0
        if not work.dry_run:
            archive.settle(entry.source_id, (), [sha256])
        detail = f"an earlier content of {entry.path}, which the newest one begins with"
        yield Change("archive", work.place(path), detail, 1, size)


def _begins_with(archive: Archive, sha256: str, earlier: str) -> bool:
    manifest = archive.manifest(earlier)
    return manifest is not None and content_hash(archive.read(sha256)[: manifest.size_bytes]) == earlier


def _optimise_search_index(work: Upkeep) -> Iterator[Change]:
    """Join small files, bring indexes up to date, drop versions older than the retention."""
    home = work.lake.home
    database = VectorDatabase(home.vectors)
    if not database.names():
        return
    if work.dry_run:
        reason = "LanceDB tells what would go only by doing it; a dry run leaves it out"
        work.left_out.append(LeftOut("search index", reason, is_error=False))
        return
    before = _files_below(home.vectors)
    optimise(database, older_than=work.retention)
    after = _files_below(home.vectors)
    freed = sum(before.values()) - sum(after.values())
    gone = len(before.keys() - after.keys())
    if gone:
        detail = f"{len(database.names()):,} tables optimised: {len(after.keys() - before.keys()):,} files written anew"
        yield Change("search index", work.place(home.vectors), detail, gone, freed)


def _files_below(folder: Path) -> dict[Path, int]:
    return {path: _size([path]) for path in folder.rglob("*") if path.is_file()}


def _close_interrupted_import(work: Upkeep) -> Iterator[Change]:
    """Forget that an import was interrupted, when nothing of it is left."""
    home = work.lake.home
    if not home.unfinished.exists() or work.dry_run or work.lake.stores[HEAD].version() == NOTHING:
        return
    shown = work.lake.stores[HEAD].read([LANDING_ID])[1][LANDING_ID].combine_chunks()
    others = [store for store in work.stores("interrupted import") if _is_landed(store)]
    landed = set(work.lake.derived_rows("sources", ["source_id"])["source_id"].to_pylist())
    unlanded = {entry.source_id for _, entry in work.archive.entries()} - landed
    if not unlanded and not work.archive.strays() and not any(_hidden(store, shown).num_rows for store in others):
        home.unfinished.unlink(missing_ok=True)
        yield Change("interrupted import", work.place(home.unfinished), "nothing is left of it", 1, 0)


STEPS: Final = (
    Step("hidden rows", _sweep_hidden_rows, alone=True),
    Step("compact", _compact_tables),
    Step("vacuum", _vacuum_tables),
    Step("temporary files", _remove_temporary_files),
    Step("snapshots", _remove_stale_snapshots),
    Step("archive", _clear_archive, alone=True),
    Step("search index", _optimise_search_index),
    Step("interrupted import", _close_interrupted_import, alone=True),
)
"""What is done, in order: rows are deleted before tables are compacted, tables compacted before they are vacuumed."""


def _size(paths: Iterable[Path]) -> int:
    """Bytes of files; one that went meanwhile has none."""
    total = 0
    for path in paths:
        try:
            total += os.stat(path).st_size  # noqa: PTH116
        except FileNotFoundError:
            continue
    return total
