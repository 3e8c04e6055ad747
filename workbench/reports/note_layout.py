"""Where notes stand in a drawing of their links: a force layout as matrix products, ready before the page is.

Every note pushes every other away, links pull their ends together (the forces of ForceAtlas2: push as the product of
the notes' links over their distance, pull as the distance). The push of all on all is read from a grid: the notes'
weights are laid on it, folded with the push of a single one by Fourier transforms, and read off again, so that a round
costs n + m and not n². 5,000 notes with 20,000 links take one to two seconds for 200 rounds;
`rustworkx.spring_layout`, which goes over all pairs, takes three times as long for 20
(tests/benchmarks/bench_note_graph.py).

Source: Jacomy et al., ForceAtlas2, PLoS ONE 9(6), 2014; the grid: Hockney and Eastwood, Computer Simulation Using
Particles, 1988 (particle-mesh).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

ROUNDS: Final = 200
"""After 150 the communities of made graphs of 50 to 5,000 notes stand apart; further rounds only tidy."""
CELLS: Final = (32, 128)
"""Of the grid along each side, for few notes and for many; two notes in one cell are parted by `_parted`."""
GRAVITY: Final = 0.02
"""Pull towards the middle, a part of the distance each round: keeps small islands near."""
HOT: Final = 0.6
COLD: Final = 0.05
"""Part of its way that a note goes in the first round, and in the last."""
FAR: Final = 0.95
"""Islands beyond the radius that so many notes lie in are brought nearer."""
FILLED: Final = 0.35
"""Part of the drawing's disc that notes may fill once they are parted."""
PARTINGS: Final = 60
RING: Final = 1.06
"""Notes without a link stand in rings from here on, the drawing's radius being 1."""
GOLDEN: Final = np.pi * (3 - np.sqrt(5))


class _Grid(NamedTuple):
    """Where points lie on the grid: for each the four cells around it, and their parts of it."""

    cell: float
    cells: Places
    parts: Points


def note_layout(sources: Places, targets: Places, count: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Places of notes: linked ones near each other, those without a link around them.

    Args:
        sources: Place of the note that each link leads from, from 0.
        targets: Place of the note that it leads to.
        count: Notes.
        seed: Of the places in which notes begin.

    Returns:
        (count, 2), within a circle of radius 1 around the origin. The same links give the same places.
    """
    degrees = np.bincount(np.concatenate([sources, targets]), minlength=count)
    linked = np.flatnonzero(degrees)
    made = np.zeros((count, 2))
    if len(linked):
        renumbered = np.zeros(count, dtype=np.intp)
        renumbered[linked] = np.arange(len(linked))
        made[linked] = _linked(renumbered[sources], renumbered[targets], len(linked), seed)
    alone = np.flatnonzero(degrees == 0)
    made[alone] = _ring(len(alone), count, inner=RING if len(linked) else 0.0)
    reach = np.hypot(made[:, 0], made[:, 1]).max(initial=0.0)
    return np.asarray(made / max(reach, 1e-9), dtype=np.float32)


def _linked(sources: Places, targets: Places, count: int, seed: int) -> Points:
    """Places of notes of which each has a link, within a circle of radius 1."""
    ends, others = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    weights = np.bincount(ends, minlength=count) + 1.0
    points = np.random.default_rng(seed).normal(size=(count, 2)) * np.sqrt(count)
    push = _push_of_one(int(np.clip(2 ** np.ceil(np.log2(4 * np.sqrt(count))), *CELLS)))
    for turn in range(ROUNDS):
        apart = points[others] - points[ends]
        pull = _summed(ends, apart, count) / weights[:, None]
        step = _pushed(points, weights / weights.mean(), push) + pull - GRAVITY * points
        points = points + (COLD + (HOT - COLD) * (1 - turn / ROUNDS)) * step
    return _parted(_nearer(points - points.mean(axis=0)))


def _summed(places: Places, values: Points, count: int) -> Points:
    return np.stack([np.bincount(places, values[:, axis], count) for axis in (0, 1)], axis=1)


def _push_of_one(side: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The push of a note of weight 1 at each distance on a grid, along both axes, transformed."""
    from scipy import fft  # type: ignore[import-untyped]  # noqa: PLC0415  (70 ms)

    offsets = np.arange(2 * side, dtype=np.float32)
    offsets[side:] -= 2 * side
    along, across = np.meshgrid(offsets, offsets, indexing="ij")
    squares = along**2 + across**2 + 0.5  # softened within a cell
    return fft.rfft2(along / squares), fft.rfft2(across / squares)


def _on_grid(points: Points, side: int) -> _Grid:
    low = points.min(axis=0)
    cell = max(float((points.max(axis=0) - low).max()), 1e-9) / (side - 1.001)
    at = (points - low) / cell
    corner = at.astype(np.intp)
    inside = at - corner
    cells, parts = [], []
    for along in (0, 1):
        for across in (0, 1):
            cells.append((corner[:, 0] + along) * side + corner[:, 1] + across)
            parts.append(np.abs(1 - along - inside[:, 0]) * np.abs(1 - across - inside[:, 1]))
    return _Grid(cell, np.array(cells), np.array(parts))


def _pushed(points: Points, weights: Points, push: tuple[NDArray[Any], NDArray[Any]]) -> Points:
    """How far each point is pushed by all others: the sum of their weights over their distances."""
    from scipy import fft  # noqa: PLC0415

    side = len(push[0]) // 2
    grid = _on_grid(points, side)
    laid = np.bincount(grid.cells.ravel(), (grid.parts * weights).ravel(), side * side)
    waves = fft.rfft2(laid.reshape(side, side).astype(np.float32), (2 * side, 2 * side))
    read = []
    for each in push:
        field = fft.irfft2(waves * each, (2 * side, 2 * side))[:side, :side].ravel()
        read.append((grid.parts * field[grid.cells]).sum(axis=0) / grid.cell)
    return np.stack(read, axis=1)


def _nearer(points: Points) -> Points:
    """The points within a circle of radius 1; those far out keep their direction and come nearer."""
    radii = np.hypot(points[:, 0], points[:, 1])
    most = max(float(np.quantile(radii, FAR)), 1e-9)
    outer = np.maximum(radii / most, 1.0)
    drawn = points / most / outer[:, None] * (1 + 0.15 * np.log(outer))[:, None]
    return np.asarray(drawn / max(float(np.hypot(drawn[:, 0], drawn[:, 1]).max()), 1e-9))


def _parted(points: Points) -> Points:
    """The points with those that lie upon each other moved apart."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]  # noqa: PLC0415  (40 ms)

    distance = 2 * np.sqrt(FILLED / len(points))
    points = points + 1e-6 * np.stack([np.cos(np.arange(len(points))), np.sin(np.arange(len(points)))], axis=1)
    for _ in range(PARTINGS):
        pairs = cKDTree(points).query_pairs(distance * 0.98, output_type="ndarray")
        if not len(pairs):
            break
        apart = points[pairs[:, 0]] - points[pairs[:, 1]]
        lengths = np.hypot(apart[:, 0], apart[:, 1])
        move = apart * ((distance - lengths) / np.maximum(lengths, 1e-12) / 4)[:, None]
        points = points + _summed(pairs[:, 0], move, len(points)) - _summed(pairs[:, 1], move, len(points))
    return np.asarray(points / max(float(np.hypot(points[:, 0], points[:, 1]).max()), 1.0))


def _ring(alone: int, count: int, *, inner: float) -> Points:
    """Points of a sunflower, as dense as the drawing, around a hole of a radius."""
    each = FILLED * 4 / max(count, 1)
    radii = np.sqrt(inner**2 + each * (np.arange(alone) + 0.5))
    angles = GOLDEN * np.arange(alone)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
