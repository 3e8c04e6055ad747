"""Which files are prepared together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from workbench.ingest.discover import Found


def cut(found: Sequence[Found], size: int) -> Iterator[list[Found]]:
    """Cut files into batches of about so many bytes.

    A file and the folder of its name stay together: there agents put what belongs to a session, such as its sub-agents.

    Args:
        found: The files, by path.
        size: Bytes after which a batch is closed.

    Yields:
        The batches.
    """
    groups: dict[str, list[Found]] = {}
    stems = {os.path.splitext(item.path)[0] for item in found}
    for item in found:
        groups.setdefault(_group(item.path, stems), []).append(item)
    batch: list[Found] = []
    held = 0
    for group in groups.values():
        batch += group
        held += sum(item.size_bytes for item in group)
        if held >= size:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _group(path: str, stems: set[str]) -> str:
    folder = os.path.dirname(path)
    while len(folder) > 1:
        if folder in stems:
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return os.path.splitext(path)[0]
