"""Restore: a backup becomes a home again, or nothing does.

The whole file is read and every checksum compared before a byte is written. Files are written into a folder beside the
home's place, read again from there and compared; tables are opened at their versions; and only then the folder takes
the home's name. What an interrupted restore leaves is that folder, without the marker of a home; the next one removes
it.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Final
from urllib.parse import unquote

import msgspec
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from workbench.errors import BadInputError, BusyError, NewerHomeError, NotFoundError, StoreError
from workbench.store.backup import (
    BACKUP_FORMAT,
    CHUNK,
    MANIFEST_NAME,
    PREFIX,
    BackedUp,
    BackupManifest,
    Progress,
    is_plain_name,
)
from workbench.store.delta import told
from workbench.store.files import make_folder, sync_folder
from workbench.store.home import HOME_FORMAT, Home

MARKER: Final = "home.json"
"""Written last: without it a folder is no home."""

UNREADABLE: Final = (zipfile.BadZipFile, EOFError, RuntimeError, zlib.error, struct.error, OverflowError)
"""What a damaged zip file makes the library raise: it takes a changed byte for another version, method or password."""

LARGEST_MANIFEST: Final = 1 << 30
"""A million files take some 200 MB; more is no manifest of ours."""


@dataclass
class RestoreResult:
    """What was restored, or would be.

    Attributes:
        home: The home's folder.
        dry_run: Whether the backup was only read and checked.
        created_at: When the backup was made; UTC.
        workbench: Version that made it.
        tables: Table name to Delta version.
        files: How many files.
        bytes: Their size.
        has_vectors: Whether the vectors are in it; `workbench embed` makes them anew.
    """

    home: str
    dry_run: bool
    created_at: datetime
    workbench: str
    tables: dict[str, int]
    files: int
    bytes: int
    has_vectors: bool


def restore(path: Path, root: Path, *, dry_run: bool = False, progress: Progress | None = None) -> RestoreResult:
    """Make a home out of a backup.

    Args:
        path: The backup.
        root: The home's folder; missing or empty.
        dry_run: Only read the backup and check it.
        progress: Called with bytes done, bytes in all (each file is read twice and written once) and the file at hand.

    Raises:
        NotFoundError: There is no such file.
        BadInputError: It is no backup or damaged, or the folder is not empty.
        NewerHomeError: A newer workbench made it.
        StoreError: The home cannot be written.
    """
    path, root = path.expanduser().absolute(), root.expanduser().absolute()
    if not path.is_file():
        raise NotFoundError(f"there is no backup {path}")
    if not dry_run:
        _check_place(root)
    try:
        with zipfile.ZipFile(path) as source:
            manifest = read_manifest(source, path)
            steps = _Steps(manifest, 1 if dry_run else 3, progress)
            for file in manifest.files:
                with _entry(source, file, path) as entry:
                    _compare(entry, file, path)
                steps.done(file)
            if not dry_run:
                _unpack(source, path, manifest, root, steps)
    except UNREADABLE as error:
        raise BadInputError(f"{path} is no backup of workbench, or damaged: {error}") from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # a damaged directory of the file leads before its beginning
            raise BadInputError(f"{path} is no backup of workbench, or damaged: it leads out of itself") from error
        raise StoreError(f"{path} cannot be restored to {root}: {error.strerror or error}") from error
    return RestoreResult(
        str(root),
        dry_run,
        manifest.created_at,
        manifest.workbench,
        manifest.tables,
        len(manifest.files),
        sum(file.size_bytes for file in manifest.files),
        manifest.has_vectors,
    )


def read_manifest(source: zipfile.ZipFile, path: Path) -> BackupManifest:
    """The manifest of a backup, after a look at every name in it.

    Raises:
        BadInputError: It is no backup, or has files that a home cannot have.
        NewerHomeError: A newer workbench made it.
    """
    entries = source.infolist()
    names = [entry.filename for entry in entries]
    if MANIFEST_NAME not in names:
        raise BadInputError(f"{path} is no backup of workbench: it has no {MANIFEST_NAME}")
    if source.getinfo(MANIFEST_NAME).file_size > LARGEST_MANIFEST:
        raise BadInputError(f"{path} is no backup of workbench: its {MANIFEST_NAME} is too large")
    text = source.read(MANIFEST_NAME)
    _check_versions(text, path)
    try:
        manifest = msgspec.json.decode(text, type=BackupManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path} is no backup of workbench: its {MANIFEST_NAME} is damaged: {error}") from error
    listed = [PREFIX + file.path for file in manifest.files]
    if sorted([*listed, MANIFEST_NAME]) != sorted(names) or len({*names}) != len(names):
        odd = sorted({*names} ^ {*listed, MANIFEST_NAME}) or ["a name that comes twice"]
        raise BadInputError(f"{path} is damaged or was changed: {odd[0]!r} is in the file or its manifest alone")
    for entry in entries:
        _check_kind(entry, path)
    for file in manifest.files:
        _check_name(file.path, path)
    return manifest


class _Versions(msgspec.Struct):
    """What is read of a manifest first; a newer one may have another shape."""

    format: int
    home_format: int
    workbench: str = "a newer version"


def _check_versions(text: bytes, path: Path) -> None:
    try:
        versions = msgspec.json.decode(text, type=_Versions)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path} is no backup of workbench: its {MANIFEST_NAME} is damaged: {error}") from error
    if versions.format > BACKUP_FORMAT or versions.home_format > HOME_FORMAT:
        raise NewerHomeError(
            f"{path} was made by workbench {versions.workbench} (backup format {versions.format}, home format "
            f"{versions.home_format}); this one knows up to {BACKUP_FORMAT} and {HOME_FORMAT}: upgrade workbench"
        )


def _check_kind(entry: zipfile.ZipInfo, path: Path) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.is_dir() or kind not in (0, stat.S_IFREG):
        raise BadInputError(f"{path} was changed: {entry.filename!r} is no regular file in it")


def _check_name(name: str, path: Path) -> None:
    if not is_plain_name(name):
        raise BadInputError(f"{path} was changed: {name!r} is no name of a file in a home")


def _check_place(root: Path) -> None:
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise BadInputError(f"{root} is no folder; name a folder that is empty or not there yet")
    if root.is_dir() and any(root.iterdir()):
        raise BadInputError(f"{root} is not empty; a backup is restored to a folder that is empty or not there yet")


class _Steps:
    """Tells how far it is: each file is checked, written, and checked again."""

    def __init__(self, manifest: BackupManifest, rounds: int, progress: Progress | None) -> None:
        self._total = rounds * sum(file.size_bytes for file in manifest.files)
        self._done = 0
        self._progress = progress

    def done(self, file: BackedUp) -> None:
        """One file is through one of its rounds."""
        self._done += file.size_bytes
        if self._progress is not None:
            self._progress(self._done, self._total, file.path)


@contextmanager
def _entry(source: zipfile.ZipFile, file: BackedUp, path: Path) -> Iterator[IO[bytes]]:
    """An entry of the backup; what zlib finds wrong in it is told as damage."""
    import zlib  # noqa: PLC0415

    try:
        with source.open(PREFIX + file.path) as entry:
            yield entry
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadInputError(f"{path} is damaged: {file.path} cannot be read: {error}") from error


def _compare(entry: IO[bytes], file: BackedUp, path: Path, copy: IO[bytes] | None = None) -> None:
    """Read a file to its end, copying it, and compare it with what the manifest says.

    Raises:
        BadInputError: It is another one.
    """
    digest, size = sha256(), 0
    while size <= file.size_bytes and (chunk := entry.read(CHUNK)):
        digest.update(chunk)
        size += len(chunk)
        if copy is not None:
            copy.write(chunk)
    if (size, digest.hexdigest()) != (file.size_bytes, file.sha256):
        raise BadInputError(f"{path} is damaged: {file.path} is not what the manifest says; nothing was restored")


def _unpack(source: zipfile.ZipFile, path: Path, manifest: BackupManifest, root: Path, steps: _Steps) -> None:
    make_folder(root.parent)
    needed, free = sum(file.size_bytes for file in manifest.files), shutil.disk_usage(root.parent).free
    if needed > free:
        raise StoreError(f"the backup needs {needed:,} bytes, and {root.parent} has {free:,}")
    with _staging(root) as folder:
        files = [file for file in manifest.files if file.path != MARKER]
        for file in files:
            _write(source, path, file, folder)
            steps.done(file)
        for file in files:
            _check_written(file, folder)
            steps.done(file)
        _check_tables(folder, manifest.tables)
        for place, _, _ in os.walk(folder):
            sync_folder(Path(place))
        _finish(source, path, manifest, folder)
        if root.is_dir():
            root.rmdir()
        folder.rename(root)
        sync_folder(root.parent)


@contextmanager
def _staging(root: Path) -> Iterator[Path]:
    """A folder beside the home's place; one at a time, and none of a restore that died.

    The lock is a file beside it and not in it, since the folder itself becomes the home.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415

    folder = root.with_name(f".{root.name}.restoring")
    lock = FileLock(root.with_name(f".{root.name}.restoring.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise BusyError(f"another restore to {root} is at work; wait for it or end it") from error
    try:
        _check_place(root)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()


def _finish(source: zipfile.ZipFile, path: Path, manifest: BackupManifest, folder: Path) -> None:
    """Write the marker, with which the folder becomes a home."""
    for file in manifest.files:
        if file.path == MARKER:
            _write(source, path, file, folder)
            _check_written(file, folder)
            sync_folder(folder)
            Home.open(folder, create=False)
            return
    raise BadInputError(f"{path} has no {MARKER}: it is no backup of a home")


def _check_written(file: BackedUp, folder: Path) -> None:
    with (folder / file.path).open("rb") as written:
        _compare(written, file, folder)


def _write(source: zipfile.ZipFile, path: Path, file: BackedUp, folder: Path) -> None:
    target = folder / file.path
    make_folder(target.parent, mode=0o700)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as copy, _entry(source, file, path) as entry:
        _compare(entry, file, path, copy)
        copy.flush()
        os.fsync(copy.fileno())
    os.utime(target, ns=(file.mtime_ns, file.mtime_ns))


def _check_tables(folder: Path, tables: Mapping[str, int]) -> None:
    """Open every table as it was written, and look whether its files are there.

    Raises:
        BadInputError: One is not at the version that the manifest says, or lacks a file.
    """
    for name, version in tables.items():
        place = folder / "tables" / name
        try:
            table = DeltaTable(place)
        except (DeltaError, TableNotFoundError, OSError) as error:
            raise BadInputError(f"the backup's table {name} cannot be opened: {told(error)}") from error
        missing = [uri for uri in table.file_uris() if not (place / unquote(uri.rsplit("/", 1)[-1])).is_file()]
        if table.version() != version or missing:
            raise BadInputError(
                f"the backup's table {name} is at version {table.version()} with {len(missing)} files missing; "
                f"its manifest says version {version}"
            )
