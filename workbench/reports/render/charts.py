"""Charts as SVG in the page: drawn by Vega-Lite, coloured by the page's own style sheet, without a script.

Every string of a chart goes through `visible` before it is drawn, and what comes back is rebuilt element by element
through `el`; so a chart can hold no more than any other part of a page. Colours are the style sheet's variables
(`var(--c1)`): one drawing serves light, dark and paper. A mark's `description` becomes what the pointer shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree as ET

import vl_convert

from workbench.reports.render.html import ATTRIBUTES, Child, Html, el, fragment
from workbench.reports.render.tables import Column, Row, table
from workbench.reports.render.text import visible

VEGA_LITE: Final = "6.4"
"""The version of the drawing, not of the package: fixed, so that an update changes no report unseen."""

WIDTH: Final = 860
"""Width of a drawing's inside in pixels, its scale apart; the page makes it smaller where it must."""

SCALE_WIDTH: Final = 46
"""Room for the numbers left of the drawing: the same in all, so that days stand above days."""

SERIES: Final = tuple(f"var(--c{number})" for number in range(1, 6))
"""Colours of series that are told apart; for more of them there is `OTHER`."""
OTHER: Final = "var(--c0)"
GOOD: Final = "var(--c1)"
BAD: Final = "var(--bad)"
DOUBTFUL: Final = "var(--doubt)"

_AXIS: Final = {
    "labelColor": "var(--soft)",
    "titleColor": "var(--soft)",
    "gridColor": "var(--grid)",
    "domainColor": "var(--grid)",
    "tickColor": "var(--grid)",
    "labelFontSize": 11,
    "titleFontSize": 11,
    "titleFontWeight": "normal",
    "titlePadding": 8,
}

THEME: Final[dict[str, Any]] = {
    "view": {"stroke": None},
    "axis": _AXIS,
    "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
    "axisX": {"grid": False},
    "legend": {
        "orient": "top",
        "title": None,
        "labelColor": "var(--ink)",
        "labelFontSize": 11,
        "labelLimit": 260,
        "symbolType": "square",
        "symbolSize": 80,
        "columnPadding": 18,
        "offset": 10,
    },
    "bar": {"color": GOOD},
    "circle": {"color": GOOD},
    "text": {"color": "var(--soft)", "fontSize": 11},
    "title": {"color": "var(--ink)", "fontSize": 12, "fontWeight": 600, "anchor": "start"},
}

_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")

_SVG: Final = frozenset({"g", "path", "rect", "line", "circle", "text", "tspan", "defs", "clipPath"})
_KEPT: Final = ATTRIBUTES - {"class", "role", "title", "aria-hidden", "aria-label"}


def svg(spec: Mapping[str, Any], *, id: str, label: str) -> Html:  # noqa: A002
    """Draw a chart.

    Args:
        spec: Vega-Lite; its data are in it, aggregated.
        id: A name that no other chart of the page has.
        label: What it shows, in a sentence, for those who do not see it.
    """
    told = _changed({"background": None, "padding": 2, **spec, "config": THEME}, visible)
    root = ET.fromstring(_drawn(told))  # noqa: S314  (our own renderer's, made of escaped text)
    places = _Places(id)
    inside = [_rebuilt(child, places) for child in root]
    return el(
        "svg",
        inside,
        class_="chart",
        viewBox=root.get("viewBox"),
        width=root.get("width"),
        role="img",
        aria_label=label,
    )


def _drawn(told: Any) -> str:
    """The drawing; where Vega cut a label inside a character (it counts in UTF-16), with such characters replaced."""
    try:
        return vl_convert.vegalite_to_svg(told, vl_version=VEGA_LITE, allowed_base_urls=[])
    except ValueError as error:
        if "hex escape" not in str(error):
            raise
        plain = _changed(told, lambda text: _ASTRAL.sub("\N{REPLACEMENT CHARACTER}", text))
        return vl_convert.vegalite_to_svg(plain, vl_version=VEGA_LITE, allowed_base_urls=[])


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _changed(item, change) for key, item in value.items()}
    return [_changed(item, change) for item in value] if isinstance(value, list | tuple) else value


class _Places(dict[str, str]):
    """Our names for the places that a drawing refers to.

    Several charts stand on one page; and the renderer counts its places over all it ever drew, which would make the
    same numbers give other files.
    """

    def __init__(self, chart_id: str) -> None:
        super().__init__()
        self._chart_id = chart_id

    def __missing__(self, name: str) -> str:
        self[name] = f"{self._chart_id}-place{len(self)}"
        return self[name]


def _rebuilt(element: ET.Element, places: _Places) -> Child:
    tag = element.tag.rpartition("}")[2]
    is_unseen = element.get("display") == "none" or element.get("opacity") == "0"
    if tag not in _SVG or is_unseen or (tag == "path" and not _is_drawn(element)):
        return None
    kept = {name: value for name, value in element.attrib.items() if name in _KEPT}
    if kept.get("opacity") == "1":
        del kept["opacity"]
    if "id" in kept:
        kept["id"] = places[kept["id"]]
    if "clip-path" in kept:
        kept["clip-path"] = f"url(#{places[kept['clip-path'].removeprefix('url(#').removesuffix(')')]})"
    told = element.get("aria-label") if tag != "g" else None
    children = [el("title", told) if told else None, element.text, [_rebuilt(child, places) for child in element]]
    if tag == "g" and (not kept or not len(element)):
        return fragment(*children)
    return el(tag, *children, **kept)


def _is_drawn(path: ET.Element) -> bool:
    return bool(path.get("d")) and path.get("class") not in ("background", "foreground")


def chart(
    spec: Mapping[str, Any],
    *,
    id: str,  # noqa: A002
    title: str,
    label: str,
    note: Child = None,
    numbers: tuple[Sequence[Row], Sequence[Column]] | None = None,
) -> Html:
    """A chart with its heading, and the numbers it was drawn from to unfold.

    Args:
        spec: As for `svg`.
        id: Its element id.
        title: What stands above it.
        label: As for `svg`.
        note: What stands below it.
        numbers: Rows and columns of the table of its numbers.
    """
    return el(
        "figure",
        el("h3", title),
        el("div", svg(spec, id=id, label=label), class_="drawing"),
        el("figcaption", note) if note else None,
        el("details", el("summary", "The numbers"), table(*numbers, label=title)) if numbers else None,
        id=id,
    )
