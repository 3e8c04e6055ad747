"""Running again whenever something in a vault changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from workbench.vault.walk import BUILD_FOLDERS, list_files

QUIET_MS: Final = 400
"""So long nothing must happen before a run begins: an editor that saves writes, renames and deletes within it."""

LONGEST_WAIT_MS: Final = 5_000
"""A run begins after this time even if changes go on, as while a sync copies many files."""


def changes(root: Path, stop: threading.Event, *, debounce_ms: int = QUIET_MS) -> Iterator[int]:
    """Wait for changes in a vault.

    Folders outside of it that its links lead to are watched too. What begins with a full stop, and folders that tools
    fill, are no part of a vault.

    Args:
        root: The vault's folder.
        stop: Ends the waiting.
        debounce_ms: How long it must be quiet after a change; a batch takes `LONGEST_WAIT_MS` at most.

    Yields:
        How many paths changed.
    """
    from watchfiles import watch  # noqa: PLC0415  (40 ms that other commands do not need)

    places = _places(root)
    batches = watch(
        *places,
        watch_filter=_filter(places),
        stop_event=stop,
        step=debounce_ms,
        debounce=max(LONGEST_WAIT_MS, debounce_ms),
        raise_interrupt=True,
    )
    for batch in batches:
        yield len({path for _, path in batch})


def _places(root: Path) -> list[Path]:
    """The vault and the folders outside of it that links in it lead to, none inside another."""
    linked = {
        Path(file.link_target).resolve()
        for file in list_files(root).files
        if file.kind == "folder" and file.link_target is not None
    }
    places: list[Path] = []
    for place in [root, *sorted(linked)]:
        if not any(place.is_relative_to(known) for known in places):
            places.append(place)
    return places


def _filter(places: list[Path]) -> Callable[[Any, str], bool]:
    def is_of_vault(_: Any, path: str) -> bool:
        below = next((Path(path).relative_to(place) for place in places if Path(path).is_relative_to(place)), None)
        return below is not None and not any(part.startswith(".") or part in BUILD_FOLDERS for part in below.parts)

    return is_of_vault
