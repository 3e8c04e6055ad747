"""What a setting of the state is worth: what prompts held in full of it, against what was needed. Pure.

A setting is judged by *lift*: of the objects that an exchange needed, the share that its prompt held in full, minus the
share of all known objects that it held in full. To hold everything earns nothing, nor does holding nothing. What is
soft or hard is not held: its stub or its name has to be asked for, so the step from soft to hard is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.config.context import Relevance, Tiers
from workbench.config.study import Study
from workbench.experiments.state_traces import StateTrace, in_full, pairs

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

What = Literal["idle-turns", "hydration"]


class StateSettings(msgspec.Struct, frozen=True):
    """What of the configuration decides a study of state."""

    tiers: Tiers
    relevance: Relevance
    study: Study

    def tiers_after(self, idle_turns: float) -> Tiers:
        """The tiers with another number of idle turns until an object is soft."""
        soft = round(idle_turns)
        hard = max(self.tiers.idle_hard_after_turns, soft + 1)
        return msgspec.structs.replace(self.tiers, idle_soft_after_turns=soft, idle_hard_after_turns=hard)

    def held(self, what: What, trace: StateTrace, value: float) -> list[frozenset[str]]:
        """What each prompt of a session holds in full under a value of the setting."""
        if what == "idle-turns":
            return list(in_full(trace, self.tiers_after(value), self.relevance))
        relevance = msgspec.structs.replace(self.relevance, hydrate_threshold=value)
        return list(in_full(trace, self.tiers, relevance))


@dataclass(frozen=True, slots=True)
class Moments:
    """Known objects of all scored moments, put end to end.

    Attributes:
        sessions: Ids of sessions with a scored moment.
        session: Of each moment its session's place (moments,).
        moment: Of each pair its moment's place, never falling (pairs,).
        keys: Of each pair its session's place, the exchange's place and the object's id.
        needed: Whether each pair's object is needed (pairs,).
    """

    sessions: list[str]
    session: Ints
    moment: Ints
    keys: list[tuple[int, int, str]]
    needed: Bools

    def lift(self, held: Bools) -> Floats:
        """Mean lift over moments of each session (sessions,), by what is held (pairs,)."""
        count = len(self.session)
        recall = np.bincount(self.moment, self.needed & held, count) / np.bincount(self.moment, self.needed, count)
        share = np.bincount(self.moment, held, count) / np.bincount(self.moment, minlength=count)
        whole = np.bincount(self.session, recall - share, len(self.sessions))
        return np.asarray(whole / np.bincount(self.session, minlength=len(self.sessions)))

    def permuted(self, seed: int) -> Moments:
        """The same with needs dealt out anew among the known objects of each moment."""
        order = np.lexsort((np.random.default_rng(seed).random(len(self.moment)), self.moment))
        return replace(self, needed=self.needed[order])


def moments_of(traces: Sequence[StateTrace]) -> Moments:
    """The moments at which some of what is known was needed, and some not: all others tell nothing."""
    found = [pairs(trace).with_columns(place_of_session=pl.lit(at)) for at, trace in enumerate(traces)]
    needed = pl.col("acted") | pl.col("named")
    known = pl.concat(found) if found else pairs(StateTrace("", ())).with_columns(place_of_session=pl.lit(0))
    each = ["place_of_session", "place"]
    scored = known.with_columns(needed=needed).filter(
        pl.col("needed").any().over(each), (~pl.col("needed")).any().over(each)
    )
    of_pair = scored.select(pl.struct(each).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    owners = scored.group_by(each, maintain_order=True).len()["place_of_session"].to_list()
    places = {at: place for place, at in enumerate(dict.fromkeys(owners))}
    return Moments(
        sessions=[traces[at].session_id for at in places],
        session=np.array([places[at] for at in owners], dtype=np.int64),
        moment=of_pair,
        keys=list(scored.select(*each, "object_id").iter_rows()),
        needed=scored["needed"].to_numpy(),
    )


class StateObjective:
    """Lift of each session by one setting.

    Args:
        what: Which.
        settings: The others.
        traces: All sessions.
        moments: Theirs.
        known: What is held, by value: it does not hang on labels.
    """

    def __init__(
        self,
        what: What,
        settings: StateSettings,
        traces: Sequence[StateTrace],
        moments: Moments,
        known: dict[float, Bools] | None = None,
    ) -> None:
        self._what, self._settings, self._traces, self._moments = what, settings, traces, moments
        self._known = {} if known is None else known

    @property
    def groups(self) -> Sequence[str]:
        """Ids of the sessions."""
        return self._moments.sessions

    def search_values(self, points: Floats) -> Floats:
        """Array (points, sessions)."""
        return np.stack([self._moments.lift(self._held(float(value))) for value in points[:, 0]])

    def report_values(self, points: Floats) -> Floats:
        """The same: searching looks at every moment."""
        return self.search_values(points)

    def permuted(self, seed: int) -> Self:
        """Needs dealt out anew among the known objects of each moment."""
        return type(self)(self._what, self._settings, self._traces, self._moments.permuted(seed), self._known)

    def _held(self, value: float) -> Bools:
        if value not in self._known:
            owners = dict.fromkeys(at for at, _, _ in self._moments.keys)
            held = {at: self._settings.held(self._what, self._traces[at], value) for at in owners}
            found = [key in held[at][place] for at, place, key in self._moments.keys]
            self._known[value] = np.array(found, dtype=np.bool_)
        return self._known[value]
