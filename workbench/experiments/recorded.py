"""A recorded session as exchanges, model calls and tool calls, read from the tables whatever agent it was.

Only the main chain: what a sub-agent did is not in the prompt of the agent that started it, its result is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from workbench.context.state import RESET
from workbench.errors import NotFoundError
from workbench.experiments.foreign_tools import our_args, our_name

if TYPE_CHECKING:
    import polars as pl


Row = dict[str, Any]


class Asked(Protocol):
    """What answers questions about the tables: a lake, or a workbench."""

    def sql(self, query: str, parameters: Mapping[str, Any]) -> pl.DataFrame:
        """Run a query with named parameters."""


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call: as the agent wrote it, and in our words."""

    tool: str
    args: dict[str, Any]
    our_tool: str
    our_args: dict[str, Any]
    result: str | None
    is_error: bool
    call_id: str
    called_at: datetime | None


class RecordedAction(msgspec.Struct, frozen=True):
    """A change of the state that the session itself recorded, as `context.state.apply_action` takes it."""

    action: dict[str, Any]
    occurred_at: datetime | None


class RecordedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A model call: what it said, which tools it called, and what it changed of the state."""

    number: int
    text: str
    calls: tuple[RecordedCall, ...]
    actions: tuple[RecordedAction, ...] = ()


class RecordedExchange(msgspec.Struct, frozen=True, kw_only=True):
    """An exchange; `turn` counts from 1."""

    turn: int
    user_text: str
    answer: str
    started_at: datetime | None
    steps: tuple[RecordedStep, ...]


class RecordedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session of the tables."""

    session_id: str
    agent: str
    cwd: str | None
    project_id: str | None
    exchanges: tuple[RecordedExchange, ...]


READ: Final = ("events", "sessions", "tool_calls", "turn_records", "turns")
"""Tables that a session is read from; who reads at fixed versions fixes these."""

READ_AT_ONCE: Final = 16
"""Sessions read by one question: fewer cost a scan of the tables each, more cost memory."""

_WANTED = "where session_id in (select unnest($ids))"
_SESSIONS = f"select session_id, agent, cwd, project_id from sessions {_WANTED}"
_EXCHANGES = f"""
    select session_id, turn, user_text, assistant_text, started_at from turn_records
    {_WANTED} and turn >= 1 order by session_id, turn
"""
_RESPONSES = f"""
    select session_id, turn, seq, text from turns
    {_WANTED} and role = 'assistant' and not is_sidechain and turn >= 1 order by session_id, seq
"""
_ACTIONS = f"""
    select session_id, turn, seq, kind, payload, occurred_at from events
    {_WANTED} and not is_sidechain and turn >= 1 and (kind = 'context_action' or kind = 'system_note'
        and payload->>'$.type' = 'state_reset' and payload->>'$.cleared' = 'all')
    order by session_id, seq
"""
_BY_POLICY: Final = ("idle", "auto_hydrate")
"""Reasons of changes that a policy made: a replay makes its own."""
_CALLS = f"""
    select session_id, turn, seq, tool, input, command, file_path, result, is_error, tool_call_id, called_at
    from tool_calls
    {_WANTED} and not is_sidechain and turn >= 1 order by session_id, seq
"""


def read_recorded(lake: Asked, session_id: str) -> RecordedSession:
    """Read one session.

    Args:
        lake: The tables.
        session_id: Its whole id.

    Raises:
        NotFoundError: It is not in the tables.
    """
    return next(iter(read_each(lake, [session_id])))


def read_each(lake: Asked, session_ids: Sequence[str]) -> Iterator[RecordedSession]:
    """Read sessions, some at a time.

    Args:
        lake: The tables.
        session_ids: Whole ids.

    Raises:
        NotFoundError: One of them is not in the tables.
    """
    for start in range(0, len(session_ids), READ_AT_ONCE):
        yield from _read(lake, session_ids[start : start + READ_AT_ONCE])


def _read(lake: Asked, session_ids: Sequence[str]) -> Iterator[RecordedSession]:
    asked = {"ids": list(session_ids)}
    about = {row["session_id"]: row for row in lake.sql(_SESSIONS, asked).iter_rows(named=True)}
    queries = (_EXCHANGES, _RESPONSES, _CALLS, _ACTIONS)
    exchanges, responses, calls, actions = (_grouped(lake.sql(query, asked)) for query in queries)
    for session_id in session_ids:
        if session_id not in about:
            raise NotFoundError(f"there is no session {session_id!r}; `workbench sessions` lists them")
        yield _session(
            about[session_id],
            exchanges.get(session_id, []),
            _by_turn(responses.get(session_id, [])),
            _by_turn(calls.get(session_id, [])),
            _by_turn(actions.get(session_id, [])),
        )


def _session(
    about: Row,
    exchanges: Sequence[Row],
    responses: Mapping[int, list[Row]],
    calls: Mapping[int, list[Row]],
    actions: Mapping[int, list[Row]],
) -> RecordedSession:
    return RecordedSession(
        session_id=about["session_id"],
        agent=about["agent"],
        cwd=about["cwd"],
        project_id=about["project_id"],
        exchanges=tuple(
            RecordedExchange(
                turn=row["turn"],
                user_text=row["user_text"],
                answer=row["assistant_text"],
                started_at=row["started_at"],
                steps=_steps(*(rows.get(row["turn"], []) for rows in (responses, calls, actions))),
            )
            for row in exchanges
        ),
    )


def _grouped(frame: pl.DataFrame) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for row in frame.iter_rows(named=True):
        rows.setdefault(row["session_id"], []).append(row)
    return rows


def _by_turn(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row["turn"], []).append(row)
    return found


def _steps(responses: Sequence[Row], calls: Iterable[Row], actions: Iterable[Row]) -> tuple[RecordedStep, ...]:
    """Model calls with what they did: it belongs to the last response that began before it."""
    starts = [row["seq"] for row in responses]
    texts = [row["text"] for row in responses]

    def step(row: Row) -> int:
        return max(0, bisect_right(starts, row["seq"]) - 1)

    called: dict[int, list[RecordedCall]] = {}
    for row in calls:
        called.setdefault(step(row), []).append(_call(row))
    changed: dict[int, list[RecordedAction]] = {}
    for row in actions:
        action = _arguments(row["payload"]) if row["kind"] == "context_action" else {"action": RESET}
        if action.get("reason") not in _BY_POLICY:
            changed.setdefault(step(row), []).append(RecordedAction(action, row["occurred_at"]))
    count = max(len(texts), 1 if called or changed else 0)
    return tuple(
        RecordedStep(
            number=place + 1,
            text=texts[place] if place < len(texts) else "",
            calls=tuple(called.get(place, ())),
            actions=tuple(changed.get(place, ())),
        )
        for place in range(count)
    )


def _call(row: Row) -> RecordedCall:
    args = _arguments(row["input"])
    tool = our_name(row["tool"], args)
    return RecordedCall(
        tool=row["tool"],
        args=args,
        our_tool=tool,
        our_args=our_args(tool, args, row["command"], row["file_path"]),
        result=row["result"],
        is_error=bool(row["is_error"]),
        call_id=row["tool_call_id"],
        called_at=row["called_at"],
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return {"input": text}
    return value if isinstance(value, dict) else {"input": value}
