"""The vectors of a vault's notes, as the operations take them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class NoteVectors:
    """One unit vector for each note that has one: the mean of its chunks, normalised.

    Attributes:
        paths: Vault-relative paths of the notes, in the order of the rows.
        matrix: Float32, (notes, dimensions). Rows are made of length 1 on the way in; a row of zeros stays zero.
        model_id: The model that made them.

    Raises:
        ValueError: Paths and rows differ in number, or a path comes twice.
    """

    paths: tuple[str, ...]
    matrix: NDArray[np.float32]
    model_id: str
    _places: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Bring the rows to length 1 and note where each path is."""
        matrix = np.asarray(self.matrix, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != len(self.paths):  # noqa: PLR2004  (rows and columns)
            shape = "x".join(map(str, matrix.shape))
            raise ValueError(f"{len(self.paths):,} paths need a matrix of as many rows: found one of {shape}")
        places = {path: place for place, path in enumerate(self.paths)}
        if len(places) != len(self.paths):
            raise ValueError("a note has one vector: some path comes twice")
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        object.__setattr__(self, "matrix", matrix / np.where(lengths > 0, lengths, 1).astype(np.float32))
        object.__setattr__(self, "_places", places)

    @classmethod
    def none(cls, model_id: str = "") -> "NoteVectors":
        """The vectors of a vault that has none."""
        return cls((), np.zeros((0, 0), dtype=np.float32), model_id)

    def place(self, path: str) -> int | None:
        """The row of a note, or None where it has no vector."""
        return self._places.get(path)
