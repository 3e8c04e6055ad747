"""The whole text of one event, as a person may read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from workbench.errors import NotFoundError
from workbench.reports.asking import Ask
from workbench.reports.render.numbers import count, lasting
from workbench.reports.render.text import one_line, visible

PART_CHARACTERS: Final = 200_000
"""A longer text is cut for the screen, and the part says so: a browser lays so much out in some 0.2 s."""


class Part(NamedTuple):
    """One text of an event."""

    name: str
    text: str


class EventText(NamedTuple):
    """One event to read; every text in it is visible text (`render.text.visible`).

    Attributes:
        event_id: The event.
        title: What it is.
        facts: Names and values.
        parts: Its texts: what was thought and said; what went into a tool and what came back.
    """

    event_id: str
    title: str
    facts: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]

    def plain(self) -> dict[str, Any]:
        """As lists and dictionaries for JSON."""
        return {
            "event_id": self.event_id,
            "title": self.title,
            "facts": [list(fact) for fact in self.facts],
            "parts": [part._asdict() for part in self.parts],
        }


def read_event(ask: Ask, session_id: str, event_id: str, kind: str | None = None) -> EventText:
    """Read one event.

    Args:
        ask: Runs SQL over the lake.
        session_id: Its session, by whole id.
        event_id: The event, by whole id.
        kind: `response` or `tool` where an event tells of both, `prompt` or `exchange`; else what fits first.

    Returns:
        A call with its result, a message with its thoughts, or any other event with its payload.

    Raises:
        NotFoundError: The session has no such event.
    """
    bound = {"session_id": session_id, "event_id": event_id}
    if kind in (None, "tool"):
        calls = ask("select * from tool_calls where session_id = $session_id and call_event_id = $event_id", bound)
        if calls.height:
            return _call(event_id, calls.row(0, named=True))
    if kind != "tool":
        turns = ask("select * from turns where session_id = $session_id and event_id = $event_id", bound)
        if turns.height:
            return _message(event_id, turns.row(0, named=True))
    events = ask("select * from events where session_id = $session_id and event_id = $event_id", bound)
    if not events.height:
        raise NotFoundError(f"the session {session_id} has no event {event_id!r}")
    return _event(event_id, events.row(0, named=True))


def _call(event_id: str, row: Mapping[str, Any]) -> EventText:
    arguments = _members(row["input"])
    parts = [*arguments, ("result" if row["status"] == "ok" else f"result ({row['status']})", row["result"])]
    return _told(
        event_id,
        f"{row['tool'] or 'tool'} call",
        {
            "exchange": row["turn"],
            "status": row["status"],
            "called": row["called_at"],
            "took": None if row["duration_ms"] is None else lasting(row["duration_ms"]),
            "result tokens": row["result_tokens"],
            "file": row["file_path"],
            "sub-agent": row["agent_id"],
        },
        parts,
    )


def _message(event_id: str, row: Mapping[str, Any]) -> EventText:
    is_prompt = row["role"] == "user"
    return _told(
        event_id,
        "prompt" if is_prompt else "error of the provider" if row["is_error"] else "response",
        {
            "exchange": row["turn"],
            "at": row["occurred_at"],
            "model": row["model"],
            "tokens of its text": row["tokens"],
            "pictures": row["images"] or None,
            "tool calls": row["tool_calls"] or None,
            "sub-agent": row["agent_id"],
        },
        [("thinking", row["thinking"]), ("text", row["text"])],
    )


def _event(event_id: str, row: Mapping[str, Any]) -> EventText:
    facts = {"exchange": row["turn"], "at": row["occurred_at"], "actor": row["actor"], "sub-agent": row["agent_id"]}
    return _told(event_id, str(row["kind"]).replace("_", " "), facts, _members(row["payload"]))


def _members(text: str | None) -> list[tuple[str, str | None]]:
    """The members of a JSON object, each as its own text; anything else whole."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = text
    if not isinstance(value, dict):
        return [("input", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))]
    return [
        (str(name), each if isinstance(each, str) else json.dumps(each, ensure_ascii=False, indent=1))
        for name, each in value.items()
    ]


def _told(event_id: str, title: str, facts: Mapping[str, Any], parts: list[tuple[str, str | None]]) -> EventText:
    return EventText(
        event_id,
        one_line(title),
        tuple((name, _fact(value)) for name, value in facts.items() if value is not None),
        tuple(Part(one_line(name)[:100], _cut(text)) for name, text in parts if text),
    )


def _fact(value: Any) -> str:
    if hasattr(value, "astimezone"):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC"
    return count(value) if isinstance(value, int) else one_line(str(value))


def _cut(text: str) -> str:
    more = len(text) - PART_CHARACTERS
    shown = visible(text[:PART_CHARACTERS])
    return f"{shown}\n[{more:,} more characters: they are in the tables]" if more > 0 else shown
