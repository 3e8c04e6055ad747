"""Logs: which kinds of lines there are, and how many of each.

Lines are alike where they differ only in numbers, times, ids, hexadecimal figures and paths. Digits are set to 0 first,
by a table, so that the costly patterns run once for many lines.

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
    r"(?P<time>\b0{4}[-/]00[-/]00(?:[T ]00:00(?::00)?(?:[.,]0+)?(?: ?(?:Z|[+-]00:?00))?)?|\b00:00:00(?:[.,]0+)?)"
    r"|(?P<id>\b[0A-Fa-f]{8}-(?:[0A-Fa-f]{4}-){3}[0A-Fa-f]{12}\b|\b[0-9A-HJKMNP-TV-Z]{26}\b)"
    r"|(?P<path>(?<![\w/\\.])(?:[A-Za-z]:|~|\.{1,2})?[/\\][\w.@%+~-]+(?:[/\\][\w.@%+~-]+)+)"
    r"|(?P<hex>\b0x[0A-Fa-f]+\b|\b(?=[A-Fa-f]*0)[0A-Fa-f]{7,}\b)"
    r"|(?P<n>0+(?:[.,]0+)*)",
    re.ASCII,
)
_MARKS: Final = re.compile(r"<(?:time|id|path|hex|n)>")
_WORDS: Final = re.compile(r"[^\W\d_]")
"""A line needs a letter besides what is masked: in a list of paths, each is a kind of its own."""
_SERIOUS: Final = re.compile(
    r"\b(?:errors?|exception|fatal|fail(?:ed|ure|s)?|panic|critical|traceback)\b|(?:Error|Exception)\b", re.IGNORECASE
)
_RECENT: Final = re.compile(r"\b(?:error|exception|fatal)\b", re.IGNORECASE)
SERIOUS_SHARE: Final = 4
"""Kinds of lines that tell of errors may be this many times as many as a log shows otherwise."""


class Template(msgspec.Struct, frozen=True):
    """A kind of line: its text, with marks where its lines differ, how often it came, and whether it tells of errors."""

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

    `<time>`, `<id>` (UUIDs and ULIDs), `<path>`, `<hex>`, `<n>`.

    Args:
        line: A line.
    """
    return _masked(line.translate(_ZEROS))


def summarise_log(text: str, recent: int) -> LogSummary:
    """Mine the templates of a log.

    Args:
        text: The log.
        recent: Last error lines that are wanted.

    Source: PRAANA, "Distillers".
    """
    exact = Counter(line.strip() for line in text.split("\n"))
    exact.pop("", None)
    counts: dict[str, int] = {}
    first: dict[str, str] = {}
    masked: dict[str, str] = {}
    for line, count in exact.items():
        zeros = line.translate(_ZEROS)
        template = masked.get(zeros)
        if template is None:
            template = masked[zeros] = _masked(zeros)
        if not _WORDS.search(_MARKS.sub("", template)):
            template = line
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
    parts += [cut_line(each.text, chars) + (f" (×{each.count})" if each.count > 1 else "") for each in shown]
    if found.recent_errors:
        parts += ["Recent errors:", *(cut_line(line, chars) for line in found.recent_errors)]
    return "\n".join(parts)


def _masked(zeros: str) -> str:
    return _MASKS.sub(lambda found: f"<{found.lastgroup}>", zeros)


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
