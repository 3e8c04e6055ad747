"""`workbench export`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, print_table, progress_bar


@app.command()
def export(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="A folder for Parquet files, one a table.", metavar="DIR")
    ] = None,
    duckdb: Annotated[
        Path | None, typer.Option("--duckdb", help="A DuckDB file with tables and views.", metavar="FILE")
    ] = None,
    session: Annotated[
        list[str] | None,
        typer.Option("--session", help="Only this session: id, prefix or last; may be given several times."),
    ] = None,
    since: Annotated[
        datetime | None, typer.Option("--since", help="Only sessions that were active at or after this local time.")
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option("--table", help="Only this table; may be given several times.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier export at that place.")] = False,
) -> None:
    """Write the tables as other programs read them: Parquet files, or one DuckDB file."""
    bench = open_bench(context, home)
    moment = since.astimezone() if since else None
    with progress_bar("exporting") as progress:
        done = bench.export(
            parquet=parquet,
            duckdb=duckdb,
            sessions=session or None,
            since=moment,
            tables=table or None,
            overwrite=overwrite,
            progress=progress,
        )
    if json:
        print_json(vars(done))
        return
    print_table(("table", "rows"), list(done.rows.items()))
    print(f"{done.size_bytes:,} bytes in {plain(done.path)}")
    filters = {"session": ", ".join(session or ()), "since": local(moment)}
    told = ", ".join(f"{name} {value}" for name, value in filters.items() if value)
    print(plain(f"only {told}" if told else "all sessions"))
    if done.left_out:
        print(plain(f"left out, since their rows belong to no single session: {', '.join(done.left_out)}"))
