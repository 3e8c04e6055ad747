"""Rows: keys are unique, versions of a thing are in order, and every hidden row has its session.

A question is one query over a whole table. It gives at most one row: how many, and an example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from workbench.store.lake import RAW, identifier
from workbench.store.landing_key import HEAD
from workbench.store.schema import LANDING_ID, Table
from workbench.store.verify.problem import REBUILD, remake


class Question(NamedTuple):
    """A query that finds what is wrong.

    Attributes:
        what: Kind of the problem.
        where: The table it is told of.
        tables: All tables that the query reads; it is not asked where one of them is damaged.
        sql: Gives `n` (BIGINT) and `example` (VARCHAR); `n` is 0 where all is well.
        detail: What was found, with `{n}` and `{example}`.
        remedy: What repairs it.
    """

    what: str
    where: str
    tables: tuple[str, ...]
    sql: str
    detail: str
    remedy: str


def questions(tables: Iterable[Table]) -> Iterator[Question]:
    """What is asked of every table, whatever it is about."""
    for table in tables:
        if table.head is not None:
            yield from _landings(table)
        if table.kind == "derived":
            yield _unique_key(table)
        elif table.kind == "entity":
            yield from _versions(table)
        else:
            yield _one_content(table)


def names(columns: Iterable[str]) -> str:
    """Columns, quoted, for SQL."""
    return ", ".join(map(identifier, columns))


def shown(columns: Iterable[str]) -> str:
    """SQL of a text that shows some columns of a row."""
    return f"concat_ws(', ', {', '.join(f'{identifier(c)}::varchar' for c in columns)})"


def _unique_key(table: Table) -> Question:
    keys = names(table.key)
    sql = f"""
        select count(*) as n, min(shown) as example
        from (select {shown(table.key)} as shown from {identifier(table.name)} group by {keys} having count(*) > 1)
    """
    detail = f"{{n}} values of the key ({', '.join(table.key)}) stand in several rows, such as {{example}}"
    return Question("repeated_key", table.name, _with_head(table), sql, detail, remake(table))


def _landings(table: Table) -> Iterator[Question]:
    """Rows of a landing that `sessions` does not name; and rows that say another session than their landing's.

    Of a vault, rows that no run shows are what a run that died left; the next run removes them.
    """
    if table.name == table.head:
        return
    raw, head, tables = identifier(RAW + table.name), identifier(RAW + str(table.head)), _with_head(table)
    if table.head == HEAD:
        hidden = f"select count(*) as n, min(session_id) as example from {raw} anti join {head} using ({LANDING_ID})"
        detail = "{n} rows are of no session that there is, such as {example}; no view shows them"
        yield Question("rows_without_session", table.name, tables, hidden, detail, REBUILD)
    owner, whose = table.owner, "session" if table.head == HEAD else "vault"
    other = f"""
        select count(*) as n, min(r.{owner}) as example
        from {raw} r join {head} h using ({LANDING_ID}) where r.{owner} != h.{owner}
    """
    detail = f"{{n}} rows came with the landing of another {whose}, such as {{example}}"
    yield Question(f"wrong_{whose}", table.name, tables, other, detail, remake(table))


def _versions(table: Table) -> Iterator[Question]:
    raw, keys = identifier(RAW + table.name), names(table.key)
    restore = "bring the table back from a backup (workbench restore)"
    sql = f"""
        select count(*) as n, min(row_id) as example
        from (select row_id from {raw} group by row_id having count(*) > 1)
    """
    detail = "{n} row_ids stand in several rows, such as {example}"
    yield Question("repeated_row_id", table.name, (table.name,), sql, detail, restore)
    sql = f"""
        select count(*) as n, min(shown) as example
        from (
            select {shown(table.key)} as shown from {raw}
            group by {keys} having count(distinct recorded_at) < count(*)
        )
    """
    detail = "{n} things have two versions of one time, such as {example}: which is the newer one is chance"
    yield Question("versions_out_of_order", table.name, (table.name,), sql, detail, restore)


def _one_content(table: Table) -> Question:
    raw, keys = identifier(RAW + table.name), names(table.key)
    rest = [name for name in table.schema.names if name not in table.key]
    differ = f"count(distinct hash({names(rest)}))" if rest else "1"
    sql = f"""
        select count(*) as n, min(shown) as example
        from (
            select {shown(table.key)} as shown
            from {raw} semi join (select {keys} from {raw} group by {keys} having count(*) > 1) using ({keys})
            group by {keys} having {differ} > 1
        )
    """
    detail = f"{{n}} values of the key ({', '.join(table.key)}) stand for different things, such as {{example}}"
    return Question("repeated_key", table.name, (table.name,), sql, detail, REBUILD)


def _with_head(table: Table) -> tuple[str, ...]:
    return tuple(dict.fromkeys((table.name, table.head or HEAD)))
