"""The charts of the vault report as Vega-Lite: small rows in, a specification out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.reports.render.charts import OTHER, SCALE_WIDTH, SERIES, WIDTH
from workbench.reports.render.numbers import count, plural

Spec = dict[str, Any]
Row = Mapping[str, Any]

DEGREES: Final = ((0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, 64), (65, None))
"""Links of a note, in and out, by which notes are counted: each step twice as wide."""
NAMES_WIDTH: Final = 210
GROWN: Final = {"notes": SERIES[0], "links": SERIES[1]}


def degree_rows(degrees: Sequence[int]) -> list[dict[str, Any]]:
    """How many notes have how many links: `links` (such as 3 to 4), `notes`."""
    rows = []
    for low, high in DEGREES:
        number = sum(low <= degree and (high is None or degree <= high) for degree in degrees)
        name = f"{low}" if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        rows.append({"links": name, "notes": number})
    while len(rows) > 1 and not rows[-1]["notes"]:
        rows.pop()
    return rows


def degrees(rows: Sequence[Row]) -> Spec:
    """Notes by their number of links.

    Args:
        rows: From `degree_rows`.
    """
    told = [{**row, "says": f"{plural(row['notes'], 'note')} with {row['links']} links"} for row in rows]
    x = {
        "field": "links",
        "type": "nominal",
        "sort": None,
        "title": "links of a note, in and out",
        "axis": {"labelAngle": 0},
    }
    y = {
        "field": "notes",
        "type": "quantitative",
        "title": None,
        "axis": {"minExtent": SCALE_WIDTH, "tickCount": 4, "tickMinStep": 1, "format": "d"},
    }
    return {
        "width": WIDTH,
        "height": 150,
        "data": {"values": told},
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {"x": x, "y": y, "description": {"field": "says"}},
    }


def central(rows: Sequence[Row]) -> Spec:
    """The notes that most lead to, as bars.

    Args:
        rows: `name`, unlike each other, and `pagerank`, largest first.
    """
    told = [{**row, "says": f"{row['name']}: PageRank {row['pagerank']:.4f}"} for row in rows]
    y = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"minExtent": NAMES_WIDTH, "labelLimit": NAMES_WIDTH, "domain": False, "ticks": False},
    }
    x = {"field": "pagerank", "type": "quantitative", "title": "PageRank", "axis": {"grid": True, "tickCount": 5}}
    return {
        "width": WIDTH - NAMES_WIDTH,
        "height": {"step": 22},
        "data": {"values": told},
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {"x": x, "y": y, "description": {"field": "says"}},
    }


def growth(rows: Sequence[Row]) -> Spec:
    """Notes and links over time, two drawings under each other with scales of their own.

    Args:
        rows: `committed_at` (ISO), `notes`, `links`.
    """
    return {"spacing": 22, "vconcat": [_grown(rows, name, colour) for name, colour in GROWN.items()]}


def _grown(rows: Sequence[Row], name: str, colour: str) -> Spec:
    told = [
        {
            "at": row["committed_at"],
            "value": row[name],
            "says": f"{row['committed_at'][:10]}: {count(row[name])} {name}",
        }
        for row in rows
    ]
    x = {"field": "at", "type": "temporal", "title": None, "axis": {"tickCount": 8}}
    y = {
        "field": "value",
        "type": "quantitative",
        "title": None,
        "axis": {"minExtent": SCALE_WIDTH, "tickCount": 4, "format": "d", "tickMinStep": 1},
    }
    shared = {"x": x, "y": y}
    return {
        "title": name,
        "width": WIDTH,
        "height": 110,
        "data": {"values": told},
        "layer": [
            {
                "mark": {"type": "line", "interpolate": "step-after", "color": colour, "strokeWidth": 2},
                "encoding": shared,
            },
            {
                "mark": {"type": "circle", "size": 22, "color": colour, "opacity": 1},
                "encoding": {**shared, "description": {"field": "says"}},
            },
        ],
    }


def factors(rows: Sequence[Row]) -> Spec:
    """What is left of 100 points after each factor of the health score.

    Args:
        rows: `name`, `before`, `after`: points before and after it.
    """
    told = []
    for row in rows:
        told.append(
            {
                "name": row["name"],
                "from": 0,
                "to": row["after"],
                "part": "left",
                "says": f"{row['name']}: {row['after']:.1f} points left",
            }
        )
        told.append(
            {
                "name": row["name"],
                "from": row["after"],
                "to": row["before"],
                "part": "lost",
                "says": f"{row['name']}: {row['before'] - row['after']:.1f} points lost",
            }
        )
    y = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"minExtent": NAMES_WIDTH, "labelLimit": NAMES_WIDTH, "domain": False, "ticks": False},
    }
    x = {
        "field": "from",
        "type": "quantitative",
        "title": "points",
        "scale": {"domain": [0, 100]},
        "axis": {"grid": True},
    }
    colour = {"field": "part", "type": "nominal", "scale": {"domain": ["left", "lost"], "range": [SERIES[0], OTHER]}}
    return {
        "width": WIDTH - NAMES_WIDTH,
        "height": {"step": 24},
        "data": {"values": told},
        "mark": "bar",
        "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "color": colour, "description": {"field": "says"}},
    }
