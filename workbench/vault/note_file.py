"""Reading one note from its file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from workbench.text.ids import content_hash
from workbench.text.redaction import Redactor
from workbench.vault.note_text import NoteIssue, decoded
from workbench.vault.parser import ParsedNote, parse_note

TRIES: Final = 3
"""A file that changes while it is read is read again; an editor writes in milliseconds."""


class ReadNote(NamedTuple):
    """A note as its file has it.

    Attributes:
        content_hash: SHA-256 of the file's bytes.
        size_bytes: How many these were.
        mtime_ns: When the file had last been changed before it was read.
        text: Its text, redacted; empty where only the hash was wanted.
        issues: What was wrong with the bytes.
    """

    content_hash: str
    size_bytes: int
    mtime_ns: int
    text: str
    issues: list[NoteIssue]


def read_note(file: Path, redactor: Redactor, known_hash: str | None) -> ReadNote:
    """Read a note; what is a secret in it never leaves this function.

    Args:
        file: The file.
        redactor: The seam through which all bytes go.
        known_hash: The hash of a content that is known already, so that no text is wanted.

    Raises:
        OSError: It cannot be read.
    """
    data, about = _stable(file)
    found = content_hash(data)
    if found == known_hash:
        return ReadNote(found, about.st_size, about.st_mtime_ns, "", [])
    text, issues = decoded(data)
    clean = redactor(text.encode("utf-8")).decode("utf-8", "replace")
    return ReadNote(found, about.st_size, about.st_mtime_ns, clean, issues)


def parsed(note: ReadNote, path: str) -> ParsedNote:
    """What a note says."""
    return parse_note(note.text, path)


def _stable(file: Path) -> tuple[bytes, os.stat_result]:
    """The bytes of a file, and its state before they were read; the last try counts whatever happens meanwhile."""
    for last in (*[False] * (TRIES - 1), True):
        with file.open("rb") as stream:
            before = os.fstat(stream.fileno())
            data = stream.read()
            after = os.fstat(stream.fileno())
        if last or (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            break
    return data, before
