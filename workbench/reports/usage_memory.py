"""The answer of `workbench usage --json` from one landing to the next, since a status line asks for it over and over.

To load what reads the tables takes a second; to see that nothing landed since takes a hundredth. Only splits that name
no session are remembered, so that nothing of a forgotten one is kept here.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench import __version__
from workbench.store.cache import read_cache, write_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.store.home import Home

REMEMBERED: Final = ("model", "day")
"""Splits whose rows name neither session nor project."""

READ: Final = ("sessions", "session_labels", "usage")
"""The tables that the answer is made from."""

_HASH_BYTES: Final = 64
_ENTRY: Final = re.compile(r"\d{20}\.json")


def remembered(home: Home, by: str) -> str | None:
    """The answer that was remembered, if all that it depends on is as it was then.

    Args:
        home: The home.
        by: The split.
    """
    kept = read_cache(home, _name(by)) if by in REMEMBERED else None
    if kept is None or kept[:_HASH_BYTES].decode("ascii", "replace") != state(home):
        return None
    return kept[_HASH_BYTES:].decode()


def remember(home: Home, by: str, answer: str, before: str) -> None:
    """Keep an answer, unless something landed while it was made.

    Args:
        home: The home.
        by: The split.
        answer: As it is printed.
        before: The `state` from before the tables were read.
    """
    if by in REMEMBERED and state(home) == before:
        write_cache(home, _name(by), f"{before}{answer}".encode())


def state(home: Home) -> str:
    """A hash of all that an answer depends on: tables, logs of sessions run here, prices, code, the local zone."""
    zone = (time.tzname, time.timezone, time.altzone, str(Path("/etc/localtime").resolve()))
    told = [__version__, version("genai-prices"), repr(zone), os.fspath(home.root)]
    told += [f"{name} {_newest_entry(home.tables / name / '_delta_log')}" for name in READ]
    told += _logs(home.sessions)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _name(by: str) -> str:
    return f"usage-{by}"


def _newest_entry(folder: Path) -> str:
    """The newest entry of a table's log, by name and time: an entry is never written twice."""
    try:
        with os.scandir(folder) as entries:
            newest = max((each for each in entries if _ENTRY.fullmatch(each.name)), key=lambda each: each.name)
        return f"{newest.name} {newest.stat().st_mtime_ns}"
    except (OSError, ValueError):
        return ""


def _logs(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*/events.jsonl")):
        told = path.stat()
        yield f"{path.parent.name} {told.st_size} {told.st_mtime_ns} {told.st_ino}"
