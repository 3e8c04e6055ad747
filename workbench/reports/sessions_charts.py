"""The charts of the sessions report as Vega-Lite: small rows in, a specification out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from workbench.reports.render.charts import BAD, DOUBTFUL, OTHER, SCALE_WIDTH, SERIES, WIDTH
from workbench.reports.render.numbers import compact, count, day, days, plural, share
from workbench.reports.sessions_numbers import FEWEST_BARS, Bin, Span, Unit, begin, following

Spec = dict[str, Any]

TOOLS: Final = 15
"""Tools with a bar of their own; the others share one."""

MOST_DOTS: Final = 500
"""Dots of one drawing; more of them are a cloud that takes room."""

WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_GAP: Final = 0.06
"""Part of a bar's time that is left free on each side."""

MOST_MARKS: Final = 14
"""Days, weeks, months that have their name under a chart over time."""

_LABELS: Final[Mapping[Unit, str]] = {"day": "%-d %b", "week": "%-d %b", "month": "%b %Y", "year": "%Y"}


def _epoch_ms(value: date) -> float:
    return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp() * 1000


def called(span: Span, unit: Unit) -> str:
    """What a bar's time is called: 5 Jan 2026, 5-11 Jan 2026, Jan 2026, 2026."""
    if unit == "week":
        return days(span.first, span.after - timedelta(days=1))
    return day(span.first) if unit == "day" else f"{span.first:%b %Y}" if unit == "month" else f"{span.first:%Y}"


def over_time(
    spans: Sequence[Span],
    unit: Unit,
    series: Sequence[str],
    *,
    domain: tuple[date, date],
    what: str,
    height: int,
    show: Callable[[float], str] = count,
    axis: Callable[[float], Spec] | None = None,
) -> Spec:
    """Stacked bars over time.

    Args:
        spans: From `sessions_numbers.over_time`.
        unit: Theirs.
        series: Names in the order of the colours, from the ground up; one alone has no legend.
        domain: The first unit's day and the day after the last one: the same for all charts of a page.
        what: What is counted, in the plural.
        height: Of the drawing, in pixels.
        show: From a value to what is read of it.
        axis: From the largest value to how the values' axis is told; as whole numbers unless given.
    """
    rows: list[Spec] = []
    ground: dict[date, float] = defaultdict(int)
    for span in spans:
        width = _epoch_ms(span.after) - _epoch_ms(span.first)
        counted = what.removesuffix("s") if span.value == 1 else what
        about = f"{called(span, unit)}: {show(span.value)} {counted}" + (f", {span.series}" if len(series) > 1 else "")
        low = ground[span.first]
        ground[span.first] = high = low + span.value
        rows.append(
            {
                "from": _epoch_ms(span.first) + _GAP * width,
                "to": _epoch_ms(span.after) - _GAP * width,
                "low": low,
                "high": high,
                "series": span.series,
                "says": about,
            }
        )
    domain = _roomy(domain, unit)
    encoding: Spec = {
        "x": {
            "field": "from",
            "type": "temporal",
            "title": None,
            "scale": {"type": "utc", "domain": list(map(_epoch_ms, domain))},
            "axis": {
                "format": _LABELS[unit],
                "ticks": unit == "week",
                "values": [_middle(d, unit) for d in marks(domain, unit)],
            },
        },
        "x2": {"field": "to"},
        "y": {
            "field": "low",
            "type": "quantitative",
            "title": None,
            "scale": {"nice": True},
            "axis": (axis or _value_axis)(max(ground.values(), default=0)),
        },
        "y2": {"field": "high"},
        "description": {"field": "says"},
    }
    if len(series) > 1:
        encoding["color"] = _colours(series)
    mark = {"type": "rect", "color": SERIES[0]}
    return {"width": WIDTH, "height": height, "data": {"values": rows}, "mark": mark, "encoding": encoding}


def _roomy(domain: tuple[date, date], unit: Unit) -> tuple[date, date]:
    first, after = domain
    fewest = first
    for _ in range(FEWEST_BARS):
        fewest = following(fewest, unit)
    return first, max(after, fewest)


def marks(domain: tuple[date, date], unit: Unit) -> list[date]:
    """The days that are named under a chart over time: at most `MOST_MARKS`, Mondays where days are too many."""
    first, after = domain
    step: Unit = "week" if unit == "day" and (after - first).days > MOST_MARKS else unit
    found = [begin(first, step)]
    while found[-1] < after:
        found.append(following(found[-1], step))
    found = [value for value in found if first <= value < after]
    return found[:: math.ceil(len(found) / MOST_MARKS)]


def dollar_axis(largest: float) -> Spec:
    """The axis of a sum of money up to the largest one."""
    short = "$~s" if largest >= 1000 else "$,.0f" if largest >= 5 else "$,.2f"  # noqa: PLR2004
    return {"format": short, "minExtent": SCALE_WIDTH, "tickCount": 4}


def _middle(first: date, unit: Unit) -> float:
    """Where a unit's name stands: under its middle; a week is called by its Monday, so there."""
    if unit == "week":
        return _epoch_ms(first)
    return (_epoch_ms(first) + _epoch_ms(following(first, unit))) / 2


def _value_axis(largest: float) -> Spec:
    """Few marks, whole numbers only, and the same room for the numbers in every chart."""
    few: Spec = {"values": list(range(math.floor(largest) + 1))} if largest <= 4 else {"tickCount": 4}  # noqa: PLR2004
    short = {"labelExpr": "datum.value ? format(datum.value, '~s') : '0'"} if largest >= 1000 else {"format": "d"}  # noqa: PLR2004
    return {**short, "minExtent": SCALE_WIDTH, **few}


def _colours(series: Sequence[str]) -> Spec:
    colours = [*SERIES, OTHER][: len(series)]
    return {"field": "series", "type": "nominal", "scale": {"domain": list(series), "range": colours}}


def by_hour(counts: Mapping[tuple[int, int], int], what: str) -> Spec:
    """A square for every hour of the week, the fuller the more.

    Args:
        counts: By weekday (0 is Monday) and hour.
        what: What is counted, in the plural.
    """
    rows = [
        {
            "day": name,
            "hour": hour,
            "value": counts.get((number, hour), 0),
            "says": f"{name} {hour:02}:00–{(hour + 1) % 24:02}:00: {counts.get((number, hour), 0):,} {what}",  # noqa: RUF001
        }
        for number, name in enumerate(WEEKDAYS)
        for hour in range(24)
    ]
    return {
        "width": WIDTH,
        "height": 7 * 19,
        "data": {"values": rows},
        "mark": {"type": "rect", "color": SERIES[0], "cornerRadius": 2},
        "encoding": {
            "x": {
                "field": "hour",
                "type": "ordinal",
                "title": None,
                "scale": {"paddingInner": 0.1},
                "axis": {"labelAngle": 0, "ticks": False, "domain": False},
            },
            "y": {
                "field": "day",
                "type": "ordinal",
                "title": None,
                "sort": list(WEEKDAYS),
                "scale": {"paddingInner": 0.1},
                "axis": {"grid": False, "minExtent": SCALE_WIDTH},
            },
            "fillOpacity": {
                "field": "value",
                "type": "quantitative",
                "legend": None,
                "scale": {"type": "sqrt", "range": [0.06, 1]},
            },
            "description": {"field": "says"},
        },
    }


def _edge(value: int) -> str:
    return compact(value).replace(" ", "").replace(".00", "").replace(".0", "")


def by_size(bins: Sequence[Bin], what: str) -> Spec:
    """How many sessions are of which size.

    Args:
        bins: From `sessions_numbers.by_size`.
        what: What the size is counted in, in the plural.
    """
    rows = [
        {
            "size": str(b.low) if b.high == b.low + 1 else f"{_edge(b.low)}–{_edge(b.high)}",  # noqa: RUF001
            "value": b.sessions,
            "says": f"{plural(b.sessions, 'session')} with {b.low:,} to {b.high - 1:,} {what}",
        }
        for b in bins
    ]
    return {
        "width": 400,
        "height": 190,
        "data": {"values": rows},
        "mark": "bar",
        "encoding": {
            "x": {
                "field": "size",
                "type": "ordinal",
                "sort": None,
                "title": f"{what} of a session",
                "axis": {"labelAngle": -40, "ticks": False},
            },
            "y": {
                "field": "value",
                "type": "quantitative",
                "title": None,
                "axis": _value_axis(max((b.sessions for b in bins), default=0)),
            },
            "description": {"field": "says"},
        },
    }


def cache_shares(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """A dot a session: how much of its input came from the cache, by how many model calls it made.

    Args:
        rows: `label`, `model_calls`, `part` (0 to 1); of more than `MOST_DOTS` the first are drawn.
    """
    rows = rows[:MOST_DOTS]
    decades = max(1, math.ceil(math.log10(max((row["model_calls"] for row in rows), default=1) + 1)))
    dots = [
        {
            "calls": row["model_calls"],
            "part": row["part"],
            "says": f"{row['label']}: {share(row['part'], 1)} from the cache, {row['model_calls']:,} model calls",
        }
        for row in rows
    ]
    return {
        "width": 400,
        "height": 190,
        "data": {"values": dots},
        "mark": {"type": "circle", "size": 34, "opacity": 0.55},
        "encoding": {
            "x": {
                "field": "calls",
                "type": "quantitative",
                "title": "model calls of a session",
                "scale": {"type": "log", "domain": [1, 10**decades]},
                "axis": {"format": "~s", "values": [10**decade for decade in range(decades + 1)], "grid": True},
            },
            "y": {
                "field": "part",
                "type": "quantitative",
                "title": None,
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%", "tickCount": 5, "minExtent": SCALE_WIDTH},
            },
            "description": {"field": "says"},
        },
    }


def tools(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Bars for how often each tool was called, and beside them for how often that went wrong.

    Args:
        rows: `tool`, `calls`, `failed`, `rejected`; the most used first.
    """
    named, rest = list(rows[:TOOLS]), rows[TOOLS:]
    if rest:
        sums = {key: sum(row[key] or 0 for row in rest) for key in ("calls", "failed", "rejected")}
        named.append({"tool": f"{len(rest):,} other tools", **sums})
    names = [row["tool"] for row in named]
    used = [{"tool": row["tool"], "value": row["calls"], "told": count(row["calls"])} for row in named]
    for bar in used:
        bar["says"] = f"{bar['tool']}: {plural(bar['value'], 'call')}"
    trouble = [
        {
            "tool": row["tool"],
            "what": what,
            "value": row[key] / row["calls"],
            "says": f"{row['tool']}: {row[key]:,} of {row['calls']:,} {what} ({share(row[key], row['calls'])})",
        }
        for row in named
        for key, what in (("failed", "failed"), ("rejected", "rejected by a person"))
        if row[key]
    ]
    bad = [(row["failed"] or 0) + (row["rejected"] or 0) for row in named]
    told = [
        {"tool": row["tool"], "value": number / row["calls"], "told": share(number, row["calls"])}
        for row, number in zip(named, bad, strict=True)
        if number
    ]
    most = max((row["value"] for row in told), default=0)
    step = {"step": 22}
    y = {
        "field": "tool",
        "type": "nominal",
        "sort": names,
        "title": None,
        "scale": {"domain": names, "paddingInner": 0.25},
    }
    label = {"type": "text", "align": "left", "baseline": "middle", "dx": 5}
    calls = {
        "title": "calls",
        "width": 400,
        "height": step,
        "data": {"values": used},
        "encoding": {
            "y": {**y, "axis": {"grid": False, "labelLimit": 210, "labelColor": "var(--ink)"}},
            "x": {
                "field": "value",
                "type": "quantitative",
                "axis": None,
                "scale": {"domain": [0, max(row["value"] for row in used) * 1.12]},
            },
        },
        "layer": [
            {"mark": "bar", "encoding": {"description": {"field": "says"}}},
            {"mark": label, "encoding": {"text": {"field": "told"}}},
        ],
    }
    failures = {
        "title": "went wrong",
        "width": 220,
        "height": step,
        "encoding": {
            "y": {**y, "axis": None},
            "x": {
                "field": "value",
                "type": "quantitative",
                "axis": None,
                "scale": {"domain": [0, most * 1.3 or 1]},
            },
        },
        "layer": [
            {
                "data": {"values": trouble},
                "mark": "bar",
                "encoding": {
                    "color": {
                        "field": "what",
                        "type": "nominal",
                        "scale": {"domain": ["failed", "rejected by a person"], "range": [BAD, DOUBTFUL]},
                    },
                    "order": {"field": "what"},
                    "description": {"field": "says"},
                },
            },
            {"data": {"values": told}, "mark": label, "encoding": {"text": {"field": "told"}}},
        ],
    }
    return {"hconcat": [calls, failures], "spacing": 24}
