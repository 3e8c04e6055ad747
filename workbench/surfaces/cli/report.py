"""`workbench report`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.errors import NotFoundError
from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, progress_bar

if TYPE_CHECKING:
    from workbench.bench import Workbench
    from workbench.reports.sessions_job import WrittenReport

OUT = Path("reports")

report = typer.Typer(help="Write reports: HTML files that open anywhere without a network.", no_args_is_help=True)
app.add_typer(report, name="report")


@report.command()
def sessions(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    session: Annotated[
        list[str] | None, typer.Option("--session", help="Only this session: id, prefix or last; may be repeated.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", help="Only of this project: its id, or part of its path.")
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only of this agent.")] = None,
    since: Annotated[
        datetime | None, typer.Option("--since", help="Only sessions that were active at or after this local time.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="A file that ends in .html, or a folder for sessions.html.")] = OUT,
) -> None:
    """Report what agents did: cost, tokens, tools, failures, files, and a page for each session."""
    bench = open_bench(context, home)
    moment = since.astimezone() if since else None
    ids = _chosen(bench, session, project, agent, moment)
    filters = {
        "session": ", ".join(session or ()),
        "project": project,
        "agent": agent,
        "since": local(moment) if moment else None,
    }
    told = ", ".join(f"{name} {value}" for name, value in filters.items() if value)
    written = bench.report("sessions", out, session_ids=ids, about=[f"Only {told}."] if told else [])
    _tell(written, ids, f"only {told}" if told else "all projects", as_json=json)


@report.command("context")
def context_report(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    session: Annotated[
        list[str] | None, typer.Option("--session", help="Only this session: id, prefix or last; may be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="A file that ends in .html, or a folder for context.html.")] = OUT,
) -> None:
    """Report what the context engine would have sent, against the whole history; what needs it is replayed first."""
    bench = open_bench(context, home)
    ids = _chosen(bench, session, None, None, None)
    told = f"session {', '.join(session)}" if session else None
    with progress_bar("replaying", of_bytes=False) as progress:
        about = [f"Only {told}."] if told else []
        written = bench.report("context", out, session_ids=ids, about=about, progress=progress)
    _tell(written, ids, f"only {told}" if told else "all projects", as_json=json)


@report.command("vault")
def vault_report(
    context: typer.Context,
    path: Annotated[
        Path | None,
        typer.Argument(help="The folder of notes; vault.path of the configuration unless given.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
    similarity: Annotated[
        float | None,
        typer.Option(
            "--similarity",
            help="From which two notes are of one theme, -1 to 1; as configured unless given.",
            show_default=False,
            min=-1,
            max=1,
        ),
    ] = None,
    holdout: Annotated[
        Path | None,
        typer.Option(
            "--holdout", help="The JSON file that `eval links --out` wrote, to be told too.", show_default=False
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="A file that ends in .html, or a folder for vault.html.")] = OUT,
) -> None:
    """Report on an indexed vault: numbers, health, themes, what is central, what holds it together, how it grew."""
    written = open_bench(context, home).vault(path).report(out, similarity=similarity, holdout=holdout)
    if json:
        shape = {name: getattr(written, name) for name in ("notes", "score", "size_bytes")}
        places = {name: str(getattr(written, name).absolute()) for name in ("path", "manifest")}
        print_json(places | shape)
        return
    size = f"{written.size_bytes / 1000:,.0f} kB"
    health = "" if written.score is None else f"health {written.score} of 100, "
    print(f"{plain(str(written.path))}: {plural(written.notes, 'note')}, {health}{size}")
    print(f"open  {written.path.absolute().as_uri()}")


@report.command("tuning")
def tuning_report(
    context: typer.Context,
    study: Annotated[
        str | None,
        typer.Argument(help="Id of a study, or its beginning; the newest unless given.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
    out: Annotated[Path, typer.Option("--out", help="A file that ends in .html, or a folder for tuning.html.")] = OUT,
) -> None:
    """Report a study of `workbench tune`: verdict, baselines, null, weights; numbers and manifest beside the page."""
    written = open_bench(context, home).tuning_report(out, study)
    if json:
        places = {name: str(getattr(written, name).absolute()) for name in ("path", "manifest", "numbers")}
        about = {"study_id": written.result.study_id, "verdict": written.result.verdict, "headline": written.headline}
        print_json(places | {"size_bytes": written.size_bytes} | about)
        return
    print(f"{plain(str(written.path))}: {plain(written.headline)}, {written.size_bytes / 1000:,.0f} kB")
    print(f"reproduce  workbench reproduce {plain(str(written.manifest))}")
    print(f"open  {written.path.absolute().as_uri()}")


def _tell(written: WrittenReport, ids: list[str] | None, filters: str, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "path": str(written.path.absolute()),
                "manifest": str(written.manifest.absolute()),
                "sessions": written.sessions,
                "size_bytes": written.size_bytes,
                "session_ids": ids,
            }
        )
        return
    print(f"{plain(str(written.path))}: {plural(written.sessions, 'session')}, {written.size_bytes / 1000:,.0f} kB")
    print(plain(filters))
    print(f"open  {written.path.absolute().as_uri()}")


def _chosen(
    bench: Workbench, session: list[str] | None, project: str | None, agent: str | None, since: datetime | None
) -> list[str] | None:
    """The sessions that fit all options; None where there are none of these.

    Raises:
        NotFoundError: Options are given and no session fits.
    """
    named = None if not session else list(dict.fromkeys(map(bench.resolve_session, session)))
    if (project, agent, since) == (None, None, None):
        return named
    fitting = bench.list_sessions(project=project, agent=agent, since=since)["session_id"].to_list()
    chosen = [each for each in fitting if named is None or each in named]
    if not chosen:
        raise NotFoundError("no session fits these options; `workbench sessions` lists what there is")
    return chosen
