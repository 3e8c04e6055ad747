"""`workbench forget`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.errors import BadInputError
from workbench.reports.render.numbers import plural
from workbench.reports.render.text import one_line
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.ingest.forget import ForgetResult

SHOWN = 20


@app.command()
def forget(
    context: typer.Context,
    sessions: Annotated[
        list[str] | None, typer.Argument(help="Ids, prefixes that fit no other, or last.", show_default=False)
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
    project: Annotated[
        str | None,
        typer.Option("--project", help="Sessions of this project: its id, or a folder in or below which they began."),
    ] = None,
    matching: Annotated[
        str | None, typer.Option("--matching", help="Sessions of which any text contains this; case counts.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where there is no terminal.")] = False,
) -> None:
    """Remove everything of some sessions for good: rows, archived sources, logs, earlier versions of the tables.

    Several conditions must all hold. Without any, a forget that was interrupted is completed.
    """
    bench = open_bench(context, home)
    names = sessions or []
    found = bench.forget(*names, project=project, matching=matching, dry_run=True)
    if dry_run:
        _tell(found, json=json)
        return
    if not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise BadInputError("what is forgotten cannot be had back: add --yes, or look first by --dry-run")
        for line in _lines(found):
            print(line, file=sys.stderr)
        if not typer.confirm(f"Forget {plural(len(found.sessions), 'session')} for good?", err=True):
            print("nothing was changed", file=sys.stderr)
            raise typer.Exit(1)
    with progress_bar("forgetting", of_bytes=False) as progress:
        done = bench.forget(*(str(session["session_id"]) for session in found.sessions), progress=progress)
    _tell(done, json=json)


def _tell(result: ForgetResult, *, json: bool) -> None:
    if json:
        print_json(vars(result))
        return
    for line in _lines(result):
        print(line)
    if not result.dry_run:
        print("exact snapshots of the tables from before are gone; imports leave these sessions out")


def _lines(result: ForgetResult) -> Iterator[str]:
    for session in result.sessions[:SHOWN]:
        about = (
            session["session_id"],
            local(session["started_at"]),
            session["agent"],
            one_line(session["title"] or ""),
        )
        yield "  ".join(plain(part) for part in about if part)
    if len(result.sessions) > SHOWN:
        yield f"and {len(result.sessions) - SHOWN:,} more; --json lists all"
    go = "would go" if result.dry_run else "are gone"
    counted = ", ".join(f"{name} {count:,}" for name, count in result.rows.items()) or "none"
    rows = f"{sum(result.rows.values()):,} rows"
    yield f"{plural(len(result.sessions), 'session')} with {rows} {go} ({counted})"
    yield f"{plural(result.files, 'file')} with {result.bytes:,} bytes {go} besides"
    if result.completed:
        yield f"{plural(len(result.completed), 'session')} of them from an earlier forget that was interrupted"
    for title, paths in (
        ("tell of other sessions too, and stay without these", result.separated),
        ("reports that tell of these sessions, and go", result.reports),
        ("are not ours, and stay where they are", result.originals),
        ("may be in use by a writer, and were left; forget again in ten minutes", result.left),
    ):
        if paths:
            yield f"{plural(len(paths), 'file')}, {title}:"
            yield from (f"  {plain(path)}" for path in paths[:SHOWN])
        if len(paths) > SHOWN:
            yield f"  and {len(paths) - SHOWN:,} more; --json lists all"
