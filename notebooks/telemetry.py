# Did the change help? Build arms of sessions, and see effects, intervals and distributions.
#
#     workbench lab telemetry               on your own home, in a browser
#     python notebooks/telemetry.py         on the samples, as a script; --home FOLDER for another home
#     pytest notebooks/telemetry.py         its tests
#     marimo edit notebooks/telemetry.py    to change it

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Telemetry")

with app.setup:
    from dataclasses import dataclass

    import marimo as mo

    from workbench.errors import WorkbenchError
    from workbench.experiments.arms import ARM_COLUMNS, parse_arms
    from workbench.reports import telemetry
    from workbench.reports.comparing import Question
    from workbench.reports.looking import frame_html
    from workbench.reports.render.embedded import section
    from workbench.surfaces.shipped import open_home


@app.class_definition
@dataclass(frozen=True)
class Params:
    """What to compare. `app.run(defs={"params": Params(...)})` sets it; `--home` and the others do on a command line.

    Attributes:
        home: The home's folder; None is the home beside the notebook, else the samples.
        arms: The arms to begin with, one NAME=FILTER a line.
        seed: Of all random draws.
    """

    home: str | None = None
    arms: str = "sonnet = model like '%sonnet%'\nopus = model like '%opus%'"
    seed: int = 0


@app.cell(hide_code=True)
def _():
    mo.md("""
    # Telemetry

    Sessions become evidence: choose two arms or more, and see by how much they differ, how sure that is, and what a
    comparison of this size could have found at all. "Not shown" is an answer, and often the right one.
    """)


@app.cell
def _():
    _told = {name: value for name, value in mo.cli_args().to_dict().items() if name in Params.__dataclass_fields__}
    _kinds = {name: int if name == "seed" else str for name in _told}
    params = Params(**{name: _kinds[name](value) for name, value in _told.items()})
    return (params,)


@app.cell
def _(params):
    bench = open_home(params.home, place=mo.notebook_dir())
    cards = bench.scorecards()
    mo.stop(not cards.height, mo.md("There are no sessions in this home yet. `workbench ingest` imports them."))
    return bench, cards


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## The arms

    One `NAME = FILTER` a line, the baseline first; a filter is a SQL condition over the columns below. Or let the
    values of a column be the arms, such as `arm`, the label that `workbench sessions label SESSION --arm NAME` sets.
    """)


@app.cell(hide_code=True)
def _(params):
    by = mo.ui.dropdown(["the filters", *ARM_COLUMNS], value="the filters", label="arms by")
    filters = mo.ui.text_area(params.arms, rows=4, full_width=True, debounce=True)
    seed = mo.ui.number(0, 1_000_000, value=params.seed, label="seed")
    mo.vstack([mo.hstack([by, seed], justify="start", gap=1.5), filters])
    return by, filters, seed


@app.cell(hide_code=True)
def _(cards):
    _shown = ["session_id", "agent", "model", "version", "arm", "project_id", "task_type", "final", "total_turns"]
    mo.Html(frame_html(cards.select(_shown), id="cards", none="No sessions."))


@app.cell
def _(bench, by, filters, seed):
    try:
        _lines = [line for line in filters.value.splitlines() if line.strip()]
        _chosen = {"arms": parse_arms(_lines)} if by.value == "the filters" else {"by": by.value}
        compared, problem = bench.compare(Question(**_chosen, seed=int(seed.value))), None
    except WorkbenchError as error:
        compared, problem = None, str(error)
    mo.stop(compared is None, mo.callout(mo.plain_text(problem or ""), kind="warn"))
    return (compared,)


@app.cell
def _(compared):
    parts = {part.id: part for part in telemetry.sections_of(compared.comparison, compared.samples)}
    mo.Html(section(telemetry.overview(compared)))
    return (parts,)


@app.cell
def _(compared):
    mo.md(f"**{telemetry.headline(compared.comparison)}.**")


@app.cell
def _(parts):
    mo.Html(section(parts["effects"])) if "effects" in parts else mo.md("No metric could be compared.")


@app.cell
def _(parts):
    mo.Html(section(parts["forest"])) if "forest" in parts else None


@app.cell
def _(parts):
    mo.Html(section(parts["distributions"])) if "distributions" in parts else None


@app.cell
def _(parts):
    mo.Html(section(parts["dropped"])) if "dropped" in parts else None


@app.cell(hide_code=True)
def _():
    mo.md("""
    `workbench compare` says the same on a command line and keeps it in the table `comparisons`;
    `workbench report telemetry` writes it as one page whose numbers `workbench reproduce` makes again.
    """)


@app.function
def test_the_samples_are_compared_by_model():
    outputs, names = app.run()
    del outputs
    assert names["compared"].comparison.units == {"sonnet": 7, "opus": 6}
    assert {"effects", "forest", "distributions", "dropped"} == set(names["parts"])


if __name__ == "__main__":
    app.run()
