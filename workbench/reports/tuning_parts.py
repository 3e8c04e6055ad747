"""What pages of studies of every kind have in common: the gain, its null, and how they are written. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from workbench import __version__
from workbench.experiments.study.result import Bounds
from workbench.reports import tuning_charts as draw
from workbench.reports.render.charts import chart
from workbench.reports.render.html import Child, el
from workbench.reports.render.numbers import UNKNOWN, Clock, plural
from workbench.reports.render.page import Figure, Section, page
from workbench.reports.render.tables import Column
from workbench.reports.tuning_numbers import Gained, null_rows, signed, spanned

VERDICTS: Final = {
    "no difference": "No difference shown",
    "better": "Better",
    "worse": "Worse",
}


class Told(NamedTuple):
    """What a study says, whatever was studied.

    Attributes:
        study_id: Its id.
        title: Of its page.
        headline: The verdict in one plain sentence, without its full stop.
        sections: In order.
    """

    study_id: str | None
    title: str
    headline: str
    sections: list[Section]


def study_page(
    told: Told, *, made_at: datetime, created_at: datetime, zone: tzinfo | None = None, about: Sequence[str] = ()
) -> str:
    """The page of a study: a self-contained HTML document.

    Args:
        told: The study.
        made_at: When it ended, with a zone.
        created_at: When the page was made, with a zone.
        zone: Of its times; None is the local one.
        about: Further lines for its foot.
    """
    clock = Clock.of(zone, [made_at, created_at])
    times = f"Study {told.study_id} of {clock.moment(made_at)}; page made {clock.moment(created_at)}"
    foot = [f"{times} by workbench {__version__}. All times are in {clock.name}.", *about]
    return page(told.title, told.sections, lead=f"{told.headline}.", about=foot)


def verdict_told(result: Gained, found: str, measure: str, best: str) -> str:
    """The verdict in one plain sentence, without its full stop.

    Args:
        result: The study.
        found: What was tuned, such as weights.
        measure: What a gain is a gain in.
        best: What to call the best that was set by hand.
    """
    reason = result.why.split("; ")[0]
    if result.verdict == "no verdict":
        return f"No verdict: {reason}"
    if result.verdict == "null does not hold":
        return f"The null does not hold: {reason}, so no gain of this study means anything"
    told = f"{VERDICTS[result.verdict]}: held out, the tuned {found} gain {spanned(result.gain)} in {measure} over "
    told += f"{result.best_hand_set}, {best}"
    if result.verdict == "no difference" and result.minimum_detectable_effect is not None:
        told += f"; a true gain of {result.minimum_detectable_effect:.3f} would be found four times of five"
    return told


def gain_figures(result: Gained, measure: str = "lift") -> list[Figure]:
    """The held-out gain, and what to hold against it; none where nothing was held out."""
    if result.gain is None:
        return []
    low, high = signed(result.gain.low), signed(result.gain.high)
    repeats = f"{plural(len(result.seeds), 'repeat')} of the whole search"
    return [
        Figure(f"Gain in {measure}, held out", signed(result.gain.estimate), f"{low} to {high} (95 %)"),
        Figure("Where it was searched", signed(result.in_search_gain), "over what is in use: not evidence"),
        Figure("Detectable", three(result.minimum_detectable_effect), "found four times of five"),
        Figure("On permuted labels", *_permuted(result)),
        Figure("Under other seeds", _seeds(result), repeats),
    ]


def null(result: Gained, measure: str = "lift") -> Section:
    """What the same search gains where there is nothing to gain, and how much it changes with the seed."""
    found = result.null
    if found is None:
        return Section("null", "Permuted labels", (el("p", "No labels were permuted."),), menu="Null")
    rows = null_rows(result)
    over = plural(found.permutations, "permutation")
    told = f"mean gain {signed(found.mean)}, standard error {four(found.standard_error)}, over {over}"
    holds = "The null holds" if found.holds else "The null does not hold"
    rule = f"It holds where the standard error is at most {found.standard_error_asked:g} and the mean within "
    rule += f"{found.tolerance:g} of 0 (the band)"
    lead = f"{holds}: {told}. {rule}; at most {found.most} permutations are made."
    title = "The held-out gain beside other seeds and permuted labels"
    columns = [Column("says", "what", is_wide=True), Column("gain", f"gain in {measure}", signed, "number")]
    plot = chart(
        draw.null(rows, found.tolerance, measure),
        id="null-plot",
        title=title,
        label=f"{title}: {told}.",
        numbers=(rows, columns),
    )
    return Section("null", "Permuted labels and other seeds", (plot,), lead=lead, menu="Null")


def gain_cell(gain: Bounds | None) -> Child:
    """A gain with its interval under it, and a mark where that is on one side of 0."""
    if gain is None:
        return UNKNOWN
    mark = "▲ " if gain.low > 0 else "▼ " if gain.high < 0 else ""
    ends = f"{signed(gain.low)} to {signed(gain.high)}"
    return [f"{mark}{signed(gain.estimate)}", el("br"), el("small", ends, class_="soft")]


def sentence(text: str) -> str:
    """The text with a capital at its beginning and a full stop at its end."""
    return f"{text[:1].upper()}{text[1:]}."


def three(value: float | None) -> str:
    """Three decimals, a dash where it is not known."""
    return UNKNOWN if value is None else f"{value:.3f}"


def four(value: float | None) -> str:
    """Four decimals, a dash where it is not known."""
    return UNKNOWN if value is None else f"{value:.4f}"


def _permuted(result: Gained) -> tuple[str, str]:
    found = result.null
    if found is None:
        return UNKNOWN, ""
    holds = "holds" if found.holds else "does not hold"
    made = plural(found.permutations, "permutation")
    return signed(found.mean), f"± {four(found.standard_error)}, {made}: {holds}"


def _seeds(result: Gained) -> str:
    return f"{signed(min(result.seeds))} to {signed(max(result.seeds))}" if result.seeds else UNKNOWN
