"""What the notebook on the context engine shows of one session: replays in, markup in which no text can act out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from workbench.context.state_text import summary_of
from workbench.reports import context_charts as draw
from workbench.reports.render.charts import chart
from workbench.reports.render.embedded import embedded
from workbench.reports.render.html import el, fragment
from workbench.reports.render.numbers import compact, count, plural
from workbench.reports.render.tables import Column, table
from workbench.reports.render.text import visible

if TYPE_CHECKING:
    from workbench.config.context import Pressure
    from workbench.context.compile import Compiled
    from workbench.experiments.replay import Halted, SessionReplay

Row = dict[str, Any]

KEPT: Final = {"checkpoint": "The session checkpoint", "active_state": "Active state", "peripheral": "Peripheral state"}
"""Sections that hold what the engine keeps in mind."""


def prompt_rows(made: SessionReplay) -> list[Row]:
    """One row a prompt of the engine, for charts and for choosing one.

    Returns:
        `turn` (its place, from 1), `where` (exchange 7, or exchange 7, model call 3), `name` (7 or 7.3), `exchange`,
        `step`, `engine_tokens`, `classic_tokens`, `pressure`, and `sessions` and `prompts`, both 1.
    """
    rows: list[Row] = []
    for prompt in made.prompts:
        if prompt.compiled is None:
            continue
        where = f"exchange {prompt.turn}" + (f", model call {prompt.step}" if prompt.step else "")
        name = f"{prompt.turn}.{prompt.step}" if prompt.step else str(prompt.turn)
        told = {"turn": len(rows) + 1, "where": where, "name": name, "exchange": prompt.turn, "step": prompt.step}
        costs = {"engine_tokens": prompt.compiled.raw_tokens, "classic_tokens": prompt.classic_tokens}
        rows.append(told | costs | {"pressure": prompt.compiled.pressure, "sessions": 1, "prompts": 1})
    return rows


def prompt_charts(rows: Sequence[Row], pressure: Pressure) -> str:
    """Tokens of engine and classic, and the pressure, prompt by prompt.

    Args:
        rows: From `prompt_rows`, at least one.
        pressure: The thresholds.
    """
    along = "model call" if rows[0]["step"] else "exchange"
    engine, classic = (sum(row[key] for row in rows) for key in ("engine_tokens", "classic_tokens"))
    label = f"{compact(engine)} tokens by the engine in all, {compact(classic)} by classic."
    title = f"Tokens of the prompt at each {along}"
    tokens = chart(draw.tokens(rows, along), id="prompt-tokens", title=title, label=label, note=label)
    series = {"pressure": "pressure"}
    spec = draw.pressure(rows, pressure.compact_at, pressure.emergency_at, series=series, along=along)
    most = max(row["pressure"] for row in rows)
    limits = f"above {pressure.compact_at:.0%} a prompt is compact, above {pressure.emergency_at:.0%} an emergency"
    note = f"{most:.1%} at most; {limits}."
    title = f"Weighted tokens over the usable budget at each {along}"
    return embedded(tokens, chart(spec, id="prompt-pressure", title=title, label=note, note=note))


def moves_html(before: Compiled, after: Compiled, changes: pl.DataFrame) -> str:
    """What a change of weights or budgets does to a prompt.

    Args:
        before: The prompt as it was.
        after: The prompt as it would be.
        changes: From `experiments.what_if.unit_changes`.
    """
    moved = changes.drop_nulls("moved")
    told = [_moved(moved, "in", "come in"), _moved(moved, "out", "go out")]
    costs = f"{count(before.raw_tokens)} tokens before, {count(after.raw_tokens)} now"
    tight = f"pressure {before.mode} ({before.pressure:.3f}) before, {after.mode} ({after.pressure:.3f}) now"
    sentence = el("p", f"{told[0].capitalize()}; {told[1]}. {costs}; {tight}.", id="moves")
    columns = [
        Column("moved", "moved", lambda value: {"in": "▲ in", "out": "▼ out"}[value]),
        Column("unit_id", "unit", kind="code", is_wide=True),
        Column("source_turn", "of exchange", count, "number"),
        Column("tokens", "tokens", count, "number"),
        Column("rank_before", "rank before", count, "number"),
        Column("rank_after", "now", count, "number"),
        Column("score_before", "score before", lambda value: f"{value:.3f}", "number"),
        Column("score_after", "now", lambda value: f"{value:.3f}", "number"),
    ]
    rows = moved.to_dicts()
    made = table(rows, columns, id="moves-table", label="Units that moved")
    listed = el("details", el("summary", "The units that moved"), made, open=True) if rows else None
    other = changes.height - moved.height
    note = (
        el("p", f"{plural(other, 'more unit has', 'more units have')} another rank and stay where they are.")
        if other
        else None
    )
    return embedded(sentence, listed, note)


def _moved(moved: pl.DataFrame, which: str, verb: str) -> str:
    those = moved.filter(pl.col("moved") == which)
    if not those.height:
        return f"no units {verb}"
    return f"{plural(those.height, 'unit')} {verb} ({plural(int(those['tokens'].sum()), 'token')})"


def kept_html(halted: Halted, compiled: Compiled) -> str:
    """What the engine keeps in mind at one prompt: checkpoint and state as the prompt has them, and all objects.

    Args:
        halted: Where the replay stopped.
        compiled: The prompt.
    """
    texts = {section.name: section.text for section in compiled.sections}
    parts = [
        fragment(el("h3", name), el("div", visible(texts[key]), class_="said result"))
        for key, name in KEPT.items()
        if texts.get(key)
    ]
    objects = [
        {
            "kind": each.kind,
            "tier": each.state_tier + (", taken back" if each.retracted else ", in focus" if each.focused else ""),
            "turn": each.touched_turn,
            "text": summary_of(each),
        }
        for each in halted.engine.graph.snapshot()
    ]
    columns = [
        Column("kind", "kind"),
        Column("tier", "tier"),
        Column("turn", "touched after", title="Exchanges that had ended when somebody last touched it"),
        Column("text", "what", is_wide=True),
    ]
    listed = table(objects, columns, id="state-objects", label="State objects") if objects else None
    none = None if parts else el("p", "Nothing is kept yet: this is the first exchange.", class_="soft")
    return embedded(el("div", parts, none, listed, id="kept"))


def slider_steps(most: float, step: float, value: float) -> list[float]:
    """The steps of a slider from 0 to `most`, with the value at which it stands among them."""
    return sorted({*(round(step * place, 6) for place in range(round(most / step) + 1)), value})
