"""The charts of the tuning report as Vega-Lite: small rows in, a specification out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.reports.render.charts import OTHER, SCALE_WIDTH, SERIES, WIDTH

Spec = dict[str, Any]
Row = Mapping[str, Any]

NAMES_WIDTH: Final = 270
"""Room for the names of policies."""
BETWEEN: Final = 40
"""Between two drawings that stand side by side."""

KINDS: Final = {"tuned": SERIES[0], "hand-set": SERIES[1], "learned": SERIES[2], "bound": OTHER}
"""Colours of kinds of policies."""
MARKS: Final = {"in use": SERIES[1], "found": SERIES[0], "without one part": OTHER}
"""Colours of what a weight was."""


def forest(rows: Sequence[Row], order: Sequence[str], measure: str = "lift") -> Spec:
    """Gains with their intervals, side by side for each policy that they are gains over.

    Args:
        rows: `over`, `policy`, `kind`, `gain`, `low`, `high`, `says`.
        order: Names of the policies, from the top.
        measure: What they are gains in.
    """
    x: Spec = {"field": "low", "type": "quantitative", "title": f"gain in {measure}", "axis": _GAIN_AXIS}
    y = _names("policy", order)
    colour = _kinds([row["kind"] for row in rows])
    return _beside(
        rows,
        "over",
        list(dict.fromkeys(f"over {row['over']}" for row in rows)),
        [
            _ZERO,
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": y, "x": x, "x2": {"field": "high"}, "color": colour},
            },
            {"mark": _DOT, "encoding": {"y": y, "x": {**x, "field": "gain"}, "color": colour, "description": _SAYS}},
        ],
    )


def measures(rows: Sequence[Row], order: Sequence[str]) -> Spec:
    """Recall, lift and matched recall of each policy, side by side.

    Args:
        rows: `measure`, `policy`, `kind`, `value`, `says`.
        order: Names of the policies, from the top.
    """
    names = list(dict.fromkeys(row["measure"] for row in rows))
    x: Spec = {
        "field": "value",
        "type": "quantitative",
        "title": None,
        "axis": {"grid": True, "tickCount": 4, "labelFlush": False},
    }
    colour = _kinds([row["kind"] for row in rows])
    dot = {"mark": _DOT, "encoding": {"y": _names("policy", order), "x": x, "color": colour, "description": _SAYS}}
    spec = _beside(rows, "measure", names, [_ZERO, dot])
    spec["resolve"] = {"scale": {"x": "independent"}}
    return spec


def null(rows: Sequence[Row], tolerance: float, measure: str = "lift") -> Spec:
    """The held-out gain beside what chance alone gives, on one scale.

    Args:
        rows: `of`, `gain`, `low`, `high` (None of a single mark) and `says`.
        tolerance: How far the mean on permuted labels may be from 0.
        measure: What they are gains in.
    """
    y = _names("of", list(dict.fromkeys(row["of"] for row in rows)))
    x: Spec = {"field": "gain", "type": "quantitative", "title": f"gain in {measure}", "axis": _GAIN_AXIS}
    single = {"filter": "datum.low === null"}
    whole = {"filter": "datum.low !== null"}
    band: Spec = {
        "data": {"values": [{"from": -tolerance, "to": tolerance}]},
        "mark": {"type": "rect", "color": OTHER, "opacity": 0.18},
        "encoding": {"x": {"field": "from", "type": "quantitative"}, "x2": {"field": "to"}},
    }
    return {
        "width": WIDTH - NAMES_WIDTH,
        "height": {"step": 34},
        "data": {"values": list(rows)},
        "layer": [
            band,
            _ZERO,
            {
                "transform": [single],
                "mark": {"type": "tick", "color": SERIES[1], "thickness": 1.5, "height": 16, "opacity": 1},
                "encoding": {"y": y, "x": x, "description": _SAYS},
            },
            {
                "transform": [whole],
                "mark": {"type": "rule", "strokeWidth": 2, "color": SERIES[0]},
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "transform": [whole],
                "mark": {**_DOT, "color": SERIES[0]},
                "encoding": {"y": y, "x": x, "description": _SAYS},
            },
        ],
    }


def weights(rows: Sequence[Row], title: str = "weight") -> Spec:
    """Each weight: in use, found on all sessions, and found without each part.

    Args:
        rows: `weight`, `kind` (of `MARKS`), `value`, `says`.
        title: Of the axis.
    """
    y = _names("weight", list(dict.fromkeys(row["weight"] for row in rows)))
    x: Spec = {"field": "value", "type": "quantitative", "title": title, "scale": {"padding": 8}}
    x["axis"] = {"grid": True, "tickCount": 6, "labelFlush": False}
    scale = {"domain": list(MARKS), "range": list(MARKS.values())}
    colour: Spec = {"field": "kind", "type": "nominal", "scale": scale}

    def drawn(kinds: Sequence[str], mark: Spec) -> Spec:
        chosen = {"filter": {"field": "kind", "oneOf": list(kinds)}}
        return {
            "transform": [chosen],
            "mark": mark,
            "encoding": {"y": y, "x": x, "color": colour, "description": _SAYS},
        }

    return {
        "width": WIDTH - NAMES_WIDTH,
        "height": {"step": 32},
        "data": {"values": list(rows)},
        "layer": [
            drawn(["without one part"], {"type": "tick", "thickness": 2, "height": 20, "opacity": 1}),
            drawn(
                ["in use"],
                {**_DOT, "type": "point", "shape": "diamond", "size": 260, "strokeWidth": 2, "filled": False},
            ),
            drawn(["found"], {**_DOT, "size": 70}),
        ],
    }


def sensitivity(rows: Sequence[Row]) -> Spec:
    """What becomes of lift when one weight is multiplied.

    Args:
        rows: `weight`, `factor`, `change`, `says`; the factors in order.
    """
    names = list(dict.fromkeys(row["weight"] for row in rows))
    factors = list(dict.fromkeys(row["factor"] for row in rows))
    x = {"field": "factor", "type": "ordinal", "sort": factors, "title": "the weight times", "axis": {"labelAngle": 0}}
    y = {
        "field": "change",
        "type": "quantitative",
        "title": "change in lift",
        "axis": {**_GAIN_AXIS, "labelExpr": _THREE},
    }
    scale = {"domain": names, "range": [SERIES[place % len(SERIES)] for place in range(len(names))]}
    colour = {"field": "weight", "type": "nominal", "scale": scale}
    zero: Spec = {"data": {"values": [{"at": 0}]}, "mark": {"type": "rule", "color": OTHER, "strokeDash": [4, 3]}}
    return {
        "width": WIDTH - SCALE_WIDTH,
        "height": 190,
        "data": {"values": list(rows)},
        "layer": [
            {**zero, "encoding": {"y": {"field": "at", "type": "quantitative"}}},
            {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {"x": x, "y": y, "color": colour}},
            {
                "mark": {"type": "circle", "size": 45, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": colour, "description": _SAYS},
            },
        ],
    }


def progress(rows: Sequence[Row]) -> Spec:
    """The best point so far of each search, trial by trial.

    Args:
        rows: `run`, `trial`, `best`, `says`.
    """
    runs = list(dict.fromkeys(row["run"] for row in rows))
    x: Spec = {"field": "trial", "type": "quantitative", "title": "trials", "scale": {"nice": False}}
    x["axis"] = {"tickMinStep": 1, "format": "d"}
    y: Spec = {"field": "best", "type": "quantitative", "title": "best lift so far, where it is searched"}
    y["scale"] = {"zero": False}
    scale = {"domain": runs, "range": [SERIES[place % len(SERIES)] for place in range(len(runs))]}
    colour = {"field": "run", "type": "nominal", "scale": scale}
    return {
        "width": WIDTH - SCALE_WIDTH,
        "height": 190,
        "data": {"values": list(rows)},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5},
        "encoding": {"x": x, "y": {**y, "axis": {"grid": True, "format": ".3f"}}, "color": colour},
    }


_SAYS: Final = {"field": "says"}
_DOT: Final[Spec] = {"type": "circle", "size": 60, "opacity": 1}
_GAIN_AXIS: Final = {
    "grid": True,
    "tickCount": 5,
    "labelFlush": False,
    "labelExpr": "abs(datum.value) < 1e-9 ? '0' : format(datum.value, '+.3~f')",
}
_THREE: Final = "abs(datum.value) < 1e-9 ? '0' : format(datum.value, '+.3f')"
_ZERO: Final[Spec] = {
    "mark": {"type": "rule", "color": OTHER, "strokeDash": [4, 3]},
    "encoding": {"x": {"datum": 0, "type": "quantitative"}},
}
_HEADER: Final = {"labelColor": "var(--ink)", "labelFontSize": 11, "labelAnchor": "start", "labelLimit": 300}


def _names(field: str, order: Sequence[str]) -> Spec:
    axis = {"minExtent": NAMES_WIDTH, "labelLimit": NAMES_WIDTH - 8, "grid": True}
    return {"field": field, "type": "nominal", "sort": list(order), "title": None, "axis": axis}


def _kinds(found: Sequence[str]) -> Spec:
    kinds = [kind for kind in KINDS if kind in found]
    return {"field": "kind", "type": "nominal", "scale": {"domain": kinds, "range": [KINDS[kind] for kind in kinds]}}


def _beside(rows: Sequence[Row], field: str, names: Sequence[str], layer: Sequence[Spec]) -> Spec:
    """The same drawing for each value of a field, side by side, the names at the left alone."""
    told = [{**row, "column": f"over {row[field]}" if field == "over" else row[field]} for row in rows]
    width = (WIDTH - NAMES_WIDTH - BETWEEN * (len(names) - 1)) // len(names)
    return {
        "data": {"values": told},
        "facet": {
            "column": {"field": "column", "type": "nominal", "sort": list(names), "title": None, "header": _HEADER}
        },
        "spacing": BETWEEN,
        "spec": {"width": width, "height": {"step": 24}, "layer": list(layer)},
    }
