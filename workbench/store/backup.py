"""Backup: one file with everything that a home holds, taken at one moment while others go on working.

Under the landing lock every file is held on to by a hard link in a folder of the home, which takes milliseconds; the
copying happens afterwards, from these links. Files of ours are never changed in place, so a link keeps what was there:
data files, log entries and archived contents are written once, manifests are replaced by renaming. Event logs grow at
their end, so their size is noted and what comes later is cut off. Where links are not to be had, files are copied.

Of a table goes the newest version with its whole log; of LanceDB's folder the manifests are held on to before the data
they name, so that every version in the copy is whole. The file is a zip: each entry can be taken out alone by any tool,
and damage to one does not reach the others. `manifest.json` in it lists every file with size, time and SHA-256.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple
from urllib.parse import unquote

import msgspec
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from workbench import __version__
from workbench.errors import BadInputError, StoreError
from workbench.store.delta import told
from workbench.store.files import sync_file, sync_folder
from workbench.store.forget import JOURNAL, STAGING, VECTORS, read_journal
from workbench.store.home import HOME_FORMAT, Home
from workbench.store.vectors import VectorDatabase

BACKUP_FORMAT: Final = 1
"""Raised when an older workbench cannot restore the file."""

MANIFEST_NAME: Final = "manifest.json"
PREFIX: Final = "home/"
"""Under which the files of the home stand in the zip, so that none of them can take the manifest's name."""

CHUNK: Final = 1 << 20

PACKED: Final = frozenset({".parquet", ".zst", ".lance"})
"""Files that are compressed already."""

_NOT_COPIED: Final = re.compile(
    r".*\.lock|.*\.lease(\.lock)?|landing\.unfinished|\..+\.[a-z0-9_]{8}|" + re.escape(JOURNAL)
)
"""Locks and what killed writers left; of one machine and one moment."""

_ENTRY: Final = re.compile(r"(\d{20})\.(json|checkpoint\.(.+\.)?parquet)")
_ZIP_TIME: Final = (1980, 1, 1, 0, 0, 0)
"""Times stand in the manifest, to the nanosecond; so equal homes make equal files."""

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all and the file at hand."""


class BackedUp(msgspec.Struct, frozen=True):
    """One file of the home: path below the home with `/`, size, time of change in ns since 1970, SHA-256."""

    path: str
    size_bytes: int
    mtime_ns: int
    sha256: str


class BackupManifest(msgspec.Struct, frozen=True):
    """What a backup says of itself.

    Attributes:
        format: See `BACKUP_FORMAT`.
        workbench: Version that made it.
        home_format: See `store.home`.
        created_at: UTC.
        tables: Table name to Delta version.
        has_vectors: Whether LanceDB's folder is in, or there was none.
        files: By path.
    """

    format: int
    workbench: str
    home_format: int
    created_at: datetime
    tables: dict[str, int]
    has_vectors: bool
    files: list[BackedUp]


@dataclass
class BackupResult:
    """What a backup holds, or would hold.

    Attributes:
        path: The file.
        dry_run: Whether it was not written.
        tables: Table name to Delta version.
        files: How many files of the home are in it.
        home_bytes: Their size.
        size_bytes: Size of the file; 0 if it was not written.
        left_out: Things in the home that are not in it, with the reason.
    """

    path: str
    dry_run: bool
    tables: dict[str, int] = field(default_factory=dict)
    files: int = 0
    home_bytes: int = 0
    size_bytes: int = 0
    left_out: list[str] = field(default_factory=list)


class Held(NamedTuple):
    """A file that is held on to: its path below the home, where its bytes are, how many count, and its time."""

    name: str
    path: Path
    size_bytes: int
    mtime_ns: int


class Holding(NamedTuple):
    """Everything that goes into a backup, by name; and what does not."""

    files: list[Held]
    tables: dict[str, int]
    left_out: list[str]


def backup(
    home: Home,
    out: Path,
    *,
    vectors: bool = True,
    dry_run: bool = False,
    now: datetime | None = None,
    progress: Progress | None = None,
    wait_seconds: float = 600,
) -> BackupResult:
    """Write everything that a home holds into one file.

    Args:
        home: The home; importers and agents may be at work in it.
        out: The file; or a folder that exists, in which it gets a name with the time.
        vectors: Whether LanceDB's folder goes in; it can be made anew.
        dry_run: Only look what would go in.
        now: UTC; the clock unless given.
        progress: Told how far it is.
        wait_seconds: How long to wait for an import, another backup or a `forget`.

    Raises:
        BadInputError: The file is there already, or would lie in the home.
        BusyError: An import, a backup or a `forget` does not end.
        StoreError: The home cannot be read, or the file not be written.
    """
    moment = now or datetime.now(UTC)
    path = _target(home, out, moment)
    with home.copying_lock(wait_seconds=wait_seconds), _staging(home) as staging:
        with home.landing_lock(wait_seconds=wait_seconds, is_import=False):
            held = hold(home, staging, vectors=vectors)
        total = sum(file.size_bytes for file in held.files)
        result = BackupResult(str(path), dry_run, held.tables, len(held.files), total, left_out=held.left_out)
        if not dry_run:
            has_vectors = vectors or not (home.root / VECTORS).is_dir()
            about = BackupManifest(BACKUP_FORMAT, __version__, HOME_FORMAT, moment, held.tables, has_vectors, [])
            result.size_bytes = _write(path, about, held.files, progress)
    return result


def _target(home: Home, out: Path, moment: datetime) -> Path:
    out = out.expanduser().absolute()
    path = out / f"workbench-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}.zip" if out.is_dir() else out
    if path.exists():
        raise BadInputError(f"{path} is there already; name another file, or remove it first")
    if path.resolve().is_relative_to(home.root.resolve()):
        raise BadInputError(f"{path} lies in the home, and would be lost with it; name a file elsewhere")
    if not path.parent.is_dir():
        raise BadInputError(f"there is no folder {path.parent} for the backup; make it first, or name another one")
    if read_journal(home):
        raise StoreError("a `workbench forget` was interrupted; complete it first: workbench forget")
    return path


@contextmanager
def _staging(home: Home) -> Iterator[Path]:
    """A folder of the home for links, and none of a backup that died; the copying lock is held."""
    for left in home.root.glob(f"{STAGING}*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = home.root / f"{STAGING}{secrets.token_hex(4)}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    except OSError as error:
        raise StoreError(f"the home {home.root} cannot be backed up: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hold(home: Home, staging: Path, *, vectors: bool) -> Holding:
    """Hold on to every file of a home as it is now; the landing lock is held.

    Raises:
        StoreError: A table cannot be read.
        OSError: A file can be neither linked nor copied.
    """
    left_out: list[str] = [] if vectors or not (home.root / VECTORS).is_dir() else [f"{VECTORS}/: left out as asked"]
    tables: dict[str, int] = {}
    names: list[str] = []
    for table in sorted(path for path in home.tables.iterdir() if path.is_dir()) if home.tables.is_dir() else ():
        version, found = _table_files(table)
        if version is not None:
            tables[table.name] = version
            names += [f"{home.tables.name}/{table.name}/{name}" for name in found]
    others = [folder for folder in home.root.iterdir() if folder.is_dir() and not folder.is_symlink()]
    for folder in sorted(others, key=lambda each: each.name):
        if folder.name.startswith(STAGING) or folder == home.tables or (folder.name == VECTORS and not vectors):
            continue
        names += _below(home.root, folder, left_out)
    names += _direct(home.root, left_out)
    with ExitStack() as locks:
        if vectors and (home.root / VECTORS).is_dir():
            locks.enter_context(VectorDatabase(home.root / VECTORS).lock())
        held = [_held(home.root, staging, name, number) for number, name in enumerate(names)]
    lost = [name for name, file in zip(names, held, strict=True) if file is None and name.startswith(home.tables.name)]
    if lost:
        raise StoreError(
            f"{lost[0]} and {len(lost) - 1} more files of tables are missing: `workbench verify` tells more"
        )
    return Holding(sorted((file for file in held if file), key=lambda file: file.name), tables, left_out)


def is_plain_name(name: str) -> bool:
    """Whether a path below the home is one that every system takes for just that: relative, no way up, no drive."""
    parts = PurePosixPath(name).parts
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    is_relative = bool(parts) and name == "/".join(parts) and not {"..", "/"}.intersection(parts)
    return is_relative and not any(sign in name for sign in ("\\", ":", "\0"))


def _table_files(folder: Path) -> tuple[int | None, list[str]]:
    """The newest version of a table, and the files of that version and of its log.

    Without `_last_checkpoint`, which may already name a later one; readers find checkpoints without it.
    """
    log = folder / "_delta_log"
    names = sorted(path.name for path in log.iterdir()) if log.is_dir() else []
    versions = [int(name[:20]) for name in names if re.fullmatch(r"\d{20}\.json", name)]
    if not versions:
        return None, []
    newest = max(versions)
    try:
        table = DeltaTable(folder, version=newest)
    except TableNotFoundError:
        return None, []
    except (DeltaError, OSError) as error:
        raise StoreError(f"the table {folder} cannot be read: {told(error)}; `workbench verify` tells more") from error
    data = sorted(unquote(uri.rsplit("/", 1)[-1]) for uri in table.file_uris())
    kept = [name for name in names if (found := _ENTRY.fullmatch(name)) and int(found[1]) <= newest]
    return newest, [*(f"_delta_log/{name}" for name in kept), *data]


def _below(root: Path, folder: Path, left_out: list[str]) -> Iterator[str]:
    """Files under a folder; of LanceDB the manifests first."""
    found = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(place, name)
            told_as = path.relative_to(root).as_posix()
            if path.is_symlink() or not path.is_file():
                left_out.append(f"{told_as}: no regular file")
            elif not is_plain_name(told_as):
                left_out.append(f"{told_as!r}: a name that not every system can have")
            elif not _NOT_COPIED.fullmatch(name):
                found.append(told_as)
        for name in list(folders):
            if Path(place, name).is_symlink():
                left_out.append(f"{Path(place, name).relative_to(root).as_posix()}: a link")
                folders.remove(name)
    yield from sorted(found, key=lambda name: "/_versions/" not in name)


def _direct(root: Path, left_out: list[str]) -> Iterator[str]:
    for path in sorted(root.iterdir()):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            left_out.append(f"{path.name}: no regular file")
        elif not is_plain_name(path.name):
            left_out.append(f"{path.name!r}: a name that not every system can have")
        elif path.is_file() and not _NOT_COPIED.fullmatch(path.name):
            yield path.name


def _held(root: Path, staging: Path, name: str, number: int) -> Held | None:
    """Hold on to a file; one that went since its folder was read was not needed."""
    source, link = root / name, staging / str(number)
    try:
        os.link(source, link)
    except FileNotFoundError:
        return None
    except OSError:  # a file system without hard links
        try:
            shutil.copy2(source, link)
        except FileNotFoundError:
            return None
    about = link.stat()
    size = _whole_lines(link, about.st_size) if _grows(name) else about.st_size
    return Held(name, link, size, about.st_mtime_ns)


def _grows(name: str) -> bool:
    """Whether a file is appended to in place, as event logs are."""
    return name.startswith("sessions/") and name.endswith(".jsonl")


def _whole_lines(path: Path, size: int) -> int:
    """How many of the first bytes of a log are whole lines."""
    with path.open("rb") as file:
        for start in range((size - 1) // CHUNK * CHUNK, -1, -CHUNK):
            file.seek(start)
            place = file.read(min(CHUNK, size - start)).rfind(b"\n")
            if place >= 0:
                return start + place + 1
    return 0


def _write(path: Path, about: BackupManifest, files: Sequence[Held], progress: Progress | None) -> int:
    """Write the zip beside its place, and put it there when all of it is on disk."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    total, done = sum(file.size_bytes for file in files), 0
    written: list[BackedUp] = []
    try:
        with zipfile.ZipFile(partial, "x", allowZip64=True) as target:
            for file in files:
                written.append(_add(target, file))
                done += file.size_bytes
                if progress is not None:
                    progress(done, total, file.name)
            manifest = msgspec.structs.replace(about, files=written)
            text = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
            target.writestr(_zip_info(MANIFEST_NAME, len(text)), text)
        partial.chmod(0o600)
        sync_file(partial)
        partial.replace(path)
        sync_folder(path.parent)
        return path.stat().st_size
    except OSError as error:
        raise StoreError(f"the backup {path} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def _add(target: zipfile.ZipFile, file: Held) -> BackedUp:
    digest, size = sha256(), 0
    with file.path.open("rb") as source, target.open(_zip_info(PREFIX + file.name, file.size_bytes), "w") as entry:
        for chunk in _chunks(source, file.size_bytes):
            digest.update(chunk)
            size += entry.write(chunk)
    return BackedUp(file.name, size, file.mtime_ns, digest.hexdigest())


def _chunks(source: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left and (chunk := source.read(min(CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _zip_info(name: str, size: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _ZIP_TIME)
    info.compress_type = zipfile.ZIP_STORED if Path(name).suffix in PACKED else zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    info.file_size = size
    return info
