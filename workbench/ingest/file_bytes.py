"""What is done to the bytes of a foreign file before anything else looks at them."""

from __future__ import annotations

import codecs
from typing import Final

from workbench.ingest import objects

_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WORD_ENDS: Final = (b" ", b"\t", b'"', b"\\", b",")


def as_utf8(data: bytes) -> bytes:
    """A text in UTF-8: redirected into a file by Windows PowerShell 5, a transcript is UTF-16 with a mark.

    Args:
        data: The bytes of a file, or the first of them.

    Returns:
        The text in UTF-8; any other bytes as they are.
    """
    if data[:2] not in _UTF_16:
        return data
    return data.decode("utf-16", "replace").encode("utf-8", "replace")


def without_half_word(data: bytes) -> bytes:
    """JSON lines without the last word of a record that is still being written.

    The rest of that word is not there yet. Half a credential fits no rule of redaction, so it would be archived as it
    is; and the archived content would not be how the file begins later on, when the whole credential is replaced.

    Args:
        data: All lines.

    Returns:
        The same bytes where the last line is ended or whole.
    """
    begin, end = data.rfind(b"\n") + 1, len(data.rstrip(b"\x00"))
    if not data[begin:end].strip() or _is_record(data[begin:end]):
        return data
    word_end = len(data[:end].rstrip(b"\\"))  # half an escape ends no word
    cut = max(data.rfind(char, begin, word_end) for char in _WORD_ENDS)
    return data[: max(begin, cut + 1)]


def _is_record(line: bytes) -> bool:
    try:
        objects.decode(line)
    except ValueError:
        return False
    return True
