"""Bringing a vault's rows up to date.

Look at every file; open those that may have changed; take apart those that did; resolve every link anew, since a note
that comes or goes changes what others' links mean; write the rows and show them at once. The vault is only read.
"""

from __future__ import annotations

import posixpath
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from workbench import __version__
from workbench.errors import BadInputError, NotFoundError
from workbench.store.lake import Lake
from workbench.store.schema import LANDING_ID
from workbench.store.tables import vault
from workbench.text.ids import content_hash, new_ulid
from workbench.text.redaction import Redactor, redact
from workbench.vault.changes import KnownNote, KnownVault, renames, tally
from workbench.vault.landing import land, read_known, shown_rows
from workbench.vault.names import NamedFiles
from workbench.vault.note_file import ReadNote, read_note
from workbench.vault.note_text import NoteIssue
from workbench.vault.parser import ParsedNote, parse_note
from workbench.vault.rows import (
    AS_WRITTEN,
    DERIVE_VERSION,
    NOTE_ISSUES,
    OF_NOTES,
    Surroundings,
    carried,
    file_rows,
    issue_rows,
    note_rows,
    to_table,
)
from workbench.vault.walk import FoundFile, Listing, list_files, one_path_each

Progress = Callable[[int, int, str], None]
"""Told how many files are done, how many there are to do, and the one at hand."""

ID_LENGTH: Final = 16
"""Hexadecimal digits of a vault's id: two of a million vaults agree once in 40 million times."""

_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_LANDING_BITS: Final = 62


class VaultRun(NamedTuple):
    """What a run over a vault did.

    Attributes:
        vault_id: The vault.
        root: Its folder.
        run_id: The row in `vault_runs`.
        notes: Notes there are now.
        attachments: Other files.
        links: Links in the notes.
        added: Notes that are new.
        changed: Notes with other content.
        renamed: Notes at another path.
        removed: Notes that are gone.
        opened: Files that were opened.
        unread: Files that could not be read.
        issues: Rows in `note_issues`.
        seconds: How long it took.
    """

    vault_id: str
    root: str
    run_id: str
    notes: int
    attachments: int
    links: int
    added: int
    changed: int
    renamed: int
    removed: int
    opened: int
    unread: int
    issues: int
    seconds: float


def vault_id_of(root: Path) -> str:
    """The id of the vault in a folder whose links are resolved."""
    return content_hash(str(root))[:ID_LENGTH]


def vault_root(path: Path) -> Path:
    """The folder of a vault, links resolved.

    Raises:
        NotFoundError: There is no such folder.
        BadInputError: It is none, or its path is no UTF-8.
    """
    root = path.expanduser().resolve()
    if not root.exists():
        raise NotFoundError(f"there is no folder {path}; name the folder that holds the notes")
    if not root.is_dir():
        raise BadInputError(f"{path} is a file; a vault is the folder that holds the notes")
    try:
        str(root).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInputError(f"the path {str(root)!a} is no UTF-8; rename the folder") from error
    return root


@dataclass
class _Read:
    """What came of the files that were looked at.

    Attributes:
        files: All files that are there.
        fresh: Notes with other content than their path had before, to be taken apart.
        hashes: Note to the hash of its content, of every note that there is.
        other_paths: Another path of a note to its own.
        opened: Files that were opened.
        unread: Files that could not be read.
        issues: Path and issue, of files and of contents.
    """

    files: list[FoundFile]
    other_paths: dict[str, str]
    fresh: dict[str, ReadNote] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    opened: int = 0
    unread: int = 0
    issues: list[tuple[str, NoteIssue]] = field(default_factory=list)


class VaultIndexer:
    """Runs over one vault.

    Args:
        lake: The tables.
        root: The vault's folder, from `vault_root`.
        redactor: The seam of `text.redaction`.
        max_files: No limit unless given.
        max_depth: No limit unless given.
    """

    def __init__(
        self,
        lake: Lake,
        root: Path,
        *,
        redactor: Redactor = redact,
        max_files: int | None = None,
        max_depth: int | None = None,
    ) -> None:
        self._lake, self._root, self._redact = lake, root, redactor
        self._max_files, self._max_depth = max_files, max_depth
        self.vault_id = vault_id_of(root)

    def run(
        self,
        *,
        rehash: bool = False,
        anew: bool = False,
        progress: Progress | None = None,
        wait_seconds: float = 600,
    ) -> VaultRun:
        """Bring the rows up to date.

        Args:
            rehash: Open every file, whatever its size and time say.
            anew: Take every note apart and write all rows, whatever changed.
            progress: Told how far it is.
            wait_seconds: How long to wait for another run over this vault.

        Raises:
            BusyError: Another run over this vault did not end in time.
            StoreError: The folder cannot be read, or the tables cannot be written.
        """
        with self._lake.home.vault_lock(self.vault_id, wait_seconds=wait_seconds):
            began, started_at = time.perf_counter(), datetime.now(UTC)
            known = read_known(self._lake, self.vault_id, with_text=anew)
            is_all = anew or known.derive_version not in (None, DERIVE_VERSION)
            listing = self._listed()
            read = self._read(listing, known, open_all=rehash or is_all, parse_all=is_all, progress=progress)
            if not self._root.is_dir():
                raise NotFoundError(f"the folder {self._root} vanished while it was read; what was known of it stays")
            return self._written(read, known, began, started_at, is_all=is_all)

    def _listed(self) -> Listing:
        try:
            return list_files(self._root, max_files=self._max_files, max_depth=self._max_depth)
        except OSError as error:
            raise NotFoundError(f"the folder {self._root} cannot be read: {error.strerror or error}") from error

    def _read(
        self, listing: Listing, known: KnownVault, *, open_all: bool, parse_all: bool, progress: Progress | None
    ) -> _Read:
        read = _Read(listing.files, one_path_each(listing.files), issues=list(listing.issues))
        wanted = []
        for file in listing.files:
            if file.kind == "note" and file.path not in read.other_paths:
                if open_all or not known.is_unchanged(file):
                    wanted.append(file)
                else:
                    read.hashes[file.path] = known.notes[file.path].content_hash
        vanished = set()
        for done, file in enumerate(wanted):
            if progress is not None:
                progress(done, len(wanted), file.path)
            if not self._read_one(read, file, known.notes.get(file.path), parse_all=parse_all):
                vanished.add(file.path)
        if vanished:
            read.files = [file for file in read.files if read.other_paths.get(file.path, file.path) not in vanished]
            read.other_paths = {path: own for path, own in read.other_paths.items() if own not in vanished}
        return read

    def _read_one(self, read: _Read, file: FoundFile, known: KnownNote | None, *, parse_all: bool) -> bool:
        """Read one note; False where it is not there any more, or was never known and cannot be read."""
        known_hash = known.content_hash if known else None
        try:
            note = read_note(self._root / file.path, self._redact, None if parse_all else known_hash)
        except FileNotFoundError:
            return False
        except OSError as error:
            told = "what was known of it stays" if known_hash else "it is left out"
            read.issues.append((file.path, NoteIssue("unreadable_file", None, f"{error.strerror or error}; {told}")))
            read.unread += 1
            if known_hash is None:
                return False
            read.hashes[file.path] = known_hash
            return True
        read.opened += 1
        read.hashes[file.path] = note.content_hash
        if parse_all or note.content_hash != known_hash:
            read.fresh[file.path] = note
        return True

    def _written(self, read: _Read, known: KnownVault, began: float, started_at: datetime, *, is_all: bool) -> VaultRun:
        landing_id = secrets.randbits(_LANDING_BITS)
        notes = {path: parse_note(note.text, path) for path, note in read.fresh.items()}
        gone = {path: each.content_hash for path, each in known.notes.items() if path not in read.hashes}
        added = {path: note.content_hash for path, note in read.fresh.items() if path not in known.notes}
        renamed = renames(added, gone)
        rows = self._file_rows(read, known, notes, landing_id)
        issues = rows["note_issues"].num_rows
        if not is_all and not read.fresh and not gone and self._is_shown(rows, known):
            rows, links, landing_id = {}, known.links, known.landing_id or 0
        else:
            rows |= self._rows(read, known, notes, landing_id)
            links = rows["note_links"].num_rows
        run = {
            **self._about(read, started_at),
            **tally(_changed(read, known), known.notes, gone, renamed)._asdict(),
            "links": links,
            "issues": issues,
            "duration_seconds": time.perf_counter() - began,
            LANDING_ID: landing_id,
        }
        versions = list(_versions(self.vault_id, read, known, notes, renamed))
        goodbyes = [_goodbye(self.vault_id, path, known.notes[path]) for path in sorted(gone)]
        with self._lake.home.landing_lock(is_import=False) if rows else nullcontext():
            land(self._lake, run, versions, goodbyes, rows, known)
        seconds = round(time.perf_counter() - began, 3)
        return VaultRun(seconds=seconds, **{name: run[name] for name in VaultRun._fields if name != "seconds"})

    def _file_rows(
        self, read: _Read, known: KnownVault, notes: Mapping[str, ParsedNote], landing_id: int
    ) -> dict[str, pa.Table]:
        """The rows that change where no note does: of files and issues."""
        kept = sorted(read.hashes.keys() - notes.keys())
        files = file_rows(read.files, read.other_paths, read.hashes)
        return {
            "vault_files": to_table(vault.VAULT_FILES, files, self.vault_id, landing_id),
            "note_issues": self._issues(read, notes, known, kept, landing_id),
        }

    def _rows(
        self, read: _Read, known: KnownVault, notes: Mapping[str, ParsedNote], landing_id: int
    ) -> dict[str, pa.Table]:
        """The rows of the other derived tables."""
        kept = sorted(read.hashes.keys() - notes.keys())
        written = note_rows(notes)
        written["note_aliases"] += [(own, path, "path") for path, own in sorted(read.other_paths.items())]
        rows = {
            table.name: self._joined(table.name, written[table.name], known, kept, landing_id) for table in OF_NOTES
        }
        rows["note_links"] = self._links(read, notes, known, rows, written["note_links"], landing_id)
        return rows

    def _joined(
        self, name: str, new: Sequence[tuple[Any, ...]], known: KnownVault, kept: Sequence[str], landing_id: int
    ) -> pa.Table:
        table = self._lake.tables[name]
        old = shown_rows(self._lake, name, known.landing_id)
        if name == "note_aliases":
            old = old.filter(pc.is_in(old["kind"], pa.array(["front_matter"])))
        parts = [carried(old, "path", kept, landing_id), to_table(table, new, self.vault_id, landing_id)]
        return pa.concat_tables(parts)

    def _issues(
        self,
        read: _Read,
        notes: Mapping[str, ParsedNote],
        known: KnownVault,
        kept: Sequence[str],
        landing_id: int,
    ) -> pa.Table:
        old = shown_rows(self._lake, "note_issues", known.landing_id)
        old = carried(old.filter(pc.is_in(old["kind"], pa.array(sorted(NOTE_ISSUES)))), "path", kept, landing_id)
        first: dict[str, int] = {}
        for row in old.select(["path", "place"]).to_pylist():
            first[row["path"]] = max(row["place"] + 1, first.get(row["path"], 0))
        of_notes = [(path, each) for path, note in notes.items() for each in (*read.fresh[path].issues, *note.issues)]
        new = issue_rows([*of_notes, *read.issues], first)
        return pa.concat_tables([old, to_table(vault.NOTE_ISSUES, new, self.vault_id, landing_id)])

    def _links(
        self,
        read: _Read,
        notes: Mapping[str, ParsedNote],
        known: KnownVault,
        rows: Mapping[str, pa.Table],
        new: Sequence[tuple[Any, ...]],
        landing_id: int,
    ) -> pa.Table:
        old = shown_rows(self._lake, "note_links", known.landing_id).select(list(AS_WRITTEN))
        old = old.filter(pc.is_in(old["source_path"], pa.array(sorted(read.hashes.keys() - notes.keys()), pa.string())))
        written = {
            name: [*old[name].to_pylist(), *(row[place] for row in new)] for place, name in enumerate(AS_WRITTEN)
        }
        around = Surroundings(
            _names(read, known, notes, rows["note_aliases"]),
            rows["note_tags"],
            rows["note_headings"],
            rows["note_blocks"],
        )
        columns = {**written, **around.resolved(written)}
        count = len(columns["source_path"])
        columns |= {"vault_id": [self.vault_id] * count, LANDING_ID: [landing_id] * count}
        return vault.NOTE_LINKS.from_columns([columns[column.name] for column in vault.NOTE_LINKS.columns])

    def _is_shown(self, rows: Mapping[str, pa.Table], known: KnownVault) -> bool:
        """Whether these rows are those that are shown."""
        if known.landing_id is None:
            return False
        for name, new in rows.items():
            old = shown_rows(self._lake, name, known.landing_id)
            keys: Any = [(key, "ascending") for key in self._lake.tables[name].key]
            if old.num_rows != new.num_rows:
                return False
            if not old.drop_columns([LANDING_ID]).sort_by(keys).equals(new.drop_columns([LANDING_ID]).sort_by(keys)):
                return False
        return True

    def _about(self, read: _Read, started_at: datetime) -> dict[str, Any]:
        """What the row of a run says of the vault and its files."""
        return {
            "run_id": new_ulid(),
            "vault_id": self.vault_id,
            "root": str(self._root),
            "name": self._root.name,
            "started_at": started_at,
            "notes": len(read.hashes),
            "attachments": sum(file.kind not in ("note", "folder") for file in read.files),
            "opened": read.opened,
            "unread": read.unread,
            "derive_version": DERIVE_VERSION,
            "code_version": __version__,
        }


def _changed(read: _Read, known: KnownVault) -> list[str]:
    """Notes whose content is not what their path had before."""
    before = known.notes
    return [
        path
        for path, note in read.fresh.items()
        if path not in before or before[path].content_hash != note.content_hash
    ]


def _names(read: _Read, known: KnownVault, notes: Mapping[str, ParsedNote], aliases: pa.Table) -> NamedFiles:
    titles = {path: notes[path].title if path in notes else known.notes[path].title for path in read.hashes}
    of_notes: dict[str, list[str]] = {}
    for path, alias, kind in zip(*(aliases[name].to_pylist() for name in ("path", "alias", "kind")), strict=True):
        if kind == "front_matter":
            of_notes.setdefault(path, []).append(alias)
    return NamedFiles(
        notes=sorted(read.hashes),
        attachments=[file.path for file in read.files if file.kind not in ("note", "folder")],
        folders=[file.path for file in read.files if file.kind == "folder"],
        titles=titles,
        aliases=of_notes,
        other_paths=read.other_paths,
    )


def _versions(
    vault_id: str,
    read: _Read,
    known: KnownVault,
    notes: Mapping[str, ParsedNote],
    renamed: Mapping[str, str],
) -> Iterable[dict[str, Any]]:
    """New versions of the notes whose content, or what is made of it, is another than before."""
    times = {file.path: file.mtime_ns for file in read.files if file.kind == "note"}
    for path, note in notes.items():
        source, before, old = read.fresh[path], known.notes.get(path), renamed.get(path)
        about = (note.title, source.content_hash, note.words, note.created_at, source.text)
        if before and about == (before.title, before.content_hash, before.words, before.created_at, before.text):
            continue
        yield {
            "vault_id": vault_id,
            "path": path,
            "note_id": before.note_id if before else known.notes[old].note_id if old else new_ulid(),
            "renamed_from": old,
            "title": note.title,
            "text": source.text,
            "content_hash": source.content_hash,
            "size_bytes": source.size_bytes,
            "words": note.words,
            "modified_at": _moment(times.get(path, source.mtime_ns)),
            "created_at": note.created_at,
            "folder": _folder(path),
        }


def _goodbye(vault_id: str, path: str, note: KnownNote) -> dict[str, Any]:
    kept = {name: value for name, value in note._asdict().items() if name != "text"}
    return {"vault_id": vault_id, "path": path, "text": "", "folder": _folder(path), **kept}


def _folder(path: str) -> str | None:
    return path.split("/", 1)[0] if posixpath.dirname(path) else None


def _moment(mtime_ns: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=mtime_ns // 1000)
    except OverflowError:  # a file system says the year 30000
        return _EPOCH
