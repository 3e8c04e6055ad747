"""Reads one file of Claude Code: lines to records, records to drafts of events."""

from __future__ import annotations

import itertools
from pathlib import PurePath
from typing import Final

from workbench.ingest import jsonlines
from workbench.ingest.claude_code import wire
from workbench.ingest.claude_code.drafts import KNOWN_TYPES, drafts_of, excerpt
from workbench.ingest.claude_code.wire import WireRecord
from workbench.ingest.record_ids import RecordIds
from workbench.ingest.records import Environment, Issue, ParsedSource, Record, Role
from workbench.ingest.times import from_iso

NAME: Final = "claude-code"

PATTERNS: Final = ("*.jsonl",)


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is Claude Code's: one of its first whole lines has a session id and a type this format knows.

    Args:
        head: The first bytes of the file.
        name: The file's name.
    """
    if not name.endswith(".jsonl"):
        return False
    for _, line, _ in jsonlines.lines(head):
        try:
            found, _ = wire.record(line)
        except (ValueError, TypeError):
            continue
        if found.sessionId is not None and found.type in KNOWN_TYPES:
            return True
    return False


def parent_path(path: str, session_id: str) -> str:
    """Where the session lies whose sub-agent's file this is: `<session>.jsonl` beside or above it."""
    folder = PurePath(path).parent
    if folder.name == "subagents":
        folder = folder.parent.parent
    return str(folder / f"{session_id}.jsonl")


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole file.

    Args:
        data: Its bytes, redacted.
        path: Where it was found; only its name counts, and only to tell which of several sessions it is about.

    Returns:
        Its records and what is wrong with it; never raises for what is in the file.
    """
    reader = _Reader()
    for number, line, ended in jsonlines.lines(data):
        reader.line(number, line, ended=ended)
    return reader.finish(PurePath(path).stem)


class _Reader:
    """State of one pass over one file."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.issues: list[Issue] = []
        self.unknown: dict[str, list[int]] = {}
        self.lines = 0
        self.sessions: dict[str, int] = {}
        self.session_id: str | None = None
        self.ids = RecordIds()
        self.environment: Environment | None = None
        self.on_main_chain = False
        self.by_subagent = False

    def line(self, number: int, line: bytes, *, ended: bool) -> None:
        """Read one line; a bad one becomes an issue and hides nothing."""
        self.lines = number
        if jsonlines.is_blank(line):
            return
        try:
            found, odd = wire.record(line)
        except ValueError as error:
            self._refused(number, line, error, ended=ended)
            return
        except TypeError as error:
            self.issues.append(Issue(number, "not_an_object", f"{error}; left out: {excerpt(line)}"))
            return
        if found.type == "progress":
            found, odd = self._unnested(found, odd)
        if odd:
            self.issues.append(Issue(number, "odd_field", f"of another type than usual and left out: {', '.join(odd)}"))
        self._record(number, line, found)

    def _refused(self, number: int, line: bytes, error: ValueError, *, ended: bool) -> None:
        size = f"{len(line):,} bytes"
        if ended:
            detail = f"not JSON ({error}); {size} left out: {excerpt(line)}"
            self.issues.append(Issue(number, "bad_json", detail))
        else:
            self.issues.append(Issue(number, "unfinished_line", f"{size} after the last line end are not a record yet"))

    def _unnested(self, found: WireRecord, odd: list[str]) -> tuple[WireRecord, list[str]]:
        """A message nested in a progress record is a record of that sub-agent, whatever the outer record says."""
        data, more = wire.progress(found.data)
        odd = [*odd, *(f"data.{name}" for name in more)]
        nested = data.message
        if nested is None or nested.type not in ("user", "assistant"):
            return found, odd
        self.on_main_chain |= not found.isSidechain
        nested.agentId = nested.agentId or data.agentId
        nested.isSidechain = True
        nested.sessionId = found.sessionId
        nested.uuid = nested.uuid or found.uuid
        nested.timestamp = nested.timestamp or found.timestamp
        nested.cwd, nested.gitBranch, nested.version = found.cwd, found.gitBranch, found.version
        return nested, odd

    def _record(self, number: int, line: bytes, found: WireRecord) -> None:
        if found.sessionId:
            self.sessions[found.sessionId] = number
            self.session_id = found.sessionId
        if found.type in ("user", "assistant"):
            self.on_main_chain |= not found.isSidechain
            self.by_subagent |= found.agentId is not None
        elif found.type not in KNOWN_TYPES:
            self.unknown.setdefault(str(found.type), []).append(number)
        moment = from_iso(found.timestamp)
        self.records.append(
            Record(
                found.uuid or self.ids.of(line),
                found.sessionId or self.session_id,
                moment.at,
                moment.source,
                number,
                found.parentUuid,
                drafts_of(found, line),
                self._environment(found),
            )
        )

    def _environment(self, found: WireRecord) -> Environment | None:
        """Where the agent worked; equal ones are one object."""
        if found.cwd is None:
            return None
        told = (found.cwd, found.gitBranch or None, found.version)
        if self.environment is None or told != self.environment[1:]:
            self.environment = Environment(NAME, *told)
        return self.environment

    def finish(self, stem: str) -> ParsedSource:
        """Close the pass: sessions, and the records of unknown types, one issue a type.

        A record that names no session belongs to that of the record before it; the first ones to that of the next.
        """
        for kind, numbers in self.unknown.items():
            detail = f"records of type {kind!r} are kept as they are; this version does not know them"
            self.issues.append(Issue(numbers[0], "unknown_record", detail, len(numbers)))
        first = next((record.session_id for record in self.records if record.session_id is not None), None)
        for record in itertools.takewhile(lambda record: record.session_id is None, self.records):
            record.session_id = first
        session = stem if stem in self.sessions else max(self.sessions, key=self.sessions.__getitem__, default=None)
        role: Role = "subagent" if self.by_subagent and not self.on_main_chain else "main"
        return ParsedSource(session, sorted(self.sessions), role, self.lines, self.records, self.issues)
