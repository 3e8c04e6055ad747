"""`workbench sql`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from workbench.errors import BadInputError
from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import print_rows, print_table, zone

SHOWN = 100


@app.command()
def sql(
    context: typer.Context,
    query: Annotated[str | None, typer.Argument(help="DuckDB SQL; - reads it from standard input.")] = None,
    home: HomeOption = None,
    json: JsonOption = False,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read the query from a file.")] = None,
    rows: Annotated[int, typer.Option("--rows", help="Rows to show; --json prints all.", min=1)] = SHOWN,
) -> None:
    """Ask the tables with SQL: sessions, turns, tool_calls, usage, events, sources, ... (docs/tables.md)."""
    frame = open_bench(context, home).sql(_text(query, file))
    if json:
        print_rows(frame)
        return
    print_table(frame.columns, frame.head(rows).rows())
    times = any(dtype.is_temporal() for dtype in frame.dtypes)
    note = f"; times in {zone()}" if times else ""
    more = f"; {rows} shown, --rows shows more" if frame.height > rows else ""
    print(f"{plural(frame.height, 'row')}{note}{more}")


def _text(query: str | None, file: Path | None) -> str:
    if (query is None) == (file is None):
        raise BadInputError("give either a query or --file; for example: workbench sql 'select * from sessions'")
    try:
        text = file.read_text("utf-8") if file is not None else sys.stdin.read() if query == "-" else query or ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"the query file {file} cannot be read: {error}") from error
    if not text.strip():
        raise BadInputError("the query is empty; for example: workbench sql 'select * from sessions'")
    return text
