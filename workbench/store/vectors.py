"""LanceDB databases: chunks of text with their full-text index, and vectors beside them. Opened nowhere else.

A collection `x` is a table `x` of chunks, a table `x--owners` that says which state of which owner (a session, a file)
is in it, and a table `x--<model>-<hash>` of vectors for each model. Where owners are compared as wholes, a table
`x--owners--<model>-<hash>` has the mean over the chunks of each. All of it is derived: delete the folder, and the next
search and `workbench embed` make it anew.

Means are deleted before vectors and vectors before their chunks, and all are added in the other order, so at any moment
every vector belongs to a chunk.
"""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from workbench.config.quiet import quieten_lance
from workbench.errors import BusyError, StoreError
from workbench.store.delta import in_list
from workbench.store.files import make_folder
from workbench.text.ids import content_hash
from workbench.text.parts import LONGEST_TOKEN

if TYPE_CHECKING:
    from lancedb import DBConnection
    from lancedb.table import Table

OWNERS: Final = "--owners"
_BETWEEN: Final = "--"
_MEANS: Final = OWNERS + _BETWEEN
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9]+")
_MODEL_KEY: Final = b"model_id"
_NAME_CHARS: Final = 40

IN_LIST: Final = 500
"""Values of one `in (...)`; the time to parse grows faster than their number."""

EVERYTHING: Final = (1 << 32) - 1
"""As a limit: LanceDB returns 10 rows where none is given."""


_DOING: Final = {
    "write": "writes to the search index",
    "refresh": "brings the search index up to date",
    "embed": "embeds texts",
}


class Problem(NamedTuple):
    """Something that is not as it should be, and what repairs it."""

    collection: str
    problem: str
    rows: int
    detail: str
    repair: str


class VectorDatabase:
    """One LanceDB folder.

    Args:
        folder: Made by the first table; a reader of an absent folder sees no tables.
    """

    def __init__(self, folder: Path) -> None:
        quieten_lance()  # here, since it counts only before LanceDB is imported, by whatever module
        self.folder = folder
        self._opened: dict[str, tuple[tuple[int, int], Table]] = {}

    @cached_property
    def _connection(self) -> DBConnection:
        import lancedb  # noqa: PLC0415  (1.4 s)

        # an interval of zero, or rows of other processes stay unseen (measured)
        return lancedb.connect(self.folder, read_consistency_interval=timedelta(0))

    def names(self) -> list[str]:
        """Every table there is."""
        return sorted(path.stem for path in self.folder.glob("*.lance")) if self.folder.is_dir() else []

    def collections(self) -> list[str]:
        """Names of the collections."""
        return [name for name in self.names() if _BETWEEN not in name]

    def open(self, name: str) -> Table | None:
        """A table; None where there is none. One that is open already stays so until somebody makes it anew.

        Raises:
            StoreError: It is there and cannot be opened.
        """
        try:
            status = (self.folder / f"{name}.lance").stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        folder = status.st_ino, status.st_ctime_ns  # a folder made anew may get the number of the one before
        known = self._opened.get(name)
        if known is None or known[0] != folder:
            with self.errors():
                known = self._opened[name] = folder, self._connection.open_table(name)
        return known[1]

    def at(self, name: str, version: int) -> Table:
        """A table at one version, whatever is written meanwhile; its files last as long as `maintain` leaves them.

        Raises:
            StoreError: There is no such table or version any more.
        """
        with self.errors():
            table = self._connection.open_table(name)
            table.checkout(version)
            return table

    def create(self, name: str, schema: pa.Schema) -> Table:
        """An empty table, in the place of one of that name.

        Raises:
            StoreError: It cannot be made.
        """
        self.drop(name)  # the mode "overwrite" warns on the error stream that there is nothing to overwrite
        with self.errors():
            make_folder(self.folder, mode=0o700)
            return self._connection.create_table(name, schema=schema)

    def drop(self, name: str) -> None:
        """Remove a table with all its files."""
        if self.open(name) is not None:
            with self.errors():
                self._connection.drop_table(name)
        shutil.rmtree(self.folder / f"{name}.lance", ignore_errors=True)
        self.note_path(name).unlink(missing_ok=True)

    def note_path(self, name: str) -> Path:
        """Where something is noted about a table, such as whether its index was accepted."""
        return self.folder / f"{name}.json"

    def vector_table_names(self, collection: str) -> list[str]:
        """Tables of vectors in a collection."""
        beside = (collection + OWNERS, *self.mean_table_names(collection))
        return [n for n in self.names() if n.startswith(collection + _BETWEEN) and n not in beside]

    def mean_table_names(self, collection: str) -> list[str]:
        """Tables of the mean vectors of owners in a collection."""
        return [name for name in self.names() if name.startswith(collection + _MEANS)]

    def vector_tables(self, collection: str) -> dict[str, str]:
        """Model id to table name, of the models that have vectors in a collection."""
        tables = ((name, self.open(name)) for name in self.vector_table_names(collection))
        return {_model_of(table): name for name, table in tables if table is not None}

    def tables_of(self, collection: str) -> list[str]:
        """Every table of a collection, means before vectors before chunks."""
        names = [*self.mean_table_names(collection), *self.vector_table_names(collection)]
        return [*names, *(name for name in (collection, collection + OWNERS) if name in self.names())]

    def drop_collection(self, collection: str) -> None:
        """Remove a collection with all its files, so that none of its texts is left.

        Raises:
            BusyError, StoreError: As for `lock`.
        """
        names = self.tables_of(collection)
        if names:
            with self.lock():
                for name in names:
                    self.drop(name)

    @contextmanager
    def lock(self, name: str = "write", *, wait_seconds: float = 60) -> Iterator[None]:
        """Hold a lock of this folder; the system frees it when its owner dies.

        Args:
            name: `write` is held while chunks or vectors change; `refresh` and `embed` by the one process that brings
                the index up to date, or embeds, and that takes `write` for each batch.
            wait_seconds: How long to wait for another process.

        Raises:
            BusyError: Another process holds it for longer.
            StoreError: The folder cannot be written to.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415  (60 ms)

        with self.errors():
            make_folder(self.folder, mode=0o700)
        lock = FileLock(self.folder / f"{name}.lock")
        try:
            lock.acquire(timeout=wait_seconds, poll_interval=0.02)
        except Timeout as error:
            raise BusyError(
                f"another process {_DOING[name]} in {self.folder}; "
                "wait for it or end it, then run the same command again"
            ) from error
        except OSError as error:
            raise StoreError(f"{self.folder} cannot be written to: {error.strerror or error}") from error
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """What LanceDB raises, as an error that says what to do.

        Raises:
            StoreError: For whatever LanceDB or the file system raised.
        """
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            first_line = next(iter(str(error).splitlines()), repr(error))
            raise StoreError(
                f"the search index in {self.folder} cannot be used: {first_line}; "
                "it is derived: delete that folder, then run workbench embed"
            ) from error


def vector_table_name(collection: str, model_id: str) -> str:
    """The table of a model's vectors: its id as far as a name may hold it, and a hash that tells ids apart."""
    slug = _NOT_IN_A_NAME.sub("-", model_id).strip("-")[:_NAME_CHARS]
    return f"{collection}{_BETWEEN}{slug}-{blake2b(model_id.encode(), digest_size=4).hexdigest()}"


def mean_table_name(collection: str, model_id: str) -> str:
    """The table of the mean vectors of owners under a model."""
    return vector_table_name(collection + OWNERS, model_id)


def mean_states(chunks: pa.Table) -> dict[str, str]:
    """Owner to a name of the texts that its mean vector is of.

    Args:
        chunks: `owner`, `chunk_id`, `content_hash`.
    """
    hashes: dict[str, list[tuple[str, str]]] = {}
    for owner, *own in zip(*(chunks[name].to_pylist() for name in ("owner", "chunk_id", "content_hash")), strict=True):
        hashes.setdefault(owner, []).append((own[0], own[1]))
    return {owner: content_hash("".join(known for _, known in sorted(own))) for owner, own in hashes.items()}


def vector_schema(columns: Sequence[pa.Field[Any]], model_id: str, dimension: int) -> pa.Schema:
    """Columns of a model's vectors: some of the chunk's, and the vector; the model's id is noted in it."""
    vector = pa.field("vector", pa.list_(pa.float32(), dimension))
    return pa.schema([*columns, vector], metadata={_MODEL_KEY: model_id.encode()})


def make_index(table: Table, column: str) -> None:
    """Make the index of a column, in the place of the one it has; each column has one kind of index.

    `text` and `parts`: words. The tokenizer `icu` finds Chinese, Japanese and Korean words, the default none of them;
    stop words stay, since a query may consist of them. `vector`: IVF_SQ, whose recall is 0.97 to 1.0 where that of the
    default, IVF_PQ, is 0.1 to 0.3 (measured). `chunk_id`: a look-up of 50 ids among 100,000 in 7 ms.
    """
    from lancedb.index import FTS, BTree, IvfSq  # noqa: PLC0415  (with LanceDB: 1.4 s)

    words: dict[str, Any] = {"remove_stop_words": False, "max_token_length": LONGEST_TOKEN}
    config: dict[str, Any] = {
        "text": lambda: FTS(base_tokenizer="icu", **words),
        "parts": lambda: FTS(base_tokenizer="whitespace", **words),
        "chunk_id": BTree,
        "vector": lambda: IvfSq(distance_type="cosine"),
    }
    table.create_index(column, config=config[column]())


def dimension_of(table: Table) -> int:
    """Numbers in each vector of a table."""
    return int(table.schema.field("vector").type.list_size)


def read_columns(table: Table, columns: Sequence[str], where: str | None = None) -> pa.Table:
    """Columns of all rows that fit."""
    query = table.search()
    if where is not None:
        query = query.where(where, prefilter=True)
    return query.select(list(columns)).limit(EVERYTHING).to_arrow()


def read_rows(table: Table, columns: Sequence[str], row_ids: Sequence[int] | None = None) -> pa.Table:
    """Columns of rows and their `_rowid`, in any order; row ids hold within one version.

    Args:
        table: Checked out at a version.
        columns: Of it.
        row_ids: At most some thousand; all rows unless given.
    """
    if row_ids is None:
        return _rows_of(with_row_ids(table.search()).select(list(columns)).limit(EVERYTHING))
    if not row_ids:
        fields = [*(table.schema.field(name) for name in columns), pa.field("_rowid", pa.uint64())]
        return pa.schema(fields).empty_table()
    return _rows_of(table.take_row_ids(list(row_ids)).with_row_id().select(list(columns)))


def with_row_ids(query: Any) -> Any:
    """A query whose rows have `_rowid`."""
    return query.with_row_id(True)  # noqa: FBT003  (its one parameter)


def _rows_of(query: Any) -> pa.Table:
    rows: pa.Table = query.to_arrow()
    return rows


def read_where_in(table: Table, columns: Sequence[str], column: str, values: Collection[str]) -> pa.Table:
    """Columns of the rows whose `column` is one of these values."""
    found = [read_columns(table, columns, in_list(column, some)) for some in _slices(values)]
    return pa.concat_tables(found) if found else table.schema.empty_table().select(list(columns))


def delete_where_in(table: Table, column: str, values: Collection[str]) -> None:
    """Delete the rows whose `column` is one of these values."""
    for some in _slices(values):
        table.delete(in_list(column, some))


def _slices(values: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(values)
    return (ordered[first : first + IN_LIST] for first in range(0, len(ordered), IN_LIST))


def _model_of(table: Table) -> str:
    metadata: dict[bytes, bytes] = table.schema.metadata or {}
    return metadata.get(_MODEL_KEY, b"").decode()


# -- care of the store ----------------------------------------------------------------------------------------------


def optimise(database: VectorDatabase, *, older_than: timedelta = timedelta(days=7)) -> list[str]:
    """Join small files, bring indexes up to date, and remove versions that nobody reads any more.

    Args:
        database: The folder.
        older_than: Versions of that age go; readers of older ones fail afterwards.

    Returns:
        The tables that were looked after.

    Raises:
        BusyError, StoreError: As for `lock`.
    """
    names = database.names()
    if names:
        with database.lock(), database.errors():
            for name in names:
                _optimise(_opened(database, name), older_than)
    return names


def forget_sessions(database: VectorDatabase, session_ids: Collection[str]) -> int:
    """Erase every chunk and vector of these sessions, and the files that hold them: no version of before can be read.

    Returns:
        Chunks erased.

    Raises:
        BusyError, StoreError: As for `lock`.
    """
    ids = sorted(set(session_ids))
    if not ids or not database.names():
        return 0
    erased = 0
    with database.lock(), database.errors():
        for collection in database.collections():
            names = [*database.vector_tables(collection).values(), collection]
            erased += read_where_in(_opened(database, collection), ["chunk_id"], "session_id", ids).num_rows
            for name in names:
                delete_where_in(_opened(database, name), "session_id", ids)
            for name in (*database.mean_table_names(collection), collection + OWNERS):
                owners = database.open(name)
                if owners is not None:
                    delete_where_in(owners, "owner", ids)
        for name in database.names():
            purge(_opened(database, name))
        for path in _learned(database):
            path.unlink(missing_ok=True)
    return erased


def _learned(database: VectorDatabase) -> list[Path]:
    """What an embedder learned from the texts, such as the words of `lsa`; `workbench embed` learns it again."""
    notes = {database.note_path(name) for name in database.names()}
    return [path for path in database.folder.glob("*.*") if path.suffix in {".json", ".npz"} and path not in notes]


def purge(table: Table) -> None:
    """Remove what was deleted from disk.

    LanceDB marks deleted rows and keeps them in their files, as long as they are few, and in the indexes. So all rows
    are written anew and the indexes made again; then no file of before is left (measured). Readers of older versions
    fail.
    """
    if table.count_rows():
        first = table.schema.names[0]
        table.update(values_sql={first: first})
    for index in table.list_indices():
        make_index(table, index.columns[0])
    _optimise(table, timedelta(0), delete_unverified=True)


def _optimise(table: Table, older_than: timedelta, *, delete_unverified: bool = False) -> None:
    """Optimise without the warning that readers of removed versions fail: the callers say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        table.optimize(cleanup_older_than=older_than, delete_unverified=delete_unverified)


def problems(database: VectorDatabase) -> list[Problem]:
    """Vectors whose text is gone or has changed, vectors of another dimension, tables that cannot be read.

    Chunks without a vector are no problem: `workbench search` tells of them.
    """
    found: list[Problem] = []
    for collection in database.collections():
        try:
            found += _problems_of(database, collection)
        except StoreError as error:
            repair = f"delete {database.folder}, then run workbench embed"
            found.append(Problem(collection, "unreadable", 1, str(error), repair))
    return found


def _problems_of(database: VectorDatabase, collection: str) -> Iterator[Problem]:
    with database.errors():
        chunks = read_columns(_opened(database, collection), ["chunk_id", "content_hash"])
        texts = dict(zip(chunks["chunk_id"].to_pylist(), chunks["content_hash"].to_pylist(), strict=True))
        repair = "delete the table, then run workbench embed"
        if len(texts) < chunks.num_rows:
            yield Problem(collection, "repeated_chunk", chunks.num_rows - len(texts), "chunk ids that recur", repair)
        for model, name in database.vector_tables(collection).items():
            rows = read_columns(_opened(database, name), ["chunk_id", "content_hash"])
            pairs = list(zip(rows["chunk_id"].to_pylist(), rows["content_hash"].to_pylist(), strict=True))
            gone = sum(chunk_id not in texts for chunk_id, _ in pairs)
            changed = sum(texts.get(chunk_id, known) != known for chunk_id, known in pairs)
            repeated = len(pairs) - len({chunk_id for chunk_id, _ in pairs})
            for problem, count in (("text_gone", gone), ("text_changed", changed), ("repeated_vector", repeated)):
                if count:
                    yield Problem(name, problem, count, f"vectors of {model or 'an unnamed model'}", repair)
        yield from _problems_of_means(database, collection)


def _problems_of_means(database: VectorDatabase, collection: str) -> Iterator[Problem]:
    names = database.mean_table_names(collection)
    columns = ["owner", "chunk_id", "content_hash"]
    wanted = mean_states(read_columns(_opened(database, collection), columns)) if names else {}
    for name in names:
        rows = read_columns(_opened(database, name), ["owner", "state"])
        pairs = list(zip(rows["owner"].to_pylist(), rows["state"].to_pylist(), strict=True))
        count = sum(wanted.get(str(owner)) != state for owner, state in pairs)
        repeated = len(pairs) - len({owner for owner, _ in pairs})
        for problem, rows_of in (("mean_of_other_texts", count), ("repeated_vector", repeated)):
            if rows_of:
                yield Problem(name, problem, rows_of, "mean vectors", "delete the table, then run workbench embed")


def _opened(database: VectorDatabase, name: str) -> Table:
    table = database.open(name)
    if table is None:
        raise StoreError(f"the table {name} in {database.folder} is gone; run the same command again")
    return table
