"""`workbench vault forget`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.errors import BadInputError
from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, open_bench
from workbench.surfaces.cli.output import plain, print_json
from workbench.surfaces.cli.vault import PathArgument, vault_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.vault.forget import VaultForgotten


@vault_app.command("forget")
def forget(
    context: typer.Context,
    path: PathArgument = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where there is no terminal.")] = False,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Remove everything of a vault from the home for good: rows, search index, copies, reports. The notes stay."""
    vault = open_bench(context, home).vault(path)
    found = vault.forget(dry_run=True)
    if not dry_run:
        if not yes:
            _ask(found)
        found = vault.forget()
    if json:
        print_json(vars(found))
        return
    for line in _lines(found):
        print(line)


def _ask(found: VaultForgotten) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInputError("what is forgotten cannot be had back: add --yes, or look first by --dry-run")
    for line in _lines(found):
        print(line, file=sys.stderr)
    if not typer.confirm("Forget this vault for good?", err=True):
        print("nothing was changed", file=sys.stderr)
        raise typer.Exit(1)


def _lines(found: VaultForgotten) -> Iterator[str]:
    go = "would go" if found.dry_run else "are gone"
    counted = ", ".join(f"{name} {count:,}" for name, count in found.rows.items()) or "none"
    yield f"of {plain(found.root)} {plural(sum(found.rows.values()), 'row')} {go} ({counted})"
    yield f"{plural(found.chunks, 'piece')} of notes in the search index {go}, with their vectors"
    for title, paths in (
        (f"folders of copies that a fix kept, which cannot be undone then, {go}", found.copies),
        (f"files of reports in the home {go}", found.reports),
        ("data files may be in use by a writer, and were left; forget again in ten minutes", found.left),
    ):
        if paths:
            yield f"{len(paths):,} {title}:"
            yield from (f"  {plain(path)}" for path in paths)
    yield "the notes themselves stay as they are"
