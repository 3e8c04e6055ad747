"""Scrubbing: after rows were deleted from a table, nothing of them is left in its folder.

A delete in Delta writes new data files beside the old ones. What was deleted is still in these, in the log (minimum and
maximum of each column of each file, predicates such as `session_id = '...'`) and in checkpoints of the log. Scrubbing

1. vacuums: data files that the newest version does not name are removed;
2. writes a checkpoint, which holds no statistics but those of files that are there;
3. removes older checkpoints, and takes statistics of removed files and predicates out of the log entries.

Log entries stay in their places. To remove them would let a writer that read the table a moment ago commit under a
number that readers of the checkpoint take for done, and its rows would be lost. So numbers and times of versions are
kept; their rows cannot be read any more.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from deltalake import DeltaTable

from workbench.errors import StoreError
from workbench.store.delta import NOTHING, DeltaStore
from workbench.store.files import sync_file, sync_folder, write_atomic

IN_FLIGHT_SECONDS: Final = 600
"""A younger data file that no commit names may be of a writer that is about to commit it, which takes seconds."""

WRITERS: Final = 8
"""Log entries written at once; as in `archive`."""

_ENTRY: Final = re.compile(r"\d{20}\.json")
_CHECKPOINT: Final = re.compile(r"\d{20}\.checkpoint\.(.+\.)?parquet")


def scrub(store: DeltaStore, *, is_locked: bool) -> list[Path]:
    """Remove everything of a table that its newest version does not need.

    Args:
        store: The table.
        is_locked: Whether nobody else writes to it now, so that unknown data files are left-overs whatever their age.

    Returns:
        Data files that were left because somebody may be about to commit them; unknown to any version.

    Raises:
        ConflictError, StoreError: The table cannot be written.
    """
    if store.version() == NOTHING:
        return []
    store.vacuum(timedelta(0))
    try:
        version = store.perform(DeltaTable.create_checkpoint) or 0
        log = store.folder / "_delta_log"
        _sync_checkpoint(log, version)
        live = {Path(file).name for file in store.snapshot().files}
        left = _remove_strays(store.folder, live, is_locked=is_locked)
        _clean_log(log, version, live, is_locked=is_locked)
    except OSError as error:
        raise StoreError(f"the table {store.folder} cannot be scrubbed: {error.strerror or error}") from error
    return left


def _sync_checkpoint(log: Path, version: int) -> None:
    for name in (f"{version:020}.checkpoint.parquet", "_last_checkpoint"):
        sync_file(log / name)
    sync_folder(log)


def _remove_strays(folder: Path, live: Collection[str], *, is_locked: bool) -> list[Path]:
    """Remove what a dead writer left: data files that no version names, torn log entries, half-written files."""
    left = []
    newest = time.time() - IN_FLIGHT_SECONDS
    for path in folder.iterdir():
        if path.is_dir() or path.name in live:
            continue
        if not is_locked and path.stat().st_mtime > newest:
            left.append(path)
        else:
            path.unlink(missing_ok=True)
    sync_folder(folder)
    return left


def _clean_log(log: Path, version: int, live: Collection[str], *, is_locked: bool) -> None:
    newest = time.time() - IN_FLIGHT_SECONDS
    entries = []
    for path in log.iterdir():
        checkpoint = _CHECKPOINT.fullmatch(path.name)
        if _ENTRY.fullmatch(path.name):
            entries.append(path)
        elif checkpoint is not None:
            if int(path.name[:20]) < version:
                path.unlink(missing_ok=True)
        elif path.name != "_last_checkpoint" and (is_locked or path.stat().st_mtime <= newest):
            path.unlink(missing_ok=True)
    with ThreadPoolExecutor(WRITERS, thread_name_prefix="scrub") as pool:
        list(pool.map(partial(_clean_entry, live=live), entries))
    sync_folder(log)


def _clean_entry(entry: Path, live: Collection[str]) -> None:
    data = entry.read_bytes()
    cleaned = b"".join(_cleaned(data, live))
    if cleaned != data:
        write_atomic(entry, cleaned, sync_entry=False)


def _cleaned(data: bytes, live: Collection[str]) -> Iterator[bytes]:
    """The lines of a log entry without what tells of rows that are gone; lines that tell nothing stay as they are."""
    for line in data.splitlines(keepends=True):
        action: dict[str, Any] = json.loads(line)
        if _is_changed(action, live):
            yield json.dumps(action, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        else:
            yield line


def _is_changed(action: dict[str, Any], live: Collection[str]) -> bool:
    """Take out of an action what tells of rows that are gone; returns whether there was any."""
    changed = False
    for kind in ("add", "remove"):
        file = action.get(kind)
        if file is not None and file.get("stats") is not None and unquote(file["path"]) not in live:
            file["stats"] = None
            changed = True
    parameters = action.get("commitInfo", {}).get("operationParameters") or {}
    for name in list(parameters):
        if "redicate" in name:
            del parameters[name]
            changed = True
    return changed
