"""What a study that was broken off has done already, and what it does now, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Row = dict[str, Any]
Record = Callable[[Sequence[Row]], None]

WHOLE: Final = -1
"""Part of a search over all sessions."""


class Memory:
    """Choices and permutations by name; new ones are handed on as they come.

    Args:
        known: Rows of `trials` of the same study: `stage`, `run`, `part`, `number`, `settings`, `value`.
        record: Takes new rows.
    """

    def __init__(self, known: Sequence[Mapping[str, Any]] = (), record: Record | None = None) -> None:
        self._chosen = {(row["run"], row["part"]): dict(row["settings"]) for row in known if row["stage"] == "chosen"}
        self._gains = {row["number"]: float(row["value"]) for row in known if row["stage"] == "permutation"}
        self._done = {(row["stage"], row["run"], row["part"]) for row in known}
        self._record = record

    def chosen(self, run: str, part: int, names: Sequence[str]) -> Floats | None:
        """The point that a search came to; None where it was not made."""
        known = self._chosen.get((run, part))
        return None if known is None else np.array([known[name] for name in names])

    def gain(self, number: int) -> float | None:
        """The gain on a permutation; None where it was not made."""
        return self._gains.get(number)

    def keep_points(
        self, stage: str, run: str, part: int, names: Sequence[str], points: Floats, values: Floats
    ) -> None:
        """Hand on points with their values, unless that was done before."""
        if not len(points) or (stage, run, part) in self._done:
            return
        told = [
            _row(stage, run, part, number, dict(zip(names, point.tolist(), strict=True)), float(value))
            for number, (point, value) in enumerate(zip(points, values, strict=True))
        ]
        self._done.add((stage, run, part))
        self._tell(told)

    def keep_gain(self, number: int, value: float) -> None:
        """Hand on the gain on a permutation."""
        if number not in self._gains:
            self._gains[number] = value
            self._tell([_row("permutation", "null", WHOLE, number, {}, value)])

    def _tell(self, rows: Sequence[Row]) -> None:
        if self._record:
            self._record(rows)


def _row(stage: str, run: str, part: int, number: int, settings: Mapping[str, float], value: float) -> Row:
    return {"stage": stage, "run": run, "part": part, "number": number, "settings": settings, "value": value}
