"""What the operations on a vault of 10,000 notes take, and the figures of a smaller graph beside networkx.

Run as `python tests/benchmarks/bench_vault_graph.py [--notes 10000] [--peer-notes 1000] [--seconds 30]`; it ends within
four minutes. Notes have five links each, most of them to few notes, three tags, and vectors of 384 dimensions in 300
clusters. networkx, which takes minutes for 10,000 notes, computes the figures of a graph of 1,000 in the same run,
betweenness from as many notes as ours; the ratio is that of the same graph. A function of it that takes longer than so
many seconds is stopped and named.

Bars (design 13; issue: operations): themes < 10 s, health < 1 s, suggest and surprise < 100 ms a note.
"""

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import rustworkx as rx

from workbench.vault.analytics import analyse
from workbench.vault.betweenness import PIVOTS, betweenness
from workbench.vault.communities import communities, modularity
from workbench.vault.graph import NoteGraph
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.zettel.health import health
from workbench.vault.zettel.suggest import suggest
from workbench.vault.zettel.surprise import surprise
from workbench.vault.zettel.themes import themes

BARS = {"themes": 10_000.0, "health": 1_000.0, "suggest, a note": 100.0, "surprise, a note": 100.0}
SEED = 20260301
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def made(count: int) -> tuple[pl.DataFrame, pl.DataFrame, NoteVectors]:
    """Notes, links and vectors."""
    chance = np.random.default_rng(SEED)
    paths = np.array([f"Folder {number % 37}/Note {number}.md" for number in range(count)], dtype=object)
    notes = pl.DataFrame(
        {
            "path": paths.tolist(),
            "title": [f"Note {number}" for number in range(count)],
            "tags": [[f"tag{tag}" for tag in row] for row in chance.integers(0, 200, (count, 3))],
            "modified_at": [NOW] * count,
            "indexed_at": [NOW] * count,
        }
    )
    sources = np.sort(chance.integers(0, count, 5 * count))
    targets = (chance.pareto(1.2, 5 * count) * 20).astype(int) % count
    links = pl.DataFrame(
        {
            "source_path": paths[sources].tolist(),
            "place": np.arange(5 * count),
            "line": np.ones(5 * count, dtype=int),
            "syntax": "wikilink",
            "raw": paths[targets].tolist(),
            "target_path": paths[targets].tolist(),
            "target_kind": "note",
            "link_class": "associative",
        }
    )
    middles = chance.normal(size=(300, 384))
    rows = middles[chance.integers(0, 300, count)] + 0.8 * chance.normal(size=(count, 384))
    return notes, links, NoteVectors(tuple(paths.tolist()), rows.astype(np.float32), "made")


def median_ms(call: Callable[[int], object], times: int) -> float:
    """The median of so many calls; one to warm up."""
    taken = []
    for number in range(-1, times):
        start = time.perf_counter()
        call(number)
        taken.append((time.perf_counter() - start) * 1000)
    return float(np.median(taken[1:]))


def theirs(name: str, pairs: list[tuple[int, int]], count: int, answer: Any) -> None:
    """One figure by networkx, timed in a process of its own."""
    plain, directed = nx.Graph(pairs), nx.DiGraph(pairs)
    plain.add_nodes_from(range(count))
    calls: dict[str, Callable[[], object]] = {
        "pagerank": lambda: nx.pagerank(directed),
        "bridges": lambda: list(nx.bridges(plain)),
        "communities": lambda: nx.community.louvain_communities(plain, seed=1),
        "betweenness, sampled": lambda: nx.betweenness_centrality(plain, k=min(PIVOTS, count), seed=1),
        "distances from a note": lambda: nx.single_source_shortest_path_length(plain, 5),
    }
    start = time.perf_counter()
    found = calls[name]()
    quality = nx.community.modularity(plain, found) if name == "communities" else None
    answer.send(((time.perf_counter() - start) * 1000, quality))


def by_networkx(
    name: str, pairs: list[tuple[int, int]], count: int, seconds: float
) -> tuple[float | None, float | None]:
    """Milliseconds and quality; None where it was stopped."""
    ours, other = multiprocessing.get_context("spawn").Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=theirs, args=(name, pairs, count, other))
    process.start()
    found = ours.recv() if ours.poll(seconds) else (None, None)
    process.kill()
    process.join()
    return found


def main() -> None:
    """Measure, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--peer-notes", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    notes, links, vectors = made(options.notes)
    paths = notes["path"].to_list()
    graph = NoteGraph.from_frames(notes, links)
    figures = {
        "graph from frames": median_ms(lambda _: NoteGraph.from_frames(notes, links), 3),
        "health": median_ms(lambda _: health(notes, links, graph, vectors, now=NOW), 5),
        "themes": median_ms(lambda _: themes(notes, graph, vectors, now=NOW), 3),
        "suggest, a note": median_ms(lambda at: suggest(paths[at + 7], notes, graph, vectors), 30),
        "surprise, a note": median_ms(lambda at: surprise(paths[at + 7], notes, graph, vectors), 30),
        "all graph figures": median_ms(lambda _: analyse(notes, graph), 1),
    }
    for name, took in figures.items():
        verdict = f"   bar {BARS[name]:,.0f}: {'met' if took < BARS[name] else 'MISSED'}" if name in BARS else ""
        sys.stdout.write(f"{name:24}{took:12,.1f} ms{verdict}\n")
    whole = own_figures(graph)
    for name, took in whole.items():
        sys.stdout.write(f"{name:24}{took:12,.1f} ms\n")
    ratios = beside_networkx(options.peer_notes, options.seconds)
    told = {"notes": options.notes, "ms": figures | whole, "peer_notes": options.peer_notes, "networkx_ratio": ratios}
    sys.stdout.write(json.dumps(told) + "\n")


def own_figures(graph: NoteGraph) -> dict[str, float]:
    """Milliseconds of each figure of a graph."""
    joined = (graph.undirected > 0).astype(np.float64)
    plain, directed = graph.rustworkx(), graph.rustworkx_directed()
    return {
        "pagerank": median_ms(lambda _: rx.pagerank(directed), 3),
        "bridges": median_ms(lambda _: rx.bridges(plain), 3),
        "communities": median_ms(lambda _: communities(joined), 1),
        "betweenness, sampled": median_ms(lambda _: betweenness(joined), 1),
        "distances from a note": median_ms(lambda _: graph.distances(5), 10),
    }


def beside_networkx(notes: int, seconds: float) -> dict[str, float | None]:
    """Print ours and theirs of a graph of so many notes; how many times our time theirs is."""
    frame, links, _ = made(notes)
    graph = NoteGraph.from_frames(frame, links)
    joined = (graph.undirected > 0).astype(np.float64)
    entries = graph.directed.tocoo()
    pairs = list(zip(entries.row.tolist(), entries.col.tolist(), strict=True))
    sys.stdout.write(f"{notes:,} notes, beside networkx\n")
    ratios = {}
    for name, took in own_figures(graph).items():
        other, quality = by_networkx(name, pairs, len(graph), seconds)
        ratios[name] = None if other is None else other / took
        told = f"not done in {seconds:.0f} s" if other is None else f"{other:,.1f} ms, {other / took:,.1f} x"
        sys.stdout.write(f"{name:24}{took:12,.1f} ms   networkx {told}\n")
        if quality is not None:
            own = modularity(joined, communities(joined))
            sys.stdout.write(f"{'':24}modularity {own:.4f}, networkx {quality:.4f}\n")
    return ratios


if __name__ == "__main__":
    main()
