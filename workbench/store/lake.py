"""The lake: every table as a view for DuckDB and as a lazy frame for Polars.

Opening takes no lock and blocks no writer. A view shows, of a derived table, the rows of each session's current landing
(see `landing`), and of an entity table the newest version of each key that was not deleted; `<table>_history` has all
versions of an entity.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from workbench.errors import NotFoundError, QueryError, StoreError, VanishedError
from workbench.store.delta import DeltaStore, Snapshot, again_if_vanished, quote
from workbench.store.home import Home
from workbench.store.landing_key import HEAD
from workbench.store.schema import LANDING_ID, Table
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
    raw = identifier(RAW + table.name)
    keys = ", ".join(map(identifier, table.key))
    if table.kind == "derived":
        shown = "" if table.name == HEAD else f" semi join {identifier(RAW + HEAD)} using ({LANDING_ID})"
        return f"select * exclude ({LANDING_ID}) from {raw}{shown}"
    if table.kind == "entity":
        until = "where recorded_at <= ? " if as_of else ""
        newest = f"row_number() over (partition by {keys} order by recorded_at desc, row_id desc) = 1"
        return f"select * exclude (deleted) from (select * from {raw} {until}qualify {newest}) where not deleted"
    return f"select distinct on ({keys}) * from {raw}" if table.key else f"select * from {raw}"


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

        A landing commits `sessions` last and deletes what it replaced afterwards; so the snapshot holds together when
        `sessions` did not move while the others were opened.

        Args:
            names: Those that are wanted; all unless given. `sessions` is always among them.

        Raises:
            StoreError: A table cannot be read, or landings never paused.
        """
        wanted = self.stores if names is None else {name: self.stores[name] for name in names}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            before = self.stores[HEAD].version()
            others = {name: store.snapshot() for name, store in wanted.items() if name != HEAD}
            head = self.stores[HEAD].snapshot()
            if head.version == before:
                return {HEAD: head, **others}
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

    def _connected(self, names: Collection[str] | None) -> duckdb.DuckDBPyConnection:
        import duckdb  # noqa: PLC0415

        cursor = self._connection.cursor()
        cursor.execute("set TimeZone='UTC'")
        cursor.execute("set python_enable_replacements=false")  # a name that is no table is no variable of ours either
        snapshots = self.snapshot(names)
        try:
            for name, snapshot in snapshots.items():
                _show(cursor, RAW + name, snapshot)
        except duckdb.Error as error:
            cursor.close()
            raise self.unreadable(error) from error
        for table in map(self.tables.__getitem__, snapshots):
            cursor.execute(f"create or replace temp view {identifier(table.name)} as {view_sql(table)}")
            if table.kind == "entity":
                history = f"select * from {identifier(RAW + table.name)}"
                cursor.execute(f"create or replace temp view {identifier(table.name + '_history')} as {history}")
        for view in self.views.values():
            if snapshots.keys() >= set(view.reads):
                cursor.execute(f"create or replace temp view {identifier(view.name)} as {view.query}")
        return cursor

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
        return again_if_vanished(lambda: self._asked(query, parameters))

    def _asked(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None) -> pl.DataFrame:
        import duckdb  # noqa: PLC0415
        import polars as pl  # noqa: PLC0415  (175 ms)

        connection = self.connection()
        try:
            frame = interruptibly(connection, lambda: _frame(connection, query, parameters))
            return pl.DataFrame() if frame is None else _whole_numbers(frame)
        except duckdb.Error as error:
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
        if table.kind == "derived":
            if name != HEAD:
                frame = frame.join(_lazy(snapshots[HEAD]).select(LANDING_ID), on=LANDING_ID, how="semi")
            return frame.drop(LANDING_ID)
        if table.kind == "entity":
            newest = frame.sort("recorded_at", "row_id").unique(list(table.key), keep="last", maintain_order=True)
            return newest.filter(~pl.col("deleted")).drop("deleted")
        return frame.unique(list(table.key), keep="any") if table.key else frame

    def derived_rows(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Columns of a derived table's view, by pyarrow alone: without the 300 ms in which DuckDB and Polars load.

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


def _show(cursor: duckdb.DuckDBPyConnection, name: str, snapshot: Snapshot) -> None:
    """Make a view of a snapshot, read by DuckDB itself.

    So it finds the events of one session among a million in 60 ms; over a registered dataset it takes 4 s, and cannot
    compare texts in the files that deltalake rewrote, which hold string_view. `union_by_name` opens every file first.
    """
    if not snapshot.files:
        cursor.register(name, snapshot.schema.empty_table())
        return
    files = ", ".join(quote(_GLOB.sub(r"[\g<0>]", file)) for file in snapshot.files)
    options = f"hive_partitioning=false, union_by_name={not snapshot.is_uniform}"
    cursor.execute(
        f"create or replace temp view {identifier(name)} as select * from read_parquet([{files}], {options})"
    )


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
