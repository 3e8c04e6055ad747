"""The moments that a study scores, out of the frames of sessions, in blocks of pools of like size.

A moment is scored when its pool exceeds the budget and holds a needed unit; a session when one of its moments is. What
is left out is counted with the reason.

Source: design, "Replay" and "Study".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from workbench.errors import BadInputError
from workbench.experiments.frames import FEATURES
from workbench.experiments.labels.rules import NEEDED_GRADE, NEEDS, RULES

if TYPE_CHECKING:
    from workbench.experiments.frames import SessionFrame

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LARGEST_BUDGET: Final = 65_000
"""Tokens; a unit's tokens are kept in 16 bits while ranking."""
_NARROWEST: Final = 32
_WIDENING: Final = 1.4
"""Width of the first block, and of each next one to the one before: at most so much of a block is empty."""


@dataclass(frozen=True, slots=True)
class Block:
    """Moments whose pools are of like size, padded to the largest. Units stand newest first.

    Attributes:
        moments: Number of each moment in the step set (moments,).
        features: (moments, units, features), see `frames.FEATURES`; 0 where there is no unit.
        tokens: (moments, units).
        is_unit: False in the padding.
        grades: 0 to 3.
        classes: Kind and class of size.
        counts: Units of each moment.
        low: Place and tokens of each unit, packed for ranking: see `policies.ranked`.
        flat: The features a row each, 0 for NaN (features, moments * units).
        varies: Which of them are not 0 everywhere.
    """

    moments: Ints
    features: NDArray[np.float32]
    tokens: NDArray[np.int32]
    is_unit: Bools
    grades: NDArray[np.uint8]
    classes: NDArray[np.int32]
    counts: Ints
    low: NDArray[np.uint32]
    flat: NDArray[np.float32]
    varies: Bools

    def column(self, name: str) -> NDArray[np.float32]:
        """One feature (moments, units)."""
        return self.features[:, :, FEATURES.index(name)]


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was looked at and what became of it.

    Attributes:
        sessions: All.
        sessions_scored: Those with a scored moment.
        sessions_without_moments: Nobody asked a model anything after something was on offer.
        sessions_within_budget: Every pool fits.
        sessions_without_need: A pool exceeds the budget, and no rule fires there.
        moments: All that were looked at.
        moments_within_budget: The pool fits: every policy takes everything.
        moments_without_need: No rule fires.
        moments_scored: The rest.
    """

    sessions: int
    sessions_scored: int
    sessions_without_moments: int
    sessions_within_budget: int
    sessions_without_need: int
    moments: int
    moments_within_budget: int
    moments_without_need: int
    moments_scored: int


@dataclass(frozen=True, slots=True)
class StepSet:
    """All scored moments.

    Attributes:
        session_ids: Sessions that have any, in the order given.
        sessions: Place in `session_ids` of each moment (moments,).
        turns: Exchange of each moment.
        numbers: Model call in it; 0 by exchange.
        blocks: Where their units are.
        budget: Tokens that a policy may select.
        dropped: What is not here, and why.
    """

    session_ids: Sequence[str]
    sessions: Ints
    turns: Ints
    numbers: Ints
    blocks: Sequence[Block]
    budget: int
    dropped: Dropped

    def session_means(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Means over the moments of each session: (..., moments) to (..., sessions)."""
        count = len(self.session_ids)
        share = np.zeros((len(self.sessions), count))
        share[np.arange(len(self.sessions)), self.sessions] = 1.0
        share /= np.maximum(share.sum(axis=0), 1.0)
        return np.asarray(values @ share, dtype=np.float64)


def grades_of(labels: NDArray[np.uint16], need: str) -> NDArray[np.uint8]:
    """The grade of each pair under one of `NEEDS`.

    Raises:
        BadInputError: There is no such label.
    """
    if need not in NEEDS:
        raise BadInputError(f"there is no label {need!r}; there are: {', '.join(NEEDS)}")
    grades = np.zeros(len(labels), dtype=np.uint8)
    for rule, grade in NEEDS[need].items():
        fires = (labels >> RULES.index(rule)) & 1
        np.maximum(grades, (fires * grade).astype(np.uint8), out=grades)
    return grades


def collect_steps(
    frames: Mapping[str, SessionFrame],
    *,
    need: str,
    budget: int,
    most_per_session: int | None = None,
    min_age: int = 0,
) -> StepSet:
    """Pick the scored moments of sessions.

    Args:
        frames: By session id.
        need: One of `NEEDS`.
        budget: Tokens.
        most_per_session: Moments of a session, evenly spread over it; all unless given.
        min_age: Only units at least so many exchanges old are on offer.

    Raises:
        BadInputError: The budget is too large, or there is no such label.
    """
    if budget > LARGEST_BUDGET:
        raise BadInputError(f"a study's budget is at most {LARGEST_BUDGET:,} tokens; {budget:,} was asked for")
    rows, outcomes = [], []
    for session_id, frame in frames.items():
        found, outcome = _scored(frame, need, budget, min_age)
        outcomes.append(outcome)
        if found and most_per_session is not None and len(found) > most_per_session:
            spread = np.linspace(0, len(found) - 1, most_per_session).round().astype(int)
            found = [found[place] for place in spread]
        rows += [(session_id, frame, *each) for each in found]
    named = list(dict.fromkeys(row[0] for row in rows))
    place = {name: number for number, name in enumerate(named)}
    return StepSet(
        session_ids=named,
        sessions=np.array([place[row[0]] for row in rows], dtype=np.int64),
        turns=np.array([row[1].turns[row[2]] for row in rows], dtype=np.int64),
        numbers=np.array([row[1].steps[row[2]] for row in rows], dtype=np.int64),
        blocks=list(_blocks([(row[1], row[3], row[4]) for row in rows])),
        budget=budget,
        dropped=_counted(outcomes),
    )


Scored = tuple[int, Ints, NDArray[np.uint8]]
"""Moment in its frame, its pairs (newest last), and their grades."""


def _scored(frame: SessionFrame, need: str, budget: int, min_age: int) -> tuple[list[Scored], Dropped]:
    """The scored moments of one session, and what became of the others."""
    grades = grades_of(frame.labels, need)
    offered = np.ones(len(grades), dtype=bool)
    if min_age:
        offered = frame.features[:, FEATURES.index("recency")] <= 1.0 / (1.0 + min_age) + 1e-6
    owner = np.repeat(np.arange(len(frame.turns)), np.diff(frame.starts))
    count = len(frame.turns)
    tokens = np.bincount(owner, frame.unit_tokens[frame.units] * offered, minlength=count)
    needed = np.bincount(owner, (grades >= NEEDED_GRADE) & offered, minlength=count)
    large, wanted = tokens > budget, needed > 0
    found: list[Scored] = []
    for moment in np.flatnonzero(large & wanted).tolist():
        pairs = np.arange(frame.starts[moment], frame.starts[moment + 1])
        pairs = pairs[offered[pairs]]
        found.append((moment, pairs, grades[pairs]))
    is_empty = not bool((tokens > 0).any())
    outcome = Dropped(
        sessions=1,
        sessions_scored=int(bool(found)),
        sessions_without_moments=int(is_empty),
        sessions_within_budget=int(not is_empty and not large.any()),
        sessions_without_need=int(bool(large.any()) and not found),
        moments=count,
        moments_within_budget=int((~large).sum()),
        moments_without_need=int((large & ~wanted).sum()),
        moments_scored=len(found),
    )
    return found, outcome


def _counted(outcomes: Sequence[Dropped]) -> Dropped:
    names = Dropped.__dataclass_fields__
    return Dropped(**{name: sum(getattr(each, name) for each in outcomes) for name in names})


def _blocks(rows: Sequence[tuple[SessionFrame, Ints, NDArray[np.uint8]]]) -> Iterator[Block]:
    counts = np.array([len(pairs) for _, pairs, _ in rows], dtype=np.int64)
    if not len(counts):
        return
    borders = [_NARROWEST]
    while borders[-1] < counts.max():
        borders.append(int(borders[-1] * _WIDENING))
    kind = np.searchsorted(borders, counts)
    for block in np.unique(kind):
        places = np.flatnonzero(kind == block)
        yield _block(places, [rows[place] for place in places.tolist()], counts[places])


def _block(places: Ints, rows: Sequence[tuple[SessionFrame, Ints, NDArray[np.uint8]]], counts: Ints) -> Block:
    shape = (len(rows), int(counts.max()))
    features = np.zeros((*shape, len(FEATURES)), dtype=np.float32)
    tokens = np.zeros(shape, dtype=np.int32)
    classes = np.full(shape, -1, dtype=np.int32)
    grades = np.zeros(shape, dtype=np.uint8)
    for row, (frame, pairs, graded) in enumerate(rows):
        newest_first = pairs[::-1]
        units = frame.units[newest_first]
        features[row, : len(pairs)] = frame.features[newest_first]
        tokens[row, : len(pairs)] = frame.unit_tokens[units]
        classes[row, : len(pairs)] = frame.unit_classes[units]
        grades[row, : len(pairs)] = graded[::-1]
    is_unit = np.arange(shape[1]) < counts[:, None]
    sizes = np.where(is_unit, np.minimum(tokens, LARGEST_BUDGET + 1), LARGEST_BUDGET + 1).astype(np.uint32)
    low = (np.arange(shape[1], dtype=np.uint32)[None] << np.uint32(16)) | sizes
    flat = np.ascontiguousarray(np.nan_to_num(features, nan=0.0).reshape(-1, len(FEATURES)).T)
    return Block(places, features, tokens, is_unit, grades, classes, counts, low, flat, np.asarray(flat.any(axis=1)))
