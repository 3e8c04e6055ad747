"""The lake: every table as a view for DuckDB and as a lazy frame for Polars.

Opening takes no lock and blocks no writer. A view shows, of a derived table, the rows of the current landing of each
session or vault (see `landing`), and of an entity table the newest version of each key that was not deleted;
`<table>_history` has all versions of an entity. Of a vault's entities those versions count that a finished run wrote.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from workbench.errors import NotFoundError, QueryError, StoreError, VanishedError
from workbench.store.delta import DeltaStore, Snapshot, again_if_vanished, quote
from workbench.store.home import Home
from workbench.store.landing_key import HEAD
from workbench.store.schema import BOOL, FLOAT, INT, LANDING_ID, STRING, STRINGS, TIME, Table, View
from workbench.store.tables import TABLES, VIEWS

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa

T = TypeVar("T")

PATIENCE_SECONDS: Final = 30
"""For how long a snapshot is taken again because a landing finished in its middle; each try takes some milliseconds."""

_GONE: Final = ("No such file", "No files found")
"""What DuckDB and the system say of a file that is not there."""

_GLOB: Final = re.compile(r"[*?\[\]]")

_LISTS: Final = re.compile(
    r"\b(?:show|describe|pragma|information_schema|duckdb_\w+|query|query_table|pg_\w+)\b", re.IGNORECASE
)
"""Words of a query that asks which tables and views there are."""

LOOK_UP_SECONDS: Final = 0.2
"""Ctrl-C ends a query within this time."""

RAW: Final = "_raw_"
"""Prefix of the names under the views: all rows that are stored."""


def identifier(name: str) -> str:
    """A quoted SQL name."""
    return '"' + name.replace('"', '""') + '"'


def view_sql(table: Table, *, as_of: bool = False) -> str:
    """The SELECT behind a table's view.

    Args:
        table: The table.
        as_of: Only versions recorded up to the bound time `?`; for entity tables.
    """
    keys = ", ".join(map(identifier, table.key))
    if table.kind == "derived":
        return shown_sql(table)
    if table.kind == "entity":
        return newest_sql(table, f"({shown_sql(table)})", as_of=as_of)
    columns = f"* exclude ({LANDING_ID})" if LANDING_ID in table.schema.names else "*"
    distinct = f"distinct on ({keys}) " if table.key else ""
    return f"select {distinct}{columns} from {identifier(RAW + table.name)}"


def newest_sql(table: Table, versions: str, *, as_of: bool = False) -> str:
    """The SELECT of the newest version of each key of an entity table that was not deleted.

    Args:
        table: The table.
        versions: The relation that has all versions, as SQL.
        as_of: Only versions recorded up to the bound time `?`.
    """
    until = "where recorded_at <= ? " if as_of else ""
    keys = ", ".join(map(identifier, table.key))
    newest = f"row_number() over (partition by {keys} order by recorded_at desc, row_id desc) = 1"
    return f"select * exclude (deleted) from (select * from {versions} {until}qualify {newest}) where not deleted"


def shown_sql(table: Table) -> str:
    """The SELECT of all rows of a derived or entity table whose landing its head names."""
    raw = identifier(RAW + table.name)
    if table.head is None:
        return f"select * from {raw}"
    shown = "" if table.name == table.head else f" semi join {landings_sql(table)} using ({LANDING_ID})"
    return f"select * exclude ({LANDING_ID}) from {raw}{shown}"


def landings_sql(table: Table) -> str:
    """The relation of the landings that a table's view shows."""
    head = identifier(RAW + str(table.head))
    if table.head == HEAD or table.kind == "entity":
        return head
    newest = f"row_number() over (partition by {table.owner} order by recorded_at desc, run_id desc) = 1"
    return f"(select {LANDING_ID} from {head} qualify {newest})"


class Lake:
    """Reads one home.

    Args:
        home: The home; tables that do not exist yet are empty.
        tables: Declarations by name.
    """

    def __init__(self, home: Home, tables: Mapping[str, Table] = TABLES) -> None:
        self.home = home
        self.tables = tables
        self.views = {name: view for name, view in VIEWS.items() if tables.keys() >= set(view.reads)}
        self.stores = {name: DeltaStore(home.tables / name, table) for name, table in tables.items()}

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        import duckdb  # noqa: PLC0415  (100 ms that an import of unchanged files does not need)

        return duckdb.connect(":memory:")

    def snapshot(self, names: Collection[str] | None = None) -> dict[str, Snapshot]:
        """Tables at versions that belong together.

        A landing commits its head last and deletes what it replaced afterwards; so the snapshot holds together when no
        head moved while the others were opened.

        Args:
            names: Those that are wanted; all unless given. `sessions` is always there, and so are their heads.

        Raises:
            StoreError: A table cannot be read, or landings never paused.
        """
        wanted = self.stores if names is None else {name: self.stores[name] for name in names}
        heads = {HEAD, *(store.table.head for store in wanted.values() if store.table.head is not None)}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            before = {name: self.stores[name].version() for name in self.stores if name in heads}
            others = {name: store.snapshot() for name, store in wanted.items() if name not in heads}
            found = {name: self.stores[name].snapshot() for name in before}
            if all(snapshot.version == before[name] for name, snapshot in found.items()):
                return {**found, **others}
            if time.monotonic() > deadline:
                raise StoreError("imports finish faster than the tables can be opened; try again in a moment")

    def connection(self, names: Collection[str] | None = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection of the caller's own (a cursor), with the views at the newest snapshot.

        Args:
            names: The tables that will be asked; all unless given. Each that is opened takes some milliseconds.

        Raises:
            StoreError: A table cannot be read.
        """
        return again_if_vanished(lambda: self._connected(names))

    def _connected(self, names: Collection[str] | None, asked: str | None = None) -> duckdb.DuckDBPyConnection:
        import duckdb  # noqa: PLC0415

        cursor = self._connection.cursor()
        cursor.execute("set TimeZone='UTC'")
        cursor.execute("set python_enable_replacements=false")  # a name that is no table is no variable of ours either
        views = self._declared(asked)
        snapshots = self.snapshot(self._named(asked, views) if names is None else names)
        try:
            for name, snapshot in snapshots.items():
                _show(cursor, RAW + name, snapshot)
        except duckdb.Error as error:
            cursor.close()
            raise self.unreadable(error) from error
        for table in map(self.tables.__getitem__, snapshots):
            cursor.execute(f"create or replace temp view {identifier(table.name)} as {view_sql(table)}")
            if table.kind == "entity":
                name = identifier(table.name + "_history")
                cursor.execute(f"create or replace temp view {name} as {shown_sql(table)}")
        for view in views:
            if snapshots.keys() >= set(view.reads):
                cursor.execute(f"create or replace temp view {identifier(view.name)} as {view.query}")
        return cursor

    def _declared(self, asked: str | None) -> Sequence[View]:
        """The declared views that a query may name, and those that they name; all without a query.

        To make `scorecards` alone takes 40 ms, since DuckDB reads a view's query at once.
        """
        if asked is None or _LISTS.search(asked):
            return list(self.views.values())
        text, wanted = asked.lower(), list[View]()
        for view in reversed(self.views.values()):  # a view names only those before it
            if view.name in text:
                wanted.insert(0, view)
                text += view.query
        return wanted

    def _named(self, asked: str | None, views: Iterable[View]) -> Collection[str] | None:
        """The tables that a query may name, itself or by its views; all without a query.

        To make the views of all of them takes 140 ms, of one 10 ms.
        """
        if asked is None or _LISTS.search(asked):
            return None
        text = asked.lower()
        read = {name for view in views for name in view.reads}
        return [name for name in self.tables if name in read or name in text]

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Run a query over the views.

        Args:
            query: One or more DuckDB statements; the last one's result is returned.
            parameters: Values for `?`, or by name for `$name`.

        Returns:
            The result; an empty frame where the statement has none.

        Raises:
            QueryError: DuckDB refused it; the message has DuckDB's own and the tables there are.
            StoreError: A table cannot be read.
        """
        return again_if_vanished(lambda: self._asked(query, parameters, query))

    def _asked(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None, asked: str | None
    ) -> pl.DataFrame:
        import duckdb  # noqa: PLC0415
        import polars as pl  # noqa: PLC0415  (175 ms)

        connection = self._connected(None, asked)
        try:
            frame = interruptibly(connection, lambda: _frame(connection, query, parameters))
            return pl.DataFrame() if frame is None else _whole_numbers(frame)
        except duckdb.Error as error:
            if asked is not None and isinstance(error, duckdb.CatalogException) and _is_single(connection, query):
                # Among all tables, DuckDB finds the one that was meant.
                return self._asked(query, parameters, None)
            if isinstance(error, duckdb.IOException) and str(self.home.tables) in str(error):
                raise self.unreadable(error) from error
            raise QueryError(f"{error}\nTables: {', '.join(sorted([*self.tables, *self.views]))}") from error
        finally:
            connection.close()

    def unreadable(self, error: Exception) -> StoreError:
        """What to raise where the tables' files could not be read; a `VanishedError` where one was not there."""
        is_gone = any(words in str(error) for words in _GONE)
        return (VanishedError if is_gone else StoreError)(f"the tables in {self.home.tables} cannot be read: {error}")

    def scan(self, name: str) -> pl.LazyFrame:
        """A table's view as a Polars lazy frame.

        Raises:
            NotFoundError: There is no such table.
        """
        import polars as pl  # noqa: PLC0415

        if name in self.views:
            return self.sql(f"select * from {identifier(name)}").lazy()
        table = self._table(name)
        snapshots = self.snapshot([name])
        frame = _lazy(snapshots[name])
        if table.head is not None and name != table.head:
            frame = frame.join(_landings(table, snapshots), on=LANDING_ID, how="semi")
        frame = frame.drop(LANDING_ID, strict=False)
        if table.kind == "derived":
            return frame
        if table.kind == "entity":
            newest = frame.sort("recorded_at", "row_id").unique(list(table.key), keep="last", maintain_order=True)
            return newest.filter(~pl.col("deleted")).drop("deleted")
        return frame.unique(list(table.key), keep="any") if table.key else frame

    def derived_rows(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Columns of the view of what is derived from sessions, by pyarrow alone: DuckDB and Polars load in 300 ms.

        Raises:
            NotFoundError: There is no such table.
        """
        self._table(name)
        return again_if_vanished(lambda: self._derived_rows(name, columns))

    def _derived_rows(self, name: str, columns: Sequence[str]) -> pa.Table:
        import pyarrow.compute as pc  # noqa: PLC0415  (60 ms)

        snapshots = self.snapshot([name])
        try:
            landings = snapshots[HEAD].dataset().to_table(columns=[LANDING_ID])[LANDING_ID]
            shown = pc.field(LANDING_ID).isin(landings.combine_chunks())
            rows: pa.Table = snapshots[name].dataset().to_table(columns=list(columns), filter=shown)
        except FileNotFoundError as error:
            raise self.unreadable(error) from error
        return rows

    def _table(self, name: str) -> Table:
        table = self.tables.get(name)
        if table is None:
            raise NotFoundError(f"there is no table {name!r}; there are {', '.join(sorted(self.tables))}")
        return table

    def as_of(self, name: str, moment: datetime) -> pl.DataFrame:
        """An entity table as it was at a moment.

        Raises:
            NotFoundError: There is no such entity table.
            QueryError: The moment has no zone.
        """
        table = self.tables.get(name)
        if table is None or table.kind != "entity":
            entities = sorted(t.name for t in self.tables.values() if t.kind == "entity")
            raise NotFoundError(f"{name!r} is no entity table; those that know their past are {', '.join(entities)}")
        if moment.tzinfo is None:
            raise QueryError(f"as_of needs a time with a zone, got {moment!r}")
        return self.sql(view_sql(table, as_of=True), [moment.astimezone(UTC)])


_SQL_TYPES: Final = {
    STRING: "varchar",
    BOOL: "boolean",
    INT: "bigint",
    FLOAT: "double",
    STRINGS: "varchar[]",
    TIME: "timestamptz",
}
"""Of a table without rows, which is described to DuckDB and not handed over: to look whether it is a frame of pandas,
DuckDB imports pandas where it is installed, 0.4 s."""


def _show(cursor: duckdb.DuckDBPyConnection, name: str, snapshot: Snapshot) -> None:
    """Make a view of a snapshot, read by DuckDB itself.

    So it finds the events of one session among a million in 60 ms; over a registered dataset it takes 4 s, and cannot
    compare texts in the files that deltalake rewrote, which hold string_view. `union_by_name` opens every file first.
    """
    if not snapshot.files:
        columns = ", ".join(f"null::{_SQL_TYPES[each.type]} as {identifier(each.name)}" for each in snapshot.schema)
        cursor.execute(f"create or replace temp view {identifier(name)} as select {columns} where false")
        return
    files = ", ".join(quote(_GLOB.sub(r"[\g<0>]", file)) for file in snapshot.files)
    options = f"hive_partitioning=false, union_by_name={not snapshot.is_uniform}"
    cursor.execute(
        f"create or replace temp view {identifier(name)} as select * from read_parquet([{files}], {options})"
    )


def _landings(table: Table, snapshots: Mapping[str, Snapshot]) -> pl.LazyFrame:
    """The landings that a table's view shows, as `landings_sql` has them."""
    head = _lazy(snapshots[str(table.head)])
    if table.head != HEAD and table.kind == "derived":
        owners = [str(table.owner)]
        head = head.sort("recorded_at", "run_id").unique(owners, keep="last", maintain_order=True)
    return head.select(LANDING_ID)


def _lazy(snapshot: Snapshot) -> pl.LazyFrame:
    import polars as pl  # noqa: PLC0415

    empty = cast("pl.DataFrame", pl.from_arrow(snapshot.schema.empty_table()))
    if not snapshot.files:
        return empty.lazy()
    options: Any = {"glob": False, "hive_partitioning": False, "missing_columns": "insert"}
    return pl.scan_parquet(list(snapshot.files), schema=empty.schema, **options)


def _frame(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None
) -> pl.DataFrame | None:
    """The result of a query; intervals, which DuckDB cannot hand to Polars, become durations."""
    import polars as pl  # noqa: PLC0415

    relation: Any = connection.sql(query, params=parameters or [])
    if relation is None:
        return None
    columns = dict(zip(relation.columns, map(str, relation.types), strict=True))
    spans = [name for name, kind in columns.items() if kind == "INTERVAL"]
    if not spans:
        return cast("pl.DataFrame", relation.pl())
    shown = (f"epoch_us({identifier(n)}) as {identifier(n)}" if n in spans else identifier(n) for n in columns)
    frame: pl.DataFrame = relation.project(", ".join(shown)).pl()
    return frame.with_columns(pl.col(spans).cast(pl.Duration("us")))


def _is_single(connection: duckdb.DuckDBPyConnection, query: str) -> bool:
    """Whether a query is one statement, which did nothing before it was refused."""
    return len(connection.extract_statements(query)) == 1


def interruptibly(connection: duckdb.DuckDBPyConnection, ask: Callable[[], T]) -> T:
    """Run a query so that Ctrl-C ends it.

    A signal is acted on only while the main thread is in Python; and when one of DuckDB's threads catches it, the main
    thread does not wake up by itself. So the query has a thread of its own, and the main one looks up now and then.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="query") as pool:
        answer = pool.submit(ask)
        try:
            while not wait([answer], timeout=LOOK_UP_SECONDS).done:
                pass
        except KeyboardInterrupt:
            connection.interrupt()
            raise
        return answer.result()


def _whole_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Sums come as HUGEINT, which becomes a decimal without places; those that fit become integers."""
    import polars as pl  # noqa: PLC0415

    wide = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Decimal) and dtype.scale == 0]
    return frame.with_columns(pl.col(name).cast(pl.Int64, strict=True) for name in wide if _fits(frame[name]))


def _fits(column: pl.Series) -> bool:
    return all(abs(int(bound)) < 2**63 for bound in (column.min(), column.max()) if bound is not None)  # type: ignore[arg-type]
