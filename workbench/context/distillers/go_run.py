"""What `go test` printed: tests, packages that do not compile, panics and time-outs.

Of a chain of failing subtests the deepest is the failing test: its parents fail only because of it.

Source: Go documentation, cmd/go "Test packages", cmd/internal/test2json.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

import msgspec

from workbench.context.distillers.distilled import LinePattern, Status, exit_lines
from workbench.context.distillers.failures import MUST, REST, TELLING, Failure, Line, RunSummary, distinct, ranked

RECOGNISED: Final = LinePattern(
    r"[ \t]*--- (?:FAIL|PASS|SKIP): \S+ \([0-9.]+s\)",
    r"[ \t]*--- FAIL: \S+(?: \(?[0-9.]*s?)?\Z",
    r"(?:ok  |FAIL|\?   )\t\S+(?:\t|$)",
    r"FAIL\t\S+ \[",
    r"=== (?:RUN|NAME|CONT|PAUSE) +\S",
    r"\{\"(?:Time|Action)\":\"[^\n]*\"Action\":\"|\{\"Action\":\"",
    needs=("--- ", "ok  \t", "FAIL\t", "?   \t", "=== ", '"Action":"'),
)
"""Lines that only `go test` prints; a failure counts as well where the text was cut off inside its line."""

_STATES: Final = frozenset({"FAIL", "PASS", "SKIP", "BENC"})
_PANICS: Final = frozenset("pfSrWes[")
_PACKAGE: Final = re.compile(
    r"^(?P<state>ok  |FAIL|\?   |---)\t(?P<name>\S+)(?P<rest>.*)$|^FAIL (?P<plain>\S+/\S+)(?P<more>.*)$"
)
_NOT_BUILT: Final = re.compile(r"^# (?P<name>\S+)")
_PANIC: Final = re.compile(
    r"^(?:panic: |fatal error: |SIG[A-Z]+: |runtime: |WARNING: DATA RACE|exit status [1-9]|signal: )|^\[signal "
)
_AT: Final = re.compile(r"^\s+(?P<file>\S+\.go):[0-9]+: ")
_SAYS_WHY: Final = re.compile(
    r"expect|want|\bgot\b|fail|error|mismatch|panic|should|must|not equal|unequal|missing|invalid|differ"
    r"|\bnil\b|timed? ?out",
    re.IGNORECASE,
)
_TESTIFY: Final = re.compile(r"^\s+(?:Error:|Error Trace:|Messages:|expected: |actual  : )")
_PACKAGES: Final = frozenset({"ok  ", "FAIL", "?   ", "---\t"})
_LOOSE: Final = 12
"""Last lines before a failed package that no test owns; kept where no test of it is named."""
_SAID: Final = 400
"""Lines kept of one test while it runs."""


class _Test:
    """A test under way or over."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: deque[str] = deque(maxlen=_SAID)
        self.must: list[str] = []

    def say(self, line: str) -> None:
        """Keep a line of it; those that say why it failed for good."""
        if len(self.lines) == _SAID and is_reason(self.lines[0]):
            self.must.append(self.lines[0])
        self.lines.append(line)


class _Reader:
    """One pass over the lines."""

    def __init__(self) -> None:
        self.running: dict[str, _Test] = {}
        self.current: _Test | None = None
        self.failed: list[_Test] = []
        self.passed = self.skipped = 0
        self.failures: list[Failure] = []
        self.packages: dict[str, list[str]] = {"failed": [], "ok": []}
        self.unbuilt: dict[str, list[str]] = {}
        self.loose: deque[str] = deque(maxlen=_LOOSE)
        self.panic: list[str] = []
        self.owner: list[str] | None = None

    def take(self, line: str) -> None:
        """Read one line."""
        start = line[:4]
        if start == "=== " and (name := line[4:].partition(" ")[2].strip()):
            self._resume(name)
        elif "--- " in line and (ended := line.lstrip()).startswith("--- ") and ended[4:8] in _STATES:
            self._end_test(ended[4:8], ended[8:].partition(": ")[2].rpartition(" (")[0] or ended[10:].rstrip())
        elif start in _PACKAGES and (package := _PACKAGE.match(line)):
            self._end_package(package)
        elif line in {"FAIL", "PASS"}:
            self.current = self.owner = None
        elif start[:2] == "# " and (unbuilt := _NOT_BUILT.match(line)):
            self.owner = self.unbuilt.setdefault(unbuilt["name"], [])
            self.current = None
        elif start[:1] in _PANICS and _PANIC.match(line):
            self._break(line)
        else:
            self._say(line)

    def _resume(self, name: str) -> None:
        test = self.running.get(name)
        if test is None:
            test = self.running[name] = _Test(name)
        self.current = test
        self.owner = None

    def _end_test(self, state: str, name: str) -> None:
        test = self.running.pop(name, None) or _Test(name)
        self.owner = None
        self.passed += state == "PASS"
        self.skipped += state == "SKIP"
        if state == "FAIL":
            self.failed.append(test)
        self.current = test

    def _break(self, line: str) -> None:
        if self.owner is None or self.owner is not self.panic:
            self.owner = self.panic
        self.panic.append(line)

    def _say(self, line: str) -> None:
        if self.owner is self.panic and self.panic:
            self.panic.append(line)
        elif self.owner is not None:
            self.owner.append(line)
        elif self.current is not None and (line[:1].isspace() or self.running):
            self.current.say(line)
        elif line.strip():
            self.loose.append(line)

    def _end_package(self, package: re.Match[str]) -> None:
        name = package["name"] or package["plain"]
        state = (package["state"] or "FAIL").strip()
        if state == "ok":
            self.packages["ok"].append(name)
        elif state == "FAIL":
            self.packages["failed"].append(name)
            self._fail_package(name, (package["rest"] or package["more"] or "").strip())
        self.failed, self.panic, self.running = [], [], {}
        self.current = self.owner = None
        self.loose.clear()

    def _fail_package(self, name: str, rest: str) -> None:
        """What failed since the last package line belongs to this one; a compiler's lines came under its name."""
        tests = self.close_tests()
        why = f" {rest}" if rest.startswith("[") else ""
        lines = [*ranked(self.unbuilt.pop(name, self.unbuilt.pop(f"{name}.test", [])), MUST), *_of_panic(self.panic)]
        if not (tests or lines):
            lines = [*ranked(list(self.loose)[:-1], TELLING), *ranked(list(self.loose)[-1:], MUST)]
        self.failures += [*tests, Failure(name=name + why, kind="FAIL", lines=tuple(lines))]

    def close_tests(self) -> list[Failure]:
        """Failing tests so far, the deepest of each chain; a parent only where it says something itself."""
        names = {test.name for test in self.failed}
        parents = {name[: place.start()] for name in names for place in re.finditer("/", name)}
        kept = [test for test in self.failed if test.name not in parents or any(map(is_reason, test.lines))]
        return [Failure(name=test.name, kind="FAIL", lines=_ranked(test)) for test in kept]


def summarise_go(text: str) -> RunSummary:
    """Read the output of `go test`, plain, `-v` or `-json`, whole or cut off.

    Args:
        text: Plain text.
    """
    reader = _Reader()
    for line in _as_plain(text).split("\n"):
        reader.take(line)
    failures = [*reader.failures, *reader.close_tests()]
    failures += [
        Failure(name=name, kind="FAIL", lines=ranked(said, MUST)) for name, said in reader.unbuilt.items() if said
    ]
    if reader.panic:
        failures.append(Failure(name="(panic)", kind="FAIL", lines=_of_panic(reader.panic)))
    packages = {state: tuple(sorted(set(names))) for state, names in reader.packages.items()}
    named = set(packages["failed"])
    counts = {
        "failed": sum(each.name.partition(" ")[0] not in named for each in failures),
        "passed": reader.passed,
        "skipped": reader.skipped,
    }
    exits = exit_lines(text)
    ends_in_fail = re.search(r"^FAIL$", text, re.MULTILINE) is not None
    is_good = bool(packages["ok"] or reader.passed or re.search(r"^PASS$", text, re.MULTILINE))
    status: Status = "failed" if failures or exits or ends_in_fail else "passed" if is_good else "unknown"
    return RunSummary(
        runner="go test",
        status=status,
        counts=counts,
        failures=tuple(failures),
        packages=packages,
        closing=distinct(exits),
    )


def is_reason(line: str) -> bool:
    """Whether a line of a test says why it failed: by its words, in a test file or in an assertion's block."""
    if _TESTIFY.match(line):
        return True
    at = _AT.match(line)
    return at is not None and at["file"].endswith("_test.go") and _SAYS_WHY.search(line, at.end()) is not None


def _ranked(test: _Test) -> tuple[Line, ...]:
    lines = [*test.must, *(line for line in test.lines if line.strip())]
    places = [place for place, line in enumerate(lines) if _AT.match(line)]
    last = {places[-1] if places else len(lines) - 1}
    return tuple(
        Line(line, MUST if is_reason(line) or place in last else TELLING if _AT.match(line) else REST)
        for place, line in enumerate(lines)
    )


def _of_panic(lines: list[str]) -> tuple[Line, ...]:
    """A panic stays up to its first goroutine, then the frames of tests."""
    ranks = []
    in_trace = False
    for line in lines:
        in_trace = in_trace or line.startswith("goroutine ")
        rank = (TELLING if "_test.go:" in line else REST) if in_trace else MUST
        ranks.append(Line(line, MUST if _PANIC.match(line) else rank))
    return tuple(line for line in ranks if line.text.strip())


def _as_plain(text: str) -> str:
    """The text that `-json` carries, package by package; any other text as it is."""
    if not text.lstrip().startswith("{"):
        return text
    said: dict[str, list[str]] = {}
    other: list[str] = []
    for line in text.split("\n"):
        try:
            event = msgspec.json.decode(line)
            said.setdefault(str(event.get("Package") or event.get("ImportPath")), []).append(
                str(event.get("Output") or "")
            )
        except (msgspec.DecodeError, UnicodeEncodeError, AttributeError):
            other.append(line)
    return "\n".join(["".join(parts).removesuffix("\n") for parts in said.values()] + other)
