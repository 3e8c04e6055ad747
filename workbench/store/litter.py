"""What writers that were killed leave behind, and where things go that are taken out of the way.

`write_atomic` leaves `.name.xxxxxxxx`, deltalake `name#1` and `_commit_....json.tmp`: none of them is read by anyone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from workbench.store.home import Home

ABANDONED_AFTER: Final = timedelta(days=1)
"""A temporary file lives for milliseconds; a day also outlasts a machine that was put to sleep."""


_TEMPORARY: Final = re.compile(r"\..+\.[a-z0-9_]{8}", re.DOTALL)
"""What `tempfile.mkstemp` makes of `.name.`."""

_DELTA: Final = re.compile(r".+#[0-9]+|_commit_.+\.json\.tmp", re.DOTALL)
"""What the object store of deltalake writes to before it renames or links (read in its source, seen after kills)."""


class Litter(NamedTuple):
    """A temporary file that nobody will finish."""

    path: Path
    size_bytes: int


def abandoned(home: Home, now: datetime) -> Iterator[Litter]:
    """Temporary files that are older than `ABANDONED_AFTER`.

    Args:
        home: The home; looked at are its own folder, the archive, the event logs and the tables.
        now: UTC.
    """
    until = (now - ABANDONED_AFTER).timestamp()
    folders = [home.root, home.archive, *_folders(home.sessions)]
    tables = [place for table in _folders(home.tables) for place in (table, table / "_delta_log")]
    for names, places in ((_TEMPORARY, folders), (_DELTA, tables)):
        for entry in (entry for place in places for entry in _files(place) if names.fullmatch(entry.name)):
            about = entry.stat(follow_symlinks=False)
            if about.st_mtime < until:
                yield Litter(Path(entry.path), about.st_size)


def _folders(place: Path) -> list[Path]:
    return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []


def _files(place: Path) -> list[os.DirEntry[str]]:
    if not place.is_dir():
        return []
    with os.scandir(place) as entries:
        return sorted((entry for entry in entries if entry.is_file(follow_symlinks=False)), key=lambda e: e.name)
