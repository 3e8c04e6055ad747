"""What kind of output a tool gave, told by its command, else by its text.

Beyond the original, the lines that only pytest, `go test`, Cargo or a compiler prints are known; and a search that
filters what another program printed is no search: the text decides.

Source: PRAANA src/context-engine/classify.ts, src/domain/coding-domain.ts; specification A, 13, W15.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.context.distillers.builds import is_build_output
from workbench.context.distillers.distilled import LinePattern
from workbench.context.distillers.test_output import is_test_output
from workbench.context.terminal import plain_text

if TYPE_CHECKING:
    from workbench.context.records import ContentType

SHORT_ERROR_CHARS: Final = 500
LOG_LEAST_LINES: Final = 20
LOG_LOOKED_AT: Final = 100
LOG_PREFIX_CHARS: Final = 80
LOG_REPEATS: Final = 3
"""Source of these: PRAANA src/context-engine/classify.ts."""


def _word(*alternatives: str) -> re.Pattern[str]:
    """Words between blanks or the ends of the command."""
    return re.compile(rf"(?:^|\s)(?:{'|'.join(alternatives)})(?:\s|$)", re.ASCII)


_BY_COMMAND: Final[tuple[tuple[re.Pattern[str], ContentType], ...]] = (
    (_word("rg", "grep", "ag", "ack"), "search_results"),
    (_word(r"git\s+(?:diff|show)"), "diff"),
    (
        re.compile(r"(?:^|\s)(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|vitest|jest)(?:[\s:]|$)", re.ASCII),
        "test_output",
    ),
    (
        _word("tsc", "vue-tsc", r"npm\s+run\s+build", r"npm\s+run\s+typecheck", r"pnpm\s+build", r"pnpm\s+typecheck"),
        "build_output",
    ),
)

_OF_RUNS: Final = frozenset({"test_output", "build_output", "diff"})
_SEARCH: Final = re.compile(r"(?:\S+=\S+ +)*(?:rg|grep|ag|ack)(?:\s|$)", re.ASCII)
_STAGES: Final = re.compile(r"&&|\|\||;|\n")
_DIFF: Final = LinePattern("diff --git", "@@ -[0-9]")
_VERDICT: Final = re.compile(r"\b(?:PASS|FAIL)\b", re.ASCII)
_TEST_WORD: Final = re.compile(r"\btests?\b", re.IGNORECASE | re.ASCII)
_TSC: Final = re.compile(r"error TS[0-9]+:", re.ASCII)
_BUILD_ERROR: Final = LinePattern("error:.*:[0-9]+")
_ERROR_WORD: Final = re.compile(r"\b(?:Error|error|EXCEPTION)\b", re.ASCII)
_CODE: Final = LinePattern("import ", "export ", "function ", "class ", "const ", "let ", "def ", "```")
_LETTERS: Final = re.compile(r"[A-Za-z]{4,}")
_BLANK_LINE: Final = re.compile(r"\n\s*\n")


def content_type_of(tool: str, command: str | None, text: str) -> ContentType:
    """What kind of output this is.

    Args:
        tool: The tool's name; only a shell's command tells anything.
        command: What was run.
        text: What came back.

    Source: PRAANA src/domain/coding-domain.ts, `inferContentTypeFromTool`; src/context-engine/classify.ts.
    """
    told = infer_from_command(tool, command)
    if told is None:
        return classify_text(text)
    if told == "search_results" and _is_filter(command or ""):
        seen = classify_text(text)
        return seen if seen in _OF_RUNS else told
    return told


def _is_filter(command: str) -> bool:
    """Whether a search stands behind a pipe only: `go test ./... | grep FAIL`."""
    return not any(_SEARCH.match(stage.partition("|")[0].strip()) for stage in _STAGES.split(command))


def infer_from_command(tool: str, command: str | None) -> ContentType | None:
    """The kind of output that a shell command gives, where its name tells.

    Source: PRAANA src/domain/coding-domain.ts, `inferContentTypeFromTool`.
    """
    if tool != "shell" or not (command or "").strip():
        return None
    return next((kind for pattern, kind in _BY_COMMAND if pattern.search(command or "")), None)


def classify_text(text: str) -> ContentType:
    """The kind of output by its looks; the first that fits.

    Source: PRAANA src/context-engine/classify.ts, `classifyContentType`.
    """
    whole = plain_text(text).strip()
    if not whole:
        return "other"
    return next((kind for kind, fits in _BY_TEXT if fits(whole)), "other")


def _is_test_output(text: str) -> bool:
    return ("PASS" in text or "FAIL" in text) and bool(_VERDICT.search(text) and _TEST_WORD.search(text))


def _is_build_output(text: str) -> bool:
    return bool(_TSC.search(text) or _BUILD_ERROR.found_in(text))


def _is_json(text: str) -> bool:
    if text[0] not in "{[":
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return False
    return True


def _is_error(text: str) -> bool:
    if len(text) >= SHORT_ERROR_CHARS or not _ERROR_WORD.search(text):
        return False
    return not (_VERDICT.search(text) or _TEST_WORD.search(text))


def _is_log(text: str) -> bool:
    lines = text.split("\n", LOG_LOOKED_AT)
    if len(lines) <= LOG_LEAST_LINES:
        return False
    prefixes = Counter(line.strip()[:LOG_PREFIX_CHARS] for line in lines[:LOG_LOOKED_AT] if line.strip())
    return any(count >= LOG_REPEATS for count in prefixes.values())


def _is_prose(text: str) -> bool:
    return bool(_BLANK_LINE.search(text) and _LETTERS.search(text))


_BY_TEXT: Final[tuple[tuple[ContentType, Callable[[str], bool]], ...]] = (
    ("diff", _DIFF.found_in),
    ("test_output", _is_test_output),
    ("build_output", _is_build_output),
    ("json", _is_json),
    ("error", _is_error),
    ("test_output", is_test_output),
    ("build_output", is_build_output),
    ("code", _CODE.found_in),
    ("log", _is_log),
    ("prose", _is_prose),
)
