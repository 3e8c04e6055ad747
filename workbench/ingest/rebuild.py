"""Rebuild: every derived table and `blobs` made again from the archive and our own event logs (design, principle 3).

The files that were imported are not needed and not looked at. The whole archive is read once before anything is
written, so that damage is known first: a session with a damaged or missing source that still has its rows keeps them,
one that has none is made of what is left. All others land anew, as any landing does: readers see a session as it was or
as it will be, and after a kill the same command completes the rest. What newer redaction rules replaced is taken out of
the archive last, when no row refers to it any more.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from workbench.errors import StoreError
from workbench.ingest import discover
from workbench.ingest.archived import ArchivePreparer, Inventory, Version, as_known, problems
from workbench.ingest.importer import Importer
from workbench.ingest.prepare import LeftOut, Prepared, Preparer
from workbench.ingest.rows import only
from workbench.ingest.sources import KnownSource, KnownSources
from workbench.store.landing import landed
from workbench.store.landing_key import HEAD
from workbench.store.schema import LANDING_ID
from workbench.store.tables import DERIVED
from workbench.text.redaction import rules_version

CHECK_WEIGHT: Final = 10
"""Reading a byte of the archive takes a tenth of the time of its way into the tables; the progress bar says so."""

LOGS: Final = "*/events.jsonl"
"""Our own event logs, below the home's folder of sessions."""


@dataclass
class RebuildResult:
    """What a rebuild did; if it was only tried out, what it found.

    Attributes:
        sources: Archived sources and logs that can be read.
        sessions: Sessions that landed anew; all of them count below.
        events: Their rows in `events`.
        turns: Their rows in `turns`.
        tool_calls: Their rows in `tool_calls`.
        issues: Their rows in `import_issues`.
        older_rules: Archived contents that had gone through older redaction rules than there are now.
        redacted: Paths of the sources out of which the newer rules took something.
        kept: Sessions that keep the rows they had, because a source of theirs cannot be read.
        strays: Archived contents of which no entry tells what they are: an import died before it wrote that.
        errors: Sources that cannot be read, with the reason and a remedy.
    """

    sources: int = 0
    sessions: int = 0
    events: int = 0
    turns: int = 0
    tool_calls: int = 0
    issues: int = 0
    older_rules: int = 0
    redacted: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    errors: list[LeftOut] = field(default_factory=list)


class Lost(NamedTuple):
    """A source that cannot be read, why, and the sessions that it tells of."""

    path: str
    reason: str
    session_ids: frozenset[str]


class Rebuilder(Importer):
    """Makes one home's derived tables again; the arguments are those of `Importer`."""

    _preparer: ClassVar[type[Preparer]] = ArchivePreparer
    _lands_anew: ClassVar[bool] = True

    def rebuild(self, *, dry_run: bool = False, wait_seconds: float = 600) -> RebuildResult:
        """Make all derived rows again.

        Args:
            dry_run: Only read the archive through and tell what is in it; nothing is written.
            wait_seconds: How long to wait for an import into the same home.

        Returns:
            Counts of what landed, and everything that could not be made again.

        Raises:
            StoreError: The home cannot be read or written, or an import does not end.
        """
        self._told = RebuildResult()
        self._made: dict[str, KnownSource] = {}
        if dry_run:
            with self._lake.home.landing_lock(wait_seconds=wait_seconds):
                self._survey(dry_run=True)
            return self._told
        found = self.run((), wait_seconds=wait_seconds)
        told = self._told
        told.sessions, told.events, told.turns = found.sessions, found.events, found.turns
        told.tool_calls, told.issues = found.tool_calls, found.issues
        empty = set(self._logs)  # a session that has just begun has no event yet
        told.errors += [*found.errors, *(item for item in found.skipped if item.path not in empty)]
        return told

    # -- what there is -------------------------------------------------------------------------------------------------

    def _known(self) -> KnownSources:
        self._survey(dry_run=False)
        return KnownSources(map(as_known, self._sources.values()))

    def _survey(self, *, dry_run: bool) -> None:
        """Read the archive through: what can be rebuilt, and what is to be told of the rest."""
        told, archive = self._told, self._archive
        self._check_tables()
        rows = self._lake.derived_rows("sources", ("path", "sha256", "older_sha256s", "session_ids")).to_pylist()
        self._logs = _logs(self._lake.home.sessions, [row["path"] for row in rows if row["sha256"] is None])
        self._inventory = inventory = Inventory.of(archive)
        damaged = self._check(inventory.sizes)
        self._sources = inventory.sound(damaged)
        lost = [*_damaged(inventory, damaged), *_missing(rows, inventory, self._logs)]
        touched = sorted({session_id for source in lost for session_id in source.session_ids})
        told.kept = sorted(landed(self._lake.stores[HEAD], touched))
        told.strays = archive.strays()
        told.sources = len(self._sources) + len(self._logs)
        rules = rules_version(self._redactor)
        versions = {each.sha256: each.redaction for known in self._sources.values() for each in known}
        told.older_rules = sum(version < rules for version in versions.values())
        told.errors += [LeftOut(source.path, f"{source.reason}; {_remedy(source.path)}") for source in lost]
        told.errors += [LeftOut(name, f"{reason}; {UNTOLD}") for name, reason in inventory.unread.items()]
        if not dry_run:
            for name in (*damaged, *inventory.unread):
                archive.set_aside(name)

    def _check_tables(self) -> None:
        for name in (*(table.name for table in DERIVED), "blobs"):
            store = self._lake.stores[name]
            try:
                store.read(["sha256" if name == "blobs" else LANDING_ID])
            except StoreError as error:
                raise StoreError(f"{error}; move {store.folder} away, and the same command makes it again") from error

    def _check(self, sizes: Mapping[str, int]) -> dict[str, str]:
        """What is wrong with which content; the progress bar has its first part of the way."""
        report = self._progress
        share = sum(sizes.values()) // CHECK_WEIGHT
        done = 0

        def advance(size: int) -> None:
            nonlocal done
            done += size
            if report is not None:
                report(done // CHECK_WEIGHT, CHECK_WEIGHT * share + share, str(self._archive.folder))

        found = problems(self._archive, sizes, advance)
        if report is not None:
            self._progress = lambda done, total, path: report(done + share, total + share, path)
        return found

    def _changed(self, paths: Iterable[Path], known: KnownSources, *, rehash: bool) -> list[discover.Found]:
        """All sources; none of them is looked for where it was found."""
        del paths, known, rehash
        entries = [versions[0].entry for versions in self._sources.values()]
        found = [discover.Found(entry.path, entry.size_bytes, entry.mtime_ns, entry.inode) for entry in entries]
        logs = (item for item in discover.walk(map(Path, self._logs)) if isinstance(item, discover.Found))
        return sorted([*found, *logs])

    # -- what becomes of it --------------------------------------------------------------------------------------------

    def _land(self, preparer: Preparer, ready: Sequence[Prepared]) -> None:
        forgotten = self._tombstones.among(session_id for prepared in ready for session_id in prepared.used)
        apart = forgotten.union(self._told.kept)  # somebody who forgot a session may have died before the archive did
        super()._land(preparer, [_without(prepared, apart) for prepared in ready])
        self._made |= {source.path: source for prepared in ready for source in prepared.known}

    def _finish(self) -> None:
        """Take contents out of the archive that no row refers to any more, and texts that newer rules changed."""
        kept = frozenset(self._told.kept)
        for path, versions in self._sources.items():
            made = self._made.get(path)
            if made is None or not kept.isdisjoint(made.session_ids):
                continue
            needed = {made.sha256, *made.older}
            if not needed.issubset(version.sha256 for version in versions):
                self._told.redacted.append(path)
            for version in versions:
                if version.sha256 not in needed:
                    self._archive.settle(version.entry.source_id, (), [version.sha256])
        if self._told.redacted:
            self._drop_unused_blobs()

    def _drop_unused_blobs(self) -> None:
        blobs = self._lake.stores["blobs"]
        used = set(self._lake.derived_rows("artifacts", ["artifact_id"])["artifact_id"].to_pylist())
        blobs.delete_where("sha256", sorted(set(blobs.read(["sha256"])[1]["sha256"].to_pylist()) - used))


UNTOLD: Final = "the sources that it told of are not known from here, so import them again: workbench ingest --rehash"


def _remedy(path: str) -> str:
    return (
        "its rows that are there stay. If the file is still where it was: "
        f"workbench ingest --rehash {shlex.quote(path)}; "
        "else put back what is missing from a backup and run workbench ingest --rebuild again"
    )


def _logs(folder: Path, known: Iterable[str]) -> list[str]:
    """Our own event logs that are there: by their names, and those that landed."""
    return sorted({*map(str, folder.glob(LOGS)), *(path for path in known if Path(path).is_file())})


def _damaged(inventory: Inventory, damaged: Mapping[str, str]) -> list[Lost]:
    """Sources that have a damaged or missing content."""
    found = []
    for path, versions in inventory.versions.items():
        bad = [version for version in versions if version.sha256 in damaged]
        if bad:
            found.append(Lost(path, damaged[bad[0].sha256], _sessions(bad)))
    return found


def _sessions(versions: Iterable[Version]) -> frozenset[str]:
    return frozenset(session_id for version in versions for session_id in version.entry.session_ids)


def _missing(rows: Iterable[Mapping[str, object]], inventory: Inventory, logs: Sequence[str]) -> list[Lost]:
    """Sources that the tables know and the archive does not, and logs that are gone."""
    archived = {version.sha256 for versions in inventory.versions.values() for version in versions}
    found = []
    for row in rows:
        path, sha256, older = str(row["path"]), row["sha256"], row["older_sha256s"]
        wanted = () if sha256 is None else (sha256, *(older if isinstance(older, list) else ()))
        lacking = next((name for name in wanted if name not in archived), None)
        sessions = row["session_ids"]
        told = frozenset(sessions if isinstance(sessions, list) else ())
        if lacking is not None:
            found.append(Lost(path, f"the archive has no entry of {lacking}", told))
        elif sha256 is None and path not in logs:
            found.append(Lost(path, "the log is gone", told))
    return found


def _without(prepared: Prepared, apart: set[str]) -> Prepared:
    """A batch without some sessions."""
    if apart.isdisjoint(prepared.used):
        return prepared
    keys = [key for key in prepared.keys if key.session_id not in apart]
    used = {session_id: paths for session_id, paths in prepared.used.items() if session_id not in apart}
    return prepared._replace(keys=keys, used=used, tables=only(prepared.tables, keys))
