"""Tokens and cost of model calls: in all, and by model, day, project or session."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from workbench.errors import BadInputError
from workbench.providers.prices import PricedCall, call_costs
from workbench.reports.render.numbers import Clock
from workbench.reports.usage_calls import ToldCall, each_call_once, told_calls
from workbench.store.delta import NOTHING

if TYPE_CHECKING:
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

    def add(self, call: ToldCall, cost_usd: float | None) -> None:
        """Add a call."""
        self.model_calls += 1
        sums = self.tokens
        for name, value in zip(TOKENS, call.tokens, strict=True):
            if value:
                sums[name] = (sums[name] or 0) + value
            elif value is not None and sums[name] is None:
                sums[name] = 0
        if cost_usd is None:
            self.unpriced_calls += 1
        else:
            self.costs.append(cost_usd)

    @property
    def total_tokens(self) -> int | None:
        """Tokens of every kind: fresh input, output, read from and written to the cache."""
        told = [value for name in WHOLES if (value := self.tokens[name]) is not None]
        return sum(told) if told else None

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

    A call that several sessions tell of counts once, for the session that began first (`each_call_once`). By session,
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
    told = told_calls(lake)
    about = _sessions(lake)
    wanted = _filter(about, since, project)
    counted = each_call_once(told, {session_id: session.started_at for session_id, session in about.items()})
    split = _priced(filter(wanted, told if by == "session" else counted))
    all_once = split if by != "session" else _priced(filter(wanted, counted))
    clock = _clock(zone, all_once)
    keys: dict[By, Callable[[_Priced], Key]] = {
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
    started_at: datetime | None = None
    title: str | None = None
    project_id: str | None = None
    cwd: str | None = None

    @property
    def project(self) -> Key:
        return (self.project_id, self.cwd)


class _Sessions(dict[str, _Session]):
    """Sessions by id; nothing is known of one that landed while the tables were read."""

    def __missing__(self, session_id: str) -> _Session:
        return _Session()


def _sessions(lake: Lake) -> _Sessions:
    """What is known of each session, people's labels in the place of ours."""
    names = ("session_id", *_Session._fields)
    rows = lake.derived_rows("sessions", names).to_pylist()
    found = _Sessions({row["session_id"]: _Session(*(row[name] for name in names[1:])) for row in rows})
    for session_id, title, project in _labels(lake):
        known = found[session_id]
        found[session_id] = known._replace(
            title=title or known.title,
            project_id=project or known.project_id,
            cwd=known.cwd if project in (None, known.project_id) else None,
        )
    folders: dict[str | None, str] = {}
    for session in found.values():
        if session.cwd is not None:
            folders[session.project_id] = min(session.cwd, folders.get(session.project_id, session.cwd))
    for session_id, session in found.items():
        found[session_id] = session._replace(cwd=folders.get(session.project_id))
    return found


def _labels(lake: Lake) -> list[tuple[str, str | None, str | None]]:
    if lake.stores["session_labels"].version() == NOTHING:
        return []  # without the 100 ms in which DuckDB loads
    connection = lake.connection()
    try:
        query = "select session_id, title, project from session_labels semi join sessions using (session_id)"
        return connection.execute(query).fetchall()
    finally:
        connection.close()


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


class _Priced(NamedTuple):
    call: ToldCall
    at: datetime | None
    cost_usd: float | None

    @property
    def lacks_price(self) -> bool:
        return self.cost_usd is None and any(self.call.tokens)


def _priced(calls: Iterable[ToldCall]) -> list[_Priced]:
    known = list(calls)
    times: dict[int | None, datetime | None] = {None: None}
    quarters = [None if call.occurred_us is None else call.occurred_us // QUARTER_US for call in known]
    for quarter in set(quarters):
        if quarter is not None:
            times[quarter] = EPOCH + quarter * QUARTER_US * MICROSECOND
    at = [times[quarter] for quarter in quarters]
    costs = call_costs(PricedCall(call.model, time, *call.tokens) for call, time in zip(known, at, strict=True))
    return list(map(_Priced._make, zip(known, at, costs, strict=True)))


def _clock(zone: tzinfo | None, calls: Sequence[_Priced]) -> Clock:
    """The clock of the days; a local one is called by its names at both ends of the time that the calls span."""
    times = [each.at for each in calls if each.at is not None] or [datetime.now(UTC)]
    return Clock.of(zone, [min(times), max(times)])


def _day_of(clock: Clock) -> Callable[[_Priced], Key]:
    days: dict[datetime | None, Key] = {None: (UNKNOWN_DAY,)}

    def day(each: _Priced) -> Key:
        if each.at is not None and each.at not in days:
            days[each.at] = (clock.day(each.at).isoformat(),)
        return days[each.at]

    return day


def _sums(calls: Iterable[_Priced], key_of: Callable[[_Priced], Key]) -> list[UsageRow]:
    rows: dict[Key, UsageRow] = {}
    for each in calls:
        key = key_of(each)
        row = rows.get(key)
        if row is None:
            row = rows[key] = UsageRow(key)
        row.add(each.call, each.cost_usd)
    return list(rows.values())


def _by_key(row: UsageRow) -> Any:
    return row.key  # of days the unknown one comes last: letters follow digits


def _dearest_first(row: UsageRow) -> Any:
    return (row.cost_usd is None, -(row.cost_usd or 0), -(row.total_tokens or 0), [part or "" for part in row.key])
