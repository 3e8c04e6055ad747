# Think with a vault: its graph to walk in, and the six operations on it. The vault is only read; its rows go to the home.
#
#     workbench lab zettelkasten              on your own home, in a browser
#     python notebooks/zettelkasten.py        on the sample notes, as a script; --vault FOLDER for another vault
#     pytest notebooks/zettelkasten.py        its tests
#     marimo edit notebooks/zettelkasten.py   to change it

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Zettelkasten")

with app.setup:
    from dataclasses import dataclass

    import marimo as mo

    from workbench.reports.note_map import note_names
    from workbench.reports.vault_frames import read_vault
    from workbench.reports.vault_looking import (
        converse_html,
        explore_html,
        health_html,
        overview_html,
        suggest_html,
        surprise_html,
        themes_html,
    )
    from workbench.surfaces.shipped import open_vault
    from workbench.widgets import VaultGraph


@app.class_definition
@dataclass(frozen=True)
class Params:
    """What to look at. `app.run(defs={"params": Params(...)})` sets it; `--vault` and the others do on a command line.

    Attributes:
        vault: The folder of notes; None is the one that the home knows, else the sample notes.
        home: The home's folder; None is the home beside the notebook, else the samples' own.
        note: The note to begin with: path, name, title or alias; the one with the highest PageRank unless given.
        question: What to ask first.
        similarity: From which two notes are of one theme. Short notes are less alike than the seed's 0.65 takes for
            granted.
    """

    vault: str | None = None
    home: str | None = None
    note: str | None = None
    question: str = "what to leave out when space is short"
    similarity: float = 0.5


@app.cell(hide_code=True)
def _():
    mo.md("""
    # Zettelkasten

    Every note of a vault, every link between them, and six questions to ask of it. Click a note, or search for one;
    what is below follows the note that is read.
    """)


@app.cell
def _():
    _told = mo.cli_args().to_dict()
    params = Params(
        **{name: str(_told[name]) for name in ("vault", "home", "note", "question") if name in _told},
        **({"similarity": float(_told["similarity"])} if "similarity" in _told else {}),
    )
    return (params,)


@app.cell
def _(params):
    vault = open_vault(params.vault, params.home, place=mo.notebook_dir())
    mo.stop(not vault.notes.height, mo.md("There is no note in this folder."))
    return (vault,)


@app.cell(hide_code=True)
def _(params):
    similarity = mo.ui.slider(
        0.2, 0.9, step=0.05, value=params.similarity, label="notes of one theme are alike from", show_value=True
    )
    similarity
    return (similarity,)


@app.cell
def _(similarity, vault):
    frames = read_vault(vault, similarity=similarity.value)
    mo.Html(overview_html(frames))
    return (frames,)


@app.cell
def _(frames, vault):
    graph = mo.ui.anywidget(VaultGraph.of(vault, frames))
    graph
    return (graph,)


@app.cell(hide_code=True)
def _(frames, graph, params, vault):
    _names = note_names(frames.notes)
    _best = frames.figures.notes.sort("pagerank", "path", descending=[True, False])["path"][0]
    _first = vault.operations.resolve(params.note) if params.note else _best
    picked = mo.ui.dropdown(
        _names,
        value=next(name for name, path in _names.items() if path == _first),
        label="read",
        searchable=True,
        on_change=lambda path: setattr(graph.widget, "chosen", path or ""),
    )
    picked
    return (picked,)


@app.cell
def _(graph, picked):
    note = graph.widget.chosen or picked.value
    return (note,)


@app.cell(hide_code=True)
def _(note):
    mo.md(f"""
    ## What lies around it

    From `{note.replace("`", "'")}`: where its links lead, which notes say much the same far away, and which links it could have.
    """)


@app.cell
def _(note, vault):
    walked, surprises, suggested = vault.explore(note), vault.surprise(note), vault.suggest(note)
    mo.ui.tabs(
        {
            "Suggested links": mo.Html(suggest_html(suggested)),
            "Explore": mo.Html(explore_html(walked)),
            "Surprise": mo.Html(surprise_html(surprises)),
        }
    )
    return suggested, surprises, walked


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## Ask the vault

    Notes found by words and meaning, those that their links lead to, and links between their domains.
    """)


@app.cell(hide_code=True)
def _(params):
    question = mo.ui.text(value=params.question, label="question", full_width=True)
    question
    return (question,)


@app.cell
def _(question, vault):
    answer, _lacks = vault.converse(question.value)
    mo.Html(converse_html(answer, _lacks))
    return (answer,)


@app.cell
def _(frames):
    mo.ui.tabs({"Themes": mo.Html(themes_html(frames)), "Health": mo.Html(health_html(frames))})


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## Where to go from here

    `workbench vault fix` proposes repairs of broken links and writes none of them unless told to; `workbench vault watch`
    keeps the rows up to date while you write; `workbench report vault` puts what is here on a page to send.
    """)


@app.function
def test_the_sample_notes_are_looked_at():
    outputs, names = app.run(defs={"params": Params(note="hold-out", question="lost cents")})
    del outputs
    assert names["note"] == "Zettel/6b What was hidden can be found again.md"
    assert len(names["graph"].widget.data["paths"]) == names["frames"].notes.height
    assert names["frames"].health.counts.broken == 3
    assert names["walked"].root == names["note"]
    assert names["note"] not in names["suggested"].links["path"].to_list()
    assert names["answer"].notes["path"].to_list().count("Projects/Tally.md") == 1


if __name__ == "__main__":
    app.run()
