"""The pool of units that a prompt chooses from, and what is known of each of them before anything is weighted.

A pool grows with its session and keeps its words counted, so that a prompt late in a long session costs what its own
words occur. Where an artifact comes up again, the newer unit takes the place of the older.

Source: design, "Relevance" and "Score"; PRAANA src/context-engine/scoring.ts, embedding-cache.ts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.context.scoring import Features
from workbench.text.bm25 import Pool, seed_relevance, tokenize
from workbench.text.similarity import unit_rows

if TYPE_CHECKING:
    from workbench.context.records import ContextUnit

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors, one row a text; a row of NaN where a text has none."""

Method = Literal["corpus", "seed"]


class UnitPool:
    """Units in the order in which they came, the newest last.

    Args:
        units: The first ones.
        method: `corpus` (statistics of the pool, 0 to 1) or the baseline `seed` (one document, unbounded).

    Attributes:
        units: All units ever added; `live` says which still stand for themselves.
    """

    def __init__(self, units: Iterable[ContextUnit] = (), *, method: Method = "corpus") -> None:
        self.units: list[ContextUnit] = []
        self._method = method
        self._words = Pool()
        self._places: dict[str, int] = {}
        self._columns: NDArray[np.int64] = np.empty((0, 5), dtype=np.int64)
        self._vectors: NDArray[np.float64] = np.empty((0, 0))
        self.extend(units)

    def __len__(self) -> int:
        """Count the units, replaced ones included."""
        return len(self.units)

    def extend(self, units: Iterable[ContextUnit]) -> None:
        """Add units that are newer than all that are there; one of a known id replaces the older one."""
        new = list(units)
        if not new:
            return
        if self._method == "corpus":
            self._words.extend(tokenize(unit.content) for unit in new)
        rows = np.array([(u.source_turn, u.tokens, u.pinned, 1, u.type == "turn_digest") for u in new], dtype=np.int64)
        self._columns = np.vstack([self._columns, rows])
        for unit in new:
            older = self._places.get(unit.id)
            if older is not None:
                self._columns[older, 3] = 0
            self._places[unit.id] = len(self.units)
            self.units.append(unit)

    def retire(self, ids: Iterable[str]) -> None:
        """Let units stand no longer: those that are out of date without a newer one in their place."""
        for unit_id in ids:
            place = self._places.pop(unit_id, None)
            if place is not None:
                self._columns[place, 3] = 0

    @property
    def source_turns(self) -> NDArray[np.int64]:
        """The exchange of each unit."""
        return self._columns[:, 0]

    @property
    def tokens(self) -> NDArray[np.int64]:
        """Estimated tokens of each unit."""
        return self._columns[:, 1]

    @property
    def pinned(self) -> NDArray[np.bool_]:
        """Whether each unit is pinned."""
        return self._columns[:, 2] > 0

    @property
    def live(self) -> NDArray[np.bool_]:
        """Whether each unit still stands for itself, not replaced by a newer one of its id."""
        return self._columns[:, 3] > 0

    @property
    def is_digest(self) -> NDArray[np.bool_]:
        """Whether each unit is the digest of an exchange."""
        return self._columns[:, 4] > 0

    def relevance(self, query: str) -> NDArray[np.float64]:
        """Relevance of every unit to a text by words, one value a unit."""
        if self._method == "corpus":
            return self._words.relevance(tokenize(query))
        return np.array([seed_relevance(query, unit.content) for unit in self.units], dtype=np.float64)

    def features(
        self,
        prompt: str,
        current_turn: int,
        *,
        hydrated: Sequence[str] = (),
        last_step: str = "",
        embed: Embed | None = None,
    ) -> Features:
        """What is known of every unit for one prompt.

        Args:
            prompt: What the person asked.
            current_turn: The exchange that the prompt begins.
            hydrated: Texts of objects that were just brought back.
            last_step: What the last model call did, as text.
            embed: Makes vectors; without it `semantic` is NaN.

        Returns:
            One value a unit, in the order of `units`.
        """
        count = len(self)
        nothing = np.zeros(count)
        hydrate = np.max([self.relevance(text) for text in hydrated], axis=0) if hydrated and count else nothing
        return Features(
            pinned=self._columns[:, 2].astype(np.float64),
            age_turns=np.maximum(current_turn - self.source_turns, 0).astype(np.float64),
            relevance=self.relevance(prompt),
            semantic=self._semantic(prompt, embed),
            hydrate=hydrate,
            order=np.arange(count) / max(count - 1, 1),
            last_step=self.relevance(last_step) if last_step else nothing,
        )

    def _semantic(self, prompt: str, embed: Embed | None) -> NDArray[np.float64]:
        if embed is None or not prompt.strip() or not self.units:
            return np.full(len(self), np.nan)
        missing = [unit.content.strip() for unit in self.units[len(self._vectors) :]]
        if missing:
            rows = _directions(embed(missing))
            self._vectors = np.vstack([self._vectors, rows]) if len(self._vectors) else rows
        return np.asarray(self._vectors @ _directions(embed([prompt.strip()]))[0])


def _directions(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Rows of length 1; NaN where a text has no vector, zero where its vector has no direction."""
    rows = np.asarray(vectors, dtype=np.float64)
    unknown = np.isnan(rows).all(axis=1, keepdims=True)
    return np.where(unknown, np.nan, unit_rows(rows))
