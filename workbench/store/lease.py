"""Leases: one owner at a time of work that may take long, and everybody can read who it is.

A lock of the system says only that somebody has it. A lease is a small file that names its owner and when it ends; the
owner extends it while it works. One whose process is gone, or whose time is over, is taken over.
"""

from __future__ import annotations

import getpass
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from workbench.errors import BusyError, StoreError
from workbench.store.files import write_atomic

LASTS: Final = timedelta(minutes=5)
"""Time for which a lease is taken and extended; an owner on another host that died is waited for so long."""

GUARD_SECONDS: Final = 10
"""A lease file is looked at and written under a lock that nobody holds for longer than some milliseconds."""


class Lease(msgspec.Struct, frozen=True):
    """Who has a lease.

    Attributes:
        holder: The user.
        host: Name of the machine.
        pid: The process.
        taken_at: UTC.
        expires_at: UTC; extended while the owner works.
    """

    holder: str
    host: str
    pid: int
    taken_at: datetime
    expires_at: datetime

    def is_over(self, now: datetime) -> bool:
        """Whether its time is over, or its process gone, which is known on its own host only."""
        return self.expires_at <= now or (self.host == platform.node() and not is_running(self.pid))

    def __str__(self) -> str:
        """For a message."""
        return f"{self.holder}, process {self.pid} on {self.host}, since {self.taken_at:%Y-%m-%d %H:%M:%S} UTC"


def is_running(pid: int) -> bool:
    """Whether there is a process with this id on this machine; of another user's it can be seen too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def read_lease(path: Path) -> Lease | None:
    """The lease in a file; None where there is none, or what stands there is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Lease)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


@contextmanager
def held(path: Path, what: str) -> Iterator[Lease]:
    """Have a lease while the block runs; it is extended in the background and given back at the end.

    Args:
        path: Its file.
        what: What it is for, as told to the one who has to wait: "maintenance of /some/home".

    Raises:
        BusyError: Another process has it; the message says who.
        StoreError: The file cannot be written.
    """
    lease = _take(path, what)
    done = threading.Event()
    keeper = threading.Thread(target=_extend, args=(path, lease, done), daemon=True, name="lease")
    keeper.start()
    try:
        yield lease
    finally:
        done.set()
        keeper.join()
        _give_back(path, lease)


def _take(path: Path, what: str) -> Lease:
    from filelock import FileLock, Timeout  # noqa: PLC0415  (60 ms)

    try:
        with FileLock(path.with_name(path.name + ".lock"), timeout=GUARD_SECONDS):
            now = datetime.now(UTC)
            known = read_lease(path)
            if known is not None and not known.is_over(now):
                raise BusyError(f"{what} is being done by {known}; wait for it, then run the same command again")
            lease = Lease(_user(), platform.node(), os.getpid(), now, now + LASTS)
            write_atomic(path, msgspec.json.encode(lease) + b"\n")
            return lease
    except Timeout as error:
        raise BusyError(f"the lease {path} is being written by another process; try again in a moment") from error
    except OSError as error:
        raise StoreError(f"the lease {path} cannot be written: {error.strerror or error}") from error


def _extend(path: Path, lease: Lease, done: threading.Event) -> None:
    while not done.wait(LASTS.total_seconds() / 3):
        with suppress(OSError):  # a full disk: the lease may run out, which the next round repairs
            longer = msgspec.structs.replace(lease, expires_at=datetime.now(UTC) + LASTS)
            write_atomic(path, msgspec.json.encode(longer) + b"\n")


def _give_back(path: Path, lease: Lease) -> None:
    known = read_lease(path)
    if known is not None and (known.host, known.pid, known.taken_at) == (lease.host, lease.pid, lease.taken_at):
        path.unlink(missing_ok=True)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a user database
        return "somebody"
