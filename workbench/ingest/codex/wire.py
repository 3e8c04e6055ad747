"""The shapes of lines: with an envelope or bare, and the types that are known."""

from __future__ import annotations

import re
from typing import Any, Final

from workbench.ingest.codex import items
from workbench.ingest.objects import Fields, first_objects

ENVELOPES: Final = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
OTHER_ENVELOPES: Final = frozenset(
    (
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "realtime_item",
        "retained_context",
        "security_risk_score",
        "world_state",
    )
)
_BARE_ITEMS: Final = frozenset(("message", "reasoning", *items.CALLS, *items.OUTPUTS))

TURN_MARKS: Final = frozenset(("task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted"))
EVENT_NOTES: Final = frozenset(
    (
        *TURN_MARKS,
        "agent_reasoning_section_break",
        "background_event",
        "context_compacted",
        "deprecation_notice",
        "entered_review_mode",
        "error",
        "exited_review_mode",
        "guardian_assessment",
        "guardian_warning",
        "injected_message",
        "model_reroute",
        "model_verification",
        "plan_update",
        "session_configured",
        "shutdown_complete",
        "stream_error",
        "stream_info",
        "sub_agent_activity",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "turn_diff",
        "undo_completed",
        "undo_started",
        "warning",
    )
)
ITEM_EVENTS: Final = ("item_completed", "item_started")
SHOWN: Final = re.compile(
    r"(?:exec_command|mcp_tool_call|patch_apply|web_search|image_generation|view_image_tool_call|dynamic_tool_call|"
    r"collab_\w+)(?:_begin|_end|_request|_response|_updated)?\Z"
)
"""What the person was shown of a call; the model's item tells the same and is the result."""
LONG: Final = ("aggregated_output", "changes", "formatted_output", "result", "stderr", "stdout", "unified_diff")
"""Fields of such events that repeat an output."""
INSTRUCTIONS: Final = (
    "base_instructions",
    "developer_instructions",
    "dynamic_tools",
    "instructions",
    "user_instructions",
)
"""Prompts of the harness, long and the same again and again; they stay in the archive."""


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is a rollout: an enveloped record, or a header and items without envelope."""
    if not name.endswith(".jsonl"):
        return False
    found = list(first_objects(head, 10))
    types = [str(each.get("type")) for each in found]
    if any(
        kind in ENVELOPES and isinstance(each.get("payload"), dict) for kind, each in zip(types, found, strict=True)
    ):
        return True
    if not found or not _is_bare_header(found[0]):
        return False
    return len(found) == 1 or found[1].get("record_type") == "state" or types[1] in _BARE_ITEMS


def _is_bare_header(found: dict[str, Any]) -> bool:
    return (
        "type" not in found
        and isinstance(found.get("id"), str)
        and isinstance(found.get("timestamp"), str)
        and "instructions" in found
    )


def unwrapped(line: Fields) -> tuple[str, Fields]:
    """Type and payload of a line; a bare item of older files is its own payload."""
    kind = line.text("type")
    if isinstance(line.value.get("payload"), dict):
        return kind or "", line.inner("payload")
    if kind is None:
        return ("session_meta" if "id" in line.value else str(line.value.get("record_type"))), line
    return ("response_item" if kind in _BARE_ITEMS else kind), line
