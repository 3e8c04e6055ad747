"""The link graph of a vault: notes as places 0..n-1, links as sparse matrices over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from workbench.vault.note_vectors import NoteVectors

if TYPE_CHECKING:
    import rustworkx as rx

UNREACHABLE: Final = -1
"""The distance of a note to which no way leads."""


@dataclass(frozen=True, eq=False)
class NoteGraph:
    """Who links to whom.

    Attributes:
        paths: The notes in the order of their places, which is that of the frame they came from.
        directed: How many links go from one note (row) to another (column), every occurrence counted; a note's links
            to itself are left out, since they join it to nothing. CSR, int64, (notes, notes).
    """

    paths: tuple[str, ...]
    directed: sparse.csr_array

    @classmethod
    def from_frames(cls, notes: pl.DataFrame, links: pl.DataFrame) -> NoteGraph:
        """Build the graph once from the two frames of a vault.

        Args:
            notes: One row a note: `path` String.
            links: One row an occurrence: `source_path`, `target_path`, `target_kind` String. Edges are the rows whose
                kind is `note`; one that starts or ends at a path without a note is left out.
        """
        paths = notes["path"].to_list()
        places = notes.select("path").with_row_index("place")
        ends = (
            links.filter(pl.col("target_kind") == "note")
            .select("source_path", "target_path")
            .join(places.rename({"path": "source_path", "place": "source"}), on="source_path")
            .join(places.rename({"path": "target_path", "place": "target"}), on="target_path")
            .filter(pl.col("source") != pl.col("target"))
        )
        ones = np.ones(ends.height, dtype=np.int64)
        shape = (len(paths), len(paths))
        counted = sparse.coo_array((ones, (ends["source"].to_numpy(), ends["target"].to_numpy())), shape=shape)
        return cls(tuple(paths), counted.tocsr())

    def __len__(self) -> int:
        """How many notes there are."""
        return len(self.paths)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {path: place for place, path in enumerate(self.paths)}

    def place(self, path: str) -> int | None:
        """The place of a note, or None where there is none of this path."""
        return self._places.get(path)

    def places(self, paths: Iterable[str]) -> NDArray[np.int64]:
        """The places of notes that are there.

        Raises:
            KeyError: One is not.
        """
        return np.array([self._places[path] for path in paths], dtype=np.int64)

    @cached_property
    def undirected(self) -> sparse.csr_array:
        """Links either way between two notes, every occurrence counted; symmetric CSR, (notes, notes)."""
        return sparse.csr_array(self.directed + self.directed.T)

    @cached_property
    def inbound(self) -> NDArray[np.int64]:
        """Links to each note from others, every occurrence counted, (notes,)."""
        return np.asarray(self.directed.sum(axis=0), dtype=np.int64).reshape(-1)

    @cached_property
    def outbound(self) -> NDArray[np.int64]:
        """Live links of each note to others, every occurrence counted, (notes,)."""
        return np.asarray(self.directed.sum(axis=1), dtype=np.int64).reshape(-1)

    @cached_property
    def components(self) -> NDArray[np.int64]:
        """The component of each note, links taken either way; 0 is the largest, ties go to the first note, (notes,)."""
        if not self.paths:
            return np.zeros(0, dtype=np.int64)
        _, labels = sparse.csgraph.connected_components(self.undirected, directed=False)
        return by_size(labels)

    def distances(self, *starts: int) -> NDArray[np.int64]:
        """Steps from a note, or from the nearest of several, to every other, links taken either way.

        Args:
            starts: Places.

        Returns:
            (notes,), 0 at the starts, `UNREACHABLE` where no way leads.
        """
        steps = np.full(len(self), UNREACHABLE, dtype=np.int64)
        frontier, depth = np.array(starts, dtype=np.int64), 0
        steps[frontier] = 0
        while frontier.size:
            depth += 1
            is_near = np.zeros(len(self), dtype=bool)
            is_near[_columns(self.undirected, frontier)] = True
            frontier = np.flatnonzero(is_near & (steps == UNREACHABLE))
            steps[frontier] = depth
        return steps

    def linked_from(self, place: int) -> NDArray[np.int64]:
        """The places that a note links to, in order, each once."""
        return np.unique(_columns(self.directed, np.array([place]))).astype(np.int64)

    @cached_property
    def names(self) -> dict[str, int]:
        """How many notes have each name: the last part of the path without `.md`, in lower case."""
        return Counter(path.rsplit("/", 1)[-1].removesuffix(".md").lower() for path in self.paths)

    def cosines(self, place: int, vectors: NoteVectors) -> NDArray[np.float64]:
        """How alike in meaning a note and every other are.

        Args:
            place: Of the note.
            vectors: Of the vault's notes.

        Returns:
            Cosines within [-1, 1], NaN where one of the two has no vector, (notes,).
        """
        found = np.full(len(self), np.nan)
        row = vectors.place(self.paths[place])
        if row is not None:
            rows = self.rows_of(vectors)
            cosines = np.clip(vectors.matrix @ vectors.matrix[row], -1.0, 1.0)
            found[rows >= 0] = cosines[rows[rows >= 0]]
        return found

    def rows_of(self, vectors: NoteVectors) -> NDArray[np.int64]:
        """The row of each note's vector, -1 where it has none; kept for the vectors of last time."""
        kept = self.__dict__.get("_kept_rows")
        if kept is None or kept[0] is not vectors:
            places = (vectors.place(path) for path in self.paths)
            kept = (vectors, np.array([-1 if row is None else row for row in places], dtype=np.int64))
            self.__dict__["_kept_rows"] = kept
        return kept[1]

    def rustworkx(self) -> rx.PyGraph[int, None]:
        """The graph without directions and repeats for rustworkx; node indices are places."""
        import rustworkx as rx  # noqa: PLC0415  (only analytics need it)

        graph: rx.PyGraph[int, None] = rx.PyGraph(multigraph=False)
        self._fill(graph, sparse.triu(self.undirected, k=1))
        return graph

    def rustworkx_directed(self) -> rx.PyDiGraph[int, None]:
        """The graph with directions, without repeats, for rustworkx; node indices are places."""
        import rustworkx as rx  # noqa: PLC0415

        graph: rx.PyDiGraph[int, None] = rx.PyDiGraph(multigraph=False)
        self._fill(graph, self.directed)
        return graph

    def _fill(self, graph: Any, edges: sparse.sparray) -> None:
        graph.add_nodes_from(range(len(self)))
        pairs = sparse.coo_array(edges)
        graph.add_edges_from_no_data(list(zip(pairs.row.tolist(), pairs.col.tolist(), strict=True)))


def _columns(matrix: sparse.csr_array, places: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The columns that some rows of a CSR matrix hold, one row after the other."""
    starts, lengths = matrix.indptr[places], np.diff(matrix.indptr)[places]
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    columns: NDArray[np.integer[Any]] = matrix.indices[np.repeat(starts, lengths) + np.arange(lengths.sum()) - before]
    return columns


def by_size(labels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Number groups anew: 0 is the largest, of equal ones the one whose first member comes first.

    Args:
        labels: The group of each thing, (n,).

    Returns:
        The same groups under new numbers, (n,).
    """
    _, first, dense, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks[dense].astype(np.int64)
