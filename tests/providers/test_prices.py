"""Prices of model calls: the figures of a log, as the price library wants them."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot

from workbench.providers import prices
from workbench.providers.prices import PricedCall, PriceList, call_costs

SONNET = "claude-sonnet-4-5-20250929"
AT = datetime(2026, 3, 2, tzinfo=UTC)


def cost(*counters, model=SONNET, at=AT):
    (found,) = call_costs([PricedCall(model, at, *counters)])
    return None if found is None else round(found, 10)


@pytest.mark.parametrize(
    ("counters", "dollars"),
    [
        ((5000, 100, 2000, 1000, 0), 0.02085),
        ((10, 200, 0, 4000, 3000), 0.02478),
        ((20, 50, 0, 500), 0.002685),
        ((30, 60, 0, 1000, 200), 0.00519),
    ],
    ids=["five minutes", "two lifetimes", "no split", "a split that leaves some out"],
)
def test_cache_writes_are_priced_by_lifetime_and_no_counter_holds_another(counters, dollars):
    assert cost(*counters) == dollars


def test_a_tier_is_chosen_by_all_input_of_one_call():
    assert cost(100_000, 0, 100_000) == round(0.3 + 0.03, 10)
    assert cost(100_000, 0, 100_001) == round(0.6 + 100_001 * 0.6e-6, 10)
    assert sum(call_costs([PricedCall(SONNET, AT, 150_000, 0)] * 2)) == pytest.approx(0.9)


def test_prices_are_those_of_the_time():
    night, day = AT.replace(year=2025, month=3, hour=20), AT.replace(year=2025, month=3, hour=8)
    asked = Usage(input_tokens=10**6, output_tokens=0)
    for at in (night, day):
        wanted = calc_price(asked, "deepseek-chat", genai_request_timestamp=at).total_price
        assert cost(10**6, 0, model="deepseek-chat", at=at) == round(float(wanted), 10)
    assert cost(10**6, 0, model="deepseek-chat", at=night) != cost(10**6, 0, model="deepseek-chat", at=day)


@pytest.mark.parametrize("model", [SONNET, "claude-opus-4-6", "gpt-5-codex", "gemini-2.5-pro", "deepseek-chat"])
def test_costs_are_those_of_the_library(model):
    chance = random.Random(model)
    for _ in range(40):
        most = chance.choice([10, 10_000, 150_000, 400_000])
        fresh, output, read, written = (chance.randrange(most) for _ in range(4))
        hour, reasoning = chance.randrange(written + 1), chance.randrange(output + 1)
        at = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=15 * chance.randrange(60_000))
        usage = Usage(
            input_tokens=fresh + read + written,
            cache_read_tokens=read,
            cache_write_tokens=written,
            cache_write_1h_tokens=hour,
            output_tokens=output,
            output_reasoning_tokens=reasoning,
        )
        wanted = calc_price(usage, model, genai_request_timestamp=at).total_price
        found = call_costs([PricedCall(model, at, fresh, output, read, written, hour, reasoning)])
        assert found == [pytest.approx(float(wanted), abs=1e-12)]


@pytest.mark.parametrize("model", ["other-model-1", "claude-nonesuch-9", "", None])
def test_a_model_without_a_price_costs_nobody_knows_what(model):
    assert cost(10, 10, model=model) is None


def test_what_is_not_told_is_not_guessed():
    assert cost(None, None) is None
    assert cost(None, 100) == 0.0015
    assert cost(10, None) == 0.00003


def dated_models():
    """Every model of the library whose price depends on the day or the time of day."""
    for provider in get_snapshot().providers:
        for model in provider.models:
            if isinstance(model.prices, list):
                yield provider, model


def test_a_list_told_by_another_gives_the_same_costs_without_asking_the_library(monkeypatch):
    chance = random.Random(3)
    moments = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=15 * chance.randrange(120_000)) for _ in range(60)]
    models = ["deepseek-chat", "claude-opus-4-6", "gpt-5-codex", SONNET, "no-such-model", None]
    calls = [PricedCall(model, at, 150_000, 7, size) for model in models for at in moments for size in (0, 90_000)]
    first = PriceList()
    wanted = call_costs(calls, first)
    assert wanted == [cost for call in calls for cost in call_costs([call])]
    assert first.has_news
    later = PriceList(first.told())
    monkeypatch.setattr(prices, "_model", None)
    assert call_costs(calls, later) == wanted
    assert not later.has_news


def test_a_price_depends_on_nothing_but_the_day_and_the_time_of_day():
    models = list(dated_models())
    assert len(models) > 100
    for _, model in models:
        sheet = prices._sheet(model)
        assert all(type(each.constraint).__name__ in KINDS for each in model.prices)
        assert sheet.by_hour == ("TimeOfDateConstraint" in {type(each.constraint).__name__ for each in model.prices})


KINDS = {"NoneType", "StartDateConstraint", "TimeOfDateConstraint"}


@pytest.mark.parametrize("told", [b"", b"{", b"[]", b'{"release": "0 other", "models": {}}'])
def test_a_list_of_another_release_or_a_damaged_one_is_not_used(told):
    asked = PriceList(told)
    assert call_costs([PricedCall(SONNET, AT, 10, 10)], asked) == call_costs([PricedCall(SONNET, AT, 10, 10)])
    assert asked.has_news


def test_no_tokens_cost_nothing_whatever_the_model():
    assert cost(0, 0, 0, 0, model="<synthetic>") == 0


def test_a_part_larger_than_its_whole_counts_as_the_whole():
    assert cost(0, 0, 0, 1000, 5000) == cost(0, 0, 0, 1000, 1000)
    assert cost(0, 100, 0, 0, 0, 500) == cost(0, 100)


def test_a_call_without_a_time_has_the_newest_prices():
    assert cost(10, 10, at=None) == cost(10, 10)
    assert cost(10**6, 10, model="deepseek-chat", at=None) is not None


def test_nothing_is_fetched(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the network was reached")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert call_costs([PricedCall("claude-opus-4-6", AT, 10, 10)]) != [None]


def test_the_library_is_loaded_when_a_price_is_wanted():
    code = "import sys, workbench.providers.prices, workbench.reports.usage; print('genai_prices' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False"
