"""The lower half of the sessions report: tools, failures, and tables of sessions, projects and issues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from workbench.reports import sessions_charts as draw
from workbench.reports import sessions_numbers as numbers
from workbench.reports.render.charts import chart
from workbench.reports.render.html import Child, Html, el, fragment
from workbench.reports.render.numbers import Clock, compact, count, lasting, plural, share
from workbench.reports.render.page import Section
from workbench.reports.render.tables import Column, short_text, table
from workbench.reports.render.text import one_line
from workbench.reports.sessions_overview import chart_name

if TYPE_CHECKING:
    import polars as pl

    from workbench.reports.sessions_frames import SessionsFrames

TABLE_ROWS: Final = 12
"""Rows of a table that shows the most of something; the whole is one query away."""

_REJECTED: Final = Column("rejected", "rejected", count, "number", title="A person said no")


def _missing(text: str) -> Html:
    return el("span", text, class_="soft")


# -- tools -------------------------------------------------------------------------------------------------------------


def tools(frames: SessionsFrames, total: numbers.Totals) -> Section:
    """How often each tool was called, and how that went."""
    rows = [{**row, "tool": row["tool"] or "(no name)"} for row in frames.tool_outcomes.to_dicts()]
    if not rows:
        return Section("tools", "Tools", (el("p", "No session called a tool."),))
    columns = [
        Column("tool", "tool", kind="code"),
        Column("calls", "calls", count, "number"),
        Column("sessions", "sessions", count, "number"),
        Column("sidechain_calls", "by sub-agents", count, "number"),
        Column("failed", "failed", count, "number"),
        _REJECTED,
        Column("unanswered", "no result", count, "number"),
        Column(
            "median_ms", "median time", lasting, "number", title="From call to result, waiting for a person included"
        ),
        Column("p90_ms", "90 % within", lasting, "number"),
    ]
    spec = draw.tools([{**row, "tool": chart_name(row["tool"], "")} for row in rows])
    label = (
        f"Calls by tool; the most used is {chart_name(rows[0]['tool'], '')} with {plural(rows[0]['calls'], 'call')}."
    )
    title = "Calls by tool, and how many of them went wrong"
    drawn = chart(spec, id="tool-calls", title=title, label=label, numbers=(rows, columns))
    lead = f"{plural(total.tool_calls, 'call')} of {plural(len(rows), 'tool')}."
    return Section("tools", "Tools", (drawn,), lead=lead)


def failures(frames: SessionsFrames) -> Section:
    """Tools that failed, and what they said."""
    failing = numbers.failing_tools(frames)[:TABLE_ROWS]
    if not failing:
        return Section("failures", "Failures", (el("p", "No tool call failed."),))
    rows = [{**row, "rate": share(row["failed"], row["calls"])} for row in failing]
    columns = [
        Column("tool", "tool", kind="code"),
        Column("failed", "failed", count, "number", bar=True),
        Column("rate", "of its calls", kind="number"),
        _REJECTED,
        Column("lines", "commonest first lines of its failures", _lines, is_wide=True),
    ]
    made = table(rows, columns, id="failing-tools", label="Tools with the most failures")
    lead = "Tools with the most failures, and what they said. What a person rejected is counted apart."
    return Section("failures", "Failures", (made,), lead=lead)


def _lines(lines: Sequence[Mapping[str, Any]]) -> Child:
    return el("ul", [el("li", _missing(f"{line['calls']:,} \N{MULTIPLICATION SIGN} "), _said(line)) for line in lines])


def _said(line: Mapping[str, Any]) -> Child:
    return short_text(line["line"]) or _missing("nothing")


# -- sessions ----------------------------------------------------------------------------------------------------------


def _session(row: Mapping[str, Any]) -> Html:
    """A session in a table: its title, and the beginning of its id, by which `workbench show` finds it."""
    title = short_text(row["title"]) or _missing("no prompt")
    short_id = one_line(row["session_id"])[:8]
    return fragment(title, " ", el("code", short_id, class_="soft", title=one_line(row["session_id"])[:100]))


def _columns(clock: Clock) -> dict[str, Column]:
    listed = (
        Column("session", "session", _session, is_wide=True),
        Column("started_at", f"started ({clock.name})", clock.moment),
        Column("active_ms", "active", lasting, "number", bar=True, title="Without pauses of more than 5 minutes"),
        Column("duration_ms", "open", lasting, "number", title="From its first event to its last"),
        Column("prompts", "prompts", count, "number"),
        Column("responses", "responses", count, "number"),
        Column("tool_calls", "calls", count, "number"),
        Column("tool_errors", "failed", count, "number"),
        Column("output_tokens", "output", compact, "number", bar=True),
        Column("all_input", "input", compact, "number"),
        Column("cached", "cached", kind="number", title="Part of its input that was read from the cache"),
        Column("subagents", "sub-agents", count, "number"),
        Column("sidechain_tool_calls", "their calls", count, "number"),
        Column("interrupts", "interrupts", count, "number"),
        Column("compactions", "compactions", count, "number"),
    )
    return {column.name: column for column in listed}


def _ranked(
    sessions: pl.DataFrame,
    by: str,
    shown: str,
    clock: Clock,
    *,
    id: str,  # noqa: A002
    label: str,
) -> Html | None:
    rows = []
    for row in numbers.top(sessions, by, TABLE_ROWS):
        known = numbers.all_input(row)
        rows.append({**row, "session": row, "all_input": known, "cached": share(row["cache_read_tokens"], known)})
    columns = _columns(clock)
    return table(rows, [columns[name] for name in shown.split()], id=id, label=label) if rows else None


def longest(frames: SessionsFrames, clock: Clock) -> Section:
    """The longest sessions."""
    shown = "session started_at active_ms duration_ms prompts responses tool_calls"
    label = "Longest sessions"
    made = _ranked(frames.session_overview, "active_ms", shown, clock, id="longest-sessions", label=label)
    body = made or el("p", "No session recorded how long it took.")
    lead = "By the time in which something happened: pauses of more than five minutes do not count." if made else None
    return Section("longest", label, (body,), lead=lead, menu="Longest")


def most_tokens(frames: SessionsFrames, clock: Clock) -> Section:
    """The sessions with the most tokens."""
    shown = "session started_at responses tool_calls tool_errors all_input cached output_tokens"
    label = "Sessions with the most tokens"
    made = _ranked(frames.session_overview, "output_tokens", shown, clock, id="most-tokens-sessions", label=label)
    body = made or el("p", "No session recorded how many tokens it used.")
    lead = "By output tokens, sub-agents included." if made else None
    return Section("most-tokens", label, (body,), lead=lead, menu="Most tokens")


def subagents(frames: SessionsFrames, total: numbers.Totals, clock: Clock) -> Section:
    """The sessions with the most sub-agents, interrupts and compactions."""
    sessions = numbers.with_sum(frames.session_overview, "disturbances", ("subagents", "interrupts", "compactions"))
    shown = "session prompts tool_calls subagents sidechain_tool_calls interrupts compactions"
    title = "Sub-agents, interrupts, compactions"
    made = _ranked(sessions, "disturbances", shown, clock, id="subagents-table", label=title)
    counts = (
        plural(total.subagents, "sub-agent"),
        plural(total.interrupts, "interrupt"),
        plural(total.compactions, "compaction"),
    )
    body = made or el("p", "No session had any of them.")
    lead = f"{', '.join(counts)}; the sessions with the most of them." if made else None
    return Section("subagents", title, (body,), lead=lead, menu="Sub-agents")


# -- projects and issues -----------------------------------------------------------------------------------------------


def projects(frames: SessionsFrames, clock: Clock) -> Section:
    """What was done in which folder."""
    rows = numbers.by_project(frames.session_overview)
    columns = [
        Column("cwd", "folder", lambda value: short_text(value) or _missing("not told"), "code", is_wide=True),
        Column("agent", "agent"),
        Column("sessions", "sessions", count, "number", bar=True),
        Column("prompts", "prompts", count, "number"),
        Column("tool_calls", "calls", count, "number"),
        Column("tool_errors", "failed", count, "number"),
        Column("output_tokens", "output", compact, "number"),
        Column("ended_at", f"last active ({clock.name})", clock.moment),
    ]
    made = table(rows[:TABLE_ROWS], columns, id="projects-table", label="Projects")
    lead = f"The {TABLE_ROWS} used last, of {len(rows):,}." if len(rows) > TABLE_ROWS else None
    return Section("projects", "Projects", (made,), lead=lead)


def issues(frames: SessionsFrames, total: numbers.Totals) -> Section:
    """What was not as it should be in the imported files."""
    rows = [{**row, "place": row} for row in frames.import_issue_kinds.to_dicts()]
    if not rows:
        return Section("issues", "Import issues", (el("p", "Every record of every file was as it should be."),))
    columns = [
        Column("issue", "issue", kind="code"),
        Column("records", "records", count, "number"),
        Column("files", "files", count, "number"),
        Column("place", "for example", _place, is_wide=True),
    ]
    made = table(rows, columns, id="issues-table", label="Import issues by kind")
    told = plural(total.issues, "thing was", "things were")
    return Section("issues", "Import issues", (made,), lead=f"{told} not as it should be; the rest of each file is in.")


def _place(row: Mapping[str, Any]) -> Child:
    line = f", line {row['line']:,}" if row["line"] else ""
    where = el("code", short_text(row["path"]), line, class_="soft") if row["path"] else None
    return fragment(short_text(row["example"]), el("br"), where)
