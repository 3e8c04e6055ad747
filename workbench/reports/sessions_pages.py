"""A page for each session inside the sessions report: facts, timeline, and what was said and done. Pure.

All pages together keep to a budget, so that the report stays one file that can be sent. Every session's page shows its
exchanges; the newest show their whole conversation as far as the budget goes. A page says which of both it is, and
what was cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from workbench.reports.asking import Ask, answer
from workbench.reports.render.html import Child, Html, el, fragment
from workbench.reports.render.numbers import Clock, compact, count, lasting, plural, usd
from workbench.reports.render.page import Section
from workbench.reports.render.text import one_line, shorten
from workbench.reports.timeline import timeline
from workbench.reports.timeline_svg import timeline_svg

if TYPE_CHECKING:
    from workbench.reports.sessions_frames import SessionsFrames

MOST_PAGES: Final = 400
"""Sessions with a page, the newest; an exchange takes some 600 bytes, so so many fit into the budget."""

BUDGET: Final = 2_300_000
"""Bytes of all pages: with the rest the report stays under 3 MB, which mail and browsers bear."""

FEW: Final = 3
"""Up to so many sessions were chosen one by one: their pages stand open, and their texts are cut later."""

CHARACTERS: Final = 2_000
"""A longer text of a conversation is cut."""
CHARACTERS_OF_FEW: Final = 20_000

SUMMED_CHARACTERS: Final = 300
"""A longer prompt or answer is cut where only the exchanges are shown."""

OVERHEAD: Final = 260
"""Markup of one message, in bytes: what a guess at a page's size starts from."""

_SAFE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,80}")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class PageFrames:
    """What pages are made of.

    Attributes:
        items: Of `session_timeline.sql`.
        messages: Of `session_messages.sql`.
        exchanges: Of `session_exchanges.sql`.
        characters: Where their texts were cut.
    """

    items: pl.DataFrame
    messages: pl.DataFrame
    exchanges: pl.DataFrame
    characters: int


def read_pages(ask: Ask, session_ids: Sequence[str]) -> PageFrames:
    """Ask for what the pages of some sessions are made of.

    Args:
        ask: Runs SQL.
        session_ids: The newest first; those beyond `MOST_PAGES` are left out.
    """
    ids = session_ids[:MOST_PAGES]
    characters = CHARACTERS_OF_FEW if len(session_ids) <= FEW else CHARACTERS
    return PageFrames(
        answer(ask, "session_timeline", ids),
        answer(ask, "session_messages", ids, characters=characters),
        answer(ask, "session_exchanges", ids, characters=characters),
        characters,
    )


def page_id(session_id: str) -> str:
    """The place of a session's page: its id where that can be an address, else its hash."""
    safe = (
        session_id if _SAFE_ID.fullmatch(session_id) else sha256(session_id.encode("utf-8", "replace")).hexdigest()[:16]
    )
    return f"session-{safe}"


def paged(session_ids: Sequence[str]) -> frozenset[str]:
    """Those of the sessions, the newest first, that have a page."""
    return frozenset(session_ids[:MOST_PAGES])


def pages(frames: SessionsFrames, texts: PageFrames, clock: Clock, *, budget: int = BUDGET) -> Section:
    """The section of all pages.

    Args:
        frames: Of the report.
        texts: From `read_pages` for the same sessions.
        clock: Of all times.
        budget: Bytes that they may take.
    """
    sessions = frames.session_overview.head(MOST_PAGES).to_dicts()
    costs = dict(frames.session_costs.select("session_id", "cost_usd").iter_rows())
    parts = [
        _parts(frame, [row["session_id"] for row in sessions])
        for frame in (texts.items, texts.messages, texts.exchanges)
    ]
    heads = [
        _head(row, costs.get(row["session_id"]), clock, items) for row, items in zip(sessions, parts[0], strict=True)
    ]
    summed = [_exchanges(exchanges, clock) for exchanges in parts[2]]
    left = budget - sum(len(part.markup.encode()) for part in (*heads, *summed))
    bodies: list[Html] = []
    for short, messages in zip(summed, parts[1], strict=True):
        body = _whole(messages, texts.characters, clock, left + len(short.markup.encode()))
        left -= 0 if body is None else len(body.markup.encode()) - len(short.markup.encode())
        bodies.append(short if body is None else body)
    is_open = len(sessions) <= FEW
    made = [_page(*page, is_open=is_open) for page in zip(sessions, heads, bodies, strict=True)]
    return Section("sessions", "The sessions", tuple(made), lead=_lead(frames.session_overview.height), menu="Sessions")


def _lead(sessions: int) -> str:
    more = f" The newest {MOST_PAGES} of {sessions:,}." if sessions > MOST_PAGES else ""
    return f"Each unfolds.{more} One alone, with all its texts: workbench report sessions --session ID."


def _parts(frame: pl.DataFrame, session_ids: Sequence[str]) -> list[pl.DataFrame]:
    """The rows of each session."""
    known = {key[0]: part for key, part in frame.partition_by("session_id", as_dict=True).items()}
    return [known.get(session_id, frame.clear()) for session_id in session_ids]


def _page(session: Row, head: Html, body: Html, *, is_open: bool) -> Html:
    name = page_id(session["session_id"])
    title = shorten(one_line(session["title"] or "no prompt"), 160)
    summary = el(
        "summary",
        el("span", title, class_="title"),
        " ",
        el("code", one_line(session["session_id"])[:40], class_="soft"),
    )
    inside = el("div", head, body, id=name)  # a link to what is inside unfolds it
    return el("details", summary, inside, class_="session", open=is_open)


# -- the head ----------------------------------------------------------------------------------------------------------


def _head(session: Row, cost_usd: float | None, clock: Clock, items: pl.DataFrame) -> Html:
    facts = (
        ("agent", session["agent"]),
        ("folder", session["cwd"]),
        (f"started ({clock.name})", clock.moment(session["started_at"]) if session["started_at"] else None),
        ("active", lasting(session["active_ms"]) if session["active_ms"] is not None else None),
        ("prompts", count(session["prompts"])),
        ("responses", count(session["responses"])),
        ("calls", f"{count(session['tool_calls'])}, {count(session['tool_errors'])} failed"),
        ("output tokens", compact(session["output_tokens"]) if session["output_tokens"] is not None else None),
        ("cost", usd(cost_usd) if cost_usd is not None else None),
    )
    listed = [el("div", el("dt", name), el("dd", shorten(one_line(str(value)), 200))) for name, value in facts if value]
    drawn = timeline_svg(timeline(items, session_id=session["session_id"], zone=clock.zone)) if items.height else None
    return fragment(el("dl", listed, class_="facts"), el("div", drawn, class_="drawing") if drawn else None)


# -- exchanges only ----------------------------------------------------------------------------------------------------


def _exchanges(exchanges: pl.DataFrame, clock: Clock) -> Html:
    note = el("p", "Its exchanges; the whole conversation is in the report of this session alone.", class_="soft")
    return fragment(note, [_exchange(row, clock) for row in exchanges.iter_rows(named=True)])


def _exchange(row: Row, clock: Clock) -> Html:
    went = (
        plural(row["responses"], "response"),
        plural(row["tool_calls"], "call"),
        f"{row['tool_errors']:,} failed" if row["tool_errors"] else "",
        lasting(row["duration_ms"]) if row["duration_ms"] is not None else "",
        "interrupted" if row["is_interrupted"] else "",
        "compacted" if row["is_compacted"] else "",
    )
    head = _line(f"Exchange {row['turn']}", row["started_at"], ", ".join(filter(None, went)), clock)
    asked = _text(row["asked"], row["asked_length"], SUMMED_CHARACTERS)
    answered = _text(row["answered"], row["answered_length"], SUMMED_CHARACTERS)
    return el("div", head, el("div", asked, class_="said asked"), el("div", answered, class_="said"), class_="message")


# -- the whole conversation --------------------------------------------------------------------------------------------


def _whole(messages: pl.DataFrame, characters: int, clock: Clock, room: int) -> Html | None:
    """Every message; None where they take more room than there is."""
    cut = [pl.min_horizontal(name, characters).fill_null(0) for name in ("body_length", "result_length")]
    if (
        messages.height
        and int(messages.select(pl.sum_horizontal(*cut).sum()).item()) + OVERHEAD * messages.height > room
    ):
        return None
    told = messages.filter((pl.col("kind") != "response") | (pl.col("body") != ""))  # its calls tell of the others
    made = fragment([_message(row, characters, clock) for row in told.iter_rows(named=True)])
    return made if len(made.markup.encode()) <= room else None


def _message(row: Row, characters: int, clock: Clock) -> Html:
    kind = row["kind"]
    named = {"prompt": f"Prompt {row['turn']}", "response": "Response", "tool": one_line(row["name"] or "tool")[:100]}
    side = f"sub-agent {one_line(row['agent_id'])[:20]}" if row["agent_id"] is not None else ""
    went = {"error": "failed", "rejected": "rejected by a person", "open": "no result"}.get(row["status"], "")
    took = lasting(row["duration_ms"]) if row["duration_ms"] is not None else ""
    model = one_line(row["name"])[:60] if kind == "response" and row["name"] else ""
    pictures = plural(row["images"], "picture") if row["images"] else ""
    about = ", ".join(filter(None, (side, model, went, took, pictures)))
    head = _line(named[kind], row["occurred_at"], about, clock, is_bad=went == "failed")
    body = _text(row["body"], row["body_length"], characters)
    classes = "said asked" if kind == "prompt" else "said call" if kind == "tool" else "said"
    said = el("div", body, class_=classes) if row["body"] else None
    result = (
        el("div", _text(row["result"], row["result_length"], characters), class_="said result")
        if row["result"]
        else None
    )
    return el("div", head, said, result, class_="message side" if side else "message")


def _line(what: str, at: Any, about: str, clock: Clock, *, is_bad: bool = False) -> Html:
    when = f"{clock.local(at):%H:%M:%S}" if at is not None else ""
    told = " · ".join(filter(None, (when, about)))
    return el("p", el("b", what, class_="bad" if is_bad else None), f" {told}" if told else None, class_="line")


def _text(text: str | None, length: int | None, limit: int) -> Child:
    """The text, and a note of what was cut."""
    shown = (text or "")[:limit].rstrip()
    more = (length or 0) - len((text or "")[:limit])
    note = el("span", f" [{more:,} more characters]", class_="soft") if more > 0 else None
    return fragment(shown, note)
