"""What kind of task each recorded session is at: what the prompt of its last exchange would have been told.

The words of the last message, and what tools did in the exchanges before it, judged by the very function that a prompt
is made with. Read for all sessions at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.context.activity import activity_of
from workbench.context.error_tracker import Errors, track_errors
from workbench.context.recorder import Call, record_turn
from workbench.context.records import TurnDigest
from workbench.context.task_type import classify_task
from workbench.experiments.foreign_tools import our_args, our_name

if TYPE_CHECKING:
    import duckdb

    from workbench.config.context import ContextEngine
    from workbench.context.records import ActivityEntry, TaskType, TurnRecord

TABLES = ("sessions", "turn_records", "tool_calls")

_EXCHANGES = """
    select session_id, turn, user_text
    from turn_records
    where turn >= 1
    qualify row_number() over (partition by session_id order by turn desc) <= $exchanges
    order by session_id, turn
"""
_CALLS = f"""
    with wanted as ({_EXCHANGES})
    select c.session_id, c.turn, c.tool, c.command, c.file_path, c.is_error
    from tool_calls c
    join wanted using (session_id, turn)
    where not c.is_sidechain
    order by c.session_id, c.seq
"""


def task_types(connection: duckdb.DuckDBPyConnection, engine: ContextEngine) -> dict[str, TaskType]:
    """The kind of task of every session.

    Args:
        connection: Over the views in `TABLES`.
        engine: How many exchanges count, and what decides.

    Returns:
        By session id; sessions without an exchange are absent.
    """
    asked = {"exchanges": engine.task_type.turns_back + 1}
    exchanges = connection.execute(_EXCHANGES, asked).fetchall()
    calls: defaultdict[tuple[str, int], list[Call]] = defaultdict(list)
    for session_id, turn, *call in connection.execute(_CALLS, asked).fetchall():
        calls[session_id, turn].append(_call(*call))
    by_session: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for session_id, turn, text in exchanges:
        by_session[session_id].append((turn, text))
    return {
        session_id: _task_type(found, {turn: calls[session_id, turn] for turn, _ in found}, engine)
        for session_id, found in by_session.items()
    }


def _task_type(
    exchanges: Sequence[tuple[int, str]], calls: Mapping[int, Sequence[Call]], engine: ContextEngine
) -> TaskType:
    *before, (turn, asked) = exchanges
    errors = Errors()
    activity: list[ActivityEntry] = []
    records: list[TurnRecord] = []
    for number, text in before:
        record = record_turn(number, text, calls[number], "")
        news = track_errors(errors, record, engine.digest.error_chars)
        digest = TurnDigest(turn=number, errors_fixed=news.fixed)
        activity += activity_of(record, digest, test_was_failing=errors.test_failed)
        errors = news.errors
        records.append(record)
    return classify_task(asked, records, activity, turn, engine.task_type).task_type


def _call(tool: str, command: str | None, path: str | None, is_error: bool | None) -> Call:
    """A call without what it returned, which tells nothing of the task."""
    args: dict[str, Any] = {} if command is None else {"command": command}
    ours = our_name(tool, args)
    return Call(tool=ours, args=our_args(ours, args, command, path), is_error=bool(is_error))
