"""The charts of the telemetry report as Vega-Lite: small rows in, a specification out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.reports.render.charts import OTHER, SCALE_WIDTH, SERIES, WIDTH

Spec = dict[str, Any]
Row = Mapping[str, Any]

NAMES_WIDTH: Final = 190
"""Room for the names of metrics left of the forest plot."""
WIDEST_SHARE: Final = 3.0
"""A difference of more than three times the baseline's mean is drawn at the edge; the table has its figure."""
SMALL_WIDTH: Final = 330
"""Of one metric's distributions: two stand side by side."""


def forest(rows: Sequence[Row], arms: Sequence[str]) -> Spec:
    """Each metric's difference and interval, over the baseline's mean.

    Args:
        rows: `metric`, `arm`, `share`, `low`, `high` (parts of the baseline's mean; ends may be None) and `says`.
        arms: Their names, the baseline left out.
    """
    drawn = [{**row, **{key: _edge(row[key]) for key in ("share", "low", "high")}} for row in rows]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    y: Spec = {"field": "metric", "type": "nominal", "sort": metrics, "title": None}
    y["axis"] = {"minExtent": NAMES_WIDTH, "labelLimit": NAMES_WIDTH, "grid": True}
    shift: Spec = {"yOffset": {"field": "arm", "sort": list(arms)}} if len(arms) > 1 else {}
    scale = {"domain": list(arms), "range": list(SERIES[: len(arms)])}
    colour: Spec = {"field": "arm", "type": "nominal", "scale": scale}
    x: Spec = {"field": "low", "type": "quantitative", "title": "difference over the baseline's mean"}
    x["axis"] = {"format": "+.0%", "grid": True}
    zero: Spec = {"data": {"values": [{"at": 0}]}, "mark": {"type": "rule", "color": OTHER, "strokeDash": [4, 3]}}
    return {
        "width": WIDTH - NAMES_WIDTH + SCALE_WIDTH,
        "height": {"step": 26 if len(arms) == 1 else 14},
        "data": {"values": drawn},
        "layer": [
            {**zero, "encoding": {"x": {"field": "at", "type": "quantitative"}}},
            {
                "transform": [{"filter": "datum.low !== null && datum.high !== null"}],
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": y, **shift, "x": x, "x2": {"field": "high"}, "color": colour},
            },
            {
                "mark": {"type": "circle", "size": 60, "opacity": 1},
                "encoding": {
                    "y": y,
                    **shift,
                    "x": {**x, "field": "share"},
                    "color": colour,
                    "description": {"field": "says"},
                },
            },
        ],
    }


def distributions(rows: Sequence[Row], arms: Sequence[str]) -> Spec:
    """How sessions of each arm lie, a small drawing a metric: the middle half as a bar, 5 to 95 % as a line.

    Args:
        rows: `metric`, `arm`, `q05`, `q25`, `median`, `q75`, `q95` and `says`.
        arms: All names, the baseline first.
    """
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    y: Spec = {"field": "arm", "type": "nominal", "sort": list(arms), "title": None, "axis": {"labelLimit": 90}}
    scale = {"domain": list(arms), "range": [OTHER, *SERIES][: len(arms)]}
    colour: Spec = {"field": "arm", "type": "nominal", "scale": scale, "legend": None}
    small = "abs(datum.value) < 1 ? format(datum.value, '.2~f') : format(datum.value, '~s')"
    axis = {"tickCount": 4, "labelExpr": small}

    def from_to(low: str, high: str, mark: Spec) -> Spec:
        x = {"field": low, "type": "quantitative", "title": None, "axis": axis, "scale": {"zero": False}}
        return {"mark": mark, "encoding": {"y": y, "x": x, "x2": {"field": high}, "color": colour}}

    middle = {"field": "median", "type": "quantitative", "title": None, "axis": axis}
    return {
        "data": {"values": list(rows)},
        "facet": {"field": "metric", "type": "nominal", "sort": metrics, "title": None, "header": _HEADER},
        "columns": 2,
        "spec": {
            "width": SMALL_WIDTH,
            "height": {"step": 22},
            "layer": [
                from_to("q05", "q95", {"type": "rule", "strokeWidth": 1.5}),
                from_to("q25", "q75", {"type": "bar", "height": 10}),
                {
                    "mark": {"type": "tick", "color": "var(--ink)", "thickness": 2, "height": 14},
                    "encoding": {"y": y, "x": middle, "description": {"field": "says"}},
                },
            ],
        },
        "resolve": {"scale": {"x": "independent"}},
    }


_HEADER: Final = {"labelColor": "var(--ink)", "labelFontSize": 11, "labelAnchor": "start", "labelOrient": "top"}


def _edge(value: float | None) -> float | None:
    return None if value is None else max(-WIDEST_SHARE, min(WIDEST_SHARE, value))
