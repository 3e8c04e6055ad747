"""One session as lanes of items along time or tokens: what the timeline widget and a session's page draw. Pure.

Along time, pauses of more than five minutes are drawn short and their real length is told: a session that was left
open over night would otherwise be a thin line at each end. Along tokens, items follow one another as they were
recorded, each as long as its tokens are many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
import polars as pl

from workbench.reports.asking import Ask, answer
from workbench.reports.render.numbers import UNKNOWN, Clock, compact, count, lasting, plural
from workbench.reports.render.text import one_line, shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAUSE_MS: Final = 5 * 60_000
"""A longer time without any event is a pause: the rule of `active_ms` in session_overview.sql."""

PAUSE_PART: Final = 0.02
"""How long a pause is drawn: this part of the time in which something happened."""

MOST_ITEMS: Final = 5_000
"""Items that a browser places in some 0.6 s (Chromium, 2 cores); the longest real session at hand has 660."""

MOST_ROWS: Final = 6
"""Calls that run side by side have a row each, up to so many; further ones share the last."""

SAID_CHARACTERS: Final = 120

Scale = Literal["time", "tokens"]
SCALES: Final[tuple[Scale, ...]] = ("time", "tokens")

_COLUMNS: Final[Mapping[str, Any]] = {
    "event_id": pl.String,
    "seq": pl.Int64,
    "turn": pl.Int64,
    "chain": pl.String,
    "kind": pl.String,
    "began_at": pl.Datetime("us", "UTC"),
    "ended_at": pl.Datetime("us", "UTC"),
    "tokens": pl.Int64,
    "name": pl.String,
    "said": pl.String,
    "is_failed": pl.Boolean,
    "status": pl.String,
}
"""What `session_timeline.sql` answers with."""

_KINDS: Final = {
    "exchange": "exchange",
    "response": "model",
    "tool": "tool",
    "compaction": "compaction",
    "interrupt": "interrupt",
    "prompt": "prompt",
}


class Place(NamedTuple):
    """Where an item lies on a scale, in the scale's units from its beginning."""

    start: float
    length: float


class Item(NamedTuple):
    """One thing to choose.

    Attributes:
        id: `<kind>:<event id>`; a response and its first call may be told by one event.
        kind: exchange, response, tool, prompt (of a sub-agent), compaction or interrupt.
        lane: Index of its lane.
        row: Row in the lane, from 0.
        turn: The exchange it belongs to.
        label: A few words for the item itself.
        says: All of it in one line, for the pointer and for a screen reader.
        is_failed: Whether it failed.
        places: By scale; a scale that the session has no figures for is left out.
    """

    id: str
    kind: str
    lane: int
    row: int
    turn: int
    label: str
    says: str
    is_failed: bool
    places: Mapping[Scale, Place]


class Lane(NamedTuple):
    """A named line of items, of one or more rows."""

    name: str
    rows: int


class Tick(NamedTuple):
    """A mark on a scale."""

    at: float
    label: str


@dataclass(frozen=True)
class Timeline:
    """A session to draw.

    Attributes:
        session_id: The session.
        title: What it is called.
        lanes: From above.
        items: By lane, then by place.
        lengths: Of each scale: milliseconds, tokens.
        ticks: Of each scale.
        pauses: Where something was left out along time, with how long it really was.
        notes: What is not shown, in words.
        zone: What the clock of its times is called.
    """

    session_id: str
    title: str
    lanes: Sequence[Lane] = ()
    items: Sequence[Item] = ()
    lengths: Mapping[Scale, float] = field(default_factory=dict)
    ticks: Mapping[Scale, Sequence[Tick]] = field(default_factory=dict)
    pauses: Sequence[Tick] = ()
    notes: Sequence[str] = ()
    zone: str = "UTC"

    def plain(self) -> dict[str, Any]:
        """As lists and dictionaries for JSON: what the widget's script is given."""
        return {
            "session_id": self.session_id,
            "title": self.title,
            "lanes": [lane._asdict() for lane in self.lanes],
            "items": [
                {**item._asdict(), "places": {n: list(p) for n, p in item.places.items()}} for item in self.items
            ],
            "lengths": dict(self.lengths),
            "ticks": {name: [list(tick) for tick in ticks] for name, ticks in self.ticks.items()},
            "pauses": [list(pause) for pause in self.pauses],
            "notes": list(self.notes),
            "zone": self.zone,
        }


def read_timeline(ask: Ask, session_id: str, *, zone: tzinfo | None = None) -> Timeline:
    """Ask for a session's items and lay them out.

    Args:
        ask: Runs SQL over the lake: `bench.sql`.
        session_id: The whole id.
        zone: Of the times that are told; None is the local one.
    """
    items = answer(ask, "session_timeline", [session_id])
    titles = ask(
        "select coalesce(l.title, s.title) as title from sessions s left join session_labels l using (session_id) "
        "where session_id = $session_id",
        {"session_id": session_id},
    )
    title = titles["title"][0] if titles.height else None
    return timeline(items, session_id=session_id, title=title, zone=zone)


def timeline(items: pl.DataFrame, *, session_id: str, title: str | None = None, zone: tzinfo | None = None) -> Timeline:
    """Lay a session out.

    Args:
        items: One row a prompt, response, call, compaction or interrupt, as in `session_timeline.sql`: `event_id`,
            `seq`, `turn`, `chain`, `kind`, `began_at`, `ended_at`, `tokens`, `name`, `said`, `is_failed`, `status`.
        session_id: The session.
        title: What it is called.
        zone: Of the times that are told; None is the local one.

    Returns:
        The lanes Exchanges, Model, Tools, one a sub-agent, and Marks, as far as there is something in them. Without
        times there is no scale of time, and a note says so.
    """
    name = shorten(one_line(title or ""), SAID_CHARACTERS) or session_id
    rows = items.select(pl.col(column).cast(dtype) for column, dtype in _COLUMNS.items()).sort(
        "seq", "kind", "event_id"
    )
    rows, notes = _at_most(rows, MOST_ITEMS)
    if not rows.height:
        return Timeline(session_id, name, notes=[*notes, "The session has nothing to show."])
    rows = _with_spans(rows)
    clock = Clock.of(zone, rows["start_at"].drop_nulls().to_list())
    rows, lengths, pauses, told = _placed(rows)
    rows, lanes = _laned(rows)
    records = [*_exchanges(rows, clock), *_single(rows, clock)]
    used = sorted({item.lane for item in records})
    kept = {lane: place for place, lane in enumerate(used)}
    heights = {lane: 1 + max(item.row for item in records if item.lane == lane) for lane in used}
    return Timeline(
        session_id,
        name,
        lanes=[Lane(lanes[lane], heights[lane]) for lane in used],
        items=sorted(
            (item._replace(lane=kept[item.lane]) for item in records), key=lambda item: (item.lane, _first(item))
        ),
        lengths=lengths,
        ticks=_ticks(records, rows, lengths, clock),
        pauses=pauses,
        notes=[*notes, *told],
        zone=clock.name,
    )


def _first(item: Item) -> float:
    return next(iter(item.places.values())).start


def _at_most(rows: pl.DataFrame, most: int) -> tuple[pl.DataFrame, list[str]]:
    """Of too many items those that matter and the longest others; and a note of what is left out."""
    if rows.height <= most:
        return rows, []
    matters = pl.col("is_failed") | pl.col("kind").is_in(["prompt", "compaction", "interrupt"])
    took = (pl.col("ended_at") - pl.col("began_at")).dt.total_milliseconds().fill_null(0)
    ranked = rows.sort(matters, took, "tokens", descending=True, nulls_last=True, maintain_order=True)
    left = rows.height - most
    return ranked.head(most).sort("seq", "kind", "event_id"), [
        f"{plural(left, 'short item')} of {rows.height:,} left out."
    ]


# -- places ------------------------------------------------------------------------------------------------------------


def _with_spans(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `start_at` and `end_at`: a response begins when what came before it in its chain was over.

    An agent writes a response down when it is there; the model worked since the prompt or the last result.
    """
    works = pl.col("kind").is_in(["prompt", "tool", "response"])
    known = rows.with_columns(end_at=pl.max_horizontal("began_at", "ended_at")).with_columns(
        before_at=pl.when(works).then("end_at").cum_max().shift(1).forward_fill().over("chain", order_by="seq")
    )
    since = pl.min_horizontal("began_at", "before_at")
    is_response = (pl.col("kind") == "response") & pl.col("before_at").is_not_null()
    return known.with_columns(start_at=pl.when(is_response).then(since).otherwise("began_at")).drop("before_at")


def _placed(rows: pl.DataFrame) -> tuple[pl.DataFrame, dict[Scale, float], list[Tick], list[str]]:
    """Add `time_start`, `time_length`, `tokens_start`, `tokens_length`; a row without a time has the one before it."""
    tokens = rows["tokens"].fill_null(0).clip(lower_bound=0)
    placed = rows.with_columns(
        tokens_start=(tokens.cum_sum() - tokens).cast(pl.Float64), tokens_length=tokens.cast(pl.Float64)
    )
    lengths: dict[Scale, float] = {}
    notes: list[str] = []
    untimed = int(rows["start_at"].is_null().sum())
    pauses: list[Tick] = []
    if untimed < rows.height:
        starts, ends, lengths["time"], pauses = _along_time(rows)
        placed = placed.with_columns(time_start=pl.Series(starts), time_length=pl.Series(np.maximum(ends - starts, 0)))
        if untimed:
            notes.append(f"{plural(untimed, 'item')} without a time stand where the one before ended.")
    else:
        notes.append("The session has no times: only its tokens can be drawn.")
    if int(tokens.sum()):
        lengths["tokens"] = float(int(tokens.sum()))
    elif not lengths:
        lengths["tokens"] = float(rows.height)  # nothing is known of it but the order
        placed = placed.with_columns(tokens_start=pl.int_range(rows.height).cast(pl.Float64), tokens_length=pl.lit(1.0))
        notes.append("Nor does it tell tokens: all items are drawn alike.")
    return placed, lengths, pauses, notes


def _along_time(rows: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64], float, list[Tick]]:
    """Starts and ends in milliseconds from the beginning, with pauses drawn short."""
    filled = rows.select(pl.col("start_at", "end_at").forward_fill().backward_fill().cast(pl.Int64) / 1000)
    starts, ends = filled["start_at"].to_numpy(), filled["end_at"].to_numpy()
    known = np.unique(np.concatenate([starts, ends]))
    gaps = np.diff(known)
    is_pause = gaps > PAUSE_MS
    drawn = max(float(gaps[~is_pause].sum()) * PAUSE_PART, 1.0)
    at = np.concatenate([[0.0], np.cumsum(np.where(is_pause, drawn, gaps))])
    pauses = [Tick(float(at[n]), lasting(float(gaps[n]))) for n in np.flatnonzero(is_pause)]
    return np.interp(starts, known, at), np.interp(ends, known, at), max(float(at[-1]), 1.0), pauses


# -- lanes -------------------------------------------------------------------------------------------------------------


def _laned(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add `lane` and `row`; lane 0 is for the exchanges."""
    chains = rows.filter(pl.col("chain").is_not_null())["chain"].unique(maintain_order=True).to_list()
    names = ["Exchanges", "Model", "Tools", *(f"Sub-agent {shorten(one_line(chain), 12)}" for chain in chains), "Marks"]
    lane_of = {chain: 3 + place for place, chain in enumerate(chains)}
    marks = pl.col("kind").is_in(["compaction", "interrupt"])
    lane = (
        pl.when(marks)
        .then(len(names) - 1)
        .when(pl.col("chain").is_not_null())
        .then(pl.col("chain").replace_strict(lane_of, default=0, return_dtype=pl.Int64))
        .when(pl.col("kind") == "response")
        .then(1)
        .when(pl.col("kind") == "tool")
        .then(2)
        .otherwise(0)
    )
    laned = rows.with_columns(lane=lane)
    scale = "time" if "time_start" in rows.columns else "tokens"
    packed: list[int] = [0] * laned.height
    spans = laned.select("lane", "kind", f"{scale}_start", f"{scale}_length").rows()
    for number in set(laned["lane"]):
        calls = [n for n, (of, kind, _, _) in enumerate(spans) if of == number and kind == "tool"]
        above = int(any(of == number and kind != "tool" for of, kind, _, _ in spans))
        for n, row in zip(calls, _rows([(spans[n][2], spans[n][2] + spans[n][3]) for n in calls]), strict=True):
            packed[n] = above + row
    return laned.with_columns(row=pl.Series(packed, dtype=pl.Int64)), names


def _rows(spans: Sequence[tuple[float, float]]) -> list[int]:
    """A row for each span, the first that is free when it starts."""
    free: list[float] = []
    rows = []
    for start, end in spans:
        row = next((number for number, until in enumerate(free) if until <= start), len(free))
        row = min(row, MOST_ROWS - 1)
        if row == len(free):
            free.append(end)
        else:
            free[row] = max(free[row], end)
        rows.append(row)
    return rows


# -- items -------------------------------------------------------------------------------------------------------------


def _single(rows: pl.DataFrame, clock: Clock) -> list[Item]:
    """An item for every row but the prompts of the main chain, which are the exchanges."""
    return [
        _item(row, row["kind"], row["lane"], row["row"], _places(row), clock)
        for row in rows.iter_rows(named=True)
        if row["lane"] or row["kind"] != "prompt"
    ]


def _exchanges(rows: pl.DataFrame, clock: Clock) -> list[Item]:
    """An item for each exchange, from its prompt to the end of all that followed; further prompts in it are its own."""
    found = []
    for part in rows.partition_by("turn", maintain_order=True):
        prompts = part.filter((pl.col("kind") == "prompt") & pl.col("chain").is_null())
        if not prompts.height:
            continue
        first = prompts.row(0, named=True)
        places: dict[Scale, Place] = {}
        for scale in SCALES:
            if f"{scale}_start" in part.columns:
                ends = (part[f"{scale}_start"] + part[f"{scale}_length"]).to_list()
                start = first[f"{scale}_start"]
                places[scale] = Place(start, max(0.0, max(ends) - start))
        calls, failed = int((part["kind"] == "tool").sum()), int(part["is_failed"].sum())
        ended = max((at for at in part["end_at"] if at is not None), default=None)
        whole = {**first, "end_at": ended, "tokens": int(part["tokens"].sum()), "is_failed": False}
        more = f"{plural(calls, 'call')}, {count(failed)} failed"
        found.append(_item(whole, "exchange", 0, 0, places, clock, more))
        further = prompts.slice(1).iter_rows(named=True)
        found += [_item(row, "prompt", 0, 0, _places(row), clock) for row in further]
    return found


def _places(row: Mapping[str, Any]) -> dict[Scale, Place]:
    return {scale: Place(row[f"{scale}_start"], row[f"{scale}_length"]) for scale in SCALES if f"{scale}_start" in row}


def _item(
    row: Mapping[str, Any], kind: str, lane: int, line: int, places: Mapping[Scale, Place], clock: Clock, more: str = ""
) -> Item:
    said = shorten(one_line(row["said"] or ""), SAID_CHARACTERS)
    name = shorten(one_line(row["name"] or _KINDS[kind]), 40)
    label = said if kind in ("exchange", "prompt") else name
    return Item(
        id=f"{kind}:{row['event_id']}",
        kind=kind,
        lane=lane,
        row=line,
        turn=row["turn"],
        label=label or _KINDS[kind],
        says=_says(row, kind, name, said, clock, more),
        is_failed=bool(row["is_failed"]),
        places=places,
    )


def _says(row: Mapping[str, Any], kind: str, name: str, said: str, clock: Clock, more: str) -> str:
    """Everything in a line: what, how it went, when, how long, how much."""
    what = f"exchange {row['turn']}" if kind == "exchange" else name
    went = {"error": "failed", "rejected": "rejected", "open": "no result"}.get(row["status"] or "", "")
    start, end = row["start_at"], row["end_at"]
    when = f"{clock.local(start):%H:%M:%S}" if start is not None else ""
    took = lasting((end - start).total_seconds() * 1000) if start is not None and end is not None else UNKNOWN
    is_point = kind in ("compaction", "interrupt")
    size = "" if row["tokens"] is None or is_point else f"{count(row['tokens'])} tokens"
    told = ", ".join(filter(None, (what, went, when, "" if is_point else took, size, more)))
    return f"{told}: {said}" if said else told


def _ticks(
    records: Sequence[Item], rows: pl.DataFrame, lengths: Mapping[Scale, float], clock: Clock
) -> dict[Scale, list[Tick]]:
    """A mark at the beginning of each exchange: what the clock showed, or how many tokens there had been."""
    began = {row["event_id"]: row["start_at"] for row in rows.select("event_id", "start_at").iter_rows(named=True)}
    told: dict[Scale, Callable[[Item], str]] = {
        "time": lambda item: _moment(began[item.id.partition(":")[2]], clock),
        "tokens": lambda item: compact(item.places["tokens"].start),
    }
    exchanges = [item for item in records if item.kind == "exchange"]
    return {
        scale: [Tick(item.places[scale].start, told[scale](item)) for item in exchanges if scale in item.places]
        for scale in lengths
    }


def _moment(at: datetime | None, clock: Clock) -> str:
    return "" if at is None else f"{clock.local(at):%-d %b %H:%M}"
