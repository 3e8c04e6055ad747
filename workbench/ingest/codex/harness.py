"""Who typed it: in this format the role `user` names a channel, not a person.

Directory and instructions, the marks of stopped turns, notices of sub-agents and what an editor adds all come as
`user`. Each block of the harness is a text of its own in one pair of tags.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TAGS: Final = (
    "environment_context|user_instructions|instructions|permissions instructions|collaboration_mode|personality_spec|"
    "model_switch|apps_instructions|plugins_instructions|recommended_plugins|skills_instructions|skill|hook_prompt|"
    "goal_context|turn_aborted|user_shell_command|user_action|subagent_notification|multi_agent_mode|token_budget|"
    "app-context|realtime_conversation|heartbeat|current_time"
)
_BLOCK: Final = re.compile(rf"\s*<({_TAGS})(?:\s[^>]*)?>.*</\1>\s*\Z", re.DOTALL | re.IGNORECASE)
_AGENTS_FILE: Final = "# AGENTS.md instructions for "
_EDITOR: Final = "# Context from my IDE setup:"
_REQUEST: Final = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)
_PICTURE_TAG: Final = re.compile(r"\s*</?image(?:\s[^>]*)?>\s*\Z")
_DIRECTORY: Final = re.compile(r"<cwd>([^<]*)</cwd>|^Current working directory: ([^\n]*)$", re.MULTILINE)


class Typed(NamedTuple):
    """What a text of role `user` is: the kind of note that it is or begins with, if any, and a person's words."""

    note: str | None
    words: str


def typed_by_person(text: str) -> Typed:
    """Tell a person's words from the harness's."""
    if text.startswith(_AGENTS_FILE):
        return Typed("user_instructions", "")
    if text.startswith(_EDITOR):
        request = _REQUEST.search(text)
        return Typed("ide_context", text[request.end() :].strip() if request else "")
    if not text.lstrip().startswith("<"):
        return Typed(None, text.strip())
    if _PICTURE_TAG.match(text):
        return Typed(None, "")
    block = _BLOCK.match(text)
    return Typed(block[1].lower().replace(" ", "_"), "") if block else Typed(None, text.strip())


def directory(text: str) -> str | None:
    """The working directory that a block of the harness names; in older files it stands nowhere else."""
    found = _DIRECTORY.search(text)
    return (found[1] or found[2] or "").strip() or None if found else None
