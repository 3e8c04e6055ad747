"""Search in the events of one session, by substring. Source: PRAANA specification part A, section 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from workbench.events import Event

EXCERPT_CHARS = 400
"""Longest excerpt; a longer text is cut to 397 characters and `...` (PRAANA)."""


@dataclass(frozen=True)
class SearchHit:
    """An event that matched, and its text on one line."""

    event: Event
    excerpt: str


def search_events(
    events: Iterable[Event], query: str, kinds: Collection[str] | None = None, limit: int = 20
) -> list[SearchHit]:
    """Find events whose text holds every word of the query or, if it holds `|`, any of its alternatives.

    Args:
        events: In the order in which hits are wanted.
        query: Words are substrings, case does not count. A query without words finds nothing.
        kinds: Only these kinds; None for all, an empty collection for none.
        limit: The most hits to return; 0 finds nothing.
    """
    any_of = "|" in query
    terms = [term for term in map(str.strip, query.lower().split("|" if any_of else None)) if term]
    matches = any if any_of else all
    hits: list[SearchHit] = []
    if not terms:
        return hits
    for event in events:
        if len(hits) >= limit:
            break
        if kinds is not None and event.kind not in kinds:
            continue
        text = searchable_text(event)
        lowered = text.lower()
        if matches(term in lowered for term in terms):
            hits.append(SearchHit(event, excerpt(text)))
    return hits


def searchable_text(event: Event) -> str:
    """What a search looks at: the text of a message, tool and arguments or result, else the payload as JSON."""
    payload = event.payload
    match event.kind:
        case "user_message" | "agent_message":
            return _text(payload.get("text", payload.get("thinking", "")))
        case "tool_call":
            return f"{_text(payload.get('tool', ''))} {_json(payload.get('args', {}))}"
        case "tool_result":
            return f"{_text(payload.get('tool', ''))} {_json(payload.get('result', {}))}"
        case "ui_transcript":
            return _json(payload.get("entry", payload))
        case _:
            return _json(payload)


def excerpt(text: str) -> str:
    """Text with white space collapsed, cut to `EXCERPT_CHARS`."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARS else line[: EXCERPT_CHARS - 3] + "..."


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
