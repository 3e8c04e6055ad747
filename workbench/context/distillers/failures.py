"""What a test run came to, and its text: every failure by name and with its message, details while there is room.

Source: specification A, W15 (a failing test never loses its lines).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from workbench.context.distillers.distilled import Status, by_intensity, cut_line

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity

MUST: Final = 0
"""A line that stays whatever the size: the message, the place."""
TELLING: Final = 1
"""A line that stays while there is room: the failing statement, the values."""
REST: Final = 2
"""A line that stays in a light distillation only: code around, what the test printed."""


class Line(NamedTuple):
    """A line of a failure and how much it is worth, from `MUST` to `REST`."""

    text: str
    rank: int


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failing test, or one thing that failed beside tests.

    Attributes:
        name: The test as its runner names it, the package, the file.
        kind: The word of the runner: FAILED, ERROR, FAIL, TIMEOUT.
        lines: What was said of it, in order.
    """

    name: str
    kind: str = "FAILED"
    lines: tuple[Line, ...] = ()


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A test run.

    Attributes:
        runner: Who ran it.
        status: How it ended; `failed` as soon as anything failed or erred.
        counts: Tests by outcome: passed, failed, error, skipped.
        failures: All that failed, in order.
        packages: Names of packages (Go) or binaries (Cargo) by `failed` and `ok`.
        closing: Lines that stay: totals, interruptions, exit codes.
    """

    runner: str
    status: Status
    counts: dict[str, int]
    failures: tuple[Failure, ...] = ()
    packages: dict[str, tuple[str, ...]] = {}
    closing: tuple[str, ...] = ()


def render_run(run: RunSummary, intensity: Intensity, settings: Distiller) -> str:
    """The text of a run: a header, each failure with its lines, the totals.

    Args:
        run: The run.
        intensity: `full` leaves out what tests printed and the code around.
        settings: `test_failure_lines` beyond those that must stay, shared by turns; `line_chars`.
    """
    chars = by_intensity(settings.line_chars, intensity)
    room = by_intensity(settings.test_failure_lines, intensity)
    kept, gone = _kept([failure.lines for failure in run.failures], room, REST if intensity == "lite" else TELLING)
    parts = [_headline(run)]
    for failure, lines in zip(run.failures, kept, strict=True):
        parts.append(f"{failure.kind} {failure.name}")
        parts += [cut_line(line.rstrip(), chars) for line in lines]
    if gone:
        parts.append(f"… {gone} more detail line(s)")
    return "\n".join([*parts, *(cut_line(line, chars) for line in run.closing)])


def distinct(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines once each, in the order of their first coming."""
    return tuple(dict.fromkeys(lines))


def ranked(lines: Iterable[str], rank: int) -> tuple[Line, ...]:
    """Lines that are worth the same; blank ones are left out."""
    return tuple(Line(line, rank) for line in lines if line.strip())


def _headline(run: RunSummary) -> str:
    told = [f"{count:,} {outcome}" for outcome, count in run.counts.items() if count]
    told += [f"{len(names)} package(s) {state}" for state, names in run.packages.items() if names]
    ended = {"passed": "passed", "failed": "failed", "unknown": "no result"}[run.status]
    return f"{run.runner}: {ended}" + (f" ({', '.join(told)})" if told else "")


def _kept(texts: Sequence[Sequence[Line]], room: int, deepest: int) -> tuple[list[list[str]], int]:
    """The lines of each failure that stay, in their order, and how many are gone.

    Room is given rank by rank, and within a rank by turns, a line a failure.
    """
    queue = []
    for failure, lines in enumerate(texts):
        turns = [0] * (REST + 1)
        for place, line in enumerate(lines):
            if MUST < line.rank <= deepest and line.text.strip():
                queue.append((line.rank, turns[line.rank], failure, place))
                turns[line.rank] += 1
    queue.sort()
    chosen = {(failure, place) for _, _, failure, place in queue[:room]}
    kept = [
        [line.text for place, line in enumerate(lines) if line.rank == MUST or (number, place) in chosen]
        for number, lines in enumerate(texts)
    ]
    every = sum(bool(line.text.strip()) for lines in texts for line in lines)
    return kept, every - sum(map(len, kept))
