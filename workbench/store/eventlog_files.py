"""The folder of a session run here: its name, its lock, `meta.json`, and what an older version left in it.

`sessions/<session_id>/` holds `events.jsonl` (the log), `events.lock` (who appends), `quarantine.jsonl` (torn ends set
aside), `meta.json` and `compression_checkpoint.json`. Design, section 3; PRAANA specification part A, section 2.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import msgspec

from workbench.errors import BadInputError, EventLogError
from workbench.store.files import make_folder, sync_folder, write_atomic

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOG_NAME = "events.jsonl"
LEGACY_NAME = "events.log"
LOCK_NAME = "events.lock"
QUARANTINE_NAME = "quarantine.jsonl"
META_NAME = "meta.json"
COMPRESSION_NAME = "compression_checkpoint.json"
SNAPSHOT_NAME = "state.json"

MAX_NAME_CHARS = 120
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]", re.ASCII)
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(\..*)?", re.ASCII | re.IGNORECASE)
_ESCAPED_PREFIX_CHARS = 40
_LOCKED_BYTE = 1 << 30  # on Windows a locked byte cannot be read, so not one of the owner's pid

BINARY = getattr(os, "O_BINARY", 0)
"""Windows would write CRLF without it; elsewhere there is no such flag."""


def session_folder(home: Path, session_id: str) -> Path:
    """The folder of a session: `<home>/sessions/<name>`, always a direct child of `sessions`.

    The name is the id where that is a safe folder name on every system. Any other id (from a foreign file: separators,
    `..`, NUL, names reserved by Windows, over 120 characters, a leading dot) becomes `~<readable part>-<its hash>`;
    no safe id begins with `~`, so two ids never share a name.
    """
    return home / "sessions" / _folder_name(session_id)


def _folder_name(session_id: str) -> str:
    safe = (
        len(session_id) <= MAX_NAME_CHARS
        and _PLAIN_NAME.fullmatch(session_id)
        and not session_id.endswith(".")
        and not _RESERVED.fullmatch(session_id)
    )
    if safe:
        return session_id
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"~{_UNSAFE.sub('_', session_id[:_ESCAPED_PREFIX_CHARS])}-{digest}"


class WriterLock:
    """The right to append to one log. The system frees it when its owner dies, however it dies.

    `fcntl.flock` rather than the package filelock: the same call, without 150 ms of import for every reader.
    """

    def __init__(self, fd: int) -> None:
        """Hold what `acquire` got."""
        self._fd = fd

    @classmethod
    def acquire(cls, folder: Path, session_id: str) -> Self:
        """Take the lock, or say who has it.

        Raises:
            EventLogError: Another log object, here or in another process, appends to this log.
        """
        path = folder / LOCK_NAME
        fd = os.open(path, os.O_RDWR | os.O_CREAT | BINARY, 0o600)
        try:
            _lock(fd)
        except (BlockingIOError, PermissionError) as error:
            owner = _read_start(fd).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise EventLogError(
                f"cannot append to the log of session {session_id!r}: process {owner} is its writer (lock {path}). "
                "Close it there, or wait for that process to end; reading needs no lock."
            ) from error
        except BaseException:
            os.close(fd)
            raise
        with suppress(OSError):  # a full disk: the lock holds, only its message will not name us
            os.ftruncate(fd, 0)
            os.write(fd, f"{os.getpid()}\n".encode())
        return cls(fd)

    def release(self) -> None:
        """Give the lock back. The file stays: to remove it would let two owners lock two files of one name."""
        with suppress(OSError):
            os.ftruncate(self._fd, 0)
        os.close(self._fd)


def writer_of(folder: Path) -> str | None:
    """The process that appends to a log now, as its lock says; None where nobody does. Changes nothing."""
    try:
        fd = os.open(folder / LOCK_NAME, os.O_RDWR | BINARY)
    except OSError:
        return None
    try:
        _lock(fd)
    except (BlockingIOError, PermissionError):
        return _read_start(fd).decode("ascii", "replace").strip() or "unknown"
    else:
        return None
    finally:
        os.close(fd)


def session_of(folder: Path) -> str:
    """The session whose folder it is: as `meta.json` says, else as the first event that fits, else by its name."""
    meta = read_meta(folder)
    if meta is not None:
        return meta.session_id
    try:
        with (folder / LOG_NAME).open("rb") as log:
            for line in log:
                told = _session_named(line)
                if told is not None and _folder_name(told) == folder.name:
                    return told
    except OSError:
        pass
    return folder.name


def _session_named(line: bytes) -> str | None:
    try:
        return msgspec.json.decode(line, type=_Named).session_id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _Named(msgspec.Struct):
    session_id: str


def _read_start(fd: int) -> bytes:
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, 32)


def _lock(fd: int) -> None:
    if sys.platform == "win32":
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        os.lseek(fd, 0, os.SEEK_SET)
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def migrate_legacy(folder: Path) -> bool:
    """Bring an older version's `events.log` into `events.jsonl`; only the writer, or nobody, may have the log open.

    Without (or beside an empty) `events.jsonl` it takes that name; else its content goes to the end, from a line of
    its own, and it is deleted. A crash at any point loses nothing, and the next call completes the rest.

    Returns:
        Whether there was an `events.log`.
    """
    log, legacy = folder / LOG_NAME, folder / LEGACY_NAME
    if not legacy.exists():
        return False
    old = legacy.read_bytes()
    new = log.read_bytes() if log.exists() else None
    if not new and (old or new is None):
        legacy.replace(log)
        sync_folder(folder)
        return True
    if old.strip() and new is not None:
        tail = _ending_in_newline(old)
        if not (b"\n" + new).endswith(b"\n" + tail):  # else a crash came between this and the deletion
            write_atomic(log, _ending_in_newline(new) + tail)
    legacy.unlink()
    sync_folder(folder)
    return True


def _ending_in_newline(data: bytes) -> bytes:
    return data if data.endswith(b"\n") else data + b"\n"


class SessionMeta(msgspec.Struct, frozen=True):
    """What `meta.json` says of a session: which, since when, where, and run by which agent."""

    session_id: str
    started_at: datetime
    cwd: str
    agent: str = "workbench"


def write_meta(folder: Path, meta: SessionMeta) -> None:
    """Write `meta.json`, credentials in it replaced.

    Raises:
        BadInputError: `started_at` has no time zone.
    """
    if meta.started_at.tzinfo is None:
        raise BadInputError(f"started_at of session {meta.session_id!r} is {meta.started_at}, without a zone; give UTC")
    from workbench.text.redaction import redact  # noqa: PLC0415  (readers of a log need no rules)

    meta = msgspec.structs.replace(
        meta, started_at=meta.started_at.astimezone(UTC), cwd=redact.text(meta.cwd), agent=redact.text(meta.agent)
    )
    make_folder(folder)
    write_atomic(folder / META_NAME, msgspec.json.format(msgspec.json.encode(meta), indent=2) + b"\n")


def read_meta(folder: Path) -> SessionMeta | None:
    """Read `meta.json`; None where it is missing or no meta file, which callers report as a session not found."""
    try:
        return msgspec.json.decode((folder / META_NAME).read_bytes(), type=SessionMeta)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
