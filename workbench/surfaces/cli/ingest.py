"""`workbench ingest`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.ingest.cycles import no_cycle_collection
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, progress_bar

if TYPE_CHECKING:
    from typing import TextIO

    from workbench.ingest.importer import ImportResult
    from workbench.ingest.prepare import LeftOut

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
) -> None:
    """Import agents' transcripts. Unchanged files are not opened again; what an agent deletes later stays here."""
    started = time.perf_counter()
    with no_cycle_collection():  # from here on, since loading the libraries makes many objects too
        if paths:
            _start_ahead(paths, home or context.obj)
        bench = open_bench(context, home)
        with progress_bar("importing") as progress:
            result = bench.ingest(*(paths or ()), rehash=rehash, progress=progress)
    seconds = round(time.perf_counter() - started, 3)
    if json:
        print_json(_shape(result, seconds))
    else:
        _print(result, seconds)
    if result.errors:
        raise typer.Exit(1)


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
        "issues": result.issues,
        "skipped": [item._asdict() for item in result.skipped],
        "errors": [item._asdict() for item in result.errors],
        "seconds": seconds,
    }


def _print(result: ImportResult, seconds: float) -> None:
    print(
        f"landed {result.sessions:,} sessions: {result.events:,} events, {result.turns:,} turns, "
        f"{result.tool_calls:,} tool calls in {seconds:.1f} s"
    )
    if result.unchanged:
        print(f"{result.unchanged:,} files did not change and were not opened")
    if result.issues:
        print(
            f"{result.issues:,} things in the files are not as they should be: "
            "workbench sql 'select * from import_issues'"
        )
    _print_left_out("skipped", result.skipped, sys.stdout)
    _print_left_out("could not be read", result.errors, sys.stderr)


def _print_left_out(what: str, items: list[LeftOut], stream: TextIO) -> None:
    if not items:
        return
    print(f"{len(items):,} files {what}:", file=stream)
    for item in items[:SHOWN]:
        print(f"  {plain(item.path)}: {item.reason}", file=stream)
    if len(items) > SHOWN:
        print(f"  and {len(items) - SHOWN:,} more; --json lists all", file=stream)
