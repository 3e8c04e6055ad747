"""`workbench maintain`, `workbench verify`, `workbench doctor`: care of a home."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from workbench.errors import BadInputError, StoreError
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from workbench.store.maintenance import MaintainResult
    from workbench.store.verify.problem import Problem
    from workbench.store.verify.run import Verification

NOT_SOUND: Final = StoreError.exit_code
IN_PART: Final = 1

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")]


@app.command()
def maintain(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    dry_run: DryRun = False,
) -> None:
    """Compact tables and remove what nobody can read any more. Imports and queries may go on meanwhile."""
    started = time.perf_counter()
    bench = open_bench(context, home)
    with progress_bar("maintaining", of_bytes=False) as progress:
        result = bench.maintain(dry_run=dry_run, progress=progress)
    seconds = round(time.perf_counter() - started, 3)
    if json:
        print_json(_maintain_shape(result, seconds))
    else:
        _print_maintain(result, seconds)
    if any(item.is_error for item in result.left_out):
        raise typer.Exit(IN_PART)


def _maintain_shape(result: MaintainResult, seconds: float) -> dict[str, object]:
    return {
        "dry_run": result.dry_run,
        "retention_days": result.retention_days,
        "changes": [change._asdict() for change in result.changes],
        "bytes": result.bytes,
        "left_out": [item._asdict() for item in result.left_out],
        "seconds": seconds,
    }


def _print_maintain(result: MaintainResult, seconds: float) -> None:
    print(f"replaced files are kept for {result.retention_days:g} days (store.file_retention_days)")
    if result.changes:
        print_table(
            ("step", "where", "files", "bytes", "what"), [(c[0], c[1], c[3], c[4], c[2]) for c in result.changes]
        )
    for item in result.left_out:
        print(f"left out: {item.step}: {plain(item.reason)}")
    freed = "would become free" if result.dry_run else "are free now"
    print(f"{result.bytes:,} bytes {freed}" if result.changes else "there is nothing to do", f"({seconds:.1f} s)")


@app.command()
def verify(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what can be repaired; what is in the way is kept in .aside.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --repair: only tell what would be repaired.")
    ] = False,
) -> None:
    """Look whether the home is sound: logs, tables, rows, archive. Exit code 4 where it is not."""
    if dry_run and not repair:
        raise BadInputError("--dry-run goes with --repair; without it verify changes nothing")
    bench = open_bench(context, home)
    with progress_bar("verifying", of_bytes=False) as progress:
        result = bench.verify(repair=repair and not dry_run, progress=progress)
    if json:
        print_json(_verify_shape(result))
    else:
        _print_verify(result)
    if not result.ok:
        raise typer.Exit(NOT_SOUND)


def _verify_shape(result: Verification) -> dict[str, object]:
    shape: dict[str, object] = {"ok": result.ok, "problems": [problem.told() for problem in result.problems]}
    if result.repaired:
        shape["repaired"] = [problem.told() for problem in result.repaired]
    return shape


def _print_verify(result: Verification) -> None:
    for problem in result.repaired:
        print(f"repaired: {_line(problem)}")
    for problem in result.problems:
        print(f"{_line(problem)}\n  {plain(problem.remedy)}")
    repairable = sum(problem.repairable for problem in result.problems)
    if result.ok:
        print("all is well")
    else:
        print(f"{len(result.problems):,} problems, of which workbench verify --repair repairs {repairable:,}")


def _line(problem: Problem) -> str:
    return plain(f"{problem.what}: {problem.where}: {problem.detail}")


@app.command()
def doctor(context: typer.Context, home: HomeOption = None, json: JsonOption = False) -> None:
    """Look at this machine and home: files that agents will delete, clock, disk, permissions, versions."""
    findings = open_bench(context, home).doctor()
    is_ok = all(finding.level != "error" for finding in findings)
    if json:
        print_json({"ok": is_ok, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            print(f"{finding.level:8} {finding.check:12} {plain(finding.found)}")
            for line in finding.remedy.splitlines():
                print(f"{'':21} {plain(line)}")
    if not is_ok:
        raise typer.Exit(NOT_SOUND)
