"""What a compiler or linter found, and its text: errors before warnings, each with its message and its places.

Source: PRAANA src/distillers/tsc-errors.ts; specification A, 14.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from workbench.context.distillers.distilled import Status, by_intensity, cut_line
from workbench.context.distillers.log import mask

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity

Severity = Literal["error", "warning", "info"]

LIKE: Final = 40
"""From so many other lines on, those that differ in numbers and paths only are shown once, with their count."""


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing found.

    Attributes:
        severity: How bad it is.
        title: Code and message, in the tool's own words.
        place: File and line, as far as they are told; empty where there is none.
        column: Of the place.
        reasons: Lines that belong to the message.
        around: Lines of source and notes.
    """

    severity: Severity
    title: str
    place: str = ""
    column: int = 0
    reasons: tuple[str, ...] = ()
    around: tuple[str, ...] = ()


class BuildSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A build.

    Attributes:
        status: How it ended; `failed` as soon as there is an error.
        diagnostics: All that was found, in order, repeats included.
        said: Other lines that tell of a failure, once each.
        totals: Lines in which the tools count themselves.
    """

    status: Status
    diagnostics: tuple[Diagnostic, ...] = ()
    said: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        """Errors, repeats included."""
        return sum(each.severity == "error" for each in self.diagnostics)

    @property
    def distinct_errors(self) -> int:
        """Errors that differ in message or place."""
        found = (each for each in self.diagnostics if each.severity == "error")
        return len({(each.title, each.reasons, each.place, each.column) for each in found})

    @property
    def warnings(self) -> int:
        """Warnings, repeats included."""
        return sum(each.severity == "warning" for each in self.diagnostics)


def render_build(build: BuildSummary, intensity: Intensity, settings: Distiller, *, alone: bool = True) -> str:
    """The text of a build that found something.

    Every error stays with its message and a place; beyond `build_groups` kinds of error the other places go, and beyond
    `build_locations` places they are counted.

    Args:
        build: The build.
        intensity: `full` leaves out lines of source.
        settings: Caps.
        alone: Whether other lines of the build are shown; not where another summary stands before it.

    Source: PRAANA src/distillers/tsc-errors.ts.
    """
    chars = by_intensity(settings.line_chars, intensity)
    groups = _grouped(build.diagnostics, "error")
    placed = {key: found for key, found in groups.items() if found[0].place}
    parts = [_headline(build, len(placed))]
    for number, found in enumerate(placed.values()):
        parts += _group(found, number, intensity, settings)
    for key, found in groups.items():
        if key not in placed:
            parts.append(cut_line(found[0].title, chars) + (f" (\u00d7{len(found)})" if len(found) > 1 else ""))
            parts += [cut_line(line, chars) for line in found[0].reasons]
    if alone:
        parts += [cut_line(line, chars) for line in _alike(build.said)]
    parts += _warnings(build.diagnostics, by_intensity(settings.build_warnings, intensity), chars)
    return "\n".join([*parts, *(build.totals if alone else ())])


def _headline(build: BuildSummary, placed: int) -> str:
    told = f", {build.warnings} warning(s)" if build.warnings else ""
    if placed:
        return f"{placed} unique build error(s), {build.errors} location(s){told}"
    if not build.errors and build.said and build.status == "failed":
        return f"build failed{told}"
    return f"{build.errors} build error(s){told}"


Key = tuple[str, tuple[str, ...], bool]


def _grouped(diagnostics: Sequence[Diagnostic], severity: Severity) -> dict[Key, list[Diagnostic]]:
    groups: dict[Key, list[Diagnostic]] = {}
    for each in diagnostics:
        if each.severity == severity:
            groups.setdefault((each.title, each.reasons, bool(each.place)), []).append(each)
    return groups


def _group(found: Sequence[Diagnostic], number: int, intensity: Intensity, settings: Distiller) -> Iterator[str]:
    """A message, what explains it, its places."""
    chars = by_intensity(settings.line_chars, intensity)
    is_many = number >= by_intensity(settings.build_groups, intensity)
    first = found[0]
    if is_many:
        yield f"{cut_line(first.title, chars)} ({first.place}{f', {len(found) - 1} more' if len(found) > 1 else ''})"
        yield from (cut_line(line, chars) for line in first.reasons)
        return
    yield cut_line(first.title, chars)
    yield from (cut_line(line, chars) for line in first.reasons)
    if intensity == "lite":
        for line in first.around[: settings.build_source_lines]:
            yield cut_line(line, chars)
    most = by_intensity(settings.build_locations, intensity)
    places = [each.place for each in found]
    more = f", ... {len(places) - most} more" if len(places) > most else ""
    yield f"  {len(places)} location(s): {', '.join(places[:most])}{more}"


def _warnings(diagnostics: Sequence[Diagnostic], most: int, chars: int) -> Iterator[str]:
    groups = list(_grouped(diagnostics, "warning").values())
    if groups:
        yield "Warnings:"
    for found in groups[:most]:
        place = f" ({found[0].place})" if found[0].place else ""
        yield cut_line(found[0].title, chars) + place + (f" (\u00d7{len(found)})" if len(found) > 1 else "")
    if len(groups) > most:
        yield f"... {len(groups) - most} more kind(s) of warning"


def _alike(lines: Sequence[str]) -> list[str]:
    if len(lines) <= LIKE:
        return list(lines)
    kinds: dict[str, list[str]] = {}
    for line in lines:
        kinds.setdefault(mask(line), []).append(line)
    return [found[0] + (f" (and {len(found) - 1} like it)" if len(found) > 1 else "") for found in kinds.values()]
