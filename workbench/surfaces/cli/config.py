"""`workbench config`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_table


@app.command()
def config(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    explain: Annotated[bool, typer.Option("--explain", help="With origin, default and meaning of each value.")] = False,
    key: Annotated[str | None, typer.Option("--key", help="Only keys that begin with this.")] = None,
) -> None:
    """Show the configuration in force, and where each value comes from."""
    bench = open_bench(context, home)
    rows = [row for row in bench.config.explain() if key is None or row.key.startswith(key)]
    if json:
        shown = [asdict(row) if explain else {"key": row.key, "value": row.value} for row in rows]
        print_json(
            {"home": str(bench.home.root), "values": shown, "warnings": [asdict(w) for w in bench.config.warnings]}
        )
        return
    print(f"home {bench.home.root}")
    if explain:
        print_table(
            ("key", "value", "default", "origin", "meaning"),
            [(r.key, plain(r.value), plain(r.default), r.origin, r.meaning) for r in rows],
        )
    else:
        print_table(("key", "value", "origin"), [(row.key, plain(row.value), row.origin) for row in rows])
    for warning in bench.config.warnings:
        print(warning, file=sys.stderr)
