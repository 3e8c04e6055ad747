"""The report of a study of settings: whether others would have been better, and how far that can be trusted. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.experiments.study.plain import TUNED
from workbench.reports import tuning_charts as draw
from workbench.reports.render.charts import chart
from workbench.reports.render.html import el
from workbench.reports.render.numbers import count
from workbench.reports.render.page import Figure, Section, figures
from workbench.reports.render.tables import Column, table
from workbench.reports.tuning_numbers import null_numbers, number_row, numbers_of, short, spanned
from workbench.reports.tuning_parts import Told, gain_cell, gain_figures, null, sentence, three, verdict_told

if TYPE_CHECKING:
    import polars as pl

    from workbench.experiments.study.plain import SpaceResult

Row = dict[str, Any]


def told_by(result: SpaceResult) -> Told:
    """What the study says; its sections have the ids overview, settings, null, values and counting."""
    headline = verdict_told(result, "settings", result.measure, "the best that was set by hand")
    made = [overview(result), settings(result), null(result, result.measure), values(result), _counting(result)]
    return Told(result.study_id, f"Tuning: {result.what}", headline, made)


def overview(result: SpaceResult) -> Section:
    """Verdict and the figures behind it."""
    writes = "tune --apply writes the settings" if result.may_apply else "tune --apply writes nothing"
    told = [
        Figure("Verdict", result.verdict, writes),
        *gain_figures(result, result.measure),
        Figure(sentence(result.of)[:-1], count(result.groups), f"of {result.looked_at:,}; each held out in turn"),
    ]
    search = f"{result.trials:,} evenly spread trials and {result.learning_trials} that learn, {result.folds} parts"
    reason = el("p", el("b", sentence(result.why)))
    return Section("overview", "Verdict", (reason, figures(told)), lead=f"{search}, seed {result.seed}.")


def settings(result: SpaceResult) -> Section:
    """What could have been set by hand, and what was tuned, each over the settings in use."""
    rows = [
        {"setting": each.name, "mean": each.mean, "over": each.over_default, "best": each.name == result.best_hand_set}
        for each in result.rows
    ]
    columns = [
        Column("setting", "setting"),
        Column("mean", result.measure, three, "number"),
        Column("over", "over in use", gain_cell, "number", title="Gain with its 95 % interval"),
        Column("best", "", lambda best: "the one to beat" if best else ""),
    ]
    marks = [
        {
            "over": "the settings in use",
            "policy": each.name,
            "kind": "tuned" if each.name == TUNED else "hand-set",
            "gain": each.over_default.estimate,
            "low": each.over_default.low,
            "high": each.over_default.high,
            "says": f"{each.name}: {spanned(each.over_default)}",
        }
        for each in result.rows
    ]
    title = f"Gain in {result.measure} of each setting over those in use, with its 95 % interval"
    plot = chart(
        draw.forest(marks, [each.name for each in result.rows], result.measure),
        id="forest-plot",
        title=title,
        label=f"{title}; the table has the figures.",
    )
    lead = "What was tuned is judged where it was not searched; ▲ and ▼ mark intervals without 0."
    made = table(rows, columns, id="settings-table", label="Settings")
    return Section("settings", "Settings", (plot, made), lead=lead)


def values(result: SpaceResult) -> Section:
    """Each value: in use, found on all groups, and found without each part."""
    rows = [
        {
            "name": name,
            "in_use": result.default[name],
            "found": found,
            "low": min(part[name] for part in result.fold_points),
            "high": max(part[name] for part in result.fold_points),
        }
        for name, found in result.found.items()
    ]
    columns = [
        Column("name", "setting", kind="code"),
        Column("in_use", "in use", three, "number"),
        Column("found", "found", three, "number", title=f"On all {result.of}"),
        Column("low", "least", three, "number", title="Of those found without one part"),
        Column("high", "most", three, "number", title="Of those found without one part"),
    ]
    title = f"Each value: in use, found, and found without one part of the {result.of}"
    plot = chart(draw.weights(list(_marks(result)), "value"), id="values-plot", title=title, label=f"{title}.")
    made = table(rows, columns, id="values-table", label="Values")
    lead = "Where the parts differ, a value is not identified."
    return Section("values", "Values", (plot, made), lead=lead)


def numbers_frame(result: SpaceResult) -> pl.DataFrame:
    """Every number of a study of settings, a row each; columns as for the study of weights."""
    return numbers_of(_numbers(result))


def _numbers(result: SpaceResult) -> Iterator[Row]:
    texts = {
        "what": result.what,
        "verdict": result.verdict,
        "why": result.why,
        "best hand-set": result.best_hand_set,
        "may be applied": "yes" if result.may_apply else "no",
    }
    for figure, says in texts.items():
        yield number_row("overview", "study", figure, says=says)
    yield number_row("overview", "study", "gain", bounds=result.gain)
    yield number_row("overview", "study", "gain where searched", result.in_search_gain)
    yield number_row("overview", "study", "detectable", result.minimum_detectable_effect)
    yield number_row("overview", "study", result.of, result.groups)
    yield number_row("overview", "study", "looked at", result.looked_at)
    for each in result.rows:
        yield number_row("settings", each.name, result.measure, each.mean)
        yield number_row("settings", each.name, "over in use", bounds=each.over_default)
    yield from null_numbers(result)
    for name, found in result.found.items():
        yield number_row("values", name, "in use", result.default[name])
        yield number_row("values", name, "found", found)
        for number, part in enumerate(result.fold_points, 1):
            yield number_row("values", name, f"without part {number}", part[name])


def _marks(result: SpaceResult) -> Iterator[Row]:
    for name, found in result.found.items():
        marks = [("in use", result.default[name]), ("found", found)]
        marks += [("without one part", part[name]) for part in result.fold_points]
        for kind, value in marks:
            yield {"weight": short(name), "kind": kind, "value": value, "says": f"{short(name)}, {kind}: {value:.3f}"}


def _counting(result: SpaceResult) -> Section:
    terms = {
        "held out": f"each of the {result.of} is judged by settings found without it and without its relatives",
        "interval": f"95 %, paired bootstrap over {result.of}; the spread over seeds stands beside it",
        "permuted labels": "the whole search on labels dealt out anew; a gain on these would be none",
        "detectable": "the true gain that such a study finds four times of five: a smaller one may well be there",
        "the one to beat": "the best that a person could have set without a search",
    }
    listed = [el("div", el("dt", word), el("dd", meaning)) for word, meaning in terms.items()]
    return Section("counting", "What the words mean", (el("dl", listed, class_="facts"),), menu="Words")
