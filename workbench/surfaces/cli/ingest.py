"""`workbench ingest`."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.errors import BadInputError, WorkbenchError
from workbench.ingest.cycles import no_cycle_collection
from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, progress_bar

if TYPE_CHECKING:
    from typing import TextIO

    from workbench.bench import Workbench
    from workbench.ingest.importer import ImportResult
    from workbench.ingest.prepare import LeftOut
    from workbench.ingest.rebuild import RebuildResult

SHOWN = 10


@app.command()
def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files and folders; the agents' own folders unless given.")
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
    rehash: Annotated[bool, typer.Option("--rehash", help="Read unchanged files again as well.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Bring back sessions that were forgotten and are found under the paths.")
    ] = False,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Make all tables again from what was imported before; reads no other file."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --rebuild: only read the archive through and tell.")
    ] = False,
) -> None:
    """Import agents' transcripts. Unchanged files are not opened again; what an agent deletes later stays here."""
    if rebuild and (paths or rehash or again):
        others = "neither paths nor --rehash nor --again"
        raise BadInputError(f"--rebuild makes all tables again from the archive: it takes {others}")
    if dry_run and not rebuild:
        raise BadInputError("--dry-run goes with --rebuild; an import deletes and edits nothing")
    started = time.perf_counter()
    if rebuild:
        with progress_bar("rebuilding") as progress:
            rebuilt = open_bench(context, home).rebuild(dry_run=dry_run, progress=progress)
        _tell_rebuild(rebuilt, round(time.perf_counter() - started, 3), json=json, dry_run=dry_run)
        return
    with no_cycle_collection():  # from here on, since loading the libraries makes many objects too
        if paths:
            _start_ahead(paths, home or context.obj)
        bench = open_bench(context, home)
        with progress_bar("importing") as progress:
            result = bench.ingest(*(paths or ()), rehash=rehash, again=again, progress=progress)
    seconds = round(time.perf_counter() - started, 3)
    if json:
        print_json(_shape(result, seconds))
    else:
        _print(result, seconds, again=again)
    if result.sessions:
        _prepare_answer(bench)
    if result.errors:
        raise typer.Exit(1)


def _prepare_answer(bench: Workbench) -> None:
    """Add up usage while all that it needs is loaded: 0.2 s now spare whoever asks next a second."""
    from workbench.surfaces.cli.usage import prepare_answer  # noqa: PLC0415

    with suppress(WorkbenchError):  # whoever asks is told
        prepare_answer(bench)


def _start_ahead(paths: list[Path], home: Path | None) -> None:
    from workbench.config import resolve_home  # noqa: PLC0415  (--help needs none of it)
    from workbench.ingest import workers  # noqa: PLC0415
    from workbench.store.home import Home  # noqa: PLC0415

    workers.start_ahead(paths, Home(resolve_home(home)).tables)


def _shape(result: ImportResult, seconds: float) -> dict[str, object]:
    return {
        "sessions": result.sessions,
        "events": result.events,
        "turns": result.turns,
        "tool_calls": result.tool_calls,
        "unchanged": result.unchanged,
        "forgotten": result.forgotten,
        "issues": result.issues,
        "skipped": [item._asdict() for item in result.skipped],
        "errors": [item._asdict() for item in result.errors],
        "seconds": seconds,
    }


def _print(result: ImportResult, seconds: float, *, again: bool) -> None:
    print(
        f"landed {result.sessions:,} sessions: {result.events:,} events, {result.turns:,} turns, "
        f"{result.tool_calls:,} tool calls in {seconds:.1f} s"
    )
    if result.unchanged:
        print(f"{result.unchanged:,} files did not change and were not opened")
    if result.forgotten:
        print(
            f"{plural(result.forgotten, 'session')} that had been forgotten "
            + ("came back" if again else "left out; --again brings back those under the given paths")
        )
    if result.issues:
        print(
            f"{result.issues:,} things in the files are not as they should be: "
            "workbench sql 'select * from import_issues'"
        )
    _print_left_out("skipped", result.skipped, sys.stdout)
    _print_left_out("could not be read", result.errors, sys.stderr)


def _tell_rebuild(result: RebuildResult, seconds: float, *, json: bool, dry_run: bool) -> None:
    if json:
        errors = [item._asdict() for item in result.errors]
        print_json({**vars(result), "errors": errors, "dry_run": dry_run, "seconds": seconds})
    else:
        _print_rebuild(result, seconds, dry_run=dry_run)
    if result.errors:
        raise typer.Exit(1)


def _print_rebuild(result: RebuildResult, seconds: float, *, dry_run: bool) -> None:
    if dry_run:
        print(f"{result.sources:,} sources can be read; nothing was written ({seconds:.1f} s)")
    else:
        print(
            f"landed {result.sessions:,} sessions anew from {result.sources:,} sources: {result.events:,} events, "
            f"{result.turns:,} turns, {result.tool_calls:,} tool calls in {seconds:.1f} s"
        )
    if result.older_rules:
        will = "would go" if dry_run else "went"
        print(f"{result.older_rules:,} archived contents {will} through newer redaction rules")
    if result.redacted:
        print(f"they took something out of {len(result.redacted):,} sources. The archive has only what is left;")
        print("older versions of the tables keep the rest until their files are removed:")
        _print_some(list(map(plain, result.redacted)), sys.stdout)
    if result.strays:
        print(f"{len(result.strays):,} archived contents say nothing of where they come from, so nothing was made of")
        print("them; an import that was stopped leaves such, and puts it right when it is run again:")
        _print_some(result.strays, sys.stdout)
    if result.kept:
        print(f"{len(result.kept):,} sessions {'would ' * dry_run}keep the rows they had:", file=sys.stderr)
        _print_some(result.kept, sys.stderr)
    _print_left_out("could not be read", result.errors, sys.stderr)


def _print_some(lines: list[str], stream: TextIO) -> None:
    for line in lines[:SHOWN]:
        print(f"  {line}", file=stream)
    if len(lines) > SHOWN:
        print(f"  and {len(lines) - SHOWN:,} more; --json lists all", file=stream)


def _print_left_out(what: str, items: list[LeftOut], stream: TextIO) -> None:
    if not items:
        return
    print(f"{len(items):,} files {what}:", file=stream)
    _print_some([f"{plain(item.path)}: {item.reason}" for item in items], stream)
