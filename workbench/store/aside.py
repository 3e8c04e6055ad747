"""Where things go that are taken out of the way, and copies of what is about to be edited: `.aside` of the home."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from workbench.errors import NotFoundError, StoreError
from workbench.store.files import make_folder, sync_folder, write_atomic

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
    target = root / ASIDE / _moment() / path.relative_to(root)
    path.lstat()  # before a folder is made for nothing
    make_folder(target.parent, mode=0o700)
    path.rename(target)
    sync_folder(target.parent)
    sync_folder(path.parent)
    return target


ABOUT: Final = "about.json"
"""In a folder of copies: what they are of, and the name of each copy's original."""


def keep_copies(root: Path, files: Mapping[str, bytes], about: Mapping[str, Any]) -> Path:
    """Keep copies of files that are about to be edited, durably, in a folder of the day and time.

    Args:
        root: The home's folder.
        files: Name to content; the copies are numbered, so that no name leads anywhere.
        about: JSON values to keep beside them.

    Returns:
        The folder.

    Raises:
        OSError: It cannot be written.
    """
    folder = root / ASIDE / _moment()
    make_folder(folder, mode=0o700)
    names = {f"{number:06}": name for number, name in enumerate(files)}
    for copy, name in names.items():
        write_atomic(folder / copy, files[name])
    told = json.dumps({"about": about, "copies": names}, ensure_ascii=False, indent=1)
    write_atomic(folder / ABOUT, told.encode("utf-8", "surrogatepass"))
    return folder


def kept_copies(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What `keep_copies` kept.

    Returns:
        What it was told beside the files, and name to content.

    Raises:
        NotFoundError: There are no copies in this folder.
        StoreError: They cannot be read.
    """
    try:
        told = json.loads((folder / ABOUT).read_bytes())
        return told["about"], {name: (folder / copy).read_bytes() for copy, name in told["copies"].items()}
    except FileNotFoundError as error:
        raise NotFoundError(f"there are no copies of edited files in {folder}: {error.filename} is missing") from error
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"the copies in {folder} cannot be read: {error}") from error


def _moment() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
