"""How alike two things are: cosine of vectors, Jaccard of sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Cosine of the angle between two vectors.

    cosine = a.b / (|a| |b|), within -1..1; 0 where it has no meaning: vectors of different lengths, empty ones, a
    norm of zero, a component that is not finite.

    Args:
        a: A sequence of numbers.
        b: Another one.

    Returns:
        The cosine, never NaN.

    Source: PRAANA src/context-engine/scoring.ts.
    """
    import numpy as np  # noqa: PLC0415  # a module that may never compare vectors should not pay 100 ms for it

    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        return 0.0
    return float(cosine_matrix(first[None, :], second[None, :])[0, 0])


def cosine_matrix(queries: ArrayLike, rows: ArrayLike) -> NDArray[np.float64]:
    """Cosine of every query with every row.

    Args:
        queries: Vectors of one dimension d, as (n, d).
        rows: Vectors of the same dimension, as (m, d).

    Returns:
        Array (n, m) of cosines as `cosine` defines them: a vector that is zero or not finite gives zeros, never NaN.

    Raises:
        ValueError: The dimensions differ.

    Source: PRAANA src/context-engine/scoring.ts, over many at once.
    """
    import numpy as np  # noqa: PLC0415  # a module that may never compare vectors should not pay 100 ms for it

    first, second = np.asarray(queries, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    return np.clip(unit_rows(first) @ unit_rows(second).T, -1.0, 1.0)


def jaccard(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """Share of the members of either set that are in both.

    jaccard = |a and b| / |a or b|; 0 where either is empty, two empty ones included.

    Args:
        a: Members; repeats count once.
        b: Members; repeats count once.

    Returns:
        0 to 1.

    Source: PAI, topic shift of session notes and tag overlap of link suggestions.
    """
    first, second = set(a), set(b)
    common = len(first & second)
    return common / (len(first) + len(second) - common) if common else 0.0


def unit_rows(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each row to length 1; zero rows and rows that are not finite become zero.

    Args:
        vectors: Array (n, d).

    Returns:
        Array (n, d).
    """
    import numpy as np  # noqa: PLC0415  # a module that may never compare vectors should not pay 100 ms for it

    largest = np.max(np.abs(vectors), axis=1, initial=0.0, keepdims=True)
    usable = np.isfinite(largest) & (largest > 0.0)
    # by the largest component first, so that neither huge nor tiny vectors leave the range of a double when squared
    unit = np.zeros_like(vectors)
    np.divide(vectors, largest, out=unit, where=usable)
    np.divide(unit, np.linalg.norm(unit, axis=1, keepdims=True), out=unit, where=usable)
    return unit
