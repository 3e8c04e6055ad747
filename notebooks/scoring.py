# Which weights? Rank the past of one recorded model call under weights of your choice, live; then see what a study over
# all sessions says of weights: its search, its held-out effect, and how little a single moment proves.
#
#     workbench lab scoring               on your own home, in a browser
#     python notebooks/scoring.py         on the samples, as a script; --home FOLDER for another home
#     pytest notebooks/scoring.py         its tests
#     marimo edit notebooks/scoring.py    to change it

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Scoring")

with app.setup:
    from collections.abc import Mapping
    from dataclasses import dataclass, field

    import marimo as mo
    import msgspec

    from workbench.errors import NotFoundError
    from workbench.experiments.labels.rules import NEEDS
    from workbench.experiments.recorded import read_recorded
    from workbench.experiments.replay_job import policy_of
    from workbench.experiments.reranking import lay_out, moment_rows, rank_moment
    from workbench.experiments.what_if import WEIGHTS
    from workbench.reports import tuning
    from workbench.reports.context_looking import slider_steps
    from workbench.reports.looking import session_names
    from workbench.reports.render.embedded import section
    from workbench.reports.scoring_looking import progress_html, ranking_html
    from workbench.surfaces.shipped import open_home


@app.class_definition
@dataclass(frozen=True)
class Params:
    """What to look at. `app.run(defs={"params": Params(...)})` sets it; `--home` and the others do on a command line.

    Attributes:
        home: The home's folder; None is the home beside the notebook, else the samples.
        study: The study to show, by id; the newest unless given.
        session: The session to open first: id, prefix or last; the one with the most tool calls unless given.
        level: What a moment is: a `step` (model call) or an `exchange`.
        place: The moment to open first, such as 7.3 or, by exchange, 7; the last one that a study scores unless given.
        budget: Tokens that may be taken; `study.budget_tokens` unless given.
        weights: Some of `what_if.WEIGHTS`, to begin with.
    """

    home: str | None = None
    study: str | None = None
    session: str | None = None
    level: str = "step"
    place: str | None = None
    budget: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


@app.cell(hide_code=True)
def _():
    mo.md("""
    # Scoring

    A prompt has room for some of a session's past. Each unit of it gets a score, a weighted sum, and the best are taken
    while they fit. Move the weights and watch one moment; then ask a study whether other weights help in sessions that
    it did not see. Its normal answer is "no difference".
    """)


@app.cell
def _():
    _told = mo.cli_args().to_dict()
    _kinds = {"budget": int}
    _names = [name for name in Params.__dataclass_fields__ if name in _told and name != "weights"]
    params = Params(**{name: _kinds.get(name, str)(_told[name]) for name in _names})
    return (params,)


@app.cell
def _(params):
    bench = open_home(params.home, place=mo.notebook_dir())
    everything = bench.list_sessions()
    mo.stop(not everything.height, mo.md("There are no sessions in this home yet. `workbench ingest` imports them."))
    return bench, everything


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## One moment

    A session, a moment of it, and a label: what the agent did later tells which units it needed.
    """)


@app.cell(hide_code=True)
def _(bench, everything, params):
    _names = session_names(everything)
    _most = everything.sort("tool_calls", "session_id", descending=[True, False])["session_id"][0]
    _first = bench.resolve_session(params.session) if params.session else _most
    session = mo.ui.dropdown(
        _names, value=next(name for name, each in _names.items() if each == _first), label="session"
    )
    level = mo.ui.dropdown(
        {"a model call": "step", "an exchange": "exchange"},
        value={"step": "a model call", "exchange": "an exchange"}[params.level],
        label="a moment is",
    )
    need = mo.ui.dropdown(list(NEEDS), value="vis", label="needed by")
    _budget = bench.config.study.budget_tokens if params.budget is None else params.budget
    budget = mo.ui.number(100, 60_000, step=100, value=_budget, label="tokens")
    mo.hstack([session, level, need, budget], justify="start", gap=1.5, wrap=True)
    return budget, level, need, session


@app.cell
def _(bench, level, session):
    laid = lay_out(
        read_recorded(bench, session.value),
        policy_of(bench.config, level.value),
        steps_max=bench.config.study.steps_max,
    )
    mo.stop(not len(laid.frame.turns), mo.md("This session has no moment at this level. Choose another one."))
    return (laid,)


@app.cell(hide_code=True)
def _(budget, laid, need, params):
    moments = moment_rows(laid.frame, need=need.value, budget=int(budget.value))
    _known = moments["name"].to_list()
    mo.stop(
        params.place is not None and params.place not in _known,
        mo.md(f"There is no moment `{params.place}`; this session has {_known[0]} to {_known[-1]}."),
    )
    _scored = moments.filter("is_scored")["moment"].to_list()
    _last = _scored[-1] if _scored else len(_known) - 1
    _first = _last if params.place is None else _known.index(params.place)
    place = mo.ui.slider(
        1, max(2, len(_known)), value=_first + 1, label="moment", show_value=True, full_width=True, debounce=True
    )
    place
    return moments, place


@app.cell
def _(moments, place):
    chosen = moments.row(min(place.value, moments.height) - 1, named=True)
    _scored = "a study scores it" if chosen["is_scored"] else "a study does not score it"
    _counted = f"{chosen['units']:,} units of {chosen['tokens']:,} tokens on offer, {chosen['needed']} of them needed"
    mo.md(f"**{chosen['name']}**: {_counted}; {_scored}. {moments['is_scored'].sum()} of {moments.height} are scored.")
    return (chosen,)


@app.cell(hide_code=True)
def _(bench, params, result):
    _use = bench.config.context_engine.scoring
    _found = {} if result is None else {name.rpartition(".")[2]: value for name, value in result.weights.items()}
    _begin = {name: float(params.weights.get(name, getattr(_use, name))) for name in WEIGHTS if name != "w_semantic"}
    weights = mo.ui.dictionary(
        {
            name: mo.ui.slider(
                steps=slider_steps(2.0, 0.05, value),
                value=value,
                label=f"{name}, in use {getattr(_use, name):g}"
                + (f", found {_found[name]:.3f}" if name in _found else ""),
                show_value=True,
            )
            for name, value in _begin.items()
        }
    )
    _sliders = list(weights.elements.values())
    mo.hstack([mo.vstack(_sliders[:3]), mo.vstack(_sliders[3:])], justify="start", gap=3, wrap=True)
    return (weights,)


@app.cell
def _(bench, budget, chosen, laid, need, weights):
    _use = bench.config.context_engine.scoring
    _asked = {"budget": int(budget.value), "need": need.value}
    before = rank_moment(laid, chosen["moment"], _use, **_asked)
    after = rank_moment(laid, chosen["moment"], msgspec.structs.replace(_use, **weights.value), **_asked)
    mo.Html(ranking_html(before, after))
    return after, before


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## All sessions: a study

    One moment proves nothing. A study searches weights on most sessions, judges them on the rest, and makes the whole
    search again on labels that mean nothing.
    """)


@app.cell(hide_code=True)
def _():
    ask = mo.ui.run_button(label="Make a study (minutes; it goes on where it was broken off)")
    ask
    return (ask,)


@app.cell
def _(ask, bench, budget, level, need, params):
    if ask.value:
        with mo.status.spinner(title="a study of all sessions") as _spinner:
            result = bench.tune(
                level=level.value,
                budget=int(budget.value),
                label=need.value,
                progress=lambda done, total, what: _spinner.update(subtitle=f"{what}: {done} of {total}"),
            )
    else:
        try:
            result = bench.study(params.study)
        except NotFoundError:
            result = None
    mo.md(
        "No study was made in this home yet. The button above makes one; so does `workbench tune`."
        if result is None
        else f"**{tuning.headline(result)}.**"
    )
    return (result,)


@app.cell
def _(result):
    parts = {} if result is None else {part.id: part for part in tuning.sections_of(result)}
    mo.Html(section(parts["overview"])) if parts else None
    return (parts,)


@app.cell
def _(bench, result):
    _query = "select stage, run, part, number, value from trials where study_id = ?"
    mo.Html(progress_html(bench.sql(_query, [result.study_id]))) if result is not None else None


@app.cell
def _(parts):
    mo.Html(section(parts["null"])) if "null" in parts else None


@app.cell
def _(parts):
    mo.Html(section(parts["sensitivity"])) if "sensitivity" in parts else None


@app.cell
def _(parts):
    _shown = ("overview", "null", "sensitivity")
    _rest = {part.title: mo.Html(section(part)) for name, part in parts.items() if name not in _shown}
    mo.accordion(_rest, multiple=True) if _rest else None


@app.cell(hide_code=True)
def _():
    mo.md("""
    `workbench tune` makes the same study on a command line, and `--apply` writes weights into `config.json` where they
    are shown to be better; `workbench report tuning` writes these sections as one page whose numbers `workbench
    reproduce` makes again. `workbench lab agent` shows whole prompts under other weights.
    """)


@app.function
def test_weights_rank_a_moment_of_the_samples_anew():
    outputs, names = app.run(defs={"params": Params(session="895dc31c", budget=600, weights={"w_recency": 0.0})})
    del outputs
    assert (names["result"], names["parts"]) == (None, {})
    assert names["chosen"]["is_scored"]
    assert set(names["after"]["recency"]) == {0.0}
    assert names["before"].filter("is_taken")["tokens"].sum() <= 600
    assert sorted(names["before"]["unit"]) == sorted(names["after"]["unit"])


if __name__ == "__main__":
    app.run()
