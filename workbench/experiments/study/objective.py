"""What settings are judged by: a value a group of data that is drawn as a whole, such as a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Objective(Protocol):
    """Judges points of a space; higher is better, and labels that mean nothing must give 0 on average."""

    @property
    def groups(self) -> Sequence[str]:
        """Names of the groups, such as session ids."""
        ...

    def search_values(self, points: Floats) -> Floats:
        """Values while searching, which may look at a part of each group: (points, groups)."""
        ...

    def report_values(self, points: Floats) -> Floats:
        """Values over everything: (points, groups)."""
        ...

    def permuted(self, seed: int) -> Self:
        """The same with labels that mean nothing: those of each moment dealt out anew among its candidates."""
        ...
