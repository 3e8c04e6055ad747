"""Export: the tables as other programs read them, Parquet files or one DuckDB file; nothing of ours is needed for it.

What is exported is what the views show: of a session its current state, of an entity the newest version (and beside it,
as `<name>_history`, all of them). DuckDB streams every table; what does not fit into memory goes to a folder beside the
target. The target takes its name when all of it is on disk.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench import __version__
from workbench.errors import BadInputError, NotFoundError, StoreError
from workbench.store.delta import again_if_vanished, quote
from workbench.store.document import section
from workbench.store.files import sync_file, sync_folder, write_atomic
from workbench.store.lake import Lake, identifier, interruptibly, newest_sql
from workbench.store.schema import LANDING_ID, Table, View

if TYPE_CHECKING:
    import duckdb

MEMORY: Final = "1GB"
"""What DuckDB may use before it goes to disk; texts of a million events are some gigabytes."""

ROW_GROUP: Final = 20_000
"""Rows that are packed together and so are in memory at once; results of tools are long."""

README: Final = "README.md"
EXPORTED: Final = "exported"
CHOSEN: Final = "_chosen_sessions"
HISTORY: Final = "_history"

_OURS: Final = re.compile(r"[a-z_0-9]+\.parquet|README\.md")
"""Files of an export; a folder with any other file is not replaced."""

Progress = Callable[[int, int, str], None]
"""Called with bytes of stored tables done, in all, and the table at hand."""


@dataclass
class ExportResult:
    """What was exported.

    Attributes:
        path: The folder or file.
        rows: Table name to rows, in order; histories of entities among them.
        size_bytes: Of all files together.
        left_out: Tables that hold nothing of single sessions, where only some sessions were asked for.
    """

    path: str
    rows: dict[str, int] = field(default_factory=dict)
    size_bytes: int = 0
    left_out: list[str] = field(default_factory=list)


class Choice(NamedTuple):
    """What is exported: tables by name, sessions by id, both all where None; sessions active at or after a time."""

    tables: Sequence[str] | None = None
    session_ids: Collection[str] | None = None
    since: datetime | None = None

    @property
    def is_partial(self) -> bool:
        """Whether only some sessions are meant."""
        return self.session_ids is not None or self.since is not None


class Part(NamedTuple):
    """One table of the export: its name, the rows in SQL, and its declaration."""

    name: str
    query: str
    table: Table


Told = Callable[[Part, "duckdb.DuckDBPyConnection"], None]
"""Told that a table is written, and given the result that counts its rows."""

Write = Callable[["duckdb.DuckDBPyConnection", Path, Sequence[Part], Told], None]
Finish = Callable[[Path, ExportResult], None]


def export_parquet(
    lake: Lake, out: Path, choice: Choice, *, overwrite: bool = False, progress: Progress | None = None
) -> ExportResult:
    """Write a folder of Parquet files, one a table, and a README of their columns.

    Texts are plain strings, times UTC in microseconds, compression is Zstandard.

    Args:
        lake: The tables.
        out: The folder.
        choice: What is exported.
        overwrite: Whether an earlier export at that place may be replaced.
        progress: Told how far it is.

    Raises:
        BadInputError: The folder is there, and is not to be replaced or is no export.
        NotFoundError: There is no such table.
        StoreError: The tables cannot be read or the files not be written.
    """
    target = out.expanduser().absolute()
    _check_folder(target, overwrite=overwrite)

    def write(connection: duckdb.DuckDBPyConnection, place: Path, parts: Sequence[Part], told: Told) -> None:
        place.mkdir()
        options = f"format parquet, compression zstd, row_group_size {ROW_GROUP}"
        for part in parts:
            file = place / f"{part.name}.parquet"
            told(part, connection.execute(f"copy ({part.query}) to {quote(str(file))} ({options})"))
            sync_file(file)

    def finish(place: Path, result: ExportResult) -> None:
        write_atomic(place / README, readme(lake, result, choice).encode())
        result.size_bytes = sum(file.stat().st_size for file in place.iterdir())
        _replace_folder(place, target)

    return _export(lake, target, choice, write, finish, progress)


def export_duckdb(
    lake: Lake, out: Path, choice: Choice, *, overwrite: bool = False, progress: Progress | None = None
) -> ExportResult:
    """Write one DuckDB file with the tables and views; an entity is a view of the newest versions over its history.

    Args:
        lake: The tables.
        out: The file.
        choice: What is exported.
        overwrite: Whether a file at that place may be replaced.
        progress: Told how far it is.

    Raises:
        BadInputError: The file is there, and is not to be replaced or is no DuckDB file.
        NotFoundError: There is no such table.
        StoreError: The tables cannot be read or the file not be written.
    """
    target = out.expanduser().absolute()
    _check_file(target, overwrite=overwrite)

    def write(connection: duckdb.DuckDBPyConnection, place: Path, parts: Sequence[Part], told: Told) -> None:
        connection.execute(f"attach {quote(str(place))} as {EXPORTED}")
        for part in parts:
            if part.table.kind != "entity" or part.name.endswith(HISTORY):
                name = f"{EXPORTED}.{identifier(part.name)}"
                connection.execute(f"create table {name} as {part.query}")
                told(part, connection.execute(f"select count(*) from {name}"))
                for statement in _comments(name, part.table):
                    connection.execute(statement)
        connection.execute(f"detach {EXPORTED}")
        _create_views(place, lake.views.values(), parts, told)

    def finish(place: Path, result: ExportResult) -> None:
        sync_file(place)
        result.size_bytes = place.stat().st_size
        place.replace(target)
        sync_folder(target.parent)

    return _export(lake, target, choice, write, finish, progress)


def parts_of(lake: Lake, choice: Choice) -> tuple[list[Part], list[str]]:
    """What is to be exported, and the tables that are left out because they hold nothing of single sessions.

    Raises:
        NotFoundError: There is no such table.
    """
    unknown = sorted(set(choice.tables or ()) - lake.tables.keys())
    if unknown:
        raise NotFoundError(f"there is no table {unknown[0]!r}; there are {', '.join(sorted(lake.tables))}")
    wanted = [table for name, table in lake.tables.items() if choice.tables is None or name in choice.tables]
    parts: list[Part] = []
    left_out: list[str] = []
    for table in wanted:
        condition = _condition(table) if choice.is_partial else ""
        if condition is None:
            left_out.append(table.name)
            continue
        names = [table.name, *([table.name + HISTORY] if table.kind == "entity" else [])]
        parts += [Part(name, f"select * from {identifier(name)}{condition}", table) for name in names]
    return parts, left_out


def _condition(table: Table) -> str | None:
    """What leaves only rows of the chosen sessions; None where rows belong to no session."""
    if "session_id" in table.schema.names:
        return f" semi join {CHOSEN} using (session_id)"
    if table.name == "blobs":
        return f" semi join (from artifacts semi join {CHOSEN} using (session_id)) held on sha256 = held.artifact_id"
    return None


def readme(lake: Lake, result: ExportResult, choice: Choice) -> str:
    """The page beside the Parquet files: what they are, and every column."""
    about = [
        f"# Tables exported by workbench {__version__} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "One Parquet file a table. Times are UTC.",
    ]
    if choice.session_ids is not None:
        about.append("Only these sessions: " + ", ".join(sorted(choice.session_ids)) + ".")
    if choice.since is not None:
        about.append(f"Only sessions that were active at or after {choice.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC.")
    if result.left_out:
        about.append("Left out, since their rows belong to no single session: " + ", ".join(result.left_out) + ".")
    rows = ["| file | rows |", "| --- | --- |", *(f"| `{n}.parquet` | {count:,} |" for n, count in result.rows.items())]
    sections = [section(table) for name, table in lake.tables.items() if name in result.rows]
    return "\n\n".join([*about, "\n".join(rows), *sections]) + "\n"


def _export(
    lake: Lake, target: Path, choice: Choice, write: Write, finish: Finish, progress: Progress | None
) -> ExportResult:
    """Let `write` fill a place beside the target, and `finish` move it there."""
    import duckdb  # noqa: PLC0415

    parts, left_out = parts_of(lake, choice)
    own = Lake(lake.home, lake.tables)  # memory limit and attached file are of this connection's own database

    def once() -> ExportResult:
        with _staging(target) as (place, spill), closing(own.connection()) as connection:
            result = ExportResult(str(target), left_out=left_out)
            told = _teller(lake, parts, result, progress)
            try:
                _prepare(connection, spill, choice)
                interruptibly(connection, lambda: write(connection, place, parts, told))
            except duckdb.IOException as error:
                if str(lake.home.tables) in str(error):
                    raise own.unreadable(error) from error
                raise
            finish(place, result)
            return result

    try:
        return again_if_vanished(once)
    except (duckdb.Error, OSError) as error:
        raise StoreError(f"the export {target} cannot be written: {error}") from error


def _prepare(connection: duckdb.DuckDBPyConnection, spill: Path, choice: Choice) -> None:
    connection.execute(f"set memory_limit={quote(MEMORY)}")
    connection.execute(f"set temp_directory={quote(str(spill))}")
    ids = None if choice.session_ids is None else sorted(choice.session_ids)
    connection.execute(
        f"create temp table {CHOSEN} as select session_id from sessions "
        "where ($ids is null or session_id in (select unnest($ids::varchar[]))) "
        "and ($since is null or ended_at >= $since::timestamptz)",
        {"ids": ids, "since": choice.since},
    )


def _teller(lake: Lake, parts: Sequence[Part], result: ExportResult, progress: Progress | None) -> Told:
    """Notes the rows of each table, and tells how many stored bytes are through."""
    sizes = {part.name: sum(os.stat(file).st_size for file in _files(lake, part)) for part in parts}  # noqa: PTH116
    total = sum(sizes.values())

    def told(part: Part, counted: duckdb.DuckDBPyConnection) -> None:
        row = counted.fetchone()
        result.rows[part.name] = int(row[0]) if row else 0
        if progress is not None:
            progress(sum(sizes[name] for name in result.rows), total, part.name)

    return told


def _files(lake: Lake, part: Part) -> Sequence[str]:
    return [file for file in lake.stores[part.table.name].snapshot().files if Path(file).exists()]


def _create_views(place: Path, views: Iterable[View], parts: Sequence[Part], told: Told) -> None:
    """Make the views of the entities' newest versions, and the declared ones all of whose tables are there."""
    import duckdb  # noqa: PLC0415

    with closing(duckdb.connect(place)) as connection:
        for part in parts:
            if part.table.kind == "entity" and not part.name.endswith(HISTORY):
                query = newest_sql(part.table, identifier(part.name + HISTORY))
                connection.execute(f"create view {identifier(part.name)} as {query}")
                told(part, connection.execute(f"select count(*) from {identifier(part.name)}"))
        for view in views:
            if {part.name for part in parts}.issuperset(view.reads):
                connection.execute(f"create view {identifier(view.name)} as {view.query}")
        connection.execute("checkpoint")


def _comments(name: str, table: Table) -> Iterator[str]:
    """Statements that write down what a table and its columns mean, where any tool shows it."""
    yield f"comment on table {name} is {quote(f'One row: {table.grain}.')}"
    for column in table.columns:
        if column.name != LANDING_ID:
            yield f"comment on column {name}.{identifier(column.name)} is {quote(column.meaning)}"


# -- the place ---------------------------------------------------------------------------------------------------------


def _check_folder(target: Path, *, overwrite: bool) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise BadInputError(f"{target} is no folder; name one that is not there yet")
    names = sorted(path.name for path in target.iterdir()) if target.is_dir() else []
    foreign = [name for name in names if not _OURS.fullmatch(name)]
    if names and not overwrite:
        raise BadInputError(f"{target} is not empty; name another folder, or replace an earlier export by --overwrite")
    if foreign:
        raise BadInputError(f"{target} holds {foreign[0]!r}, which no export wrote, and is not replaced")


def _check_file(target: Path, *, overwrite: bool) -> None:
    if target.exists() and not overwrite:
        raise BadInputError(f"{target} is there already; name another file, or replace it by --overwrite")
    if target.exists() and not _is_duckdb(target):
        raise BadInputError(f"{target} is no DuckDB file, and is not replaced")


def _is_duckdb(path: Path) -> bool:
    """Whether the magic bytes stand where DuckDB writes them, after a checksum of eight bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


@contextmanager
def _staging(target: Path) -> Iterator[tuple[Path, Path]]:
    """A place beside the target to write to, and a folder for what does not fit into memory."""
    folder = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        folder.mkdir(parents=True, mode=0o700)
        spill = folder / "spill"
        spill.mkdir()
        yield folder / target.name, spill
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _replace_folder(place: Path, target: Path) -> None:
    """Put a folder in the place of an earlier export, which goes with the staging folder."""
    sync_folder(place)
    old = place.with_name("old")
    if target.is_dir():
        target.rename(old)
    place.rename(target)
    sync_folder(target.parent)
