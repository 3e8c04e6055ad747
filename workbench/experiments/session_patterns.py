"""How each recorded session went, kept beside the tables; and the patterns that recur in them.

To tell the kinds of a session's outputs means to read every one of them. So what was told is kept (`session_patterns`),
under the name of the state that the session's content had, and told anew only where that state or the settings changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from workbench.context.classify import content_type_of
from workbench.experiments.foreign_tools import our_name
from workbench.experiments.task_types import task_types
from workbench.store.tables.telemetry import WORKFLOW_PATTERNS, workflow_patterns_sql
from workbench.telemetry.patterns import Pattern, artifact_types, pattern_id, rules_of, tool_sequence

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from workbench.config import Config
    from workbench.store.lake import Lake

SESSIONS_AT_ONCE: Final = 64
"""Sessions whose outputs are read by one question: 20 MB of text for 150 MB of transcripts of 125 sessions."""

Progress = Callable[[int, int, str], None]
"""Called with sessions done, sessions in all, and the session at hand."""

_TABLES: Final = ("sessions", "sources", "turn_records", "tool_calls", "artifacts", "blobs", "session_patterns")
_MISSING = """
    with newest as (
        select session_id, state, rules from session_patterns
        qualify row_number() over (partition by session_id order by recorded_at desc, rules) = 1
    )
    select session_id, s.state, ended_at
    from session_states s join sessions using (session_id) left join newest n using (session_id)
    where n.rules is distinct from $rules or n.state is distinct from s.state
    order by ended_at nulls first, session_id
"""
_CALLS = """
    select session_id, tool, command, coalesce(is_error, false) or status = 'open'
    from tool_calls
    where not is_sidechain and session_id in (select unnest($ids))
    order by session_id, seq
"""
_OUTPUTS = """
    select a.session_id, a.source_tool, a.command, b.text
    from artifacts a join blobs b on b.sha256 = a.artifact_id
    where a.session_id in (select unnest($ids))
    order by a.session_id, a.created_turn, a.created_event_id
"""


def patterns_frame(
    lake: Lake,
    config: Config,
    *,
    task_type: str | None = None,
    as_of: datetime | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The patterns of work in all sessions; sessions that are new are looked into first.

    Args:
        lake: The tables.
        config: How long patterns are kept, and what is told of a session.
        task_type: Only of this kind.
        as_of: As they were at this moment (with a zone); at the end of the newest session unless given.
        progress: Hears of each session that is looked into.

    Returns:
        Columns of `workflow_patterns`, the most frequent first.
    """
    learn(lake, config, progress=progress)
    connection = lake.connection(WORKFLOW_PATTERNS.reads)
    try:
        asked = {"keep_days": config.workflow.keep_days, "as_of": as_of, "task_type": task_type}
        query = f"select * from ({workflow_patterns_sql()}) where $task_type is null or task_type = $task_type"
        frame: pl.DataFrame = connection.sql(query, params=asked).pl()
        return frame
    finally:
        connection.close()


def top_patterns(frame: pl.DataFrame, task_type: str) -> list[Pattern]:
    """Patterns of one kind out of a frame of `patterns_frame`, in its order."""
    rows = frame.select("task_type", "tool_sequence", "artifact_types", "hit_count").iter_rows()
    return [Pattern(kind, tuple(tools), tuple(kinds), hits) for kind, tools, kinds, hits in rows if kind == task_type]


def learn(lake: Lake, config: Config, *, progress: Progress | None = None) -> int:
    """Look into sessions that are new, that grew, or that were told by other settings.

    Broken off, what was told stays.

    Returns:
        How many there were.
    """
    engine = config.context_engine
    rules = rules_of(config.workflow, engine.task_type)
    connection = lake.connection(_TABLES)
    try:
        missing = connection.execute(_MISSING, {"rules": rules}).fetchall()
        types = task_types(connection, engine) if missing else {}
        store = lake.stores["session_patterns"]
        for start in range(0, len(missing), SESSIONS_AT_ONCE):
            some = missing[start : start + SESSIONS_AT_ONCE]
            if progress:
                progress(start, len(missing), some[0][0])
            told = _told(connection, [row[0] for row in some], types, config)
            now = datetime.now(UTC)
            rows = [
                {"session_id": name, "state": state, "rules": rules, "seen_at": seen, "recorded_at": now, **told[name]}
                for name, state, seen in some
            ]
            store.append(store.table.from_dicts(rows))
    finally:
        connection.close()
    if progress and missing:
        progress(len(missing), len(missing), "")
    return len(missing)


def _told(
    connection: duckdb.DuckDBPyConnection, ids: Sequence[str], types: dict[str, Any], config: Config
) -> dict[str, dict[str, Any]]:
    """What is told of each session: `task_type`, `tool_sequence`, `artifact_types`, `pattern_id`."""
    settings = config.workflow
    calls: defaultdict[str, list[tuple[str, bool]]] = defaultdict(list)
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for session_id, tool, command, failed in connection.execute(_CALLS, {"ids": ids}).fetchall():
        calls[session_id].append((_ours(tool, command), failed))
    for session_id, tool, command, text in connection.execute(_OUTPUTS, {"ids": ids}).fetchall():
        kinds[session_id].append(content_type_of(_ours(tool, command), command, text))
    told = {}
    for name in ids:
        tools = tool_sequence(calls[name], settings.max_tools)
        found = artifact_types(kinds[name], settings.max_artifact_types)
        kind = types.get(name, "general")
        told[name] = {
            "task_type": kind,
            "tool_sequence": tools,
            "artifact_types": found,
            "pattern_id": pattern_id(kind, tools, found),
        }
    return told


def _ours(tool: str, command: str | None) -> str:
    """Our name of a tool; an editor tool's own command tells what it does."""
    return our_name(tool, {"command": command})
