"""The telemetry report: arms of sessions compared, so that one file tells whether a change helped. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

import numpy as np
import polars as pl

from workbench import __version__
from workbench.experiments.comparison import ALPHA, SMALL, Comparison, Effect
from workbench.experiments.samples import Samples
from workbench.reports import telemetry_charts as draw
from workbench.reports.comparing import Compared, effects_frame
from workbench.reports.render.charts import chart
from workbench.reports.render.html import el
from workbench.reports.render.numbers import UNKNOWN, Clock, count, plural
from workbench.reports.render.page import Figure, Section, figures, page
from workbench.reports.render.tables import Column, table

Row = dict[str, Any]

QUANTILES: Final = {"q05": 0.05, "q25": 0.25, "q75": 0.75, "q95": 0.95}

TERMS: Final = (
    ("unit", "a session, or a pair: one session replayed twice, or a project's sessions of one kind in both arms"),
    ("difference", "mean of the arm minus mean of the baseline; metrics are rates, so long sessions do not count more"),
    (
        "interval",
        "95 %, symmetric bootstrap-t; in simulations with arms of 50 and more it held the truth in 94 to 96 of 100",
    ),
    ("p", "permutation test of t, exact where there are few splits; of pairs, by swapping the two"),
    ("adjusted p", f"Benjamini-Hochberg over all tests of the page; a verdict is given where it is at most {ALPHA:g}"),
    ("rank p", "Mann-Whitney, of pairs Wilcoxon: whether values tend to be larger, whatever the means do"),
    (
        "detectable",
        "the true difference that this comparison finds four times of five: a smaller one may well be there",
    ),
    ("always valid", "the interval that holds however often one looks while sessions come in; it is wider"),
    ("CUPED", "the difference with what the project's earlier sessions tell taken out"),
    ("not shown", "chance alone may well do as much; that is not to say that there is no difference"),
)
"""What the words of the report mean."""


def telemetry_report(
    compared: Compared, *, created_at: datetime, zone: tzinfo | None = None, about: Sequence[str] = ()
) -> str:
    """The page.

    Args:
        compared: The comparison and what it was made from.
        created_at: When it was made, with a zone.
        zone: Of its times; None is the local one.
        about: Further lines for its foot.

    Returns:
        A self-contained HTML document. Its sections have the ids overview, effects, forest, distributions, dropped and
        counting; without a metric that could be compared there are overview, dropped and counting.
    """
    clock = Clock.of(zone, [created_at])
    comparison = compared.comparison
    foot = [f"Made {clock.moment(created_at)} by workbench {__version__}. All times are in {clock.name}.", *about]
    sections = [overview(compared), *sections_of(comparison, compared.samples), _counting()]
    return page("Telemetry", sections, lead=headline(comparison), about=foot)


def sections_of(comparison: Comparison, samples: Samples) -> list[Section]:
    """What the metrics say: for the report and the notebook."""
    made = []
    if comparison.effects:
        made += [effects(comparison), forest(comparison), distributions(comparison, samples)]
    return [*made, *dropped(comparison)]


def headline(comparison: Comparison) -> str:
    """What came out, in a sentence."""
    told = {
        verdict: [e for e in comparison.effects if e.verdict == verdict] for verdict in ("better", "worse", "differs")
    }
    clear = [f"{len(some)} {_SAID[verdict]}" for verdict, some in told.items() if some]
    tests = len(comparison.effects)
    if not tests:
        return "No metric could be compared"
    said = ", ".join(clear) if clear else "no difference shown"
    return f"{said.capitalize()} in {plural(tests, 'test')} against {comparison.baseline}"


_SAID: Final = {"better": "better", "worse": "worse", "differs": "different, neither way being better"}


def overview(compared: Compared) -> Section:
    """The arms, whether they fit the plan, and what is to be said of the whole."""
    comparison = compared.comparison
    conditions = {arm.name: arm.condition for arm in compared.arms}
    thing = "pair" if comparison.design == "pairs" else "session"
    shown = [
        Figure(name, plural(units, thing), conditions.get(name) or ("baseline" if name == comparison.baseline else ""))
        for name, units in comparison.units.items()
    ]
    ratio = comparison.ratio
    check = f"Sample ratio: {ratio['note']}" + (f" (p {_p(ratio['p'])})." if ratio["p"] is not None else ".")
    notes = [check, *(f"{note[:1].upper()}{note[1:]}." for note in comparison.notes)]
    alarm = el("p", el("b", "Units per arm do not fit the plan: trust nothing below.")) if ratio["alarm"] else None
    return Section("overview", "Arms", (figures(shown), alarm, el("ul", [el("li", note) for note in notes])))


def effects(comparison: Comparison) -> Section:
    """Every effect in a table, those with a verdict first."""
    rows = [_effect_row(effect) for effect in sorted(comparison.effects, key=_by_verdict)]
    columns = [
        Column("metric", "metric", kind="code"),
        *([Column("arm", "arm")] if len(comparison.units) > 2 else []),  # noqa: PLR2004
        Column("verdict", "verdict"),
        Column("n", "units", kind="number", title="Of the baseline and of the arm"),
        Column("baseline", comparison.baseline, kind="number", title="Mean (median)"),
        Column("other", _other(comparison), kind="number", title="Mean (median)"),
        Column("difference", "difference", kind="number", title="With its 95 % interval"),
        Column("p_adjusted", "adjusted p", kind="number"),
        Column("p", "p", kind="number"),
        Column("p_rank", "rank p", kind="number"),
        Column("detectable", "detectable", kind="number"),
        Column("always", "always valid", kind="number"),
        *([Column("cuped", "CUPED", kind="number")] if any(each.cuped for each in comparison.effects) else []),
        Column("notes", "", is_wide=True),
    ]
    made = table(rows, columns, id="effects-table", label="Effects")
    return Section("effects", "Effects", (made,), lead=f"Differences are against {comparison.baseline}.")


def forest(comparison: Comparison) -> Section:
    """Differences over the baseline's mean, side by side."""
    drawn = [effect for effect in comparison.effects if effect.mean_baseline]
    left = len(comparison.effects) - len(drawn)
    if not drawn:
        return Section("forest", "Forest plot", (el("p", "Every metric is 0 in the baseline; the table has them."),))
    arms = [name for name in comparison.units if name != comparison.baseline]
    rows = [_share_row(effect) for effect in drawn]
    note = "The table has the figures." + (
        f" {plural(left, 'metric')} with a mean of 0 in the baseline not drawn." if left else ""
    )
    title = "Difference of each metric over the baseline's mean, with its 95 % interval"
    made = chart(
        draw.forest(rows, arms), id="forest-plot", title=title, label=f"{title}: {headline(comparison)}.", note=note
    )
    return Section("forest", "Forest plot", (made,))


def distributions(comparison: Comparison, samples: Samples) -> Section:
    """How the units of each arm lie."""
    rows = distribution_rows(comparison, samples)
    arms = list(comparison.units)
    title = "Units of each arm: the middle half as a bar, 5 to 95 % as a line, the median marked"
    columns = [
        Column("metric", "metric", kind="code"),
        Column("arm", "arm"),
        Column("n", "units", count, "number"),
        *(Column(name, name, _number, "number") for name in ("q05", "q25", "median", "q75", "q95")),
    ]
    made = chart(
        draw.distributions(rows, arms), id="distribution-plot", title=title, label=f"{title}.", numbers=(rows, columns)
    )
    return Section("distributions", "Distributions", (made,))


def distribution_rows(comparison: Comparison, samples: Samples) -> list[Row]:
    """Quantiles of each compared metric in each arm."""
    compared = {effect.metric for effect in comparison.effects}
    rows = []
    for place, measure in enumerate(samples.measures):
        if measure.name not in compared:
            continue
        for sample in samples.samples:
            values = sample.values[:, place]
            values = values[~np.isnan(values)]
            if not len(values):
                continue
            found = {name: float(np.quantile(values, at)) for name, at in QUANTILES.items()}
            median = float(np.median(values))
            says = f"{measure.name}, {sample.arm}: median {_number(median)} of {len(values):,}"
            rows.append(
                {"metric": measure.column, "arm": sample.arm, "n": len(values), **found, "median": median, "says": says}
            )
    return rows


def dropped(comparison: Comparison) -> list[Section]:
    """Metrics that were not compared, and why; nothing where there are none."""
    if not comparison.dropped:
        return []
    items = [el("li", el("code", each.metric), f": {each.why}") for each in comparison.dropped]
    return [Section("dropped", "Not compared", (el("ul", items, class_="findings"),))]


def numbers_frame(compared: Compared) -> pl.DataFrame:
    """Everything that is in the report as numbers: effects, and quantiles of both arms beside each."""
    frame = effects_frame(compared.comparison)
    keys = ("metric", "arm", "n", "median", "says")
    rows = [
        {"compared": row["metric"], "of": row["arm"], **{name: row[name] for name in row if name not in keys}}
        for row in distribution_rows(compared.comparison, compared.samples)
    ]
    schema: dict[str, Any] = {"compared": pl.String, "of": pl.String, **dict.fromkeys(QUANTILES, pl.Float64)}
    quantiles = pl.DataFrame(rows, schema=schema)
    for side, arm in (("baseline", "baseline"), ("arm", "arm")):
        renamed = quantiles.rename({name: f"{name}_{side}" for name in QUANTILES} | {"of": arm})
        frame = frame.join(renamed, on=["compared", arm], how="left", maintain_order="left")
    return frame


# -- cells -------------------------------------------------------------------------------------------------------------


def _counting() -> Section:
    terms = [el("div", el("dt", word), el("dd", meaning)) for word, meaning in TERMS]
    return Section("counting", "What the words mean", (el("dl", terms, class_="facts"),), menu="Words")


def _by_verdict(effect: Effect) -> tuple[int, float]:
    order = ("worse", "better", "differs", "not shown", "not tested")
    return order.index(effect.verdict), effect.p_adjusted if effect.p_adjusted is not None else 2.0


def _other(comparison: Comparison) -> str:
    others = [name for name in comparison.units if name != comparison.baseline]
    return others[0] if len(others) == 1 else "arm"


def _effect_row(effect: Effect) -> Row:
    cuped = effect.cuped
    return {
        "metric": effect.column,
        "arm": effect.arm,
        "n": f"{effect.n_baseline:,} / {effect.n_arm:,}",
        "baseline": f"{_number(effect.mean_baseline)} ({_number(effect.median_baseline)})",
        "other": f"{_number(effect.mean_arm)} ({_number(effect.median_arm)})",
        "difference": _spanned(effect.difference, effect.low, effect.high),
        "p": _p(effect.p),
        "p_adjusted": _p(effect.p_adjusted),
        "p_rank": _p(effect.p_rank),
        "detectable": _number(effect.minimum_detectable),
        "always": _ends(effect.sequential_low, effect.sequential_high),
        "cuped": None if cuped is None else _spanned(cuped.difference, cuped.low, cuped.high),
        "verdict": effect.verdict,
        "notes": "; ".join(note for note in effect.notes if not note.startswith(f"fewer than {SMALL}")),
    }


def _share_row(effect: Effect) -> Row:
    whole = abs(effect.mean_baseline)
    ends = {"low": effect.low, "high": effect.high}
    parts = {name: None if end is None else end / whole for name, end in ends.items()}
    said = f"{effect.column}, {effect.arm}: {_spanned(effect.difference, effect.low, effect.high)}, {effect.verdict}"
    return {"metric": effect.column, "arm": effect.arm, "share": effect.difference / whole, **parts, "says": said}


def _number(value: float | None) -> str:
    """Three digits that count."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"  # noqa: PLR2004


def _signed(value: float) -> str:
    return f"+{_number(value)}" if value > 0 else _number(value)


def _ends(low: float | None, high: float | None) -> str:
    return UNKNOWN if low is None or high is None else f"{_signed(low)} to {_signed(high)}"


def _spanned(value: float, low: float | None, high: float | None) -> str:
    ends = _ends(low, high)
    return _signed(value) if ends == UNKNOWN else f"{_signed(value)} ({ends})"


def _p(value: float | None) -> Any:
    if value is None:
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004
