"""Where things go that are taken out of the way: into `.aside` of the home, never deleted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from workbench.store.files import make_folder, sync_folder

ASIDE: Final = ".aside"
"""The folder in a home; in it one a day and time, and in that each thing under its own name."""


def move_aside(root: Path, path: Path) -> Path:
    """Move a file or folder of a home out of the way, durably, under its own name in a folder of the day and time.

    Args:
        root: The home's folder.
        path: What is in the way; in the home.

    Returns:
        Where it is now.

    Raises:
        OSError: It cannot be moved.
    """
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = root / ASIDE / moment / path.relative_to(root)
    path.lstat()  # before a folder is made for nothing
    make_folder(target.parent, mode=0o700)
    path.rename(target)
    sync_folder(target.parent)
    sync_folder(path.parent)
    return target
