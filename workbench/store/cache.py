"""The cache: what can be made again at any time and is kept to save that time; a lost file costs no more."""

from __future__ import annotations

from contextlib import suppress

from workbench.store.files import make_folder, write_atomic
from workbench.store.home import Home


def read_cache(home: Home, name: str) -> bytes | None:
    """What was kept under a name; None where there is nothing that can be read."""
    try:
        return (home.root / "cache" / name).read_bytes()
    except OSError:
        return None


def write_cache(home: Home, name: str, data: bytes) -> None:
    """Keep something under a name; a home that cannot be written to goes without."""
    path = home.root / "cache" / name
    with suppress(OSError):
        make_folder(path.parent, mode=0o700)
        write_atomic(path, data)
