"""Sources: one content of one file, read and parsed; and the index of those that landed before."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from workbench.ingest import formats
from workbench.ingest.discover import Found, spelled, told
from workbench.ingest.file_bytes import as_utf8, without_half_word
from workbench.ingest.forgotten import left_of
from workbench.ingest.records import ParsedSource
from workbench.store.archive import Archive, SourceEntry
from workbench.store.tombstones import Tombstones
from workbench.text.ids import content_hash
from workbench.text.redaction import Redactor


class NotASourceError(Exception):
    """A file that is no transcript; the reason is the message. Expected, so no part of the public error tree."""


class Content(NamedTuple):
    """One content of one file.

    Attributes:
        entry: Where it was found and what it is about.
        sha256: Hash of the redacted bytes.
        data: The redacted bytes; empty where it came from the archive.
        parsed: What it says.
        older: Archived contents of the same file that this one does not contain, newest first.
        superseded: Archived contents of the same file that this one contains.
        archived: Whether it is to be archived; a log inside the home is its own archive.
    """

    entry: SourceEntry
    sha256: str
    data: bytes
    parsed: ParsedSource
    older: tuple[str, ...]
    superseded: tuple[str, ...]
    archived: bool

    @property
    def state(self) -> str:
        """Names this content of this file, as part of a landing's key."""
        entry = self.entry
        return (
            f"{entry.source_id}:{self.sha256}:{','.join(self.older)}:{entry.size_bytes}:{entry.mtime_ns}:{entry.inode}"
        )


class KnownSource(NamedTuple):
    """A source as its row in the tables says."""

    source_id: str
    path: str
    format: str
    sha256: str | None
    older: tuple[str, ...]
    session_ids: tuple[str, ...]
    size_bytes: int
    mtime_ns: int
    inode: int


class KnownSources:
    """The sources that landed, by path and by session.

    Args:
        rows: The sources.
    """

    def __init__(self, rows: Iterable[KnownSource] = ()) -> None:
        self._by_path: dict[str, KnownSource] = {}
        self._by_session: defaultdict[str, set[str]] = defaultdict(set)
        for row in rows:
            self.add(row)

    def add(self, source: KnownSource) -> None:
        """Put a source in the place of what was known of its path."""
        before = self._by_path.get(source.path)
        for session_id in before.session_ids if before else ():
            self._by_session[session_id].discard(source.path)
        self._by_path[source.path] = source
        for session_id in source.session_ids:
            self._by_session[session_id].add(source.path)

    def at(self, path: str) -> KnownSource | None:
        """The source that was found at a path."""
        if not self._by_path:
            return None
        return self._by_path.get(spelled(path)) or self._by_path.get(told(path))  # rules are loaded where they must be

    def of_session(self, session_id: str) -> list[KnownSource]:
        """All sources with records of a session, by path."""
        return [self._by_path[path] for path in sorted(self._by_session.get(session_id, ()))]

    def paths_of(self, session_id: str) -> frozenset[str]:
        """Paths of all sources with records of a session."""
        return frozenset(self._by_session.get(session_id, ()))

    def is_unchanged(self, found: Found) -> bool:
        """Whether a file still has the size, time and inode that it had when it landed."""
        known = self.at(found.path)
        return known is not None and (known.size_bytes, known.mtime_ns, known.inode) == found[1:]


def source_id_of(format_name: str, path: str) -> str:
    """The id of a source: a hash of format and path, so that a file keeps its id while it grows."""
    return blake2b(f"{format_name}\n{told(path)}".encode(), digest_size=8).hexdigest()


class SourceReader:
    """Reads files and archived contents.

    Args:
        archive: The archive of the home.
        logs: The folder of the home's own event logs; files there are not archived.
        redactor: The seam through which all bytes go.
        now: When it is; UTC.
        tombstones: Sessions that are left out.

    Attributes:
        forgotten: Those of them that were met.
    """

    def __init__(
        self, archive: Archive, logs: str, redactor: Redactor, now: datetime, tombstones: Tombstones | None = None
    ) -> None:
        self.forgotten: set[str] = set()
        self._tombstones = tombstones or Tombstones()
        self._archive = archive
        self._logs = logs.rstrip(os.sep) + os.sep
        self._redact = redactor
        self._now = now

    def open(self, path: str, known: KnownSource | None) -> Content:
        """Read and parse a file.

        Args:
            path: The file.
            known: What landed from this path before.

        Raises:
            NotASourceError: It is not a transcript of a known format, or no record of it names a session.
            ForgottenError: It tells of forgotten sessions and of no other.
            InseparableError: It tells of forgotten ones in a way that cannot be taken out.
            OSError: It cannot be read.
        """
        with open(path, "rb") as file:
            about = os.fstat(
                file.fileno()
            )  # before the first byte: what is written meanwhile shows as a change next time
            data = b""
            found = None
            for size in formats.HEAD_BYTES:
                data += file.read(size - len(data))
                found = formats.recognise(as_utf8(data), os.path.basename(path))
                if found is not None or len(data) < size:
                    break
            if found is None:
                raise NotASourceError("not a transcript of a known format" if data else "empty file")
            file.seek(0)  # a second look at the head is cheaper than a copy of the whole
            data = file.read()
        size, data = len(data), as_utf8(data)
        data = self._redact(without_half_word(data) if path.endswith(".jsonl") else data)
        parsed = found.read(data, told(path))
        data, parsed = left_of(data, parsed, found, told(path), self._tombstones, self.forgotten)
        if parsed.session_id is None:
            first = next((f"; {issue.detail}" for issue in parsed.issues), "")
            raise NotASourceError(f"no record names a session{first}")
        sha256 = content_hash(data)
        parent = found.parent_path(path, parsed.session_id) if parsed.role == "subagent" else None
        older, superseded = self._compare(known, sha256, data)
        sessions = {*parsed.session_ids, *(known.session_ids if known is not None and older else ())}
        entry = SourceEntry(
            source_id_of(found.NAME, path),
            told(path),
            found.NAME,
            parsed.role,
            parsed.session_id,
            sorted(sessions),
            None if parent is None else source_id_of(found.NAME, parent),
            size,
            about.st_mtime_ns,
            about.st_ino,
            self._now,
        )
        return Content(
            self._first_seen(sha256, entry), sha256, data, parsed, older, superseded, not path.startswith(self._logs)
        )

    def _first_seen(self, sha256: str, entry: SourceEntry) -> SourceEntry:
        """A content that is archived already keeps the time of its first import."""
        manifest = self._archive.manifest(sha256)
        for known in manifest.sources if manifest else ():
            if known.source_id == entry.source_id:
                return entry.aged(0, known.imported_at)
        return entry

    def _compare(self, known: KnownSource | None, sha256: str, data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Archived contents of the same file that the new one lacks something of, and those it begins with."""
        if known is None or known.sha256 is None:
            return (), ()
        before = [old for old in (known.sha256, *known.older) if old != sha256]
        older = tuple(old for old in before if not self._begins_with(data, old))
        return older, tuple(old for old in before if old not in older)

    def _begins_with(self, data: bytes, sha256: str) -> bool:
        manifest = self._archive.manifest(sha256)
        return manifest is None or content_hash(data[: manifest.size_bytes]) == sha256

    def again(self, known: KnownSource) -> Content:
        """The newest content of a source that is not being imported now.

        Raises:
            NotFoundError, StoreError: The archive lacks it or is damaged.
            NotASourceError, OSError: A log inside the home is no longer readable.
        """
        if known.sha256 is None:
            return self.open(known.path, known)
        parsed = self.archived(known.format, known.path, known.sha256)
        manifest = self._archive.manifest(known.sha256)
        entry = next(entry for entry in manifest.sources if entry.source_id == known.source_id) if manifest else None
        if entry is None:
            raise NotASourceError("the archive does not know it any more")
        return Content(entry, known.sha256, b"", parsed, known.older, (), archived=True)

    def archived(self, format_name: str, path: str, sha256: str) -> ParsedSource:
        """Parse an archived content.

        Raises:
            NotFoundError, StoreError: The archive lacks it or is damaged.
        """
        return formats.FORMATS[format_name].read(self._archive.read(sha256), path)


def known_source(content: Content) -> KnownSource:
    """What will be known of a content once it landed."""
    entry = content.entry
    return KnownSource(
        entry.source_id,
        entry.path,
        entry.format,
        content.sha256 if content.archived else None,
        content.older,
        tuple(entry.session_ids),
        entry.size_bytes,
        entry.mtime_ns,
        entry.inode,
    )
