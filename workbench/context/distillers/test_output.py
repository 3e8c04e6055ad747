"""Output of tests: who ran them is told by the text, and each runner has a module.

Source: PRAANA src/distillers/npm-test.ts (which knows Jest only); specification A, 14 and W15.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.context.distillers import cargo_run, go_run, npm_run, pytest_run
from workbench.context.distillers.builds import summarise_build
from workbench.context.distillers.diagnostics import render_build
from workbench.context.distillers.distilled import LinePattern, Status
from workbench.context.distillers.failures import RunSummary, distinct, render_run

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity


class Runner(NamedTuple):
    """How a runner's output is told from others', and read."""

    recognised: LinePattern
    summarise: Callable[[str], RunSummary]


RUNNERS: Final = (
    Runner(pytest_run.RECOGNISED, pytest_run.summarise_pytest),
    Runner(go_run.RECOGNISED, go_run.summarise_go),
    Runner(cargo_run.RECOGNISED, cargo_run.summarise_cargo),
)
"""Runners whose lines are theirs alone. One text may hold several: `make test` runs what it likes."""

_COMPILERS: Final = LinePattern(
    r"error(?:\[E[0-9]+\])?: ", r".*error TS[0-9]+:", needs=("error TS", "error: ", "error[E")
)
_WORST: Final[tuple[Status, ...]] = ("failed", "unknown", "passed")


def runners_of(text: str) -> list[Runner]:
    """The runners whose lines a text holds; none for Jest, Vitest and what nobody here knows."""
    return [runner for runner in RUNNERS if runner.recognised.found_in(text)]


def is_test_output(text: str) -> bool:
    """Whether a text holds lines that only a test runner prints."""
    return bool(runners_of(text)) or npm_run.RECOGNISED.found_in(text)


def summarise_tests(text: str) -> RunSummary:
    """What a test run came to, of all runners in the text together.

    Args:
        text: Plain text.

    Returns:
        The status is `failed` as soon as one of them failed, or the code did not compile.
    """
    runs = [runner.summarise(text) for runner in runners_of(text)]
    if not runs or npm_run.RECOGNISED.found_in(text):
        runs.append(npm_run.summarise_npm(text))
    built = summarise_build(text) if _COMPILERS.found_in(text) else None
    states = {run.status for run in runs} | ({"failed"} if built is not None and built.errors else set())
    counts: Counter[str] = Counter()
    for run in runs:
        counts.update(run.counts)
    packages = {key: distinct(name for run in runs for name in run.packages.get(key, ())) for key in ("failed", "ok")}
    return RunSummary(
        runner=" and ".join(run.runner for run in runs),
        status=next(status for status in _WORST if status in states),
        counts=dict(counts),
        failures=tuple(failure for run in runs for failure in run.failures),
        packages={key: names for key, names in packages.items() if names},
        closing=distinct(line for run in runs for line in run.closing),
    )


def distil_tests(text: str, intensity: Intensity, settings: Distiller) -> str:
    """The failures of a test run with their messages, then as much detail as there is room for.

    Source: PRAANA src/distillers/npm-test.ts; specification A, W15.
    """
    parts = [render_run(runner.summarise(text), intensity, settings) for runner in runners_of(text)]
    if not parts or npm_run.RECOGNISED.found_in(text):
        parts.append(npm_run.distil_npm(text, intensity, settings))
    if _COMPILERS.found_in(text):
        built = summarise_build(text)
        parts += [render_build(built, intensity, settings, alone=False)] if built.diagnostics else []
    return "\n\n".join(parts)
