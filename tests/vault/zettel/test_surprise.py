from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from vault_frames import links_of, notes_of, vault_of, vectors_of

from workbench.vault.graph import NoteGraph
from workbench.vault.zettel.surprise import surprise

VECTORS = vectors_of({f"{name}.md": v for name, v in zip("ABCDEZ", np.eye(6) * 0.5 + 0.5, strict=True)})


def alike():
    first, second = VECTORS.matrix[0], VECTORS.matrix[1]
    return float(first @ second)


def test_each_term_of_the_formula_is_a_column():
    notes, _, graph = vault_of("A>B B>C C>D D>E Z")
    found = surprise("A.md", notes, graph, VECTORS)
    cosine = alike()
    rows = found.notes.select("path", "distance", "counted_distance").rows()
    assert rows == [("Z.md", None, 20), ("E.md", 4, 4), ("D.md", 3, 3)]
    assert found.notes["cosine"].to_list() == pytest.approx([cosine] * 3)
    assert found.notes["log_distance"].to_list() == pytest.approx([math.log2(21), math.log2(5), 2])
    assert found.notes["score"].to_list() == pytest.approx([cosine * math.log2(21), cosine * math.log2(5), cosine * 2])
    assert (found.compared, found.lack) == (5, None)


def test_notes_too_near_or_too_unlike_are_left_out():
    notes, _, graph = vault_of("A>B B>C C>D Z Y")
    vectors = vectors_of({"A.md": [1, 0], "B.md": [1, 0], "D.md": [0.2, 1], "Z.md": [-1, 0], "Y.md": [1, 1]})
    assert surprise("A.md", notes, graph, vectors).notes["path"].to_list() == ["Y.md"]
    found = surprise("A.md", notes, graph, vectors, min_graph_distance=1, min_similarity=0.1)
    assert found.notes["path"].to_list() == ["Y.md", "B.md", "D.md"]


def test_a_way_longer_than_the_distance_of_no_way_counts_as_none():
    chain = " ".join(f"{number:02}>{number + 1:02}" for number in range(25))
    notes, _, graph = vault_of(chain)
    vectors = vectors_of({"00.md": [1, 0], "25.md": [1, 0], "20.md": [1, 0]})
    found = surprise("00.md", notes, graph, vectors)
    assert found.notes.select("path", "distance", "counted_distance").rows() == [("20.md", 20, 20), ("25.md", 25, 20)]


def test_the_bridge_reading_looks_for_unlike_notes_that_links_join():
    notes, _, graph = vault_of("A>B B>C Z")
    vectors = vectors_of({"A.md": [1, 0], "B.md": [0.6, 0.8], "C.md": [0, 1], "Z.md": [-1, 0]})
    found = surprise("A.md", notes, graph, vectors, mode="bridge")
    assert found.notes["path"].to_list() == ["C.md", "B.md"]
    assert found.notes["score"].to_list() == pytest.approx([1 / math.log2(3), 0.4], abs=1e-6)
    assert found.mode == "bridge"


@pytest.mark.parametrize(("note", "lack"), [("C.md", "has no vector"), ("gone.md", "no such note")])
def test_a_note_that_cannot_be_compared_is_named(note, lack):
    notes, _, graph = vault_of("A>B C")
    found = surprise(note, notes, graph, vectors_of({"A.md": [1, 0]}))
    assert (found.notes.height, found.compared) == (0, 0)
    assert lack in found.lack


def test_rows_may_carry_the_closest_piece_of_the_note():
    notes, _, graph = vault_of("A B")
    found = surprise(
        "A.md",
        notes,
        graph,
        vectors_of({"A.md": [1, 0], "B.md": [1, 0]}),
        snippets=lambda paths: {path: f"of {path}" for path in paths},
    )
    assert found.notes["snippet"].to_list() == ["of B.md"]


@pytest.mark.parametrize("mode", ["formula", "bridge"])
def test_ranks_are_those_of_the_formula_over_networkx(mode):
    chance = np.random.default_rng(7)
    paths = [f"{number:03}.md" for number in range(120)]
    edges = [(paths[a], paths[b]) for a, b in chance.integers(0, 120, (110, 2))]
    notes = notes_of(*paths)
    graph, vectors = (
        NoteGraph.from_frames(notes, links_of(*edges)),
        vectors_of(dict(zip(paths, chance.normal(size=(120, 8)), strict=True))),
    )
    plain = nx.Graph(edges)
    plain.add_nodes_from(paths)
    steps = nx.single_source_shortest_path_length(plain, paths[5])
    wanted = {}
    for place, path in enumerate(paths):
        cosine = float(vectors.matrix[place] @ vectors.matrix[5])
        if path == paths[5]:
            continue
        if mode == "formula" and cosine >= 0.3 and steps.get(path, 99) >= 3:
            wanted[path] = cosine * math.log2(min(steps.get(path, 20), 20) + 1)
        if mode == "bridge" and path in steps:
            wanted[path] = (1 - cosine) / math.log2(steps[path] + 1)
    found = surprise(paths[5], notes, graph, vectors, limit=10, mode=mode)
    best = sorted(wanted, key=lambda path: (-wanted[path], path))[:10]
    assert found.notes["path"].to_list() == best
    assert found.notes["score"].to_list() == pytest.approx([wanted[path] for path in best], abs=1e-6)
