"""What changed in a vault since the last run over it."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from workbench.vault.walk import FoundFile

CLOCK_TICK_NS: Final = 10_000_000
"""A file changed within a tick of the file system's clock before the last run began may have been changed again without
a new time; it is opened. Linux ticks every 4 ms, 10 ms at most."""


class KnownFile(NamedTuple):
    """A note's file as the last run saw it."""

    size_bytes: int
    mtime_ns: int
    inode: int
    content_hash: str | None


class KnownNote(NamedTuple):
    """A note as the last run left it; `text` only where it was asked for."""

    note_id: str
    title: str
    content_hash: str
    size_bytes: int
    words: int
    modified_at: datetime
    created_at: datetime | None
    text: str | None


@dataclass(frozen=True)
class KnownVault:
    """A vault as the last run left it.

    Attributes:
        landing_id: The mark of the rows that are shown; None before the first run.
        derive_version: Version of the code that made them.
        recorded_at: When that run ended.
        links: Links that it found.
        started_ns: When it began, nanoseconds since 1970.
        files: The files of the notes.
        notes: The notes.
    """

    landing_id: int | None = None
    derive_version: int | None = None
    recorded_at: datetime | None = None
    links: int = 0
    started_ns: int = 0
    files: Mapping[str, KnownFile] = field(default_factory=dict)
    notes: Mapping[str, KnownNote] = field(default_factory=dict)

    def is_unchanged(self, file: FoundFile) -> bool:
        """Whether a note's file needs not be opened: it looks as it did, and was not written while it was read."""
        return self.looks_unchanged(file) and file.mtime_ns < self.started_ns - CLOCK_TICK_NS

    def looks_unchanged(self, file: FoundFile) -> bool:
        """Whether a note's file has the size, time and inode that it had."""
        known = self.files.get(file.path)
        return (
            known is not None
            and known.content_hash is not None
            and file.path in self.notes
            and (known.size_bytes, known.mtime_ns, known.inode) == (file.size_bytes, file.mtime_ns, file.inode)
        )


def renames(added: Mapping[str, str], gone: Mapping[str, str]) -> dict[str, str]:
    """New paths of notes that had another one: new path to old.

    A note that is new has the content of one that is gone: it was renamed. Where several have that content, one of the
    same name comes first, then the order of paths. Empty notes are all alike and are told apart by name alone.

    Args:
        added: Path to content hash.
        gone: The same.
    """
    found: dict[str, str] = {}
    for key in (_by_name, _by_content):
        left: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for path in sorted(gone.keys() - found.values(), reverse=True):
            left[key(path, gone[path])].append(path)
        for path in sorted(added.keys() - found.keys()):
            olds = left[key(path, added[path])]
            if olds and (key is _by_name or added[path] != EMPTY_HASH):
                found[path] = olds.pop()
    return found


EMPTY_HASH: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""SHA-256 of nothing."""


def _by_name(path: str, content: str) -> tuple[str, ...]:
    return content, posixpath.basename(path)


def _by_content(path: str, content: str) -> tuple[str, ...]:
    del path
    return (content,)


class Tally(NamedTuple):
    """How many notes came, changed, were renamed and went."""

    added: int
    changed: int
    renamed: int
    removed: int


def tally(fresh: Collection[str], known: Collection[str], gone: Collection[str], renamed: Mapping[str, str]) -> Tally:
    """Count changes.

    Args:
        fresh: Notes with content that their path did not have before.
        known: Notes that there were.
        gone: Those of them that are not there any more.
        renamed: New path to old.
    """
    changed = sum(path in known for path in fresh)
    return Tally(len(fresh) - changed - len(renamed), changed, len(renamed), len(gone) - len(renamed))
