"""What model calls cost, by the price table of genai-prices (design, section 5).

The library's own table is used as it was released; nothing is fetched. It takes a quarter of a millisecond for a call,
so it is asked for the rates of a model and tier, and these are multiplied.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

UNTIMED: Final = datetime.max.replace(tzinfo=UTC)
"""A call without a time costs what the newest prices say."""

PROBE: Final = 1_000_000
"""Prices are told for a million tokens: of so many the library's figures are exact."""


class PricedCall(NamedTuple):
    """What the price of one model call depends on, as `usage` has it: the four counters do not overlap.

    Attributes:
        model: The model that was billed.
        at: When, with a zone; prices change.
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


class Rates(NamedTuple):
    """US dollars for a token of each kind, and for the call itself."""

    fresh: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    answer: float
    reasoning: float
    call: float


def call_costs(calls: Iterable[PricedCall]) -> list[float | None]:
    """What each call costs in US dollars.

    Each call by itself, since a tier is chosen by the input of one call, all kinds of it together.

    Returns:
        One figure a call: None where the model has no known price, or no counter is known. A call that is known to
        have used no tokens costs nothing, whatever the model; agents write their own messages as such.
    """
    prices = _PriceList()
    return [_cost(call, prices) for call in calls]


def _cost(call: PricedCall, prices: _PriceList) -> float | None:
    told = (call.input_tokens, call.output_tokens, call.cache_read_tokens, call.cache_write_tokens)
    if told == (None, None, None, None):
        return None
    fresh, output, read, written = (value or 0 for value in told)
    if not (fresh or output or read or written):
        return 0.0
    rates = prices.rates(call.model, call.at, fresh + read + written)
    if rates is None:
        return None
    hour = min(call.cache_write_1h_tokens or 0, written)
    reasoning = min(call.reasoning_tokens or 0, output)
    return (
        fresh * rates.fresh
        + read * rates.cache_read
        + (written - hour) * rates.cache_write_5m
        + hour * rates.cache_write_1h
        + (output - reasoning) * rates.answer
        + reasoning * rates.reasoning
        + rates.call
    )


class _PriceList:
    """Rates by model, time and tier, each asked of the library once."""

    def __init__(self) -> None:
        self._models: dict[str, ModelInfo | None] = {}
        self._prices: dict[tuple[str, datetime | None], tuple[ModelPrice, list[int]] | None] = {}
        self._rates: dict[tuple[int, int], Rates | None] = {}

    def rates(self, model: str | None, at: datetime | None, all_input: int) -> Rates | None:
        """The rates of a call; None where the library knows no price."""
        found = self._price(model or "", at)
        if found is None:
            return None
        price, starts = found
        tier = bisect_left(starts, all_input)  # a tier begins above its start
        key = (id(price), tier)
        if key not in self._rates:
            self._rates[key] = _rates(price, starts[tier] if tier < len(starts) else max([0, *starts]) + PROBE)
        return self._rates[key]

    def _price(self, model: str, at: datetime | None) -> tuple[ModelPrice, list[int]] | None:
        if model not in self._models:
            self._models[model] = _model(model)
        known = self._models[model]
        if known is None:
            return None
        when = at if isinstance(known.prices, list) else None  # prices that never changed need no time
        if (model, when) not in self._prices:
            price = known.get_prices(when or UNTIMED)
            self._prices[model, when] = (price, _tier_starts(price))
        return self._prices[model, when]


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
