# A look into agents' sessions: what they cost, which tools failed, which files they touched, and every event's text.
#
#     workbench lab sessions               on your own home, in a browser
#     python notebooks/sessions.py         on the samples, as a script; --home FOLDER for another home
#     pytest notebooks/sessions.py         its tests
#     marimo edit notebooks/sessions.py    to change it

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Sessions")

with app.setup:
    from dataclasses import dataclass
    from datetime import datetime

    import marimo as mo

    from workbench.errors import WorkbenchError
    from workbench.reports import sessions_details as details
    from workbench.reports import sessions_overview as overview
    from workbench.reports.event_text import read_event
    from workbench.reports.looking import event_html, frame_html, pick, session_names
    from workbench.reports.render.embedded import section
    from workbench.reports.sessions_questions import QUESTIONS
    from workbench.reports.sessions_search import find
    from workbench.surfaces.shipped import open_home
    from workbench.widgets import SessionTimeline


@app.class_definition
@dataclass(frozen=True)
class Params:
    """What to look at. `app.run(defs={"params": Params(...)})` sets it; `--home` and the others do on a command line.

    Attributes:
        home: The home's folder; None is the home beside the notebook, else the samples.
        project: Only sessions whose folder holds this text.
        agent: Only this agent's.
        since: Only those that were active at or after this day, such as 2026-03-01.
        until: Only those that began before the end of this day.
        session: The session to open first: id, prefix or last.
        words: What to search for at first.
    """

    home: str | None = None
    project: str | None = None
    agent: str | None = None
    since: str | None = None
    until: str | None = None
    session: str | None = None
    words: str = "error"


@app.cell(hide_code=True)
def _():
    mo.md("""
    # Sessions

    What agents did on this machine: choose sessions, see what they cost and where they failed, and read any event.
    Every number here is a query away; the SQL at the end is yours to change.
    """)


@app.cell
def _():
    _told = {name: value for name, value in mo.cli_args().to_dict().items() if name in Params.__dataclass_fields__}
    params = Params(**{name: str(value) for name, value in _told.items()})
    return (params,)


@app.cell
def _(params):
    bench = open_home(params.home, place=mo.notebook_dir())
    everything = bench.list_sessions()
    mo.stop(not everything.height, mo.md("There are no sessions in this home yet. `workbench ingest` imports them."))
    return bench, everything


@app.cell(hide_code=True)
def _(everything, params):
    project = mo.ui.text(params.project or "", label="folder holds", placeholder="all projects", debounce=True)
    agent = mo.ui.dropdown(
        ["all agents", *everything["agent"].unique().sort()], value=params.agent or "all agents", label="agent"
    )
    _days = [at.date() for at in everything["started_at"].drop_nulls()] or [datetime.now().astimezone().date()]
    _first = datetime.fromisoformat(params.since).date() if params.since else min(_days)
    _last = datetime.fromisoformat(params.until).date() if params.until else max(_days)
    days = mo.ui.date_range(
        start=min(_days[-1], _first, *_days), stop=max(_last, *_days), value=(_first, _last), label="begun between"
    )
    mo.hstack([project, agent, days], justify="start", gap=1.5, wrap=True)
    return agent, days, project


@app.cell
def _(agent, bench, days, project):
    chosen = pick(
        bench.list_sessions(project=project.value or None, agent=None if agent.value == "all agents" else agent.value),
        *days.value,
    )
    mo.stop(not chosen.height, mo.md("No session fits. Widen the filters above."))
    ids = chosen["session_id"].to_list()
    look = bench.look(ids)
    return chosen, ids, look


@app.cell
def _(look):
    mo.Html(section(overview.overview(look.frames, look.total, look.clock)))


@app.cell
def _(look):
    mo.Html(section(overview.activity(look.frames, look.total, look.clock)))


@app.cell
def _(look):
    mo.Html(section(overview.tokens(look.frames, look.total)))


@app.cell
def _(look):
    mo.Html(section(details.most_expensive(look.frames, look.total, look.clock)))


@app.cell
def _(look):
    mo.Html(section(details.tools(look.frames, look.total)))


@app.cell
def _(look):
    mo.Html(section(details.failures(look.frames)))


@app.cell
def _(look):
    mo.Html(section(details.files(look.frames)))


@app.cell
def _(look):
    mo.Html(section(details.subagents(look.frames, look.total, look.clock)))


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## One session

    Its exchanges, model responses, tool calls and sub-agents along time or tokens. Failures are red, compactions and
    interrupts are marked through all lanes. Click an item, or walk with the arrow keys and press Enter, to read it.
    """)


@app.cell(hide_code=True)
def _(bench, chosen, params):
    names = session_names(chosen)
    _first = bench.resolve_session(params.session) if params.session else chosen["session_id"][0]
    session = mo.ui.dropdown(
        names, value=next((name for name, each in names.items() if each == _first), next(iter(names))), label="session"
    )
    session
    return (session,)


@app.cell
def _(bench, session):
    timeline = mo.ui.anywidget(SessionTimeline.of(bench, session.value))
    timeline
    return (timeline,)


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## Find and read

    Prompts, responses and calls of the chosen sessions that hold all of the words, the newest first.
    """)


@app.cell(hide_code=True)
def _(params):
    words = mo.ui.text(params.words, label="search for", full_width=True, debounce=True)
    words
    return (words,)


@app.cell
def _(bench, ids, words):
    hits = find(bench.sql, words.value, ids)
    mo.Html(frame_html(hits, id="hits", none="Nothing holds all of these words."))
    return (hits,)


@app.cell(hide_code=True)
def _(hits, timeline):
    _event = timeline.widget.event_id or (hits["event_id"][0] if hits.height else "")
    event = mo.ui.text(_event, label="read the event", full_width=True, debounce=True)
    mo.vstack([event, mo.md("An `event_id` of the table above, or of any row of the tables.")])
    return (event,)


@app.cell
def _(bench, event):
    _found = bench.sql(
        "select session_id from events where event_id = $id order by session_id limit 1", {"id": event.value.strip()}
    )
    mo.stop(not _found.height, mo.md("No event has this id."))
    mo.Html(event_html(read_event(bench.sql, _found["session_id"][0], event.value.strip())))


@app.cell(hide_code=True)
def _():
    mo.md("""
    ## Ask anything

    DuckDB over the tables (`docs/tables.md` lists every column). Begin with a question, then change it.
    """)


@app.cell(hide_code=True)
def _():
    question = mo.ui.dropdown(list(QUESTIONS), value=next(iter(QUESTIONS)), label="begin with", full_width=True)
    question
    return (question,)


@app.cell(hide_code=True)
def _(question):
    query = mo.ui.code_editor(QUESTIONS[question.value], language="sql", label="SQL", min_height=160, debounce=True)
    query
    return (query,)


@app.cell
def _(bench, query):
    try:
        answer, _problem = bench.sql(query.value), None
    except WorkbenchError as error:
        answer, _problem = None, str(error)
    mo.Html(frame_html(answer, id="answer", none="No rows.", problem=_problem))
    return (answer,)


@app.function
def test_the_samples_are_looked_into():
    outputs, names = app.run(defs={"params": Params(agent="claude-code", words="pytest failed")})
    del outputs
    assert names["chosen"].height == 10
    assert set(names["chosen"]["agent"]) == {"claude-code"}
    assert names["look"].total.sessions == 10
    assert names["answer"].height > 0
    assert names["hits"].height > 0
    assert names["timeline"].widget.data["session_id"] == names["chosen"]["session_id"][0]


if __name__ == "__main__":
    app.run()
