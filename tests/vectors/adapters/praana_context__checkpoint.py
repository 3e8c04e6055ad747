"""The session checkpoint: folding, rebuilding, older forms, rendering, weights."""

from __future__ import annotations

import copy
import math
import re

from workbench.config.context import Checkpoint, ContextEngine, Density, Digest
from workbench.context.caps import Caps
from workbench.context.checkpoint import SessionCheckpoint, normalise, rebuild, reconcile
from workbench.context.checkpoint_text import context_summary, render_checkpoint
from workbench.text.tokens import estimate_tokens

from ._praana_context_records import activity_of, digest_of, error_of, peer_activity, present

SETTINGS, LENGTHS, DENSITY = Checkpoint(), Digest(), Density()
MODES = ("normal", "compact", "emergency")


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


def folded(case_input):
    state, states = SessionCheckpoint(), []
    for step in case_input["steps"]:
        draft = step["draft"]
        state = reconcile(
            state,
            digest_of(step["digest"]),
            [error_of(error) for error in draft["openErrors"]],
            [activity_of(entry) for entry in draft["recentActivity"]],
            SETTINGS,
            LENGTHS,
        )
        states.append(peer_state(state))
    rendered = {mode: rendered_as(state, mode) for mode in MODES}
    estimates = {mode: estimate(state, mode) for mode in MODES}
    given = case_input["budgets"]
    caps = Caps(0, 0, 0, given["narrativeTokens"], given["decisionsTokens"], given["errorsTokens"])
    rendered["budgeted"] = render_checkpoint(state, "normal", SETTINGS, DENSITY, caps).text
    estimates["budgeted"] = estimate(state, "normal", caps)
    return {
        "states": states,
        "rendered": rendered,
        "estimate": estimates,
        "summary": context_summary(state, case_input["artifactCount"]),
    }


def rendered_as(state, mode):
    return render_checkpoint(state, mode, SETTINGS, DENSITY).text


def estimate(state, mode, caps=None):
    """The original counts the heading and each section by itself."""
    rendered = render_checkpoint(state, mode, SETTINGS, DENSITY, caps)
    parts = re.split(r"\n\n(?=### )", rendered.text)
    return {"raw": sum(map(estimate_tokens, parts)), "effective": rendered.weighted}


def replayed(case_input):
    activity = [activity_of(entry) for entry in case_input["activity"]]
    digests = [digest_of(digest) for digest in case_input["digests"]]
    return peer_state(rebuild(digests, activity, SETTINGS, LENGTHS, ContextEngine().activity_log_max_entries))


def render(case_input):
    state = state_of(case_input["state"])
    return {
        "text": rendered_as(state, "normal"),
        "emergency": rendered_as(state, "emergency"),
        "estimate": estimate(state, "normal"),
        "summary": context_summary(state, 0),
    }


def state_of(given):
    return normalise(snake(given))


def snake(value):
    if isinstance(value, dict):
        return {
            re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), name): snake(each) for name, each in value.items()
        }
    return [snake(each) for each in value] if isinstance(value, list) else value


OPERATIONS = {
    "reconcile": folded,
    "replayFromDigests": replayed,
    "normalizeState": lambda case_input: peer_state(state_of(case_input["raw"])),
    "render": render,
}


def peer_state(state):
    return {
        "activeRequest": state.active_request,
        "plans": [peer_plan(plan) for plan in state.plans],
        "constraints": list(state.constraints),
        "decisions": [
            present({"summary": d.summary, "rationale": d.rationale, "turn": d.turn, "compact": d.compact})
            for d in state.decisions
        ],
        "files": [{"path": file.path, "turn": file.turn} for file in state.files],
        "findings": [
            present({"summary": f.summary, "artifactRef": f.artifact_ref, "turn": f.turn}) for f in state.findings
        ],
        "errors": [
            present({"key": e.key, "message": e.message, "turn": e.turn, "fixed": e.fixed, "fixedTurn": e.fixed_turn})
            for e in state.errors
        ],
        "questions": [],
        "activity": [peer_activity(entry) for entry in state.activity],
        "narrative": [{"turn": entry.turn, "text": entry.text} for entry in state.narrative],
        "lastReconciledTurn": state.last_reconciled_turn,
    }


def peer_plan(plan):
    shown = {"text": plan.text, "turn": plan.turn, "superseded": plan.superseded}
    shown["supersededTurn"] = plan.superseded_turn
    shown["completed"] = list(plan.completed) or None
    return present(shown)


def compare(actual, expected):
    """A mark that is false may be absent in a state that was only read."""
    assert marked(actual) == marked(expected)


def marked(value):
    if isinstance(value, dict):
        return {name: marked(each) for name, each in value.items() if not (name == "compact" and each is False)}
    if isinstance(value, float):
        return round(value, 9)
    return [marked(each) for each in value] if isinstance(value, list) else value


# -- where the right answer differs ------------------------------------------------------------------------------------


def has_a_long_request(case_input):
    return len(case_input.get("state", {}).get("activeRequest", "")) > 4 * SETTINGS.active_request_tokens


def cut_at_its_tokens(case_input):
    """A request of one line, cut so that it costs at most its cap with the mark (ASCII: a quarter token each)."""
    request = case_input["state"]["activeRequest"]
    mark = "\n…[truncated]"
    kept = max(n for n in range(len(request)) if math.ceil((n + len(mark)) / 4) <= SETTINGS.active_request_tokens)
    text = f"## Session Checkpoint\n\n### Active Request\n{request[:kept]}{mark}"
    tokens = 6 + math.ceil((len("### Active Request\n") + kept + len(mark)) / 4)
    rest = copy.deepcopy(case_input["state"]) | {"activeRequest": ""}
    assert not any(rest.values()), "a request alone"
    return {
        "text": text,
        "emergency": text,
        "estimate": {"raw": tokens, "effective": tokens},
        "summary": f"## Context Summary\n\n### Active intent\n{request}\n\n### Session stats\n"
        "turns: 0, artifacts: 0, open errors: 0, fixed errors: 0",
    }
