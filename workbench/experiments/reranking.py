"""One moment of a recorded session ranked under weights: its units with their terms, and what a budget takes of them.

The pool is a study's: by step, everything older than the last two model calls; by exchange, all earlier exchanges.
Nothing is written and no model is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from workbench.context.records import ContextUnit
from workbench.context.scoring import ADDED, Features, rank_order, score_terms, select_within
from workbench.errors import NotFoundError
from workbench.experiments.frames import FEATURES, SessionFrame, build_frame, units_on_offer
from workbench.experiments.labels.rules import NEEDED_GRADE
from workbench.experiments.study.steps import grades_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.config.context import Scoring
    from workbench.context.session import Policy
    from workbench.experiments.recorded import RecordedSession

RANKED: Final[dict[str, Any]] = {
    "rank": pl.Int64,
    "unit": pl.Int64,
    "unit_id": pl.String,
    "unit_type": pl.String,
    "card": pl.String,
    "source_turn": pl.Int64,
    "tokens": pl.Int64,
    "grade": pl.Int64,
    "is_taken": pl.Boolean,
    **dict.fromkeys(ADDED, pl.Float64),
    "score": pl.Float64,
}
"""Columns of `rank_moment`."""


class Laid(NamedTuple):
    """A session as a study sees it, and the units behind its numbers."""

    frame: SessionFrame
    units: Sequence[ContextUnit]


class Selected(NamedTuple):
    """How well a selection did at one moment; see `study.measures`. Nothing is known of recall where none is needed."""

    taken: int
    tokens: int
    recall: float | None
    share: float
    lift: float | None


def lay_out(session: RecordedSession, policy: Policy, *, steps_max: int) -> Laid:
    """Walk through a session once; see `frames.build_frame`. Meaning is not judged."""
    frame = build_frame(session, policy, steps_max=steps_max)
    return Laid(frame, units_on_offer(session, policy, steps_max=steps_max))


def moment_rows(frame: SessionFrame, *, need: str, budget: int) -> pl.DataFrame:
    """The moments of a session, and whether a study scores them.

    Returns:
        `moment` (its place in the frame), `name` (7.3, or 7 by exchange), `turn`, `step`, `units`, `tokens`, `needed`
        and `is_scored`: the pool exceeds the budget and holds a needed unit.
    """
    count = len(frame.turns)
    owner = np.repeat(np.arange(count), np.diff(frame.starts))
    needed = np.bincount(owner, grades_of(frame.labels, need) >= NEEDED_GRADE, minlength=count)
    tokens = np.bincount(owner, frame.unit_tokens[frame.units], minlength=count)
    places = zip(frame.turns.tolist(), frame.steps.tolist(), strict=True)
    return pl.DataFrame(
        {
            "moment": np.arange(count),
            "name": [f"{turn}.{step}" if step else str(turn) for turn, step in places],
            "turn": frame.turns.astype(np.int64),
            "step": frame.steps.astype(np.int64),
            "units": np.diff(frame.starts),
            "tokens": tokens.astype(np.int64),
            "needed": needed.astype(np.int64),
            "is_scored": (tokens > budget) & (needed > 0),
        },
        schema_overrides={"name": pl.String},
    )


def rank_moment(laid: Laid, moment: int, scoring: Scoring, *, budget: int, need: str) -> pl.DataFrame:
    """Rank the units on offer at a moment, and take what fits, as a prompt does it.

    Args:
        laid: The session.
        moment: Its place in the frame, from 0.
        scoring: The weights.
        budget: Tokens.
        need: Name of a label: what the grades are.

    Returns:
        Columns of `RANKED`, the best unit first; the weighted terms add up to the score.

    Raises:
        NotFoundError: The session has no such moment.
    """
    frame = laid.frame
    if not 0 <= moment < len(frame.turns):
        raise NotFoundError(f"the session has {len(frame.turns)} moments, and none at place {moment}")
    pairs = np.arange(frame.starts[moment], frame.starts[moment + 1])
    numbers = frame.units[pairs]
    features = _features(frame, pairs)
    terms = score_terms(features, scoring)
    units = [laid.units[number] for number in numbers.tolist()]
    ids = [unit.id for unit in units]
    order = rank_order(terms.score, numbers.astype(np.int64), ids)
    tokens = frame.unit_tokens[numbers].astype(np.int64)
    taken = np.zeros(len(pairs), dtype=np.bool_)
    taken[select_within(budget, tokens, features.pinned > 0, terms.score, np.arange(len(pairs)))] = True
    told = {
        "unit": numbers,
        "unit_id": ids,
        "unit_type": [unit.type for unit in units],
        "card": [unit.content for unit in units],
        "source_turn": [unit.source_turn for unit in units],
        "tokens": tokens,
        "grade": grades_of(frame.labels[pairs], need).astype(np.int64),
        "is_taken": taken,
        **{name: getattr(terms, name) for name in (*ADDED, "score")},
    }
    ranked = pl.DataFrame(told, schema_overrides={"unit_id": pl.String, "unit_type": pl.String})[order]
    numbered = ranked.with_columns(rank=pl.int_range(1, pl.len() + 1))
    return numbered.select(pl.col(name).cast(dtype) for name, dtype in RANKED.items())


def rank_changes(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """One moment under other weights.

    Args:
        before: From `rank_moment`.
        after: The same moment under others.

    Returns:
        `after` with `rank_before`, and `moved`: `in`, `out` or null.
    """
    was = before.select("unit", rank_before="rank", was_taken="is_taken")
    now, then = pl.col("is_taken"), pl.col("was_taken")
    moved = pl.when(now & ~then).then(pl.lit("in")).when(then & ~now).then(pl.lit("out"))
    return after.join(was, on="unit", maintain_order="left").with_columns(moved=moved).drop("was_taken")


def judge_ranking(ranked: pl.DataFrame) -> Selected:
    """What the selection of one moment comes to."""
    taken, needed = ranked["is_taken"], ranked["grade"] >= NEEDED_GRADE
    share = int(taken.sum()) / ranked.height if ranked.height else 0.0
    recall = int((taken & needed).sum()) / int(needed.sum()) if needed.any() else None
    tokens = int(ranked.filter("is_taken")["tokens"].sum())
    return Selected(int(taken.sum()), tokens, recall, share, None if recall is None else recall - share)


def _features(frame: SessionFrame, pairs: NDArray[np.int64]) -> Features:
    known = {name: frame.features[pairs, place].astype(np.float64) for place, name in enumerate(FEATURES)}
    return Features(
        pinned=known["pinned"],
        age_turns=1.0 / known["recency"] - 1.0,
        relevance=known["relevance"],
        semantic=known["semantic"],
        hydrate=known["hydrate"],
        order=known["order"],
        last_step=known["last_step"],
    )
