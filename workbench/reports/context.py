"""The context report: what the context engine would have sent, against the whole history. Pure: frames in, HTML out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final

from workbench import __version__
from workbench.reports import context_charts as draw
from workbench.reports import context_numbers as numbers
from workbench.reports.context_frames import ContextFrames
from workbench.reports.render.charts import SERIES, chart
from workbench.reports.render.html import Child, Html, el, fragment
from workbench.reports.render.numbers import Clock, compact, count, plural, share
from workbench.reports.render.page import Figure, Section, figures, page
from workbench.reports.render.tables import Column, short_text, table
from workbench.reports.render.text import one_line, shorten

if TYPE_CHECKING:
    from workbench.config.context import Pressure

DRAWN_SESSIONS: Final = 12
"""Sessions with a drawing of their own: those whose whole history cost most."""
LISTED_SESSIONS: Final = 25
DEAREST: Final = 12
LABEL_CHARACTERS: Final = 30
"""Letters of a session's title above its drawing."""

SECTION_NAMES: Final = {
    "frame": "fixed beginning", "skills": "skills", "workflow": "workflow", "checkpoint": "checkpoint",
    "verbatim": "last exchanges", "scored": "scored units", "memory": "memories", "active_state": "active state",
    "peripheral": "peripheral state", "input": "the input",
}  # fmt: skip
"""What the parts of a prompt are called."""

WHY: Final = {
    "included": "in the prompt",
    "over_budget": "left out: the band's budget was spent on units that score higher",
    "compact": "left out: compact pressure drops older digests",
    "emergency": "left out: in an emergency no unit is in the prompt",
    "cut": "chosen, then cut off because the whole was still too long",
}
"""What the reasons of `unit_scores.why` mean."""

TERMS: Final = (
    (
        "prompt",
        "the one that begins an exchange, one an exchange: what an agent sends with later model calls is not counted",
    ),
    ("engine", "the prompt that the context engine makes of the session up to there, at most the usable budget"),
    ("classic", "the whole history up to there, nothing cut; it may be more than fits"),
    ("tokens", "estimated by length, the same way for both; no tokenizer of a provider, and no caching, is in them"),
    ("pressure", "what the prompt's tokens weigh by kind, over the usable budget, before anything was cut at the end"),
    (
        "unit",
        "a digest of an exchange, a card of a tool's output, or an entry of the activity log, on offer for the prompt",
    ),
    ("distiller", "shortens a large tool output before the model sees it; the whole output stays retrievable"),
)
"""What the words of the report mean."""

ASK: Final = """\
workbench context replay last
workbench context why last 7 turn_3
workbench sql "select turn, raw_tokens, classic_tokens, pressure from compiles order by raw_tokens desc limit 9"
"""


def context_report(
    frames: ContextFrames,
    pressure: Pressure,
    *,
    created_at: datetime,
    zone: tzinfo | None = None,
    about: Sequence[str] = (),
) -> str:
    """The page.

    Args:
        frames: What it tells of.
        pressure: The thresholds under which the prompts were made.
        created_at: When it was made, with a zone.
        zone: Of its times; None is the local one.
        about: Further lines for its foot.

    Returns:
        A self-contained HTML document. Its sections have the ids overview, missing, tokens, pressure, sections, units,
        distillers, dearest and counting; without prompts there is only `empty`, and what is missing.
    """
    total = numbers.totals(frames)
    clock = Clock.of(zone, [created_at])
    foot = [f"Made {clock.moment(created_at)} by workbench {__version__}. All times are in {clock.name}.", *about]
    lacks = _missing(frames)
    if not total.prompts:
        empty = "No session here has an exchange to make a prompt for. Import what your agents wrote: workbench ingest"
        return page("Context", [Section("empty", "There are no prompts yet", (el("p", empty),)), *lacks], about=foot)
    sections = [
        overview(total),
        *lacks,
        tokens(frames, total),
        pressures(frames, total, pressure),
        parts(frames),
        units(frames, total),
        distillers(frames),
        dearest(frames),
        _counting(),
    ]
    return page("Context", sections, lead=_lead(total), about=foot)


def _lead(total: numbers.Totals) -> str:
    return (
        f"What the context engine would have sent in {plural(total.prompts, 'prompt')} of "
        f"{plural(total.sessions, 'recorded session')}, against the whole history"
    )


def overview(total: numbers.Totals) -> Section:
    """Sums."""
    saved = total.saved_tokens
    tight = total.modes["compact"] + total.modes["emergency"]
    per = total.engine_tokens / total.prompts
    shown = [
        Figure("engine", f"{compact(total.engine_tokens)} tokens", f"{compact(round(per))} a prompt"),
        Figure(
            "classic",
            f"{compact(total.classic_tokens)} tokens",
            f"{compact(round(total.classic_tokens / total.prompts))} a prompt",
        ),
        Figure(
            "saved" if saved >= 0 else "cost more",
            f"{compact(abs(saved))} tokens",
            f"{share(abs(saved), total.classic_tokens)} of classic",
        ),
        Figure("dearer than classic", count(total.dearer), "prompts: early ones are short"),
        Figure("classic does not fit", count(total.over_full), f"of {plural(total.prompts, 'prompt')}"),
        Figure("tight prompts", count(tight), f"{total.modes['emergency']:,} in an emergency, {total.cut:,} cut"),
        Figure("units on offer", compact(total.units), f"{share(total.included, total.units)} included"),
        Figure("state that came back", count(total.hydrated), "objects, by what was said"),
    ]
    return Section("overview", "Overview", (figures(shown),))


def _missing(frames: ContextFrames) -> list[Section]:
    lacks = numbers.missing(frames)
    if not lacks:
        return []
    return [Section("missing", "What is missing", (el("ul", [el("li", text) for text in lacks], class_="findings"),))]


# -- tokens ------------------------------------------------------------------------------------------------------------


def tokens(frames: ContextFrames, total: numbers.Totals) -> Section:
    """Engine against classic, all sessions together and each by itself."""
    by_turn = [{**row, "where": draw.exchanges(row)} for row in numbers.by_turn(frames.prompts)]
    columns = [
        Column("where", "exchange"),
        Column("sessions", "sessions", count, "number", title="Sessions that reach it"),
        Column("engine_tokens", "engine", count, "number"),
        Column("classic_tokens", "classic", count, "number"),
        Column("engine_median", "engine, median", count, "number", title="Of a prompt"),
        Column("classic_median", "classic, median", count, "number", title="Of a prompt"),
    ]
    sent = f"{compact(total.engine_tokens)} by the engine in all, {compact(total.classic_tokens)} by classic"
    label = f"Tokens sent at each exchange: {sent}."
    title = "Tokens sent at each exchange, all sessions that reach it together"
    summed = chart(draw.tokens(by_turn), id="tokens-by-exchange", title=title, label=label, numbers=(by_turn, columns))
    return Section("tokens", "Engine against classic", (summed, *_sessions(frames)), menu="Tokens")


def _sessions(frames: ContextFrames) -> list[Html]:
    rows = numbers.by_session(frames)
    several = [row for row in rows if row["prompts"] > 1]
    largest = sorted(several, key=lambda row: (-row["classic_tokens"], row["session_id"]))[:DRAWN_SESSIONS]
    drawn = [{**row, "label": _label(row)} for row in largest]
    made: list[Html] = []
    if drawn:
        left = len(rows) - len(drawn)
        why = f"The {len(drawn)} whose history cost most" if left else "Each with a scale of its own"
        note = f"{why}; the colours are those above." + (f" {left:,} more are in the tables." if left else "")
        title = "Tokens at each exchange, session by session"
        label = "One small drawing a session: tokens of engine and classic at each exchange."
        made.append(chart(draw.sessions(drawn), id="tokens-by-session", title=title, label=label, note=note))
    columns = [
        Column("session", "session", session_cell, is_wide=True),
        Column("prompts", "prompts", count, "number"),
        Column("engine_tokens", "engine", compact, "number"),
        Column("classic_tokens", "classic", compact, "number"),
        Column("saved_tokens", "saved", compact, "number", title="Tokens; negative where the engine cost more"),
        Column("part", "of classic", kind="number"),
        Column("pressure_most", "highest pressure", lambda value: f"{value:.2f}", "number"),
        Column("over_full", "did not fit", count, "number", title="Prompts whose whole history is over the budget"),
    ]
    listed = [
        {**row, "session": row, "part": _signed_share(row["saved_tokens"], row["classic_tokens"])}
        for row in rows[:LISTED_SESSIONS]
    ]
    more = f"The {LISTED_SESSIONS} with the largest saving of {len(rows):,}." if len(rows) > len(listed) else None
    table_ = table(listed, columns, id="sessions-table", label="Sessions by saving")
    made.append(fragment(el("h3", "Sessions by saving"), table_, el("p", more, class_="soft") if more else None))
    return made


def _signed_share(part: int, whole: int) -> str:
    return share(part, whole) if part >= 0 else f"−{share(-part, whole)}"  # noqa: RUF001  (a minus sign)


def _label(row: Mapping[str, Any]) -> str:
    title = one_line(row["title"] or "") or row["session_id"][:8]
    return title if len(title) <= LABEL_CHARACTERS else f"{title[:LABEL_CHARACTERS]}…"


def session_cell(row: Mapping[str, Any]) -> Html:
    """A session in a table: its title and the beginning of its id, for `workbench context replay`."""
    title: Child = short_text(row["title"]) or el("span", "no prompt", class_="soft")
    short_id = one_line(row["session_id"])[:8]
    return fragment(title, " ", el("code", short_id, class_="soft", title=one_line(row["session_id"])[:100]))


# -- pressure, parts ---------------------------------------------------------------------------------------------------


def pressures(frames: ContextFrames, total: numbers.Totals, pressure: Pressure) -> Section:
    """How full prompts are as sessions go on."""
    rows = numbers.by_turn(frames.prompts)
    title = "Weighted tokens over the usable budget, at each exchange"
    most = 0.0 if total.most_pressure is None else total.most_pressure
    label = f"{title}: {most:.2f} at most."
    spec = draw.pressure(rows, pressure.compact_at, pressure.emergency_at)
    told = ", ".join(f"{number:,} {mode}" for mode, number in total.modes.items())
    limits = f"above {pressure.compact_at:.0%} a prompt is compact, above {pressure.emergency_at:.0%} an emergency"
    note = f"Prompts by pressure: {told}; {limits}."
    drawn = chart(spec, id="pressure-by-exchange", title=title, label=label, note=note)
    return Section("pressure", "Pressure", (drawn,))


def parts(frames: ContextFrames) -> Section:
    """What prompts are made of."""
    rows = [{**row, "section": SECTION_NAMES[row["section"]]} for row in numbers.section_rows(frames.prompts)]
    named = [row["section"] for row in sorted(rows, key=lambda row: -row["tokens"])]
    most = len(SERIES)
    series = named if len(named) <= most else [*named[:most], "other parts"]
    summed: dict[tuple[int, str], dict[str, Any]] = {}
    for row in numbers.sections_by_turn(frames.prompts):
        name = SECTION_NAMES[row["section"]]
        name = name if name in series else "other parts"
        known = summed.setdefault((row["turn"], name), {**row, "section": name, "tokens": 0.0})
        known["tokens"] += row["tokens"]
    title = "Mean tokens of each part of a prompt, at each exchange"
    label = f"{title}; the largest part is {named[0]}."
    drawn = chart(draw.sections(list(summed.values()), series), id="sections-by-exchange", title=title, label=label)
    columns = [
        Column("section", "part"),
        Column("prompts", "prompts with it", count, "number"),
        Column("mean", "mean tokens", count, "number"),
        Column("most", "most tokens", count, "number"),
        Column("share", "of all tokens", kind="number"),
        Column("tokens", "tokens", compact, "number", bar=True),
    ]
    listed = [{**row, "share": share(row["part"], 1)} for row in rows]
    made = table(listed, columns, id="sections-table", label="Parts of a prompt")
    return Section("sections", "What prompts are made of", (drawn, made), menu="Parts")


# -- units, distillers -------------------------------------------------------------------------------------------------


def units(frames: ContextFrames, total: numbers.Totals) -> Section:
    """How often units of each kind and age are in prompts, and why not."""
    rows = numbers.inclusion(frames)
    if not rows:
        none = "No session is long enough: what is one or two exchanges old stands in the prompt word for word."
        return Section("units", "Units", (el("p", none),))
    title = "Part of the units of each kind and age that was in the prompt"
    label = f"{title}: {share(total.included, total.units)} of all."
    columns = [
        Column("unit_type", "kind", kind="code"),
        Column("age", "exchanges old"),
        Column("offered", "on offer", count, "number"),
        Column("included", "included", count, "number"),
    ]
    spec = draw.inclusion(rows, numbers.AGES)
    drawn = chart(spec, id="units-included", title=title, label=label, numbers=(rows, columns))
    whys = [
        {**row, "why": WHY.get(row["why"], row["why"]), "share": share(row["part"], 1)}
        for row in numbers.reasons(frames)
    ]
    reasons = [
        Column("why", "why", is_wide=True),
        Column("units", "units", count, "number", bar=True),
        Column("share", "of all", kind="number"),
        Column("tokens", "tokens", compact, "number"),
    ]
    made = table(whys, reasons, id="reasons-table", label="Why units were in prompts or not")
    lead = f"{count(total.units)} on offer, counted once a prompt; {count(total.included)} were in it."
    return Section("units", "Units", (drawn, made), lead=lead)


def distillers(frames: ContextFrames) -> Section:
    """What shortening tool output saved."""
    rows = numbers.distiller_rows(frames)
    if not rows:
        return Section("distillers", "Distillers", (el("p", "No tool output was large enough to be shortened."),))
    given, kept = (sum(row[key] for row in rows) for key in ("input_tokens", "output_tokens"))
    title = "Tokens of large tool outputs, kept and saved"
    label = f"{title}: {share(given - kept, given)} saved." if given >= kept else f"{title}: nothing saved."
    drawn = chart(draw.distillers(rows), id="distillers-saved", title=title, label=label)
    columns = [
        Column("distiller", "distiller", kind="code"),
        Column("runs", "runs", count, "number"),
        Column("lite", "lightly", count, "number"),
        Column("full", "hard", count, "number"),
        Column("input_tokens", "before", count, "number"),
        Column("output_tokens", "after", count, "number"),
        Column("saved_tokens", "saved", count, "number", bar=True),
        Column("part", "of before", kind="number"),
    ]
    told = [{**row, "part": _signed_share(row["saved_tokens"], row["input_tokens"])} for row in rows]
    whole = {key: sum(row[key] for row in rows) for key in ("runs", "lite", "full", "input_tokens", "output_tokens")}
    whole |= {"saved_tokens": given - kept}
    last = {**whole, "distiller": "all", "part": _signed_share(given - kept, given)} if len(rows) > 1 else None
    made = table(told, columns, total=last, id="distillers-table", label="Distillers")
    lead = "Each run counts once, when the output came; a card of it may stand in many prompts."
    return Section("distillers", "Distillers", (drawn, made), lead=lead)


# -- prompts -----------------------------------------------------------------------------------------------------------


def dearest(frames: ContextFrames) -> Section:
    """The prompts that cost most."""
    rows = numbers.dearest(frames, DEAREST)
    columns = [
        Column("session", "session", session_cell, is_wide=True),
        Column("turn", "exchange", count, "number"),
        Column("task_type", "task"),
        Column("pressure_mode", "pressure"),
        Column("raw_tokens", "engine", count, "number", bar=True),
        Column("classic_tokens", "classic", count, "number"),
        Column("filled", "of the budget", kind="number"),
        Column("taken", "units", title="Included, of those on offer"),
        Column("cuts", "cuts", count, "number", title="Parts that were cut at the end"),
    ]
    told = [
        {
            **row,
            "session": row,
            "filled": share(row["raw_tokens"], row["usable_tokens"]),
            "taken": f"{count(row['units_included'])} of {count(row['units'])}",
        }
        for row in rows
    ]
    made = table(told, columns, id="dearest-table", label="Prompts that cost most")
    hint = "workbench context why SESSION EXCHANGE UNIT tells why a unit was in one of them or not."
    return Section("dearest", "The dearest prompts", (made, el("p", shorten(hint, 200), class_="soft")), menu="Dearest")


def _counting() -> Section:
    terms = el("ul", [el("li", el("b", term), f": {meaning}.") for term, meaning in TERMS])
    ask = (el("p", "Every number here can be asked again:"), el("pre", el("code", ASK)))
    return Section("counting", "How things are counted", (terms, *ask), menu="Counting")
