"""What kind of task the person is at, told by words of the message and by what tools did lately.

Source: PRAANA src/domain/coding-domain.ts, src/domain/task-classify.ts; specification A, 10.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from workbench.context.cards import command_of
from workbench.context.commands import is_test_command, searches_for_failures

if TYPE_CHECKING:
    from workbench.config.context import TaskType as TaskTypeSettings
    from workbench.context.records import ActivityEntry, TaskType, ToolCallRecord, TurnRecord

Points = Mapping["TaskType", float]

_WORDS: Final[dict[TaskType, tuple[str, ...]]] = {
    "testing": ("test", "spec", "assert", "verify", "coverage"),
    "debugging": ("error", "bug", "fix", "crash", "fail", "broken"),
    "refactoring": ("refactor", "restructure", "reorganize", "clean", "simplify"),
    "implementing": ("implement", "create", "add", "build", "new feature"),
    "reviewing": ("review", "audit", "inspect", "feedback", "check"),
}
_PATTERNS: Final = {
    kind: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE | re.ASCII) for kind, words in _WORDS.items()
}
_TIES: Final[tuple[TaskType, ...]] = ("debugging", "testing", "implementing", "refactoring", "reviewing")
"""Which kind wins among equals."""
_TEST_PATH: Final = re.compile(r"\.(?:test|spec)\.")
_ACTIVITY: Final[dict[str, tuple[TaskType, int]]] = {
    "test_pass": ("testing", 2),
    "test_fail": ("testing", 2),
    "error_fixed": ("debugging", 2),
    "file_written": ("implementing", 1),
}
_WRITES: Final = ("write_file", "batch_write")
_EDITS: Final = ("edit_file", "batch_edit")
_LOOKS: Final = ("read_file", "search_code")
_SEVERAL: Final = 2
"""Edits that make a refactoring, looks that make a review. Source: PRAANA src/domain/coding-domain.ts."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The kind of task, how sure that is (0 to 1), and what told it."""

    task_type: TaskType
    confidence: float
    source: Literal["keywords", "tools", "blended", "fallback"]
    keywords: Points = field(default_factory=dict)
    tools: Points = field(default_factory=dict)


def classify_task(
    user_input: str,
    records: Sequence[TurnRecord],
    activity: Iterable[ActivityEntry],
    current_turn: int,
    settings: TaskTypeSettings,
) -> Classification:
    """Tell the kind of task.

    Args:
        user_input: What the person asks now.
        records: Exchanges; the last few count.
        activity: What happened; the last few turns count.
        current_turn: The exchange at hand.
        settings: How far back, and what decides.

    Returns:
        `general` where nothing tells anything.

    Source: PRAANA src/domain/task-classify.ts.
    """
    since = max(0, current_turn - settings.turns_back)
    keywords = keyword_points(user_input)
    tools = tool_points(
        [record for record in records if record.turn >= since], [entry for entry in activity if entry.turn >= since]
    )
    return _decide(keywords, tools, settings)


def keyword_points(text: str) -> Counter[TaskType]:
    """One point for each word of a kind, without stemming."""
    found = {kind: len(pattern.findall(text)) for kind, pattern in _PATTERNS.items()}
    return Counter({kind: count for kind, count in found.items() if count})


def tool_points(records: Iterable[TurnRecord], activity: Iterable[ActivityEntry]) -> Counter[TaskType]:
    """Points for what tools did."""
    points: Counter[TaskType] = Counter()
    for record in records:
        points.update(_record_points(record))
    for entry in activity:
        kind, worth = _ACTIVITY.get(entry.type, ("general", 0))
        points[kind] += worth
    return +points


def _record_points(record: TurnRecord) -> Counter[TaskType]:
    points: Counter[TaskType] = Counter()
    for call in record.tool_calls:
        points.update(_call_points(call))
    if record.errors and not any(call.is_error for call in record.tool_calls):
        points["debugging"] += 2
    points["testing"] += sum(1 for path in record.files_written if _TEST_PATH.search(path))
    calls = Counter(call.tool for call in record.tool_calls)
    writes = sum(calls[tool] for tool in _WRITES)
    edits = sum(calls[tool] for tool in _EDITS)
    looks = sum(calls[tool] for tool in _LOOKS)
    if edits >= _SEVERAL and not points["implementing"]:
        points["refactoring"] += 3
    if looks >= _SEVERAL and not writes and not edits:
        points["reviewing"] += looks
    return points


def _call_points(call: ToolCallRecord) -> dict[TaskType, int]:
    points: dict[TaskType, int] = {}
    command = command_of(call.args) or ""
    if call.tool == "shell" and is_test_command(command):
        points["testing"] = 2
    debugging = (call.tool == "shell" and searches_for_failures(command)) + 2 * call.is_error
    if debugging:
        points["debugging"] = debugging
    if call.tool in _WRITES and not call.is_error and not _TEST_PATH.search(command):
        points["implementing"] = 2
    return points


def _decide(keywords: Points, tools: Points, settings: TaskTypeSettings) -> Classification:
    spoken, done = _winner(keywords), _winner(tools)
    if spoken is None and done is None:
        return Classification("general", 0.0, "fallback", keywords, tools)
    if _decides(spoken, done, settings):
        return _as("keywords", spoken, keywords, tools, settings)
    if _decides(done, spoken, settings):
        return _as("tools", done, keywords, tools, settings)
    share = settings.keyword_share
    blend = {kind: share * keywords.get(kind, 0) + (1 - share) * tools.get(kind, 0) for kind in _TIES}
    return _as("blended", _winner(blend), keywords, tools, settings)


def _decides(
    one: tuple[TaskType, float] | None, other: tuple[TaskType, float] | None, settings: TaskTypeSettings
) -> bool:
    if one is None:
        return False
    return one[1] >= settings.keyword_min_score or other is None or one[1] > other[1]


def _winner(points: Points) -> tuple[TaskType, float] | None:
    best = max(_TIES, key=lambda kind: points.get(kind, 0))
    return (best, points[best]) if points.get(best, 0) > 0 else None


def _as(
    source: Literal["keywords", "tools", "blended"],
    winner: tuple[TaskType, float] | None,
    keywords: Points,
    tools: Points,
    settings: TaskTypeSettings,
) -> Classification:
    kind, points = winner or ("general", 0.0)
    return Classification(kind, min(1.0, max(0.0, points / settings.sure_at_score)), source, keywords, tools)
