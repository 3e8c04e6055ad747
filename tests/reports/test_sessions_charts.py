"""The charts of the sessions report: small rows in, drawn numbers out."""

from datetime import UTC, date, datetime

import pytest

from workbench.reports.sessions_charts import by_hour, by_size, cache_shares, called, marks, over_time, tools
from workbench.reports.sessions_numbers import Bin, Span

MONDAY, TUESDAY, LATER = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)


def values(spec):
    return spec["data"]["values"]


def test_bars_of_one_day_stand_on_each_other():
    spans = [Span(MONDAY, TUESDAY, "m", 3), Span(MONDAY, TUESDAY, "n", 1500), Span(TUESDAY, LATER, "n", 2)]
    spec = over_time(spans, "day", ["m", "n"], domain=(MONDAY, LATER), what="tokens", height=100)
    assert [(row["low"], row["high"], row["series"], row["says"]) for row in values(spec)] == [
        (0, 3, "m", "2 Mar 2026: 3 tokens, m"),
        (3, 1503, "n", "2 Mar 2026: 1,500 tokens, n"),
        (0, 2, "n", "3 Mar 2026: 2 tokens, n"),
    ]
    first = datetime(2026, 3, 2, tzinfo=UTC).timestamp() * 1000
    assert first < values(spec)[0]["from"] < values(spec)[0]["to"] < first + 86_400_000
    assert spec["encoding"]["color"]["scale"]["domain"] == ["m", "n"]


def test_one_series_needs_no_legend():
    spec = over_time(
        [Span(MONDAY, TUESDAY, "m", 3)], "day", ["m"], domain=(MONDAY, TUESDAY), what="sessions", height=100
    )
    assert "color" not in spec["encoding"]
    assert values(spec)[0]["says"] == "2 Mar 2026: 3 sessions"


def test_few_days_leave_room():
    spec = over_time([], "day", [], domain=(MONDAY, TUESDAY), what="sessions", height=100)
    first, after = spec["encoding"]["x"]["scale"]["domain"]
    assert (after - first) / 86_400_000 == 14


@pytest.mark.parametrize(
    ("domain", "unit", "named"),
    [
        ((date(2026, 3, 3), date(2026, 3, 6)), "day", [date(2026, 3, 3), date(2026, 3, 4), date(2026, 3, 5)]),
        ((date(2026, 3, 3), date(2026, 3, 24)), "day", [date(2026, 3, 9), date(2026, 3, 16), date(2026, 3, 23)]),
        ((date(2026, 1, 1), date(2026, 4, 1)), "month", [date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1)]),
        ((date(1990, 1, 1), date(2018, 1, 1)), "year", [date(year, 1, 1) for year in range(1990, 2018, 2)]),
    ],
)
def test_some_days_are_named(domain, unit, named):
    assert marks(domain, unit) == named


def test_a_unit_is_called_by_its_days():
    assert called(Span(MONDAY, date(2026, 3, 9), "", 1), "week") == "2\N{EN DASH}8 Mar 2026"
    assert called(Span(date(2026, 3, 1), date(2026, 4, 1), "", 1), "month") == "Mar 2026"
    assert called(Span(date(2026, 1, 1), date(2027, 1, 1), "", 1), "year") == "2026"


def test_every_hour_of_the_week_has_its_square():
    rows = values(by_hour({(6, 23): 1200}, "model calls"))
    assert len(rows) == 7 * 24
    assert rows[-1]["says"] == "Sun 23:00\N{EN DASH}00:00: 1,200 model calls"


def test_sizes_are_called_shortly():
    rows = values(by_size([Bin(0, 1, 2), Bin(500, 1000, 1), Bin(1000, 2000, 1)], "output tokens"))
    assert [row["size"] for row in rows] == ["0", "500\N{EN DASH}1k", "1k\N{EN DASH}2k"]
    assert rows[1]["says"] == "1 session with 500 to 999 output tokens"


def test_a_dot_says_whose_it_is():
    (dot,) = values(cache_shares([{"label": "s1 Fix it", "model_calls": 12, "part": 0.5}]))
    assert dot["says"] == "s1 Fix it: 50.0 % from the cache, 12 model calls"


def test_rare_tools_share_a_bar():
    rows = [{"tool": f"t{n:02}", "calls": 100 - n, "failed": 1 if n == 0 else 0, "rejected": None} for n in range(17)]
    calls, wrong = tools(rows)["hconcat"]
    assert [row["tool"] for row in values(calls)] == [*(f"t{n:02}" for n in range(15)), "2 other tools"]
    assert values(calls)[-1]["value"] == 85 + 84
    assert [row["says"] for row in values(wrong["layer"][0])] == ["t00: 1 of 100 failed (1.0 %)"]
