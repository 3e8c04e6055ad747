"""What a format's reader gives back, whatever the format.

A *record* is one unit of a foreign file, most often a line; it becomes no, one or several events. Its id says which
fact it is: two files (or two versions of a file) that carry the same record id carry the same fact.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

Role = Literal["main", "subagent", "log"]


class Draft(msgspec.Struct, gc=False):
    """An event before it has a place: the reader's part of it."""

    kind: str
    actor: str
    payload: dict[str, Any]
    agent_id: str | None = None
    is_sidechain: bool = False
    event_id: str | None = None  # what a format that has our events says of them; else derived on merging
    turn: int | None = None
    parent_event_id: str | None = None


class Environment(NamedTuple):
    """Where an agent works, as a record says; merging makes a note of it where it changes."""

    agent: str
    cwd: str | None
    git_branch: str | None
    agent_version: str | None


class Record(msgspec.Struct, gc=False):
    """One unit of a foreign file; a function of that unit alone, so that every copy of it says the same.

    Attributes:
        record_id: Names the fact.
        session_id: The session it says it belongs to; None where it says nothing and the file's own session is meant.
        occurred_at: UTC, or None.
        time_source: `recorded`, `missing` or `unreadable`.
        line: From 1.
        parent_id: Record id of the record it follows, where the format says so.
        drafts: Its events in order.
        environment: In formats that say it with every record.
    """

    record_id: str
    session_id: str | None
    occurred_at: datetime | None
    time_source: str
    line: int
    parent_id: str | None
    drafts: list[Draft]
    environment: Environment | None = None


class Issue(msgspec.Struct, frozen=True, gc=False):
    """Something in a source that is not as it should be; `line` 0 means the whole file."""

    line: int
    issue: str
    detail: str
    count: int = 1


class ParsedSource(msgspec.Struct, gc=False):
    """All that one file says.

    Attributes:
        session_id: The session that the file is about; None where no record names one.
        session_ids: All sessions its records belong to, the file's own among them, sorted.
        role: `main`, or `subagent` for a file that holds only a sub-agent's records.
        lines: Lines in the file, the unfinished last one included.
        records: In file order.
        issues: In file order.
    """

    session_id: str | None
    session_ids: list[str]
    role: Role
    lines: int
    records: list[Record]
    issues: list[Issue]


def own_path(path: str, session_id: str) -> str:
    """The `parent_path` of a format in which sub-agents have no files of their own."""
    del session_id
    return path


class Format(Protocol):
    """One agent's file format: a module with these."""

    NAME: str

    def sniff(self, head: bytes, name: str) -> bool:
        """Whether a file with this name that begins with these bytes is of this format."""

    def read(self, data: bytes, path: str) -> ParsedSource:
        """Read a whole file; never raises for what is in it."""

    def parent_path(self, path: str, session_id: str) -> str:
        """Where the session lies whose sub-agent's file this is."""
