# Inside a prompt: what the context engine puts before the model at each step of a recorded session, why, and what other
# weights and budgets would change. Nothing is written and no model is called.
#
#     workbench lab agent               on your own home, in a browser
#     python notebooks/agent.py         on the samples, as a script; --home FOLDER for another home
#     pytest notebooks/agent.py         its tests
#     marimo edit notebooks/agent.py    to change it

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Inside a prompt")

with app.setup:
    from collections.abc import Mapping
    from dataclasses import dataclass, field

    import marimo as mo

    from workbench.experiments.recorded import read_recorded
    from workbench.experiments.replay import replay, replay_until
    from workbench.experiments.replay_job import policy_of
    from workbench.experiments.what_if import BUDGETS, WEIGHTS, recompile, unit_changes
    from workbench.reports.context_looking import (
        kept_html,
        moves_html,
        prompt_charts,
        prompt_rows,
        slider_steps,
    )
    from workbench.reports.looking import session_names
    from workbench.surfaces.shipped import open_home
    from workbench.widgets import PromptAnatomy


@app.class_definition
@dataclass(frozen=True)
class Params:
    """What to look at. `app.run(defs={"params": Params(...)})` sets it; `--home` and the others do on a command line.

    Attributes:
        home: The home's folder; None is the home beside the notebook, else the samples.
        session: The session to open first: id, prefix or last; the one with the most tool calls unless given.
        level: One prompt a `step` (model call), or one an `exchange`.
        place: The prompt to open first, such as 7.3 or, by exchange, 7; the last one unless given.
        weights: Some of `what_if.WEIGHTS`, to begin with.
        budgets: Some of `what_if.BUDGETS`, to begin with.
    """

    home: str | None = None
    session: str | None = None
    level: str = "step"
    place: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    budgets: Mapping[str, int] = field(default_factory=dict)


@app.cell(hide_code=True)
def _():
    mo.md("""
    # Inside a prompt

    The context engine builds a prompt out of what a session holds: word for word what was last, a rolling summary, the
    state it keeps in mind, and the pieces of the past that score highest within a budget. Choose a recorded session,
    walk through it, and see each prompt taken apart; then change the weights and see what moves.
    """)


@app.cell
def _():
    _told = mo.cli_args().to_dict()
    params = Params(**{name: str(_told[name]) for name in ("home", "session", "level", "place") if name in _told})
    return (params,)


@app.cell
def _(params):
    bench = open_home(params.home, place=mo.notebook_dir())
    everything = bench.list_sessions()
    mo.stop(not everything.height, mo.md("There are no sessions in this home yet. `workbench ingest` imports them."))
    return bench, everything


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
        label="a prompt for",
    )
    mo.hstack([session, level], justify="start", gap=1.5, wrap=True)
    return level, session


@app.cell
def _(bench, level, session):
    recorded = read_recorded(bench, session.value)
    policy = policy_of(bench.config, level.value)
    prompts = prompt_rows(replay(recorded, policy))
    mo.stop(not prompts, mo.md("This session has no prompt at this level. Choose another one."))
    return policy, prompts, recorded


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## Engine against classic

    What each prompt would have cost under the engine, and as the whole history. Tokens are estimated by length, the
    same way for both.
    """)


@app.cell
def _(policy, prompts):
    mo.Html(prompt_charts(prompts, policy.engine.pressure))


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## One prompt

    Move the slider to step through the session.
    """)


@app.cell(hide_code=True)
def _(params, prompts):
    _places = {row["name"]: row["turn"] for row in prompts}
    mo.stop(
        params.place is not None and params.place not in _places,
        mo.md(f"There is no prompt `{params.place}`; this session has {prompts[0]['name']} to {prompts[-1]['name']}."),
    )
    _first = len(prompts) if params.place is None else _places[params.place]
    place = mo.ui.slider(1, max(2, len(prompts)), value=_first, label="prompt", show_value=True, full_width=True)
    place
    return (place,)


@app.cell
def _(place, policy, prompts, recorded):
    chosen = prompts[min(place.value, len(prompts)) - 1]
    halted = replay_until(recorded, policy, chosen["exchange"], chosen["step"])
    mo.md(f"**{chosen['where']}** of {len(prompts)} prompts; task: {halted.compiled.task_type}.")
    return chosen, halted


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## Weights and budgets

    Each unit's score is a weighted sum of its terms; units are taken from the highest down while they fit their band.
    The prompt below is made again with these figures, from the same pool of units, as you move them.
    """)


@app.cell(hide_code=True)
def _(params, policy):
    _scoring, _bands = policy.engine.scoring, policy.engine.bands
    weights = mo.ui.dictionary(
        {
            name: mo.ui.slider(
                steps=slider_steps(2.0, 0.05, params.weights.get(name, getattr(_scoring, name))),
                value=float(params.weights.get(name, getattr(_scoring, name))),
                label=name,
                show_value=True,
            )
            for name in WEIGHTS
        }
    )
    _now = {name: getattr(policy.compiler if name == "token_budget" else _bands, name) for name in BUDGETS}
    budgets = mo.ui.dictionary(
        {
            name: mo.ui.slider(
                steps=slider_steps(
                    120_000 if name == "token_budget" else 12_000,
                    2_000 if name == "token_budget" else 200,
                    params.budgets.get(name, value),
                ),
                value=params.budgets.get(name, value),
                label=name,
                show_value=True,
            )
            for name, value in _now.items()
        }
    )
    mo.hstack(
        [mo.vstack(weights.elements.values()), mo.vstack(budgets.elements.values())], justify="start", gap=3, wrap=True
    )
    return budgets, weights


@app.cell
def _(budgets, halted, weights):
    compiled = recompile(
        halted, weights=weights.value, budgets={name: int(value) for name, value in budgets.value.items()}
    )
    changes = unit_changes(halted.compiled.scores, compiled.scores)
    mo.Html(moves_html(halted.compiled, compiled, changes))
    return changes, compiled


@app.cell
def _(compiled, everything, halted):
    _titles = dict(everything.select("session_id", "title").iter_rows())
    anatomy = mo.ui.anywidget(PromptAnatomy.at(halted, compiled, title=_titles[halted.engine.session_id] or ""))
    anatomy
    return (anatomy,)


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## What the engine keeps in mind here

    The rolling summary and the state as this prompt has them, and every state object at this point.
    """)


@app.cell
def _(compiled, halted):
    mo.Html(kept_html(halted, compiled))


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## Where to go from here

    `workbench context replay` records what every prompt of every session would have held, in the tables `compiles` and
    `unit_scores`; `workbench context why last 7 turn_3` tells why a unit was in one of them or not; `workbench report
    context` sums all sessions up. One prompt that looks better under other weights proves nothing: weights are chosen
    by a study over many sessions.
    """)


@app.function
def test_a_prompt_of_the_samples_is_taken_apart():
    chosen = Params(
        session="895dc31c", place="4.13", weights={"w_recency": 0.0, "w_relevance": 1.0}, budgets={"older_tokens": 400}
    )
    outputs, names = app.run(defs={"params": chosen})
    del outputs
    assert names["chosen"]["where"] == "exchange 4, model call 13"
    assert names["compiled"].raw_tokens <= names["compiled"].usable
    assert set(names["changes"]["moved"].drop_nulls()) == {"in", "out"}
    widget = names["anatomy"].widget
    assert sum(part["tokens"] for part in widget.data["parts"]) > 0
    assert {unit["moved"] for unit in widget.data["units"]} == {"", "in", "out"}


if __name__ == "__main__":
    app.run()
