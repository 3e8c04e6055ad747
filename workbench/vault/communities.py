"""Communities of a link graph: the Louvain method, with a fixed order instead of a seed."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from workbench.vault.graph import by_size

_LEAST_GAIN: Final = 1e-12
"""Of a move, in units of the total weight: below it is rounding."""


ORDERS: Final = 3
"""Orders in which the notes are visited; the best outcome counts, since one alone may join what should stay apart."""


def communities(weights: sparse.csr_array) -> NDArray[np.int64]:
    """Group the nodes of a graph so that modularity is high.

    Blondel et al. 2008: each node moves to the neighbouring group that gains most, until none does; groups become
    nodes, and so on. The orders of visits are fixed, so that the same graph gives the same groups. rustworkx (0.18)
    has no such function.

    Args:
        weights: Symmetric, without a diagonal, (n, n).

    Returns:
        (n,), 0 is the largest group; a node without neighbours is a group.
    """
    best, highest = np.arange(weights.shape[0]), -np.inf
    for number in range(ORDERS if weights.nnz else 0):
        order = np.random.default_rng(number).permutation(weights.shape[0])
        found = np.empty_like(best)
        found[order] = _louvain(sparse.csr_array(weights[order, :][:, order], dtype=np.float64))
        score = modularity(weights, found)
        if score > highest:
            best, highest = found, score
    return by_size(best)


def _louvain(graph: sparse.csr_array) -> NDArray[np.int64]:
    """Groups by one order of visits, that of the rows."""
    labels = np.arange(graph.shape[0])
    while True:
        moved, groups = _one_level(graph)
        dense = np.unique(groups, return_inverse=True)[1]
        labels = dense[labels]
        if not moved:
            return labels
        shape = (int(dense.max()) + 1, graph.shape[0])
        membership = sparse.csr_array((np.ones(len(dense)), (dense, np.arange(len(dense)))), shape=shape)
        graph = sparse.csr_array(membership @ graph @ membership.T)


def modularity(weights: sparse.csr_array, labels: NDArray[np.int64]) -> float:
    """Share of the weight within groups, minus what chance would give; 0 for a graph without edges.

    Q = sum over groups of (weight within / m - (degrees / 2m)^2). Source: Newman and Girvan 2004.

    Args:
        weights: Symmetric, without a diagonal, (n, n).
        labels: The group of each node, (n,).
    """
    total = float(weights.sum())
    if not total:
        return 0.0
    degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).reshape(-1)
    entries = sparse.coo_array(weights)
    within = float(entries.data[labels[entries.row] == labels[entries.col]].sum())
    return within / total - float(((np.bincount(labels, weights=degrees) / total) ** 2).sum())


def _one_level(graph: sparse.csr_array) -> tuple[bool, NDArray[np.int64]]:
    """Move nodes until no move gains; whether any moved, and the group of each."""
    starts, columns, values = graph.indptr.tolist(), graph.indices.tolist(), graph.data.tolist()
    degrees = np.asarray(graph.sum(axis=1), dtype=np.float64).reshape(-1).tolist()
    total = sum(degrees)
    groups, weight_of = list(range(len(degrees))), list(degrees)
    any_moved, moving = False, bool(total)
    while moving:
        moving = False
        for node, degree in enumerate(degrees):
            near: dict[int, float] = {}
            for entry in range(starts[node], starts[node + 1]):
                if columns[entry] != node:
                    group = groups[columns[entry]]
                    near[group] = near.get(group, 0.0) + values[entry]
            best = _best_group(near, weight_of, groups[node], degree, total)
            if best != groups[node]:
                weight_of[groups[node]] -= degree
                weight_of[best] += degree
                groups[node] = best
                moving = any_moved = True
    return any_moved, np.array(groups, dtype=np.int64)


def _best_group(near: dict[int, float], weight_of: list[float], own: int, degree: float, total: float) -> int:
    """The group that a node gains most by joining; its own unless another gains more."""
    best, most = own, near.get(own, 0.0) - degree * (weight_of[own] - degree) / total
    for group in sorted(near):
        gain = near[group] - degree * weight_of[group] / total
        if group != own and gain > most + _LEAST_GAIN * total:
            best, most = group, gain
    return best
