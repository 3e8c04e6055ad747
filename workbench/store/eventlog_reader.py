"""Reading one session's event log: without a lock, without changing a byte, each byte parsed once.

What was parsed is kept until the file is another one: its time, size and inode are compared at each call, and a file
that only grew is parsed from where the last whole line ended. Design, section 5; PRAANA specification A, section 2.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from workbench.errors import EventLogError
from workbench.store.eventlog_files import COMPRESSION_NAME, LEGACY_NAME, LOG_NAME, QUARANTINE_NAME
from workbench.store.eventlog_lines import LogIssue, ParsedLog, Quarantined
from workbench.store.eventlog_search import SearchHit, search_events

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from workbench.events import Event

FileKey: TypeAlias = tuple[int, int, int]

_STATE_CHANGES: Final = frozenset({"context_action"})


class _CompressionMarks(msgspec.Struct):
    compressed_ids: set[str]


def by_the_rules(text: str) -> str:
    """The redactor unless another one is given; its rules are loaded with the first text, in 30 ms."""
    from workbench.text.redaction import redact  # noqa: PLC0415

    return redact.text(text)


class EventLogReader:
    """One session's log, for reading.

    Safe to use from several threads. The payloads of returned events are the reader's own: do not change them.
    """

    def __init__(self, folder: Path, session_id: str, *, redact: Callable[[str], str] = by_the_rules) -> None:
        """Name a log; nothing is opened yet, and a log that does not exist is an empty one.

        Args:
            folder: The session's own folder, see `session_folder`.
            session_id: The session whose events these are.
            redact: Applied to what `issues` shows of a bad line; the rules of `text.redaction` unless given.
        """
        self.session_id = session_id
        self.folder = folder
        self.path = folder / LOG_NAME
        self._redact = redact
        self._mutex = threading.RLock()
        self._forget_parsed()

    def read_all(self) -> list[Event]:
        """Every event, in the order of the lines."""
        with self._mutex:
            self._refresh()
            return [*self._parsed.events, *self._tail_events]

    def read_last(self, n: int) -> list[Event]:
        """The last `n` events."""
        return self.read_all()[-n:] if n > 0 else []

    def last_event(self) -> Event | None:
        """The newest event: the one of the last line, whatever the clocks said."""
        last = self.read_last(1)
        return last[0] if last else None

    def read_uncompressed(self) -> list[Event]:
        """The events that no compaction has marked: those that may still enter a prompt."""
        marked, _ = self._compressed_ids()
        return [event for event in self.read_all() if event.event_id not in marked]

    def read_last_uncompressed(self, n: int) -> list[Event]:
        """The last `n` of the events that no compaction has marked."""
        return self.read_uncompressed()[-n:] if n > 0 else []

    def replay(self, kinds: Collection[str] = _STATE_CHANGES) -> list[Event]:
        """The events of some kinds; by default those from which the state graph is rebuilt."""
        return [event for event in self.read_all() if event.kind in kinds]

    def search(self, query: str, kinds: Collection[str] | None = None, limit: int = 20) -> list[SearchHit]:
        """Find events by substring, oldest first; see `search_events`."""
        return search_events(self.read_all(), query, kinds, limit)

    @property
    def issues(self) -> list[LogIssue]:
        """What is wrong with the files now. What was set aside earlier is in `quarantined`."""
        with self._mutex:
            self._refresh()
            issues = [*self._parsed.issues, *self._tail_issues]
        _, corrupt = self._compressed_ids()
        if corrupt:
            issues.append(LogIssue(0, corrupt, "", file=COMPRESSION_NAME, kept=True))
        if (self.folder / LEGACY_NAME).exists():
            issues.append(LogIssue(0, "not merged yet; the next append does it", "", file=LEGACY_NAME))
        return issues

    def quarantined(self) -> list[Quarantined]:
        """The torn ends that writers have set aside, oldest first."""
        try:
            lines = (self.folder / QUARANTINE_NAME).read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        found: list[Quarantined] = []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=Quarantined))
            except (msgspec.DecodeError, UnicodeDecodeError):  # torn itself, or blank: the copy was made again
                continue
        return found

    def _forget_parsed(self) -> None:
        self._key: FileKey | None = None
        self._parsed = ParsedLog(self.session_id, self._redact)
        self._tail = b""
        self._tail_events: list[Event] = []
        self._tail_issues: list[LogIssue] = []

    def _refresh(self) -> None:
        """Parse what the file has gained; parse it anew if it is another file or has not only grown."""
        try:
            if self._key == file_key(self.path.stat()):
                return
            with self.path.open("rb") as file:
                key = file_key(os.fstat(file.fileno()))
                if not self._has_grown(file.fileno(), key):
                    self._forget_parsed()
                file.seek(self._parsed.size)
                data = file.read(key[1] - self._parsed.size)
        except FileNotFoundError:
            self._forget_parsed()
            return
        except OSError as error:
            raise EventLogError(f"cannot read {self.path}: {error.strerror}. Check the file and its folder.") from error
        end = data.rfind(b"\n") + 1
        self._parsed.feed(data[:end])
        self._read_tail(data[end:])
        self._key = key

    def _has_grown(self, fd: int, key: FileKey) -> bool:
        if self._key is None or key[2] != self._key[2] or key[1] <= self._key[1]:
            return False
        last = self._parsed.last_bytes
        os.lseek(fd, self._parsed.size - len(last), os.SEEK_SET)
        return os.read(fd, len(last)) == last

    def _read_tail(self, tail: bytes) -> None:
        """Look at what follows the last LF: a record lacking only its LF, or the torn end of one."""
        event, issues = self._parsed.read(tail, self._parsed.lines + 1)
        self._tail = tail
        self._tail_events = [] if event is None else [event]
        self._tail_issues = [issue if issue.kept else _torn(issue) for issue in issues]

    def _compressed_ids(self) -> tuple[Collection[str], str]:
        """The marked event ids, and why the file of marks cannot be used, if it cannot."""
        try:
            marks = msgspec.json.decode((self.folder / COMPRESSION_NAME).read_bytes(), type=_CompressionMarks)
        except FileNotFoundError:
            return frozenset(), ""
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return frozenset(), f"ignored, it marks nothing: {error}"
        return marks.compressed_ids, ""


def file_key(state: os.stat_result) -> FileKey:
    """By what a file is told to be unchanged."""
    return state.st_mtime_ns, state.st_size, state.st_ino


def _torn(issue: LogIssue) -> LogIssue:
    return msgspec.structs.replace(issue, reason=f"torn last line; {issue.reason}")
