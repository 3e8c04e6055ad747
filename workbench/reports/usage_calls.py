"""Model calls as columns: as sessions tell of them, or each of them once, out of the lake or a frame; with prices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np

from workbench.providers.prices import COUNTERS, PriceList

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    from numpy.typing import NDArray

K = TypeVar("K", bound=Hashable)

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
QUARTER_US: Final = timedelta(minutes=15) // MICROSECOND
"""Times are looked at to the quarter of an hour: every zone's days begin at one, and prices change at one."""

UNTIMED: Final = np.iinfo(np.int64).min
"""Stands for the time of a call that has none."""

UNKNOWN: Final = -1
"""Stands for the figure of a counter that is not known."""

COLUMNS: Final = ("session_id", "model", "occurred_us", *COUNTERS)


@dataclass(frozen=True)
class Calls:
    """Model calls, a place in every column each.

    Attributes:
        session_ids: The session that tells of it.
        models: The model that was billed.
        occurred_us: Microseconds since 1970 UTC, or `UNTIMED`; shape (calls,).
        tokens: Counters in the order of `COUNTERS`, or `UNKNOWN`; shape (calls, 6).
        costs: US dollars, NaN where no price is known; shape (calls,), NaN all over before they are `priced`.
    """

    session_ids: NDArray[np.object_]
    models: NDArray[np.object_]
    occurred_us: NDArray[np.int64]
    tokens: NDArray[np.int64]
    costs: NDArray[np.float64]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.occurred_us)

    @cached_property
    def quarters(self) -> list[datetime | None]:
        """When the quarter of an hour began into which each fell."""
        found, places = np.unique(self.occurred_us // QUARTER_US, return_inverse=True)
        untimed = UNTIMED // QUARTER_US
        times = [None if each == untimed else EPOCH + each * QUARTER_US * MICROSECOND for each in found.tolist()]
        return [times[place] for place in places.tolist()]

    @property
    def lacks_price(self) -> NDArray[np.bool_]:
        """Whether it used tokens of a model without a known price."""
        return np.isnan(self.costs) & (self.tokens > 0).any(axis=1)

    def where(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> Calls:
        """Those for which it is true, or those at the given places."""
        return Calls(*(column[wanted] for column in self._columns))

    def priced(self, prices: PriceList) -> Calls:
        """The same calls with their costs."""
        tokens = np.where(self.tokens == UNKNOWN, np.nan, self.tokens)
        return replace(self, costs=prices.costs(self.models.tolist(), self.quarters, tokens))

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        return (self.session_ids, self.models, self.occurred_us, self.tokens, self.costs)


def grouped(keys: Sequence[K]) -> list[tuple[K, NDArray[np.intp]]]:
    """The different keys in the order of first occurrence, each with the places where it stands."""
    known: dict[K, int] = {}
    codes = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(known)))[:-1]
    return list(zip(known, np.split(order, ends), strict=True)) if known else []


def told_calls(connection: duckdb.DuckDBPyConnection, view: Literal["usage", "usage_once"]) -> Calls:
    """All model calls of a view; without Polars, which takes longer to load than the whole question does."""
    columns = ", ".join(COLUMNS).replace("occurred_us", "epoch_us(occurred_at) as occurred_us")
    found = connection.execute(f"select {columns} from {view} order by session_id, call_id").fetchnumpy()
    counters = [np.ma.filled(found[name], UNKNOWN) for name in COUNTERS]
    models = np.ma.getdata(found["model"])
    models[np.ma.getmaskarray(found["model"])] = None
    return _calls(found["session_id"], models, np.ma.filled(found["occurred_us"], UNTIMED), counters)


def calls_of(frame: pl.DataFrame) -> Calls:
    """Model calls of rows of `usage` or `usage_once`."""
    occurred = frame["occurred_at"].dt.epoch("us").fill_null(UNTIMED).to_numpy()
    counters = [frame[name].fill_null(UNKNOWN).to_numpy() for name in COUNTERS]
    return _calls(frame["session_id"].to_numpy(), frame["model"].to_numpy(), occurred, counters)


def _calls(session_ids: Any, models: Any, occurred_us: Any, counters: Sequence[Any]) -> Calls:
    tokens = np.stack(counters, axis=1).astype(np.int64, copy=False)
    return Calls(
        np.asarray(session_ids, object),
        np.asarray(models, object),
        occurred_us.astype(np.int64, copy=False),
        tokens,
        np.full(len(tokens), np.nan),
    )
