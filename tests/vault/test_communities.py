from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from workbench.vault.communities import communities, modularity


def matrix(plain):
    return sparse.csr_array(nx.to_scipy_sparse_array(plain, dtype=float, format="csr"))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), st.lists(st.integers(0, 3), min_size=10))
def test_modularity_is_that_of_networkx(edges, groups):
    plain = nx.Graph([(a, b) for a, b in edges if a != b])
    plain.add_nodes_from(range(10))
    labels = np.array(groups[:10])
    ordered = nx.Graph()
    ordered.add_nodes_from(range(10))
    ordered.add_edges_from(plain.edges)
    found = modularity(matrix(ordered), labels)
    parts = [{int(node) for node in np.flatnonzero(labels == group)} for group in set(labels.tolist())]
    assert found == pytest.approx(nx.community.modularity(ordered, parts) if ordered.number_of_edges() else 0)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_communities_are_about_as_good_as_those_of_networkx(seed):
    plain = nx.planted_partition_graph(5, 20, 0.4, 0.03, seed=seed)
    weights = matrix(plain)
    theirs = nx.community.modularity(plain, nx.community.louvain_communities(plain, seed=1))
    assert modularity(weights, communities(weights)) >= theirs - 0.03


def test_planted_groups_are_found():
    plain = nx.planted_partition_graph(4, 25, 0.6, 0.01, seed=5)
    found = communities(matrix(plain))
    assert [sorted(set(found[first : first + 25].tolist())) for first in range(0, 100, 25)] == [[0], [1], [2], [3]]


def test_a_graph_without_edges_is_all_groups_of_one():
    assert communities(sparse.csr_array((3, 3))).tolist() == [0, 1, 2]
    assert communities(sparse.csr_array((0, 0))).tolist() == []
