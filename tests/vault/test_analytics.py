from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_frames import links_of, notes_of, vault_of

from workbench.vault.analytics import analyse
from workbench.vault.graph import NoteGraph

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30)


def made(edges, count=12):
    paths = [f"{number:02}.md" for number in range(count)]
    notes = notes_of(*paths)
    return notes, NoteGraph.from_frames(notes, links_of(*[(paths[a], paths[b]) for a, b in edges]))


def oracles(edges, count=12):
    directed = nx.DiGraph([(a, b) for a, b in edges if a != b])
    directed.add_nodes_from(range(count))
    return directed, directed.to_undirected()


@settings(deadline=None)
@given(EDGES)
def test_figures_are_those_of_networkx(edges):
    notes, graph = made(edges)
    directed, plain = oracles(edges)
    found = analyse(notes, graph)
    nodes = range(12)
    ranks, between = nx.pagerank(directed, alpha=0.85, tol=1e-12, max_iter=1000), nx.betweenness_centrality(plain)
    assert found.notes["pagerank"].to_list() == pytest.approx([ranks[node] for node in nodes], abs=1e-7)
    assert found.notes["betweenness"].to_list() == pytest.approx([between[node] for node in nodes], abs=1e-9)
    cutting = set(nx.articulation_points(plain))
    assert found.notes["is_articulation"].to_list() == [node in cutting for node in nodes]
    assert found.linked_pairs == plain.number_of_edges()
    assert found.density == pytest.approx(nx.density(plain))
    if directed.number_of_edges():
        assert found.reciprocity == pytest.approx(nx.overall_reciprocity(directed))


@settings(deadline=None)
@given(EDGES)
def test_bridges_are_those_of_networkx_with_what_they_hold(edges):
    notes, graph = made(edges)
    _, plain = oracles(edges)
    wanted = set()
    for pair in nx.bridges(plain):
        cut = plain.copy()
        cut.remove_edge(*pair)
        sides = [len(nx.node_connected_component(cut, node)) for node in pair]
        wanted.add((*(f"{node:02}.md" for node in sorted(pair)), min(sides)))
    assert set(analyse(notes, graph).bridges.iter_rows()) == wanted


def test_two_circles_joined_by_one_link_are_two_communities_and_a_bridge():
    notes, _, graph = vault_of("A>B B>C C>A D>E E>F F>D C>D G")
    found = analyse(notes, graph)
    assert found.notes["community"].to_list() == [0, 0, 0, 1, 1, 1, 2]
    assert found.communities.rows() == [(0, 3, 3, 1, "C.md"), (1, 3, 3, 1, "D.md")]
    assert found.bridges.rows() == [("C.md", "D.md", 3)]
    assert found.notes.filter("is_articulation")["path"].to_list() == ["C.md", "D.md"]
    assert found.modularity == pytest.approx(2 * (3 / 7 - (7 / 14) ** 2))


def test_an_empty_vault_has_figures():
    notes, _, graph = vault_of("")
    found = analyse(notes, graph)
    assert (found.notes.height, found.bridges.height, found.communities.height) == (0, 0, 0)
    assert (found.modularity, found.density, found.reciprocity) == (0, 0, 0)


def test_more_notes_than_pivots_are_sampled_and_said_to_be():
    chance = np.random.default_rng(3)
    edges = [tuple(pair) for pair in chance.integers(0, 300, (900, 2)).tolist()]
    notes, graph = made(edges, 300)
    exact, sampled = analyse(notes, graph, most_pivots=300), analyse(notes, graph, most_pivots=100)
    assert (exact.pivots, sampled.pivots) == (300, 100)
    values = [each.notes["betweenness"].to_numpy() for each in (exact, sampled)]
    assert np.corrcoef(*values)[0, 1] > 0.95
    assert sampled.notes.equals(analyse(notes, graph, most_pivots=100).notes)
