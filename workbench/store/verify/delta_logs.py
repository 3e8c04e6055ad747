"""Delta logs: every entry is whole, none is missing, and deltalake can read the table.

The files are looked at before anything opens the table, since opening one moves a torn last entry aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from workbench.store.aside import move_aside
from workbench.store.delta import is_whole, told
from workbench.store.schema import Table
from workbench.store.verify.problem import Problem, below, is_rebuilt, remedy_for

_ENTRY: Final = re.compile(r"\d{20}\.json")
_CHECKPOINT: Final = re.compile(r"\d{20}\.checkpoint.*\.parquet")


def check_log(root: Path, folder: Path, table: Table) -> Iterator[Problem]:
    """Look at the log of one table.

    Args:
        root: The home's folder.
        folder: The table's folder; need not exist.
        table: The declaration.

    Yields:
        `torn_commit`, `damaged_commit`, `missing_log` and `unreadable_log`.
    """
    entries, has_checkpoint = _entries(folder / "_delta_log")
    if not entries and not has_checkpoint:
        yield from _without_log(root, folder, table)
        return
    damaged = [entry for entry in entries if not is_whole(entry)]
    for entry in damaged:
        yield _damaged(root, folder, table, entry, is_last=entry == entries[-1])
    if not damaged:
        yield from _opened(root, folder, table)


def _entries(log: Path) -> tuple[list[Path], bool]:
    names = sorted(path.name for path in log.iterdir()) if log.is_dir() else []
    return [log / name for name in names if _ENTRY.fullmatch(name)], any(map(_CHECKPOINT.fullmatch, names))


def _without_log(root: Path, folder: Path, table: Table) -> Iterator[Problem]:
    files = list(folder.glob("*.parquet")) if folder.is_dir() else []
    if files:
        detail = f"{len(files):,} data files and no log that says which of them count"
        mend = _setting_aside(root, folder, table)
        yield Problem("missing_log", below(root, folder), detail, remedy_for(table), mend, table.name)


def _damaged(root: Path, folder: Path, table: Table, entry: Path, *, is_last: bool) -> Problem:
    size = entry.stat().st_size
    state = f"{size:,} bytes that are no JSON lines" if size else "0 bytes"
    where = below(root, entry)
    if is_last:  # a power loss, before the commit was acknowledged
        detail = f"the last commit has {state}; its writer was never told that it succeeded"
        remedy = "workbench verify --repair moves it aside"
        return Problem("torn_commit", where, detail, remedy, partial(move_aside, root, entry), table.name)
    detail = f"a commit before the last one has {state}; what it added or removed is lost"
    return Problem(
        "damaged_commit", where, detail, remedy_for(table), _setting_aside(root, folder, table), table=table.name
    )


def _opened(root: Path, folder: Path, table: Table) -> Iterator[Problem]:
    try:
        DeltaTable(folder)
    except (DeltaError, OSError) as error:
        mend = _setting_aside(root, folder, table)
        yield Problem("unreadable_log", below(root, folder), told(error), remedy_for(table), mend, table.name)


def _setting_aside(root: Path, folder: Path, table: Table) -> partial[Path] | None:
    return partial(move_aside, root, folder) if is_rebuilt(table) else None
