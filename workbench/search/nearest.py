"""The nearest vectors: exactly, over a matrix in memory, or by an index that has shown that it finds the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.store.files import write_atomic
from workbench.store.vectors import make_index, read_columns

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    import pyarrow as pa
    from lancedb.table import Table
    from numpy.typing import NDArray

    from workbench.config.store import Vectors
    from workbench.store.filters import Where

RECALL_AT: Final = 10
"""Neighbours of a query that the index must find, as in recall@10; design 4."""

LEADING_AXES: Final = 64
SHORTLIST: Final = 2000
"""Of 100,000 vectors of MiniLM the nearest 10 are among the 2,000 that are nearest along the first 64 principal axes,
which takes a third of the time of comparing all (recall 1.0 over 100 queries, 0.995 with 32 axes; measured)."""
_AXES_SAMPLE: Final = 20_000

_SEED: Final = 20260301


@dataclass(frozen=True)
class Ann:
    """An index of approximate neighbours, and how well it did when it was built.

    Attributes:
        rows: Vectors it was built over.
        recall: Share of the true nearest 10 that it found, over the sample queries.
        queries: Sample queries.
        is_accepted: Whether that was enough; if not, every vector is compared as before.
        leading_recall: The same share where vectors in memory are first compared along their leading axes.
    """

    rows: int
    recall: float
    queries: int
    is_accepted: bool
    leading_recall: float = 0.0


@dataclass(frozen=True)
class Matrix:
    """All vectors of a model in memory.

    Attributes:
        version: Of the table they were read from.
        beside: Chunk id and the columns to filter by, a row a vector.
        vectors: (n, dimension) float32.
    """

    version: int
    beside: pl.DataFrame
    vectors: NDArray[np.float32]

    @classmethod
    def read(cls, table: Table, columns: Sequence[str]) -> Matrix:
        """Read a table; its version is asked before, so that what is added meanwhile is seen the next time."""
        import polars as pl  # noqa: PLC0415  (175 ms)

        version = table.version
        rows = read_columns(table, [*columns, "vector"])
        beside = pl.from_arrow(rows.drop_columns(["vector"]))
        assert isinstance(beside, pl.DataFrame)  # noqa: S101  (a table is never a series)
        return cls(version, beside, matrix_of(rows))

    def nearest(
        self, vector: NDArray[np.float32], limit: int, where: Where | None = None, *, by_leading: bool = False
    ) -> pl.DataFrame:
        """The nearest `limit` of the vectors that fit: `chunk_id`, `semantic`, best first, ties by `chunk_id`.

        Args:
            vector: (dimension,), of length 1.
            limit: Most neighbours.
            where: Which vectors fit; they are all compared.
            by_leading: Where all fit, whether only those are compared that are near along the leading axes.
        """
        import numpy as np  # noqa: PLC0415  (100 ms)

        if where is None and by_leading and len(self.vectors) > SHORTLIST + limit:
            axes, along = self._leading
            near = np.argpartition(-(along @ (vector @ axes)), SHORTLIST + limit)[: SHORTLIST + limit]
            return _best(self.beside["chunk_id"].gather(near), self.vectors[near] @ vector, limit)
        if where is None:
            scores = self.vectors @ vector
            return _best(self.beside["chunk_id"], scores, limit)
        fitting = np.flatnonzero(self.beside.select(where.expression().fill_null(value=False)).to_series().to_numpy())
        return _best(self.beside["chunk_id"].gather(fitting), self.vectors[fitting] @ vector, limit)

    def cosines(self, vector: NDArray[np.float32], chunk_ids: Sequence[str]) -> pl.DataFrame:
        """Cosines of given chunks, as far as they are there: `chunk_id`, `semantic`, best first."""
        places = [self._places[chunk_id] for chunk_id in chunk_ids if chunk_id in self._places]
        return _ordered(self.beside["chunk_id"].gather(places), self.vectors[places] @ vector)

    @cached_property
    def _leading(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The principal axes (dimension, axes) about the origin, since cosines are, and the vectors along them."""
        import numpy as np  # noqa: PLC0415  (100 ms)

        step = max(1, len(self.vectors) // _AXES_SAMPLE)
        some = self.vectors[::step].astype(np.float64)
        axes = np.linalg.eigh(some.T @ some)[1][:, : -LEADING_AXES - 1 : -1].astype(np.float32)
        return axes, self.vectors @ axes

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each chunk stands."""
        return {chunk_id: place for place, chunk_id in enumerate(self.beside["chunk_id"].to_list())}


def _best(chunk_ids: pl.Series, scores: NDArray[np.float32], limit: int) -> pl.DataFrame:
    """The best of some scores. Of equal ones at the edge any may be taken; those taken are ordered by id."""
    import numpy as np  # noqa: PLC0415  (100 ms)

    count = min(limit, len(scores))
    if not count:
        return no_neighbours()
    places = np.argpartition(-scores, count - 1)[:count]
    return _ordered(chunk_ids.gather(places), scores[places])


def _ordered(chunk_ids: pl.Series, scores: NDArray[np.float32]) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415  (175 ms)

    frame = pl.DataFrame({"chunk_id": chunk_ids, "semantic": scores.astype("float64")})
    return frame.sort("semantic", "chunk_id", descending=[True, False])


def no_neighbours() -> pl.DataFrame:
    """No neighbours."""
    import polars as pl  # noqa: PLC0415  (175 ms)

    return pl.DataFrame(schema={"chunk_id": pl.String, "semantic": pl.Float64})


def matrix_of(rows: pa.Table) -> NDArray[np.float32]:
    """The column `vector` as an array (n, dimension)."""
    column: Any = rows["vector"].combine_chunks()  # its stubs know no lists of fixed size
    dimension = column.type.list_size
    matrix: NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
    return matrix


def of_rows(rows: pa.Table, vector: NDArray[np.float32]) -> pl.DataFrame:
    """Cosines of rows that were read: `chunk_id`, `semantic`, best first."""
    import polars as pl  # noqa: PLC0415  (175 ms)

    return _ordered(pl.Series(rows["chunk_id"].to_pylist(), dtype=pl.String), matrix_of(rows) @ vector)


def approximate(
    table: Table, vector: NDArray[np.float32], limit: int, where: Where | None, settings: Vectors
) -> pl.DataFrame:
    """The nearest `limit` by the table's index; rows that came after it was built are compared one by one.

    Returns:
        `chunk_id`, `semantic`, best first, ties by `chunk_id`.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    asked: Any = table.search(vector)  # typed as the base of all kinds of query
    query = asked.distance_type("cosine").nprobes(settings.nprobes).refine_factor(settings.refine_factor)
    if where is not None:
        query = query.where(where.sql(), prefilter=True)
    rows = query.select(["chunk_id", "_distance"]).limit(limit).to_arrow()
    cosines = 1.0 - rows["_distance"].to_numpy()
    return _ordered(pl.Series(rows["chunk_id"].to_pylist(), dtype=pl.String), cosines)


def build(table: Table, matrix: Matrix, settings: Vectors, note: Path) -> Ann:
    """Build the index anew (about 4 s for 100,000 vectors), and measure it against exact search over the same rows.

    The sample queries are vectors of the table, each moved a little towards another one, so that none of them asks for
    itself.

    Args:
        table: The vectors.
        matrix: The same in memory.
        settings: What is asked of it.
        note: Where the outcome is noted.
    """
    make_index(table, "vector")
    queries = _sample(matrix.vectors, settings.sample_queries)
    found = [approximate(table, query, RECALL_AT, None, settings)["chunk_id"].to_list() for query in queries]
    leading = [matrix.nearest(query, RECALL_AT, by_leading=True)["chunk_id"].to_list() for query in queries]
    true = [matrix.nearest(query, RECALL_AT)["chunk_id"].to_list() for query in queries]
    recall = _recall(found, true)
    is_accepted = recall >= settings.min_recall
    ann = Ann(len(matrix.vectors), round(recall, 4), len(queries), is_accepted, round(_recall(leading, true), 4))
    write_atomic(note, json.dumps(asdict(ann)).encode() + b"\n")
    return ann


def _recall(found: Sequence[Sequence[str]], true: Sequence[Sequence[str]]) -> float:
    hits = sum(len({*some} & {*others}) for some, others in zip(found, true, strict=True))
    return hits / max(sum(map(len, true)), 1)


def _sample(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    import numpy as np  # noqa: PLC0415  (100 ms)

    chance = np.random.default_rng(_SEED)
    first, second = chance.integers(0, len(vectors), (2, count))
    mixed = vectors[first] * np.float32(0.8) + vectors[second] * np.float32(0.2)
    unit: NDArray[np.float32] = mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), np.float32(1e-9))
    return unit


def read_note(path: Path) -> Ann | None:
    """What `build` noted; None where it never ran, or where the note cannot be read."""
    try:
        return Ann(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
