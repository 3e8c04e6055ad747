"""State objects as they stand in a prompt.

Source: PRAANA src/compiler.ts, state rendering; specification A, 3.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from workbench.context.records import STATE_KINDS

if TYPE_CHECKING:
    from workbench.context.records import StateKind, StateObject
    from workbench.context.state import StateGraph

STUB_CHARS: Final = 80
"""Characters of an object's stub. Source: PRAANA src/state-graph.ts."""
_HEADINGS: Final = {"task": "Tasks", "decision": "Decisions", "constraint": "Constraints", "note": "Notes"}


def render_active(graph: StateGraph) -> str:
    """The active state, by kind in the order in which the kinds appear."""
    active = graph.active()
    if not active:
        return "# Active State\n\nNo active state."
    kinds: dict[StateKind, list[str]] = {}
    for each in active:
        kinds.setdefault(each.kind, []).extend(_whole(each))
    parts = ("\n".join([f"## {_HEADINGS[kind]}", *lines]) for kind, lines in kinds.items())
    return "\n\n".join(["# Active State", *parts])


def render_peripheral(graph: StateGraph) -> str:
    """Soft objects as stubs, hard ones as names, and how to bring them back; empty where there are none."""
    lines = [_stub_line(each) for each in graph.peripheral()]
    if not lines:
        return ""
    hint = "Use hydrate('<id>') to bring any of these into active memory."
    return "\n".join(["# Peripheral Memory", *lines, "", hint])


def status_line(graph: StateGraph) -> str:
    """What there is, by kind."""
    counts = Counter(each.kind for each in graph.active())
    told = [f"{counts[kind]} {kind}(s)" for kind in STATE_KINDS if counts[kind]]
    peripheral = len(graph.peripheral())
    if peripheral:
        told.append(f"{peripheral} in peripheral memory")
    if not told:
        return "No working memory objects yet."
    return f"You have {', '.join(told)}. Use soft_unload/hard_unload to demote and hydrate to restore."


def summary_of(each: StateObject) -> str:
    """One line about an object, for lists."""
    payload = each.payload
    if each.kind == "task":
        return f"{payload.get('status', 'todo')}: {payload.get('title', '')}"
    return str(payload.get("summary", "")) if each.kind == "decision" else _cut(str(payload.get("text", "")))


def _whole(each: StateObject) -> list[str]:
    payload, tag = each.payload, " [FOCUS]" if each.focused else ""
    if each.kind == "task":
        lines = [f"- {each.id}{tag} [{payload.get('status', 'todo')}] {payload.get('title', '')}"]
        return [*lines, f"  {payload['description']}"] if payload.get("description") else lines
    if each.kind == "decision":
        lines = [f"- {each.id}{tag} {payload.get('summary', '')}"]
        return [*lines, f"  Rationale: {payload['rationale']}"] if payload.get("rationale") else lines
    return [f"- {each.id}{tag} {payload.get('text', '')}"]


def _stub_line(each: StateObject) -> str:
    name = f"- {each.id} [{each.kind}]"
    if each.state_tier == "hard":
        return name
    payload = each.payload
    return f"{name}: {_cut(str(payload.get('title') or payload.get('summary') or payload.get('text', '')))}"


def _cut(text: str) -> str:
    return text if len(text) <= STUB_CHARS else text[:STUB_CHARS] + "..."
