from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from workbench.vault.betweenness import betweenness


@pytest.mark.parametrize("seed", [1, 2])
def test_over_all_notes_it_is_that_of_networkx(seed):
    plain = nx.gnm_random_graph(150, 260, seed=seed)  # several components, several blocks of pivots
    found = betweenness(sparse.csr_array(nx.to_scipy_sparse_array(plain, dtype=float, format="csr")))
    wanted = nx.betweenness_centrality(plain)
    assert found.is_exact
    assert found.values.tolist() == pytest.approx([wanted[node] for node in range(150)], abs=1e-12)


def test_a_sample_is_near_and_the_same_each_time():
    plain = nx.barabasi_albert_graph(400, 2, seed=4)
    joined = sparse.csr_array(nx.to_scipy_sparse_array(plain, dtype=float, format="csr"))
    exact, sampled = betweenness(joined), betweenness(joined, most_pivots=128)
    assert (sampled.pivots, sampled.is_exact) == (128, False)
    assert np.abs(sampled.values - exact.values).max() < 0.05
    assert sampled.values.tolist() == betweenness(joined, most_pivots=128).values.tolist()
