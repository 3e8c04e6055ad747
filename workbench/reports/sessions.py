"""The sessions report: what agents did, in numbers, charts and tables. Pure: frames in, one HTML page out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Final

from workbench import __version__
from workbench.reports import sessions_details as details
from workbench.reports import sessions_overview as upper
from workbench.reports.render.html import el
from workbench.reports.render.numbers import Clock, days, plural
from workbench.reports.render.page import Section, page
from workbench.reports.sessions_frames import SessionsFrames
from workbench.reports.sessions_numbers import Totals, totals
from workbench.reports.sessions_overview import chart_name
from workbench.reports.sessions_pages import PageFrames, paged, pages

NAMED_AGENTS: Final = 4
"""Agents that the heading names."""

INGEST: Final = """\
workbench ingest                     # from where agents keep their sessions
workbench ingest path/to/sessions    # from a file or folder
"""

ASK: Final = """\
workbench sessions
workbench show last
workbench sql "select tool, count(*) from tool_calls where is_error group by tool order by 2 desc"
"""

TERMS: Final = (
    ("prompts, responses", "what a person asked and what the model answered, sub-agents left out"),
    ("model calls", "answers that were billed, sub-agents included; one that several sessions tell of counts once"),
    ("tool calls", "sub-agents included; a call that two files tell of counts once"),
    ("failed", "the agent marked the result as an error; in sums a person's rejections are included"),
    ("active", "the time between a session's events, pauses of more than five minutes left out"),
    (
        "tokens",
        "as the agent recorded them; some agents write a line before the answer is complete, so output may be more",
    ),
    (
        "cost",
        "in US dollars, at list prices of the time of each model call; calls without a known price are left out",
    ),
    ("input", "fresh input, and input that was written to or read from the provider's cache"),
)
"""What the words of the report mean."""


def sessions_report(
    frames: SessionsFrames,
    *,
    created_at: datetime,
    zone: tzinfo | None = None,
    title: str = "Sessions",
    about: Sequence[str] = (),
    texts: PageFrames | None = None,
) -> str:
    """The page.

    Args:
        frames: What it tells of.
        created_at: When it was made, with a zone.
        zone: Of all its times; None is the local one.
        title: Its heading.
        about: Further lines for its foot, such as what was asked for.
        texts: What the sessions' own pages are made of; without it they have none.

    Returns:
        A self-contained HTML document. Its sections have the ids overview, activity, tokens, tools, failures, files,
        longest, most-tokens, most-expensive, projects, subagents, sessions (with texts), issues and counting; without
        sessions there is only `empty`.
    """
    total = totals(frames)
    clock = Clock.of(zone, [value for value in (total.first_at, total.last_at, created_at) if value is not None])
    foot = [f"Made {clock.moment(created_at)} by workbench {__version__}. All times are in {clock.name}.", *about]
    if not total.sessions:
        return page(title, [_empty()], about=foot)
    linked = paged(frames.session_overview["session_id"].to_list()) if texts is not None else frozenset()
    sections = [
        upper.overview(frames, total, clock),
        upper.activity(frames, total, clock),
        upper.tokens(frames, total),
        details.tools(frames, total),
        details.failures(frames),
        details.files(frames),
        details.longest(frames, clock, linked),
        details.most_tokens(frames, clock, linked),
        details.most_expensive(frames, total, clock, linked),
        details.projects(frames, clock),
        details.subagents(frames, total, clock, linked),
        *([pages(frames, texts, clock)] if texts is not None else []),
        details.issues(frames, total),
        _counting(),
    ]
    return page(title, sections, lead=_lead(total, clock), about=foot)


def _empty() -> Section:
    hint = "This home is empty. Import what your agents wrote, then make the report again:"
    return Section("empty", "There are no sessions yet", (el("p", hint), el("pre", el("code", INGEST))))


def _lead(total: Totals, clock: Clock) -> str:
    where = f" in {plural(total.projects, 'project')}" if total.projects else ""
    named = [chart_name(agent, "unknown") for agent in total.agents[:NAMED_AGENTS]]
    more = [f"{len(total.agents) - NAMED_AGENTS:,} more"] if len(total.agents) > NAMED_AGENTS else []
    agents = f" by {', '.join([*named, *more])}" if named else ""
    when = ""
    if total.first_at is not None and total.last_at is not None:
        when = ", " + days(clock.day(total.first_at), clock.day(total.last_at))
    return f"{plural(total.sessions, 'session')}{where}{agents}{when}"


def _counting() -> Section:
    terms = el("ul", [el("li", el("b", term), f": {meaning}.") for term, meaning in TERMS])
    ask = (el("p", "Every number here can be asked again:"), el("pre", el("code", ASK)))
    return Section("counting", "How things are counted", (terms, *ask), menu="Counting")
