"""One vector for each owner of chunks, a note or a session: the mean over its chunks, stored beside them.

A mean is stored once every chunk of its owner has a vector, and leaves as soon as one of them changes, so that none is
of other texts than those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from workbench.search.nearest import matrix_of
from workbench.store.vectors import (
    delete_where_in,
    mean_states,
    mean_table_name,
    read_columns,
    read_where_in,
    vector_schema,
    vector_table_name,
)

if TYPE_CHECKING:
    import numpy as np
    from lancedb.table import Table
    from numpy.typing import NDArray

    from workbench.search.index import ChunkIndex

    Vectors = NDArray[np.float32]

_TEXT: Final = pa.string()
_BESIDE: Final = (pa.field("owner", _TEXT), pa.field("state", _TEXT))
_IDENTITY: Final = ["owner", "chunk_id", "content_hash"]

_FEW: Final = 2_000
"""Owners whose vectors are looked up one by one; of more, all vectors are read, which is faster then."""


def mean_by_owner(owners: list[str], vectors: Vectors) -> tuple[list[str], Vectors]:
    """The mean vector of each owner.

    Args:
        owners: The owner of each row.
        vectors: (rows, dimension) float32.

    Returns:
        Owners in order, and (owners, dimension) float32; a mean is not scaled to length 1.

    Source: PAI, Zettelkasten Intelligence.
    """
    import numpy as np  # noqa: PLC0415  (100 ms)

    if not owners:
        return [], vectors[:0]
    names, places = np.unique(np.array(owners, dtype=object), return_inverse=True)
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(len(names)))
    sums = np.add.reduceat(vectors[order].astype(np.float64), starts, axis=0)
    means: Vectors = (sums / np.bincount(places)[:, None]).astype(np.float32)
    return names.tolist(), means


def store_means(index: ChunkIndex, model_id: str) -> int:
    """Bring the means of a model up to date: those of changed owners are made anew, those of gone ones leave.

    Returns:
        Means made now.

    Raises:
        BusyError, StoreError: The folder cannot be written to.
    """
    database = index.database
    chunks, vectors = database.open(index.name), database.open(vector_table_name(index.name, model_id))
    if chunks is None or vectors is None:
        return 0
    with database.lock(), database.errors():
        wanted = _complete_owners(chunks, vectors)
        table = database.open(mean_table_name(index.name, model_id))
        stored = {} if table is None else _states(table)
        stale = [owner for owner, state in stored.items() if wanted.get(owner) != state]
        missing = [owner for owner, state in wanted.items() if stored.get(owner) != state]
        if table is not None:
            delete_where_in(table, "owner", stale)
        if missing:
            rows = _vectors_of(vectors, missing)
            owners, means = mean_by_owner(list(map(str, rows["owner"].to_pylist())), matrix_of(rows))
            schema = vector_schema(_BESIDE, model_id, means.shape[1])
            table = table or database.create(mean_table_name(index.name, model_id), schema)
            column = pa.FixedSizeListArray.from_arrays(pa.array(means.reshape(-1)), means.shape[1])
            table.add(pa.table([owners, [wanted[owner] for owner in owners], column], schema=schema))
    return len(missing)


def read_means(index: ChunkIndex, model_id: str) -> tuple[list[str], Vectors]:
    """The means of a model that are stored: owners in order, and (owners, dimension) float32.

    Raises:
        StoreError: The index cannot be read.
    """
    import numpy as np  # noqa: PLC0415  (100 ms)

    table = index.database.open(mean_table_name(index.name, model_id)) if index.is_there() else None
    if table is None:
        return [], np.empty((0, 0), np.float32)
    with index.database.errors():
        rows = read_columns(table, ["owner", "vector"]).sort_by("owner")
    return [str(owner) for owner in rows["owner"].to_pylist()], matrix_of(rows)


def _complete_owners(chunks: Table, vectors: Table) -> dict[str, str]:
    """Owners all of whose chunks have a vector, each with the state that its mean is of."""
    every = read_columns(chunks, _IDENTITY)
    embedded = read_columns(vectors, ["chunk_id", "content_hash"])
    have = set(zip(embedded["chunk_id"].to_pylist(), embedded["content_hash"].to_pylist(), strict=True))
    lacking = {
        owner
        for owner, *own in zip(*(every[name].to_pylist() for name in _IDENTITY), strict=True)
        if tuple(own) not in have
    }
    return {owner: state for owner, state in mean_states(every).items() if owner not in lacking}


def _states(means: Table) -> dict[str, str]:
    rows = read_columns(means, ["owner", "state"])
    return {str(row["owner"]): str(row["state"]) for row in rows.to_pylist()}


def _vectors_of(vectors: Table, owners: list[str]) -> pa.Table:
    if len(owners) <= _FEW:
        return read_where_in(vectors, ["owner", "vector"], "owner", owners)
    rows = read_columns(vectors, ["owner", "vector"])
    wanted = pa.array(sorted(owners), _TEXT)
    return rows.filter(pc.is_in(rows["owner"], wanted))
