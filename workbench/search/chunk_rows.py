"""Chunks of one version by row: read from disk, or kept in memory by a process that goes on asking.

A search by words is a millisecond of work; looking up eleven columns of what it found, and again of what was near in
meaning, takes twenty (100,000 chunks, measured).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from workbench.store.vectors import read_rows, read_where_in

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from lancedb.table import Table
    from numpy.typing import NDArray

KEPT: Final = (
    "chunk_id",
    "id",
    "kind",
    "session_id",
    "project_id",
    "agent",
    "role",
    "tool",
    "occurred_at",
    "turn",
    "position",
    "text",
)
"""Columns that are kept: what an answer shows. 100,000 chunks of 110 words take 85 MB and 0.4 s to read (measured)."""

ROW_ID: Final = "_rowid"
"""LanceDB's name of the column by which rows of one version are told apart."""


class ChunkRows:
    """The chunks as of one version.

    Args:
        table: Checked out at that version, so that row ids and what is looked up by them belong together.
        of: The table whose version it is; one that was made anew counts its versions from the start.
    """

    def __init__(self, table: Table, of: Table) -> None:
        self.table = table
        self.of = of
        self.version = int(table.version)
        self.is_kept = False
        """Whether columns are looked up in memory from now on."""

    def of_rows(self, row_ids: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
        """Rows that a search found, in its order.

        Args:
            row_ids: UInt64, of this version.
            columns: What is wanted.
        """
        if self.is_kept and set(columns) <= set(KEPT):
            return self._kept[self._row_ids.searchsorted(row_ids.to_numpy())][list(columns)]
        read = frame_of(read_rows(self.table, columns, row_ids.to_list()))
        return pl.DataFrame({ROW_ID: row_ids}).join(read, on=ROW_ID, maintain_order="left").drop(ROW_ID)

    def of_ids(self, chunk_ids: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
        """Rows of chunks, in this order; those that are not there are left out."""
        if self.is_kept:
            places = [place for place in map(self._places.get, chunk_ids) if place is not None]
            if set(columns) <= set(KEPT):
                return self._kept[places][list(columns)]
            return self.of_rows(pl.Series(self._row_ids[places], dtype=pl.UInt64), columns)
        found = frame_of(read_where_in(self.table, list({"chunk_id", *columns}), "chunk_id", set(chunk_ids)))
        return pl.DataFrame({"chunk_id": list(chunk_ids)}, schema={"chunk_id": pl.String}).join(
            found, on="chunk_id", maintain_order="left"
        )[list(columns)]

    @cached_property
    def _kept(self) -> pl.DataFrame:
        """All rows, by row id."""
        return frame_of(read_rows(self.table, KEPT)).sort(ROW_ID)

    @cached_property
    def _row_ids(self) -> NDArray[np.uint64]:
        """Row ids of the kept rows, ascending."""
        return self._kept[ROW_ID].to_numpy()

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each chunk stands in the kept rows."""
        return {chunk_id: place for place, chunk_id in enumerate(self._kept["chunk_id"].to_list())}


def frame_of(table: pa.Table) -> pl.DataFrame:
    """A table as a frame."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101  (a table is never a series)
    return frame
