"""From a note's bytes to its text."""

from __future__ import annotations

import codecs
from typing import Final, NamedTuple

_UTF16: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class NoteIssue(NamedTuple):
    """Something that could not be read as it was meant.

    Attributes:
        kind: Of a fixed set, see `docs/vault.md`.
        line: Line of the file, from 1; None where it is of no line.
        detail: What was found, and what to do.
    """

    kind: str
    line: int | None
    detail: str


def decoded(data: bytes) -> tuple[str, list[NoteIssue]]:
    """The text of a file.

    UTF-8 with or without a byte-order mark, or UTF-16 with one. Bytes that are no UTF-8 become U+FFFD, and so do
    zero bytes; the issues name the line of the first. No other encoding is guessed: a wrong guess would look like text.

    Args:
        data: The whole file.

    Returns:
        The text without its byte-order mark, and what was wrong with it.
    """
    for mark, encoding in _UTF16:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return _without_zeros(text, [NoteIssue("encoding", 1, f"the file is {encoding.upper()}; save it as UTF-8")])
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return _without_zeros(body.decode("utf-8"), [])
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{body[error.start]:02x} is no UTF-8 ({error.reason}); save the file as UTF-8"
        return _without_zeros(body.decode("utf-8", "replace"), [NoteIssue("encoding", line, found)])


def _without_zeros(text: str, issues: list[NoteIssue]) -> tuple[str, list[NoteIssue]]:
    if "\0" not in text:
        return text, issues
    line = text.count("\n", 0, text.index("\0")) + 1
    issue = NoteIssue("zero_byte", line, "the file has zero bytes: is it a note, and whole?")
    return text.replace("\0", "\ufffd"), [*issues, issue]
