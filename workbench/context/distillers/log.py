"""Logs: which kinds of lines there are, and how many of each.

Lines are alike where they differ only in numbers, times, ids, hexadecimal figures and paths. A line is masked word by
word: most words of a log recur, so that the costly patterns run once a word, not once a line.

Source: PRAANA, "Distillers" (template mining); PRAANA src/distillers/log.ts (which counts equal lines only);
specification A, D8.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.context.distillers.distilled import by_intensity, cut_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.config.context import Distiller
    from workbench.context.records import Intensity

_ZEROS: Final = str.maketrans("123456789", "000000000")
_MASKS: Final = re.compile(
    r"(?P<time>\b0{4}[-/]00[-/]00(?:T00:00(?::00)?(?:[.,]0+)?(?:Z|[+-]00:?00)?)?|\b00:00:00(?:[.,]0+)?Z?)"
    r"|(?P<id>\b[0A-Fa-f]{8}-(?:[0A-Fa-f]{4}-){3}[0A-Fa-f]{12}\b|\b[0-9A-HJKMNP-TV-Z]{26}\b)"
    r"|(?P<path>(?<![\w/\\.])(?:[A-Za-z]:|~|\.{1,2})?[/\\][\w.@%+~-]+(?:[/\\][\w.@%+~-]+)+)"
    r"|(?P<hex>\b0x[0A-Fa-f]+\b|\b(?=[A-Fa-f]*0)[0A-Fa-f]{7,}\b)"
    r"|(?P<n>0+(?:[.,]0+)*)",
    re.ASCII,
)
_MARKS: Final = re.compile(r"<(?:time|id|path|hex|n)>")
_WORDS: Final = re.compile(r"[^\W\d_]")
_SERIOUS: Final = re.compile(
    r"\b(?:errors?|exception|fatal|fail(?:ed|ure|s)?|panic|critical|traceback)\b|(?:Error|Exception)\b", re.IGNORECASE
)
_RECENT: Final = re.compile(r"\b(?:error|exception|fatal)\b", re.IGNORECASE)
WORDS_KNOWN: Final = 100_000
"""Words whose masks are kept: enough for the words that recur, and a bound for ids that do not."""
SERIOUS_SHARE: Final = 4
"""Kinds of lines that tell of errors may be this many times as many as a log shows otherwise."""


class Template(msgspec.Struct, frozen=True):
    """A kind of line: its text, with marks where its lines differ, its count, and whether it tells of errors."""

    text: str
    count: int
    is_serious: bool


class LogSummary(msgspec.Struct, frozen=True):
    """A log: its lines, the kinds of them in the order of first appearance, and its last errors."""

    lines: int
    templates: tuple[Template, ...]
    recent_errors: tuple[str, ...]


def mask(line: str) -> str:
    """A line with marks in the place of what differs between lines of one kind.

    `<time>`, `<id>` (UUIDs and ULIDs), `<path>`, `<hex>`, `<n>`; runs of blanks are one. A line that has no letter
    besides stays as it is: in a list of paths, each is a kind of its own.

    Args:
        line: A line.
    """
    return _Masker().mask(line, line.translate(_ZEROS))


class _Masker:
    """Masks lines, and knows the words and the kinds of lines it has seen."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._has_letters: dict[str, bool] = {}

    def mask(self, line: str, zeros: str) -> str:
        """Mask a line; `zeros` is the line with every digit set to 0."""
        known = self._words
        template = " ".join([known.get(word) or self._learn(word) for word in zeros.split()])
        has_letters = self._has_letters.get(template)
        if has_letters is None:
            has_letters = _WORDS.search(_MARKS.sub("", template)) is not None
            if len(self._has_letters) < WORDS_KNOWN:
                self._has_letters[template] = has_letters
        return template.replace("<time> <time>", "<time>") if has_letters else line

    def _learn(self, word: str) -> str:
        if len(self._words) >= WORDS_KNOWN:
            self._words.clear()
        masked = self._words[word] = _MASKS.sub(lambda found: f"<{found.lastgroup}>", word)
        return masked


def summarise_log(text: str, recent: int) -> LogSummary:
    """Mine the templates of a log.

    Args:
        text: The log.
        recent: Last error lines that are wanted.

    Source: PRAANA, "Distillers".
    """
    lines = [line.strip() for line in text.split("\n")]
    zeros = dict(zip(lines, text.translate(_ZEROS).split("\n"), strict=True))
    exact = Counter(lines)
    exact.pop("", None)
    counts: dict[str, int] = {}
    first: dict[str, str] = {}
    masker = _Masker()
    for line, count in exact.items():
        template = masker.mask(line, zeros[line])
        counts[template] = counts.get(template, 0) + count
        if first.setdefault(template, line) != line:
            first[template] = template
    templates = [Template(line, counts[key], _SERIOUS.search(line) is not None) for key, line in first.items()]
    return LogSummary(text.count("\n") + 1, tuple(templates), tuple(islice(_last_errors(text), recent))[::-1])


def distil_log(text: str, intensity: Intensity, settings: Distiller) -> str:
    """The kinds of lines that count: those of errors first, then the most frequent, in the order of the log.

    Source: PRAANA, "Distillers"; specification A, D8.
    """
    found = summarise_log(text, settings.log_error_lines)
    chars = by_intensity(settings.line_chars, intensity)
    shown = _chosen(found.templates, by_intensity(settings.log_lines, intensity))
    parts = [f"Log: {found.lines} lines, {len(found.templates)} unique patterns"]
    parts += [cut_line(each.text, chars) + (f" (\u00d7{each.count})" if each.count > 1 else "") for each in shown]
    if found.recent_errors:
        parts += ["Recent errors:", *(cut_line(line, chars) for line in found.recent_errors)]
    return "\n".join(parts)


def _last_errors(text: str) -> Iterator[str]:
    """Lines with a word of error, from the last on."""
    end = len(text)
    while end >= 0:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end]
        if _RECENT.search(line):
            yield line.strip()
        end = start - 1


def _chosen(templates: tuple[Template, ...], most: int) -> list[Template]:
    order = sorted(range(len(templates)), key=lambda place: (-templates[place].is_serious, -templates[place].count))
    serious = sum(each.is_serious for each in templates)
    kept = sorted(order[: max(most, min(serious, SERIOUS_SHARE * most))])
    return [templates[place] for place in kept]
