"""Sources as the archive has them: what a rebuild reads in the place of the files.

What a source is about is told again by its records, so that a reader that learned something applies to old sources
too; where it was found, when, and whose sub-agent's file it is comes from its entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Final, NamedTuple

import msgspec

from workbench.errors import NotFoundError, StoreError
from workbench.ingest import formats
from workbench.ingest.prepare import Preparer
from workbench.ingest.sources import Content, KnownSource, NotASourceError, SourceReader, source_id_of
from workbench.store.archive import Archive, Arrival, Manifest, SourceEntry
from workbench.text.ids import content_hash
from workbench.text.redaction import rules_version

CHECKERS: Final = 4
"""Contents unpacked and hashed at once; both let other threads run."""


class Version(NamedTuple):
    """One archived content of a source.

    Attributes:
        sha256: Its hash.
        entry: What is known of it.
        redaction: The version of the rules it went through.
    """

    sha256: str
    entry: SourceEntry
    redaction: int

    @property
    def rank(self) -> tuple[int, int, float, int]:
        """The newest content of a source has the lowest; an import that died left two of age 0."""
        entry = self.entry
        return (entry.age, -entry.mtime_ns, -entry.imported_at.timestamp(), -self.redaction)


class Inventory(NamedTuple):
    """What an archive holds.

    Attributes:
        versions: The contents of each source, by path, the newest first.
        sizes: Bytes of each content, unpacked.
        unread: Names of contents whose entries cannot be read, and why.
    """

    versions: dict[str, list[Version]]
    sizes: dict[str, int]
    unread: dict[str, str]

    @classmethod
    def of(cls, archive: Archive) -> Inventory:
        """Read all entries; contents are not opened."""
        versions: dict[str, list[Version]] = {}
        sizes: dict[str, int] = {}
        unread: dict[str, str] = {}
        for sha256 in archive.names():
            try:
                manifest = archive.manifest(sha256)
            except StoreError as error:
                unread[sha256] = str(error)
                continue
            if manifest is not None:
                sizes[sha256] = manifest.size_bytes
                for entry in manifest.sources:
                    versions.setdefault(entry.path, []).append(Version(sha256, entry, manifest.redaction))
        return cls({path: sorted(versions[path], key=_rank) for path in sorted(versions)}, sizes, unread)

    def sound(self, damaged: Mapping[str, str]) -> dict[str, list[Version]]:
        """The sources without the contents that cannot be read; those of which nothing is left are not among them."""
        left = {path: [each for each in known if each.sha256 not in damaged] for path, known in self.versions.items()}
        return {path: known for path, known in left.items() if known}


def _rank(version: Version) -> tuple[int, int, float, int]:
    return version.rank


def problems(archive: Archive, sizes: Mapping[str, int], advance: Callable[[int], None]) -> dict[str, str]:
    """Unpack every content and compare it with its name.

    Args:
        archive: The archive.
        sizes: Bytes of each content.
        advance: Told the bytes of each content that was looked at.

    Returns:
        What is wrong, by hash, where something is.
    """

    def look(sha256: str) -> str | None:
        try:
            archive.read(sha256)
        except (NotFoundError, StoreError) as error:
            return str(error)
        return None

    found: dict[str, str] = {}
    with ThreadPoolExecutor(CHECKERS, thread_name_prefix="archive") as pool:
        for sha256, problem in zip(sizes, pool.map(look, sizes), strict=True):
            if problem is not None:
                found[sha256] = problem
            advance(sizes[sha256])
    return found


def as_known(versions: Sequence[Version]) -> KnownSource:
    """The contents of one source, the newest first, as its row in the tables would tell."""
    newest, *older = versions
    entry = newest.entry
    sessions = {session_id for version in versions for session_id in version.entry.session_ids}
    return KnownSource(
        entry.source_id,
        entry.path,
        entry.format,
        newest.sha256,
        tuple(version.sha256 for version in older),
        tuple(sorted(sessions)),
        entry.size_bytes,
        entry.mtime_ns,
        entry.inode,
    )


class ArchivedReader(SourceReader):
    """Reads sources out of the archive, by the path at which they were found; logs inside the home from there.

    A content that went through older redaction rules than there are now goes through the newer ones, and what comes
    out is archived with the entry of the old one; whoever asked removes that once nothing needs it any more.
    """

    def open(self, path: str, known: KnownSource | None) -> Content:
        """The archived contents of a source.

        Args:
            path: Where it was found.
            known: Its contents, see `as_known`; None for a log inside the home.

        Raises:
            NotASourceError: No record names a session.
            NotFoundError, StoreError: The archive lacks a content, or it is damaged.
            OSError: A log cannot be read.
        """
        if known is None or known.sha256 is None:
            return super().open(path, known)
        (sha256, data), *before = [self._redacted(each, known.path) for each in (known.sha256, *known.older)]
        parsed = formats.FORMATS[known.format].read(data, known.path)
        if parsed.session_id is None:
            raise NotASourceError("no record names a session any more")
        older = self._that_tell_more(before, than=(sha256, data))
        told = (self.archived(known.format, known.path, old).session_ids for old in older)
        entry = self._entry(sha256, known)
        if (parsed.role, parsed.session_id) != (entry.role, entry.session_id):
            entry = msgspec.structs.replace(entry, parent_source_id=_parent(known, parsed.role, parsed.session_id))
        entry = msgspec.structs.replace(
            entry,
            role=parsed.role,
            session_id=parsed.session_id,
            session_ids=sorted({*parsed.session_ids, *(session_id for ids in told for session_id in ids)}),
        )
        return Content(entry, sha256, data, parsed, older, (), archived=True)

    def _that_tell_more(self, before: Iterable[tuple[str, bytes]], *, than: tuple[str, bytes]) -> tuple[str, ...]:
        """The older contents, newest first, with which no newer one begins; a dead import left others."""
        newer = dict([than])
        for sha256, data in before:
            if not any(self._begins_with(holder, sha256) for holder in newer.values()):
                newer[sha256] = data
        return tuple(newer)[1:]

    def again(self, known: KnownSource) -> Content:
        """The same as `open`, so that a source tells the same in whichever batch it is read."""
        return self.open(known.path, known)

    def _redacted(self, sha256: str, path: str) -> tuple[str, bytes]:
        """A content as the rules want it, in the archive already."""
        data, manifest = self._archive.read(sha256), self._archive.manifest(sha256)
        rules = rules_version(self._redact)
        if manifest is None or manifest.redaction >= rules:
            return sha256, data
        clean = self._redact(data)
        name = sha256 if clean is data else content_hash(clean)
        self._archive.put([Arrival(name, clean, rules, entry) for entry in _at(manifest, path)])
        return name, clean

    def _entry(self, sha256: str, known: KnownSource) -> SourceEntry:
        manifest = self._archive.manifest(sha256)
        entries = {entry.source_id: entry for entry in _at(manifest, known.path)} if manifest else {}
        if known.source_id not in entries:
            raise NotFoundError(f"the archive does not know {known.path} any more")
        return entries[known.source_id]


def _at(manifest: Manifest, path: str) -> Iterator[SourceEntry]:
    return (entry for entry in manifest.sources if entry.path == path)


def _parent(known: KnownSource, role: str, session_id: str) -> str | None:
    """The source of the session whose sub-agent's file a source is; only paths tell."""
    if role != "subagent":
        return None
    return source_id_of(known.format, formats.FORMATS[known.format].parent_path(known.path, session_id))


class ArchivePreparer(Preparer):
    """Prepares batches of archived sources; the arguments are those of `Preparer`."""

    _reads: ClassVar[type[SourceReader]] = ArchivedReader

    def _keeps(self, content: Content) -> bool:
        """All of them are archived already."""
        del content
        return False
