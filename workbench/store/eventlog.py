"""The event log of a session run here: one file, one writer, one JSON object a line, on disk before `append` returns.

    redact -> number -> one write -> fsync -> the event is acknowledged

Before its first append a writer repairs the end of the file: a torn last line is set aside in `quarantine.jsonl`, a
whole last record that lacks only its LF gets it. The order of a session is the order of its lines, told by `seq`;
times and ids are attributes. Design, sections 3 and 5; PRAANA specification part A, section 2 and W1.

The modules beside this one: `eventlog_reader` (the reading half), `eventlog_lines` (bytes to events), `eventlog_new`
(events to bytes), `eventlog_files` (the folder, the lock, `meta.json`), `eventlog_search`.
"""

from __future__ import annotations

import base64
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

import msgspec

from workbench.errors import EventLogError
from workbench.store.eventlog_files import (
    BINARY,
    QUARANTINE_NAME,
    WriterLock,
    migrate_legacy,
    session_folder,
)
from workbench.store.eventlog_lines import LogIssue, Quarantined, parse_line, replace_half_surrogates
from workbench.store.eventlog_new import NewEvent, checked, encoded
from workbench.store.eventlog_reader import EventLogReader, by_the_rules, file_key
from workbench.store.eventlog_search import SearchHit
from workbench.store.files import make_folder, sync_folder, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from workbench.events import Event

__all__ = ["EventLog", "EventLogReader", "LogIssue", "NewEvent", "Quarantined", "SearchHit", "session_folder"]


class EventLog(EventLogReader):
    """One session's log, for reading and for appending; safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        session_id: str,
        *,
        redact: Callable[[str], str] = by_the_rules,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Name a log; nothing is opened or created before the first append.

        Args:
            folder: The session's own folder, see `session_folder`.
            session_id: The session whose events these are.
            redact: Applied to every string and key of a payload, and to ids that come from outside, before anything is
                written. If it fails, nothing is. The rules of `text.redaction` unless given; `str` changes nothing.
            now: The clock of events that bring no time.
        """
        super().__init__(folder, session_id, redact=redact)
        self._now = now
        self._writer: _Writer | None = None

    def __enter__(self) -> Self:
        """Give the log itself; it is closed on leaving."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the log."""
        self.close()

    def close(self) -> None:
        """Give up the right to append. The log can still be read, and another append takes the right again."""
        with self._mutex:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def append(
        self,
        kind: str,
        actor: str,
        payload: dict[str, Any],
        *,
        turn: int,
        occurred_at: datetime | None = None,
        event_id: str | None = None,
        parent_event_id: str | None = None,
        agent_id: str | None = None,
        is_sidechain: bool = False,
    ) -> Event:
        """Append one event and return it, as a reader will see it, once it is on disk.

        The first append takes the right to write, which lasts until `close`.

        Raises:
            BadInputError: It is no event: kind, actor, turn, payload, or a time without a zone.
            EventLogError: Another writer has the log, the redactor failed, or the disk did. The event is not in the
                log, and the next append may be tried.
        """
        new = NewEvent(
            kind=kind,
            actor=actor,
            payload=payload,
            turn=turn,
            occurred_at=occurred_at,
            event_id=event_id,
            parent_event_id=parent_event_id,
            agent_id=agent_id,
            is_sidechain=is_sidechain,
        )
        return self.append_many([new])[0]

    def append_many(self, new_events: Iterable[NewEvent]) -> list[Event]:
        """Append events with one write and one fsync; none is acknowledged before all are on disk.

        Raises:
            BadInputError: One of them is no event.
            EventLogError: As for `append`.
        """
        ready = [checked(new, self._now, self._clean) for new in new_events]
        if not ready:
            return []
        with self._mutex:
            writer = self._ready_writer()
            first = max([self._parsed.top_seq, *(event.seq for event in self._tail_events)]) + 1
            pairs = [encoded(new, self.session_id, seq) for seq, new in enumerate(ready, start=first)]
            events, data = [event for event, _ in pairs], b"".join(line for _, line in pairs)
            writer.append(data)
            state = os.fstat(writer.fd)
            if state.st_size == self._parsed.size + len(data):
                self._parsed.accept(events, data)
                self._key = file_key(state)
            else:  # an LF went before, or somebody wrote without the lock
                self._refresh()
            return events

    def repair(self) -> None:
        """Set aside every line that is no event of the session: the torn end, and those in the midst.

        They go to `quarantine.jsonl`; all other lines stay as they are, byte for byte. The right to append is taken and
        given up again.

        Raises:
            EventLogError: Another writer has the log, it is the log of another session, or the disk failed. Nothing is
                lost then.
        """
        with self._mutex:
            self._ready_writer()
            try:
                self._set_lines_aside([issue for issue in self._parsed.issues if issue.line and not issue.kept])
            except OSError as error:
                raise EventLogError(
                    f"cannot set bad lines of {self.path} aside: {error.strerror}. Nothing is lost; make room or "
                    "repair the disk, then try again."
                ) from error
            finally:
                self.close()

    def _set_lines_aside(self, bad: list[LogIssue]) -> None:
        if not bad:
            return
        lines, numbers = self.path.read_bytes().split(b"\n"), {issue.line for issue in bad}
        for issue in bad:
            self._quarantine(lines[issue.line - 1], issue.line, issue.reason)
        write_atomic(self.path, b"\n".join(line for n, line in enumerate(lines, start=1) if n not in numbers))
        self._forget_parsed()

    def _ready_writer(self) -> _Writer:
        """The writer, its file ending where a record may begin."""
        if self._writer is None:
            self._writer = _Writer.open(self.path, self.session_id)
        writer = self._writer
        if writer.pid != os.getpid():
            raise EventLogError(f"{self.path} was opened by process {writer.pid}; a fork of it must open its own log")
        state = os.fstat(writer.fd)
        if state.st_nlink == 0:
            raise EventLogError(f"{self.path} was removed or replaced while open; close this log and open it again")
        if state.st_size != writer.size:
            self._repair(writer)
        return writer

    def _repair(self, writer: _Writer) -> None:
        """Set a torn end aside; note where a whole last record lacks its LF."""
        self._refresh()
        if self._parsed.other_session and not self._parsed.events:
            self.close()
            raise EventLogError(
                f"{self.path} is the log of session {self._parsed.other_session!r}, not of {self.session_id!r}; "
                "nothing was appended"
            )
        try:
            if self._tail.strip() and parse_line(self._tail)[0] is None:
                self._set_aside()
                os.ftruncate(writer.fd, self._parsed.size)
                os.fsync(writer.fd)
                self._read_tail(b"")
        except OSError as error:
            raise EventLogError(
                f"cannot set the torn last line of {self.path} aside: {error.strerror}. Nothing was appended, nothing "
                "lost; make room or repair the disk, then append again."
            ) from error
        writer.lead = b"\n" if self._tail else b""
        writer.size = self._parsed.size + len(self._tail)

    def _set_aside(self) -> None:
        """Copy the torn end to the quarantine, durably; only then may it leave the log."""
        self._quarantine(self._tail, self._parsed.lines + 1, self._tail_issues[0].reason)

    def _quarantine(self, line: bytes, number: int, reason: str) -> None:
        text = line.decode("utf-8", "replace")
        shown = self._clean(text)
        as_text = shown != text or text.encode() == line  # what redaction changed is kept as changed
        entry = Quarantined(
            line=number,
            reason=reason,
            recorded_at=self._now().astimezone(UTC),
            text=shown if as_text else None,
            base64=None if as_text else base64.b64encode(line).decode(),
        )
        with (self.folder / QUARANTINE_NAME).open("ab") as file:
            file.write((b"\n" if file.tell() else b"") + msgspec.json.encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.folder)

    def _clean(self, text: str) -> str:
        try:
            return replace_half_surrogates(self._redact(replace_half_surrogates(text)))
        except Exception as error:
            raise EventLogError(
                f"the redactor failed with {type(error).__name__}; nothing was appended to {self.path}. "
                "Repair the redaction rules, then append again."
            ) from error


class _Writer:
    """The open file of the one writer.

    Attributes:
        size: How long the file should be; any other length means that somebody else wrote, or that a repair is due.
        lead: The LF that the last record lacks, written with the next one.
    """

    def __init__(self, fd: int, lock: WriterLock, path: Path) -> None:
        self.fd = fd
        self.pid = os.getpid()
        self.size = -1
        self.lead = b""
        self._lock = lock
        self._path = path
        self._is_open = True

    @classmethod
    def open(cls, path: Path, session_id: str) -> Self:
        """Make the folder and the file, take the lock, and merge what an older version left."""
        lock: WriterLock | None = None
        try:
            make_folder(path.parent)
            lock = WriterLock.acquire(path.parent, session_id)
            migrate_legacy(path.parent)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o600)
            try:
                sync_folder(path.parent)  # the name too, also where a writer that made the file died before this
            except BaseException:
                os.close(fd)
                raise
        except BaseException as error:
            if lock is not None:
                lock.release()
            if isinstance(error, OSError):
                raise EventLogError(
                    f"cannot open {path} for appending: {error.strerror}. Check the folder and the disk."
                ) from error
            raise
        return cls(fd, lock, path)

    def append(self, data: bytes) -> None:
        """Write at the end and sync; what fails in between is taken back."""
        data = self.lead + data
        try:
            done = os.write(self.fd, data)
            while done < len(data):  # the disk took a part: ask on, and be told why
                done += os.write(self.fd, data[done:])
            os.fsync(self.fd)
        except BaseException as error:
            self._take_back()
            if isinstance(error, OSError):
                raise EventLogError(
                    f"cannot append to {self._path}: {error.strerror}. The event is not in the log; what was there "
                    "is unchanged. Make room or repair the disk, then append again."
                ) from error
            raise
        self.size += len(data)
        self.lead = b""

    def _take_back(self) -> None:
        try:
            os.ftruncate(self.fd, self.size)
            os.fsync(self.fd)
        except OSError:
            self.size = -1  # the next append looks at what is there, and repairs it

    def close(self) -> None:
        """Close the file, then give the lock back; in a fork, where both are the parent's, only forget them."""
        if self._is_open:
            self._is_open = False
            if self.pid == os.getpid():
                os.close(self.fd)
                self._lock.release()

    def __del__(self) -> None:
        self.close()
