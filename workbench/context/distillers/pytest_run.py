"""What pytest printed: failures and errors from the summary, the blocks, the verbose lines or the dots.

An error (a broken fixture, a file that cannot be collected) fails the run like a failure.

Source: pytest documentation, "How to manage pytest's output"; src/_pytest/terminal.py.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import Final

from workbench.context.distillers.distilled import LinePattern, Status, exit_lines
from workbench.context.distillers.failures import MUST, REST, TELLING, Failure, Line, RunSummary, distinct, ranked

_OUTCOMES: Final = r"(?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests)"
RECOGNISED: Final = LinePattern(
    r"=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$",
    rf"(?:=+ )?(?:no tests ran|[0-9]+ {_OUTCOMES}\b[^\n]*) in [0-9.]+s\b",
    r"_{3,} (?:ERROR at (?:setup|teardown) of|ERROR collecting) ",
    needs=("==", "___ERROR", "___ ERROR", "passed", "failed", "error", "no tests ran", "skipped"),
)
"""Lines that only pytest prints."""

_BANNER: Final = re.compile(r"^=+ (?P<title>\S.*?) =*$")
_TOTALS: Final = re.compile(rf"^(?:=+ )?(?P<told>no tests ran|[0-9]+ {_OUTCOMES}\b.*?) in [0-9.]+s\b")
_COUNT: Final = re.compile(r"([0-9]+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
_TITLE: Final = re.compile(r"^_+ (?P<title>.*?\S) _+$")
_BETWEEN: Final = re.compile(r"^(?:_ )+_?$")
_SUMMARY: Final = re.compile(r"^(?P<kind>FAILED|ERROR|SUBFAIL(?:ED)?\S*) (?P<rest>\S.*)$")
_VERBOSE: Final = re.compile(
    r"^(?:(?P<id>\S.*?::\S.*?) (?P<kind>FAILED|ERROR)(?:\s|$)"
    r"|\[gw[0-9]+\] (?:\[ *[0-9]+%\] )?(?P<gw_kind>FAILED|ERROR) (?P<gw_id>\S.*?)\s*$)"
)
_DOTS: Final = re.compile(r"^(?P<file>\S.*?\.py)?\s*(?P<dots>[.FEsxXR]+)\s*(?:\[ *[0-9]+%\])?$")
_PLACE: Final = re.compile(r"^(?:[A-Za-z]:)?[^\s:][^:]*:[0-9]+: (?P<what>.*)$")
_RAISED: Final = re.compile(r"^[\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Failed)\b(?::|$)")
_STOPPED: Final = re.compile(
    r"^(?:!+ .* !+|INTERNALERROR> .*\S|ERROR: .*|FAIL Required .*|Fatal Python error: .*|E  .*)$"
)
_BANNERS: Final = frozenset("=0123456789n")
_STOPS: Final = frozenset("!IFE")
_IN_TITLE: Final = re.compile(r"^ERROR (?:at (?:setup|teardown) of|collecting) ")
INTERNAL_LINES: Final = 8
"""Last lines kept of pytest's own traceback."""


class _Reader:
    """One pass over the lines."""

    def __init__(self) -> None:
        self.section = ""
        self.blocks: list[tuple[str, list[str]]] = []
        self.summed: dict[tuple[str, str], str] = {}
        self.seen: dict[tuple[str, str], None] = {}
        self.dotted: Counter[str] = Counter()
        self.totals: list[str] = []
        self.counts: Counter[str] = Counter()
        self.stopped: deque[str] = deque(maxlen=INTERNAL_LINES)
        self.loose: list[str] = []

    def take(self, line: str) -> None:
        """Read one line."""
        start = line[:1]
        if start in _BANNERS and self._take_banner(line):
            return
        if self.section in {"FAILURES", "ERRORS"} or line.startswith("___"):
            self._take_detail(line)
        elif start in _STOPS and _STOPPED.match(line):
            self.stopped.append(line)
        elif start and not start.isspace():
            self._take_result(line)

    def _take_banner(self, line: str) -> bool:
        totals = _TOTALS.match(line)
        if totals:
            self.section = ""
            self.totals.append(line)
            for number, outcome in _COUNT.findall(totals["told"]):
                self.counts["error" if outcome.startswith("error") else outcome] += int(number)
            return True
        banner = _BANNER.match(line)
        if banner:
            self.section = banner["title"]
        return banner is not None

    def _take_detail(self, line: str) -> None:
        title = None if _BETWEEN.match(line) else _TITLE.match(line)
        if title:
            self.section = self.section if self.section in {"FAILURES", "ERRORS"} else "FAILURES"
            self.blocks.append((title["title"], []))
        elif line.startswith("!!!") and _STOPPED.match(line):
            self.stopped.append(line)
        elif self.blocks and not (line.startswith(("FAILED ", "ERROR ")) and "::" in line):
            self.blocks[-1][1].append(line)
        elif _SUMMARY.match(line):
            self._take_result(line)
        else:
            self.loose.append(line)

    def _take_result(self, line: str) -> None:
        if not ("FAIL" in line or "ERROR" in line):
            self._take_dots(line)
            return
        found = _SUMMARY.match(line)
        if found:
            name, message = _split(found["rest"])
            self.summed[found["kind"], name] = message
            return
        found = _VERBOSE.match(line)
        if found:
            self.seen[found["kind"] or found["gw_kind"], found["id"] or found["gw_id"]] = None

    def _take_dots(self, line: str) -> None:
        dots = _DOTS.match(line) if line[0] in ".FEsxXR" or ".py " in line else None
        if dots and set(dots["dots"]) & {"F", "E"}:
            self.dotted[dots["file"] or "a test that is not named"] += len(re.findall("[FE]", dots["dots"]))


def summarise_pytest(text: str) -> RunSummary:
    """Read the output of pytest, whole or cut off, one run or several.

    Args:
        text: Plain text.
    """
    reader = _Reader()
    for line in text.split("\n"):
        reader.take(line)
    failures = _failures(reader)
    counts = {name: reader.counts[name] for name in ("failed", "error", "passed", "skipped", "xfailed", "xpassed")}
    exits = exit_lines(text)
    if not reader.totals:
        counts |= {
            "failed": sum(each.kind != "ERROR" for each in failures),
            "error": sum(each.kind == "ERROR" for each in failures),
        }
    is_bad = bool(failures or reader.stopped or exits or counts["failed"] or counts["error"])
    status: Status = "failed" if is_bad else "passed" if any(counts.values()) else "unknown"
    closing = distinct([*ranked_texts(reader.loose), *reader.stopped, *reader.totals, *exits])
    return RunSummary(runner="pytest", status=status, counts=counts, failures=failures, closing=closing)


def ranked_texts(lines: list[str]) -> list[str]:
    """Lines outside of any block that say where or why: of `--tb=line`, or of a block whose title was cut off."""
    return [line for line in lines if _PLACE.match(line) or _RAISED.match(line) or line.startswith("E ")]


def _failures(reader: _Reader) -> tuple[Failure, ...]:
    """One failure a name; a block belongs to the next name that fits its title."""
    names = {key: reader.summed.get(key, "") for key in [*reader.seen, *reader.summed]}
    waiting: dict[str, deque[tuple[str, str]]] = {}
    for key in names:
        waiting.setdefault(_as_title(key[1]), deque()).append(key)
    lines: dict[tuple[str, str], list[Line]] = {key: [] for key in names}
    for title, block in reader.blocks:
        in_error = title.startswith("ERROR ")
        keys = waiting.get(_IN_TITLE.sub("", title)) or deque()
        wanted = [key for key in keys if (key[0] == "ERROR") == in_error]
        if wanted:
            keys.remove(wanted[0])
        key = wanted[0] if wanted else ("ERROR" if in_error else "FAILED", title)
        lines.setdefault(key, []).extend(_ranked(block))
    for key, message in names.items():
        if message and not any(line.rank == MUST for line in lines[key]):
            lines[key].insert(0, Line(message, MUST))
    if not lines:
        lines = {("FAILED", f"{file} ({count})"): [] for file, count in reader.dotted.items()}
    return tuple(Failure(name=name, kind=kind, lines=tuple(said)) for (kind, name), said in lines.items())


def _split(rest: str) -> tuple[str, str]:
    """Name and message of a summary line; a parameter in brackets may hold the dash that parts them."""
    name, dash, message = rest.partition(" - ")
    if "[" in name and "]" not in name:
        head, closed, tail = rest.partition("] - ")
        if not closed:
            return rest, ""
        name, dash, message = f"{head}]", closed, tail
    return name.strip(), message.strip() if dash else ""


def _as_title(node_id: str) -> str:
    """The title of a test's block: its name within the file, with dots; of a file that is not collected, the file."""
    _, colons, name = node_id.partition("::")
    return name.replace("::", ".") if colons else node_id


def _ranked(block: list[str]) -> list[Line]:
    """Lines of a block by worth: the first line of each error and the place stay, then what was compared."""
    ranks = []
    in_error = False
    for line in block:
        is_error = line[:2] in {"E ", "E\t"}
        if is_error:
            rank = TELLING if in_error else MUST
        elif place := _PLACE.match(line):
            rank = TELLING if place["what"].startswith("in ") else MUST
        elif _RAISED.match(line):
            rank = MUST
        else:
            rank = TELLING if line.startswith(">") else REST
        in_error = is_error
        ranks.append(Line(line, rank))
    return list(ranks) if any(line.rank == MUST for line in ranks) else [*_last_must(ranks)]


def _last_must(lines: list[Line]) -> tuple[Line, ...]:
    """A block cut off before its error: its last line stands for the message."""
    said = [line for line in lines if line.text.strip()]
    return (*said[:-1], *ranked([line.text for line in said[-1:]], MUST))
