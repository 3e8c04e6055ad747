"""`workbench vault fix`: repairs of a vault, proposed first and applied when asked for."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_table
from workbench.surfaces.cli.vault import PathArgument, vault_app
from workbench.surfaces.exits import say

if TYPE_CHECKING:
    from workbench.vault.fix.apply import FixResult


class Kind(StrEnum):
    """What is repaired."""

    BROKEN_LINK = "broken_link"
    PATH_ALIAS = "path_alias"
    MISSING_PARENT = "missing_parent"
    ORPHAN = "orphan"


@vault_app.command("fix")
def fix(
    context: typer.Context,
    path: PathArgument = None,
    apply: Annotated[
        bool, typer.Option("--apply/--dry-run", help="Write the repairs; without it they are only shown.")
    ] = False,
    kind: Annotated[
        list[Kind] | None,
        typer.Option("--kind", help="Only repairs of this kind; give it again for more.", show_default=False),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option("--min-confidence", help="Apply what is this sure, 0 to 1; 0.9 unless given.", min=0, max=1),
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help="Only repairs in this note.", show_default=False)] = None,
    restore: Annotated[
        Path | None,
        typer.Option("--restore", help="Put files back from this folder of copies.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Propose repairs of broken links, orphans, missing parents and links to other paths of a note.

    Nothing is written without --apply, nothing under _archive/ ever. Files that are edited are copied into the home
    first.
    """
    vault = open_bench(context, home).vault(path)
    if restore is not None:
        _restored(vault.restore_fixes(restore), json=json)
        return
    kinds = [each.value for each in kind] if kind else None
    done = vault.fix(apply=apply, kinds=kinds, min_confidence=min_confidence, note=note)
    if json:
        copies = None if done.copies is None else str(done.copies)
        print_json({"applied": apply, "files": done.files, "copies": copies, "proposals": done.proposals.to_dicts()})
    else:
        _print(done, applied=apply)
    if apply and (done.proposals["outcome"] == "refused").any():
        raise typer.Exit(1)


def _print(done: FixResult, *, applied: bool) -> None:
    rows = done.proposals.select(
        "outcome", "kind", "confidence", "path", "line", "found", "proposed_link", "rule"
    ).rows()
    if rows:
        print_table(("outcome", "kind", "sure", "note", "line", "link", "becomes", "because"), rows)
    counts = dict(done.proposals["outcome"].value_counts(sort=True).iter_rows())
    print(", ".join(f"{number:,} {name}" for name, number in counts.items()) or "nothing to repair")
    for reason, number in done.proposals.filter(outcome="refused")["reason"].value_counts(sort=True).iter_rows():
        say(f"{number:,} refused: {plain(reason)}")
    if done.copies is not None:
        print(plain(f"{plural(done.files, 'file')} written; as they were: --restore {done.copies}"))
    elif not applied and "proposed" in counts:
        print("nothing was written: --apply writes what is proposed")


def _restored(outcomes: dict[str, str | None], *, json: bool) -> None:
    refused = {path: reason for path, reason in outcomes.items() if reason}
    if json:
        print_json({"restored": [path for path, reason in outcomes.items() if not reason], "refused": refused})
    else:
        print(f"{plural(len(outcomes) - len(refused), 'file')} put back as they were")
    for path, reason in refused.items():
        say(plain(f"{path}: {reason}"))
    if refused:
        raise typer.Exit(1)
