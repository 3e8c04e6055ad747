"""The upper half of the sessions report: sums, what stands out, activity over time, tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from workbench.reports import sessions_charts as draw
from workbench.reports import sessions_numbers as numbers
from workbench.reports.render.charts import chart
from workbench.reports.render.html import Child, Html, el, fragment
from workbench.reports.render.numbers import UNKNOWN, Clock, compact, count, lasting, plural, share, usd
from workbench.reports.render.page import Figure, Section, figures
from workbench.reports.render.tables import Column, table
from workbench.reports.render.text import one_line, shorten

if TYPE_CHECKING:
    import polars as pl

    from workbench.reports.sessions_frames import SessionsFrames

NAME_CHARACTERS: Final = 42
"""Letters of a name in a chart."""

NO_MODEL: Final = "model not told"

RATE_CALLS: Final = 10
"""Below so many calls a rate says little."""

_ISSUES: Final = el("a", "import issues", href="#issues")

LONG_MS: Final = 10 * 3_600_000
"""From here on sums of time are told in hours."""


def chart_name(value: str | None, missing: str) -> str:
    """A foreign name, short enough for a chart."""
    return shorten(one_line(value), NAME_CHARACTERS) if value else missing


# -- sums --------------------------------------------------------------------------------------------------------------


def overview(frames: SessionsFrames, total: numbers.Totals, clock: Clock) -> Section:
    """Sums, and what stands out among them."""
    findings = _findings(frames, total)
    listed = el("ul", [el("li", finding) for finding in findings], class_="findings") if findings else None
    return Section("overview", "Overview", (figures(_figures(frames.session_overview, total, clock)), listed))


def _figures(sessions: pl.DataFrame, total: numbers.Totals, clock: Clock) -> list[Figure]:
    cached = f"{share(total.cache_read_tokens, total.all_input)} read from the cache"
    return [
        Figure("sessions", count(total.sessions), f"in {plural(total.projects, 'project')}"),
        Figure("span", _span(total, clock), _active(total)),
        Figure("prompts", count(total.prompts), f"median {_median(sessions['prompts'])} a session"),
        Figure("model responses", count(total.responses), f"{plural(total.model_calls, 'call')} with sub-agents"),
        Figure("tool calls", count(total.tool_calls), f"{count(total.sidechain_tool_calls)} by sub-agents"),
        Figure("failed tool calls", count(total.tool_errors), _failed(total)),
        Figure("output tokens", compact(total.output_tokens), _each(total.output_tokens, total.sessions)),
        Figure("input tokens", compact(total.all_input), cached if total.all_input else "not recorded"),
        Figure("cost", usd(total.cost_usd), _unpriced(total)),
        Figure("sub-agents", count(total.subagents), _where(sessions["subagents"])),
        Figure("interrupts", count(total.interrupts), _where(sessions["interrupts"])),
        Figure("compactions", count(total.compactions), _where(sessions["compactions"])),
    ]


def _span(total: numbers.Totals, clock: Clock) -> str:
    if total.first_at is None or total.last_at is None:
        return UNKNOWN
    return plural((clock.day(total.last_at) - clock.day(total.first_at)).days + 1, "day")


def _active(total: numbers.Totals) -> str:
    if total.active_ms is None:
        return "no times recorded"
    return (
        f"{total.active_ms / 3_600_000:,.0f} h active"
        if total.active_ms > LONG_MS
        else f"{lasting(total.active_ms)} active"
    )


def _median(values: pl.Series) -> str:
    middle = values.median()
    return f"{middle:,.4g}" if isinstance(middle, int | float) else UNKNOWN


def _failed(total: numbers.Totals) -> str:
    part = share(total.tool_errors, total.tool_calls)
    return f"{part}; {count(total.rejected)} rejected by a person" if total.tool_errors else ""


def _each(value: int | None, sessions: int) -> str:
    return "not recorded" if value is None else f"{compact(round(value / sessions))} a session"


def _unpriced(total: numbers.Totals) -> str:
    """What the cost leaves out."""
    if not total.unpriced_calls:
        return "each model call once" if total.model_calls else "no model calls"
    return f"without {plural(total.unpriced_calls, 'call')} of no known price"


def _where(values: pl.Series) -> str:
    number = int((values.fill_null(0) > 0).sum())
    return f"in {plural(number, 'session')}" if number else "in no session"


def _findings(frames: SessionsFrames, total: numbers.Totals) -> list[Child]:
    """What stands out, each a sentence with its numbers."""
    found: list[Child] = []
    few = min(10, total.sessions // 4)
    part = numbers.share_of_top(frames.session_overview, "output_tokens", few) if few else None
    if part is not None:
        who = f"The {few} sessions" if few > 1 else "The session"
        found.append(f"{who} with the most output wrote {share(part, 1)} of all output tokens.")
    failing = [row for row in numbers.failing_tools(frames) if row["failed"]]
    if failing:
        found.append(_rate("failed most often", failing[0], "failed"))
    often = [row for row in failing if row["calls"] >= RATE_CALLS]
    if often:
        worst = max(often, key=lambda row: row["failed"] / row["calls"])
        if worst is not failing[0]:
            found.append(_rate("failed at the highest rate", worst, "failed"))
    if total.rejected:
        refused = max(frames.tool_outcomes.to_dicts(), key=lambda row: row["rejected"] or 0)
        found.append(_rate("was rejected by a person most often", refused, "rejected"))
    if total.repeated_calls:
        told = plural(total.repeated_calls, "model call")
        found.append(f"{told} stand in more than one session, as after a resume; sums count each once.")
    if total.issues:
        wrong = plural(total.issues, "thing was", "things were")
        found.append(fragment(f"{wrong} not as it should be in the imported files: ", _ISSUES, "."))
    return found


def _rate(what: str, row: Mapping[str, Any], key: str) -> Html:
    told = f"{count(row[key])} of {plural(row['calls'], 'call')} ({share(row[key], row['calls'])})"
    return fragment(el("code", chart_name(row["tool"], "(no name)")), f" {what}: {told}.")


# -- over time ---------------------------------------------------------------------------------------------------------

Entries = Sequence[tuple[date, str, float]]


def activity(frames: SessionsFrames, total: numbers.Totals, clock: Clock) -> Section:
    """When sessions began, when models wrote, and at which hours."""
    starts = [
        (clock.day(started), chart_name(agent, "unknown agent"), 1)
        for started, agent in frames.session_overview.select("started_at", "agent").iter_rows()
        if started is not None
    ]
    output = [
        (clock.day(quarter), chart_name(model, NO_MODEL), tokens or 0)
        for quarter, model, tokens in frames.model_calls_by_quarter_hour.select(
            "quarter_at", "model", "output_tokens"
        ).iter_rows()
        if quarter is not None
    ]
    if not starts and not output:
        return Section("activity", "Activity", (el("p", "No session recorded its times: nothing to draw."),))
    happened = [day for day, _, _ in [*starts, *output]]
    unit = numbers.unit_of(happened)
    domain = (numbers.begin(min(happened), unit), numbers.following(numbers.begin(max(happened), unit), unit))
    begun = _over_time(starts, unit, domain, "sessions", "sessions-over-time", f"Sessions begun per {unit}")
    wrote = _over_time(output, unit, domain, "output tokens", "output-over-time", f"Output tokens per {unit}, by model")
    cost = _over_time(
        _costs(frames, clock), unit, domain, "cost in US dollars", "cost-over-time", f"Cost per {unit}, by model"
    )
    unknown = total.sessions - len(starts)
    missing = f" {plural(unknown, 'session')} without times cannot be shown here." if unknown else ""
    return Section(
        "activity",
        "Activity",
        (begun, wrote, cost, _hours(frames, clock)),
        lead=f"Days and hours of {clock.name}.{missing}",
    )


def _costs(frames: SessionsFrames, clock: Clock) -> list[tuple[date, str, float]]:
    priced = frames.model_calls_by_quarter_hour.select("quarter_at", "model", "cost_usd").drop_nulls("cost_usd")
    return [
        (clock.day(quarter), chart_name(model, NO_MODEL), cost)
        for quarter, model, cost in priced.iter_rows()
        if quarter is not None
    ]


def _over_time(
    entries: Entries,
    unit: numbers.Unit,
    domain: tuple[date, date],
    what: str,
    id: str,  # noqa: A002
    title: str,
) -> Html | None:
    is_sessions, is_money = what == "sessions", what.startswith("cost")
    series = numbers.largest_series([(name, value) for _, name, value in entries], "others")
    if not series:
        return None
    spans = numbers.over_time(entries, unit, series)
    show, height = (count, 130) if is_sessions else (usd if is_money else compact, 180)
    axis = draw.dollar_axis if is_money else None
    spec = draw.over_time(spans, unit, series, domain=domain, what=what, height=height, show=show, axis=axis)
    rows = [{"when": draw.called(span, unit), "series": span.series, "value": span.value} for span in spans]
    columns = [
        Column("when", unit),
        Column("series", "by"),
        Column("value", what, usd if is_money else count, "number"),
    ]
    if len(series) == 1 and is_sessions:
        del columns[1]
    most = max(spans, key=lambda span: span.value)
    label = f"{title}; most in {draw.called(most, unit)}: {show(most.value)}."
    return chart(spec, id=id, title=title, label=label, numbers=(rows, columns))


def _hours(frames: SessionsFrames, clock: Clock) -> Html | None:
    hours = numbers.by_hour(frames, clock)
    if not hours:
        return None
    title = "Model calls by weekday and hour"
    label = f"{title} of the day; the fuller a square, the more."
    return chart(draw.by_hour(hours, "model calls"), id="calls-by-hour", title=title, label=label)


# -- tokens ------------------------------------------------------------------------------------------------------------


def tokens(frames: SessionsFrames, total: numbers.Totals) -> Section:
    """Tokens by model, and how they spread over the sessions."""
    if total.all_input is None and total.output_tokens is None:
        return Section("tokens", "Tokens", (el("p", "No session recorded how many tokens it used."),))
    models = [{**row, "model": row["model"] or NO_MODEL} for row in numbers.by_model(frames)]
    whole = {**total._asdict(), "all_input": total.all_input, "model": "all", "calls": total.model_calls}
    rows = [{**row, "cached": share(row["cache_read_tokens"], row["all_input"])} for row in [*models, whole]]
    columns = [
        Column("model", "model", kind="code"),
        Column("calls", "model calls", count, "number"),
        Column("input_tokens", "fresh input", compact, "number", title="Input that was not cached"),
        Column("cache_write_tokens", "written to cache", compact, "number"),
        Column("cache_read_tokens", "read from cache", compact, "number"),
        Column("cached", "cached", kind="number", title="Part of all input that was read from the cache"),
        Column("output_tokens", "output", compact, "number", bar=True),
        Column("cost_usd", "cost", usd, "number", title="In US dollars; a dash where no price is known"),
    ]
    last = rows[-1] if len(models) > 1 else None
    listed = table(rows[:-1], columns, total=last, id="tokens-by-model", label="Tokens by model")
    spread = el("div", _by_output(frames.session_overview), _cache(frames.session_overview), class_="pair")
    return Section("tokens", "Tokens", (listed, spread))


def _by_output(sessions: pl.DataFrame) -> Html | None:
    bins = numbers.by_size(sessions["output_tokens"].drop_nulls())
    if not bins:
        return None
    largest = max(bins, key=lambda size: size.sessions)
    label = f"Sessions by output tokens; most have {largest.low:,} to {largest.high - 1:,}."
    return chart(draw.by_size(bins, "output tokens"), id="sessions-by-output", title="Sessions by output", label=label)


def _cache(sessions: pl.DataFrame) -> Html | None:
    dots = []
    for row in sessions.iter_rows(named=True):
        known = numbers.all_input(row)
        if known and row["model_calls"]:
            label = f"{one_line(row['session_id'])[:8]} {shorten(one_line(row['title'] or ''), 60)}".strip()
            part = (row["cache_read_tokens"] or 0) / known
            dots.append({"label": label, "model_calls": row["model_calls"], "part": part})
    if not dots:
        return None
    label = "Part of each session's input that was read from the cache, by its model calls."
    title = "Input read from the cache, a dot a session"
    note = f"The newest {draw.MOST_DOTS} of {len(dots):,} sessions." if len(dots) > draw.MOST_DOTS else None
    return chart(draw.cache_shares(dots), id="cache-share", title=title, label=label, note=note)
