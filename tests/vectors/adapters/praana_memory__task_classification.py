"""The kind of task, and how it shares out the budget."""

from __future__ import annotations

from workbench.config.context import TaskType
from workbench.context.caps import SHARES
from workbench.context.records import ActivityEntry, ToolCallRecord, TurnRecord
from workbench.context.task_type import classify_task

NAMES = {"verbatim": "verbatimTurns"}


def run(case_input):
    if "budget_for" in case_input:
        shares = getattr(TaskType(), case_input["budget_for"], TaskType().general)
        return {NAMES.get(name, name): share for name, share in zip(SHARES, shares, strict=True)}
    found = classify_task(
        case_input["user_input"],
        [_record(turn) for turn in case_input["turns"]],
        [ActivityEntry(**entry) for entry in case_input["activities"]],
        case_input["current_turn"],
        TaskType(),
    )
    return {
        "taskType": found.task_type,
        "confidence": found.confidence,
        "source": found.source,
        "keyword_scores": dict(found.keywords),
        "tool_scores": dict(found.tools),
    }


def _record(turn):
    return TurnRecord(
        turn=turn["turn"],
        user_message="",
        tool_calls=tuple(ToolCallRecord(**call) for call in turn["tool_calls"]),
        files_written=tuple(turn["files_written"]),
        errors=tuple(turn["errors"]),
    )
