"""One ordered list of events of a session, out of all files that tell of it.

A fact told by several files is taken from one of them: from a sub-agent's own file before any other, then from the file
with the smaller source id, then from the newest content of a file that was rewritten. Within a file the file's order
holds, whatever its clocks say; between files the records that they share decide, else the newest time so far. So the
result depends on the set of files and not on the order in which they were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from workbench.events import Event
from workbench.ingest.records import Draft, Environment, ParsedSource, Record
from workbench.text.ids import DerivedIds


class SessionSource(NamedTuple):
    """One content of one file, as a session sees it.

    Attributes:
        source_id: The file.
        age: 0 for its newest content, 1 for the one before, and so on.
        parsed: What it says.
    """

    source_id: str
    age: int
    parsed: ParsedSource

    @property
    def rank(self) -> tuple[bool, str, int]:
        """Whose telling of a fact is taken: the lowest."""
        return (self.parsed.role != "subagent", self.source_id, self.age)


def merge(session_id: str, sources: Iterable[SessionSource]) -> list[Event]:
    """Order all records of a session and number their events.

    Args:
        session_id: The session.
        sources: Every content of every file that has records of it.

    Returns:
        Its events, `seq` from 1 without gaps, `turn` counting the prompts of the main chain.
    """
    ranked = sorted(sources, key=lambda source: source.rank)
    if len(ranked) == 1:
        only = ranked[0]
        ordered = [(record, only.source_id) for record in _unique(_own(session_id, only.parsed))]
    else:
        ordered = _interleave(session_id, ranked)
    return _number(session_id, ordered)


def _own(session_id: str, parsed: ParsedSource) -> Sequence[Record]:
    """The records of a session in one file; those that name no session belong to the file's own."""
    if parsed.session_ids == [session_id]:
        return parsed.records
    return [record for record in parsed.records if (record.session_id or parsed.session_id) == session_id]


def _unique(records: Sequence[Record]) -> Sequence[Record]:
    """The first of the records with one id; a file may repeat itself after a crash of its writer."""
    first = {record.record_id: record for record in reversed(records)}
    if len(first) == len(records):
        return records
    return [record for record in records if first[record.record_id] is record]


def _interleave(session_id: str, ranked: Sequence[SessionSource]) -> list[tuple[Record, str]]:
    """Put the records of several files into one order, and credit each to the file that comes first in rank."""
    own = [(_unique(_own(session_id, source.parsed)), source) for source in ranked]
    told: dict[str, tuple[Record, str]] = {}
    for records, source in own:
        for record in records:
            told.setdefault(record.record_id, (record, source.source_id))
    ordered: Sequence[Record] = []
    for records, _ in sorted(own, key=lambda each: (-len(each[0]), each[1].rank)):
        ordered = _weave(ordered, records)
    return [told[record.record_id] for record in ordered]


def _weave(base: Sequence[Record], other: Sequence[Record]) -> list[Record]:
    """Put records into the order of others.

    Records that both have are anchors; what only the second one has goes between its neighbours there, and among the
    first one's records between these by the newest time so far.
    """
    places = {record.record_id: place for place, record in enumerate(base)}
    ends = _next_anchors(places, other, len(base))
    base_times, other_times = _running_times(base), _running_times(other)
    woven: list[Record] = []
    done = 0
    for position, record in enumerate(other):
        place = places.get(record.record_id)
        if place is None:
            while done < ends[position] and base_times[done] <= other_times[position]:
                woven.append(base[done])
                done += 1
            woven.append(record)
        elif place >= done:
            woven += base[done : place + 1]
            done = place + 1
    return [*woven, *base[done:]]


def _next_anchors(places: Mapping[str, int], records: Sequence[Record], end: int) -> list[int]:
    """For each record the place of the next one that the base has too; `end` where there is none."""
    anchors = [end] * len(records)
    for position in range(len(records) - 1, -1, -1):
        anchors[position] = end
        end = min(end, places.get(records[position].record_id, end))
    return anchors


def _running_times(records: Sequence[Record]) -> list[float]:
    """The newest time so far at each record, in seconds; records before the first time share it."""
    first = next((record.occurred_at for record in records if record.occurred_at), None)
    newest = first.timestamp() if first else 0.0
    times = []
    for record in records:
        if record.occurred_at is not None:
            newest = max(newest, record.occurred_at.timestamp())
        times.append(newest)
    return times


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def _number(session_id: str, ordered: Sequence[tuple[Record, str]]) -> list[Event]:
    numbering = _Numbering(session_id)
    for record, source_id in ordered:
        numbering.add(record, source_id)
    return numbering.events


class _Numbering:
    """Makes events of records, one after the other, and knows what was said before.

    What a format repeats with every record is told once: where the agent works, when that changes; that a sub-agent
    was started, at its first record; the usage of a model call, when its figures are news.
    """

    def __init__(self, session_id: str) -> None:
        self.events: list[Event] = []
        self._session_id = session_id
        self._ids = DerivedIds(session_id)
        self._turn = 0
        self._environment: Environment | None = None
        self._agents: set[str] = set()
        self._usage: dict[tuple[Any, Any], dict[str, Any]] = {}
        self._calls: dict[Any, str] = {}
        self._last_of: dict[str, str] = {}

    def add(self, record: Record, source_id: str) -> None:
        """Make the events of a record."""
        before = len(self.events)
        milliseconds = _milliseconds(record.occurred_at)
        parent = self._last_of.get(record.parent_id) if record.parent_id else None
        for name, draft in self._context(record):
            parent = self._event(record, draft, name, milliseconds, parent, source_id)
        for number, draft in enumerate(record.drafts):
            if draft.kind != "usage" or self._is_news(draft.payload):
                parent = self._event(record, draft, str(number), milliseconds, parent, source_id)
        if parent is not None and len(self.events) > before:
            self._last_of[record.record_id] = parent

    def _event(
        self, record: Record, draft: Draft, name: str, milliseconds: int | None, parent: str | None, source_id: str
    ) -> str:
        """Make one event; returns its id."""
        kind, payload = draft.kind, draft.payload
        event_id = draft.event_id or self._ids.of(milliseconds, record.record_id, name)
        if kind == "tool_call":
            self._calls[payload.get("tool_call_id")] = event_id
        elif kind == "tool_result":
            parent = self._calls.get(payload.get("tool_call_id"), parent)
        if draft.turn is not None:
            self._turn = draft.turn
        elif kind == "user_message" and not draft.is_sidechain:
            self._turn += 1
        self.events.append(
            Event(
                event_id,
                self._session_id,
                len(self.events) + 1,
                record.occurred_at,
                kind,
                draft.actor,
                self._turn,
                draft.parent_event_id or parent,
                payload,
                draft.agent_id,
                draft.is_sidechain,
                source_id,
                record.line,
                record.time_source,
            )
        )
        return event_id

    def _context(self, record: Record) -> list[tuple[str, Draft]]:
        """What is to be told before a record: a changed environment, a sub-agent's start."""
        told: list[tuple[str, Draft]] = []
        environment = record.environment
        if environment is not self._environment and environment is not None and environment != self._environment:
            self._environment = environment
            payload = {"type": "environment", **environment._asdict()}
            told.append(("environment", Draft("system_note", "kernel", payload)))
        first = record.drafts[0] if record.drafts else None
        if first is not None and first.is_sidechain and first.agent_id and first.agent_id not in self._agents:
            self._agents.add(first.agent_id)
            prompt = first.payload.get("text") if first.kind == "user_message" else None
            start = {"agent_id": first.agent_id, "prompt": prompt}
            told.append(("subagent", Draft("subagent", "kernel", start, first.agent_id, is_sidechain=True)))
        return told

    def _is_news(self, payload: dict[str, Any]) -> bool:
        message_id = payload.get("message_id")
        key = (message_id, payload.get("request_id"))
        if message_id is not None and self._usage.get(key) == payload:
            return False
        self._usage[key] = payload
        return True
