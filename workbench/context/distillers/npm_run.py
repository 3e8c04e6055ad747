"""What Jest, Vitest and other runners of JavaScript printed, and what runners printed that nobody here knows.

Source: PRAANA src/distillers/npm-test.ts; specification A, 14. Beyond the original: where its cap of detail lines cuts,
what failed is still listed with its message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from workbench.context.distillers.distilled import LinePattern, Status, by_intensity, cut_line, exit_lines
from workbench.context.distillers.failures import MUST, Failure, RunSummary, distinct, ranked
from workbench.context.distillers.generic import head_tail

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity

RECOGNISED: Final = LinePattern(
    r" *(?:Test Suites|Tests|Test Files):? +[0-9].*(?:total|\))$",
    r" *(?:PASS|FAIL|\u276f) +\S+\.(?:test|spec)\.\w+",
    r" +● \S.* \u203a ",
    r" +[0-9]+ (?:passing|failing)\b",
    r"# (?:tests|pass|fail) [0-9]+$",
    r"(?:not )?ok [0-9]+ - ",
    needs=("Test", ".test.", ".spec.", "● ", "ing", "# ", "ok "),
)
"""Lines of Jest, Vitest, Mocha and TAP."""

_TOTALS: Final = re.compile(
    r"\s*(?:(?:Test Files|Tests|Test Suites|Snapshots|Time):|[0-9]+\s+(?:passed|failed)\b)", re.IGNORECASE
)
_FAILED_TOTAL: Final = re.compile("failed", re.IGNORECASE)
_PASSED: Final = re.compile(r"\s*(?:PASS|✓)\s")
_FAILED: Final = re.compile(r"\s*(?:(?:✕|\u00d7)\s|AssertionError\b|(?:TypeError|ReferenceError|Error):)|.*\bFAIL\b")
_TOTAL_STARTS: Final = frozenset("TtSs0123456789")
_PASS_STARTS: Final = frozenset("P✓")
_FAIL_STARTS: Final = frozenset("✕\u00d7ATRE")
_NAME_STARTS: Final = frozenset("FE●✕\u00d7✖n❌0123456789")
_NAMED: Final = re.compile(
    r"^\s*(?P<kind>FAIL(?::|ED)?|ERROR:|●|✕|\u00d7|✖|not ok(?: [0-9]+)?(?: -)?"
    r"|❌)\s+(?P<name>\S.*?)\s*(?:\([0-9.]+ ?m?s\)|[0-9]+ms)?$"
    r"|^\s{2,}(?P<number>[0-9]+)\) (?P<mocha>\S.*)$"
)
_REASON: Final = re.compile(
    r"^\s*(?:\w*Error\b|Expected\b|Received\b|expect\(|AssertionError|→|\u276f \S+:[0-9]+"
    r"|at \S.*:[0-9]+:[0-9]+\)?$|[+-] \S|"
    r"Error:|error:|message: |Number of calls:|Snapshot name:|thrown: |\S.* not found\b)|error TS[0-9]+:"
)
_COUNTED: Final = re.compile(r"^\s*(?:Tests:?\s|[0-9]+ (?:passing|failing|pending)|# (?:pass|fail|skipped) )")
_COUNT: Final = re.compile(
    r"([0-9]+) (passed|failed|skipped|todo|passing|failing|pending)|# (pass|fail|skipped) ([0-9]+)"
)
_OUTCOMES: Final = {
    "passing": "passed", "failing": "failed", "pending": "skipped", "todo": "skipped", "pass": "passed",
    "fail": "failed",
}  # fmt: skip
_UNITTEST: Final = re.compile(r"^FAILED \((?P<told>.*)\)$", re.MULTILINE)
_NEITHER: Final = re.compile(r"\b(?:0|no) (?:failed|failures?|errors?)\b", re.IGNORECASE)
_ALARM: Final = re.compile(r"\b(?:failed|failure|error|exception|panic|fatal|traceback)\b|✖|^not ok", re.IGNORECASE)
_FINE: Final = re.compile(r"\s*(?:✓|✔|√|PASS\b|ok [0-9]|[0-9]+ (?:tests? )?passed)")
_REASONS: Final = 4
"""Lines kept of one failure that the cap cut off."""


def summarise_npm(text: str) -> RunSummary:
    """Read the output of a runner of JavaScript; of an unknown runner as far as its words tell.

    Args:
        text: Plain text.
    """
    failures = tuple(_failures(text.split("\n")))
    counts: Counter[str] = Counter()
    for line in (line for line in text.split("\n") if _COUNTED.match(line)):
        for number, outcome, tap, tapped in _COUNT.findall(line):
            counts[_OUTCOMES.get(outcome or tap, outcome or tap)] += int(number or tapped)
    exits = exit_lines(text)
    is_bad = bool(failures or exits or counts["failed"] or _UNITTEST.search(text))
    status: Status = "failed" if is_bad else "passed" if counts["passed"] else "unknown"
    return RunSummary(
        runner="tests",
        status=status,
        counts={name: counts[name] for name in ("failed", "passed", "skipped")},
        failures=failures,
        closing=distinct(exits),
    )


def distil_npm(text: str, intensity: Intensity, settings: Distiller) -> str:
    """Failure lines up to a cap, what failed beyond it with its message, and the totals.

    Source: PRAANA src/distillers/npm-test.ts.
    """
    lines = text.split("\n")
    details, totals = _captured(lines)
    chars = by_intensity(settings.line_chars, intensity)
    shown = [cut_line(line, chars) for line in details[: by_intensity(settings.test_failure_lines, intensity)]]
    closing = [cut_line(line, chars) for line in totals[-settings.test_summary_lines :]]
    parts = [f"{len(shown)} failure detail line(s):", *shown] if shown else []
    if len(details) > len(shown) or not shown:
        parts += _left_out(lines, shown, chars) or ([] if closing else _alarms(lines, chars))
    parts += [line for line in exit_lines(text) if line not in parts]
    if parts or closing or not text.strip():
        return "\n".join([*parts, *(["Summary:", *closing] if closing else [f"Test output: {len(lines)} lines"])])
    ends = by_intensity(settings.head_tail_chars, intensity)
    return f"Test output: {len(lines)} lines\n{head_tail(text, ends, ends, settings.head_tail_slack_chars)}"


def _captured(lines: list[str]) -> tuple[list[str], list[str]]:
    """Lines from where something failed to where something passed, and the totals."""
    details: list[str] = []
    totals: list[str] = []
    capturing = False
    for line in lines:
        start = line.lstrip()[:1]
        if start in _TOTAL_STARTS and _TOTALS.match(line):
            totals.append(line)
            capturing = capturing or _FAILED_TOTAL.search(line) is not None
        elif start in _PASS_STARTS and _PASSED.match(line):
            capturing = False
        else:
            capturing = capturing or ((start in _FAIL_STARTS or "FAIL" in line) and _FAILED.match(line) is not None)
            if capturing:
                details.append(line)
    return details, totals


def _left_out(lines: list[str], shown: list[str], chars: int) -> list[str]:
    """What failed and is not among the lines shown: its name, and of its lines those that say why."""
    known = {line.strip() for line in shown}
    also: dict[str, None] = {}
    for failure in _failures(lines):
        fresh = [cut_line(line.text, chars) for line in failure.lines]
        fresh = [line for line in fresh if line.strip() not in known]
        head = f"{failure.kind} {failure.name}"
        if fresh or head not in known:
            also |= dict.fromkeys([cut_line(head, chars), *fresh])
    return ["Also failing:", *also] if also else []


def _alarms(lines: list[str], chars: int) -> list[str]:
    """Lines of an unknown runner that tell of errors."""
    told = distinct(line for line in lines if is_alarm(line))
    return ["Lines that tell of failures:", *(cut_line(line, chars) for line in told)] if told else []


def is_alarm(line: str) -> bool:
    """Whether a line tells of a failure by its words."""
    return bool(_ALARM.search(line) and not _NEITHER.search(line) and not _FINE.match(line))


def _failures(lines: list[str]) -> Iterator[Failure]:
    """Every line that names something that failed, with the lines after it that say why."""
    named: dict[tuple[str, str], list[str]] = {}
    owner: list[str] = [""] * _REASONS
    for line in lines:
        found = _NAMED.match(line) if line.lstrip()[:1] in _NAME_STARTS else None
        if found:
            key = (found["kind"] or f"{found['number']})", found["name"] or found["mocha"])
            owner = named.setdefault(key, [])
        elif (
            len(owner) < _REASONS and not _TOTALS.match(line) and (_REASON.search(line) or (not owner and line.strip()))
        ):
            owner.append(line)
    for (kind, name), said in named.items():
        yield Failure(name=name, kind=kind, lines=ranked(said, MUST))
