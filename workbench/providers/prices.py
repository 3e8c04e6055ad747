"""What model calls cost, by the price table of genai-prices (design, section 5).

The library's own table is used as it was released; nothing is fetched. It takes a quarter of a millisecond for a call,
so it is asked for the rates of a model and tier, and these are multiplied,
all calls at once.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

UNTIMED: Final = datetime.max.replace(tzinfo=UTC)
"""A call without a time costs what the newest prices say."""

PROBE: Final = 1_000_000
"""Prices are told for a million tokens: of so many the library's figures are exact."""


FORM: Final = 1
"""Raised when rates are taken out of the library in another way, so that what was remembered is asked again."""


class PricedCall(NamedTuple):
    """What the price of one model call depends on, as `usage` has it: the four counters do not overlap.

    Attributes:
        model: The model that was billed.
        at: When, with a zone, to the minute; prices change.
        input_tokens: Fresh input, caches apart.
        output_tokens: Output, reasoning included.
        cache_read_tokens: Input read from the cache.
        cache_write_tokens: Input written to the cache, whatever the lifetime.
        cache_write_1h_tokens: Of these: kept for an hour. The rest counts as kept for five minutes.
        reasoning_tokens: Of the output: reasoning.
    """

    model: str | None
    at: datetime | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    reasoning_tokens: int | None = None


COUNTERS: Final = PricedCall._fields[2:]
WHOLE_COUNTERS: Final = 4
"""The first so many of them do not overlap; the others are parts of them."""


class Rates(NamedTuple):
    """US dollars for a token of each kind, and for the call itself."""

    fresh: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    answer: float
    reasoning: float
    call: float


def call_costs(calls: Iterable[PricedCall], prices: PriceList | None = None) -> list[float | None]:
    """What each call costs in US dollars.

    Each call by itself, since a tier is chosen by the input of one call, all kinds of it together.

    Args:
        calls: The calls.
        prices: Where their rates are looked up; a new list unless given.

    Returns:
        One figure a call: None where the model has no known price, or no counter is known. A call that is known to
        have used no tokens costs nothing, whatever the model; agents write their own messages as such.
    """
    rows = list(calls)
    tokens = np.array([call[2:] for call in rows], dtype=np.float64).reshape(len(rows), len(COUNTERS))
    costs = (prices or PriceList()).costs([call.model for call in rows], [call.at for call in rows], tokens)
    return [None if math.isnan(cost) else cost for cost in costs.tolist()]


class Tiers(msgspec.Struct, frozen=True):
    """One price of a model: rates by tier; a tier begins above its start, the first one at 0. None: refused."""

    starts: list[int]
    rates: list[Rates | None]


class Sheet(msgspec.Struct, frozen=True):
    """What is known of one model's prices.

    Attributes:
        dates: Days (UTC) on which one of its prices starts, sorted; prices that never changed have none.
        by_hour: Whether the time of day matters too.
        prices: By how many of the days had come, and the time of day where that matters.
    """

    dates: list[date]
    by_hour: bool
    prices: dict[str, Tiers]


class Sheets(msgspec.Struct, frozen=True):
    """Sheets by model, of one release; None where the library knows no price."""

    release: str
    models: dict[str, Sheet | None]


class PriceList:
    """Rates by model, time and tier, each asked of the library once.

    Args:
        told: What another list told; nothing is taken from one of another release.

    Attributes:
        has_news: Whether the library had to be asked: that takes a third of a second to load.
    """

    def __init__(self, told: bytes | None = None) -> None:
        self._sheets = _sheets(told)
        self.has_news = False

    def told(self) -> bytes:
        """All that is known now, for a later list."""
        return msgspec.json.encode(self._sheets)

    def costs(self, models: Sequence[str | None], at: Sequence[datetime | None], tokens: Floats) -> Floats:
        """What each call costs, as `call_costs` tells, of calls given as columns.

        Args:
            models: The models that were billed.
            at: When, as for `PricedCall`; the fewer different times, the faster.
            tokens: Shape (calls, 6) in the order of `COUNTERS`; NaN where a counter is not known.

        Returns:
            US dollars, shape (calls,); NaN where no price is known.
        """
        fresh, answer, read, written, hour, reasoning = np.nan_to_num(tokens).T
        hour, reasoning = np.minimum(hour, written), np.minimum(reasoning, answer)
        kinds = (fresh, read, written - hour, hour, answer - reasoning, reasoning, np.ones(len(tokens)))
        costs = np.where(np.isnan(tokens[:, :WHOLE_COUNTERS]).all(axis=1), np.nan, 0.0)
        used = np.flatnonzero(fresh + read + written + answer)
        amounts = np.stack(kinds, axis=1)[used]
        rates = self._rates([(models[i], at[i]) for i in used.tolist()], (fresh + read + written)[used])
        costs[used] = (amounts * rates).sum(axis=1)
        return costs

    def _rates(self, calls: Sequence[tuple[str | None, datetime | None]], all_input: Floats) -> Floats:
        """The rates of calls, shape (calls, 7) in the order of `Rates`; NaN where the library knows no price."""
        known: dict[tuple[str | None, datetime | None], int] = {}
        codes = np.array([known.setdefault(call, len(known)) for call in calls], dtype=np.intp)
        found = [self._tiers(model or "", (moment or UNTIMED).astimezone(UTC)) for model, moment in known]
        lists = {id(tiers): tiers for tiers in found}
        of_call = np.array([id(tiers) for tiers in found], dtype=np.uint64)[codes]
        rates = np.full((len(calls), len(Rates._fields)), np.nan)
        for name, tiers in lists.items():
            if tiers is not None:
                rows = np.flatnonzero(of_call == name)
                steps = np.array([each or (math.nan,) * len(Rates._fields) for each in tiers.rates])
                rates[rows] = steps[np.searchsorted(tiers.starts, all_input[rows])]
        return rates

    def _tiers(self, name: str, moment: datetime) -> Tiers | None:
        if name not in self._sheets.models:
            self.has_news = True
            self._sheets.models[name] = _sheet(_model(name))
        sheet = self._sheets.models[name]
        if sheet is None:
            return None
        key = str(bisect_right(sheet.dates, moment.date())) + (f" {moment:%H:%M}" if sheet.by_hour else "")
        tiers = sheet.prices.get(key)
        if tiers is None:
            self.has_news = True
            tiers = sheet.prices[key] = _tiers(name, moment)
        return tiers


def _sheets(told: bytes | None) -> Sheets:
    release = f"{FORM} {version('genai-prices')}"
    try:
        known = msgspec.json.decode(told or b"", type=Sheets)
    except msgspec.DecodeError:
        known = None
    return known if known is not None and known.release == release else Sheets(release, {})


def _sheet(model: ModelInfo | None) -> Sheet | None:
    if model is None:
        return None
    prices = model.prices if isinstance(model.prices, list) else []
    limits: list[Any] = [each.constraint for each in prices]
    dates = {limit.start_date for limit in limits if hasattr(limit, "start_date")}
    return Sheet(sorted(dates), any(hasattr(limit, "start_time") for limit in limits), {})


def _tiers(name: str, at: datetime) -> Tiers:
    model = _model(name)
    assert model is not None  # noqa: S101  (it has a sheet)
    price = model.get_prices(at)
    starts = _tier_starts(price)
    sizes = [*starts, max([0, *starts]) + PROBE]
    return Tiers(starts, [_rates(price, size) for size in sizes])


def _model(name: str) -> ModelInfo | None:
    from genai_prices import Usage, calc_price  # noqa: PLC0415  (100 ms)

    try:
        return calc_price(Usage(), name).model
    except LookupError:
        return None


def _tier_starts(price: ModelPrice) -> list[int]:
    tiers = (getattr(value, "tiers", ()) for value in vars(price).values())
    return sorted({tier.start for each in tiers for tier in each})


def _rates(price: ModelPrice, size: int) -> Rates | None:
    """Ask the library for calls of `size` input tokens, all of one kind.

    Its input tokens include those of the cache, its cache writes those of an hour, its output the reasoning. A kind
    that the model has no price for is charged there as the kind around it.
    """
    from genai_prices import Usage  # noqa: PLC0415

    def cost(output: int = 0, reasoning: int = 0, **parts: int) -> float:
        usage = Usage(input_tokens=size, output_tokens=output, output_reasoning_tokens=reasoning, **parts)
        return float(price.calc_price(usage)["total_price"])

    try:
        call = float(price.calc_price(Usage(input_tokens=0, output_tokens=0))["total_price"])
        fresh = cost()
        return Rates(
            fresh=(fresh - call) / size,
            cache_read=(cost(cache_read_tokens=size) - call) / size,
            cache_write_5m=(cost(cache_write_tokens=size) - call) / size,
            cache_write_1h=(cost(cache_write_tokens=size, cache_write_1h_tokens=size) - call) / size,
            answer=(cost(output=PROBE) - fresh) / PROBE,
            reasoning=(cost(output=PROBE, reasoning=PROBE) - fresh) / PROBE,
            call=call,
        )
    except ValueError:
        return None  # a price that the library itself refuses
