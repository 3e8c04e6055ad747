"""One Delta table: create, append, replace, delete, and every commit on disk before it counts.

deltalake never calls fsync (it writes and renames), so after a power loss a table could be gone or unreadable. A commit
here returns only when its data files, its log entry and their folders are synced, and with them every log entry that
another process wrote before ours: one lost entry makes the later ones useless. Measured cost: about 1 ms.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from workbench.errors import ConflictError, StoreError, VanishedError
from workbench.store.files import make_folder, sync_file, sync_folder
from workbench.store.schema import Table

if TYPE_CHECKING:
    import pyarrow.dataset as ds

T = TypeVar("T")

COMPACT_AT_FILES: Final = 100
"""Reading 2,000 small files costs 20 times one compacted file; compaction 0.5 s (measured)."""

MAX_TRIES: Final = 20
"""Each try rereads the table; eight processes appending without pause needed five at most."""

LONG_LIST: Final = 300
"""From here on rows are matched by a join. `in (...)` finds the few files that are meant, which is 10 times faster for
one value in a large table; but it costs 0.2 ms a value, and deltalake dies of a stack overflow at some ten thousand."""

ROUNDS: Final = 5
"""How often a snapshot is taken anew because a vacuum for `forget` removed its files before they were opened."""

ORPHANS_KEPT: Final = timedelta(days=1)
"""No writer takes so long from its first data file to its commit."""

NOTHING: Final = -1
"""The version of a table that does not exist."""

_WRITER: Final = WriterProperties(compression="ZSTD", compression_level=1)
"""Half the size of Snappy in the same time, measured on transcripts."""

_CONFIGURATION: Final[dict[str, str | None]] = {
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.enableExpiredLogCleanup": "false",
}
"""The defaults drop log entries older than 30 days at each checkpoint, and old versions with them, silently."""

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


def quote(value: str) -> str:
    """A string literal for a Delta predicate or for SQL."""
    return "'" + value.replace("'", "''") + "'"


def in_list(column: str, values: Iterable[Any]) -> str:
    """The predicate `column in (...)`; for many values see `LONG_LIST`."""
    return f"{column} in ({', '.join(quote(v) if isinstance(v, str) else str(v) for v in values)})"


class Snapshot(NamedTuple):
    """One version of a table.

    Attributes:
        version: `NOTHING` where the table was never created.
        files: Its data files.
        schema: The declared schema.
        is_uniform: Whether every file has all columns.
    """

    version: int
    files: tuple[str, ...]
    schema: pa.Schema
    is_uniform: bool

    def dataset(self) -> ds.Dataset:
        """The rows; columns that a file has not are null.

        Filters on text do not work in it: pyarrow cannot compare the string_view of the files that deltalake rewrote.
        """
        import pyarrow.dataset as ds  # noqa: PLC0415  (100 ms that DuckDB does not need)
        from pyarrow.fs import LocalFileSystem  # noqa: PLC0415

        if not self.files:
            return ds.dataset(self.schema.empty_table())
        form, system = ds.ParquetFileFormat(), LocalFileSystem()
        return ds.FileSystemDataset.from_paths(list(self.files), schema=self.schema, format=form, filesystem=system)


class DeltaStore:
    """The Delta table of one declaration, in one folder; safe to use from several threads.

    One handle reads and another writes, each refreshed and not reopened, so that a reader never waits for a writer.

    Args:
        folder: The table's folder; need not exist.
        table: The declaration.
    """

    def __init__(self, folder: Path, table: Table) -> None:
        self.folder = folder
        self.table = table
        self._reading, self._writing = threading.Lock(), threading.RLock()
        self._reader, self._writer = _Handle(folder), _Handle(folder)
        self._snapshot: Snapshot | None = None
        self._synced = NOTHING

    # -- reading -------------------------------------------------------------------------------------------------------

    def version(self) -> int:
        """The newest version; `NOTHING` where the table was never created.

        Raises:
            StoreError: It is there and cannot be read.
        """
        with self._reading:
            table = self._reader.refreshed()
            return NOTHING if table is None else table.version()

    def snapshot(self) -> Snapshot:
        """The newest version; one without rows where the table was never created.

        Raises:
            StoreError: It is there and cannot be read.
        """
        with self._reading:
            table = self._reader.refreshed()
            if table is None:
                return Snapshot(NOTHING, (), self.table.schema, is_uniform=True)
            if self._snapshot is None or self._reader.is_new or self._snapshot.version != table.version():
                names = (unquote(uri.rsplit("/", 1)[-1]) for uri in table.file_uris())
                files = tuple(str(self.folder / name) for name in names)
                self._snapshot = Snapshot(table.version(), files, self.table.schema, self._reader.is_uniform(table))
                self._reader.is_new = False
            return self._snapshot

    def read(self, columns: Sequence[str], where: Any = None) -> tuple[int, pa.Table]:
        """Some columns of the newest version.

        Args:
            columns: Their names.
            where: A pyarrow expression over these columns; all rows unless given.

        Returns:
            The version, and the rows.

        Raises:
            StoreError: The table is there and cannot be read.
        """
        return again_if_vanished(lambda: self._read(columns, where))

    def _read(self, columns: Sequence[str], where: Any) -> tuple[int, pa.Table]:
        snapshot = self.snapshot()
        try:
            rows = snapshot.dataset().to_table(columns=list(columns))
            return snapshot.version, rows if where is None else rows.filter(where)
        except (pa.ArrowInvalid, OSError) as error:
            kind = VanishedError if isinstance(error, FileNotFoundError) else StoreError
            raise kind(f"the table {self.folder} cannot be read: {told(error)}") from error

    def handle(self) -> DeltaTable | None:
        """What deltalake itself has, at the newest version; None where there is no table.

        Raises:
            StoreError: It is there and cannot be read.
        """
        with self._reading:
            return self._reader.refreshed()

    # -- writing -------------------------------------------------------------------------------------------------------

    def append(self, rows: pa.Table, *, transaction: str | None = None, at: int | None = None) -> int:
        """Append rows in one durable commit.

        Args:
            rows: Fits the declaration after `Table.cast`.
            transaction: Names a kind of commit of which no two may be made side by side.
            at: The version that the rows were made for; another one is a conflict.

        Returns:
            The version of the table that has them.

        Raises:
            SchemaError: The rows do not fit.
            ConflictError: Another process committed first; look again what is there.
            StoreError: The table cannot be written.
        """
        fitted = self.table.cast(rows)
        properties = _properties(transaction)

        def act(table: DeltaTable) -> None:
            write_deltalake(table, fitted, mode="append", writer_properties=_WRITER, commit_properties=properties)

        return self._write(act, retry=transaction is None and at is None, at=at)

    def upsert(self, rows: pa.Table, column: str, *, transaction: str | None = None, at: int | None = None) -> int:
        """Put rows in the place of those that have the same value in a column, in one durable commit.

        Args:
            rows: Fits the declaration after `Table.cast`; no two with the same value.
            column: The column that tells which rows are replaced.
            transaction: As for `append`.
            at: As for `append`.

        Raises:
            SchemaError, ConflictError, StoreError: As for `append`.
        """
        fitted = self.table.cast(rows)
        properties = _properties(transaction)

        def act(table: DeltaTable) -> None:
            if fitted.num_rows < LONG_LIST:
                where = in_list(column, fitted[column].to_pylist())
                write_deltalake(
                    table,
                    fitted,
                    mode="overwrite",
                    predicate=where,
                    writer_properties=_WRITER,
                    commit_properties=properties,
                )
            else:
                merging = _merge(table, fitted, column, properties)
                merging.when_matched_update_all().when_not_matched_insert_all().execute()

        return self._write(act, retry=False, at=at)

    def delete_where(self, column: str, values: Sequence[Any]) -> int | None:
        """Delete the rows that have one of some values in a column, in one durable commit.

        Returns:
            The version of the table without them; None where there was no value.

        Raises:
            ConflictError, StoreError: As for `append`.
        """
        if not values:
            return None

        def act(table: DeltaTable) -> None:
            if len(values) < LONG_LIST:
                table.delete(in_list(column, values), writer_properties=_WRITER)
            else:
                named = pa.table({column: pa.array(values, self.table.schema.field(column).type)})
                _merge(table, named, column, None).when_matched_delete().execute()

        return self._write(act, retry=True)

    def perform(self, act: Callable[[DeltaTable], Any]) -> int | None:
        """Let deltalake do something that commits, durably; again where another process commits in between.

        Args:
            act: Given the table at its newest version.

        Returns:
            The version of the table afterwards; None where there is no table.

        Raises:
            ConflictError, StoreError: As for `append`.
        """
        return None if self.version() == NOTHING else self._write(act, retry=True)

    def compact_if_scattered(self, above_files: int | None = None) -> bool:
        """Rewrite many small files as few, when there are more than so many; `COMPACT_AT_FILES` unless given.

        Returns:
            Whether it was done. A conflict with another writer is no error: the next commit will try again.
        """
        most = COMPACT_AT_FILES if above_files is None else above_files
        with self._writing:
            table = self._writer.refreshed()
            if table is None or len(table.file_uris()) <= most:
                return False
            try:
                self._write(lambda handle: handle.optimize.compact(writer_properties=_WRITER), retry=False)
            except ConflictError:
                return False
        return True

    def expired(self, retention: timedelta) -> list[Path]:
        """Files that no version newer than the retention has, and files of writers that died before they committed.

        Args:
            retention: How long a file is kept after it was replaced. One that never was in the table is kept for
                `ORPHANS_KEPT` at least, since its writer may be about to commit it.

        Raises:
            StoreError: The table cannot be read.
        """
        table = self.handle()
        if table is None:
            return []
        names = {name for options in _vacuums(retention) for name in table.vacuum(dry_run=True, **options)}
        paths = {self.folder / unquote(name.rsplit("/", 1)[-1]) for name in names}
        return sorted(path for path in paths if path.exists())  # the log names those too that went before

    def vacuum(self, retention: timedelta) -> None:
        """Delete what `expired` names.

        Raises:
            ConflictError, StoreError: As for `append`.
        """

        def act(table: DeltaTable) -> None:
            for options in _vacuums(retention):
                table.vacuum(dry_run=False, **options)

        if self.expired(retention):
            self.perform(act)

    def _write(self, act: Callable[[DeltaTable], Any], *, retry: bool, at: int | None = None) -> int:
        last: Exception | None = None
        with self._writing:
            for _ in range(MAX_TRIES if retry else 1):
                table = self._created()
                if at is not None and table.version() != at:
                    raise ConflictError(f"{self.folder} is at version {table.version()}, not at {at} any more")
                try:
                    act(table)
                    self._sync(table)
                except CommitFailedError as error:
                    last = error
                    self._writer.forget()
                    continue
                except (DeltaError, pa.ArrowException, OSError) as error:
                    self._writer.forget()
                    raise StoreError(f"the table {self.folder} cannot be written: {told(error)}") from error
                return table.version()
        raise ConflictError(f"another process kept committing to {self.folder}: {told(last)}") from last

    def _created(self) -> DeltaTable:
        known = self._writer.refreshed()
        if known is not None:
            return known
        columns = ",".join(self.table.statistics_columns)
        failure: Exception | None = None
        try:
            make_folder(self.folder)
            DeltaTable.create(
                self.folder,
                schema=self.table.schema,
                mode="ignore",
                name=self.table.name,
                description=self.table.grain,
                configuration={**_CONFIGURATION, "delta.dataSkippingStatsColumns": columns},
            )
        except (DeltaError, OSError) as error:
            failure = error
        created = self._writer.refreshed()  # perhaps by another process, between our look and our write
        if created is None:
            raise StoreError(f"the table {self.folder} cannot be created: {told(failure)}") from failure
        return created

    def _sync(self, table: DeltaTable) -> None:
        log = self.folder / "_delta_log"
        known = self._synced >= 0 and not self._writer.is_new
        first = self._synced + 1 if known else _last_checkpoint(log)
        versions = range(first, table.version() + 1)
        entries = [entry for v in versions if (entry := log / f"{v:020}.json").exists()]
        checkpoints = [point for v in versions if (point := log / f"{v:020}.checkpoint.parquet").exists()]
        # Once a process: all that the newest version needs, whoever wrote it and died before it synced.
        added = _added_files(entries) if known else [uri.rsplit("/", 1)[-1] for uri in table.file_uris()]
        files = [file for name in added if (file := self.folder / unquote(name)).exists()]
        for file in (*files, *checkpoints):
            sync_file(file)
        sync_folder(self.folder)
        for entry in entries:
            sync_file(entry)
        sync_folder(log)
        self._synced = table.version()
        self._writer.is_new = False


class _Handle:
    """A `DeltaTable` that is kept, refreshed, and given up when the table was deleted or made anew under it.

    Attributes:
        is_new: Set when another table than before was opened; whoever keeps something of the table resets it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_new = True
        self._first = folder / "_delta_log" / f"{0:020}.json"
        self._table: DeltaTable | None = None
        self._identity: tuple[int, int] | None = None

    def forget(self) -> None:
        """Open the table anew next time."""
        self._table = None

    def refreshed(self) -> DeltaTable | None:
        """The table at its newest version; None where there is none. A log entry that a power loss tore is moved aside.

        Raises:
            StoreError: It is there and cannot be read.
        """
        try:
            return self._refreshed()
        except StoreError:
            if not _move_torn_entry_aside(self.folder):
                raise
            return self._refreshed()

    def _refreshed(self) -> DeltaTable | None:
        identity = self._first_entry()
        if identity != self._identity:
            self._table, self._identity, self.is_new = None, identity, True
        try:
            if self._table is None:
                self._table = DeltaTable(self.folder)
            else:
                self._table.update_incremental()
        except TableNotFoundError:
            self._table = None
        except (DeltaError, OSError) as error:
            self._table = None
            raise StoreError(f"the table {self.folder} cannot be read: {told(error)}") from error
        return self._table

    def is_uniform(self, table: DeltaTable) -> bool:
        """Whether the columns are those with which the table was created, so that every file has all of them."""
        try:
            entry = [json.loads(line) for line in self._first.read_bytes().splitlines()]
            (created,) = [action["metaData"]["schemaString"] for action in entry if "metaData" in action]
        except (OSError, ValueError, KeyError):
            return False
        return bool(json.loads(created) == json.loads(table.schema().to_json()))

    def _first_entry(self) -> tuple[int, int] | None:
        try:
            about = self._first.stat()
        except OSError:
            return None
        return about.st_ino, about.st_mtime_ns


def again_if_vanished(read: Callable[[], T]) -> T:
    """Read again, of the newest version, where files vanished: a `forget` removes those of earlier versions at once.

    Raises:
        VanishedError: They vanished every time, so that the newest version itself lacks them.
    """
    for _ in range(ROUNDS - 1):
        try:
            return read()
        except VanishedError:
            continue
    return read()


def told(error: BaseException | None) -> str:
    """The message of a library's error, in one line and without colours."""
    return " ".join(_COLOUR.sub("", str(error)).split())


def _vacuums(retention: timedelta) -> list[dict[str, Any]]:
    """The arguments of one vacuum, or of two: a short retention holds for replaced files only."""
    hours = math.ceil(retention / timedelta(hours=1))
    orphans = math.ceil(ORPHANS_KEPT / timedelta(hours=1))
    every = {"retention_hours": max(hours, orphans), "enforce_retention_duration": False, "full": True}
    return [every] if hours >= orphans else [every | {"retention_hours": hours, "full": False}, every]


def _properties(transaction: str | None) -> CommitProperties | None:
    return None if transaction is None else CommitProperties(app_transactions=[Transaction(transaction, 1)])


def _merge(table: DeltaTable, rows: pa.Table, column: str, properties: CommitProperties | None) -> Any:
    return table.merge(
        rows,
        f"here.{column} = there.{column}",
        source_alias="there",
        target_alias="here",
        writer_properties=_WRITER,
        commit_properties=properties,
    )


def _move_torn_entry_aside(folder: Path) -> bool:
    """Move a last log entry that is no whole one out of the log; it was never acknowledged.

    deltalake writes an entry aside and links it in, so that a torn one is not being written: it is what a power loss
    left. No later entry can be there, for nobody could open the table.
    """
    log = folder / "_delta_log"
    try:
        entries = sorted(entry for entry in log.iterdir() if re.fullmatch(r"\d{20}\.json", entry.name))
        if not entries or is_whole(entries[-1]):
            return False
        entries[-1].rename(folder / f"_torn-{entries[-1].name}")
        sync_folder(log)
        sync_folder(folder)
    except OSError:
        return False
    return True


def is_whole(entry: Path) -> bool:
    """Whether a log entry is what its writer wrote: a power loss leaves nothing of it, or a part.

    Raises:
        OSError: It cannot be read.
    """
    lines = entry.read_bytes().splitlines()
    try:
        return bool([json.loads(line) for line in lines])
    except ValueError:
        return False


def _last_checkpoint(log: Path) -> int:
    """The version from which a reader replays the log; entries before it are not needed any more."""
    try:
        return int(json.loads((log / "_last_checkpoint").read_bytes())["version"])
    except (OSError, ValueError, KeyError):
        return 0


def _added_files(entries: Iterable[Path]) -> list[str]:
    """Names of the data files that log entries added; a later compaction may have removed some again."""
    lines = (line for entry in entries for line in entry.read_bytes().splitlines() if line.startswith(b'{"add"'))
    return [json.loads(line)["add"]["path"] for line in lines]
