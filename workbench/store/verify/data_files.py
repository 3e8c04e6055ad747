"""Data files: those that the log names are there, have their size, can be read, and hold what is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from workbench.store.aside import move_aside
from workbench.store.delta import told
from workbench.store.schema import Table, is_like
from workbench.store.verify.problem import Problem, below, is_rebuilt, remedy_for

READERS: Final = 2
"""Files read at once; pyarrow reads the columns of each side by side."""


class Named(NamedTuple):
    """A data file as the log names it."""

    path: Path
    size_bytes: int
    rows: int | None


def named_files(folder: Path) -> list[Named]:
    """The data files of the newest version, as the log tells of them."""
    actions = pa.table(DeltaTable(folder).get_add_actions(flatten=True))
    columns = (actions[name].to_pylist() for name in ("path", "size_bytes", "num_records"))
    return [Named(folder / unquote(path), size, rows) for path, size, rows in zip(*columns, strict=True)]


def check_files(root: Path, folder: Path, table: Table) -> Iterator[Problem]:
    """Read every data file of one table through.

    Args:
        root: The home's folder.
        folder: The table's folder, whose log can be read.
        table: The declaration.

    Yields:
        `missing_file`, `wrong_size`, `unreadable_file`, `wrong_rows`, `wrong_schema`, `null_in_required`: at most one a
        file.
    """
    mend = partial(move_aside, root, folder) if is_rebuilt(table) else None
    with ThreadPoolExecutor(READERS, thread_name_prefix="verify") as pool:
        for file, found in _each(pool, partial(_look, table=table), named_files(folder)):
            if found is not None:
                what, detail = found
                yield Problem(what, below(root, file.path), detail, remedy_for(table), mend, table.name)


def _each(
    pool: ThreadPoolExecutor, look: Callable[[Named], tuple[str, str] | None], files: list[Named]
) -> Iterator[tuple[Named, tuple[str, str] | None]]:
    return zip(files, pool.map(look, files), strict=True)


def _look(file: Named, table: Table) -> tuple[str, str] | None:
    """Kind and description of the first thing that is wrong with a file."""
    try:
        size = file.path.stat().st_size
        if size != file.size_bytes:
            return "wrong_size", f"{size:,} bytes where the log says {file.size_bytes:,}"
        with pq.ParquetFile(file.path) as parquet:
            return _schema(parquet.schema_arrow, table) or _rows(parquet, file, table)
    except FileNotFoundError:
        return "missing_file", "the log names this file, and it is not there"
    except (pa.ArrowException, OSError) as error:
        return "unreadable_file", told(error)


def _schema(found: pa.Schema, table: Table) -> tuple[str, str] | None:
    for column in table.columns:
        place = found.get_field_index(column.name)
        if place < 0 and column.required:
            return "wrong_schema", f"the required column {column.name} is missing"
        if place >= 0 and not is_like(found.field(place).type, column.type):
            return "wrong_schema", f"the column {column.name} is {found.field(place).type}, not {column.type}"
    return None


def _rows(parquet: pq.ParquetFile, file: Named, table: Table) -> tuple[str, str] | None:
    """Decode everything once; a group of rows at a time, so that memory stays small."""
    required, rows = [column.name for column in table.columns if column.required], 0
    for number in range(parquet.num_row_groups):
        group: Any = parquet.read_row_group(number)
        rows += group.num_rows
        for name in required:
            nulls = group[name].null_count
            if nulls:
                return "null_in_required", f"{nulls:,} rows have no {name}, which is required"
    if file.rows is not None and rows != file.rows:
        return "wrong_rows", f"{rows:,} rows where the log says {file.rows:,}"
    return None
