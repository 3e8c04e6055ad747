"""What a study scores: of one session every moment, the units on offer there, what is known of them, and their labels.

Nothing is weighted yet, so one frame serves every policy; it holds numbers alone, no text. By step, units are the tool
calls and digests older than the last two model calls; by exchange, those of all earlier exchanges. Pairs of a moment
and a unit lie one after the other, as in a sparse matrix by rows.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.context.scoring import recency
from workbench.experiments.labels.rules import RULES, label_pairs
from workbench.experiments.labels.trace import global_steps, trace_session, units_frame
from workbench.experiments.replay import moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.context.compile import Moment
    from workbench.context.pool import Embed
    from workbench.context.records import ContextUnit
    from workbench.context.session import Policy
    from workbench.experiments.labels.trace import Trace
    from workbench.experiments.recorded import RecordedSession

FRAME_VERSION: Final = 2
"""Part of the name of a cached frame: raise it when what is in one changes."""

Level = Literal["step", "exchange"]

FEATURES: Final = (
    "pinned",
    "recency",
    "relevance",
    "semantic",
    "hydrate",
    "order",
    "last_step",
    "seed",
    "seed_hydrate",
)
"""Columns of `SessionFrame.features`: the terms of a score before they are weighted, and relevance by the original's
one-document formula. `semantic` is NaN where there is no vector."""

SIZE_CLASSES: Final = (40, 150, 400, 1100)
"""Borders of the classes of raw size in tokens. Source: the prototype of the study, "Size bias"."""
KINDS: Final = ("turn_digest", "artifact_card", "activity_entry")


@dataclass(frozen=True, slots=True)
class SessionFrame:
    """One session at one level.

    Attributes:
        turns: Exchange of each moment (moments,).
        steps: Model call in it; 0 by exchange.
        starts: Where the pairs of each moment begin; one more at the end (moments + 1,).
        units: Number of the unit of each pair (pairs,), newer units have higher ones.
        features: One column for each of `FEATURES` (pairs, features).
        labels: Bit k is set where rule k of `RULES` fires (pairs,).
        unit_tokens: What the card of each unit costs (units,).
        unit_classes: Its kind and class of raw size as one number, for comparisons among units of like size.
    """

    turns: NDArray[np.int32]
    steps: NDArray[np.int32]
    starts: NDArray[np.int64]
    units: NDArray[np.int32]
    features: NDArray[np.float32]
    labels: NDArray[np.uint16]
    unit_tokens: NDArray[np.int32]
    unit_classes: NDArray[np.int32]

    def to_bytes(self) -> bytes:
        """The frame as a file."""
        held = io.BytesIO()
        arrays = {each.name: getattr(self, each.name) for each in fields(self)}
        np.savez(held, allow_pickle=False, **arrays)
        return held.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> SessionFrame:
        """Read what `to_bytes` made.

        Raises:
            ValueError: It is damaged or of another version.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as held:
                return cls(*(held[each.name] for each in fields(cls)))
        except Exception as error:  # a zip file and arrays inside: whatever a changed byte makes of them
            raise ValueError(f"no frame of a session: {error}") from error


def build_frame(
    session: RecordedSession, policy: Policy, *, steps_max: int, embed: Embed | None = None
) -> SessionFrame:
    """Walk through a recorded session and write down what was on offer at each moment.

    Args:
        session: What happened.
        policy: Its level and how cards are made; its weights and budgets do not matter.
        steps_max: Model calls at the session's end that are looked at, by step.
        embed: Makes vectors; without it `semantic` is NaN.
    """
    walk = _Walk()
    for turn, step, moment in moments(session, studied(policy), steps_scored=steps_max, embed=embed):
        walk.add(turn, step, moment)
    trace = trace_session(session)
    raw_tokens = _raw_tokens(trace, walk.units)
    return walk.frame(session, trace, policy.level, raw_tokens)


def units_on_offer(session: RecordedSession, policy: Policy, *, steps_max: int) -> Sequence[ContextUnit]:
    """Every unit that was on offer at some moment, by its number in the frame."""
    units: Sequence[ContextUnit] = ()
    for _, _, moment in moments(session, studied(policy), steps_scored=steps_max):
        units = moment.pool.units
    return units


def studied(policy: Policy) -> Policy:
    """The policy under which pools are laid out: by exchange, every earlier exchange is on offer."""
    if policy.level == "step":
        return policy
    bands = msgspec.structs.replace(policy.engine.bands, verbatim_max_age=0)
    return replace(policy, engine=msgspec.structs.replace(policy.engine, bands=bands))


class _Walk:
    """The pairs of a session as they come."""

    def __init__(self) -> None:
        self._moments: list[tuple[int, int, int]] = []
        self._places: list[NDArray[np.intp]] = []
        self._features: list[NDArray[np.float32]] = []
        self.units: Sequence[ContextUnit] = ()

    def add(self, turn: int, step: int, moment: Moment) -> None:
        pool = moment.pool
        places = np.flatnonzero(pool.live)
        known = pool.features(
            moment.user_input,
            moment.current_turn,
            hydrated=moment.hydrated,
            last_step=moment.last_step,
            embed=moment.embed,
        )
        seed = pool.relevance(moment.user_input, "seed")
        columns = (
            known.pinned,
            recency(known.age_turns),
            known.relevance,
            known.semantic,
            known.hydrate,
            known.order,
            known.last_step,
            seed,
            pool.relevance_to_any(moment.hydrated, "seed"),
        )
        self.units = pool.units
        self._moments.append((turn, step, len(pool)))
        self._places.append(places)
        self._features.append(np.stack([column[places] for column in columns], axis=1).astype(np.float32))

    def frame(
        self, session: RecordedSession, trace: Trace, level: Level, raw_tokens: NDArray[np.int64]
    ) -> SessionFrame:
        turns, steps, pools = (np.array(column, dtype=np.int32) for column in _columns(self._moments, 3))
        counts = np.array([len(places) for places in self._places], dtype=np.int64)
        units = np.concatenate(self._places).astype(np.int32) if self._places else np.empty(0, np.int32)
        numbers = _numbers(session, turns, steps, level)
        labels = _labels(trace, self.units, numbers, turns, pools, units, counts, level)
        kinds = np.array(
            [KINDS.index(unit.type) if unit.type in KINDS else len(KINDS) for unit in self.units], np.int32
        )
        sizes = np.searchsorted(SIZE_CLASSES, raw_tokens, side="right").astype(np.int32)
        features = np.concatenate(self._features) if self._features else np.empty((0, len(FEATURES)), np.float32)
        return SessionFrame(
            turns=turns,
            steps=steps,
            starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            units=units,
            features=features,
            labels=labels,
            unit_tokens=np.array([unit.tokens for unit in self.units], dtype=np.int32),
            unit_classes=kinds * (len(SIZE_CLASSES) + 1) + sizes,
        )


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> list[tuple[int, ...]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _numbers(
    session: RecordedSession, turns: NDArray[np.int32], steps: NDArray[np.int32], level: Level
) -> NDArray[np.int64]:
    """What a moment is called in the trace: the model call's number in the session, or the exchange."""
    if level == "exchange":
        return turns.astype(np.int64)
    known = global_steps(session.exchanges)
    return np.array([known[place] for place in zip(turns.tolist(), steps.tolist(), strict=True)], dtype=np.int64)


def _labels(
    trace: Trace,
    units: Sequence[ContextUnit],
    numbers: NDArray[np.int64],
    turns: NDArray[np.int32],
    pools: NDArray[np.int32],
    places: NDArray[np.int32],
    counts: NDArray[np.int64],
    level: Level,
) -> NDArray[np.uint16]:
    """The rules that fire on each pair, as bits."""
    on_offer = units_frame(units).with_columns(tokens=pl.Series([unit.tokens for unit in units], dtype=pl.Int64))
    offered = pl.DataFrame({"moment": numbers, "turn": turns, "pool": pools}).cast(pl.Int64)
    pairs = pl.DataFrame({"moment": np.repeat(numbers, counts), "unit": places}).cast(pl.Int64)
    fired = label_pairs(trace, on_offer, offered, pairs, level=level).select(RULES).to_numpy()
    bits = fired.astype(np.uint16) << np.arange(len(RULES), dtype=np.uint16)
    return np.asarray(bits.sum(axis=1, dtype=np.uint16))


def _raw_tokens(trace: Trace, units: Sequence[ContextUnit]) -> NDArray[np.int64]:
    """Tokens of what each unit stands for, a quarter of its characters: only classes of size are made of them."""
    lengths = dict(
        trace.calls.select("call_id", pl.col("words").str.len_chars() + pl.col("result").str.len_chars()).iter_rows()
    )
    own = [sum(lengths.get(call, 0) for call in unit.call_ids) or len(unit.content) for unit in units]
    return np.array(own, dtype=np.int64) // 4
