"""Private keys in text form, which run over many lines, and over many strings where a program split the lines.

A key is told by its first line, or by its last one where the beginning was cut off; what goes is that line and every
run of base64 that follows (or goes before). What stands between the runs stays: line ends, quotes and commas of a list
of lines, the signs of a diff, line numbers. So the lines keep their number, in a file and in a decoded string alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.text.redaction.shapes import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN: Final = r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: [0-9]{1,3}"
END: Final = r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"

BETWEEN: Final = (
    r"(?:[^A-Za-z0-9/=-]"
    r"|[\n\"',]-"
    r"|[0-9]{1,6}(?:\xe2\x86\x92|\t|[:|] ?)"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Private-MAC): ?[A-Za-z0-9 ,.:;@()<>_/+-]{0,100})"
)
r"""What may stand between two runs: anything that is not base64, the minus of a diff, line numbers (`2:`, `2|`, `2\t`,
and the arrow of an agent's Read tool, here as the bytes of its UTF-8), and the headers of a key."""

PIECE: Final = (
    rf"{BETWEEN}{{0,80}}?(?:(?P<end>{END})"
    r"|(?P<long>[A-Za-z0-9/][A-Za-z0-9+/]{15,}={0,2})"
    rf"|(?P<short>=?[A-Za-z0-9/][A-Za-z0-9+/]{{0,15}}={{0,2}})[ \t]*(?:[\r\n\"'\\]|$|{END}))"
)
"""The next run. A short one has its line to itself, as the last line of a key and the checksum of a PGP block."""

_BEGIN: Final = re.compile(BEGIN)
_END: Final = re.compile(END)
_PIECE: Final = re.compile(PIECE)
_WORD: Final = re.compile(r"[A-Za-z0-9]")
_LINE_END: Final = re.compile(
    r"\n?[\"'][ \t]*[,+]?[ \t\n]*[\"']|\n"
    r"|(?P<opening>[\[({:][ \t\n]*[\"']|=[ \t]*[\"'](?=[A-Za-z0-9/]))"
)
"""Where one line of a key ends and the next begins; or where a string begins, and with it what is left of the key."""
_LINE: Final = re.compile(
    r"(?:[^A-Za-z0-9/=]|[0-9]{1,6}(?:\xe2\x86\x92|\t|[:|] ?))*?"
    r"(?P<run>[A-Za-z0-9/][A-Za-z0-9+/]*={0,2})[^A-Za-z0-9+/=]*"
)

LEAST: Final = 16
"""Characters of base64 that a key has between its first line and its last."""
LEAST_OPEN: Final = 40
"""The same where one of the two lines is missing: more, since code that looks for keys holds such a line, and names."""
MOST_SHORT: Final = 3
"""Short runs that a key ends in: its last line, a checksum, and one to spare. What else follows is something else."""
LEAST_CHANGES: Final = 3
"""Changes between capitals, small letters and digits in the cut-off last line of a key; a word has fewer."""
REACH: Final = 64_000
"""How far before a last line the key may begin; the longest in use (RSA of 16,384 bits) have 13,000 characters."""

Piece = tuple[int, int]


def find(text: str) -> Iterator[list[Piece]]:
    """The pieces of every private key; the first one of each is where it is to be named."""
    closed: set[int] = set()
    done = 0
    for first in _BEGIN.finditer(text):
        if first.start() >= done and (pieces := _after(text, first)):
            done = pieces[-1][1]
            closed.add(done)
            yield pieces
    done = 0
    for last in _END.finditer(text):
        if last.end() not in closed and (pieces := _before(text, last, done)):
            yield pieces
        done = last.end()


def _after(text: str, first: re.Match[str]) -> list[Piece]:
    pieces, base64, short = [first.span()], 0, 0
    sound = 1
    place = first.end()
    while short <= MOST_SHORT and (match := _PIECE.match(text, place)) is not None:
        name = match.lastgroup or ""
        start, end = match.span(name)
        if name == "long" and short:
            break
        pieces.append((start, end))
        if name == "end":
            return pieces if base64 >= LEAST else []
        if name == "long" or (not short and text[place:start].isspace() and changes(text[start:end]) >= LEAST_CHANGES):
            sound = len(pieces)
        short += name == "short"
        base64 += end - start
        place = end
    pieces = pieces[:sound]
    return pieces if sum(end - start for start, end in pieces[1:]) >= LEAST_OPEN else []


def _before(text: str, last: re.Match[str], done: int) -> list[Piece]:
    pieces, base64 = [last.span()], 0
    for start, end in _lines_backwards(text, max(done, last.start() - REACH), last.start()):
        line = _LINE.fullmatch(text, start, end)
        if line is None and (base64 or _WORD.search(text, start, end)):
            break
        if line is not None:
            if base64 and len(line["run"]) < LEAST:
                break
            pieces.append(line.span("run"))
            base64 += len(line["run"])
    return pieces[::-1] if base64 >= LEAST_OPEN else []


def _lines_backwards(text: str, begin: int, end: int) -> Iterator[Piece]:
    for cut in reversed(list(_LINE_END.finditer(text, begin, end))):
        yield cut.end(), end
        if cut.lastgroup is not None:
            return
        end = cut.start()
    yield begin, end
