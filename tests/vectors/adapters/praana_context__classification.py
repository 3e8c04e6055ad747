"""What kind of output a tool gave, and what is read out of it."""

from __future__ import annotations

from workbench.context.activity import commit_message, failure_count
from workbench.context.classify import classify_text, infer_from_command
from workbench.context.commands import is_test_command


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


OPERATIONS = {
    "classify": lambda given: classify_text(given["text"]),
    "infer": lambda given: infer_from_command(given["sourceTool"], given["command"]),
    "isTestCommand": lambda given: is_test_command(given["command"]),
    "extractCommitMessage": lambda given: commit_message(given["resultText"]),
    "extractFailureCount": lambda given: failure_count(given["resultText"]),
}
