"""References: what one row names is there, what a session counts is what it has, and blobs are what their hash says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from workbench.store.lake import RAW, identifier
from workbench.store.verify.problem import REBUILD
from workbench.store.verify.rows import Question, names


class Reference(NamedTuple):
    """Columns of one table that name a row of another; null names nothing."""

    table: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


def _of_session(table: str, column: str, target: str, target_column: str) -> Reference:
    return Reference(table, ("session_id", column), target, ("session_id", target_column))


REFERENCES: Final = (
    Reference("session_labels", ("session_id",), "sessions", ("session_id",)),
    Reference("events", ("source_id",), "sources", ("source_id",)),
    _of_session("events", "parent_event_id", "events", "event_id"),
    _of_session("turns", "event_id", "events", "event_id"),
    _of_session("turns", "turn", "events", "turn"),
    _of_session("turn_records", "turn", "events", "turn"),
    _of_session("tool_calls", "call_event_id", "events", "event_id"),
    _of_session("tool_calls", "result_event_id", "events", "event_id"),
    _of_session("tool_calls", "artifact_id", "artifacts", "artifact_id"),
    _of_session("usage", "event_id", "events", "event_id"),
    _of_session("artifacts", "created_event_id", "events", "event_id"),
    Reference("artifacts", ("artifact_id",), "blobs", ("sha256",)),
    Reference("import_issues", ("source_id",), "sources", ("source_id",)),
)
"""A sub-agent's file may be imported without the file of the session that started it, so `sources.parent_source_id` may
name a file that is not there."""

COUNTS: Final = (
    ("events", "events"),
    ("turns", "turns"),
    ("tool_calls", "tool_calls"),
    ("model_calls", "usage"),
    ("issues", "import_issues"),
)
"""A column of `sessions`, and the table whose rows it counts."""


def questions() -> Iterator[Question]:
    """What is asked of the tables of the sessions group."""
    yield from map(_dangling, REFERENCES)
    yield from (_count(*pair) for pair in COUNTS)
    yield _gapless()
    yield _hashed()


def _dangling(reference: Reference) -> Question:
    table, columns, target, target_columns = reference
    pairs = zip(map(identifier, columns), map(identifier, target_columns), strict=True)
    matches = " and ".join(f"one.{ours} = other.{theirs}" for ours, theirs in pairs)
    known = " and ".join(f"one.{identifier(column)} is not null" for column in columns)
    example = ", ".join(f"one.{identifier(column)}::varchar" for column in columns)
    distinct = f"(select distinct {names(target_columns)} from {identifier(target)})"
    sql = f"""
        select count(*) as n, min(concat_ws(', ', {example})) as example
        from (select * from {identifier(table)} one where {known}) one anti join {distinct} other on {matches}
    """
    detail = f"{{n}} rows name {target} that are not there, such as {', '.join(columns)} = {{example}}"
    tables = tuple(dict.fromkeys((table, target, "sessions")))
    return Question("dangling_reference", table, tables, sql, detail, REBUILD)


def _count(column: str, table: str) -> Question:
    sql = f"""
        select count(*) as n, min(session_id) as example
        from sessions s left join (select session_id, count(*) as rows_found from {identifier(table)} group by all)
        using (session_id) where s.{identifier(column)} != coalesce(rows_found, 0)
    """
    detail = f"{{n}} sessions have another number of rows in {table} than they tell, such as {{example}}"
    return Question("wrong_count", table, (table, "sessions"), sql, detail, REBUILD)


def _gapless() -> Question:
    sql = """
        select count(*) as n, min(session_id) as example
        from (
            select session_id from events group by session_id
            having min(seq) != 1 or max(seq) != count(*) or count(distinct seq) != count(*)
        )
    """
    detail = "the events of {n} sessions are not numbered from 1 without gaps, such as those of {example}"
    return Question("wrong_numbering", "events", ("events", "sessions"), sql, detail, REBUILD)


def _hashed() -> Question:
    sql = f"""
        select count(*) as n, min(sha256) as example
        from {identifier(RAW + "blobs")} where sha256(text) != sha256
    """
    detail = "{n} texts are not what their hash says, such as {example}"
    return Question("wrong_hash", "blobs", ("blobs",), sql, detail, REBUILD)
