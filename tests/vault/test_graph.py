from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_frames import links_of, notes_of, vault_of, vectors_of

from workbench.vault.graph import UNREACHABLE, NoteGraph, by_size

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


def graph_of(edges, count=12):
    paths = [f"{number:02}.md" for number in range(count)]
    links = links_of(*[(paths[source], paths[target]) for source, target in edges])
    return NoteGraph.from_frames(notes_of(*paths), links)


def test_every_occurrence_counts_and_a_link_to_itself_does_not():
    _, _, graph = vault_of("A>B A>B B>A A>A A>?gone C")
    assert graph.paths == ("A.md", "B.md", "C.md")
    assert graph.directed.toarray().tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    assert (graph.inbound.tolist(), graph.outbound.tolist()) == ([1, 2, 0], [2, 1, 0])
    assert graph.components.tolist() == [0, 0, 1]


def test_links_that_start_or_end_where_no_note_is_are_left_out():
    notes = notes_of("A.md")
    graph = NoteGraph.from_frames(notes, links_of(("A.md", "Z.md"), ("Z.md", "A.md")))
    assert graph.directed.nnz == 0
    assert graph.place("Z.md") is None


def test_an_empty_vault_has_a_graph():
    graph = NoteGraph.from_frames(notes_of(), links_of())
    assert (len(graph), graph.components.tolist(), graph.rustworkx().num_nodes()) == (0, [], 0)


@settings(deadline=None)
@given(EDGES)
def test_distances_are_those_of_networkx(edges):
    graph = graph_of(edges)
    oracle = nx.Graph(edges)
    oracle.add_nodes_from(range(12))
    for start in range(12):
        wanted = nx.single_source_shortest_path_length(oracle, start)
        assert graph.distances(start).tolist() == [wanted.get(node, UNREACHABLE) for node in range(12)]


def test_the_nearest_of_several_starts_counts():
    _, _, graph = vault_of("A>B B>C C>D D>E Z")
    assert graph.distances(0, 4).tolist() == [0, 1, 2, 1, 0, UNREACHABLE]
    assert graph.distances().tolist() == [UNREACHABLE] * 6


@settings(deadline=None)
@given(EDGES)
def test_components_are_those_of_networkx_the_largest_first(edges):
    graph = graph_of(edges)
    oracle = nx.Graph(edges)
    oracle.add_nodes_from(range(12))
    groups = [set(np.flatnonzero(graph.components == number)) for number in range(graph.components.max() + 1)]
    assert {frozenset(group) for group in groups} == {frozenset(group) for group in nx.connected_components(oracle)}
    assert [len(group) for group in groups] == sorted(map(len, groups), reverse=True)


def test_rustworkx_sees_each_pair_once_by_its_places():
    _, _, graph = vault_of("A>B B>A A>B A>C")
    assert sorted(graph.rustworkx().edge_list()) == [(0, 1), (0, 2)]
    assert sorted(graph.rustworkx_directed().edge_list()) == [(0, 1), (0, 2), (1, 0)]


def test_a_note_without_a_vector_has_no_cosine():
    _, _, graph = vault_of("A>B C D")
    vectors = vectors_of({"C.md": [1, 1], "A.md": [1, 0], "elsewhere.md": [1, 0], "B.md": [-1, 0]})
    found = graph.cosines(0, vectors)
    assert found[:3].tolist() == pytest.approx([1, -1, 0.5**0.5])
    assert np.isnan(found[3])
    assert np.isnan(graph.cosines(3, vectors)).all()


def test_names_are_counted_without_case_and_folder():
    graph = NoteGraph.from_frames(notes_of("a/Log.md", "b/log.md", "Other.md"), links_of())
    assert graph.names == {"log": 2, "other": 1}


@pytest.mark.parametrize(
    ("labels", "numbered"),
    [([7, 7, 3], [0, 0, 1]), ([3, 7, 7], [1, 0, 0]), ([5, 4], [0, 1]), ([], [])],
)
def test_groups_are_numbered_by_size_then_by_first_member(labels, numbered):
    assert by_size(np.array(labels, dtype=np.int64)).tolist() == numbered
