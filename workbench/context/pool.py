"""The pool of units that a prompt chooses from, and what is known of each of them before anything is weighted.

A pool grows with its session and keeps its words counted, so that a prompt late in a long session costs what its own
words occur. Where an artifact comes up again, the newer unit takes the place of the older.

Source: design, "Relevance" and "Score"; PRAANA src/context-engine/scoring.ts, embedding-cache.ts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from workbench.context.scoring import Features
from workbench.text.bm25 import Pool, tokenize
from workbench.text.similarity import unit_rows

if TYPE_CHECKING:
    from workbench.context.records import ContextUnit

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors, one row a text; a row of NaN where a text has none."""

Method = Literal["corpus", "seed"]


class Rows:
    """An array that grows at its end; its room doubles, so that a row costs the same however many are there.

    Args:
        kind: Type of its numbers.
        width: Numbers in a row; one without it.
    """

    def __init__(self, kind: DTypeLike, width: int | None = None) -> None:
        self._room = np.empty(0 if width is None else (0, width), dtype=kind)
        self._count = 0

    def __len__(self) -> int:
        """Count the rows."""
        return self._count

    @property
    def all(self) -> NDArray[Any]:
        """The rows, as they are in the array itself."""
        return self._room[: self._count]

    def extend(self, rows: ArrayLike) -> None:
        """Add rows."""
        new = np.asarray(rows, dtype=self._room.dtype)
        needed = self._count + len(new)
        if needed > len(self._room):
            room = np.empty((max(needed, 2 * len(self._room)), *self._room.shape[1:]), dtype=self._room.dtype)
            room[: self._count] = self.all
            self._room = room
        self._room[self._count : needed] = new
        self._count = needed


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
        self._turns, self._tokens = Rows(np.int64), Rows(np.int64)
        self._pinned, self._live, self._digest = Rows(np.bool_), Rows(np.bool_), Rows(np.bool_)
        self._vectors: Rows | None = None
        self.extend(units)

    def __len__(self) -> int:
        """Count the units, replaced ones included."""
        return len(self.units)

    def extend(self, units: Iterable[ContextUnit]) -> None:
        """Add units that are newer than all that are there; one of a known id replaces the older one."""
        new = list(units)
        if not new:
            return
        self._words.extend(tokenize(unit.content) for unit in new)
        self._turns.extend([unit.source_turn for unit in new])
        self._tokens.extend([unit.tokens for unit in new])
        self._pinned.extend([unit.pinned for unit in new])
        self._live.extend([True] * len(new))
        self._digest.extend([unit.type == "turn_digest" for unit in new])
        for unit in new:
            older = self._places.get(unit.id)
            if older is not None:
                self.live[older] = False
            self._places[unit.id] = len(self.units)
            self.units.append(unit)

    def retire(self, ids: Iterable[str]) -> None:
        """Let units stand no longer: those that are out of date without a newer one in their place."""
        for unit_id in ids:
            place = self._places.pop(unit_id, None)
            if place is not None:
                self.live[place] = False

    @property
    def source_turns(self) -> NDArray[np.int64]:
        """The exchange of each unit."""
        return self._turns.all

    @property
    def tokens(self) -> NDArray[np.int64]:
        """Estimated tokens of each unit."""
        return self._tokens.all

    @property
    def pinned(self) -> NDArray[np.bool_]:
        """Whether each unit is pinned."""
        return self._pinned.all

    @property
    def live(self) -> NDArray[np.bool_]:
        """Whether each unit still stands for itself, not replaced by a newer one of its id."""
        return self._live.all

    @property
    def is_digest(self) -> NDArray[np.bool_]:
        """Whether each unit is the digest of an exchange."""
        return self._digest.all

    def relevance(self, query: str, method: Method | None = None) -> NDArray[np.float64]:
        """Relevance of every unit to a text by words, one value a unit.

        Args:
            query: The text.
            method: Whose statistics count; the pool's own method unless given.
        """
        return self.relevance_to_any([query], method)

    def relevance_to_any(self, queries: Sequence[str], method: Method | None = None) -> NDArray[np.float64]:
        """The highest relevance of every unit to any of some texts, one value a unit; 0 without a text."""
        asked = [tokenize(query) for query in queries]
        if not asked:
            return np.zeros(len(self))
        if (method or self._method) == "corpus":
            told = self._words.relevances(asked)
        else:
            told = np.array([self._words.seed_relevance(query) for query in asked])
        return np.asarray(told[0] if len(told) == 1 else told.max(axis=0))

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
        return Features(
            pinned=self.pinned.astype(np.float64),
            age_turns=np.maximum(current_turn - self.source_turns, 0).astype(np.float64),
            relevance=self.relevance(prompt),
            semantic=self._semantic(prompt, embed),
            hydrate=self.relevance_to_any(hydrated),
            order=np.arange(count) / max(count - 1, 1),
            last_step=self.relevance(last_step) if last_step else np.zeros(count),
        )

    def _semantic(self, prompt: str, embed: Embed | None) -> NDArray[np.float64]:
        if embed is None or not prompt.strip() or not self.units:
            return np.full(len(self), np.nan)
        asked = _directions(embed([prompt.strip()]))[0]
        known = self._vectors = self._vectors or Rows(np.float64, len(asked))
        missing = [unit.content.strip() for unit in self.units[len(known) :]]
        if missing:
            known.extend(_directions(embed(missing)))
        return np.asarray(known.all @ asked)


def _directions(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Rows of length 1; NaN where a text has no vector, zero where its vector has no direction."""
    rows = np.asarray(vectors, dtype=np.float64)
    unknown = np.isnan(rows).all(axis=1, keepdims=True)
    return np.where(unknown, np.nan, unit_rows(rows))
