"""The archive: each content is what its name says, is known to an entry, and each source that landed has both."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from workbench.errors import NotFoundError, StoreError
from workbench.store.archive import Archive, Arrival, Manifest, SourceEntry
from workbench.store.aside import move_aside
from workbench.store.eventlog_files import LOG_NAME, session_folder
from workbench.store.home import Home
from workbench.store.verify.problem import REBUILD, Problem, below

READERS: Final = 2
"""Contents unpacked and hashed at once; both let go of the interpreter's lock."""

SOURCE_COLUMNS: Final = (
    "source_id",
    "path",
    "format",
    "role",
    "session_id",
    "session_ids",
    "parent_source_id",
    "size_bytes",
    "mtime_ns",
    "inode",
    "imported_at",
    "sha256",
    "older_sha256s",
)
"""Of `sources`: what an entry of the archive says, and which contents there should be."""

REDACTION_UNKNOWN: Final = 0
"""In an entry that was made anew: a rebuild looks for credentials again."""


class Stored(NamedTuple):
    """What the archive has of one hash: length of the content and entry, where they are sound, and what is wrong."""

    size_bytes: int | None
    manifest: Manifest | None
    content_damage: str | None
    entry_damage: str | None


def check_archive(home: Home, rows: Sequence[Mapping[str, Any]] | None, *, is_unfinished: bool) -> Iterator[Problem]:
    """Look through the archive.

    Args:
        home: The home.
        rows: `SOURCE_COLUMNS` of the sources that landed; None where the table cannot be relied upon.
        is_unfinished: Whether an import is at work or was interrupted, so that something may not have landed yet.

    Yields:
        `damaged_content`, `damaged_entry`, `missing_content`, `missing_entry`, `content_without_entry`,
        `source_not_landed` and `missing_source_log`.
    """
    archive = Archive(home.archive)
    landed = _entries_of(rows or ())
    stored = dict(_stored(archive))
    for sha256, known in stored.items():
        yield from _check_content(home, archive, sha256, known, landed.get(sha256, []))
        if rows is not None and known.entry_damage is None:
            yield from _check_entries(home, archive, sha256, known, landed.get(sha256, []))
    for sha256 in sorted(landed.keys() - stored.keys()):
        yield _missing(home, sha256, landed[sha256])
    if rows is not None and not is_unfinished:
        yield from _not_landed(home, stored, {row["source_id"] for row in rows})
        yield from _strays(home, {name: known for name, known in stored.items() if name not in landed})
    yield from (_log_problem(home, row) for row in rows or () if row["sha256"] is None and not _has_log(home, row))


def _entries_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[SourceEntry]]:
    """The entries that there should be, by hash, as the rows of `sources` tell."""
    entries: dict[str, list[SourceEntry]] = defaultdict(list)
    plain = [name for name in SOURCE_COLUMNS if name not in ("sha256", "older_sha256s")]
    for row in (row for row in rows if row["sha256"] is not None):
        for age, sha256 in enumerate((row["sha256"], *(row["older_sha256s"] or ()))):
            entries[sha256].append(SourceEntry(**{name: row[name] for name in plain}, age=age))
    return entries


def _stored(archive: Archive) -> Iterator[tuple[str, Stored]]:
    names = sorted({*archive.names(), *archive.strays()})
    with ThreadPoolExecutor(READERS, thread_name_prefix="verify") as pool:
        yield from zip(names, pool.map(partial(_look, archive), names), strict=True)


def _look(archive: Archive, sha256: str) -> Stored:
    size = manifest = content_damage = entry_damage = None
    try:
        size = len(archive.read(sha256))
    except NotFoundError:
        pass
    except StoreError as error:
        content_damage = str(error)
    try:
        manifest = archive.manifest(sha256)
    except StoreError as error:
        entry_damage = str(error)
    return Stored(size, manifest, content_damage, entry_damage)


def _check_content(
    home: Home, archive: Archive, sha256: str, known: Stored, landed: Sequence[SourceEntry]
) -> Iterator[Problem]:
    content, entry = archive.folder / f"{sha256}.zst", archive.folder / f"{sha256}.json"
    sources = list(known.manifest.sources) if known.manifest else list(landed)
    if known.content_damage is not None:
        remedy = f"workbench verify --repair moves it aside, then {_rehash(sources)}"
        mend = partial(move_aside, home.root, content)
        yield Problem("damaged_content", below(home.root, content), known.content_damage, remedy, mend)
    elif known.size_bytes is None:
        yield _missing(home, sha256, sources)
    is_wrong = known.manifest and known.size_bytes is not None and known.manifest.size_bytes != known.size_bytes
    detail = known.entry_damage or ("its length is not that of the content" if is_wrong else None)
    if detail is None:
        return
    where = below(home.root, entry)
    if sources and known.size_bytes is not None:
        anew = partial(_make_anew, home, archive, sha256, sources)
        yield Problem("damaged_entry", where, detail, "workbench verify --repair writes it anew", anew)
    else:
        aside = partial(move_aside, home.root, entry)
        yield Problem("damaged_entry", where, detail, "workbench verify --repair moves it aside", aside)


def _check_entries(
    home: Home, archive: Archive, sha256: str, known: Stored, landed: Sequence[SourceEntry]
) -> Iterator[Problem]:
    """Sources that landed with this content, and of which no entry says so."""
    told = {entry.source_id for entry in known.manifest.sources} if known.manifest else set()
    lacking = [entry for entry in landed if entry.source_id not in told]
    if not lacking or known.size_bytes is None:
        return
    detail = f"no entry says that this is a content of {lacking[0].path}" + (
        f", nor of {len(lacking) - 1:,} more sources" if len(lacking) > 1 else ""
    )
    mend = partial(_write_entries, archive, sha256, lacking)
    where = below(home.root, archive.folder / f"{sha256}.json")
    yield Problem("missing_entry", where, detail, "workbench verify --repair writes it anew", mend)


def _missing(home: Home, sha256: str, sources: Sequence[SourceEntry]) -> Problem:
    named = f"of {sources[0].path}" if sources else "of no source that is known"
    where = below(home.root, home.archive / f"{sha256}.zst")
    return Problem("missing_content", where, f"the content {named} is not there", _rehash(sources))


def _rehash(sources: Sequence[SourceEntry]) -> str:
    """What brings a content back: its file, where the agent still has it."""
    at_hand = next((entry.path for entry in sources if Path(entry.path).is_file()), None)
    if at_hand is None:
        return "bring the file back from a backup (workbench restore); the rows that came from it are still there"
    return f"workbench ingest --rehash {shlex.quote(at_hand)}"


def _make_anew(home: Home, archive: Archive, sha256: str, entries: Sequence[SourceEntry]) -> None:
    move_aside(home.root, archive.folder / f"{sha256}.json")
    _write_entries(archive, sha256, entries)


def _write_entries(archive: Archive, sha256: str, entries: Sequence[SourceEntry]) -> None:
    content = archive.read(sha256)
    archive.put([Arrival(sha256, content, REDACTION_UNKNOWN, entry) for entry in entries])


def _not_landed(home: Home, stored: Mapping[str, Stored], landed: set[str]) -> Iterator[Problem]:
    for sha256, known in stored.items():
        for entry in known.manifest.sources if known.manifest else ():
            if entry.source_id not in landed:
                where = below(home.root, home.archive / f"{sha256}.json")
                yield Problem("source_not_landed", where, f"{entry.path} is archived and has no row", REBUILD)


def _strays(home: Home, stored: Mapping[str, Stored]) -> Iterator[Problem]:
    for sha256, known in stored.items():
        if known.manifest is None and known.entry_damage is None and known.content_damage is None:
            path = home.archive / f"{sha256}.zst"
            mend = partial(move_aside, home.root, path)
            detail, remedy = "no entry and no row tells what this is", "workbench verify --repair moves it aside"
            yield Problem("content_without_entry", below(home.root, path), detail, remedy, mend)


def _has_log(home: Home, row: Mapping[str, Any]) -> bool:
    """A home that was moved has its logs elsewhere than the rows say, until the next import."""
    return Path(row["path"]).exists() or (session_folder(home.root, row["session_id"]) / LOG_NAME).exists()


def _log_problem(home: Home, row: Mapping[str, Any]) -> Problem:
    where = below(home.root, session_folder(home.root, row["session_id"]) / LOG_NAME)
    detail = f"the log of {row['session_id']} is not there; its rows are, and cannot be made again"
    return Problem("missing_source_log", where, detail, "bring the file back from a backup (workbench restore)")
