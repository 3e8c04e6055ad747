"""Forgetting: what a home holds of some sessions, and its erasure (design 4, "Care").

Rows of every table that names the session, current and past; texts in `blobs` that no other session holds; the
archived sources and their entries; the folder of a session run here; its chunks in the search index; reports inside the
home that tell of it; what imports, repairs, backups and forgets that died have left. All of it is removed for good: see
`scrub` for the tables.

A forget is announced in `forgetting.json` before anything is removed, and that file goes last; so one that was killed
is completed by the next one. A source that tells of other sessions too must be separated first, which needs the
formats: see `ingest.forget`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import BusyError, EventLogError, StoreError
from workbench.store.archive import Archive, SourceEntry
from workbench.store.aside import ASIDE
from workbench.store.delta import NOTHING
from workbench.store.eventlog_files import WriterLock, session_folder
from workbench.store.files import sync_folder, write_atomic
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.landing_key import HEAD
from workbench.store.schema import Table
from workbench.store.scrub import scrub
from workbench.store.tombstones import bury, rows_of
from workbench.store.vectors import VectorDatabase, forget_sessions

JOURNAL: Final = "forgetting.json"
"""In the home while a forget is under way; the only place that names the sessions then."""

STAGING: Final = ".backup-"
"""Beginning of the names of folders in which backups hold on to files; see `backup`."""

VECTORS: Final = "vectors"
"""The folder of LanceDB in a home; derived from the tables."""

_ARCHIVED: Final = re.compile(r"[0-9a-f]{64}\.(zst|json)")

Step = Callable[[str], None]
"""Told what is done next."""


class Source(NamedTuple):
    """A content in the archive, and one source that has it."""

    sha256: str
    entry: SourceEntry


class Plan(NamedTuple):
    """What is to be removed.

    Attributes:
        session_ids: The sessions, sorted.
        rows: Table name to rows of theirs in its newest version, hidden ones included; only tables that have any.
        own: Archived contents that tell of no other session.
        shared: Archived contents that tell of others too; these stay, without the forgotten sessions.
        logs: Folders of sessions run here.
        reports: Reports inside the home, with their manifests, that tell of the sessions.
        size_bytes: Size of all files that go: of contents, logs and reports.
        originals: Files outside of the home that the sessions were imported from and that are still there; they stay.
    """

    session_ids: list[str]
    rows: dict[str, int]
    own: list[Source]
    shared: list[Source]
    logs: list[Path]
    reports: list[Path]
    size_bytes: int
    originals: list[str]

    @property
    def files(self) -> int:
        """How many files and folders go."""
        return len({source.sha256 for source in self.own}) + len(self.logs) + len(self.reports)


def bears_sessions(table: Table) -> bool:
    """Whether rows of a table belong to a session."""
    return "session_id" in table.schema.names


def plan(lake: Lake, session_ids: Iterable[str]) -> Plan:
    """Look what a home holds of some sessions; changes nothing.

    Args:
        lake: The home's tables.
        session_ids: Whole ids.

    Raises:
        StoreError: Tables or archive cannot be read.
    """
    ids = sorted(set(session_ids))
    own, shared = _sources(Archive(lake.home.archive), ids)
    logs = _log_folders(lake, ids)
    reports = list(reports_about(lake.home, partial(_is_about, set(ids))))
    inside = str(lake.home.root) + os.sep
    paths = sorted({source.entry.path for source in (*own, *shared)})
    return Plan(
        ids,
        {name: count for name, count in _rows(lake, ids) if count},
        own,
        shared,
        logs,
        reports,
        sum(map(size_of, [*_contents(lake.home, own), *logs, *reports])),
        [path for path in paths if not path.startswith(inside) and Path(path).is_file()],
    )


def known_ids(lake: Lake) -> set[str]:
    """Every session of which anything is stored, whether it is shown or not.

    Raises:
        StoreError: Tables or archive cannot be read.
    """
    _, rows = lake.stores[HEAD].read(["session_id"])
    archived = (entry.session_ids for _, entry in Archive(lake.home.archive).entries())
    shown = map(str, rows["session_id"].to_pylist())
    return {*shown, *(each for ids in archived for each in ids), *read_journal(lake.home)}


def read_journal(home: Home) -> list[str]:
    """The sessions of a forget that did not come to its end.

    Raises:
        StoreError: The journal is damaged.
    """
    path = home.root / JOURNAL
    try:
        return list(map(str, json.loads(path.read_bytes())["session_ids"]))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is damaged ({error}); remove it and forget the sessions again") from error


def announce(lake: Lake, session_ids: Collection[str], *, recorded_by: str) -> None:
    """Begin: from here on the sessions are left out by imports, and the next forget completes this one.

    Raises:
        StoreError: The home cannot be written to.
    """
    write_atomic(lake.home.root / JOURNAL, json.dumps({"session_ids": sorted(session_ids)}).encode() + b"\n")
    bury(lake, session_ids, recorded_by=recorded_by)


def erase(lake: Lake, about: Plan, *, step: Step = lambda _: None) -> list[Path]:
    """Remove what the plan names and end the forget; the home is locked, and shared sources are separated.

    Args:
        lake: The home's tables.
        about: What is to be removed.
        step: Told the tables and files that come next.

    Returns:
        Data files that may be of a writer at work and were left; see `scrub`.

    Raises:
        BusyError: A session is still being written to.
        StoreError: The home cannot be written to.
    """
    home = lake.home
    left: list[Path] = []
    with ExitStack() as held:
        for folder in about.logs:
            held.callback(_log_lock(folder).release)
        names = [HEAD, *(name for name, table in lake.tables.items() if name != HEAD and bears_sessions(table))]
        for name in names:
            step(name)
            _delete_rows(lake, name, about.session_ids)
        _delete_blobs(lake)
        for folder in about.logs:
            shutil.rmtree(folder)
            sync_folder(folder.parent)
        _forget_sources(home, about.own)
        for path in about.reports:
            path.unlink(missing_ok=True)
        remove_left_overs(home)
    if (home.root / VECTORS).is_dir():
        step(VECTORS)
        forget_sessions(VectorDatabase(home.root / VECTORS), about.session_ids)
    for name in (*names, "blobs"):
        step(name)
        left += scrub(lake.stores[name], is_locked=lake.tables[name].kind == "derived" or name == "blobs")
    (home.root / JOURNAL).unlink(missing_ok=True)
    sync_folder(home.root)
    return left


def check_writers(about: Plan) -> None:
    """Make sure that none of the sessions is being written to.

    Raises:
        BusyError: One is.
    """
    for folder in about.logs:
        _log_lock(folder).release()


def _rows(lake: Lake, ids: Collection[str]) -> Iterator[tuple[str, int]]:
    for name, table in lake.tables.items():
        if bears_sessions(table):
            yield name, rows_of(lake.stores[name].read(["session_id"])[1], ids).num_rows
        elif name == "blobs":
            yield name, len(_free_blobs(lake, ids))


def _free_blobs(lake: Lake, ids: Collection[str]) -> list[str]:
    """Texts that no session but these holds, those of imports that died among them."""
    _, held = lake.stores["artifacts"].read(["session_id", "artifact_id"])
    others = held.filter(pc.invert(pc.is_in(held["session_id"], pa.array(sorted(ids), pa.string()))))
    _, blobs = lake.stores["blobs"].read(["sha256"])
    return sorted({*map(str, blobs["sha256"].to_pylist())} - {*others["artifact_id"].to_pylist()})


def _sources(archive: Archive, ids: Collection[str]) -> tuple[list[Source], list[Source]]:
    own: list[Source] = []
    shared: list[Source] = []
    wanted = set(ids)
    for sha256, entry in archive.entries():
        told = {entry.session_id, *entry.session_ids}
        if told & wanted:
            (own if told <= wanted else shared).append(Source(sha256, entry))
    return own, shared


def _contents(home: Home, sources: Iterable[Source]) -> list[Path]:
    return [home.archive / f"{sha256}.zst" for sha256 in sorted({source.sha256 for source in sources})]


def size_of(path: Path) -> int:
    """Bytes of a file, or of the files right in a folder; 0 where it cannot be looked at."""
    try:
        return sum(each.stat().st_size for each in path.iterdir()) if path.is_dir() else path.stat().st_size
    except OSError:
        return 0


def _log_folders(lake: Lake, ids: Collection[str]) -> list[Path]:
    rows = rows_of(lake.derived_rows("sources", ["session_id", "path", "sha256"]), ids).to_pylist()
    folders = {session_folder(lake.home.root, each) for each in ids}
    folders.update(lake.home.sessions / Path(row["path"]).parent.name for row in rows if row["sha256"] is None)
    aside = list((lake.home.root / ASIDE).glob(f"*/{lake.home.sessions.name}"))
    folders.update(place / folder.name for folder in list(folders) for place in aside)
    return sorted(folder for folder in folders if folder.is_dir())


class _Told(msgspec.Struct):
    """What the manifest beside a report says of its sessions; None means all there were."""

    file: str
    parameters: Mapping[str, Any]


def _is_about(ids: Collection[str], parameters: Mapping[str, Any]) -> bool:
    """Whether a report with these parameters tells of some of the sessions, or of all there were."""
    chosen = parameters.get("session_ids")
    return chosen is None or not set(ids).isdisjoint(chosen)


def reports_about(home: Home, is_about: Callable[[Mapping[str, Any]], bool]) -> Iterator[Path]:
    """Reports under the home's own folder, each page with its manifest.

    Args:
        home: Where they are looked for.
        is_about: Asked with the parameters in a report's manifest.
    """
    ours = {home.tables, home.archive, home.sessions}
    for folder, folders, names in os.walk(home.root):
        folders[:] = [name for name in folders if Path(folder, name) not in ours and not name.startswith(STAGING)]
        for name in sorted(names):
            path = Path(folder, name)
            page = _page_about(path, is_about) if name.endswith(".manifest.json") else None
            if page is not None:
                yield from (each for each in (page, path) if each.exists())


def _page_about(manifest: Path, is_about: Callable[[Mapping[str, Any]], bool]) -> Path | None:
    """The page of a report's manifest, if it is one that is looked for."""
    try:
        told = msgspec.json.decode(manifest.read_bytes(), type=_Told)
    except (OSError, msgspec.DecodeError):
        return None
    return manifest.with_name(Path(told.file).name) if is_about(told.parameters) else None


def _log_lock(folder: Path) -> WriterLock:
    try:
        return WriterLock.acquire(folder, folder.name)
    except EventLogError as error:
        raise BusyError(f"{error} Then run the same command again.") from error


def _delete_rows(lake: Lake, name: str, ids: Collection[str]) -> None:
    store = lake.stores[name]
    if store.version() != NOTHING and rows_of(store.read(["session_id"])[1], ids).num_rows:
        store.delete_where("session_id", list(ids))


def _delete_blobs(lake: Lake) -> None:
    free = _free_blobs(lake, ())
    if free:
        lake.stores["blobs"].delete_where("sha256", free)


def _forget_sources(home: Home, own: Iterable[Source]) -> None:
    archive = Archive(home.archive)
    for source in own:
        archive.settle(source.entry.source_id, (), [source.sha256])


def remove_left_overs(home: Home) -> None:
    """Remove what a dead import, backup or forget left: half-written files, damaged ones, contents without an entry."""
    for path in home.root.glob(f"{STAGING}*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in (home.root / ASIDE).glob("*/*"):
        if path.name in (home.tables.name, home.archive.name):
            shutil.rmtree(path, ignore_errors=True)
    if home.archive.is_dir():
        names = {path.name for path in home.archive.iterdir()}
        for name in names:
            if not _ARCHIVED.fullmatch(name) or (name.endswith(".zst") and f"{name[:-4]}.json" not in names):
                (home.archive / name).unlink(missing_ok=True)
        sync_folder(home.archive)
    for path in home.root.glob(f".{JOURNAL}.*"):
        path.unlink(missing_ok=True)
