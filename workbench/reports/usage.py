"""Tokens and cost of model calls: in all, and by model, day, project or session."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from workbench.errors import BadInputError
from workbench.providers.prices import PricedCall, PriceList
from workbench.reports.render.numbers import Clock
from workbench.reports.usage_calls import ToldCall, told_calls
from workbench.store.cache import read_cache, write_cache
from workbench.store.delta import again_if_vanished
from workbench.store.sql import query

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from workbench.store.lake import Lake

By = Literal["model", "day", "project", "session"]
Key = tuple[str | None, ...]

UNKNOWN_DAY: Final = "unknown"
"""The day of calls without a time: they have none, and count all the same."""

NO_MODEL: Final = "(no model named)"
"""Stands among the models without a price for calls that name none."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
QUARTER_US: Final = timedelta(minutes=15) // MICROSECOND
"""Times are looked at to the quarter of an hour: every zone's days begin at one, and prices change at one."""

KEYS: Final[dict[By, tuple[str, ...]]] = {
    "model": ("model",),
    "day": ("day",),
    "project": ("project_id", "cwd"),
    "session": ("session_id", "title"),
}
"""What a row is about, by split: the key, and what tells a person which one it is."""

TOKENS: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "reasoning_tokens",
)
WHOLES: Final = TOKENS[:4]
"""Counters that do not overlap; the others are parts of them."""

PRICES: Final = "prices.json"
"""Where the home keeps the rates that it needed, so that the price library is loaded for new models only."""

PLACES: Final = 10
"""Decimal places of a sum in dollars; beyond them there is only what adding binary fractions leaves."""


@dataclass
class UsageRow:
    """Sums over some calls; a counter that no call tells is None, not 0.

    Attributes:
        key: What the calls have in common, a value for each of `KEYS`; of all calls together nothing.
        model_calls: How many there are.
        tokens: Sums by counter.
        costs: US dollars of each call that has a price.
        unpriced_calls: Calls without a price.
    """

    key: Key
    model_calls: int = 0
    tokens: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(TOKENS))
    costs: list[float] = field(default_factory=list, repr=False)
    unpriced_calls: int = 0

    @classmethod
    def of(cls, key: Key, calls: Sequence[Priced]) -> UsageRow:
        """Add up some calls."""
        counters = zip(*(each.call.tokens for each in calls), strict=True)
        tokens = dict(zip(TOKENS, map(_sum, counters), strict=True))
        costs = [each.cost_usd for each in calls if each.cost_usd is not None]
        return cls(key, len(calls), tokens, costs, len(calls) - len(costs))

    @property
    def total_tokens(self) -> int | None:
        """Tokens of every kind: fresh input, output, read from and written to the cache."""
        return _sum(self.tokens[name] for name in WHOLES)

    @property
    def cost_usd(self) -> float | None:
        """US dollars of the calls that have a price; None where none has."""
        return round(math.fsum(self.costs), PLACES) if self.costs or not self.model_calls else None

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
    wanted = _filter(about, since, project)
    all_once = priced(filter(wanted, once), prices)
    split = all_once if told is None else priced(filter(wanted, told), prices)
    if prices.has_news:
        write_cache(lake.home, PRICES, prices.told())
    clock = _clock(zone, all_once)
    keys: dict[By, Callable[[Priced], Key]] = {
        "model": lambda each: (each.call.model,),
        "day": _day_of(clock),
        "project": lambda each: about[each.call.session_id].project,
        "session": lambda each: (each.call.session_id, about[each.call.session_id].title),
    }
    return Usage(
        by=by,
        zone=clock.name,
        rows=sorted(_sums(split, keys[by]), key=_by_key if by == "day" else _dearest_first),
        total=next(iter(_sums(all_once, lambda _: ())), UsageRow((), tokens=dict.fromkeys(TOKENS, 0))),
        unpriced_models=sorted({each.call.model or NO_MODEL for each in split if each.lacks_price}),
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
    once: list[ToldCall]
    told: list[ToldCall] | None


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


def _filter(about: _Sessions, since: datetime | None, project: str | None) -> Callable[[ToldCall], bool]:
    first = None if since is None else (since - EPOCH) // MICROSECOND

    def wanted(call: ToldCall) -> bool:
        if first is not None and (call.occurred_us is None or call.occurred_us < first):
            return False
        if project is None:
            return True
        project_id, cwd = about[call.session_id].project
        return project_id == project or project in (cwd or "")

    return wanted


# -- from calls to sums ------------------------------------------------------------------------------------------------


class Priced(NamedTuple):
    """A model call with the quarter hour it fell into and its price; None where that is not known."""

    call: ToldCall
    at: datetime | None
    cost_usd: float | None

    @property
    def lacks_price(self) -> bool:
        """Whether it used tokens of a model without a known price."""
        return self.cost_usd is None and any(self.call.tokens)


def priced(calls: Iterable[ToldCall], prices: PriceList) -> list[Priced]:
    """Each call with its price."""
    known = list(calls)
    times: dict[int | None, datetime | None] = {None: None}
    quarters = [None if call.occurred_us is None else call.occurred_us // QUARTER_US for call in known]
    for quarter in set(quarters):
        if quarter is not None:
            times[quarter] = EPOCH + quarter * QUARTER_US * MICROSECOND
    at = [times[quarter] for quarter in quarters]
    costs = prices.costs(PricedCall(call.model, time, *call.tokens) for call, time in zip(known, at, strict=True))
    return list(map(Priced._make, zip(known, at, costs, strict=True)))


def _clock(zone: tzinfo | None, calls: Sequence[Priced]) -> Clock:
    """The clock of the days; a local one is called by its names at both ends of the time that the calls span."""
    times = [each.at for each in calls if each.at is not None] or [datetime.now(UTC)]
    return Clock.of(zone, [min(times), max(times)])


def _day_of(clock: Clock) -> Callable[[Priced], Key]:
    days: dict[datetime | None, Key] = {None: (UNKNOWN_DAY,)}

    def day(each: Priced) -> Key:
        if each.at is not None and each.at not in days:
            days[each.at] = (clock.day(each.at).isoformat(),)
        return days[each.at]

    return day


def _sums(calls: Iterable[Priced], key_of: Callable[[Priced], Key]) -> list[UsageRow]:
    groups: defaultdict[Key, list[Priced]] = defaultdict(list)
    for each in calls:
        groups[key_of(each)].append(each)
    return [UsageRow.of(key, group) for key, group in groups.items()]


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _by_key(row: UsageRow) -> Any:
    return row.key  # of days the unknown one comes last: letters follow digits


def _dearest_first(row: UsageRow) -> Any:
    return (row.cost_usd is None, -(row.cost_usd or 0), -(row.total_tokens or 0), [part or "" for part in row.key])
