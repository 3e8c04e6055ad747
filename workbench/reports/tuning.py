"""The tuning report: whether other weights would have helped, and how far that can be trusted. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workbench.experiments.study.result import Bounds, RuleRow, StudyResult
from workbench.reports import tuning_charts as draw
from workbench.reports import tuning_numbers as numbers
from workbench.reports.render.charts import chart
from workbench.reports.render.html import el
from workbench.reports.render.numbers import UNKNOWN, count, plural
from workbench.reports.render.page import Figure, Section, figures
from workbench.reports.render.tables import Column, table
from workbench.reports.tuning_numbers import signed, spanned
from workbench.reports.tuning_parts import Told, gain_cell, gain_figures, null, sentence, three, verdict_told

Row = dict[str, Any]

SESSIONS_SHOWN: Final = 20

TERMS: Final = (
    ("moment", "a model call, or an exchange, whose pool of units exceeds the budget and holds a needed one"),
    ("needed", "what the agent did later shows that it needed the unit: it imitates what was done, it proves no help"),
    (
        "recall",
        "share of the needed units that a policy takes; it rewards many small units, and decides nothing",
    ),
    ("lift", "recall minus the share of the pool's units that was taken: what is above chance; the headline"),
    ("matched", "recall above chance among units of like kind and size: what is left when size tells nothing"),
    ("nDCG", "whether needed units stand high in the order, by their grades"),
    (
        "held out",
        "each session is judged by weights found without it and without sessions that share its records",
    ),
    (
        "interval",
        "95 %, paired bootstrap over sessions; the spread over seeds is not in it, and stands beside it",
    ),
    ("permuted labels", "the whole search on labels dealt out anew within each moment; a gain on these would be none"),
    ("detectable", "the true gain that such a study finds four times of five: a smaller one may well be there"),
    ("hand-set", "what a person could have set without a search; the best of them is the one to beat"),
    (
        "learned",
        "boosted trees, held out: how much more there might be; with size and kind mostly an artefact",
    ),
    ("bound", "everything, chance, and an oracle that knows the labels"),
    ("window", "by exchange, units as old as those that a live prompt does not show word for word"),
)
"""What the words of the report mean."""


def told_by(result: StudyResult) -> Told:
    """What the study says.

    Its sections have the ids overview, policies, recall, null, beside, rules, weights, sensitivity, sessions, dropped
    and counting; what a study of few sessions has not is left out.
    """
    return Told(result.study_id, "Tuning", headline(result), [*sections_of(result), _counting()])


def sections_of(result: StudyResult) -> list[Section]:
    """What the study says, a section each: for the report and the notebook."""
    made = [overview(result)]
    if result.policies:
        made += [policies(result), recall(result), null(result)]
    made += [make(result) for rows, make in ((result.beside, beside), (result.rules, rules)) if rows]
    made.append(weights(result))
    if result.policies:
        made += [sensitivity(result), sessions(result)]
    return [*made, dropped(result)]


def headline(result: StudyResult) -> str:
    """The verdict in one plain sentence, without its full stop."""
    return verdict_told(result, "weights", "lift", "the best policy set by hand")


def overview(result: StudyResult) -> Section:
    """Verdict, the figures behind it, warnings."""
    speed = result.evaluations_per_second
    told = [Figure("Verdict", result.verdict, _applies(result))]
    if result.gain is not None:
        told += gain_figures(result)
    told.append(
        Figure("Scored sessions", count(result.dropped["sessions_scored"]), f"of {result.dropped['sessions']:,}")
    )
    scored, moments = result.dropped["moments_scored"], result.dropped["moments"]
    told.append(Figure("Scored moments", count(scored), f"of {moments:,}"))
    if speed is not None:
        told.append(
            Figure("Evaluations a second", count(speed), f"{result.evaluations:,} bulk trials over all sessions")
        )
    notes = [
        *(f"Warning: {each}." for each in result.warnings),
        *(f"Not in this study: {each}." for each in result.lacks),
    ]
    listed = el("ul", [el("li", note) for note in notes], class_="findings") if notes else None
    return Section(
        "overview",
        "Verdict",
        (el("p", el("b", f"{sentence(result.why)}")), figures(told), listed),
        lead=_setting(result),
    )


def policies(result: StudyResult) -> Section:
    """Every policy: lift, and its gains with their intervals."""
    ordered = numbers.policy_order(result.policies)
    rows = [
        {
            "policy": each.name,
            "kind": each.kind,
            "lift": each.lift,
            "seed": each.lift_over_seed,
            "best": each.lift_over_best,
            "matched": each.matched_over_repaired,
        }
        for each in ordered
    ]
    columns = [
        Column("policy", "policy"),
        Column("kind", "kind"),
        Column("lift", "lift", signed, "number"),
        Column("seed", "over seed default", gain_cell, "number", title="Gain in lift with its 95 % interval"),
        Column(
            "best",
            "over best hand-set",
            gain_cell,
            "number",
            title=f"Over {result.best_hand_set}: the verdict's own figure",
        ),
        Column(
            "matched",
            "matched, over repaired",
            gain_cell,
            "number",
            title="Gain in matched recall over the repaired default",
        ),
    ]
    title = "Gain in lift of each policy, with its 95 % interval"
    names = [each.name for each in ordered]
    plot = chart(
        draw.forest(numbers.forest_rows(result), names),
        id="forest-plot",
        title=title,
        label=f"{title}: {headline(result)}.",
    )
    made = table(rows, columns, id="policies-table", label="Policies")
    lead = "Default weights with the original's relevance (seed) and with real corpus statistics (repaired), simple "
    lead += "rules, what was tuned, what can be learnt, and bounds; ▲ and ▼ mark intervals without 0."
    return Section("policies", "Policies", (plot, made), lead=lead)


def recall(result: StudyResult) -> Section:
    """Recall beside what is left of it above chance, and above chance for the same size."""
    ordered = numbers.policy_order(result.policies)
    columns = [
        Column("policy", "policy"),
        *(Column(name, head, three, "number") for name, head in _MEASURED),
    ]
    rows = [{"policy": each.name, **{name: getattr(each, name) for name, _ in _MEASURED}} for each in ordered]
    title = "Recall, lift and matched recall"
    lead = (
        "Recall alone deceives: taking many small units raises it without choosing better. Read it with the other two."
    )
    plot = chart(
        draw.measures(numbers.measure_rows(result), [each.name for each in ordered]),
        id="recall-plot",
        title=title,
        label=f"{title} of {plural(len(ordered), 'policy', 'policies')}; the table has the figures.",
    )
    return Section(
        "recall",
        "Recall, and what is left of it",
        (plot, table(rows, columns, id="recall-table", label=title)),
        lead=lead,
        menu="Recall",
    )


_MEASURED: Final = (
    ("recall", "recall"), ("share", "share taken"), ("lift", "lift"), ("matched", "matched"), ("ndcg", "nDCG"),
    ("weak", "recall of grade 1"),
)  # fmt: skip


def beside(result: StudyResult) -> Section:
    """Other levels, and whole developers and projects held out."""
    levels = [
        {
            "level": each.level,
            "sessions": each.sessions,
            "moments": each.moments,
            "seed": spanned(each.lift_over_seed),
            "repaired": spanned(each.lift_over_repaired),
            "repair": spanned(each.repaired_over_seed),
        }
        for each in result.beside
    ]
    columns = [
        Column("level", "level"),
        Column("sessions", "sessions", count, "number"),
        Column("moments", "moments", count, "number"),
        Column("seed", "tuned over seed", kind="number"),
        Column("repaired", "tuned over repaired", kind="number"),
        Column("repair", "repaired over seed", kind="number"),
    ]
    parts = [el("h3", "Other levels"), table(levels, columns, id="levels-table", label="Other levels")]
    groups = [
        {"by": each.by, "name": each.name, "sessions": each.sessions, "gain": spanned(each.gain)}
        for each in result.groups
    ]
    if groups:
        columns = [
            Column("by", "held out"),
            Column("name", "which", kind="code"),
            Column("sessions", "sessions", count, "number"),
            Column("gain", "gain over best hand-set", kind="number"),
        ]
        parts += [
            el("h3", "Whole developers and projects held out"),
            table(groups, columns, id="groups-table", label="Groups"),
        ]
    lead = "The same search at another level, and with everything of one developer or project held out."
    if any(each.gain == Bounds(0.0, 0.0, 0.0) for each in result.groups):
        lead += " A gain of 0 without any spread: the search stayed at the weights that are in use."
    return Section("beside", "Does it carry over?", tuple(parts), lead=lead, menu="Elsewhere")


def rules(result: StudyResult) -> Section:
    """Weights tuned on one label, judged on each."""
    by_pair = {(each.tuned_on, each.judged_on): each for each in result.rules}
    names = list(dict.fromkeys(each.tuned_on for each in result.rules))
    judged = list(dict.fromkeys(each.judged_on for each in result.rules))
    rows = [{"tuned": name, **{other: _gained(by_pair.get((name, other))) for other in judged}} for name in names]
    columns = [
        Column("tuned", "tuned on", kind="code"),
        *(Column(name, f"on {name}", gain_cell, "number") for name in judged),
    ]
    made = table(rows, columns, id="rules-table", label="Tuned on one label, judged on another")
    lead = "Gain in lift over the repaired default, held out. Weights that win on one label and lose (▼) on another "
    lead += "follow the label, not the need; ▲ and ▼ mark intervals without 0."
    return Section("rules", "Label by label", (made,), lead=lead, menu="Labels")


def weights(result: StudyResult) -> Section:
    """What was found beside what is in use, and how far parts of the sessions agree."""
    rows = numbers.weight_rows(result)
    columns = [
        Column("weight", "weight", kind="code"),
        Column("in_use", "in use", three, "number"),
        Column("found", "found", three, "number", title="On all sessions"),
        Column("low", "least", three, "number", title="Of those found without one part"),
        Column("high", "most", three, "number", title="Of those found without one part"),
        Column("note", "", is_wide=True),
    ]
    made = table(rows, columns, id="weights-table", label="Weights")
    if not result.policies:
        return Section("weights", "Weights", (made,), lead="Nothing was searched.")
    title = "Each weight: in use, found, and found without one part of the sessions"
    plot = chart(draw.weights(numbers.weight_marks(result)), id="weights-plot", title=title, label=f"{title}.")
    lead = "Only ratios matter: weights are scaled to the sum of those in use. Where the parts differ, a weight is not "
    lead += "identified."
    return Section("weights", "Weights", (plot, made), lead=lead)


def sensitivity(result: StudyResult) -> Section:
    """What single weights do, in the data in which they were found."""
    rows = numbers.sensitivity_rows(result)
    lead = "Change in lift when one of the found weights is multiplied and the others stay; over all scored sessions, "
    lead += "not held out."
    if not rows:
        return Section("sensitivity", "Sensitivity", (el("p", "Every weight found is 0."),), lead=lead)
    columns = [
        Column("weight", "weight", kind="code"),
        Column("factor", "times", kind="number"),
        Column("change", "change in lift", signed, "number"),
    ]
    title = "Change in lift when one weight is multiplied"
    plot = chart(draw.sensitivity(rows), id="sensitivity-plot", title=title, label=f"{title}.", numbers=(rows, columns))
    return Section("sensitivity", "Sensitivity", (plot,), lead=lead)


def sessions(result: StudyResult) -> Section:
    """Where the tuned weights do better and where worse."""
    rows = numbers.session_gains(result)
    up, down = (sum(sign * row["gain"] > 0 for row in rows) for sign in (1, -1))
    same = len(rows) - up - down
    lead = f"Lift rises in {up} of {plural(len(rows), 'session')}, falls in {down}, and is the same in {same}."
    columns = [
        Column("session", "session", kind="code"),
        Column("developer", "developer"),
        Column("moments", "moments", count, "number"),
        Column("best", "best hand-set", signed, "number"),
        Column("tuned", "tuned", signed, "number"),
        Column("gain", "gain", signed, "number"),
    ]
    moved = [row for row in rows if row["gain"]]
    shown = moved[:SESSIONS_SHOWN]
    left = f"The {len(shown)} with the largest change" if len(moved) > len(shown) else "Those that change"
    made = table(shown, columns, id="sessions-table", label="Sessions") if shown else None
    more = el("p", f"{left}; the Parquet file has all.", class_="soft") if shown else None
    return Section("sessions", "Session by session", (made, more), lead=lead, menu="Sessions")


def dropped(result: StudyResult) -> Section:
    """What was looked at, and why most of it says nothing."""
    rows = [
        {"of": of, "count": result.dropped[name], "part": _part(result.dropped, of, name), "why": why}
        for of, name, why in numbers.LEFT_OUT
    ]
    columns = [
        Column("of", "what"),
        Column("count", "how many", count, "number"),
        Column("part", "part", kind="number"),
        Column("why", "what became of them", is_wide=True),
    ]
    looked_at = [plural(result.dropped[f"{name}s"], name) for name in ("session", "moment")]
    total = f"{' and '.join(looked_at)} were looked at."
    return Section(
        "dropped",
        "What was left out",
        (table(rows, columns, id="dropped-table", label="Left out"),),
        lead=total,
        menu="Left out",
    )


# -- cells -------------------------------------------------------------------------------------------------------------


def _counting() -> Section:
    terms = [el("div", el("dt", word), el("dd", meaning)) for word, meaning in TERMS]
    return Section("counting", "What the words mean", (el("dl", terms, class_="facts"),), menu="Words")


def _setting(result: StudyResult) -> str:
    meaning = f"meaning by {result.embedder}" if result.embedder else "words alone"
    search = f"{result.trials:,} evenly spread trials and {result.learning_trials} that learn, {result.folds} parts"
    searched = f"; {search}" if result.policies else ""
    asked = f"Level {result.level}, {result.budget_tokens:,} tokens, label {result.need}, {meaning}, seed {result.seed}"
    return f"{asked}{searched}."


def _applies(result: StudyResult) -> str:
    return "tune --apply writes the weights" if result.may_apply else "tune --apply writes nothing"


def _gained(row: RuleRow | None) -> Bounds | None:
    return None if row is None else row.gain


def _part(told: Mapping[str, int], of: str, name: str) -> str:
    return f"{told[name] / told[of]:.0%}" if told[of] else UNKNOWN
