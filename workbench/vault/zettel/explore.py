"""Explore: walk from a note along its links."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from workbench.vault.graph import NoteGraph

Direction = Literal["both", "forward", "backward"]
Mode = Literal["all", "sequential", "associative"]

MOST_STEPS: Final = 10
"""PAI src/zettelkasten/explore.ts clamps the depth to 1..10."""

_NODES: Final = {
    "path": pl.String,
    "title": pl.String,
    "depth": pl.Int64,
    "link_class": pl.String,
    "inbound": pl.Int64,
    "outbound": pl.Int64,
    "is_branching": pl.Boolean,
}
_EDGES: Final = {"source_path": pl.String, "target_path": pl.String, "link_class": pl.String, "links": pl.Int64}


@dataclass(frozen=True, eq=False)
class Exploration:
    """What a walk met.

    Attributes:
        root: The note it starts from.
        depth: Steps taken at most, clamped to 1..10.
        nodes: One row a note met, nearest first: `path`, `title`, `depth`, `link_class` (of the edge that reached it
            first), `inbound`, `outbound` (live links, every occurrence), `is_branching`.
        edges: One row a pair of notes and direction: `source_path`, `target_path`, `link_class`, `links` (occurrences).
        branching_points: Notes met with more outgoing links than `branching_above`, the root first.
        max_depth_reached: A note was met at the depth limit, where the walk ends whether or not it could go on.
    """

    root: str
    depth: int
    nodes: pl.DataFrame
    edges: pl.DataFrame
    branching_points: tuple[str, ...]
    max_depth_reached: bool


def explore(
    start: str,
    notes: pl.DataFrame,
    links: pl.DataFrame,
    graph: NoteGraph,
    *,
    depth: int = 3,
    direction: Direction = "both",
    mode: Mode = "all",
    branching_above: int = 2,
) -> Exploration:
    """Walk breadth first from a note: at each note its own links in document order, then the links to it by path.

    Two notes are joined by one edge in each direction; it is sequential when one of its occurrences is.

    Args:
        start: Path of a note; the walk from one that is not there is empty.
        notes: `path`, `title`.
        links: `source_path`, `place`, `target_path`, `target_kind`, `link_class`.
        graph: Of the same frames.
        depth: Steps, clamped to 1..10.
        direction: `forward` along links, `backward` against them, or both.
        mode: Follow only edges of this class.
        branching_above: Outgoing links beyond which a note is a branching point.

    Source: PAI specification, 18.1; PAI src/zettelkasten/explore.ts. What counts there as sequential (the same folder)
    gives way to the seed's rule, which the index applies (`link_class`).
    """
    steps = min(max(depth, 1), MOST_STEPS)
    if graph.place(start) is None:
        return Exploration(start, steps, pl.DataFrame(schema=_NODES), pl.DataFrame(schema=_EDGES), (), False)  # noqa: FBT003
    walk = _Walk(edges_of(links, graph), direction, mode)
    met, crossed = walk.run(start, steps)
    nodes = _nodes(met, notes, graph, branching_above)
    edges = pl.DataFrame([(*pair, *walk.edges[pair]) for pair in crossed], schema=_EDGES, orient="row")
    branching = nodes.filter("is_branching")["path"].to_list()
    root_branches = int(graph.outbound[graph.place(start)]) > branching_above
    return Exploration(
        start,
        steps,
        nodes,
        edges,
        tuple([start, *branching] if root_branches else branching),
        bool((nodes["depth"] == steps).any()),
    )


def edges_of(links: pl.DataFrame, graph: NoteGraph) -> pl.DataFrame:
    """One row for each pair of notes that is linked, in document order.

    Returns:
        `source_path`, `target_path`, `link_class` (`sequential` when one occurrence is), `links` (occurrences); sorted
        by source path, then by first occurrence.
    """
    known = pl.Series(graph.paths, dtype=pl.String).implode()
    return (
        links.filter(
            pl.col("target_kind") == "note",
            pl.col("source_path") != pl.col("target_path"),
            pl.col("source_path").is_in(known),
            pl.col("target_path").is_in(known),
        )
        .sort("source_path", "place")
        .group_by("source_path", "target_path", maintain_order=True)
        .agg(
            pl.when((pl.col("link_class") == "sequential").any())
            .then(pl.lit("sequential"))
            .otherwise(pl.lit("associative"))
            .alias("link_class"),
            pl.len().cast(pl.Int64).alias("links"),
        )
    )


class _Walk:
    """The edges that a walk may take, from either end."""

    def __init__(self, edges: pl.DataFrame, direction: Direction, mode: Mode) -> None:
        if mode != "all":
            edges = edges.filter(pl.col("link_class") == mode)
        self.edges = {(source, target): (kind, links) for source, target, kind, links in edges.iter_rows()}
        self._ways: dict[str, list[tuple[str, tuple[str, str]]]] = {}
        if direction != "backward":
            for source, target in self.edges:
                self._ways.setdefault(source, []).append((target, (source, target)))
        if direction != "forward":
            for source, target in self.edges:
                self._ways.setdefault(target, []).append((source, (source, target)))

    def run(self, start: str, steps: int) -> tuple[dict[str, tuple[int, str]], list[tuple[str, str]]]:
        """Notes met with depth and class of the edge that met them, and the pairs crossed, both in order."""
        met: dict[str, tuple[int, str]] = {start: (0, "")}
        crossed: dict[tuple[str, str], None] = {}
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            depth = met[here][0]
            if depth == steps:
                continue
            for there, pair in self._ways.get(here, ()):
                crossed.setdefault(pair)
                if there not in met:
                    met[there] = (depth + 1, self.edges[pair][0])
                    waiting.append(there)
        del met[start]
        return met, list(crossed)


def _nodes(
    met: dict[str, tuple[int, str]], notes: pl.DataFrame, graph: NoteGraph, branching_above: int
) -> pl.DataFrame:
    places = graph.places(met)
    found = pl.DataFrame(
        {
            "path": list(met),
            "depth": [depth for depth, _ in met.values()],
            "link_class": [kind for _, kind in met.values()],
            "inbound": graph.inbound[places],
            "outbound": graph.outbound[places],
        },
        schema={name: _NODES[name] for name in ("path", "depth", "link_class", "inbound", "outbound")},
    )
    titled = found.join(notes.select("path", "title"), on="path", how="left", maintain_order="left")
    return titled.with_columns((pl.col("outbound") > branching_above).alias("is_branching")).select(*_NODES)
