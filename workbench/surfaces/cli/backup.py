"""`workbench backup` and `workbench restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, progress_bar

SHOWN = 10


@app.command()
def backup(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="FILE-or-DIR", help="The file, or a folder for a file named by time.")],
    home: HomeOption = None,
    json: JsonOption = False,
    without_vectors: Annotated[
        bool, typer.Option("--without-vectors", help="Leave out the search index; it can be made anew.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go in.")] = False,
) -> None:
    """Write everything that the home holds into one file; imports and sessions may go on meanwhile."""
    bench = open_bench(context, home)
    with progress_bar("backing up") as progress:
        done = bench.backup(out, vectors=not without_vectors, dry_run=dry_run, progress=progress)
    if json:
        print_json(vars(done))
        return
    held = f"{plural(done.files, 'file')} with {done.home_bytes:,} bytes, {plural(len(done.tables), 'table')}"
    if dry_run:
        print(f"{held} would go into {plain(done.path)}")
    else:
        print(f"{held} are in {plain(done.path)} ({done.size_bytes:,} bytes)")
    for what in done.left_out[:SHOWN]:
        print(f"not in it: {plain(what)}")
    if len(done.left_out) > SHOWN:
        print(f"and {len(done.left_out) - SHOWN:,} more; --json lists all")


@app.command()
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A backup.")],
    home: HomeOption = None,
    json: JsonOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only read the backup and check every file in it.")
    ] = False,
) -> None:
    """Make a home out of a backup; its folder must be empty or missing. Every checksum is compared before and after."""
    from workbench.keeping import restore as restored  # noqa: PLC0415  (--help needs none of it)

    with progress_bar("restoring") as progress:
        done = restored(file, home or context.obj, dry_run=dry_run, progress=progress)
    if json:
        print_json(vars(done))
        return
    held = f"{plural(done.files, 'file')} with {done.bytes:,} bytes, {plural(len(done.tables), 'table')}"
    told = "sound, nothing was written" if dry_run else f"now in {plain(done.home)}"
    print(f"{held}: {told}; made on {local(done.created_at)} by workbench {plain(done.workbench)}")
    if not done.has_vectors:
        print("the search index is not in it; the next search makes it anew, `workbench embed` the vectors")
