"""What the notebook on weights shows of one moment and of a search at work: frames in, safe markup out."""

from __future__ import annotations

from typing import Final

import polars as pl

from workbench.context.scoring import ADDED
from workbench.experiments.labels.rules import NEEDED_GRADE
from workbench.experiments.reranking import Selected, judge_ranking, rank_changes
from workbench.reports import tuning_charts as draw
from workbench.reports.render.charts import chart
from workbench.reports.render.embedded import embedded
from workbench.reports.render.html import Child, Html, el
from workbench.reports.render.numbers import UNKNOWN, count, plural
from workbench.reports.render.tables import Column, table
from workbench.reports.render.text import one_line, shorten
from workbench.reports.tuning_numbers import progress_rows, signed

SHOWN: Final = 60
"""Units of a moment that are listed."""
CARD_CHARACTERS: Final = 90
"""Of a unit's card, to know it by."""
MARKS: Final = {"in": "▲ in", "out": "▼ out"}


def ranking_html(before: pl.DataFrame, after: pl.DataFrame) -> str:
    """One moment under other weights: what goes in and out, and the units with their terms.

    Args:
        before: From `experiments.reranking.rank_moment`, under the weights in use.
        after: The same moment under the others.
    """
    changes = rank_changes(before, after)
    telling = pl.col("is_taken") | pl.col("moved").is_not_null() | (pl.col("grade") >= NEEDED_GRADE)
    rows = changes.filter(telling).head(SHOWN)
    columns = [
        Column("rank", "rank", count, "number"),
        Column("rank_before", "before", count, "number"),
        Column("is_taken", "taken", lambda taken: "yes" if taken else "no"),
        Column("moved", "moved", lambda moved: MARKS.get(moved, "")),
        Column("grade", "needed", lambda grade: f"grade {grade}" if grade else "", title="What the label says"),
        Column("named", "unit", _named, is_wide=True),
        Column("source_turn", "exchange", count, "number"),
        Column("tokens", "tokens", count, "number"),
        *(Column(name, name.replace("_", " "), _three, "number") for name in (*ADDED, "score")),
    ]
    named = [{**row, "named": (row["unit_id"], row["card"])} for row in rows.iter_rows(named=True)]
    made = table(named, columns, id="ranking-table", label="Units by score")
    other = changes.height - rows.height
    left = f"{plural(other, 'more unit is', 'more units are')} on offer and not listed." if other else ""
    note = el("p", f"Listed are units that are taken, moved or needed. {left}", class_="soft")
    return embedded(el("p", _moved(changes), id="ranking"), _judged(before, after), made, note)


def progress_html(trials: pl.DataFrame) -> str:
    """The best lift so far of a study's search, trial by trial.

    Args:
        trials: Its rows of the table `trials`.
    """
    rows = progress_rows(trials)
    if not rows:
        return embedded(el("p", "No trial was made: too few sessions are scored.", id="progress-none"))
    best = rows[-1]["best"]
    title = "The best point so far, where it is searched"
    made = plural(rows[-1]["trial"], "trial")
    note = f"{made} over all sessions; lift {best:.3f} in the end, {rows[0]['best']:.3f} at first."
    return embedded(chart(draw.progress(rows), id="progress-plot", title=title, label=note, note=note))


def _moved(changes: pl.DataFrame) -> str:
    told = []
    for which, one, several in (("in", "comes in", "come in"), ("out", "goes out", "go out")):
        those = changes.filter(pl.col("moved") == which)
        tokens = count(int(those["tokens"].sum()))
        told.append(f"{plural(those.height, f'unit {one}', f'units {several}')} ({tokens} tokens)")
    return f"{'; '.join(told)}."


def _judged(before: pl.DataFrame, after: pl.DataFrame) -> Html:
    rows = [_line("in use", judge_ranking(before)), _line("the sliders", judge_ranking(after))]
    columns = [
        Column("weights", "weights"),
        Column("taken", "units taken", count, "number"),
        Column("tokens", "tokens", count, "number"),
        Column("share", "share of the pool", kind="number"),
        Column("recall", "recall of the needed", kind="number"),
        Column("lift", "lift", kind="number"),
    ]
    return table(rows, columns, id="judged-table", label="What is taken")


def _line(weights: str, found: Selected) -> dict[str, object]:
    recall = UNKNOWN if found.recall is None else f"{found.recall:.3f}"
    told = {"weights": weights, "taken": found.taken, "tokens": found.tokens, "share": f"{found.share:.3f}"}
    return told | {"recall": recall, "lift": signed(found.lift)}


def _named(unit: tuple[str, str]) -> Child:
    """A unit's id, and the beginning of its card under it."""
    name, card = unit
    return [el("code", name), el("br"), el("small", shorten(one_line(card), CARD_CHARACTERS), class_="soft")]


def _three(value: float) -> str:
    return f"{value:.3f}"
