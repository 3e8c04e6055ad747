"""How things are printed: JSON of a stable shape, or a table for a person, times local."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from workbench.reports.render.text import visible

GAP: Final = 2
LEAST_WIDTH: Final = 12
"""Of the last column of a table, where the terminal is narrow."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from workbench.ingest.importer import Progress


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return value if isinstance(value, str | int | bool | None) else _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.hex() if isinstance(value, bytes) else str(value)


def as_json(value: Any) -> str:
    """A value as JSON; times are ISO 8601 in UTC, numbers that are none become null."""
    return json.dumps(_jsonable(value), ensure_ascii=False, indent=1)


def print_json(value: Any) -> None:
    """Print a value as JSON, see `as_json`."""
    print(as_json(value))


def print_rows(frame: pl.DataFrame) -> None:
    """Print a frame as a JSON list of row objects, one a line."""
    rows = [json.dumps(_jsonable(row), ensure_ascii=False) for row in frame.iter_rows(named=True)]
    print("[" + ",\n ".join(rows) + "]")


def zone() -> str:
    """The name of the local time zone."""
    return datetime.now().astimezone().tzname() or "local"


def local(moment: datetime | None) -> str:
    """A time for a person: local, to the second."""
    return "" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def plain(value: Any) -> str:
    """A value for a person: no control characters, so that a transcript cannot steer the terminal."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return local(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return visible(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table whose last column gives way where the terminal is narrow; into a pipe at full width."""
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    heads = [plain(head).split("\n", 1)[0] for head in heads]
    shown = [[plain(cell).split("\n", 1)[0] for cell in row] for row in rows]
    widths = [max((cell_len(row[place]) for row in [heads, *shown]), default=0) for place in range(len(heads))]
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100_000)
    if widths:
        widths[-1] = max(LEAST_WIDTH, min(widths[-1], console.width - sum(widths[:-1]) - GAP * len(widths)))
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for place, (head, width) in enumerate(zip(heads, widths, strict=True)):
        is_number = bool(rows) and all(isinstance(row[place], int | float | None) for row in rows)
        table.add_column(
            Text(head), justify="right" if is_number else "left", no_wrap=True, overflow="ellipsis", width=width
        )
    for row in shown:
        table.add_row(*map(Text, row))
    with console.capture() as captured:
        console.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def progress_bar(label: str, *, of_bytes: bool = True) -> Iterator[Progress | None]:
    """A progress bar on the error stream of a terminal, of bytes or of steps; None into a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    far = DownloadColumn() if of_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), far, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def advance(done: int, total: int, path: str) -> None:
            del path
            bar.update(task, completed=done, total=total)

        yield advance
