"""Tokens and cost of model calls: in all, and by model, day, project or session."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import numpy as np

from workbench.errors import BadInputError
from workbench.providers.prices import COUNTERS, WHOLE_COUNTERS, PriceList
from workbench.reports.render.numbers import Clock
from workbench.reports.usage_calls import EPOCH, MICROSECOND, UNKNOWN, UNTIMED, Calls, grouped, told_calls
from workbench.store.cache import read_cache, write_cache
from workbench.store.delta import again_if_vanished
from workbench.store.sql import query

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    from numpy.typing import NDArray

    from workbench.store.lake import Lake

By = Literal["model", "day", "project", "session"]
Key = tuple[str | None, ...]

UNKNOWN_DAY: Final = "unknown"
"""The day of calls without a time: they have none, and count all the same."""

NO_MODEL: Final = "(no model named)"
"""Stands among the models without a price for calls that name none."""

KEYS: Final[dict[By, tuple[str, ...]]] = {
    "model": ("model",),
    "day": ("day",),
    "project": ("project_id", "cwd"),
    "session": ("session_id", "title"),
}
"""What a row is about, by split: the key, and what tells a person which one it is."""

TOKENS: Final = COUNTERS
WHOLES: Final = TOKENS[:WHOLE_COUNTERS]
"""Counters that do not overlap; the others are parts of them."""

PRICES: Final = "prices.json"
"""Where the home keeps the rates that it needed, so that the price library is loaded for new models only."""

PLACES: Final = 10
"""Decimal places of a sum in dollars; beyond them there is only what adding binary fractions leaves."""


@dataclass(frozen=True)
class UsageRow:
    """Sums over some calls; a counter that no call tells is None, not 0.

    Attributes:
        key: What the calls have in common, a value for each of `KEYS`; of all calls together nothing.
        model_calls: How many there are.
        tokens: Sums by counter.
        cost_usd: US dollars of the calls that have a price; None where none has.
        unpriced_calls: Calls without a price.
    """

    key: Key
    model_calls: int
    tokens: dict[str, int | None]
    cost_usd: float | None
    unpriced_calls: int

    @classmethod
    def of(cls, key: Key, calls: Calls) -> UsageRow:
        """Add up some calls; of none everything is 0."""
        known = calls.tokens != UNKNOWN
        sums = np.where(known, calls.tokens, 0).sum(axis=0).tolist()
        is_told = known.any(axis=0) | (len(calls) == 0)
        tokens = {name: total if told else None for name, total, told in zip(TOKENS, sums, is_told, strict=True)}
        costs = calls.costs[~np.isnan(calls.costs)].tolist()
        cost_usd = round(math.fsum(costs), PLACES) if costs or not len(calls) else None
        return cls(key, len(calls), tokens, cost_usd, len(calls) - len(costs))

    @property
    def total_tokens(self) -> int | None:
        """Tokens of every kind: fresh input, output, read from and written to the cache."""
        known = [figure for name in WHOLES if (figure := self.tokens[name]) is not None]
        return sum(known) if known else None

    def as_dict(self) -> dict[str, Any]:
        """The row by column, without its key."""
        return {
            "model_calls": self.model_calls,
            **self.tokens,
            "total_tokens": self.total_tokens,
            "cost_usd": self.cost_usd,
            "unpriced_calls": self.unpriced_calls,
        }


@dataclass(frozen=True)
class Usage:
    """The answer to one question of usage.

    Attributes:
        by: What it is split by.
        zone: The time zone of its days.
        rows: One for each key: days in order, the others from the dearest to the cheapest.
        total: Over all calls, each once.
        unpriced_models: Models whose price is not known, in order.
    """

    by: By
    zone: str
    rows: list[UsageRow]
    total: UsageRow
    unpriced_models: list[str]

    @property
    def shared_calls(self) -> int:
        """By session: how often a call is told once more, by a copied or resumed session. Else 0."""
        return sum(row.model_calls for row in self.rows) - self.total.model_calls

    def row_dicts(self) -> list[dict[str, Any]]:
        """The rows by column, the key first."""
        return [dict(zip(KEYS[self.by], row.key, strict=True)) | row.as_dict() for row in self.rows]


def usage_frame(
    lake: Lake,
    by: By = "model",
    *,
    zone: tzinfo | None = None,
    since: datetime | None = None,
    project: str | None = None,
) -> pl.DataFrame:
    """Tokens and cost of model calls as a frame; arguments and errors are those of `read_usage`.

    Returns:
        The key of the split (`model`; `day`; `project_id` and `cwd`; `session_id` and `title`), `model_calls`,
        `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`, `cache_write_1h_tokens`,
        `reasoning_tokens`, `total_tokens`, `cost_usd` (null where no call has a price), `unpriced_calls`.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    found = read_usage(lake, by, zone=zone, since=since, project=project)
    schema: Mapping[str, Any] = {
        **dict.fromkeys(KEYS[by], pl.String),
        **dict.fromkeys(("model_calls", *TOKENS, "total_tokens"), pl.Int64),
        "cost_usd": pl.Float64,
        "unpriced_calls": pl.Int64,
    }
    return pl.DataFrame(found.row_dicts(), schema=schema)


def read_usage(
    lake: Lake,
    by: By = "model",
    *,
    zone: tzinfo | None = None,
    since: datetime | None = None,
    project: str | None = None,
) -> Usage:
    """Add up the tokens and cost of model calls.

    A call that several sessions tell of counts once, for the session that began first (view `usage_once`). By session,
    each row has all the calls that its session tells of, so the rows may add up to more than the total.

    Args:
        lake: The tables.
        by: What to split by. A session counts for the project that its label names, if there is one.
        zone: In which days begin; the local one unless given.
        since: Only calls at or after this time (with a zone); those without a time are left out then.
        project: Only of this project: its id, or part of its path.

    Raises:
        BadInputError: There is no such split; `since` has no zone.
        StoreError: A table cannot be read.
    """
    if by not in KEYS:
        raise BadInputError(f"usage can be split by {', '.join(get_args(By))}, not by {by!r}")
    if since is not None and since.tzinfo is None:
        raise BadInputError(f"since needs a time with a zone, got {since!r}")
    prices = PriceList(read_cache(lake.home, PRICES))
    about, once, told = again_if_vanished(lambda: _ask(lake, by))
    all_once = once.where(_wanted(once, about, since, project)).priced(prices)
    split = all_once if told is None else told.where(_wanted(told, about, since, project)).priced(prices)
    if prices.has_news:
        write_cache(lake.home, PRICES, prices.told())
    clock = _clock(zone, all_once)
    rows = [UsageRow.of(key, split.where(places)) for key, places in grouped(_keys(split, by, about, clock))]
    return Usage(
        by=by,
        zone=clock.name,
        rows=sorted(rows, key=_by_key if by == "day" else _dearest_first),
        total=UsageRow.of((), all_once),
        unpriced_models=sorted({model or NO_MODEL for model in split.models[split.lacks_price].tolist()}),
    )


# -- sessions ----------------------------------------------------------------------------------------------------------


class _Session(NamedTuple):
    title: str | None
    project_id: str | None
    cwd: str | None

    @property
    def project(self) -> Key:
        return (self.project_id, self.cwd)


_Sessions = dict[str, _Session]


class _Asked(NamedTuple):
    """The sessions, every call once, and by session all that they tell of; at one snapshot."""

    about: _Sessions
    once: Calls
    told: Calls | None


def _ask(lake: Lake, by: By) -> _Asked:
    connection = lake.connection(("sessions", "session_labels", "usage"))
    try:
        told = told_calls(connection, "usage") if by == "session" else None
        return _Asked(_sessions(connection), told_calls(connection, "usage_once"), told)
    finally:
        connection.close()


def _sessions(connection: duckdb.DuckDBPyConnection) -> _Sessions:
    """What is known of each session, people's labels in the place of ours."""
    rows = connection.execute(query("session_projects")).fetchall()
    return {session_id: _Session(*about) for session_id, *about in rows}


def _wanted(calls: Calls, about: _Sessions, since: datetime | None, project: str | None) -> NDArray[np.bool_]:
    """Which calls are asked for."""
    wanted = np.ones(len(calls), dtype=np.bool_)
    if since is not None:
        wanted &= calls.occurred_us >= max((since - EPOCH) // MICROSECOND, UNTIMED + 1)
    if project is not None:
        ours = {name for name, told in about.items() if told.project_id == project or project in (told.cwd or "")}
        wanted &= np.array([name in ours for name in calls.session_ids.tolist()], dtype=np.bool_)
    return wanted


# -- from calls to sums ------------------------------------------------------------------------------------------------


def _clock(zone: tzinfo | None, calls: Calls) -> Clock:
    """The clock of the days; a local one is called by its names at both ends of the time that the calls span."""
    times = [at for at in calls.quarters if at is not None] or [datetime.now(UTC)]
    return Clock.of(zone, [min(times), max(times)])


def _keys(calls: Calls, by: By, about: _Sessions, clock: Clock) -> list[Key]:
    """What each call is summed under."""
    if by == "model":
        return [(model,) for model in calls.models.tolist()]
    if by == "day":
        days = {at: (UNKNOWN_DAY if at is None else clock.day(at).isoformat(),) for at in set(calls.quarters)}
        return [days[at] for at in calls.quarters]
    if by == "project":
        return [about[name].project for name in calls.session_ids.tolist()]
    return [(name, about[name].title) for name in calls.session_ids.tolist()]


def _by_key(row: UsageRow) -> Any:
    return row.key  # of days the unknown one comes last: letters follow digits


def _dearest_first(row: UsageRow) -> Any:
    return (row.cost_usd is None, -(row.cost_usd or 0), -(row.total_tokens or 0), [part or "" for part in row.key])
