"""Files and folders that are on disk when a call returns, wholly or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder durable: a new file is only there after a crash when its folder was synced too."""
    if sys.platform != "win32":  # which has no such call and needs none
        _sync(folder, os.O_RDONLY)


def sync_file(path: Path) -> None:
    """Make a file's bytes durable."""
    _sync(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep out other threads and processes that lock the same folder; no file is made for it."""
    if sys.platform == "win32":  # which cannot lock a folder
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Make a folder and those above it that are missing, each durable."""
    if folder.is_dir():
        return
    make_folder(folder.parent, mode=mode)
    folder.mkdir(exist_ok=True, mode=mode)
    sync_folder(folder.parent)


def write_atomic(path: Path, data: bytes, *, sync_entry: bool = True) -> None:
    """Write a file so that after a crash it is there wholly or not at all.

    Args:
        path: The file.
        data: Its bytes.
        sync_entry: Whether to make the name durable too; a caller that writes many files syncs their folder once.

    Raises:
        OSError: Disk full, no permission; the old content is then still there.
    """
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if sync_entry:
        sync_folder(path.parent)
