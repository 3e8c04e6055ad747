"""Cutting a text into parts that a model can read whole.

A text that fits stays whole. One that does not is cut at headings; a section that is still too long at blank lines,
then at lines, sentences and words, and in the end between characters. Neighbours that fit together are joined again, so
that there are few parts and each is as large as may be without crossing into a section that had to be cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

CountTokens = Callable[[str], int]

_FENCE_OR_HEADING: Final = re.compile(r"^ {0,3}(?:(```+|~~~+)|#{1,6}(?=[ \t]))", re.MULTILINE)
_BLANK_LINES: Final = re.compile(r"\n(?:[ \t\r]*\n)+")
_LINES: Final = re.compile(r"\n+")
# Full stops of Latin texts need a space behind them, else every version number is a sentence; those of CJK have none.
_CLOSING: Final = "\"')\u201d\u2019\u300d\u300f\uff09"
_SENTENCES: Final = re.compile(rf"[.!?\u2026]+[{_CLOSING}\]]*\s+|[\u3002\uff01\uff1f\uff1b]+[{_CLOSING}]*\s*")
_WORDS: Final = re.compile(r"\s+")

MOST_CHARS_A_TOKEN: Final = 16
"""A part has at most so many characters for each token allowed. Text has 1 to 5 characters a token, but a run of blanks
counts nothing and a long word of base64 is one unknown token to some tokenizers; a part of a megabyte serves nobody. It
also saves counting what is too long anyway."""


class Chunk(NamedTuple):
    """A part of a text.

    Attributes:
        text: Its characters, as they are: `text == whole[start:end]`.
        start: Place of its first character.
        end: Place behind its last one.
    """

    text: str
    start: int
    end: int


def chunk_text(text: str, count_tokens: CountTokens, max_tokens: int) -> list[Chunk]:
    """Cut a text into parts of at most `max_tokens`.

    Args:
        text: Any text, Markdown or not. A `#` inside a fence of Markdown is no heading.
        count_tokens: Tokens of a text, whatever marks the model adds included.
        max_tokens: Tokens of a part, at least 1. A single character that counts more is a part of its own. A part also
            has at most `MOST_CHARS_A_TOKEN` characters for each token allowed.

    Returns:
        The parts in order, without overlap. Between them is white space at most: a part that would hold nothing else is
        left out, so a blank text has none.

    Raises:
        ValueError: `max_tokens` is less than 1.

    Source: design 4 ("chunked, never cut away"). PAI's chunker also cuts at headings and blank lines, but estimates
    tokens from words, keeps overlong sentences whole and repeats the tail of a part in the next.
    """
    if max_tokens < 1:
        raise ValueError(f"a part has at least one token, not {max_tokens}")
    spans = _Cutter(text, count_tokens, max_tokens).cut(0, len(text), level=0)
    return [Chunk(text[start:end], start, end) for start, end, _ in spans if not text[start:end].isspace()]


class _Span(NamedTuple):
    start: int
    end: int
    tokens: int


class _Cutter:
    """One text on its way into parts."""

    def __init__(self, text: str, count_tokens: CountTokens, max_tokens: int) -> None:
        self._text = text
        self._count = count_tokens
        self._most = max_tokens
        self._most_chars = max_tokens * MOST_CHARS_A_TOKEN
        self._marks = count_tokens("")  # what the model adds to every text, and a sum of counts has several times

    def cut(self, start: int, end: int, level: int) -> list[_Span]:
        """Cut a span: whole where it fits, else at this level's places, and each piece that is too long below."""
        if start == end:
            return []
        if end - start <= self._most_chars:
            tokens = self._count(self._text[start:end])
            if tokens <= self._most or end - start == 1:
                return [_Span(start, end, tokens)]
        if level == len(_LEVELS):
            return self._cut_anywhere(start, end)
        places = [place for place in _LEVELS[level](self._text, start, end) if start < place < end]
        if not places:
            return self.cut(start, end, level + 1)
        spans: list[_Span] = []
        run: list[_Span] = []  # neighbours that fit, to be joined
        for first, last in zip([start, *places], [*places, end], strict=True):
            own = self.cut(first, last, level + 1)
            if len(own) == 1:
                run += own
            else:
                spans += self._joined(run) + own
                run = []
        return spans + self._joined(run)

    def _joined(self, run: list[_Span]) -> list[_Span]:
        """Join neighbours from left to right as far as they fit together."""
        joined: list[_Span] = []
        first = 0
        while first < len(run):
            last, tokens = first + 1, run[first].tokens
            while last < len(run) and run[last].end - run[first].start <= self._most_chars:
                tokens += run[last].tokens - self._marks
                if tokens > self._most:
                    break
                last += 1
            joined += self._whole_if_it_fits(run[first:last])
            first = last
        return joined

    def _whole_if_it_fits(self, run: list[_Span]) -> list[_Span]:
        """Join a run, unless its tokens are more than the sum of its parts', as a tokenizer may count them."""
        if len(run) == 1:
            return run
        start, end = run[0].start, run[-1].end
        tokens = self._count(self._text[start:end])
        if tokens <= self._most:
            return [_Span(start, end, tokens)]
        half = len(run) // 2
        return self._whole_if_it_fits(run[:half]) + self._whole_if_it_fits(run[half:])

    def _cut_anywhere(self, start: int, end: int) -> list[_Span]:
        """Cut between characters, each part about as long as fits."""
        spans: list[_Span] = []
        length = self._most_chars
        while start < end:
            length = min(length, end - start)
            tokens = self._count(self._text[start : start + length])
            while tokens > self._most and length > 1:
                length = max(1, min(length - 1, length * self._most // tokens))
                tokens = self._count(self._text[start : start + length])
            spans.append(_Span(start, start + length, tokens))
            start += length
            if tokens * 2 < self._most:  # what came was denser than what comes now
                length = min(length * 2, self._most_chars)
        return spans


def _headings(text: str, start: int, end: int) -> Iterator[int]:
    """Where lines with a heading begin, those inside fences of code apart."""
    fence = ""
    for found in _FENCE_OR_HEADING.finditer(text, start, end):
        mark = found[1]
        if mark is None:
            if not fence:
                yield found.start()
        elif not fence:
            fence = mark
        elif mark.startswith(fence):
            fence = ""


def _behind(pattern: re.Pattern[str]) -> Callable[[str, int, int], Iterator[int]]:
    return lambda text, start, end: (found.end() for found in pattern.finditer(text, start, end))


_LEVELS: Final = (_headings, *map(_behind, (_BLANK_LINES, _LINES, _SENTENCES, _WORDS)))
