"""What a build wrote: the errors of compilers and linters, whatever forms it mixes, and other signs of failure.

Source: PRAANA src/distillers/tsc-errors.ts; specification A, 14.
"""

from __future__ import annotations

import re
from typing import Final

from workbench.context.distillers.compilers import Draft, head_of, is_path
from workbench.context.distillers.diagnostics import BuildSummary, Diagnostic
from workbench.context.distillers.distilled import LinePattern, Status, exit_lines

_SIGNS: Final = (
    "error", "warning", "Error", "ERROR", "WARN", "fatal", "Fatal", "FATAL", "fail", "FAIL", "panic", "undefined",
    "xception", "━━━",
)  # fmt: skip
_PLACE: Final = re.compile(r":[0-9]+:[0-9]+")
_TOTALS: Final = re.compile(
    r"^(?:Found [0-9]+ (?:errors?|warnings?|infos?)\b|✖ [0-9]+ problems?|error: could not compile"
    r"|error: aborting due to"
    r"|warning: .* generated [0-9]+ warnings?|warning: build failed, waiting|warning: [0-9]+ warnings? emitted"
    r"|[0-9]+ (?:errors?|warnings?|issues?|problems?)\b|Diagnostics not shown)"
)
_SHOWN_TOTALS: Final = re.compile(r"^(?:error: could not compile|error: aborting|Diagnostics not shown)")
_FOUND: Final = re.compile(r"^Found ([0-9]+) errors?\b")
_SERIOUS: Final = re.compile(
    r"\b(?:errors?|fatal|failed|failure|panic|undefined reference|exception)\b|Error\b|Exception\b", re.IGNORECASE
)
_NOTHING: Final = re.compile(
    r"\b(?:0|no|without) (?:errors?|failures?|failed|warnings?)\b|\berror-free\b", re.IGNORECASE
)
_BROKEN: Final = LinePattern(
    r".*(?:BUILD FAILED|Build FAILED|Command failed|ELIFECYCLE)",
    r"FAILURE: Build failed|npm (?:ERR!|error)|error: could not compile|error: aborting|FAILED: "
    r"|collect2: error|ld: ",
    r"(?:g?make|ninja)(?:\[[0-9]+\])?: (?:\*\*\*|build stopped)",
)
_FINE: Final = LinePattern(
    r".*(?:BUILD SUCCESS|Found 0 errors|Compiled successfully|Build succeeded"
    r"|✓ built in)",
    r"\s*Finished ",
    r"0 issues",
)
RECOGNISED: Final = LinePattern(
    r"(?:error|warning)(?:\[E[0-9]+\])?: [^\n]*\n\s+--> \S+:[0-9]+:[0-9]+$",
    r"FAILURE: Build failed with an exception",
    r"\S+:[0-9]+:[0-9]+: (?:fatal )?error: ",
    r"\S+:[0-9]+:[0-9]+ - error TS[0-9]+:",
    r"\S+\([0-9]+,[0-9]+\): error [A-Z]+[0-9]+:",
    r"\S+:[0-9]+:[0-9]+ [a-z][\w/]*(?: +FIXABLE)? +━{3,}",
    r"[0-9]+ issues:$",
    r"\S+\.go:[0-9]+:[0-9]+: [^\n]*\([a-z]+\)$",
    r"g?make(?:\[[0-9]+\])?: \*\*\* ",
    r"\[ERROR\] \S+:\[[0-9]+,[0-9]+\]",
    r"error: could not compile ",
    needs=("error", "warning", "FAILURE: ", "━━━", " issues:", ".go:", "make", "[ERROR]"),
)
"""Lines that only a build prints."""


def is_build_output(text: str) -> bool:
    """Whether a text holds lines that only a build prints."""
    return RECOGNISED.found_in(text)


def summarise_build(text: str) -> BuildSummary:
    """Read what compilers and linters found.

    Args:
        text: Plain text.
    """
    reader = _Reader()
    for line in text.split("\n"):
        reader.take(line)
    found = tuple(reader.finish())
    exits = exit_lines(text)
    is_bad = bool(exits or _BROKEN.found_in(text) or any(each.severity == "error" for each in found))
    is_good = _FINE.found_in(text)
    status: Status = "failed" if is_bad else "passed" if is_good else "unknown"
    said = dict.fromkeys([*reader.said, *exits])
    return BuildSummary(status=status, diagnostics=found, said=tuple(said), totals=tuple(dict.fromkeys(reader.totals)))


class _Reader:
    """One pass over the lines."""

    def __init__(self) -> None:
        self.done: list[Draft] = []
        self.owner: Draft | None = None
        self.path = ""
        self.said: dict[str, None] = {}
        self.totals: list[str] = []

    def take(self, line: str) -> None:
        """Read one line."""
        if self.owner is not None:
            if self.owner.takes(line):
                return
            self.owner = None
        if not ("error" in line or any(sign in line for sign in _SIGNS) or (":" in line and _PLACE.search(line))):
            self.path = (
                line.strip() if line and not line[0].isspace() and is_path(line.strip()) else self.path if line else ""
            )
            return
        if _TOTALS.match(line):
            self._take_total(line)
            return
        self.owner = head_of(line, self.path)
        if self.owner is not None:
            self.done.append(self.owner)
        elif _SERIOUS.search(line) and not _NOTHING.search(line):
            self.said[line.rstrip()] = None

    def _take_total(self, line: str) -> None:
        """Totals are shown where they say more than the list: that it is cut off, or what could not be built."""
        found = _FOUND.match(line)
        if _SHOWN_TOTALS.match(line) or (found and int(found[1]) > sum(each.severity == "error" for each in self.done)):
            self.totals.append(line)

    def finish(self) -> list[Diagnostic]:
        """All diagnostics, mere hints apart."""
        return [draft.finish() for draft in self.done if draft.severity != "info"]
