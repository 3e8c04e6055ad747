from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import silhouette_samples

from workbench.vault.zettel import clusters as module
from workbench.vault.zettel.clusters import ALONE, centroid_linkage, clusters, cohesion, silhouette, single_linkage


def unit(rows):
    rows = np.asarray(rows, dtype=np.float32)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def angles(*degrees):
    turned = np.radians(degrees)
    return unit(np.column_stack([np.cos(turned), np.sin(turned)]))


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def test_a_chain_of_close_neighbours_is_one_group_by_single_linkage_and_not_by_centroids():
    chain = angles(0, 20, 40, 60, 80, 100)
    threshold = np.cos(np.radians(25))
    assert partition(single_linkage(chain, threshold)) == {frozenset(range(6))}
    assert len(partition(centroid_linkage(chain, threshold))) > 1


def test_the_threshold_is_strict_and_a_vector_is_no_closer_to_itself_than_one():
    same = unit([[1, 2, 3]] * 3)
    assert len(partition(single_linkage(same, 1.0))) == 3
    assert len(partition(single_linkage(unit([[1, 0], [0, 1]]), 0.0))) == 2


@pytest.mark.parametrize("block", [1, 7, 1024])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), threshold=st.floats(-0.5, 0.95))
def test_single_linkage_is_the_components_of_networkx_whatever_the_block(block, seed, threshold):
    rows = unit(np.random.default_rng(seed).normal(size=(40, 4)))
    plain = nx.Graph()
    plain.add_nodes_from(range(40))
    plain.add_edges_from(np.argwhere(np.triu(rows @ rows.T > threshold, 1)).tolist())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS_AT_ONCE", block)
        found = partition(single_linkage(rows, threshold))
    assert found == {frozenset(group) for group in nx.connected_components(plain)}


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), threshold=st.floats(0.1, 0.9))
def test_centroid_linkage_is_what_trying_all_pairs_each_time_gives(seed, threshold):
    rows = unit(np.random.default_rng(seed).normal(size=(25, 3)))
    groups = [[number] for number in range(25)]
    while len(groups) > 1:
        sums = unit(np.array([rows[group].astype(float).sum(axis=0) for group in groups]))
        cosines = sums @ sums.T
        np.fill_diagonal(cosines, -2)
        first, second = np.unravel_index(cosines.argmax(), cosines.shape)
        if cosines[first, second] <= threshold:
            break
        groups[first] += groups[second]
        del groups[second]
    assert partition(centroid_linkage(rows, threshold)) == {frozenset(group) for group in groups}


def test_centroid_linkage_refuses_what_it_cannot_hold(monkeypatch):
    monkeypatch.setattr(module, "_MOST_FOR_CENTROIDS", 3)
    with pytest.raises(ValueError, match="centroid linkage holds 3 vectors at most, not 4: take single"):
        centroid_linkage(angles(1, 2, 3, 4), 0.5)


def test_hdbscan_finds_two_clouds_and_leaves_noise_alone():
    chance = np.random.default_rng(2)
    clouds = [middle + 0.02 * chance.normal(size=(12, 3)) for middle in ([1, 0, 0], [0, 1, 0])]
    found = clusters(unit(np.vstack([*clouds, [[0, 0, 1]]])), "hdbscan", 0.0, 5)
    assert partition(found) == {frozenset(range(12)), frozenset(range(12, 24)), frozenset([24])}
    assert found[24] == ALONE


@pytest.mark.parametrize("linkage", ["single", "centroid", "hdbscan"])
def test_nothing_is_no_group(linkage):
    assert clusters(np.zeros((0, 3), dtype=np.float32), linkage, 0.5, 3).tolist() == []


def test_too_few_for_hdbscan_are_alone():
    assert clusters(angles(0, 1), "hdbscan", 0.5, 3).tolist() == [ALONE, ALONE]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), groups=st.integers(2, 5))
def test_the_silhouette_is_that_of_scikit_learn(seed, groups):
    chance = np.random.default_rng(seed)
    rows = unit(chance.normal(size=(30, 4)))
    labels = np.concatenate([np.arange(groups), chance.integers(0, groups, 30 - groups)])
    assert silhouette(rows, labels, groups).tolist() == pytest.approx(
        silhouette_samples(rows, labels, metric="cosine").tolist(), abs=1e-5
    )


def test_one_group_has_no_silhouette():
    assert np.isnan(silhouette(angles(0, 1), np.array([0, 0]), 1)).all()


def test_cohesion_is_the_mean_cosine_of_the_pairs():
    rows = angles(0, 10, 40, 90)
    labels = np.array([0, 0, 0, 1])
    pairs = [np.cos(np.radians(turn)) for turn in (10, 40, 30)]
    found = cohesion(rows, labels, 2)
    assert found[0] == pytest.approx(np.mean(pairs), abs=1e-6)
    assert np.isnan(found[1])
