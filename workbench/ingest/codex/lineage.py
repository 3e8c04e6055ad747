"""Whose records a file holds: its own thread's, or a copy of the parent's at its beginning.

The file of a fork, and often that of a sub-agent, begins with the parent's header and history, stamped anew or not.
Counted as the child's, it multiplied usage up to ninety times (ccusage/ccusage#950). The parent's own file tells it
better, so a copy gives no records here, only their number.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Final, NamedTuple

from workbench.ingest.objects import Fields

_VERSION: Final = 12
"""Where the version of a UUID stands among its hexadecimal digits; one of version 7 begins with its time."""

_NAME: Final = re.compile(r"rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(.+)\Z")
_STAMP: Final = "%Y-%m-%dT%H-%M-%S"
_DAY: Final = re.compile(r"/\d{4}/\d\d/\d\d\Z")
_COPYING_TIME: Final = timedelta(seconds=1)
"""How long a copy may take to be written, where no id of a turn tells its end. A judgement."""


def made_at_ms(uuid: str | None) -> int | None:
    """When a UUID of version 7 was made, in milliseconds since 1970; None for any other text."""
    digits = (uuid or "").replace("-", "")
    if len(digits) != 32 or digits[_VERSION] != "7":  # noqa: PLR2004  (a UUID has 32 digits)
        return None
    try:
        return int(digits[:_VERSION], 16)
    except ValueError:
        return None


class Thread(NamedTuple):
    """What a file's own header, the first one, says of its thread.

    Attributes:
        own_id: Its id.
        session_id: The session it belongs to: its own id, or for a sub-agent the one at the root.
        agent_id: Its id if it is a sub-agent's.
        forked_from: The thread whose history it begins with, if it is a fork.
    """

    own_id: str
    session_id: str
    agent_id: str | None
    forked_from: str | None

    @classmethod
    def of(cls, header: Fields) -> Thread | None:
        """Read a header; None where it has no id."""
        own_id = header.text("id") or header.text("session_id")
        if own_id is None:
            return None
        spawned = _spawned(header)
        parent = header.text("parent_thread_id") or _parent(header)
        if not spawned:
            return cls(own_id, own_id, None, header.text("forked_from_id"))
        root = header.text("session_id")
        session_id = root if root not in (None, own_id) else parent or header.text("forked_from_id")
        if session_id is None or session_id == own_id:
            return cls(own_id, own_id, None, None)  # nobody's: a session like any other
        return cls(own_id, session_id, own_id, header.text("forked_from_id"))


def _spawned(header: Fields) -> bool:
    source = header.value.get("source")
    return header.value.get("thread_source") == "subagent" or (isinstance(source, dict) and "subagent" in source)


def _parent(header: Fields) -> str | None:
    source = header.value.get("source")
    spawn = source.get("subagent") if isinstance(source, dict) else None
    spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    return parent if isinstance(parent, str) else None


class CopiedHistory:
    """Tells the copy of a parent's history at the beginning of a file from the thread's own records.

    A copy begins with a header of another thread, or at once where the own one names a fork. It ends with the first
    turn that is younger than the thread. Where nothing tells when turns began, it ends with the first record that is
    stamped later than the copy can have taken.
    """

    def __init__(self, thread: Thread, began_at: datetime | None) -> None:
        self.records = 0
        self.parent = thread.forked_from
        self._own_id = thread.own_id
        self._made_at_ms = made_at_ms(thread.own_id)
        self._began_at = began_at
        self._is_copying = thread.forked_from is not None
        self._is_over = False
        self._turns_are_dated = False

    def holds(self, kind: str, payload: Fields, at: datetime | None) -> bool:
        """Whether a record is part of the copy."""
        if kind == "session_meta" and payload.text("id") not in (None, self._own_id):
            self.parent = self.parent or payload.text("id")
            self._is_copying = not self._is_over
        elif not self._is_copying:
            return False
        elif self._is_own(payload, at):
            self._is_copying, self._is_over = False, True
            return False
        self.records += 1
        return True

    def _is_own(self, payload: Fields, at: datetime | None) -> bool:
        turn_ms = made_at_ms(payload.text("turn_id"))
        if self._made_at_ms is not None and turn_ms is not None:
            self._turns_are_dated = True
            return turn_ms >= self._made_at_ms
        started_at = payload.whole("started_at")
        if started_at is not None and self._began_at is not None:
            self._turns_are_dated = True
            return started_at >= int(self._began_at.timestamp())
        if self._turns_are_dated or at is None or self._began_at is None:
            return False
        return at - self._began_at > _COPYING_TIME


def id_in_name(path: str) -> str | None:
    """The thread that a file is named after."""
    named = _NAME.match(PurePath(path).stem)
    return named[2] if named else None


def parent_path(path: str, session_id: str) -> str:
    """Where the session lies whose sub-agent's file this is.

    Names hold the local time of the start and ids of version 7 the same in UTC, so the child's file tells how far its
    clock was off and the parent's id the rest. Where that cannot be had, the parent's name with the child's time.
    """
    file = PurePath(path)
    named = _NAME.match(file.stem)
    if named is None:
        return str(file.with_name(f"rollout-{session_id}{file.suffix}"))
    own_ms, parent_ms = made_at_ms(named[2]), made_at_ms(session_id)
    stamp, folder = named[1], file.parent
    if own_ms is not None and parent_ms is not None:
        try:
            started = datetime.strptime(stamp, _STAMP)  # noqa: DTZ007  (local time, of whatever zone)
            started -= timedelta(seconds=own_ms // 1000 - parent_ms // 1000)
        except (ValueError, OverflowError):
            return str(folder / f"rollout-{stamp}-{session_id}{file.suffix}")
        stamp = started.strftime(_STAMP)
        if _DAY.search(folder.as_posix()):
            folder = folder.parents[2] / started.strftime("%Y") / started.strftime("%m") / started.strftime("%d")
    return str(folder / f"rollout-{stamp}-{session_id}{file.suffix}")
