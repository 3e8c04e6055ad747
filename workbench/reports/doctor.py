"""What a person should know about a machine and a home: one small function a check, each gives findings.

Where `verify` asks whether a home is sound, this asks whether it will stay so: files that an agent is about to delete,
a full disk, a clock that is off. Nothing is changed.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from workbench import __version__
from workbench.config import Config
from workbench.errors import StoreError
from workbench.ingest.outstanding import Outstanding, look
from workbench.ingest.retention import Retention, retention_of
from workbench.reports.schedule import schedules
from workbench.store.eventlog_files import LOCK_NAME, writer_of
from workbench.store.home import HOME_FORMAT
from workbench.store.lake import Lake
from workbench.store.lease import read_lease
from workbench.store.maintenance import LEASE_NAME

Level = Literal["ok", "note", "warning", "error"]

SOON: Final = timedelta(days=7)
"""An agent's file that goes within this time is warned of: a week holds a weekend and a holiday."""

STALE_IMPORT: Final = timedelta(days=7)
"""Without an import for so long, and with files waiting, it is probably not scheduled."""

CLOCK_TOLERANCE: Final = timedelta(minutes=5)
"""Clocks of machines that ask a time server differ by less than a second."""

LEAST_FREE_BYTES: Final = 200_000_000
"""Below, an import of a day's work may fail; a compaction writes the largest table a second time besides."""

LIBRARIES: Final = ("deltalake", "duckdb", "polars", "pyarrow", "lancedb", "numpy", "onnxruntime")


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        level: `ok`, `note` (good to know), `warning` (something may be lost) or `error` (something does not work).
        check: What was looked at; one of a fixed set.
        found: In words.
        remedy: What to do; empty where nothing is to be done.
    """

    level: Level
    check: str
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class Patient:
    """What is looked at.

    Attributes:
        lake: The home's tables.
        config: The configuration.
        folders: Where agents keep their sessions here.
        now: When it is; UTC.
    """

    lake: Lake
    config: Config
    folders: Sequence[Path]
    now: datetime

    @property
    def root(self) -> Path:
        """The home's folder."""
        return self.lake.home.root

    @property
    def schedule(self) -> str:
        """The line to paste for an import every hour."""
        program = Path(sys.executable).with_name("workbench")
        found = program if program.exists() else Path(shutil.which("workbench") or "workbench")
        has_systemd = Path("/run/systemd/system").is_dir()
        ways = schedules(found, self.root, sys.platform, has_systemd=has_systemd)
        return "\nor: ".join(way.paste for way in ways)


def doctor(patient: Patient) -> list[Finding]:
    """Look at everything.

    Args:
        patient: What is looked at.

    Returns:
        Findings, in the order of the checks.
    """
    return [finding for check in CHECKS for finding in _guarded(check, patient)]


def _guarded(check: Callable[[Patient], Iterator[Finding]], patient: Patient) -> list[Finding]:
    """What a check finds; a home that cannot be read hides no other check."""
    name = check.__name__.removeprefix("_check_")
    findings: list[Finding] = []
    try:
        findings.extend(check(patient))
    except StoreError as error:
        findings.append(Finding("error", name, str(error), "workbench verify"))
    except OSError as error:
        findings.append(Finding("error", name, f"cannot be looked at: {error.strerror or error}"))
    return findings


# -- the agents' files -------------------------------------------------------------------------------------------------


def _check_sources(patient: Patient) -> Iterator[Finding]:
    """Agents' files that are not in the tables, those first that the agent will delete soon."""
    if not patient.folders:
        yield Finding("note", "sources", "no agent's sessions were found on this machine", "workbench ingest PATH")
    for folder in patient.folders:
        retention, inside = retention_of(folder), look(patient.lake, folder)
        about = f"{retention.agent}, {folder}"
        if inside.unreadable:
            yield Finding("warning", "sources", f"{about}: {inside.unreadable[0]} cannot be read", "make it readable")
        if inside.outstanding:
            yield _outstanding(patient, about, retention, inside.outstanding)
        else:
            kept = _keeps(retention)
            yield Finding("ok", "sources", f"{about}: all {inside.transcripts:,} files are in the tables; {kept}")


def _keeps(retention: Retention) -> str:
    if retention.days is None:
        return "the agent is not known to delete them"
    return f"the agent deletes them {retention.days:g} days after their last change ({retention.told_by})"


def _outstanding(patient: Patient, about: str, retention: Retention, files: Sequence[Outstanding]) -> Finding:
    new = sum(file.is_new for file in files)
    found = f"{about}: {new:,} files not imported, {len(files) - new:,} changed since; {_keeps(retention)}"
    remedy = f"workbench ingest; to have it done every hour: {patient.schedule}"
    ages = [patient.now - datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) for file in files]
    if retention.days is None:
        return Finding("note", "sources", found, remedy)
    left = timedelta(days=retention.days) - max(ages)
    if left > SOON:
        return Finding("note", "sources", f"{found}; the first one in {left.days} days", remedy)
    soon = sum(timedelta(days=retention.days) - age <= SOON for age in ages)
    oldest = files[ages.index(max(ages))].path
    return Finding("warning", "sources", f"{found}; {soon:,} within {SOON.days} days, first {oldest}", remedy)


def _check_imports(patient: Patient) -> Iterator[Finding]:
    """When the newest import was, and whether one was interrupted."""
    times = patient.lake.derived_rows("sources", ["imported_at"])["imported_at"].to_pylist()
    newest = max((time for time in times if time is not None), default=None)
    if newest is None:
        yield Finding("note", "imports", "nothing was imported yet", "workbench ingest")
    else:
        ago, found = patient.now - newest, f"the newest import of something new was {_ago(patient.now - newest)}"
        is_stale = ago > STALE_IMPORT
        yield Finding("note" if is_stale else "ok", "imports", found, patient.schedule if is_stale else "")
    unfinished = patient.lake.home.unfinished
    if unfinished.exists() and not patient.lake.home.is_landing():
        began = datetime.fromtimestamp(unfinished.stat().st_mtime, UTC)
        found = f"an import that began {_ago(patient.now - began)} did not end; what had landed is there and whole"
        yield Finding("note", "imports", found, "run the same import again, then workbench maintain")


def _ago(span: timedelta) -> str:
    days, hours, minutes = span.days, span.seconds // 3600, span.seconds // 60
    if days > 0:
        return f"{days} days ago"
    return f"{hours} hours ago" if hours else f"{max(minutes, 0)} minutes ago"


# -- the home ----------------------------------------------------------------------------------------------------------


def _check_locks(patient: Patient) -> Iterator[Finding]:
    """Leases whose owner is gone, and lock files that name one that is."""
    lease = read_lease(patient.root / LEASE_NAME)
    if lease is not None:
        is_over = lease.is_over(patient.now)
        found = f"{'a maintenance that died had' if is_over else 'maintenance is being done:'} the lease of {lease}"
        remedy = "workbench maintain takes it over" if is_over else ""
        yield Finding("note" if is_over else "ok", "locks", found, remedy)
    stale = list(_stale_locks(patient.lake.home.sessions))
    if stale:
        found = f"{len(stale):,} event logs name a writer that is gone, such as {stale[0]}; that keeps nobody out"
        yield Finding("note", "locks", found, "none needed: the next writer of each takes the lock")
    if lease is None and not stale:
        yield Finding("ok", "locks", "no lease or lock is left over")


def _stale_locks(sessions: Path) -> Iterator[str]:
    for lock in sorted(sessions.glob(f"*/{LOCK_NAME}")):
        with suppress(OSError):
            if lock.stat().st_size and writer_of(lock.parent) is None:
                yield lock.parent.name


def _check_clock(patient: Patient) -> Iterator[Finding]:
    """A clock that is behind what was recorded under it, or behind the times of files."""
    remedy = "set the clock of this machine, or of the one that recorded this: date -u; timedatectl set-ntp true"
    ends = patient.lake.derived_rows("sessions", ["ended_at"])["ended_at"].to_pylist()
    newest = max((time for time in ends if time is not None), default=None)
    written = datetime.fromtimestamp(_newest_file(patient.root), UTC)
    is_fine = True
    for what, time in (("the newest event", newest), ("the newest file of the home", written)):
        if time is not None and time - patient.now > CLOCK_TOLERANCE:
            is_fine = False
            found = f"{what} is of {time:%Y-%m-%d %H:%M} UTC, the clock says {patient.now:%Y-%m-%d %H:%M} UTC"
            yield Finding("warning", "clock", found, remedy)
    if is_fine:
        yield Finding("ok", "clock", f"{patient.now:%Y-%m-%d %H:%M} UTC, not before anything that was recorded")


def _newest_file(root: Path) -> float:
    places = [root, root / "archive", *(root / "tables").glob("*/_delta_log")]
    return max(entry.stat().st_mtime for place in places if place.is_dir() for entry in os.scandir(place))


def _check_permissions(patient: Patient) -> Iterator[Finding]:
    """Whether others can look into the home, and whether its owner can write to all of it."""
    root, is_fine = patient.root, True
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & 0o077 and os.name == "posix":
        is_fine = False
        remedy = f"chmod 700 {root}"
        yield Finding("warning", "permissions", f"{root} has mode {mode:04o}: others can look into it", remedy)
    locked = next(_not_writable(root), None)
    if locked is not None:
        is_fine = False
        remedy = f"chown -R $(id -un) {root}; chmod -R u+rwX {root}"
        yield Finding("error", "permissions", f"{locked} cannot be written to", remedy)
    if is_fine:
        yield Finding("ok", "permissions", f"{root} is its owner's alone (mode {mode:04o}), and can be written to")


def _not_writable(root: Path) -> Iterator[Path]:
    for folder, _, files in os.walk(root):
        paths = [Path(folder), *(Path(folder) / name for name in files)]
        yield from (path for path in paths if not path.is_symlink() and not os.access(path, os.W_OK))


def _check_disk(patient: Patient) -> Iterator[Finding]:
    """Size of the home by part, and whether there is room to grow."""
    sizes = {part: _bytes_of(patient.root / part) for part in ("tables", "vectors", "archive", "sessions", ".aside")}
    free = shutil.disk_usage(patient.root).free
    parts = ", ".join(f"{part} {size / 1e6:,.1f} MB" for part, size in sizes.items() if size)
    found = f"home {sum(sizes.values()) / 1e6:,.1f} MB ({parts or 'empty'}); {free / 1e6:,.0f} MB free on its disk"
    if free < LEAST_FREE_BYTES:
        yield Finding("error", "disk", found, "make room: workbench maintain, or move the home to a larger disk")
    elif free < sizes["tables"] + LEAST_FREE_BYTES:
        yield Finding("warning", "disk", f"{found}: a compaction may not find room", "workbench maintain; make room")
    else:
        yield Finding("ok", "disk", found)


def _bytes_of(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(FileNotFoundError):
                total += (Path(place) / name).lstat().st_size
    return total


# -- the program -------------------------------------------------------------------------------------------------------


def _check_embedder(patient: Patient) -> Iterator[Finding]:
    """Which model makes vectors; without one, search is by words alone."""
    from workbench.providers.embedding import describe  # noqa: PLC0415

    told = describe(patient.config.embedding, patient.root / "vectors")
    if not told.available:
        yield Finding("warning", "embedder", f"{told.model} is not available: search is by words alone", told.problem)
        return
    place = "on this machine" if told.offline else "texts leave this machine"
    yield Finding("ok" if told.offline else "note", "embedder", f"{told.model}, {place}")


def _check_config(patient: Patient) -> Iterator[Finding]:
    """Settings that were not taken as written."""
    warnings = patient.config.warnings
    if warnings:
        found = f"{len(warnings):,} settings are not taken as written: {warnings[0]}"
        yield Finding("note", "config", found, "workbench config")
    else:
        yield Finding("ok", "config", "all settings are taken as written")


def _check_versions(patient: Patient) -> Iterator[Finding]:
    """Which versions are at work."""
    python = ".".join(map(str, sys.version_info[:3]))
    libraries = ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)
    found = f"workbench {__version__}, home format {HOME_FORMAT}, Python {python} on {sys.platform}; {libraries}"
    missing = [name for name in LIBRARIES if _version(name) == "missing"]
    remedy = f"install the package again: it lacks {', '.join(missing)}" if missing else ""
    yield Finding("warning" if missing else "ok", "versions", found, remedy)
    del patient


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


CHECKS: Final[tuple[Any, ...]] = (
    _check_sources,
    _check_imports,
    _check_embedder,
    _check_locks,
    _check_clock,
    _check_permissions,
    _check_disk,
    _check_config,
    _check_versions,
)
"""In the order in which they are told; the names that findings carry are those of the functions."""
