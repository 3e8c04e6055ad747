"""Texts within a number of tokens, and notes that are no findings."""

from __future__ import annotations

from workbench.context.notes import is_activity_log
from workbench.context.trim import trim_lines, trim_project_context
from workbench.text.tokens import estimate_tokens


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


def section(case_input):
    text, is_cut = trim_lines(case_input["text"], case_input["maxTokens"], case_input["note"])
    return {"text": text, "truncated": is_cut}


def agents(case_input):
    text, is_cut = trim_project_context(case_input["text"], case_input["maxTokens"])
    return {"text": text, "truncated": is_cut}


OPERATIONS = {
    "activityLogNote": lambda case_input: is_activity_log(case_input["text"]),
    "trimSection": section,
    "trimAgents": agents,
}


# -- where the right answer differs ------------------------------------------------------------------------------------


def is_cut(case_input):
    cap = case_input.get("maxTokens", 0)
    return case_input["op"] == "trimSection" and cap > 0 and estimate_tokens(case_input["text"]) > cap


def within_its_tokens(case_input):
    """As many whole lines as fit with the note; where not one does, as much of the first as fits."""
    cap, lines = case_input["maxTokens"], case_input["text"].split("\n")
    note = f"... ({case_input['note']})"
    for count in range(len(lines) - 1, 0, -1):
        text = "\n".join([*lines[:count], note])
        if estimate_tokens(text) <= cap:
            return {"text": text, "truncated": True}
    mark = f"\n{note}" if estimate_tokens(f"{note}\n") < cap else "…"
    for count in range(len(lines[0]), 0, -1):
        if estimate_tokens(lines[0][:count] + mark) <= cap:
            return {"text": lines[0][:count] + mark, "truncated": True}
    return {"text": "", "truncated": True}
