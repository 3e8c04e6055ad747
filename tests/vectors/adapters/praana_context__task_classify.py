"""The kind of task, and how it shares out the budget."""

from __future__ import annotations

from workbench.config.context import TaskType
from workbench.context.caps import SHARES
from workbench.context.task_type import classify_task

from ._praana_context_records import activity_of, record_of

NAMES = {"verbatim": "verbatimTurns"}


def run(case_input):
    if case_input["op"] == "budgetAllocation":
        return allocation(case_input["taskType"])
    found = classify_task(
        case_input["userInput"],
        [record_of(record) for record in case_input["turnRecords"]],
        [activity_of(entry) for entry in case_input["activityEntries"]],
        case_input["currentTurn"],
        TaskType(),
    )
    return {"keywords": dict(found.keywords), "tools": dict(found.tools), **verdict(found)}


def verdict(found):
    return {"taskType": found.task_type, "confidence": found.confidence, "source": found.source}


def allocation(task_type):
    return {NAMES.get(name, name): share for name, share in zip(SHARES, getattr(TaskType(), task_type), strict=True)}
