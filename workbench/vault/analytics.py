"""Figures of a vault's link graph: what is central, what belongs together, what holds it together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse  # type: ignore[import-untyped]

from workbench.vault.betweenness import PIVOTS, betweenness
from workbench.vault.communities import communities, modularity
from workbench.vault.graph import NoteGraph

DAMPING: Final = 0.85
"""Of PageRank; source: Brin and Page 1998."""

_TOLERANCE: Final = 1e-10  # of one note's rank from round to round
_ROUNDS: Final = 300  # the error falls to 0.85 of itself in each: 1e-21 at the end

_NOTES: Final = {
    "path": pl.String,
    "title": pl.String,
    "inbound": pl.Int64,
    "outbound": pl.Int64,
    "pagerank": pl.Float64,
    "betweenness": pl.Float64,
    "community": pl.Int64,
    "component": pl.Int64,
    "is_articulation": pl.Boolean,
}
_BRIDGES: Final = {"first_path": pl.String, "second_path": pl.String, "smaller_side": pl.Int64}
_COMMUNITIES: Final = {
    "community": pl.Int64,
    "size": pl.Int64,
    "pairs_within": pl.Int64,
    "pairs_out": pl.Int64,
    "central_path": pl.String,
}


@dataclass(frozen=True, eq=False)
class GraphFigures:
    """Figures of a link graph.

    Attributes:
        notes: One row a note: `path`, `title`, `inbound`, `outbound` (links, every occurrence), `pagerank`,
            `betweenness` (share of the shortest ways that lead through it), `community`, `component`,
            `is_articulation` (without it its component falls apart).
        bridges: Pairs whose link alone joins two parts: `first_path`, `second_path`, `smaller_side` (notes cut off by
            its loss), the largest such first.
        communities: One row a community of two notes or more: `community`, `size`, `pairs_within`, `pairs_out` (linked
            pairs), `central_path` (the highest PageRank).
        modularity: Of the communities.
        linked_pairs: Pairs of notes with a link either way.
        density: Of all possible pairs, the share that is linked.
        reciprocity: Of the linked ordered pairs, the share that is linked back.
        pivots: Notes that betweenness was followed from; it is exact where these are all notes.
    """

    notes: pl.DataFrame
    bridges: pl.DataFrame
    communities: pl.DataFrame
    modularity: float
    linked_pairs: int
    density: float
    reciprocity: float
    pivots: int


def analyse(notes: pl.DataFrame, graph: NoteGraph, *, most_pivots: int = PIVOTS) -> GraphFigures:
    """Compute the figures of a graph; repeats of a link count once, links to itself not at all.

    PageRank follows directions; the rest takes links either way.

    Args:
        notes: `title`, rows in the order of the graph's places.
        graph: Of the vault.
        most_pivots: Betweenness is exact for as many notes at most, else from a sample of so many.
    """
    import rustworkx as rx  # noqa: PLC0415

    joined = _simple(graph.undirected)
    groups = communities(joined)
    plain, directed = graph.rustworkx(), graph.rustworkx_directed()
    ranks = rx.pagerank(directed, alpha=DAMPING, tol=_TOLERANCE, max_iter=_ROUNDS) if len(graph) else {}
    between = betweenness(joined, most_pivots=most_pivots)
    cutting = rx.articulation_points(plain)
    table = pl.DataFrame(
        {
            "path": graph.paths,
            "title": notes["title"],
            "inbound": graph.inbound,
            "outbound": graph.outbound,
            "pagerank": [ranks[place] for place in range(len(graph))],
            "betweenness": between.values,
            "community": groups,
            "component": graph.components,
            "is_articulation": [place in cutting for place in range(len(graph))],
        },
        schema=_NOTES,
    )
    pairs = joined.nnz // 2
    ordered = graph.directed.nnz
    return GraphFigures(
        table,
        _bridges(graph, [tuple(sorted(pair)) for pair in rx.bridges(plain)]),
        _communities(table, joined),
        modularity(joined, groups),
        pairs,
        pairs / max(1, len(graph) * (len(graph) - 1) // 2),
        (2 * (ordered - pairs)) / ordered if ordered else 0.0,
        between.pivots,
    )


def _simple(counted: sparse.csr_array) -> sparse.csr_array:
    """The same graph with every pair counted once."""
    once = counted.copy().astype(np.float64)
    once.data[:] = 1.0
    return sparse.csr_array(once)


def _bridges(graph: NoteGraph, pairs: list[tuple[int, ...]]) -> pl.DataFrame:
    """The bridges with the size of the smaller part that each one's loss leaves."""
    below = _tree_sizes(graph) if pairs else {}
    sizes = np.bincount(graph.components) if len(graph) else np.zeros(0, dtype=np.int64)
    rows = []
    for first, second in pairs:
        cut = below[first, second] if (first, second) in below else below[second, first]
        rows.append((graph.paths[first], graph.paths[second], int(min(cut, sizes[graph.components[first]] - cut))))
    frame = pl.DataFrame(rows, schema=_BRIDGES, orient="row")
    return frame.sort("smaller_side", "first_path", "second_path", descending=[True, False, False])


def _tree_sizes(graph: NoteGraph) -> dict[tuple[int, int], int]:
    """Notes below each edge (parent, child) of a spanning forest; a bridge is in every such forest."""
    found: dict[tuple[int, int], int] = {}
    _, firsts = np.unique(graph.components, return_index=True)
    for start in firsts.tolist():
        order, parents = sparse.csgraph.breadth_first_order(graph.undirected, start, directed=False)
        size = dict.fromkeys(order.tolist(), 1)
        for node in order[:0:-1].tolist():
            parent = int(parents[node])
            size[parent] += size[node]
            found[parent, node] = size[node]
    return found


def _communities(table: pl.DataFrame, joined: sparse.csr_array) -> pl.DataFrame:
    groups = table["community"].to_numpy()
    pairs = sparse.coo_array(joined)
    inner = groups[pairs.row] == groups[pairs.col]
    count = int(groups.max(initial=-1)) + 1
    figures = pl.DataFrame(
        {
            "community": np.arange(count),
            "pairs_within": np.bincount(groups[pairs.row[inner]], minlength=count) // 2,
            "pairs_out": np.bincount(groups[pairs.row[~inner]], minlength=count),
        },
        schema={name: _COMMUNITIES[name] for name in ("community", "pairs_within", "pairs_out")},
    )
    central = (
        table.sort("pagerank", "path", descending=[True, False])
        .group_by("community", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("size"), pl.col("path").first().alias("central_path"))
        .filter(pl.col("size") > 1)
    )
    return central.join(figures, on="community").sort("community").select(*_COMMUNITIES)
