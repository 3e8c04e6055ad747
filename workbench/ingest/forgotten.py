"""What of a source may be kept once some of its sessions are forgotten.

A file may tell of several sessions: a resumed session repeats the one it goes on from, an Aider history has hundreds of
chats. Lines of the forgotten ones are made empty, so that the others keep their line numbers. Which lines these are is
told by the records that the format's reader makes of them, and the outcome is read again and compared: every record of
every other session must be what it was. Where that cannot be had, nothing is changed and the caller is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final

from workbench.errors import BadInputError
from workbench.ingest.records import Format, ParsedSource, Record
from workbench.store.tombstones import Tombstones

LF: Final = b"\n"

Chosen = Callable[[ParsedSource, Collection[str], int], Iterator[int]]


class InseparableError(BadInputError):
    """A source's sessions cannot be told apart; the message has the path."""


class ForgottenError(Exception):
    """A source tells of forgotten sessions and of no other. Expected, so no part of the public error tree."""


def left_of(
    data: bytes, parsed: ParsedSource, form: Format, path: str, tombstones: Tombstones, met: set[str]
) -> tuple[bytes, ParsedSource]:
    """What an import may take of a source.

    Args:
        data: The content.
        parsed: What it says.
        form: Its format.
        path: Where it was found.
        tombstones: The sessions that were forgotten.
        met: Those of them that are found here are added.

    Returns:
        The content and what it says, without forgotten sessions; all of it where their tombstones are lifted.

    Raises:
        ForgottenError: Nothing is left.
        InseparableError: As for `without`.
    """
    forgotten = tombstones.among(parsed.session_ids)
    met |= forgotten
    if not forgotten or tombstones.lifted:
        return data, parsed
    if forgotten.issuperset(parsed.session_ids):
        raise ForgottenError
    return without(data, parsed, form, path, forgotten)


def without(
    data: bytes, parsed: ParsedSource, form: Format, path: str, session_ids: Collection[str]
) -> tuple[bytes, ParsedSource]:
    """A source's content without some of its sessions.

    Args:
        data: The content.
        parsed: What it says.
        form: Its format.
        path: Where it was found.
        session_ids: The sessions to leave out; of the content's sessions at least one is not among them.

    Returns:
        The content with empty lines in the place of theirs, and what it says now.

    Raises:
        InseparableError: The other sessions would not be the same, or something of these would stay.
    """
    wanted = _told(parsed, session_ids)
    lines = data.split(LF)
    for choose in (_of_records, _between_records):
        kept = set(choose(parsed, session_ids, len(lines)))
        shorter = LF.join(line if number in kept else b"" for number, line in enumerate(lines, start=1))
        again = form.read(shorter, path)
        if again.session_id is not None and _told(again, ()) == wanted and again.role == parsed.role:
            return shorter, again
    others = ", ".join(sorted(set(parsed.session_ids).difference(session_ids)))
    raise InseparableError(
        f"{path} tells of a forgotten session in a way that cannot be taken out of it without changing others "
        f"({others}): forget these as well, or none"
    )


def _told(parsed: ParsedSource, session_ids: Collection[str]) -> list[tuple[str | None, Record]]:
    """Every record with its session, without those of some sessions."""
    told = [(record.session_id or parsed.session_id, record) for record in parsed.records]
    return [(session_id, record) for session_id, record in told if session_id not in session_ids]


def _of_records(parsed: ParsedSource, session_ids: Collection[str], lines: int) -> Iterator[int]:
    """The lines in which records of the other sessions stand: right where a record is a line, as in JSON lines."""
    del lines
    return (record.line for _, record in _told(parsed, session_ids))


def _between_records(parsed: ParsedSource, session_ids: Collection[str], lines: int) -> Iterator[int]:
    """All lines from a record of the other sessions to the next record: right where a record has several lines."""
    starts = sorted((record.line, session_id) for record, session_id in _with_sessions(parsed))
    ends = [line for line, _ in starts[1:]] + [lines + 1]
    for (line, session_id), end in zip(starts, ends, strict=True):
        if session_id not in session_ids:
            yield from range(line, end)


def _with_sessions(parsed: ParsedSource) -> Iterator[tuple[Record, str]]:
    return ((record, record.session_id or parsed.session_id or "") for record in parsed.records)
