"""Digests: intents, plans, implied constraints, the story."""

from __future__ import annotations

import re

from workbench.config.context import Digest
from workbench.context.digest import digest_turn, tool_summary, user_intent
from workbench.context.implied import implied_constraints
from workbench.context.narrative import narrative_entry
from workbench.context.plans import completed_items, extract_plan, plan_items
from workbench.context.state import StateGraph, apply_action
from workbench.text.stop_words import STOP_WORDS

from ._praana_context_records import digest_of, peer_digest, record_of

SETTINGS = Digest()


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


def implied(case_input):
    return [each.text for each in implied_constraints(case_input["userMessage"])]


def completed(case_input):
    return completed_items(case_input["items"], digest_of(case_input["digest"]))


def narrative(case_input):
    entry = narrative_entry(digest_of(case_input["digest"]), case_input["previousIntent"], SETTINGS.narrative_chars)
    return {"worthy": entry is not None, "entry": entry}


def digest(case_input):
    record = record_of({"turn": case_input["turn"], "userMessage": case_input["userMessage"], **case_input["record"]})
    before = graph_after(StateGraph(), case_input["stateBefore"])
    after = graph_after(before, case_input["stateActions"])
    made = digest_turn(
        record,
        before.snapshot(),
        after.snapshot(),
        SETTINGS,
        errors_new=case_input.get("errorsNew", ()),
        errors_fixed=case_input.get("errorsFixed", ()),
    )
    return peer_digest(made)


def graph_after(graph, actions):
    for action in actions:
        graph = apply_action(graph, action)
    return graph


OPERATIONS = {
    "implicitConstraints": implied,
    "extractPlan": lambda case_input: extract_plan(case_input["assistantMessage"]),
    "extractPlanItems": lambda case_input: plan_items(case_input["planText"]),
    "detectCompletedPlanItems": completed,
    "userIntent": lambda case_input: user_intent(case_input["userMessage"], SETTINGS),
    "toolSummary": lambda case_input: tool_summary(case_input["tools"]),
    "narrative": narrative,
    "extractTurnDigest": digest,
}


# -- where the right answer differs ------------------------------------------------------------------------------------


def corrects_in_passing(case_input):
    return case_input["op"] == "implicitConstraints"


def pairs_of_names(case_input):
    """The original's pattern, a full stop ending only a sentence, and both sides names and not a statement."""
    text = case_input["userMessage"].strip()
    found = re.search(
        r"(\S+\s+)?\bnot\s+([^,]+?),\s*(?:but\s+)?(?:actually\s+)?(.+?)(?:[.!?](?=\s|$)|[;\n]|$)", text, re.IGNORECASE
    )
    if not found:
        return []
    before, out, instead = (found[1] or "").strip().lower(), found[2].strip(), found[3].strip()
    words = [*out.split(), *instead.split()]
    plain = all(re.fullmatch(r"[\w.+#/@:-]+", word) and word.lower() not in STOP_WORDS for word in words)
    short = len(out.split()) <= 3 and len(instead.split()) <= 3
    states = before in {"is", "are", "was", "it's", "that's", "do", "does", "did", "why", "can", "could", "be"}
    return [f"Use {instead}, not {out}"] if plain and short and not states else []
