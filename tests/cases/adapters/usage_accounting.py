"""Field cases of usage and cost: what `workbench usage --json` prints.

All files of a case are imported at once, and one by one in both orders where there are several; the answers must agree.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

import workbench as wb
from cases.landed import PROSE, UnknownKeyError
from workbench.surfaces.cli import usage
from workbench.surfaces.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Answers = dict[str, Any]

COUNTERS = {
    "model_calls": "model_calls",
    "input_tokens": "input_tokens",
    "fresh_input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "cache_write_1h_tokens": "cache_write_1h_tokens",
    "of_which_reasoning": "reasoning_tokens",
    "total_tokens": "total_tokens",
}
"""Names that cases give to what is printed."""

RATES = {"input": 0, "output": 1, "cache_read": 2, "cache_write_5m": 3, "cache_write_1h": 4}
"""Prices that cases name, and the counter of a million tokens that shows each."""

assert usage  # importing it adds the command


def check(case: Answers, folder: Path, home: Path) -> None:
    """Import the case's files in every order and compare all that it expects."""
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    orders = [[folder], files, files[::-1]] if len(files) > 1 else [[folder]]
    for number, order in enumerate(orders):
        place = home / str(number)
        bench = wb.open(place)
        for path in order:
            bench.ingest(path)
        found = {key: answer(place, key, value) for key, value in expected.items()}
        assert found == expected, f"imported in order {number}"


def answer(home: Path, key: str, expected: Any) -> Any:
    """What the home says to a key.

    Raises:
        UnknownKeyError: No rule fits the key.
    """
    rule = RULES.get(key)
    if rule is None:
        raise UnknownKeyError(f"no rule looks up {key!r} (expected {expected!r})")
    return rule(home, expected)


def printed(home: Path, *options: str) -> Answers:
    """What the command prints."""
    done = CliRunner().invoke(app, ["usage", "--home", str(home), "--json", *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    result: Answers = json.loads(done.stdout)
    return result


def overall(home: Path, expected: Answers) -> Answers:
    """The totals."""
    return counters(printed(home)["total"], expected)


def by_session(home: Path, expected: dict[str, Answers]) -> dict[str, Answers]:
    """The rows by session; all sessions must be expected."""
    rows = {row["session_id"]: row for row in printed(home, "--by", "session")["rows"]}
    return {name: counters(row, expected.get(name, COUNTERS)) for name, row in rows.items()}


def counters(row: Answers, wanted: Answers) -> Answers:
    """The wanted figures of a row, under the case's names.

    Raises:
        UnknownKeyError: There is no such figure.
    """
    known = {name: row[column] for name, column in COUNTERS.items()}
    known["cache_write_5m_tokens"] = (row["cache_write_tokens"] or 0) - (row["cache_write_1h_tokens"] or 0)
    if unknown := sorted(wanted.keys() - known.keys()):
        raise UnknownKeyError(f"usage has no {unknown}")
    return {name: known[name] for name in wanted}


def cost(home: Path, _: float | None) -> float | None:
    """Dollars in all."""
    result: float | None = printed(home)["total"]["cost_usd"]
    return result


def unpriced_models(home: Path, _: list[str]) -> list[str]:
    """Models without a price."""
    result: list[str] = printed(home)["unpriced_models"]
    return result


def cost_usd_by_call(home: Path, _: Answers) -> Answers:
    """Dollars of each call by itself."""
    from workbench.providers.prices import call_costs

    calls = priced_calls(home)
    costs = call_costs(calls.values())
    return {name: None if cost is None else round(cost, 10) for name, cost in zip(calls, costs, strict=True)}


def priced_calls(home: Path) -> Answers:
    """The calls, as prices are asked for them."""
    from workbench.providers.prices import PricedCall

    fields = ", ".join(PricedCall._fields[2:])
    rows = wb.open(home).sql(f"select call_id, model, occurred_at, {fields} from usage").rows()
    return {call_id: PricedCall(*rest) for call_id, *rest in rows}


def prices_used(home: Path, expected: Answers) -> Answers:
    """Dollars for a million tokens of each kind, below the tiers: told by a call of a thousand."""
    from workbench.providers.prices import call_costs

    if unknown := sorted(expected.keys() - RATES.keys()):
        raise UnknownKeyError(f"there is no price of {unknown}")
    some = next(iter(priced_calls(home).values()))
    result = {}
    for name in expected:
        figures = [0] * 5
        figures[RATES[name]] = 1000
        if name == "cache_write_1h":
            figures[RATES["cache_write_5m"]] = 1000
        (dollars,) = call_costs([type(some)(some.model, some.at, *figures)])
        assert dollars is not None
        result[name] = round(dollars * 1000, 10)
    return result


def output_tokens_by_day(home: Path, expected: dict[str, Answers]) -> dict[str, Answers]:
    """Output by day, in each time zone."""
    result = {}
    for zone in expected:
        with local_zone(zone):
            rows = printed(home, "--by", "day")["rows"]
        result[zone] = {row["day"]: row["output_tokens"] for row in rows}
    return result


def zone_is_named(home: Path, _: bool) -> bool:
    """Whether the output names the zone, for a program and for a person."""
    with local_zone("Asia/Seoul"):
        done = CliRunner().invoke(app, ["usage", "--home", str(home), "--by", "day"], catch_exceptions=False)
        return "KST" in printed(home, "--by", "day")["zone"] and "KST" in done.stdout


def stored_times(home: Path, expected: str) -> str:
    """Whether times are stored in UTC, whatever the zone of the one who looks.

    Raises:
        UnknownKeyError: The case says something else of them.
    """
    if expected != "UTC, the same in all four runs":
        raise UnknownKeyError(f"stored_times {expected!r} is not what the rule compares")
    seen = set()
    for zone in ("Asia/Seoul", "America/Los_Angeles", "Europe/Berlin", "UTC"):
        with local_zone(zone):
            frame = wb.open(home).sql("select occurred_at from usage order by all")
            seen.add((str(frame.schema["occurred_at"]), *map(str, frame["occurred_at"])))
    return expected if len(seen) == 1 and "UTC" in next(iter(seen))[0] else str(seen)


@contextlib.contextmanager
def local_zone(name: str) -> Iterator[None]:
    """Let a zone be the local one for a while."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


RULES: dict[str, Callable[[Path, Any], Any]] = {
    "overall": overall,
    "by_session": by_session,
    "cost": cost,
    "cost_usd": cost,
    "unpriced_models": unpriced_models,
    "cost_usd_by_call": cost_usd_by_call,
    "prices_used_usd_per_million": prices_used,
    "output_tokens_by_day": output_tokens_by_day,
    "zone_is_named_in_the_output": zone_is_named,
    "stored_times": stored_times,
}
