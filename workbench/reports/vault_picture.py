"""The picture of a vault on a page: notes as circles in the colour of their group, links as lines, without a script."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from workbench.reports.note_map import COLOURS, Grouping, NoteMap
from workbench.reports.render.charts import OTHER, SERIES
from workbench.reports.render.html import Html, el
from workbench.reports.render.numbers import count
from workbench.reports.render.text import shorten

SIDE: Final = 620
"""Height of the drawing; it is made wider."""
WIDTH: Final = 860
MOST_NOTES: Final = 1500
"""Circles on a page: 150 kB; of larger vaults the best linked notes are drawn."""
MOST_LINKS: Final = 4000
LABELS: Final = 26
LETTERS: Final = 26
NAME_LETTERS: Final = 60
SMALLEST: Final = 2.2
LARGEST: Final = 11.0
LETTER_WIDTH: Final = 6.2
SMALL: Final = "var(--soft)"
"""Colour of groups without one of their own."""
NONE: Final = OTHER
COVERED: Final = 0.5
"""A grouping that leaves more notes without a group gives way to the next."""


def picture(drawn: NoteMap) -> Html:
    """Draw a map, coloured by the first of its groupings that covers it.

    Args:
        drawn: From `note_map`.
    """
    kept = np.sort(np.argsort(-drawn.sizes["links"], kind="stable")[:MOST_NOTES])
    places = _placed(drawn.places, kept)
    radii = _radii(drawn.sizes["links"], len(kept))
    name, grouping = first_grouping(drawn)
    colours = _colours(grouping)
    ends = drawn.links[np.isin(drawn.links, kept).all(axis=1)][:MOST_LINKS]
    lines = [el("path", d="".join(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" for x1, y1, x2, y2 in _ends(ends, places)))]
    circles = [
        el(
            "circle",
            el("title", f"{drawn.titles[note]}\n{grouping.names[grouping.of[note]]}"),
            cx=f"{places[note, 0]:.1f}",
            cy=f"{places[note, 1]:.1f}",
            r=f"{radii[note]:.1f}",
            fill=colours[grouping.of[note]],
        )
        for note in kept[np.argsort(radii[kept], kind="stable")]
    ]
    shown = "" if len(kept) == len(drawn.paths) else f", the {count(len(kept))} best linked"
    label = f"{count(len(drawn.paths))} notes{shown} and {count(len(ends))} links, coloured by {name}."
    return el(
        "svg",
        el("g", lines, stroke=OTHER, stroke_width=0.7, stroke_opacity=0.45, fill="none"),
        el("g", circles, stroke="var(--paper)", stroke_width=1),
        el("g", _labels(drawn, kept, places, radii), fill="var(--ink)", font_size=11, text_anchor="middle"),
        class_="chart",
        viewBox=f"0 0 {WIDTH} {SIDE}",
        width=WIDTH,
        role="img",
        aria_label=label,
    )


def legend(drawn: NoteMap) -> Html:
    """What the colours of the picture mean."""
    name, grouping = first_grouping(drawn)
    colours = _colours(grouping)
    sizes = dict(zip(grouping.names, grouping.sizes, strict=True))
    own = [(group, colour) for group, colour in zip(grouping.names, colours, strict=True) if colour in SERIES]
    rows = [(group, sizes[group], colour) for group, colour in own]
    small = sum(size for size, colour in zip(grouping.sizes, colours, strict=True) if colour == SMALL)
    rows += [("other groups", small, SMALL)] if small else []
    rows += [(grouping.names[-1], grouping.sizes[-1], NONE)] if grouping.sizes[-1] else []
    keys = [
        el("div", el("dt", _chip(colour), f" {shorten(group, NAME_LETTERS)}"), el("dd", count(size)))
        for group, size, colour in rows
    ]
    return el("dl", el("div", el("dt", f"by {name}")), keys, class_="facts")


def first_grouping(drawn: NoteMap) -> tuple[str, Grouping]:
    """The first of a map's groupings that has a group for most notes, else the first; and its name."""
    names = [name for name in (COLOURS[0], COLOURS[2], COLOURS[1]) if name in drawn.groupings]
    covering = (name for name in names if drawn.groupings[name].sizes[-1] <= (1 - COVERED) * len(drawn.paths))
    name = next(covering, names[0])
    return name, drawn.groupings[name]


def _chip(colour: str) -> Html:
    circle = el("circle", cx=5, cy=5, r=5, fill=colour)
    return el("svg", circle, viewBox="0 0 10 10", width=10, height=10, aria_hidden="true")


def _colours(grouping: Grouping) -> list[str]:
    own = min(grouping.coloured, len(SERIES))
    return [*SERIES[:own], *[SMALL] * (len(grouping.names) - 1 - own), NONE]


def _placed(places: NDArray[np.float32], kept: NDArray[np.intp]) -> NDArray[np.float64]:
    """Places in the drawing; the notes that are drawn fill it."""
    if not len(kept):
        return np.zeros((0, 2))
    low, high = places[kept].min(axis=0), places[kept].max(axis=0)
    room = np.array([WIDTH - 120, SIDE - 50])
    scale = float((room / np.maximum(high - low, 0.05)).min())
    return np.asarray((places - (low + high) / 2) * scale + np.array([WIDTH, SIDE]) / 2, dtype=np.float64)


def _radii(sizes: NDArray[np.float32], drawn: int) -> NDArray[np.float64]:
    dense = min(1.0, max(0.4, np.sqrt(150 / max(1, drawn))))
    return np.asarray((SMALLEST + (LARGEST - SMALLEST) * np.sqrt(sizes)) * dense, dtype=np.float64)


def _ends(ends: NDArray[np.int32], places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([places[ends[:, 0]], places[ends[:, 1]]], axis=1)


def _labels(
    drawn: NoteMap, kept: NDArray[np.intp], places: NDArray[np.float64], radii: NDArray[np.float64]
) -> list[Html]:
    """Names of the best linked notes, where they hide neither each other nor another note."""
    made: list[Html] = []
    taken: list[tuple[float, float, float, float]] = []
    for note in kept[np.argsort(-radii[kept], kind="stable")]:
        if len(made) == LABELS:
            break
        title = drawn.titles[note]
        text = title if len(title) <= LETTERS else f"{title[: LETTERS - 1]}…"
        half = LETTER_WIDTH * len(text) / 2
        x, r = float(places[note, 0]), float(radii[note])
        for y in (float(places[note, 1]) + r + 11, float(places[note, 1]) - r - 4):
            box = (x - half, y - 11, x + half, y + 3)
            if box[0] > 0 and box[2] < WIDTH and box[3] < SIDE and _is_free(box, taken, note, kept, places, radii):
                taken.append(box)
                made.append(el("text", text, x=f"{x:.1f}", y=f"{y:.1f}"))
                break
    return made


def _is_free(
    box: tuple[float, float, float, float],
    taken: list[tuple[float, float, float, float]],
    note: int,
    kept: NDArray[np.intp],
    places: NDArray[np.float64],
    radii: NDArray[np.float64],
) -> bool:
    left, top, right, bottom = box
    if any(a < right and left < c and b < bottom and top < d for a, b, c, d in taken):
        return False
    others = kept[kept != note]
    x, y, r = places[others, 0], places[others, 1], radii[others] * 0.7
    return not bool(((x + r > left) & (x - r < right) & (y + r > top) & (y - r < bottom)).any())
