"""A session's timeline as a small drawing for a page that runs no script: lanes of bars, failures in red."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from workbench.reports.render.html import Html, el
from workbench.reports.timeline import Item, Lane, Scale, Timeline

WIDTH: Final = 860
NAMES: Final = 110
"""Room for the lanes' names, of the width."""

ROW: Final = 12
BAR: Final = 8
LEAST: Final = 1.5
"""A shorter bar would not be seen."""

MOST_LANES: Final = 12
"""Sub-agents beyond so many lanes are left to the widget; the drawing says how many."""

COLOURS: Final = {
    "exchange": "var(--c0)",
    "prompt": "var(--c0)",
    "response": "var(--c1)",
    "tool": "var(--c3)",
    "compaction": "var(--c5)",
    "interrupt": "var(--c2)",
}
FAILED: Final = "var(--bad)"


def timeline_svg(timeline: Timeline) -> Html | None:
    """Draw a session along time, or along tokens where it has no times; None where there is nothing to draw.

    Bars of one colour are one path, so that a session of six hundred items takes some 10 kB.
    """
    if not timeline.items:
        return None
    scale: Scale = "time" if "time" in timeline.lengths else "tokens"
    lanes = timeline.lanes[:MOST_LANES]
    tops = _tops(lanes)
    per_unit = (WIDTH - NAMES) / timeline.lengths[scale]
    paths: dict[str, list[str]] = defaultdict(list)
    for item in timeline.items:
        if item.lane < len(lanes):
            paths[FAILED if item.is_failed else COLOURS[item.kind]].append(_bar(item, scale, per_unit, tops[item.lane]))
    names = [
        el("text", lane.name, x=0, y=top + ROW - 3, font_size=10, fill="var(--soft)")
        for lane, top in zip(lanes, tops, strict=True)
    ]
    drawn = [el("path", d="".join(dict.fromkeys(parts)), fill=colour) for colour, parts in paths.items()]
    by = "time, pauses of more than five minutes drawn short" if scale == "time" else "tokens"
    label = f"Timeline along {by}: {len(timeline.items):,} items in {len(timeline.lanes)} lanes."
    height = tops[-1] + lanes[-1].rows * ROW
    return el(
        "svg", names, drawn, class_="chart", viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, role="img", aria_label=label
    )


def _tops(lanes: Sequence[Lane]) -> list[int]:
    tops = [0]
    for lane in lanes[:-1]:
        tops.append(tops[-1] + lane.rows * ROW + 4)
    return tops


def _bar(item: Item, scale: Scale, per_unit: float, top: int) -> str:
    place = item.places.get(scale)
    start, length = (0.0, 0.0) if place is None else place
    wide = max(length * per_unit, LEAST)
    left = min(NAMES + start * per_unit, WIDTH - wide)
    return f"M{left:.1f} {top + item.row * ROW + 2}h{wide:.1f}v{BAR}h-{wide:.1f}z"
