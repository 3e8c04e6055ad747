"""Import: from paths to landed sessions.

Files are cut into batches, batches are prepared (here, or by several processes when there is much to read) and landed
as they come. All of it happens under the home's landing lock, so that what is known at the start stays true.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa

from workbench.ingest import discover, workers
from workbench.ingest.batches import cut
from workbench.ingest.cycles import no_cycle_collection
from workbench.ingest.prepare import LeftOut, Prepared, Preparer
from workbench.ingest.rows import only
from workbench.ingest.sources import KnownSource, KnownSources
from workbench.store.archive import Archive
from workbench.store.lake import Lake
from workbench.store.landing import land
from workbench.store.tables import DERIVED
from workbench.store.tombstones import Tombstones, read_tombstones, revive
from workbench.text.redaction import Redactor, redact

BATCH_BYTES: Final = 6_000_000
"""Bytes of sources in one batch: it keeps a process busy for a tenth of a second, so that all end at about one time."""

LANDING_BYTES: Final = 192_000_000
"""Bytes of sources that land together, in a few seconds: a landing commits to eleven tables, 20 ms each."""

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and the path at hand."""


@dataclass
class ImportResult:
    """What an import did.

    Attributes:
        sessions: Sessions that landed now; of one that grew, all of it counts below.
        events: Their rows in `events`.
        turns: Their rows in `turns`.
        tool_calls: Their rows in `tool_calls`.
        unchanged: Files that had landed and did not change since; they were not opened.
        issues: Their rows in `import_issues`.
        skipped: Files that are no transcripts.
        errors: Files that could not be read.
        forgotten: Sessions that were met and left out because they were forgotten; brought back where that was asked.
    """

    sessions: int = 0
    events: int = 0
    turns: int = 0
    tool_calls: int = 0
    unchanged: int = 0
    issues: int = 0
    skipped: list[LeftOut] = field(default_factory=list)
    errors: list[LeftOut] = field(default_factory=list)
    forgotten: int = 0


class Importer:
    """Imports into one home; a rebuild is an import from the archive, see `rebuild`.

    Args:
        lake: The home's tables.
        redactor: The seam of `text.redaction`; picklable where several processes are to be used.
        progress: Told how far it is.
        now: When it is; UTC.
        batch_bytes: See `BATCH_BYTES`.
        processes: How many processes prepare batches, this one included; chosen by the bytes to read unless given.
    """

    _preparer: ClassVar[type[Preparer]] = Preparer
    _lands_anew: ClassVar[bool] = False

    def __init__(
        self,
        lake: Lake,
        *,
        redactor: Redactor = redact,
        progress: Progress | None = None,
        now: datetime | None = None,
        batch_bytes: int = BATCH_BYTES,
        processes: int | None = None,
    ) -> None:
        self._lake = lake
        self._archive = Archive(lake.home.archive)
        self._redactor = redactor
        self._progress = progress
        self._now = now or datetime.now(UTC)
        self._batch_bytes = batch_bytes
        self._processes = processes
        self._result = ImportResult()
        self._tombstones = Tombstones()
        self._forgotten: set[str] = set()

    def run(
        self, paths: Iterable[Path], *, rehash: bool = False, again: bool = False, wait_seconds: float = 600
    ) -> ImportResult:
        """Import all sources under the given paths.

        What has landed stays when it is interrupted; the same command goes on from there.

        Args:
            paths: Files and folders.
            rehash: Read files again whose size, time and inode did not change.
            again: Bring back what was forgotten and is found under the paths; reads unchanged files again as well.
            wait_seconds: How long to wait for another import into the same home.

        Returns:
            Counts of what landed now, and everything that was left out with the reason.

        Raises:
            StoreError: The home cannot be written to, or another import does not end.
        """
        with self._lake.home.landing_lock(wait_seconds=wait_seconds), no_cycle_collection():
            known = self._known()
            self._tombstones = read_tombstones(self._lake, lifted=again)
            found = self._changed(paths, known, rehash=rehash or again)
            batches = list(cut(found, self._batch_bytes))
            make = partial(
                self._preparer,
                self._lake.home.archive,
                self._lake.home.sessions,
                known,
                self._redactor,
                self._now,
                self._tombstones,
            )
            preparer = make()
            done = landed = 0
            total = sum(item.size_bytes for item in found)
            held: list[Prepared] = []
            with closing(self._prepared(make, preparer, batches, total)) as results:
                for number, prepared in results:
                    held.append(prepared)
                    done += sum(item.size_bytes for item in batches[number])
                    if done == total or done - landed >= LANDING_BYTES:
                        self._land(preparer, held)
                        held, landed = [], done
                    if self._progress is not None:
                        self._progress(done, total, discover.told(batches[number][-1].path))
            self._finish()
        return self._result

    def _known(self) -> KnownSources:
        """The sources that there are already."""
        return known_sources(self._lake)

    def _finish(self) -> None:
        """Called when all has landed, still under the lock."""

    def _prepared(
        self, make: Callable[[], Preparer], preparer: Preparer, batches: Sequence[Sequence[discover.Found]], total: int
    ) -> Generator[tuple[int, Prepared]]:
        paths = [[item.path for item in batch] for batch in batches]
        count = self._processes
        if count is None:
            count = 1 if total < workers.MANY_BYTES else workers.cores()
        if count <= 1:
            return workers.in_process(preparer, paths)
        return workers.in_workers(make, preparer, paths, count)

    def _changed(self, paths: Iterable[Path], known: KnownSources, *, rehash: bool) -> list[discover.Found]:
        found = []
        for item in discover.walk(paths):
            if isinstance(item, discover.Unreadable):
                self._result.errors.append(LeftOut(discover.told(item.path), item.reason))
            elif not rehash and known.is_unchanged(item):
                self._result.unchanged += 1
            else:
                found.append(item)
        return found

    def _land(self, preparer: Preparer, ready: Sequence[Prepared]) -> None:
        """Land batches together; sessions of which several batches tell are derived anew from all sources first."""
        for prepared in ready:
            for source in prepared.known:
                preparer.known.add(source)
            self._result.skipped += prepared.skipped
            self._result.errors += prepared.errors
            self._forgotten |= prepared.forgotten
        self._result.forgotten = len(self._forgotten)
        if self._tombstones.lifted and self._forgotten:
            revive(self._lake, self._forgotten, recorded_by="ingest --again")
        self._write(_whole(preparer, ready))
        for prepared in ready:
            for settled in prepared.settled:
                self._archive.settle(*settled)

    def _write(self, whole: Sequence[Prepared]) -> None:
        keys = [key for prepared in whole for key in prepared.keys]
        if not keys:
            return
        tables = {name: pa.concat_tables([prepared.tables[name] for prepared in whole]) for name in whole[0].tables}
        blobs = tables.pop("blobs")
        stores = {table.name: self._lake.stores[table.name] for table in DERIVED}
        landed = land(
            stores,
            keys,
            lambda missing: tables if len(missing) == len(keys) else only(tables, missing),
            anew=self._lands_anew,
            beside=lambda: self._add_blobs(blobs),
        )
        rows = tables if len(landed) == len(keys) else only(tables, landed)
        result = self._result
        result.sessions += len(landed)
        result.events += rows["events"].num_rows
        result.turns += rows["turns"].num_rows
        result.tool_calls += rows["tool_calls"].num_rows
        result.issues += rows["import_issues"].num_rows
        for store in self._lake.stores.values():
            store.compact_if_scattered()

    def _add_blobs(self, blobs: pa.Table) -> None:
        """Append the texts that are not there yet, each once."""
        store = self._lake.stores["blobs"]
        known = set(store.read(["sha256"])[1]["sha256"].to_pylist())
        new = []
        for place, sha256 in enumerate(blobs["sha256"].to_pylist()):
            if sha256 not in known:
                known.add(sha256)
                new.append(place)
        if new:
            store.append(blobs if len(new) == blobs.num_rows else blobs.take(pa.array(new)))


def _whole(preparer: Preparer, ready: Sequence[Prepared]) -> list[Prepared]:
    """The batches with every session once and derived from all of its sources."""
    kept: list[Prepared] = []
    done: set[str] = set()
    for prepared in ready:
        complete = {
            session_id
            for session_id, paths in prepared.used.items()
            if session_id not in done and paths == preparer.known.paths_of(session_id)
        }
        done |= complete
        keys = [key for key in prepared.keys if key.session_id in complete]
        tables = prepared.tables if len(keys) == len(prepared.keys) else only(prepared.tables, keys)
        kept.append(prepared._replace(keys=keys, tables=tables))
    lacking = {session_id for prepared in ready for session_id in prepared.used} - done
    return [*kept, preparer.again(sorted(lacking))] if lacking else kept


def has_news(lake: Lake, paths: Iterable[Path]) -> bool:
    """Whether there are files under the paths that did not land yet as they are now; opens none of them."""
    known = known_sources(lake)
    return any(isinstance(item, discover.Found) and not known.is_unchanged(item) for item in discover.walk(paths))


def _where_now(lake: Lake, log: str) -> str:
    """Where a log of our own is: in this home, which may have been restored to another place than it had."""
    path = Path(os.path.realpath(lake.home.sessions / Path(log).parent.name / Path(log).name))
    return discover.told(str(path)) if path.is_file() else log


KNOWN: Final = (
    "source_id",
    "path",
    "format",
    "sha256",
    "older_sha256s",
    "session_ids",
    "size_bytes",
    "mtime_ns",
    "inode",
)


def known_sources(lake: Lake) -> KnownSources:
    """The sources that landed, as the tables tell."""
    rows = lake.derived_rows("sources", KNOWN).to_pylist()
    return KnownSources(
        KnownSource(
            source_id=row["source_id"],
            path=row["path"] if row["sha256"] is not None else _where_now(lake, row["path"]),
            format=row["format"],
            sha256=row["sha256"],
            older=tuple(row["older_sha256s"] or ()),
            session_ids=tuple(row["session_ids"]),
            size_bytes=row["size_bytes"],
            mtime_ns=row["mtime_ns"],
            inode=row["inode"],
        )
        for row in rows
    )
