"""How compilers and linters write what they find: one pattern a form, and which of the following lines belong to it.

Forms: tsc plain and pretty (and MSBuild), rustc and clippy, gcc, clang, javac, kotlinc, Go and golangci-lint, Biome,
ESLint, Maven.
A text may mix them: `npm run check` runs a formatter, a linter and a compiler.

Source: the tools' own documentation; PRAANA src/distillers/tsc-errors.ts knows the first form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from workbench.context.distillers.diagnostics import Diagnostic, Severity

_FILE: Final = r"(?:[A-Za-z]:[\\/])?[^\s:(][^:()\n]*?"
_TSC: Final = re.compile(
    rf"(?P<file>{_FILE})\((?P<line>[0-9]+)(?:,(?P<col>[0-9]+))?(?:,[0-9]+,[0-9]+)?\)\s?: (?P<sev>error"
    rf"|warning) (?P<code>[A-Z]+[0-9]+): (?P<msg>.*)"
)
_PRETTY: Final = re.compile(
    rf"(?P<file>{_FILE}):(?P<line>[0-9]+):(?P<col>[0-9]+) - (?P<sev>error|warning) (?P<code>TS[0-9]+): (?P<msg>.*)"
)
_RUSTC: Final = re.compile(r"(?P<sev>error|warning)(?P<code>\[[\w:]+\])?: (?P<msg>\S.*)")
_PLACELESS: Final = re.compile(r"\s*error\b", re.IGNORECASE)
_ARROW: Final = re.compile(r"\s*--> (?P<file>.+?):(?P<line>[0-9]+):(?P<col>[0-9]+)$")
_GCC: Final = re.compile(
    r"(?:(?P<tag>[ew]|vet): )?(?:file://)?"
    rf"(?P<file>{_FILE}):(?P<line>[0-9]+)(?::(?P<col>[0-9]+))?:?(?<=:) (?P<sev>fatal error|error|warning"
    rf"|note|info|remark)(?: ?\[?\w*\]?)?: (?P<msg>.+)"
)
_GO: Final = re.compile(
    r"(?:vet: )?(?P<file>(?:[A-Za-z]:[\\/])?[^\s:]+\.(?:go|c|cc|cpp|h|hpp|py|rs|swift|zig|kt"
    r"|java)):(?P<line>[0-9]+):(?P<col>[0-9]+): (?P<msg>\S.+)"
)
_BIOME: Final = re.compile(
    r"(?P<file>\S+?):(?P<line>[0-9]+):(?P<col>[0-9]+) (?P<code>[a-z][\w/]*)(?: +FIXABLE)? +━{3,}"
)
_BIOME_MESSAGE: Final = re.compile(r"\s+(?P<mark>[\u00d7✖!i\u2139⚠]) (?P<msg>\S.*)")
_MAVEN: Final = re.compile(
    r"\[(?P<sev>ERROR|WARNING)\] (?P<file>\S+?):\[(?P<line>[0-9]+),(?P<col>[0-9]+)\] (?P<msg>.*)"
)
_ESLINT: Final = re.compile(r"\s+(?P<line>[0-9]+):(?P<col>[0-9]+)\s+(?P<sev>error|warning)\s+(?P<msg>\S.*)")
_PATH: Final = re.compile(r"(?:[A-Za-z]:)?[\w./\\@-]*[/\\.][\w./\\@-]*$")
_LABEL: Final = re.compile(r"\s*[0-9]*\s*\|.*?(?:\^|-{2,}|~{2,})[\s^~|-]*(?P<label>[^\s^~|-].*)$")
_DULL: Final = re.compile(
    r"\s*= (?:help: for further information|note: `(?:-D|#\[(?:warn|deny))|help: to override)|\s*\|?\s*$"
)
_MARKS: Final[dict[str, Severity]] = {"\u00d7": "error", "✖": "error", "!": "warning", "⚠": "warning"}
REASONS: Final = 12
"""Lines of a message that are kept, at most."""
AROUND: Final = 40
"""Lines of source that are read for one diagnostic, at most."""


class Draft:
    """A diagnostic under way.

    Args:
        form: Which lines after it are its own.
        severity: How bad it is.
        title: Code and message.
        place: File and line.
        column: Of the place.
    """

    __slots__ = ("around", "column", "form", "is_blank_seen", "place", "reasons", "severity", "title")

    def __init__(self, form: str, severity: Severity, title: str, place: str = "", column: int = 0) -> None:
        self.form, self.severity, self.title, self.place, self.column = form, severity, title, place, column
        self.reasons: list[str] | None = None
        self.around: list[str] | None = None
        self.is_blank_seen = False

    def takes(self, line: str) -> bool:
        """Read a line after the first, if it belongs to this diagnostic."""
        return _OWNED[self.form](self, line)

    def keep(self, line: str, *, reason: bool) -> bool:
        """Keep a line, as part of the message or as source around."""
        if reason:
            self.reasons = _with(self.reasons or [], line, REASONS)
        else:
            self.around = _with(self.around or [], line, AROUND)
        return True

    def finish(self) -> Diagnostic:
        """What it is when its last line is read."""
        return Diagnostic(
            severity=self.severity,
            title=self.title,
            place=self.place,
            column=self.column,
            reasons=tuple(self.reasons or ()),
            around=tuple(self.around or ()),
        )


def head_of(line: str, path: str) -> Draft | None:  # noqa: PLR0911  # a form a line
    """The diagnostic that a line begins; None where it begins none.

    Args:
        line: One line.
        path: The last line that was a path and nothing else, under which ESLint lists what it found.
    """
    if line[:1].isspace():
        found = _ESLINT.match(line) if path else None
        if found:
            return _made("eslint", found, found["msg"].strip(), path)
        return Draft("line", "error", line.strip()) if _PLACELESS.match(line) else None
    if found := _TSC.match(line) or _PRETTY.match(line):
        return _made(
            "pretty" if " - " in line[: found.start("msg")] else "tsc", found, f"{found['code']} {found['msg']}"
        )
    if found := _RUSTC.match(line):
        return Draft("rustc", _severity(found["sev"]), line.rstrip())
    if found := _GCC.match(line):
        return _made("gcc", found, f"{found['sev']}: {found['msg']}")
    if found := _BIOME.match(line):
        return Draft("biome", "error", found["code"], f"{found['file']}:{found['line']}", int(found["col"]))
    if found := _MAVEN.match(line):
        return _made("gcc", found, found["msg"])
    if found := _GO.match(line):
        return Draft("gcc", "error", found["msg"], f"{found['file']}:{found['line']}", int(found["col"]))
    return Draft("line", "error", line.strip()) if _PLACELESS.match(line) else None


def _with(lines: list[str], line: str, most: int) -> list[str]:
    if len(lines) < most and line.strip():
        lines.append(line.rstrip())
    return lines


def is_path(line: str) -> bool:
    """Whether a line is a path and nothing else."""
    return _PATH.match(line) is not None


def _made(form: str, found: re.Match[str], title: str, path: str = "") -> Draft:
    column = int(found["col"]) if found["col"] else 0
    return Draft(form, _severity(found["sev"]), title, f"{path or found['file']}:{found['line']}", column)


def _severity(word: str) -> Severity:
    told = word.lower()
    return "error" if "error" in told else "warning" if told == "warning" else "info"


def _indented(draft: Draft, line: str) -> bool:
    """Tsc: the indented lines after an error are its cause."""
    return line[:1].isspace() and draft.keep(line, reason=True)


def _until_source(draft: Draft, line: str) -> bool:
    """Tsc, pretty: the cause up to a blank line, then source."""
    if not line.strip():
        draft.is_blank_seen = True
        return not draft.around
    if not draft.is_blank_seen:
        return line[:1].isspace() and draft.keep(line, reason=True)
    return (line[:1].isspace() or line[:1].isdigit()) and draft.keep(line, reason=False)


def _of_rustc(draft: Draft, line: str) -> bool:
    """Rustc: place, source with labels, notes, up to a blank line."""
    if not draft.place:
        arrow = _ARROW.match(line)
        if arrow is None:
            return False
        draft.place, draft.column = f"{arrow['file']}:{arrow['line']}:{arrow['col']}", int(arrow["col"])
        return True
    if not line.strip():
        return False
    if not (line[0].isspace() or line[0].isdigit() or line.startswith(("...", "help: ", "note: "))):
        return False
    if _DULL.match(line) or _ARROW.match(line):
        return True
    label = _LABEL.match(line)
    if label:
        draft.keep(f"  {label['label']}", reason=True)
    return draft.keep(line, reason=False)


def _of_gcc(draft: Draft, line: str) -> bool:
    """Gcc, Go: indented source with a caret."""
    return line[:1].isspace() and not _ESLINT.match(line) and draft.keep(line, reason=False)


def _of_biome(draft: Draft, line: str) -> bool:
    """Biome: a message with a mark for its severity, then source."""
    if line and not line[0].isspace():
        return False
    message = _BIOME_MESSAGE.match(line)
    if message is None:
        return draft.keep(line, reason=False)
    if not draft.is_blank_seen:
        draft.is_blank_seen = True
        draft.severity = _MARKS.get(message["mark"], "info")
        draft.title = f"{draft.title}: {message['msg'].strip()}"
        return True
    return draft.keep(line, reason=False)


_OWNED: Final[dict[str, Callable[[Draft, str], bool]]] = {
    "tsc": _indented,
    "line": _indented,
    "pretty": _until_source,
    "rustc": _of_rustc,
    "gcc": _of_gcc,
    "biome": _of_biome,
    "eslint": lambda _draft, _line: False,
}
