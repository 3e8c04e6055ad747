"""What `cargo test` and `cargo nextest` printed.

Source: The rustc book, "Tests"; nextest documentation, "Reporting test results".
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from workbench.context.distillers.distilled import LinePattern, Status, exit_lines
from workbench.context.distillers.failures import MUST, REST, TELLING, Failure, Line, RunSummary, distinct

RECOGNISED: Final = LinePattern(
    r"test result: (?:ok|FAILED)\.",
    r"running [0-9]+ tests?$",
    r"test \S.* \.\.\. (?:ok|FAILED|ignored)",
    r" +(?:Summary|PASS|FAIL|TIMEOUT|SIG[A-Z]+|ABORT) \[ *[0-9.]+s\]",
    r"---- \S.* stdout ----$",
    needs=("test result: ", "running ", " ... ", "s] ", " stdout ----"),
)
"""Lines that only Cargo's runners print."""

_ENDED: Final = re.compile(r"^test (?P<name>\S.*?)(?: - should panic)? \.\.\. (?P<state>ok|FAILED|ignored)\b")
_TOTALS: Final = re.compile(r"^test result: (?P<state>ok|FAILED)\. (?P<told>.*)$")
_COUNT: Final = re.compile(r"([0-9]+) (passed|failed|ignored|skipped|timed out)")
_BLOCK: Final = re.compile(r"^---- (?P<name>\S.*?) (?:stdout|stderr) ----$")
_NEXT: Final = re.compile(
    r"^ +(?:TRY [0-9]+ )?(?P<state>PASS|FAIL|TIMEOUT|TMT|LEAK|FLAKY|SLOW|SKIP|START|ABORT|EXECFAIL|XFAIL"
    r"|SIG[A-Z]+)\S*"
    r"(?: [0-9]+/[0-9]+)? \[[ >]*[0-9.]*s?\] (?:\( *[0-9]+/[0-9]+\) )?(?P<name>\S.*?)\s*$"
)
_NEXT_BLOCK: Final = re.compile(r"^--- (?:TRY [0-9]+ )?(?:STDOUT|STDERR): +(?P<name>\S.*?) +---$")
_NEXT_SUMMARY: Final = re.compile(r"^ +Summary \[ *[0-9.]+s\] (?P<told>.*)$")
_CLOSING: Final = re.compile(
    r"^(?:error: (?:test failed|[0-9]+ targets? failed|test run failed|doctest failed|could not compile)"
    r"|error: process didn't exit"
    r"|Caused by:|  process didn't exit|warning: [0-9]+/[0-9]+ tests were not run)"
)
_PANICKED: Final = re.compile(r"^thread '.*' (?:\([0-9]+\) )?panicked at |^Error: |^error: |assertion .* failed")
_FINE: Final = frozenset({"PASS", "SKIP", "START", "SLOW", "LEAK", "FLAKY", "XFAIL"})
_FOLLOWS: Final = 12
"""Lines after a panic's first that belong to its message, at most."""


class _Reader:
    """One pass over the lines."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self.said: dict[str, list[str]] = {}
        self.counts: Counter[str] = Counter()
        self.closing: list[str] = []
        self.summary: Counter[str] | None = None
        self.owner: list[str] | None = None
        self.in_list = False
        self.is_next = False

    def take(self, line: str) -> None:
        """Read one line."""
        if line.startswith("test ") and (line.endswith(" ... ok") or self._take_test(line)):
            return
        if line.startswith("---") and (block := _BLOCK.match(line) or _NEXT_BLOCK.match(line)):
            self.owner, self.in_list = self.said.setdefault(block["name"], []), False
        elif line.startswith("  ") and self._take_next(line):
            return
        elif line == "failures:":
            self.owner, self.in_list = (self.owner, False) if self.is_next else (None, True)
        elif self.in_list and line.startswith("    "):
            self.failed.setdefault(line.strip(), "FAILED")
        elif _CLOSING.match(line):
            self.owner = None
            self.closing.append(line)
        elif self.owner is not None:
            self.owner.append(line)

    def _take_test(self, line: str) -> bool:
        if totals := _TOTALS.match(line):
            self.owner, self.in_list = (self.owner, False) if self.is_next else (None, False)
            if not self.is_next:
                self.counts.update(_counted(totals["told"]))
                self.closing += [line] if totals["state"] == "FAILED" else []
            return True
        ended = _ENDED.match(line)
        if ended and ended["state"] == "FAILED" and not self.is_next:
            self.failed.setdefault(ended["name"], "FAILED")
        return ended is not None

    def _take_next(self, line: str) -> bool:
        if summary := _NEXT_SUMMARY.match(line):
            self.owner, self.summary = None, _counted(summary["told"])
            self.closing.append(line.strip())
            return True
        found = _NEXT.match(line)
        if found is None:
            return False
        self.is_next = True
        name = found["name"]
        if found["state"] == "FLAKY":
            self.failed.pop(name, None)
        elif found["state"] not in _FINE:
            self.failed.setdefault(name, found["state"])
        self.owner = self.said.setdefault(name, []) if name in self.failed and self.summary is None else None
        self.counts["passed"] += found["state"] in {"PASS", "FLAKY", "LEAK"} and self.summary is None
        return True


def summarise_cargo(text: str) -> RunSummary:
    """Read the output of `cargo test` or `cargo nextest run`, whole or cut off.

    Args:
        text: Plain text.
    """
    reader = _Reader()
    for line in text.split("\n"):
        reader.take(line)
    for name in reader.said:
        if not reader.is_next:
            reader.failed.setdefault(name, "FAILED")
    failures = tuple(
        Failure(name=name, kind=kind, lines=tuple(_ranked(reader.said.get(name, []))))
        for name, kind in reader.failed.items()
    )
    counted = reader.summary or reader.counts
    counts = {
        "failed": max(counted["failed"] + counted["timed out"], len(failures)),
        "passed": counted["passed"],
        "skipped": counted["skipped"] + counted["ignored"],
    }
    exits = exit_lines(text)
    is_bad = bool(failures or exits or counts["failed"] or any(line.startswith("error") for line in reader.closing))
    ran = any(counts.values()) or "\ntest result: ok." in f"\n{text}"
    status: Status = "failed" if is_bad else "passed" if ran else "unknown"
    closing = distinct([*reader.closing, *exits])
    return RunSummary(runner="cargo test", status=status, counts=counts, failures=failures, closing=closing)


def _counted(told: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, outcome in _COUNT.findall(told):
        counts[outcome] += int(number)
    return counts


def _ranked(block: list[str]) -> list[Line]:
    """A panic's message stays: from its first line to the note or the blank line after it."""
    lines: list[Line] = []
    left = 0
    for line in block:
        if _PANICKED.search(line):
            left = _FOLLOWS
        elif not line.strip() or line.startswith(("note: ", "stack backtrace")):
            left = 0
        rank = MUST if left else REST if line.startswith(("note: ", "running ", "test ")) else TELLING
        left = max(0, left - 1)
        if line.strip() and not line.startswith(("── ", "failures:")):
            lines.append(Line(line, rank))
    if lines and not any(line.rank == MUST for line in lines):
        lines[-1] = Line(lines[-1].text, MUST)
    return lines
