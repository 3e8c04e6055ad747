"""The lower half of the sessions report: tools, failures, and tables of sessions, projects and issues."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from workbench.reports import sessions_charts as draw
from workbench.reports import sessions_numbers as numbers
from workbench.reports.render.charts import chart
from workbench.reports.render.html import Child, Html, el, fragment
from workbench.reports.render.numbers import Clock, compact, count, lasting, plural, share, usd
from workbench.reports.render.page import Section
from workbench.reports.render.tables import Column, short_text, table
from workbench.reports.render.text import one_line
from workbench.reports.sessions_overview import chart_name
from workbench.reports.sessions_pages import page_id

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
    return Section("failures", "Failures and retries", (made, _retries(frames)), lead=lead, menu="Failures")


def _retries(frames: SessionsFrames) -> Html | None:
    """What came after failures."""
    rows = frames.tool_retries.head(TABLE_ROWS).to_dicts()
    if not rows:
        return None
    columns = [
        Column("tool", "tool", kind="code"),
        Column("failed", "failed calls", count, "number"),
        Column("retried", "tried again", count, "number", title="The same tool was called again in the same exchange"),
        Column("unchanged", "unchanged", count, "number", title="The next call had the very same arguments"),
        Column("recovered", "then went well", count, "number", title="The next call of the tool succeeded"),
        Column("rate", "of those failed", kind="number"),
    ]
    rows = [{**row, "rate": share(row["recovered"], row["failed"])} for row in rows]
    made = table(rows, columns, id="retries", label="What came after failed calls")
    return fragment(el("h3", "What came after failed calls"), made)


def _lines(lines: Sequence[Mapping[str, Any]]) -> Child:
    return el("ul", [el("li", _missing(f"{line['calls']:,} \N{MULTIPLICATION SIGN} "), _said(line)) for line in lines])


def _said(line: Mapping[str, Any]) -> Child:
    return short_text(line["line"]) or _missing("nothing")


# -- sessions ----------------------------------------------------------------------------------------------------------


def _session(row: Mapping[str, Any], linked: Collection[str] = ()) -> Html:
    """A session in a table: its title, which leads to its page, and the beginning of its id, for `workbench show`."""
    title: Child = short_text(row["title"]) or _missing("no prompt")
    if row["session_id"] in linked:
        title = el("a", title, href=f"#{page_id(row['session_id'])}")
    short_id = one_line(row["session_id"])[:8]
    return fragment(title, " ", el("code", short_id, class_="soft", title=one_line(row["session_id"])[:100]))


def _columns(clock: Clock, linked: Collection[str]) -> dict[str, Column]:
    listed = (
        Column("session", "session", lambda row: _session(row, linked), is_wide=True),
        Column("started_at", f"started ({clock.name})", clock.moment),
        Column("active_ms", "active", lasting, "number", bar=True, title="Without pauses of more than 5 minutes"),
        Column("duration_ms", "open", lasting, "number", title="From its first event to its last"),
        Column("prompts", "prompts", count, "number"),
        Column("responses", "responses", count, "number"),
        Column("tool_calls", "calls", count, "number"),
        Column("tool_errors", "failed", count, "number"),
        Column("cost_usd", "cost", usd, "number", bar=True, title="Of all model calls that it tells of, in US dollars"),
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
    linked: Collection[str],
    *,
    id: str,  # noqa: A002
    label: str,
) -> Html | None:
    rows = []
    for row in numbers.top(sessions, by, TABLE_ROWS):
        known = numbers.all_input(row)
        rows.append({**row, "session": row, "all_input": known, "cached": share(row["cache_read_tokens"], known)})
    columns = _columns(clock, linked)
    return table(rows, [columns[name] for name in shown.split()], id=id, label=label) if rows else None


def longest(frames: SessionsFrames, clock: Clock, linked: Collection[str] = ()) -> Section:
    """The longest sessions."""
    shown = "session started_at active_ms duration_ms prompts responses tool_calls"
    label = "Longest sessions"
    made = _ranked(frames.session_overview, "active_ms", shown, clock, linked, id="longest-sessions", label=label)
    body = made or el("p", "No session recorded how long it took.")
    lead = "By the time in which something happened: pauses of more than five minutes do not count." if made else None
    return Section("longest", label, (body,), lead=lead, menu="Longest")


def most_tokens(frames: SessionsFrames, clock: Clock, linked: Collection[str] = ()) -> Section:
    """The sessions with the most tokens."""
    shown = "session started_at responses tool_calls tool_errors all_input cached output_tokens"
    label = "Sessions with the most tokens"
    made = _ranked(
        frames.session_overview, "output_tokens", shown, clock, linked, id="most-tokens-sessions", label=label
    )
    body = made or el("p", "No session recorded how many tokens it used.")
    lead = "By output tokens, sub-agents included." if made else None
    return Section("most-tokens", label, (body,), lead=lead, menu="Most tokens")


def most_expensive(
    frames: SessionsFrames, total: numbers.Totals, clock: Clock, linked: Collection[str] = ()
) -> Section:
    """The sessions that cost the most."""
    sessions = frames.session_overview.join(frames.session_costs, on="session_id", how="left", maintain_order="left")
    shown = "session started_at prompts responses all_input cached output_tokens cost_usd"
    label = "Sessions that cost the most"
    made = _ranked(sessions, "cost_usd", shown, clock, linked, id="most-expensive-sessions", label=label)
    body = made or el("p", "No session has a model call whose price is known.")
    left_out = (
        f" {plural(total.unpriced_calls, 'call')} without a known price left out." if total.unpriced_calls else ""
    )
    lead = f"In US dollars, at list prices of the time of each call.{left_out}" if made else None
    return Section("most-expensive", label, (body,), lead=lead, menu="Cost")


def subagents(frames: SessionsFrames, total: numbers.Totals, clock: Clock, linked: Collection[str] = ()) -> Section:
    """The sessions with the most sub-agents, interrupts and compactions."""
    sessions = numbers.with_sum(frames.session_overview, "disturbances", ("subagents", "interrupts", "compactions"))
    shown = "session prompts tool_calls subagents sidechain_tool_calls interrupts compactions"
    title = "Sub-agents, interrupts, compactions"
    made = _ranked(sessions, "disturbances", shown, clock, linked, id="subagents-table", label=title)
    counts = (
        plural(total.subagents, "sub-agent"),
        plural(total.interrupts, "interrupt"),
        plural(total.compactions, "compaction"),
    )
    body = made or el("p", "No session had any of them.")
    lead = f"{', '.join(counts)}; the sessions with the most of them." if made else None
    return Section("subagents", title, (body, _runs(frames, clock)), lead=lead, menu="Sub-agents")


def _runs(frames: SessionsFrames, clock: Clock) -> Html | None:
    """What sub-agents were asked and answered."""
    rows = frames.subagent_runs.head(TABLE_ROWS).to_dicts()
    if not rows:
        return None
    columns = [
        Column("task", "task", lambda text: short_text(text) or _missing("not told"), is_wide=True),
        Column("answer", "last answer", lambda text: short_text(text) or _missing("none"), is_wide=True),
        Column("started_at", f"started ({clock.name})", clock.moment),
        Column("duration_ms", "lasted", lasting, "number"),
        Column("responses", "responses", count, "number"),
        Column("tool_calls", "calls", count, "number"),
        Column("tool_errors", "failed", count, "number"),
        Column("output_tokens", "output", compact, "number"),
    ]
    number = frames.subagent_runs.height
    title = "What sub-agents did" + (f": the newest {TABLE_ROWS} of {number:,}" if number > TABLE_ROWS else "")
    return fragment(el("h3", title), table(rows, columns, id="subagent-runs", label="What sub-agents did"))


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


def files(frames: SessionsFrames) -> Section:
    """Files that tools wrote or read."""
    touched = frames.files_touched
    if not touched.height:
        return Section("files", "Files", (el("p", "No tool told which file it read or wrote."),))
    columns = [
        Column("file", "file", kind="code", is_wide=True),
        Column("exchanges_wrote", "written in", count, "number", bar=True, title="Exchanges that wrote it"),
        Column("exchanges_read", "read in", count, "number", title="Exchanges that read it"),
        Column("sessions", "sessions", count, "number"),
        Column("cwd", "folder", lambda value: short_text(value) or _missing("not told"), "code"),
    ]
    made = table(touched.head(TABLE_ROWS).to_dicts(), columns, id="files-table", label="Files written and read most")
    wrote = int((touched["exchanges_wrote"] > 0).sum())
    lead = f"{plural(touched.height, 'file')} touched by file tools, {wrote:,} of them written; counted in exchanges."
    return Section("files", "Files", (made,), lead=lead)


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
