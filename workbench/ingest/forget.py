"""Forgetting with sources in view: separates those that tell of other sessions too, then lets the store erase.

Under the locks of the home: look what there is, make sure that all of it can be removed, announce, separate, erase. Up
to the announcement nothing is changed; what comes after it is completed by the next forget if this one dies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from workbench.errors import StoreError
from workbench.ingest import formats
from workbench.ingest.forgotten import InseparableError, without
from workbench.ingest.importer import Progress, known_sources
from workbench.ingest.prepare import Preparer
from workbench.ingest.sources import KnownSource, KnownSources
from workbench.store import forget as store_forget
from workbench.store.archive import Archive, Arrival, SourceEntry
from workbench.store.forget import Plan, Source
from workbench.store.lake import Lake
from workbench.store.landing import land
from workbench.store.tables import DERIVED
from workbench.text.ids import content_hash
from workbench.text.redaction import unredacted


@dataclass
class ForgetResult:
    """What was forgotten, or would be.

    Attributes:
        dry_run: Whether nothing was changed.
        sessions: The sessions, by id; `title`, `agent`, `started_at` and `cwd` where they are known.
        rows: Table name to rows that went.
        files: Archived contents, folders of event logs and reports that went.
        bytes: Their size.
        separated: Paths of sources that tell of other sessions too and stay without the forgotten ones.
        reports: Reports inside the home that told of the sessions and went.
        originals: Files outside of the home that the sessions came from; they are not ours and stay.
        left: Files that a writer at work may need and that were left; forget once more to remove them.
        completed: Sessions among them of an earlier forget that had been interrupted.
    """

    dry_run: bool
    sessions: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    bytes: int = 0
    separated: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    originals: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)


class Separated(NamedTuple):
    """A content without the forgotten sessions; `arrival` is None where nothing is left of it."""

    source: Source
    arrival: Arrival | None


def forget(
    lake: Lake,
    session_ids: Collection[str],
    *,
    dry_run: bool = False,
    recorded_by: str = "user",
    progress: Progress | None = None,
    wait_seconds: float = 600,
) -> ForgetResult:
    """Remove everything of some sessions, for good.

    Args:
        lake: The home's tables.
        session_ids: Whole ids; those of an earlier forget that was interrupted are added.
        dry_run: Only look what there is.
        recorded_by: Who wants it; stands in the tombstones.
        progress: Called with steps done, steps in all, and the name of the one at hand.
        wait_seconds: How long to wait for an import or a backup.

    Raises:
        InseparableError: A source tells of other sessions in a way that cannot be taken apart; nothing was changed.
        BusyError: A session is being written to, or an import does not end; nothing was changed.
        StoreError: The home cannot be read or written to.
    """
    home = lake.home
    with home.copying_lock(wait_seconds=wait_seconds), home.landing_lock(wait_seconds=wait_seconds, is_import=False):
        unfinished = store_forget.read_journal(home)
        about = store_forget.plan(lake, {*session_ids, *unfinished})
        known = known_sources(lake)
        separated = _separate(lake, about, known)
        result = _result(lake, about, separated, dry_run=dry_run, completed=unfinished)
        if dry_run or not about.session_ids:
            return result
        store_forget.check_writers(about)
        store_forget.announce(lake, about.session_ids, recorded_by=recorded_by)
        is_first = bool(separated) and not home.unfinished.exists()
        if is_first:
            home.begin()
        _settle(lake, about, known, separated)
        if is_first:
            home.unfinished.unlink(missing_ok=True)
        erased = _Steps(lake, progress)
        result.left = list(map(str, store_forget.erase(lake, about, step=erased.step)))
        erased.end()
    return result


class _Steps:
    """Counts the steps of an erasure: each table is deleted from, then scrubbed."""

    def __init__(self, lake: Lake, progress: Progress | None) -> None:
        tables = sum(store_forget.bears_sessions(table) for table in lake.tables.values())
        self._total = 2 * tables + 1 + (lake.home.root / store_forget.VECTORS).is_dir()
        self._done = 0
        self._progress = progress

    def step(self, name: str) -> None:
        """Tell of the next one."""
        if self._progress is not None:
            self._progress(self._done, self._total, name)
        self._done += 1

    def end(self) -> None:
        """Tell that all are done."""
        self._done = self._total
        self.step("done")


def _result(
    lake: Lake, about: Plan, separated: Sequence[Separated], *, dry_run: bool, completed: Sequence[str]
) -> ForgetResult:
    columns = ("session_id", "title", "agent", "started_at", "cwd")
    rows = lake.derived_rows("sessions", columns).to_pylist()
    known: dict[str, dict[str, Any]] = {row["session_id"]: row for row in rows}
    empty: dict[str, Any] = dict.fromkeys(columns)
    return ForgetResult(
        dry_run,
        [known.get(session_id, {**empty, "session_id": session_id}) for session_id in about.session_ids],
        about.rows,
        about.files,
        about.size_bytes,
        sorted({each.source.entry.path for each in separated if each.arrival is not None}),
        list(map(str, about.reports)),
        about.originals,
        completed=list(completed),
    )


def _separate(lake: Lake, about: Plan, known: KnownSources) -> list[Separated]:
    """Every shared content without the sessions; nothing is written yet.

    Raises:
        InseparableError: One cannot be taken apart.
    """
    _check_logs(about, known)
    archive = Archive(lake.home.archive)
    found = []
    for source in about.shared:
        manifest = archive.manifest(source.sha256)
        arrival = _left_of(archive.read(source.sha256), source.entry, about.session_ids)
        rules = manifest.redaction if manifest is not None else 0
        found.append(Separated(source, None if arrival is None else Arrival(*arrival[:2], rules, arrival[2])))
    return found


def _check_logs(about: Plan, known: KnownSources) -> None:
    """A log of our own is one session's; one that tells of several was put there by hand."""
    wanted = set(about.session_ids)
    for log in (source for each in about.session_ids for source in known.of_session(each) if source.sha256 is None):
        others = set(log.session_ids) - wanted
        if others:
            raise InseparableError(
                f"the event log {log.path} tells of other sessions too ({', '.join(sorted(others))}): "
                "forget these as well, or none"
            )


def _left_of(data: bytes, entry: SourceEntry, session_ids: Collection[str]) -> tuple[str, bytes, SourceEntry] | None:
    form = formats.FORMATS[entry.format]
    parsed = form.read(data, entry.path)
    left = set(parsed.session_ids).difference(session_ids)
    if not left:
        return None
    if len(left) < len(parsed.session_ids):
        data, parsed = without(data, parsed, form, entry.path, session_ids)
    told = msgspec.structs.replace(
        entry,
        session_id=parsed.session_id or entry.session_id,
        session_ids=sorted(set(entry.session_ids).difference(session_ids)),
    )
    return content_hash(data), data, told


def _settle(lake: Lake, about: Plan, known: KnownSources, separated: Sequence[Separated]) -> None:
    """Put separated contents in the place of the whole ones, and land the other sessions from them."""
    if not separated:
        return
    archive = Archive(lake.home.archive)
    archive.put([each.arrival for each in separated if each.arrival is not None])
    changed = list(_changed(separated, known, about.session_ids))
    for source in changed:
        known.add(source)
    others = sorted({session_id for source in changed for session_id in source.session_ids})
    _land(lake, known, others)
    for each in separated:
        if each.arrival is None or each.arrival.sha256 != each.source.sha256:
            archive.settle(each.source.entry.source_id, (), [each.source.sha256])


def _changed(
    separated: Iterable[Separated], known: KnownSources, session_ids: Collection[str]
) -> Iterable[KnownSource]:
    """The sources that landed with contents that were taken apart, as they are now."""
    replaced: dict[str, dict[str, str | None]] = defaultdict(dict)
    for source, arrival in separated:
        replaced[source.entry.path][source.sha256] = None if arrival is None else arrival.sha256
    for path, hashes in replaced.items():
        source_now = known.at(path)
        if source_now is None or source_now.sha256 is None:
            continue
        every = [hashes.get(sha256, sha256) for sha256 in (source_now.sha256, *source_now.older)]
        left = list(dict.fromkeys(sha256 for sha256 in every if sha256 is not None))
        sessions = tuple(each for each in source_now.session_ids if each not in session_ids)
        if left and sessions:
            yield source_now._replace(sha256=left[0], older=tuple(left[1:]), session_ids=sessions)


def _land(lake: Lake, known: KnownSources, session_ids: Sequence[str]) -> None:
    if not session_ids:
        return
    home = lake.home
    prepared = Preparer(Path(home.archive), home.sessions, known, unredacted, datetime.now(UTC)).again(session_ids)
    for source in prepared.errors:
        raise StoreError(f"{source.path}, of which a session must be made again, cannot be read: {source.reason}")
    tables = {name: rows for name, rows in prepared.tables.items() if name != "blobs"}
    stores = {table.name: lake.stores[table.name] for table in DERIVED}
    land(stores, prepared.keys, lambda _: tables, anew=True)
