"""An index over chunks of text: full text over two streams, and vectors of any number of models.

It knows no domain: a chunk is a piece of a thing (`kind`, `id`) with a few columns to filter by. Sessions are one
collection (`collections`), a folder of documents or a vault is another.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from workbench.errors import SchemaError
from workbench.search import nearest
from workbench.search.nearest import Ann, Matrix
from workbench.store.vectors import (
    OWNERS,
    VectorDatabase,
    delete_where_in,
    dimension_of,
    make_index,
    read_columns,
    read_where_in,
    vector_schema,
    vector_table_name,
    with_row_ids,
)
from workbench.text.ids import content_hash
from workbench.text.parts import Terms, parts, query_terms

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from lancedb.table import Table
    from numpy.typing import NDArray

    from workbench.config.store import Vectors
    from workbench.search.chunk_rows import ChunkRows
    from workbench.store.filters import Where

_TEXT: Final = pa.string()
_INT: Final = pa.int64()

FILTERS: Final[tuple[pa.Field[Any], ...]] = (
    pa.field("kind", _TEXT),
    pa.field("session_id", _TEXT),
    pa.field("project_id", _TEXT),
    pa.field("agent", _TEXT),
    pa.field("role", _TEXT),
    pa.field("tool", _TEXT),
    pa.field("occurred_at", pa.timestamp("us", "UTC")),
)
"""What chunks can be filtered by; beside the vectors too, so that a search among them is filtered first."""

CHUNKS: Final = pa.schema(
    [
        pa.field("chunk_id", _TEXT),
        pa.field("owner", _TEXT),
        pa.field("id", _TEXT),
        *FILTERS,
        pa.field("turn", _INT),
        pa.field("position", _INT),
        pa.field("start", _INT),
        pa.field("end", _INT),
        pa.field("content_hash", _TEXT),
        pa.field("text", _TEXT),
        pa.field("parts", _TEXT),
    ]
)
"""One row a chunk, as stored."""

ROWS: Final = tuple(name for name in CHUNKS.names if name != "parts")
"""Columns of a chunk as they are shown."""

_PLACE: Final = ("turn", "position", "start", "end")
OPTIONAL: Final = ("owner", *(field.name for field in FILTERS if field.name != "kind"), *_PLACE)
"""What a chunk may be given without."""

_BESIDE_VECTORS: Final = (CHUNKS.field("chunk_id"), CHUNKS.field("owner"), CHUNKS.field("content_hash"), *FILTERS)
_OWNER_STATES: Final = pa.schema([pa.field("owner", _TEXT), pa.field("state", _TEXT)])
_GROWTH: Final = 20
_COMPARED: Final = tuple(name for name in ROWS if name != "text")


class ChunkIndex:
    """Chunks with their words and vectors, in a LanceDB folder.

    Writing takes the folder's lock for as long as it lasts; reading takes none.

    Args:
        folder: The LanceDB database; made by the first `upsert`.
        name: Of the collection in it.
        settings: When and how vectors get an index; the defaults unless given.
    """

    def __init__(self, folder: Path, name: str = "chunks", settings: Vectors | None = None) -> None:
        self.database = VectorDatabase(folder)
        self.name = name
        self._settings = settings
        self._matrices: dict[str, Matrix] = {}
        self._known_table: Table | None = None
        self._rows: ChunkRows | None = None
        self._is_kept = False

    @property
    def settings(self) -> Vectors:
        """When and how vectors get an index."""
        if self._settings is None:
            from workbench.config.store import Vectors  # noqa: PLC0415  (90 ms)

            self._settings = Vectors()
        return self._settings

    # -- writing -----------------------------------------------------------------------------------------------------

    def upsert(self, rows: pl.DataFrame, states: dict[str, str] | None = None) -> int:
        """Put chunks in; all that their owners had before and have no longer goes, with its vectors.

        Args:
            rows: One row a chunk. Needed: `chunk_id` String, unique; `kind`, `id` String: of what it is a piece;
                `text`. Optional: `owner` (what is replaced and deleted as a whole; `id` unless given), `session_id`,
                `project_id`, `agent`, `role`, `tool` String, `occurred_at` Datetime in UTC, `turn`, `position`,
                `start`, `end` Int64. Others are refused.
            states: Owner to a name of its content, for `states`; owners named here may have no chunks.

        Returns:
            Chunks that are new or differ from what was there.

        Raises:
            SchemaError: Columns are missing or unknown, or a chunk id recurs.
            BusyError, StoreError: The folder cannot be written to.
        """
        import polars as pl  # noqa: PLC0415  (175 ms)

        wanted = _complete(rows)
        owners = {*wanted["owner"].unique().to_list(), *(states or ())}
        with self.database.lock(), self.database.errors():
            table = self._chunks_to_write()
            known = _frame(read_where_in(table, _COMPARED, "owner", owners))
            keys = list(_COMPARED)
            new = wanted.join(known, on=keys, how="anti", nulls_equal=True)
            old = known.join(wanted.select(keys), on=keys, how="anti", nulls_equal=True)
            known_vectors = self._vectors_to_keep(old, new)
            self._delete_means({*new["owner"].to_list(), *old["owner"].to_list()})
            self._delete("chunk_id", old["chunk_id"].to_list())
            if new.height:
                streams = [parts(text) for text in new["text"].to_list()]
                table.add(new.with_columns(parts=pl.Series(streams, dtype=pl.String)).to_arrow().cast(CHUNKS))
            for model_id, (hashes, vectors) in known_vectors.items():
                self._put_vectors(model_id, new, hashes, vectors)
            self._note_states(states or {})
        return new.height

    def delete(self, owners: Collection[str]) -> None:
        """Take out all chunks of these owners, and their vectors.

        Raises:
            BusyError, StoreError: The folder cannot be written to.
        """
        if not owners or self._chunks() is None:
            return
        with self.database.lock(), self.database.errors():
            self._delete_means(owners)
            self._delete("owner", owners)
            table = self.database.open(self.name + OWNERS)
            if table is not None:
                delete_where_in(table, "owner", owners)

    def states(self) -> dict[str, str]:
        """Owner to the state that was put in with it."""
        table = self.database.open(self.name + OWNERS)
        if table is None or self._chunks() is None:
            return {}
        with self.database.errors():
            rows = read_columns(table, ["owner", "state"])
        return {str(row["owner"]): str(row["state"]) for row in rows.to_pylist()}

    def refresh_full_text(self) -> None:
        """Bring the full-text index up to date; before, new rows are found too, but slower."""
        table = self._chunks()
        if table is not None:
            with self.database.lock(), self.database.errors():
                table.optimize()

    def add_vectors(
        self,
        model_id: str,
        chunk_ids: Sequence[str],
        matrix: NDArray[np.float32],
        *,
        hashes: Sequence[str] | None = None,
    ) -> int:
        """Store vectors of chunks; those of chunks that are gone meanwhile are dropped, those that are there stay.

        Args:
            model_id: Who made them.
            chunk_ids: One a row.
            matrix: (n, dimension) float32, rows of length 1.
            hashes: `content_hash` of the texts that were embedded; a chunk whose text changed meanwhile is dropped.

        Returns:
            Vectors stored.

        Raises:
            SchemaError: The matrix does not fit the ids, or the vectors of this model that are there.
            BusyError, StoreError: The folder cannot be written to.
        """
        import polars as pl  # noqa: PLC0415  (175 ms)

        if matrix.ndim != 2 or matrix.shape[0] != len(chunk_ids):  # noqa: PLR2004
            raise SchemaError(f"{len(chunk_ids)} chunks need a matrix of as many rows, got {matrix.shape}")
        chunks = self._chunks()
        if chunks is None or not len(chunk_ids):
            return 0
        with self.database.lock(), self.database.errors():
            table = self._vectors_to_write(model_id, matrix.shape[1])
            columns = [field.name for field in _BESIDE_VECTORS]
            beside = _frame(read_where_in(chunks, columns, "chunk_id", set(chunk_ids)))
            there = _frame(read_where_in(table, ["chunk_id"], "chunk_id", set(chunk_ids)))
            given = pl.DataFrame({"chunk_id": list(chunk_ids), "place": range(len(chunk_ids))})
            if hashes is not None:
                given = given.with_columns(content_hash=pl.Series(list(hashes), dtype=pl.String))
            given = given.unique("chunk_id", keep="last").join(there, on="chunk_id", how="anti")
            kept = beside.join(given, on=[name for name in given.columns if name != "place"])
            if kept.height:
                vectors = matrix[kept["place"].to_numpy()].astype("float32", copy=False)
                table.add(_with_vectors(kept.drop("place"), vectors, table.schema))
        return kept.height

    def index_vectors(self, model_id: str) -> Ann | None:
        """Give a model's vectors an index where there are many, and measure whether it finds what exact search finds.

        It is made anew when their number has changed by a twentieth; in between new ones are added to it.

        Returns:
            What was measured; None where there are few vectors, which are searched exactly.

        Raises:
            BusyError, StoreError: The folder cannot be written to.
        """
        table, known = self._vectors(model_id), self.ann(model_id)
        if table is None:
            return None
        with self.database.lock(), self.database.errors():
            table.optimize()
            rows = table.count_rows()
            if rows < max(self.settings.exact_below_rows, 1):
                return None
            if known is not None and abs(rows - known.rows) < known.rows / _GROWTH:
                return known
            note = self.database.note_path(table.name)
            return nearest.build(table, self._matrix(model_id, table), self.settings, note)

    def count(self) -> int:
        """Chunks there are.

        Raises:
            StoreError: The index cannot be read.
        """
        with self.database.errors():
            table = self.database.open(self.name)
            return 0 if table is None else int(table.count_rows())

    def is_there(self) -> bool:
        """Whether anything was ever put in."""
        return self._chunks() is not None

    # -- reading -----------------------------------------------------------------------------------------------------

    def keyword(
        self, query: str | Terms, limit: int, where: Where | None = None, columns: Sequence[str] = ("chunk_id",)
    ) -> pl.DataFrame:
        """Chunks that hold words of the query.

        Args:
            query: What a person typed: words to be found, no syntax; or what `query_terms` made of it.
            limit: Most chunks returned.
            where: Only chunks that fit.
            columns: Columns of the chunks to return beside the score.

        Returns:
            `columns` and `keyword` Float64 (BM25, of the better of both streams), best first, ties by `chunk_id`.

        Raises:
            StoreError: The index cannot be read.
        """
        import polars as pl  # noqa: PLC0415  (175 ms)

        terms = query_terms(query) if isinstance(query, str) else query
        rows = self._rows_now()
        if rows is None or not terms.words or limit < 1:
            return _empty(columns).with_columns(keyword=pl.lit(None, pl.Float64))
        from lancedb.query import MultiMatchQuery  # noqa: PLC0415  (with LanceDB: 1.4 s)

        with self.database.errors():
            make: Any = MultiMatchQuery  # to the type checker, pydantic's defaults are none
            asked: Any = rows.table.search(make(" ".join(terms.words), ["text", "parts"]))
            if where is not None:
                asked = asked.where(where.sql(), prefilter=True)
            found = _frame(with_row_ids(asked).select(["_score"]).limit(limit).to_arrow())
            there = rows.of_rows(found["_rowid"], list(dict.fromkeys(("chunk_id", *columns))))
        scores, ids = found["_score"].to_numpy().astype("float64"), there["chunk_id"].to_list()
        best = sorted(range(len(ids)), key=lambda place: (-scores[place], ids[place]))
        return there[best][list(columns)].hstack([pl.Series("keyword", scores[best], dtype=pl.Float64)])

    def semantic(
        self, vector: NDArray[np.float32], model_id: str, limit: int, where: Where | None = None
    ) -> pl.DataFrame:
        """Chunks whose meaning is near.

        Args:
            vector: Of the query, (dimension,), length 1.
            model_id: Only vectors of this model are compared.
            limit: Most chunks returned.
            where: Only chunks that fit.

        Returns:
            `chunk_id` String, `semantic` Float64 (cosine), best first, ties by `chunk_id`.

        Raises:
            SchemaError: The vector has another dimension than those that are there.
            StoreError: The index cannot be read.
        """
        table = self._vectors(model_id)
        if table is None or limit < 1:
            return nearest.no_neighbours()
        if vector.shape != (dimension_of(table),):
            raise SchemaError(
                f"vectors of {model_id} have {dimension_of(table)} numbers, the query's has {len(vector)}: the model "
                "was exchanged under its name; give it another one in embedding.model, then run workbench embed"
            )
        with self.database.errors():
            note = self.ann(model_id)
            is_kept = self._is_kept and note is not None and note.rows <= self.settings.in_memory_rows
            if note is not None and note.is_accepted and not is_kept:
                return nearest.approximate(table, vector, limit, where, self.settings)
            by_leading = note is not None and note.leading_recall >= self.settings.min_recall
            return self._matrix(model_id, table).nearest(vector, limit, where, by_leading=by_leading)

    def uses_index(self, model_id: str) -> bool:
        """Whether a model's vectors are searched by an index that was accepted."""
        note = self.ann(model_id)
        return note is not None and note.is_accepted

    def ann(self, model_id: str) -> Ann | None:
        """What was measured of a model's index; None where there is none."""
        return nearest.read_note(self.database.note_path(vector_table_name(self.name, model_id)))

    def cosines(self, vector: NDArray[np.float32], model_id: str, chunk_ids: Sequence[str]) -> pl.DataFrame:
        """Cosines of given chunks, as far as they have a vector: `chunk_id`, `semantic`."""
        table = self._vectors(model_id)
        if table is None or not len(chunk_ids):
            return nearest.no_neighbours()
        with self.database.errors():
            if model_id in self._matrices:
                return self._matrix(model_id, table).cosines(vector, chunk_ids)
            return nearest.of_rows(read_where_in(table, ["chunk_id", "vector"], "chunk_id", chunk_ids), vector)

    def closest(self, vector: NDArray[np.float32], model_id: str, owners: Collection[str]) -> dict[str, str]:
        """The text of that chunk of each owner which lies closest to a vector; owners without vectors are left out.

        Args:
            vector: Of the model, shape (dimension,).
            model_id: Whose vectors.
            owners: At most some hundred.

        Raises:
            StoreError: The index cannot be read.
        """
        table = self._chunks()
        if table is None or not owners:
            return {}
        with self.database.errors():
            chunks = _frame(read_where_in(table, ["chunk_id", "owner", "text"], "owner", owners))
        near = chunks.join(self.cosines(vector, model_id, chunks["chunk_id"].to_list()), on="chunk_id")
        best = near.sort("semantic", "chunk_id", descending=[True, False]).unique("owner", keep="first")
        return dict(best.select("owner", "text").iter_rows())

    def missing_vectors(self, model_id: str) -> pl.DataFrame:
        """Chunks that the model has not embedded, newest first: `chunk_id`, `content_hash`, `text`."""
        import polars as pl  # noqa: PLC0415  (175 ms)

        chunks, vectors = self._chunks(), self._vectors(model_id)
        if chunks is None:
            return _empty(("chunk_id", "content_hash", "text"))
        with self.database.errors():
            every = _frame(read_columns(chunks, ["chunk_id", "content_hash", "occurred_at", "text"]))
            if vectors is not None:
                keys = ["chunk_id", "content_hash"]
                every = every.join(_frame(read_columns(vectors, keys)), on=keys, how="anti")
        newest = every.sort("occurred_at", "chunk_id", descending=[True, False], nulls_last=True)
        return newest.select(pl.exclude("occurred_at"))

    def known_vectors(self, model_id: str, hashes: Collection[str]) -> tuple[list[str], NDArray[np.float32]]:
        """Texts that the model embedded before, for other chunks: their hashes, and a vector each."""
        import numpy as np  # noqa: PLC0415  (100 ms)

        table = self._vectors(model_id)
        if table is None or not hashes:
            return [], np.empty((0, 0), np.float32)
        with self.database.errors():
            every = _frame(read_columns(table, ["chunk_id", "content_hash"]))
            known = every.filter(every["content_hash"].is_in(list(hashes))).unique("content_hash")
            rows = read_where_in(table, ["content_hash", "vector"], "chunk_id", known["chunk_id"].to_list())
        return [str(known) for known in rows["content_hash"].to_pylist()], nearest.matrix_of(rows)

    def coverage(self, model_id: str) -> tuple[int, int]:
        """Chunks with a vector of the model, and all chunks."""
        chunks, vectors = self._chunks(), self._vectors(model_id)
        with self.database.errors():
            total = 0 if chunks is None else chunks.count_rows()
            return min(0 if vectors is None else vectors.count_rows(), total), total

    def models(self) -> list[str]:
        """Models that have vectors here."""
        return sorted(self.database.vector_tables(self.name))

    def has_vectors(self) -> bool:
        """Whether any model has vectors here; known by the names of tables alone."""
        return bool(self.database.vector_table_names(self.name))

    def rows(
        self, chunk_ids: Sequence[str], columns: Sequence[str] = ROWS, *, as_searched: bool = False
    ) -> pl.DataFrame:
        """The chunks with these ids, in this order; those that are gone are left out.

        Args:
            chunk_ids: At most some hundred.
            columns: Each costs time.
            as_searched: As of the last search by words: all of one answer is of one version.
        """
        rows = (as_searched and self._rows) or (self._rows_now() if len(chunk_ids) else None)
        if rows is None:
            return _empty(columns)
        with self.database.errors():
            return rows.of_ids(chunk_ids, columns)

    def keep(self) -> None:
        """Look up in memory from now on, as whoever goes on asking does; what is kept follows what is written.

        Beyond `store.vectors.in_memory_rows` it is looked up on disk as before.
        """
        if not self._is_kept:
            self._is_kept, self._rows = True, None

    # -- tables ------------------------------------------------------------------------------------------------------

    def _chunks(self) -> Table | None:
        """The chunks; None where there are none, or where another version of the code laid them out."""
        table = self.database.open(self.name)
        if table is None or table is self._known_table:
            return table
        if not set(CHUNKS.names) <= set(table.schema.names):
            return None
        self._known_table = table
        return table

    def _rows_now(self) -> ChunkRows | None:
        """The chunks as they are now, of one version; None where there are none."""
        table = self._chunks()
        if table is None:
            return None
        from workbench.search.chunk_rows import ChunkRows  # noqa: PLC0415  (175 ms)

        with self.database.errors():
            version = int(table.version)
            if self._rows is None or self._rows.version != version or self._rows.of is not table:
                self._rows = ChunkRows(self.database.at(self.name, version), table)
                self._rows.is_kept = self._is_kept and table.count_rows() <= self.settings.in_memory_rows
        return self._rows

    def _chunks_to_write(self) -> Table:
        return self._chunks() or self._create()

    def _create(self) -> Table:
        for name in self.database.tables_of(self.name):
            self.database.drop(name)
        table = self.database.create(self.name, CHUNKS)
        for column in ("text", "parts", "chunk_id"):
            make_index(table, column)
        return table

    def _vectors(self, model_id: str) -> Table | None:
        return None if self._chunks() is None else self.database.open(vector_table_name(self.name, model_id))

    def _vectors_to_write(self, model_id: str, dimension: int) -> Table:
        table = self._vectors(model_id)
        if table is None:
            schema = vector_schema(_BESIDE_VECTORS, model_id, dimension)
            table = self.database.create(vector_table_name(self.name, model_id), schema)
            make_index(table, "chunk_id")
        if dimension_of(table) != dimension:
            raise SchemaError(
                f"vectors of {model_id} have {dimension_of(table)} numbers, these have {dimension}: the model was "
                "exchanged under its name; give it another one in embedding.model, then run workbench embed"
            )
        return table

    def _matrix(self, model_id: str, table: Table) -> Matrix:
        """All vectors of a model in memory, read again when somebody changed them."""
        cached = self._matrices.get(model_id)
        if cached is None or cached.version != table.version:
            cached = self._matrices[model_id] = Matrix.read(table, [field.name for field in _BESIDE_VECTORS])
        return cached

    def _delete(self, column: str, values: Collection[str]) -> None:
        """Vectors first, so that each has a chunk at any moment."""
        if values:
            for name in (*self.database.vector_tables(self.name).values(), self.name):
                table = self.database.open(name)
                if table is not None:
                    delete_where_in(table, column, values)

    def _delete_means(self, owners: Collection[str]) -> None:
        for name in self.database.mean_table_names(self.name) if owners else ():
            table = self.database.open(name)
            if table is not None:
                delete_where_in(table, "owner", owners)

    def _vectors_to_keep(self, old: pl.DataFrame, new: pl.DataFrame) -> dict[str, tuple[list[str], Any]]:
        """Model to hashes and vectors of texts that stay and only stand elsewhere, as below a paragraph put in."""
        stays = old.filter(old["content_hash"].is_in(new["content_hash"].implode())).unique("content_hash")
        kept = {}
        for model_id, name in self.database.vector_tables(self.name).items() if stays.height else ():
            table = self.database.open(name)
            if table is not None:
                rows = read_where_in(table, ["content_hash", "vector"], "chunk_id", stays["chunk_id"].to_list())
                if rows.num_rows:
                    kept[model_id] = [str(known) for known in rows["content_hash"].to_pylist()], nearest.matrix_of(rows)
        return kept

    def _put_vectors(self, model_id: str, chunks: pl.DataFrame, hashes: list[str], vectors: Any) -> None:
        """Give vectors to new chunks whose texts have some."""
        import polars as pl  # noqa: PLC0415  (175 ms)

        table = self._vectors_to_write(model_id, vectors.shape[1])
        places = pl.DataFrame({"content_hash": hashes, "place": range(len(hashes))}).unique("content_hash")
        known = chunks.join(places, on="content_hash")
        beside = known.select([field.name for field in _BESIDE_VECTORS])
        table.add(_with_vectors(beside, vectors[known["place"].to_numpy()], table.schema))

    def _note_states(self, states: dict[str, str]) -> None:
        if states:
            name = self.name + OWNERS
            table = self.database.open(name) or self.database.create(name, _OWNER_STATES)
            delete_where_in(table, "owner", states)
            table.add(pa.table({"owner": list(states), "state": list(states.values())}, schema=_OWNER_STATES))


def _complete(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with every column that is stored but `parts`, of the right type."""
    import polars as pl  # noqa: PLC0415  (175 ms)

    needed = [name for name in CHUNKS.names if name not in {*OPTIONAL, "content_hash", "parts"}]
    missing = [name for name in needed if name not in rows.columns]
    unknown = [name for name in rows.columns if name not in {*needed, *OPTIONAL}]
    if missing or unknown:
        raise SchemaError(f"chunks need {needed} and may have {list(OPTIONAL)}; missing {missing}, unknown {unknown}")
    if rows["chunk_id"].n_unique() < rows.height:
        raise SchemaError(f"chunk ids recur: {rows['chunk_id'].filter(rows['chunk_id'].is_duplicated())[0]!r}")
    schema = _empty(ROWS).schema
    absent = [pl.lit(None).alias(name) for name in OPTIONAL if name not in rows.columns]
    hashes = pl.Series("content_hash", [content_hash(text) for text in rows["text"].to_list()], dtype=pl.String)
    full = rows.with_columns(*absent, hashes).with_columns(pl.col("owner").fill_null(pl.col("id")))
    return full.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _with_vectors(beside: pl.DataFrame, vectors: NDArray[np.float32], schema: pa.Schema) -> pa.Table:
    flat = pa.array(vectors.reshape(-1), pa.float32())
    column = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    return beside.to_arrow().append_column("vector", column).select(schema.names).cast(schema)


def _frame(table: pa.Table) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415  (175 ms)

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101  (a table is never a series)
    return frame


def _empty(columns: Sequence[str]) -> pl.DataFrame:
    return _frame(CHUNKS.empty_table().select(list(columns)))
