"""Which of the agents' files an import would bring, without importing them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.ingest import discover, formats
from workbench.ingest.file_bytes import as_utf8
from workbench.ingest.importer import known_sources
from workbench.store.lake import Lake
from workbench.store.tombstones import Tombstones, read_tombstones


class Outstanding(NamedTuple):
    """A transcript of which something is not in the tables.

    Attributes:
        path: As it is told.
        size_bytes: Its size.
        mtime_ns: When it was changed last.
        is_new: Whether nothing of it is there; else it changed since it was imported.
    """

    path: str
    size_bytes: int
    mtime_ns: int
    is_new: bool


class Folder(NamedTuple):
    """What is in a folder of an agent.

    Attributes:
        transcripts: Files that landed, or that would.
        outstanding: Those of which something is missing here.
        unreadable: Paths that cannot be looked at.
    """

    transcripts: int
    outstanding: list[Outstanding]
    unreadable: list[str]


def look(lake: Lake, folder: Path) -> Folder:
    """Look through a folder; only files that never landed are opened, and of these only the beginning is read.

    Where sessions were forgotten such files are read wholly: one that tells of no other session would not land.

    Args:
        lake: The home's tables.
        folder: Where an agent keeps its sessions.

    Raises:
        StoreError: The tables cannot be read.
    """
    known, tombstones = known_sources(lake), read_tombstones(lake)
    found, landed, unreadable = [], 0, []
    for item in discover.walk([folder]):
        if isinstance(item, discover.Unreadable):
            unreadable.append(discover.told(item.path))
            continue
        is_known = known.at(item.path) is not None
        landed += is_known
        if not known.is_unchanged(item) and (is_known or _would_land(item.path, tombstones)):
            found.append(Outstanding(discover.told(item.path), item.size_bytes, item.mtime_ns, not is_known))
    return Folder(landed + sum(each.is_new for each in found), found, unreadable)


def _would_land(path: str, tombstones: Tombstones) -> bool:
    """Whether a file is a transcript, and tells of a session that was not forgotten."""
    name = os.path.basename(path)  # noqa: PTH119
    found = next(filter(None, (formats.recognise(as_utf8(head), name) for head in _heads(Path(path)))), None)
    if found is None or not tombstones.hashes:
        return found is not None
    session_ids = set(found.read(as_utf8(Path(path).read_bytes()), path).session_ids)
    return tombstones.among(session_ids) != session_ids


def _heads(path: Path) -> Iterator[bytes]:
    """More and more of a file, see `formats.HEAD_BYTES`; nothing of one that cannot be read."""
    data = b""
    try:
        with path.open("rb") as file:
            for size in formats.HEAD_BYTES:
                data += file.read(size - len(data))
                yield data
                if len(data) < size:
                    return
    except OSError:
        return
