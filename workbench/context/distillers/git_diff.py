r"""Diffs: what changed, with a line or two around it, and every file by name.

Source: PRAANA src/distillers/git-diff.ts; specification A, 14.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from workbench.context.distillers.diff_files import FileChange, summarise_diff, unquote
from workbench.context.distillers.distilled import by_intensity, cut_line

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity

GAP: Final = "…"
_FILE: Final = ("diff --git", "diff --cc ", "diff --combined ")
_BEGINNINGS: Final = frozenset("@d")
_ABOUT: Final = re.compile(
    r"diff --git|diff --cc |diff --combined |index |old mode |new mode |new file mode |deleted file mode "
    r"|similarity index |"
    r"dissimilarity index |rename |copy |Binary files |---|\+\+\+"
)
_QUOTED_NAME: Final = re.compile(r'"(?:[^"\\]|\\.)*\\[0-7]{3}(?:[^"\\]|\\.)*"')


def distil_diff(text: str, intensity: Intensity, settings: Distiller) -> str:
    """The changed lines of a diff and the lines next to them; unchanged hunks go.

    Every file stays by name. Beyond `diff_lines` the hunks go too, and the rest is a list of so many files with their
    counts, and the number of those beyond.

    Source: PRAANA src/distillers/git-diff.ts.
    """
    around = by_intensity(settings.diff_context_lines, intensity)
    chars = by_intensity(settings.line_chars, intensity)
    most = by_intensity(settings.diff_lines, intensity)
    kept: list[str] = []
    files = 0
    for piece in _pieces(text.split("\n")):
        lines = _hunk(piece, around) if piece[0].startswith("@@") else _outside(piece, intensity)
        if len(kept) + len(lines) > most:
            kept += [cut_line(line, chars) for line in lines[: most - len(kept)]]
            return "\n".join([*kept, *_rest(summarise_diff(text), max(0, files - 1), most)])
        files += lines[:1] != [] and lines[0].startswith(_FILE)
        kept += [cut_line(line, chars) for line in lines]
    return "\n".join(kept) if kept else text[: settings.diff_fallback_chars]


def _pieces(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Hunks, and what stands between them: a hunk ends where the next file or hunk begins."""
    start = 0
    for place, line in enumerate(lines):
        if line[:1] in _BEGINNINGS and place > start and line.startswith(("@@", *_FILE)):
            yield lines[start:place]
            start = place
    yield lines[start:]


def _outside(lines: Sequence[str], intensity: Intensity) -> list[str]:
    kept = lines if intensity == "lite" else [line for line in lines if _ABOUT.match(line)]
    return [_QUOTED_NAME.sub(_plain_name, line) if "\\" in line else line for line in kept]


def _plain_name(found: re.Match[str]) -> str:
    return f'"{unquote(found[0])}"'


def _hunk(lines: Sequence[str], around: int) -> list[str]:
    changed = [place for place, line in enumerate(lines) if line.startswith(("+", "-"))]
    if not changed:
        return []
    wanted = {0}
    for place in changed:
        wanted.update(range(max(0, place - around), min(len(lines), place + around + 1)))
    kept: list[str] = []
    last = -2
    for place in sorted(wanted):
        if place != last + 1:
            kept.append(GAP)
        kept.append(lines[place])
        last = place
    return kept


def _rest(files: Sequence[FileChange], shown: int, most: int) -> Iterator[str]:
    """What is said of the files that did not fit, the one that was under way included."""
    yield f"{GAP} the rest in short, {len(files) - shown} of {len(files)} file(s):"
    for each in files[shown : shown + most]:
        name = each.new or each.old or "?"
        was = f"{each.old} -> " if each.old and each.new and each.old != each.new else ""
        yield f"{was}{name}: {each.change} (+{each.added} -{each.removed})"
    if len(files) - shown > most:
        yield f"{GAP} and {len(files) - shown - most:,} file(s) more"
