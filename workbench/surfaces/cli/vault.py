"""`workbench vault`: a folder of notes as tables."""

from __future__ import annotations

import json as json_module
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, print_table, progress_bar
from workbench.surfaces.cli.search import embedded_shape, print_embedded
from workbench.surfaces.exits import say

if TYPE_CHECKING:
    from workbench.vault.index import VaultRun
    from workbench.vault_face import Vault

vault_app = typer.Typer(help="Index a folder of notes, keep the index up to date, look at it.", no_args_is_help=True)
app.add_typer(vault_app, name="vault")

PathArgument = Annotated[
    Path | None,
    typer.Argument(help="The folder of notes; vault.path of the configuration unless given.", show_default=False),
]


@vault_app.command("index")
def index(
    context: typer.Context,
    path: PathArgument = None,
    rehash: Annotated[bool, typer.Option("--rehash", help="Open every file, whatever size and time say.")] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Take every note apart again and write all rows.")] = False,
    embed: Annotated[
        bool, typer.Option("--embed", help="Give every note a vector too, as `embed --vault` does.")
    ] = False,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Bring the tables of a vault up to date. The vault itself is only read; unchanged files are not opened."""
    vault = open_bench(context, home).vault(path)
    with progress_bar("indexing", of_bytes=False) as progress:
        run = vault.index(rehash=rehash, anew=anew, progress=progress)
    if not json:
        _print_run(run)
    embedded = _embedded(vault, json=json) if embed else None
    if json:
        print_json(run._asdict() | ({"embedding": embedded} if embed else {}))
    if run.unread:
        raise typer.Exit(1)


def _embedded(vault: Vault, *, json: bool) -> dict[str, Any]:
    started = time.perf_counter()
    with progress_bar("embedding", of_bytes=False) as progress:
        done = vault.embed(progress=progress)
    seconds = round(time.perf_counter() - started, 3)
    if not json:
        print_embedded(done, seconds)
    return embedded_shape(done, seconds)


@vault_app.command("watch")
def watch(context: typer.Context, path: PathArgument = None, home: HomeOption = None, json: JsonOption = False) -> None:
    """Index a vault, and again after every change, until Ctrl-C. With --json one line a run."""
    vault = open_bench(context, home).vault(path)
    say(f"watching {plain(vault.root)}; Ctrl-C ends it")
    for run in vault.watch():
        if json:
            print(json_module.dumps(run._asdict(), ensure_ascii=False), flush=True)
        elif run.opened or run.removed or run.renamed:
            print(plain(_line(run)), flush=True)


@vault_app.command("status")
def status(
    context: typer.Context, path: PathArgument = None, home: HomeOption = None, json: JsonOption = False
) -> None:
    """Say what is known of a vault and what has changed since; of all vaults where none is named or configured."""
    bench = open_bench(context, home)
    if path is None and bench.config.vault.path is None:
        rows = bench.vaults.to_dicts()
        if json:
            print_json(rows)
        elif not rows:
            say("no vault was indexed yet: workbench vault index FOLDER")
        else:
            heads = ("vault", "notes", "links", "issues", "indexed", "folder")
            print_table(heads, [_overview(row) for row in rows])
        return
    told = bench.vault(path).status()
    if json:
        print_json(told)
    else:
        _print_status(told)


def _overview(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["name"], row["notes"], row["links"], row["issues"], local(row["recorded_at"]), row["root"]


def _line(run: VaultRun) -> str:
    what = ", ".join(
        f"{getattr(run, name):,} {name}" for name in ("added", "changed", "renamed", "removed") if getattr(run, name)
    )
    return (
        f"{plural(run.notes, 'note')}, {plural(run.links, 'link')}: {what or 'nothing changed'} ({run.seconds:.1f} s)"
    )


def _print_run(run: VaultRun) -> None:
    print(plain(_line(run)))
    if not run.notes:
        say(f"there is no note (*.md) in {plain(run.root)}; is it the right folder?")
    print(f"{plural(run.opened, 'file')} opened, {plural(run.attachments, 'other file')} beside the notes")
    if run.issues:
        ask = f"workbench sql \"select path, line, kind, detail from note_issues where vault_id = '{run.vault_id}'\""
        print(f"{plural(run.issues, 'thing')} could not be read as meant: {ask}")
    if run.unread:
        say(f"{plural(run.unread, 'file')} could not be opened; what was known of them stays")


def _print_status(told: dict[str, Any]) -> None:
    print(plain(f"{told['name']}: {told['notes']:,} notes, {told['attachments']:,} other files, in {told['root']}"))
    rows = [
        ("links", told["links"]),
        ("  that lead somewhere", told["links_that_lead_somewhere"]),
        ("  to nothing", told["links_to_nothing"]),
        ("  to a heading or block that is not there", told["links_to_missing_anchors"]),
        ("  sequential", told["sequential"]),
        ("  associative", told["associative"]),
        ("notes without a vector", told["notes_without_vector"]),
        *((f"issue: {kind}", count) for kind, count in told["issue_kinds"].items()),
    ]
    print_table(("", "count"), rows)
    since = told["since"]
    if not since["is_there"]:
        say("the folder is not there any more; what was known of it stays")
        return
    fresh = ", ".join(f"{since[name]:,} {name}" for name in ("new", "changed", "gone") if since[name])
    print(f"indexed {local(told['recorded_at'])}; since then {fresh or 'nothing has changed'}")
