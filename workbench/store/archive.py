"""The archive: every imported source as it was after redaction, so that every derived row can be made again.

`<sha256>.zst` holds a content, named by the hash of what it unpacks to; `<sha256>.json` beside it says which sources
have that content. Agents delete their own files after some weeks; what is here stays until it is forgotten on purpose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import zstandard

from workbench.errors import NotFoundError, StoreError
from workbench.store.aside import move_aside
from workbench.store.files import locked_folder, make_folder, sync_folder, write_atomic
from workbench.text.ids import content_hash

LEVEL: Final = 1
"""150 MB of transcripts: level 1 packs them to 15.7 MB at 455 MB/s, level 3 to 12.9 MB at 323 MB/s (measured)."""


class SourceEntry(msgspec.Struct, frozen=True):
    """One source that has this content.

    Attributes:
        source_id: Hash of format and path.
        path: Where it was found.
        format: Whose format it is in.
        role: `main` or `subagent`.
        session_id: The session it is about.
        session_ids: All sessions its records belong to.
        parent_source_id: For a sub-agent's file: the source of the session that started it.
        size_bytes: Size of the file.
        mtime_ns: Its modification time, nanoseconds since 1970.
        inode: Its inode.
        imported_at: When this content was first archived.
        age: 0 for the newest content of the source, 1 for the one before, and so on.
    """

    source_id: str
    path: str
    format: str
    role: str
    session_id: str
    session_ids: list[str]
    parent_source_id: str | None
    size_bytes: int
    mtime_ns: int
    inode: int
    imported_at: datetime
    age: int = 0

    def aged(self, age: int, imported_at: datetime | None = None) -> SourceEntry:
        """The same source with this content as its `age`-newest one."""
        return msgspec.structs.replace(self, age=age, imported_at=imported_at or self.imported_at)


class Manifest(msgspec.Struct, frozen=True):
    """What stands beside a content: its length, the redaction rules it went through, and its sources."""

    size_bytes: int
    redaction: int
    sources: list[SourceEntry]


class Arrival(NamedTuple):
    """A content that a source has; `redaction` is the version of the rules it went through."""

    sha256: str
    content: bytes
    redaction: int
    entry: SourceEntry


WRITERS: Final = 8
"""Files written and synced at once; more gained nothing on two cores."""

_decode = msgspec.json.Decoder(Manifest).decode


class Writing:
    """Contents on their way into an archive: packed, written and synced side by side, apart from who brings them.

    The disk takes many syncs at once in little more than the time of one, and none of it holds the interpreter's lock.

    Args:
        archive: The archive.
        pool: Who writes.
    """

    def __init__(self, archive: Archive, pool: ThreadPoolExecutor) -> None:
        self._archive = archive
        self._pool = pool
        self._contents: dict[str, Future[None]] = {}
        self._arrivals: defaultdict[str, list[Arrival]] = defaultdict(list)
        self._manifests: list[Future[None]] = []

    def add(self, item: Arrival) -> None:
        """Begin to store a content."""
        if item.sha256 not in self._contents:
            self._contents[item.sha256] = self._pool.submit(self._archive.put_content, item.sha256, item.content)
        self._arrivals[item.sha256].append(item)

    def close(self) -> None:
        """No more will come: begin to say which sources have the contents, of each one when it is there."""
        self._manifests += [self._pool.submit(self._tell, *each) for each in self._arrivals.items()]
        self._arrivals.clear()

    def _tell(self, sha256: str, arrivals: Sequence[Arrival]) -> None:
        self._contents[sha256].result()  # begun before this, so that it never waits for a place in the pool
        self._archive.put_manifest(arrivals)

    def finish(self) -> None:
        """Wait for all of it.

        Raises:
            OSError: Something could not be written.
        """
        self.close()
        for manifest in self._manifests:
            manifest.result()


class Archive:
    """The archive in one folder.

    Args:
        folder: Made at the first write.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, items: Iterable[Arrival]) -> None:
        """Store contents and say which sources have them; all of it is on disk when this returns.

        A content or entry that is there already is not written again.

        Raises:
            StoreError: The folder cannot be written to.
        """
        with self.writing() as writing:
            for item in items:
                writing.add(item)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Store contents while something else is done; all of them are on disk when the context is left.

        Raises:
            StoreError: The folder cannot be written to.
        """
        try:
            make_folder(self.folder, mode=0o700)
        except OSError as error:
            raise self._not_writable(error) from error
        with ThreadPoolExecutor(WRITERS, thread_name_prefix="archive") as pool:
            writing = Writing(self, pool)
            yield writing
            try:
                writing.finish()
                sync_folder(self.folder)
            except OSError as error:
                raise self._not_writable(error) from error

    def _not_writable(self, error: OSError) -> StoreError:
        return StoreError(f"the archive {self.folder} cannot be written to: {error.strerror or error}")

    def put_content(self, sha256: str, content: bytes) -> None:
        """Write a content that is not there yet; its entry in the folder is not synced."""
        path = self._content(sha256)
        if not path.exists():
            packed = zstandard.ZstdCompressor(level=LEVEL, write_content_size=True).compress(content)
            write_atomic(path, packed, sync_entry=False)

    def put_manifest(self, arrivals: Sequence[Arrival]) -> None:
        """Add sources to what is told of a content; the entry in the folder is not synced."""
        first = arrivals[0]
        with locked_folder(self.folder):  # another process may tell of the same content at the same time
            known = self.manifest(first.sha256)
            sources = {source.source_id: source for source in known.sources} if known else {}
            sources |= {arrival.entry.source_id: arrival.entry for arrival in arrivals}
            ordered = [sources[source_id] for source_id in sorted(sources)]
            redaction = max(first.redaction, known.redaction if known else 0)  # the same bytes went through both
            wanted = Manifest(len(first.content), redaction, ordered)
            if wanted != known:
                self._write(first.sha256, wanted, sync_entry=False)

    def read(self, sha256: str) -> bytes:
        """A content, unpacked.

        Raises:
            NotFoundError: It is not there.
            StoreError: It is damaged.
        """
        try:
            content = zstandard.ZstdDecompressor().decompress(self._content(sha256).read_bytes())
        except FileNotFoundError as error:
            raise NotFoundError(
                f"the archive has no content {sha256}; `workbench verify` tells what is missing"
            ) from error
        except (OSError, zstandard.ZstdError) as error:
            raise StoreError(f"{self._content(sha256)} is damaged: {error}") from error
        if content_hash(content) != sha256:
            raise StoreError(f"{self._content(sha256)} is damaged: its content is not what its name says")
        return content

    def manifest(self, sha256: str) -> Manifest | None:
        """What is known of a content, or None where it is not archived.

        Raises:
            StoreError: What stands there is not a manifest.
        """
        try:
            return _decode(self._manifest(sha256).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(f"{self._manifest(sha256)} is damaged: {error}") from error

    def entries(self) -> Iterator[tuple[str, SourceEntry]]:
        """Every source of every content, by hash.

        Yields:
            Hash of the content, and the entry.
        """
        for sha256 in self.names():
            manifest = self.manifest(sha256)
            for entry in manifest.sources if manifest else ():
                yield sha256, entry

    def names(self) -> list[str]:
        """Hashes of all contents of which something is known, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def strays(self) -> list[str]:
        """Hashes of contents of which nothing is known, sorted: an import died, or their entries were lost."""
        return sorted({path.stem for path in self.folder.glob("*.zst")}.difference(self.names()))

    def set_aside(self, sha256: str) -> list[Path]:
        """Move what is damaged of a content or of what is known of it out of the way: an import can write it anew.

        Returns:
            Where it is now; nothing where the files are missing, cannot be read, or are sound.
        """
        damaged = []
        for path, look in ((self._content(sha256), self.read), (self._manifest(sha256), self.manifest)):
            try:
                look(sha256)
            except NotFoundError:
                continue
            except StoreError as error:
                if not isinstance(error.__cause__, OSError):
                    damaged.append(move_aside(self.folder.parent, path))
        return damaged

    def settle(self, source_id: str, older: Sequence[str], superseded: Sequence[str]) -> None:
        """After a source's new content landed: number its older contents, and drop those that the new one contains.

        Args:
            source_id: The source.
            older: Contents to keep, newest first.
            superseded: Contents that are not needed any more for this source.
        """
        if not (older or superseded):
            return
        with locked_folder(self.folder):
            for age, sha256 in enumerate(older, start=1):
                self._update(sha256, source_id, age)
            for sha256 in superseded:
                self._update(sha256, source_id, None)

    def _update(self, sha256: str, source_id: str, age: int | None) -> None:
        known = self.manifest(sha256)
        if known is None:
            return
        mine = (
            [source.aged(age) for source in known.sources if source.source_id == source_id] if age is not None else []
        )
        left = [source for source in known.sources if source.source_id != source_id] + mine
        if left:
            self._write(
                sha256, Manifest(known.size_bytes, known.redaction, sorted(left, key=lambda each: each.source_id))
            )
            return
        self._manifest(sha256).unlink(missing_ok=True)
        self._content(sha256).unlink(missing_ok=True)

    def _write(self, sha256: str, manifest: Manifest, *, sync_entry: bool = True) -> None:
        text = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
        write_atomic(self._manifest(sha256), text, sync_entry=sync_entry)

    def _content(self, sha256: str) -> Path:
        return self.folder / f"{sha256}.zst"

    def _manifest(self, sha256: str) -> Path:
        return self.folder / f"{sha256}.json"
