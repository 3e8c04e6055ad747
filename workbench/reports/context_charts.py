"""The charts of the context report as Vega-Lite: small rows in, a specification out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from workbench.reports.context_numbers import age_name
from workbench.reports.render.charts import BAD, DOUBTFUL, OTHER, SCALE_WIDTH, SERIES, WIDTH
from workbench.reports.render.numbers import compact, count, plural, share

Spec = dict[str, Any]
Row = Mapping[str, Any]

ENGINE: Final = "engine"
CLASSIC: Final = "classic: the whole history"
_MODES: Final = {ENGINE: SERIES[0], CLASSIC: SERIES[1]}

NAMES_WIDTH: Final = 110
"""Room for names left of a drawing; browsers' letters are wider than those that Vega counts with."""

SMALL_WIDTH: Final = 236
"""Of one session's drawing: three stand side by side."""

_TOKEN_AXIS: Final = {
    "labelExpr": "datum.value ? format(datum.value, '~s') : '0'", "minExtent": SCALE_WIDTH, "tickCount": 4,
}  # fmt: skip


def exchanges(row: Row) -> str:
    """What a place of a chart is called: exchange 4, exchanges 4-6; its own name where it has one."""
    if "where" in row:
        return str(row["where"])
    first, last = row["turn"], row.get("last_turn", row["turn"])
    return f"exchange {first:,}" if first == last else f"exchanges {first:,}–{last:,}"  # noqa: RUF001


def _along(rows: Sequence[Row], title: str | None = "exchange") -> Spec:
    last = max((row.get("last_turn", row["turn"]) for row in rows), default=1)
    axis: Spec = {"format": "d", "tickMinStep": 1, "grid": False}
    scale = {"domain": [min(1, last), max(last, 2)], "nice": False, "padding": 6}
    return {"field": "turn", "type": "quantitative", "title": title, "axis": axis, "scale": scale}


def _colour(colours: Mapping[str, str], *, legend: bool = True) -> Spec:
    scale = {"domain": list(colours), "range": list(colours.values())}
    return {"field": "series", "type": "nominal", "scale": scale, **({} if legend else {"legend": None})}


def _lines(rows: Sequence[Row], x: Spec, y: Spec, colour: Spec, size: int = 26) -> list[Spec]:
    """Lines, and a dot at each place that says what it is."""
    shared = {"x": x, "y": y, "color": colour}
    return [
        {"data": {"values": list(rows)}, "mark": {"type": "line", "strokeWidth": 2}, "encoding": shared},
        {
            "data": {"values": list(rows)},
            "mark": {"type": "circle", "size": size, "opacity": 1},
            "encoding": {**shared, "description": {"field": "says"}},
        },
    ]


def tokens(rows: Sequence[Row], along: str = "exchange") -> Spec:
    """What engine and classic would have sent at each exchange, all sessions together.

    Args:
        rows: From `context_numbers.by_turn`.
        along: What the places are.
    """
    told = [
        {
            "turn": row["turn"],
            "series": series,
            "value": row[key],
            "says": f"{exchanges(row)}: {compact(row[key])} tokens, {series}; {plural(row['sessions'], 'session')}",
        }
        for row in rows
        for series, key in ((ENGINE, "engine_tokens"), (CLASSIC, "classic_tokens"))
    ]
    y = {"field": "value", "type": "quantitative", "title": None, "axis": _TOKEN_AXIS, "scale": {"zero": True}}
    return {"width": WIDTH, "height": 200, "layer": _lines(told, _along(rows, along), y, _colour(_MODES))}


def sessions(rows: Sequence[Row]) -> Spec:
    """The same for single sessions, a small drawing each with a scale of its own.

    Args:
        rows: From `context_numbers.by_session`, with `label`.
    """
    return {"columns": 3, "spacing": 26, "concat": [_one_session(row) for row in rows]}


def _one_session(row: Row) -> Spec:
    told = [
        {
            "turn": turn["turn"],
            "series": series,
            "value": turn[key],
            "says": f"{row['label']}, exchange {turn['turn']}: {count(turn[key])} tokens, {series}",
        }
        for turn in row["turns"]
        for series, key in ((ENGINE, "engine"), (CLASSIC, "classic"))
    ]
    y = {"field": "value", "type": "quantitative", "title": None, "axis": {**_TOKEN_AXIS, "tickCount": 3}}
    layer = _lines(told, _along(row["turns"], None), y, _colour(_MODES, legend=False), size=16)
    return {"title": row["label"], "width": SMALL_WIDTH, "height": 84, "layer": layer}


PRESSURES: Final = {"median": "pressure_median", "highest": "pressure_most"}
"""Lines of pressure over several sessions, and the keys of their values."""
FINE: Final = 0.08
"""Below it whole per cent would stand beside several marks of the scale."""
NEAR: Final = 0.5
"""Thresholds are drawn when a prompt comes as near to the lower one as this part of it, else they press lines flat."""


def pressure(
    rows: Sequence[Row],
    compact_at: float,
    emergency_at: float,
    *,
    series: Mapping[str, str] = PRESSURES,
    along: str = "exchange",
) -> Spec:
    """How full prompts are at each exchange, with the thresholds from which they get tighter.

    Args:
        rows: From `context_numbers.by_turn`.
        compact_at: Above it older digests go.
        emergency_at: Above it only the bare needs stay.
        series: Names of the lines, and the keys of their values.
        along: What the places are.
    """
    told = [
        {
            "turn": row["turn"],
            "series": name,
            "value": row[key],
            "says": f"{exchanges(row)}: {name} {row[key]:.3f} of {plural(row['prompts'], 'prompt')}",
        }
        for row in rows
        for name, key in series.items()
    ]
    most = max((row["value"] for row in told), default=0.0)
    top = (max(emergency_at, most) if most > compact_at * NEAR else most) * 1.08
    scale = {"domain": [0, top or 1], "nice": False}
    axis = {"format": ".0%" if top > FINE else ".1%", "minExtent": SCALE_WIDTH, "tickCount": 5}
    y = {"field": "value", "type": "quantitative", "title": None, "axis": axis, "scale": scale}
    limits = [
        _limit(value, name, colour)
        for value, name, colour in ((compact_at, "compact above", DOUBTFUL), (emergency_at, "emergency above", BAD))
        if value <= top
    ]
    colours = dict(zip(series, (SERIES[0], OTHER), strict=False))
    lines = _lines(told, _along(rows, along), y, _colour(colours, legend=len(colours) > 1))
    return {"width": WIDTH, "height": 190, "layer": [*(part for limit in limits for part in limit), *lines]}


def _limit(value: float, name: str, colour: str) -> list[Spec]:
    at = {"y": {"datum": value, "type": "quantitative"}}
    label = {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -2, "text": f"{name} {value:.0%}"}
    values: Spec = {"data": {"values": [{}]}}
    return [
        {**values, "mark": {"type": "rule", "color": colour, "strokeDash": [4, 3]}, "encoding": at},
        {**values, "mark": label, "encoding": {**at, "x": {"value": 0}}},
    ]


def sections(rows: Sequence[Row], series: Sequence[str]) -> Spec:
    """Stacked bars: mean tokens of each part of a prompt at each exchange.

    Args:
        rows: From `context_numbers.sections_by_turn`, small parts summed under the last of `series`.
        series: Names of the parts in the order of the colours, from the ground up.
    """
    places = sorted({row["turn"] for row in rows})
    step = min((after - before for before, after in pairwise(places)), default=1)
    ground: dict[int, float] = {}
    bars = []
    for row in sorted(rows, key=lambda row: (row["turn"], list(series).index(row["section"]))):
        low = ground.get(row["turn"], 0.0)
        ground[row["turn"]] = low + row["tokens"]
        bars.append(
            {
                "turn": row["turn"] - 0.4 * step,
                "end": row["turn"] + 0.4 * step,
                "low": low,
                "high": low + row["tokens"],
                "series": row["section"],
                "says": f"{exchanges(row)}: {compact(row['tokens'])} tokens of {row['section']} in the mean",
            }
        )
    span = {"domain": [places[0] - step / 2, places[-1] + step / 2], "nice": False} if places else {}
    x = {**_along(rows), "scale": span}
    colours = dict(zip(series, [*SERIES, OTHER], strict=False))
    y = {"field": "low", "type": "quantitative", "title": None, "axis": _TOKEN_AXIS, "scale": {"nice": True}}
    encoding = {
        "x": x,
        "x2": {"field": "end"},
        "y": y,
        "y2": {"field": "high"},
        "color": _colour(colours),
        "description": {"field": "says"},
    }
    return {"width": WIDTH, "height": 200, "data": {"values": bars}, "mark": "rect", "encoding": encoding}


KEPT: Final = "kept"
SAVED: Final = "saved"


def distillers(rows: Sequence[Row]) -> Spec:
    """Bars: what each distiller was given, parted into what it kept and what it saved.

    Args:
        rows: From `context_numbers.distiller_rows`.
    """
    bars = [
        {
            "distiller": row["distiller"],
            "series": series,
            "low": low,
            "high": high,
            "says": f"{row['distiller']}: {count(high - low)} of {count(row['input_tokens'])} tokens {series} "
            f"in {plural(row['runs'], 'run')}",
        }
        for row in rows
        for series, low, high in (
            (KEPT, 0, min(row["output_tokens"], row["input_tokens"])),
            (SAVED, min(row["output_tokens"], row["input_tokens"]), row["input_tokens"]),
        )
    ]
    names = [row["distiller"] for row in rows]
    told = [
        {
            "distiller": row["distiller"],
            "high": row["input_tokens"],
            "text": f"{share(max(row['saved_tokens'], 0), row['input_tokens'])} saved",
        }
        for row in rows
    ]
    most = max((row["input_tokens"] for row in rows), default=1) or 1
    y = {"field": "distiller", "type": "nominal", "sort": names, "title": None}
    x = {
        "field": "low",
        "type": "quantitative",
        "title": "tokens",
        "scale": {"domain": [0, most * 1.14], "nice": False},
        "axis": {"labelExpr": "format(datum.value, '~s')", "tickCount": 6, "grid": True},
    }
    return {
        "width": WIDTH - NAMES_WIDTH + SCALE_WIDTH,
        "height": {"step": 26},
        "encoding": {
            "y": {
                **y,
                "axis": {"grid": False, "labelColor": "var(--ink)", "minExtent": NAMES_WIDTH},
                "scale": {"paddingInner": 0.3},
            }
        },
        "layer": [
            {
                "data": {"values": bars},
                "mark": "bar",
                "encoding": {
                    "x": x,
                    "x2": {"field": "high"},
                    "color": _colour({KEPT: SERIES[0], SAVED: OTHER}),
                    "description": {"field": "says"},
                },
            },
            {
                "data": {"values": told},
                "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": 5},
                "encoding": {"x": {"field": "high", "type": "quantitative"}, "text": {"field": "text"}},
            },
        ],
    }


def inclusion(rows: Sequence[Row], ages: Sequence[tuple[int, int | None]]) -> Spec:
    """A field for each kind and age of unit, the fuller the more often it was in the prompt.

    Args:
        rows: From `context_numbers.inclusion`.
        ages: Their ages, from young to old.
    """
    fields = [
        {
            "kind": row["unit_type"],
            "age": row["age"],
            "part": row["part"],
            "text": share(row["included"], row["offered"]),
            "says": f"{row['unit_type']}, {row['age']} exchanges old: {row['included']:,} of {row['offered']:,} in it",
        }
        for row in rows
    ]
    there = {row["age"] for row in rows}
    names = [name for low, high in ages if (name := age_name(low, high)) in there]
    scale = {"paddingInner": 0.06}
    names_axis = {"grid": False, "minExtent": NAMES_WIDTH}
    shared: Spec = {
        "x": {"field": "age", "type": "ordinal", "sort": names, "title": "age in exchanges", "scale": scale},
        "y": {"field": "kind", "type": "nominal", "title": None, "scale": scale, "axis": names_axis},
    }
    shared["x"]["axis"] = {"labelAngle": 0, "ticks": False, "domain": False}
    opacity = {
        "field": "part",
        "type": "quantitative",
        "legend": None,
        "scale": {"domain": [0, 1], "range": [0.06, 0.6]},
    }
    return {
        "width": WIDTH - NAMES_WIDTH + SCALE_WIDTH,
        "height": {"step": 40},
        "data": {"values": fields},
        "encoding": shared,
        "layer": [
            {
                "mark": {"type": "rect", "color": SERIES[0], "cornerRadius": 2},
                "encoding": {"fillOpacity": opacity, "description": {"field": "says"}},
            },
            {"mark": {"type": "text", "color": "var(--ink)"}, "encoding": {"text": {"field": "text"}}},
        ],
    }
