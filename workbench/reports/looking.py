"""What the notebooks show of sessions: frames in, markup in which no text can act out."""

from __future__ import annotations

from datetime import date, tzinfo
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from workbench.reports.render.embedded import embedded
from workbench.reports.render.html import Html, el, fragment
from workbench.reports.render.numbers import UNKNOWN, Clock, plural
from workbench.reports.render.tables import Column, Kind, short_text, table
from workbench.reports.render.text import one_line, shorten
from workbench.reports.sessions_frames import SessionsFrames
from workbench.reports.sessions_numbers import Totals, totals

if TYPE_CHECKING:
    from workbench.reports.event_text import EventText

ROWS: Final = 200
"""Rows of a table in a notebook; more are for a query that sums them up."""

NAME_CHARACTERS: Final = 90


class Look(NamedTuple):
    """What the sections of the sessions report are made of, for some sessions."""

    frames: SessionsFrames
    total: Totals
    clock: Clock


def look_at(frames: SessionsFrames, zone: tzinfo | None = None) -> Look:
    """Sum frames up; None is the local zone."""
    total = totals(frames)
    return Look(frames, total, Clock.of(zone, [at for at in (total.first_at, total.last_at) if at is not None]))


def pick(sessions: pl.DataFrame, first: date, last: date) -> pl.DataFrame:
    """Sessions that began from one local day to another; those without times are always among them.

    Args:
        sessions: With `started_at`.
        first: The first day.
        last: The last day, itself included.
    """
    days = [None if at is None else at.astimezone().date() for at in sessions["started_at"]]
    return sessions.filter(pl.Series([day is None or first <= day <= last for day in days], dtype=pl.Boolean))


def session_names(sessions: pl.DataFrame) -> dict[str, str]:
    """Session ids by a name that tells a person which one it is: its day, its title and the beginning of its id."""
    found = {}
    for row in sessions.iter_rows(named=True):
        day = UNKNOWN if row["started_at"] is None else f"{row['started_at'].astimezone():%Y-%m-%d %H:%M}"
        title = shorten(one_line(row["title"] or "no prompt"), NAME_CHARACTERS)
        name = f"{day}  {title}  ({one_line(row['session_id'])[:8]})"
        found[name if name not in found else f"{name} {one_line(row['session_id'])}"] = row["session_id"]
    return found


def frame_html(frame: pl.DataFrame | None, *, id: str, none: str, problem: str | None = None) -> str:  # noqa: A002
    """Any frame as a table, its texts shortened; a problem in its place where there is one.

    Args:
        frame: What to show.
        id: The table's element id.
        none: What is said of a frame without rows.
        problem: Why there is no frame.
    """
    if problem is not None or frame is None:
        return embedded(el("p", el("b", "This did not work.")), el("pre", problem or "", id=f"{id}-problem"))
    if not frame.height:
        return embedded(el("p", none, id=f"{id}-none"))
    widest = next((name for name, dtype in reversed(frame.schema.items()) if dtype == pl.String), None)
    columns = [
        Column(name, one_line(name), _shown, _kind(dtype), is_wide=name == widest)
        for name, dtype in frame.schema.items()
    ]
    more = f"; the first {ROWS} are shown" if frame.height > ROWS else ""
    rows = frame.head(ROWS).to_dicts()
    return embedded(
        table(rows, columns, id=id, label="Rows"), el("p", f"{plural(frame.height, 'row')}{more}.", class_="soft")
    )


def _kind(dtype: Any) -> Kind:
    return "number" if dtype.is_numeric() else "text"


def _shown(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if hasattr(value, "astimezone"):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return short_text(", ".join(map(str, value)) if isinstance(value, list) else value)


def event_html(event: EventText) -> str:
    """The whole text of one event."""
    facts = [el("div", el("dt", name), el("dd", value)) for name, value in event.facts]
    parts = [fragment(el("h3", part.name), el("div", part.text, class_="said result")) for part in event.parts]
    head: Html = el("h3", event.title, " ", el("code", event.event_id, class_="soft"))
    return embedded(el("div", head, el("dl", facts, class_="facts"), parts, id="event"))
