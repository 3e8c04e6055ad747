"""What kind of output a tool gave, and what is read out of it."""

from __future__ import annotations

import re

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


# -- where the right answer differs ------------------------------------------------------------------------------------

TESTS = re.compile(
    r"^=+ (test session starts|FAILURES|ERRORS|short test summary info|\d+ (passed|failed|errors?)\b.*) =+$"
    r"|^\d+ (passed|failed|errors?|skipped)\b.* in [\d.]+s|^ *--- (FAIL|PASS|SKIP): \S+ \(|^(ok  |FAIL|\?   )\t\S"
    r"|^=== (RUN|NAME|CONT|PAUSE) +\S|^test result: (ok|FAILED)\.|^running \d+ tests?$"
    r"|^test \S.* \.\.\. (ok|FAILED|ignored)"
    r"|^ *(Test Suites|Tests|Test Files):? +\d.*(total|\))$|^(not )?ok \d+ - |^ +\d+ (passing|failing)\b"
    r"|^ *(PASS|FAIL|\u276f) +\S+\.(test|spec)\.",
    re.MULTILINE,
)
BUILDS = re.compile(
    r"^(error|warning)(\[E\d+\])?: .*\n\s+--> \S+:\d+:\d+$|^\S+:\d+:\d+: (fatal )?error: |^\S+:\d+:\d+ - error TS\d+:"
    r"|^FAILURE: Build failed|^\d+ issues:$|^g?make(\[\d+\])?: \*\*\* |^error: could not compile "
    r"|^\S+:\d+:\d+ [a-z][\w/]*.* ━━━"
    r"|^\S+\(\d+,\d+\): error [A-Z]+\d+:|^\[ERROR\] \S+:\[\d+,\d+\]|^\S+\.go:\d+:\d+: .*\([a-z]+\)$",
    re.MULTILINE,
)


def is_a_run(case_input):
    """Lines that only a test runner or a compiler prints, in a text that the original's own rules do not catch."""
    text = case_input.get("text", "")
    return case_input["op"] == "classify" and bool(TESTS.search(text) or BUILDS.search(text)) and not caught(text)


def caught(text):
    whole = text.strip()
    tells = re.search(r"\b(PASS|FAIL)\b", whole, re.ASCII) and re.search(r"\btests?\b", whole, re.IGNORECASE | re.ASCII)
    compiles = re.search(r"error TS\d+:", whole) or re.search(r"^error:.*:\d+", whole, re.MULTILINE)
    short = len(whole) < 500 and re.search(r"\b(Error|error|EXCEPTION)\b", whole, re.ASCII)
    quiet = not re.search(r"\b(PASS|FAIL)\b", whole) and not re.search(r"\btests?\b", whole, re.IGNORECASE)
    diff = re.search(r"^(diff --git|@@ -\d)", whole, re.MULTILINE)
    return bool(diff or tells or compiles or whole[:1] in "{[" or (short and quiet))


def what_it_is(case_input):
    return "test_output" if TESTS.search(case_input["text"]) else "build_output"
