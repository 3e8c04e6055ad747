"""The home folder: where everything of ours lies, and which version made it (design, section 3)."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.errors import BusyError, NewerHomeError, StoreError

HOME_FORMAT: Final = 1
"""Raised when a home of the new kind cannot be read by older code; migrations start from the number found."""


_ODD_NAME: Final = re.compile(r"[\x00-\x1f\x7f\[\]^|]|%[0-9A-Fa-f]{2}" + (r"|\\" if os.sep == "/" else ""))
"""What deltalake 1.6 cannot have in a path (tried out): it dies of some, and takes `%41` for `A` and `\\` for `/`."""


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


@dataclass(frozen=True)
class Home:
    """Paths in one home.

    Attributes:
        root: The folder itself.
    """

    root: Path

    @property
    def tables(self) -> Path:
        """One Delta table a folder."""
        return self.root / "tables"

    @property
    def archive(self) -> Path:
        """Every imported source."""
        return self.root / "archive"

    @property
    def sessions(self) -> Path:
        """Event logs of sessions run here."""
        return self.root / "sessions"

    @property
    def _marker(self) -> Path:
        return self.root / "home.json"

    @classmethod
    def open(cls, root: Path, *, create: bool = True) -> Home:
        """Open a home, making it when it is not there.

        Args:
            root: The folder.
            create: Whether a missing home may be made; a reader of an absent home sees an empty one.

        Raises:
            NewerHomeError: A newer workbench made it.
            StoreError: It cannot be read or made, or the marker is not ours.
        """
        home = cls(root.expanduser().absolute())
        odd = _ODD_NAME.search(str(home.root))
        if odd is not None:
            raise StoreError(
                f"the home {str(home.root)!r} has {odd.group()!r} in its path, where deltalake cannot keep tables: "
                "use another folder with --home"
            )
        try:
            if home._marker.exists():
                home._check()
            elif create:
                make_folder(home.root, mode=0o700)
                write_atomic(home._marker, json.dumps({"format": HOME_FORMAT}).encode() + b"\n")
        except OSError as error:
            raise StoreError(f"the home {home.root} cannot be opened: {error.strerror or error}") from error
        return home

    def _check(self) -> None:
        try:
            found = json.loads(self._marker.read_bytes())["format"]
        except (ValueError, KeyError, TypeError):
            found = None
        if type(found) is not int:
            raise StoreError(
                f"{self._marker} is not a home marker; if this is a workbench home, "
                f'write {{"format": {HOME_FORMAT}}} into it'
            )
        if found > HOME_FORMAT:
            raise NewerHomeError(
                f"the home {self.root} has format {found}, this workbench knows up to {HOME_FORMAT}: "
                "upgrade workbench, or use another home with --home"
            )

    @contextmanager
    def landing_lock(self, *, wait_seconds: float = 600) -> Iterator[None]:
        """Hold the one lock under which derived tables change; the system frees it when its owner dies.

        Raises:
            BusyError: Another process holds it for longer than `wait_seconds`.
            StoreError: The home cannot be written to.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415  (60 ms that readers do not need)

        lock = FileLock(self.root / "landing.lock")
        try:
            lock.acquire(timeout=wait_seconds, poll_interval=0.02)
        except Timeout as error:
            raise BusyError(
                f"another import has been writing to {self.root} for over {wait_seconds:.0f} s; "
                "wait for it or end it, then run the same command again"
            ) from error
        except OSError as error:
            raise StoreError(f"the home {self.root} cannot be written to: {error.strerror or error}") from error
        try:
            yield
        finally:
            lock.release()
