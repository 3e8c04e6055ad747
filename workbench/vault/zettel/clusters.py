"""Groups of vectors that are close, and how good a grouping is."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

Linkage = Literal["single", "centroid", "hdbscan"]

ALONE: Final = -1
"""The group of a vector that is in none."""

_ROWS_AT_ONCE: Final = 1024  # with 10,000 vectors 40 MB of cosines
_MOST_FOR_CENTROIDS: Final = 20_000  # 1.6 GB of cosines, and minutes


def clusters(unit: NDArray[np.float32], linkage: Linkage, threshold: float, min_size: int) -> NDArray[np.int64]:
    """The group of each vector.

    single: connected components of "cosine > threshold"; centroid: the two groups whose means are closest are joined
    while the cosine of these is > threshold; hdbscan: density, where the threshold plays no part.

    Args:
        unit: Rows of length 1, (n, d).
        linkage: The rule.
        threshold: Strict.
        min_size: Smallest group of HDBSCAN; the other two keep every size.

    Returns:
        (n,), `ALONE` for what HDBSCAN calls noise.

    Raises:
        ValueError: Centroid linkage of more vectors than it can hold.
    """
    if not len(unit):
        return np.zeros(0, dtype=np.int64)
    if linkage == "single":
        return single_linkage(unit, threshold)
    return centroid_linkage(unit, threshold) if linkage == "centroid" else _hdbscan(unit, min_size)


def single_linkage(unit: NDArray[np.float32], threshold: float) -> NDArray[np.int64]:
    """Connected components of "cosine > threshold", block by block, so that no matrix of all pairs is held.

    A block compares its rows with themselves and what comes after; its pairs are reduced to pairs of components so far.
    """
    count = len(unit)
    labels = np.arange(count)
    for first in range(0, count, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, count)
        rows, columns = np.nonzero(np.minimum(unit[first:last] @ unit[first:].T, 1.0) > threshold)
        pairs = np.unique(labels[rows + first] * count + labels[columns + first])
        edges = (np.ones(len(pairs), dtype=bool), (pairs // count, pairs % count))
        _, joined = sparse.csgraph.connected_components(sparse.coo_array(edges, shape=(count, count)), directed=False)
        labels = joined[labels].astype(np.int64)
    return labels


def centroid_linkage(unit: NDArray[np.float32], threshold: float) -> NDArray[np.int64]:
    """Agglomeration by the cosine of means; O(n^2) memory, each step O(n d).

    Source: PAI src/zettelkasten/themes.ts, which calls it single linkage.
    """
    count = len(unit)
    if count > _MOST_FOR_CENTROIDS:
        raise ValueError(f"centroid linkage holds {_MOST_FOR_CENTROIDS:,} vectors at most, not {count:,}: take single")
    sums, labels = unit.astype(np.float64), np.arange(count)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = cosines.argmax(axis=1)
    best = cosines[np.arange(count), nearest]
    while count > 1:
        kept = int(best.argmax())
        if best[kept] <= threshold:
            break
        gone = int(nearest[kept])
        labels[labels == gone] = kept
        sums[kept] += sums[gone]
        sums[gone] = 0
        _join(cosines, nearest, best, sums, kept, gone)
    return labels


def _join(
    cosines: NDArray[np.float32],
    nearest: NDArray[np.intp],
    best: NDArray[np.float32],
    sums: NDArray[np.float64],
    kept: int,
    gone: int,
) -> None:
    """Take a group out, compare the one it went into anew, and bring the nearest of all up to date."""
    cosines[gone, :] = cosines[:, gone] = -np.inf
    lengths = np.linalg.norm(sums, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        fresh = (sums @ sums[kept]) / (lengths * lengths[kept])
    fresh[~np.isfinite(cosines[kept])] = -np.inf
    fresh = np.where(np.isnan(fresh), -np.inf, fresh)
    cosines[kept, :] = cosines[:, kept] = fresh
    stale = np.flatnonzero((nearest == kept) | (nearest == gone))
    changed = np.unique(np.append(stale, [kept, gone]))
    nearest[changed] = cosines[changed].argmax(axis=1)
    best[changed] = cosines[changed, nearest[changed]]
    closer = np.flatnonzero(cosines[:, kept] > best)
    nearest[closer], best[closer] = kept, cosines[closer, kept]


def _hdbscan(unit: NDArray[np.float32], min_size: int) -> NDArray[np.int64]:
    from sklearn.cluster import HDBSCAN  # type: ignore[import-untyped]  # noqa: PLC0415  (a second to load)

    if len(unit) < max(2, min_size):
        return np.full(len(unit), ALONE, dtype=np.int64)
    # on unit vectors the Euclidean distance orders pairs as the cosine does
    fitted = HDBSCAN(min_cluster_size=max(2, min_size), metric="euclidean", copy=True).fit(unit)
    return np.where(fitted.labels_ < 0, ALONE, fitted.labels_).astype(np.int64)


def cohesion(unit: NDArray[np.float32], labels: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """Mean cosine of the pairs within each group, exact, from the sum of its vectors; NaN for a group of one.

    Args:
        unit: Rows of length 1, (n, d).
        labels: 0..groups-1, (n,).
        groups: How many there are.
    """
    sums, sizes = _sums(unit, labels, groups)
    own = np.bincount(labels, weights=(unit.astype(np.float64) ** 2).sum(axis=1), minlength=groups)
    pairs = sizes * (sizes - 1)
    return np.where(pairs > 0, ((sums**2).sum(axis=1) - own) / np.maximum(pairs, 1), np.nan)


def silhouette(unit: NDArray[np.float32], labels: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """How much nearer each vector is to its own group than to the next, by 1 - cosine; exact, never sampled.

    (b - a) / max(a, b), a the mean distance to the others of its group, b the least mean distance to another group. A
    mean of cosines is the cosine product with the group's sum, so that no pair is looked at. Source: Rousseeuw 1987.

    Args:
        unit: Rows of length 1, (n, d).
        labels: 0..groups-1, (n,).
        groups: How many there are.

    Returns:
        (n,) within [-1, 1]; 0 in a group of one, NaN where there are fewer than two groups.
    """
    if groups < 2:  # noqa: PLR2004
        return np.full(len(unit), np.nan)
    sums, sizes = _sums(unit, labels, groups)
    found = np.empty(len(unit))
    for first in range(0, len(unit), _ROWS_AT_ONCE):
        block = slice(first, first + _ROWS_AT_ONCE)
        rows, own = unit[block].astype(np.float64), labels[block]
        here = np.arange(len(rows))
        products = rows @ sums.T
        within = products[here, own] - (rows**2).sum(axis=1)
        inside = 1 - within / np.maximum(sizes[own] - 1, 1)
        distances = 1 - products / sizes
        distances[here, own] = np.inf
        outside = distances.min(axis=1)
        largest = np.maximum(inside, outside)
        width = np.divide(outside - inside, largest, out=np.zeros_like(largest), where=largest > 0)
        found[block] = np.where(sizes[own] > 1, width, 0.0)
    return found


def _sums(
    unit: NDArray[np.float32], labels: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum of the vectors of each group, and its size."""
    membership = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(groups, len(labels)))
    return membership @ unit.astype(np.float64), np.bincount(labels, minlength=groups).astype(np.float64)
