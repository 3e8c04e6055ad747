"""The session checkpoint as it stands in a prompt, within caps that hold.

What does not fit goes from the oldest end, whole lines at a time, and the text says how many are gone. The whole has a
cap too: past it, what can be asked for again goes first.

Source: PRAANA, "Session Checkpoint"; PRAANA src/context-engine/checkpoint.ts; specification A, 18, W20, W21.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from workbench.context.compile import RenderedCheckpoint
from workbench.context.pressure import effective
from workbench.context.prompt import Section, fit, join
from workbench.context.trim import shorten
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.config.context import Checkpoint, Density
    from workbench.context.caps import Caps
    from workbench.context.checkpoint import CheckpointDecision, Plan, SessionCheckpoint
    from workbench.context.records import ActivityEntry, PressureMode

HEADING: Final = "## Session Checkpoint"
TRUNCATED: Final = "…[truncated]"
LEAST_NEEDED: Final = ("activity", "finding", "fixed_error", "narrative", "file", "decision", "open_error", "plan")
"""What goes first where the whole is too long: what can be looked up again before what was agreed."""
SUMMARY_ENTRIES: Final = 5
"""Decisions and activities in the summary a tool gives. Source: PRAANA src/context-engine/checkpoint.ts."""


def render_checkpoint(
    state: SessionCheckpoint,
    mode: PressureMode,
    settings: Checkpoint,
    density: Density,
    caps: Caps | None = None,
) -> RenderedCheckpoint:
    """The checkpoint for one pressure.

    Args:
        state: What is remembered.
        mode: `compact` shows less of findings and activity, `emergency` none of them, nor of what was fixed.
        settings: Caps of the sections and of the whole.
        density: What a token of each section weighs.
        caps: Caps widened or narrowed by the kind of task; those of `settings` unless given.

    Returns:
        The text, at most `settings.total_tokens`, and what it weighs.

    Source: PRAANA src/context-engine/checkpoint.ts, `render`, `estimateEffective`.
    """
    sections = _sections(state, mode, settings, density, caps)
    kept, _ = fit(sections, settings.total_tokens, LEAST_NEEDED)
    return RenderedCheckpoint(join(kept), sum(section.weighted for section in kept))


def context_summary(state: SessionCheckpoint, artifacts: int) -> str:
    """What the tool `context_summary` answers.

    Args:
        state: What is remembered.
        artifacts: How many artifacts the session has.

    Source: PRAANA src/context-engine/checkpoint.ts.
    """
    decisions = state.decisions[-SUMMARY_ENTRIES:]
    parts = [
        ("Active intent", [state.active_request] if state.active_request else []),
        (f"Recent decisions (last {SUMMARY_ENTRIES})", [_dashed(each) for each in decisions]),
        ("Open errors", [f"- {error.message}" for error in state.open_errors()]),
        (f"Recent activity (last {SUMMARY_ENTRIES})", _activity(state.activity[-SUMMARY_ENTRIES:])),
        ("Session stats", [_stats(state, artifacts)]),
    ]
    return "\n\n".join(["## Context Summary", *("\n".join([f"### {name}", *lines]) for name, lines in parts if lines)])


def _sections(
    state: SessionCheckpoint, mode: PressureMode, settings: Checkpoint, density: Density, caps: Caps | None
) -> list[Section]:
    tight, bare = mode == "compact", mode == "emergency"
    narrative_cap = caps.narrative if caps else settings.narrative_tokens
    decisions_cap = caps.decisions if caps else settings.decisions_tokens
    errors_cap = caps.errors if caps else settings.errors_tokens
    findings_cap = settings.findings_compact_tokens if tight else settings.findings_tokens
    shown_activity = state.activity[-settings.activity_compact_entries :] if tight else state.activity
    bodies = [
        ("active_request", "Active Request", _cut(state.active_request, settings.active_request_tokens)),
        ("narrative", "Session narrative", _narrative(state, narrative_cap)),
        ("plan", "Plan", _plan(state, settings.plan_tokens)),
        ("constraint", "Constraints", "\n".join(f"- C{n}: {text}" for n, text in enumerate(state.constraints, 1))),
        ("decision", "Decisions", _newest(_decision_lines(state, settings), decisions_cap)),
        ("file", "Files in play", "\n".join(f"- {file.path} (turn {file.turn})" for file in state.files)),
        ("finding", "Findings", "" if bare else _newest(_finding_lines(state, settings), findings_cap)),
        ("open_error", "Open errors", _newest(_error_lines(state), errors_cap)),
        ("fixed_error", "Fixed errors", "" if bare else "\n".join(_fixed_lines(state))),
        ("activity", "Recent activity", "" if bare else "\n".join(_activity(shown_activity))),
    ]
    shown = [(kind, f"### {name}\n{body}") for kind, name, body in bodies if body]
    return [
        _section("pinned_infra", HEADING, density),
        *(_section(kind, text, density) for kind, text in shown),
    ]


def _section(kind: str, text: str, density: Density) -> Section:
    tokens = estimate_tokens(text)
    return Section(kind, text, tokens, effective(tokens, kind, density))


def _cut(text: str, cap: int) -> str:
    return shorten(text, cap, TRUNCATED)


def _newest(lines: Sequence[str], cap: int) -> str:
    """The last lines that fit, and how many are gone."""
    kept = len(lines)
    while kept > 1 and estimate_tokens(_with_count(lines, kept)) > cap:
        kept -= 1
    return _cut(_with_count(lines, kept), cap)


def _with_count(lines: Sequence[str], kept: int) -> str:
    gone = len(lines) - kept
    return "\n".join([*([f"… {gone} more, older"] if gone else []), *lines[gone:]])


def _narrative(state: SessionCheckpoint, cap: int) -> str:
    entries = [entry.text for entry in state.narrative]
    while len(entries) > 1 and estimate_tokens(" ".join(entries)) > cap:
        entries.pop(0)
    return _cut(" ".join(entries), cap)


def _plan(state: SessionCheckpoint, cap: int) -> str:
    current = state.plan
    if current is None:
        return ""
    first = f"Current (turn {current.turn}): {_one_line(current)}"
    older = [_superseded_line(plan) for plan in state.plans if plan.superseded]
    if not older:
        return _cut(first, cap)
    head = f"{first}\nSuperseded plans:"
    left = cap - estimate_tokens(head + "\n")
    return _cut(f"{head}\n{_newest(older, left)}" if left > 0 else first, cap)


def _one_line(plan: Plan) -> str:
    return plan.text.replace("\n", "; ")


def _superseded_line(plan: Plan) -> str:
    done = f" — completed: {', '.join(plan.completed)}" if plan.completed else ""
    return f"- [turn {plan.turn}] {_one_line(plan)}{done}"


def _decision_lines(state: SessionCheckpoint, settings: Checkpoint) -> list[str]:
    shown = state.decisions[-settings.decisions_shown :]
    return [
        f"- D{number} [turn {each.turn}]: {each.summary}{_reason(each, settings.rationale_chars)}"
        for number, each in enumerate(shown, 1)
    ]


def _reason(decision: CheckpointDecision, most: int) -> str:
    reason = decision.rationale
    if not reason:
        return ""
    text = reason if len(reason) <= most else reason[: most - 1] + "…"
    return f" — {text}" if decision.compact else f" (rationale: {text})"


def _finding_lines(state: SessionCheckpoint, settings: Checkpoint) -> list[str]:
    return [
        f"- F{number} [turn {each.turn}]: {each.summary}{f' ({each.artifact_ref})' if each.artifact_ref else ''}"
        for number, each in enumerate(state.findings[-settings.findings_shown :], 1)
    ]


def _error_lines(state: SessionCheckpoint) -> list[str]:
    return [f"- [turn {error.turn}] {error.message}" for error in state.open_errors()]


def _fixed_lines(state: SessionCheckpoint) -> list[str]:
    return [f"- [turn {error.fixed_turn}] {error.message}" for error in state.fixed_errors()]


def _activity(entries: Iterable[ActivityEntry]) -> list[str]:
    return [f"- [turn {entry.turn}] {entry.summary}" for entry in entries]


def _dashed(decision: CheckpointDecision) -> str:
    return f"- {decision.summary} — {decision.rationale}" if decision.rationale else f"- {decision.summary}"


def _stats(state: SessionCheckpoint, artifacts: int) -> str:
    counts = {
        "turns": state.last_reconciled_turn + 1,
        "artifacts": artifacts,
        "open errors": len(state.open_errors()),
        "fixed errors": len(state.fixed_errors()),
    }
    return ", ".join(f"{name}: {count}" for name, count in counts.items())
