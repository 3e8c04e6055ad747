"""Vectors of texts of one session, so that a text is embedded once while it is in use.

Source: PRAANA src/context-engine/embedding-cache.ts; specification A, 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbeddingCache:
    """The vectors used last, by stripped text.

    Args:
        size: Vectors kept, at least 1.
    """

    def __init__(self, size: int) -> None:
        self._size = max(1, size)
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def __len__(self) -> int:
        """Count the vectors."""
        return len(self._vectors)

    def __iter__(self) -> Iterator[str]:
        """Their texts, the one unused for longest first."""
        return iter(self._vectors)

    def get(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a text, which is in use again; None where there is none."""
        key = text.strip()
        vector = self._vectors.pop(key, None)
        if vector is not None:
            self._vectors[key] = vector
        return vector

    def put(self, text: str, vector: NDArray[np.float32]) -> None:
        """Keep the vector of a text; that of nothing but blanks is not kept."""
        key = text.strip()
        if not key:
            return
        self._vectors.pop(key, None)
        self._vectors[key] = vector
        while len(self._vectors) > self._size:
            del self._vectors[next(iter(self._vectors))]
