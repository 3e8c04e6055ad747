"""The card that stands in the prompt for a tool's output.

Source: PRAANA, "Artifacts"; PRAANA src/context-engine/artifact-store.ts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

ARTIFACT_PREFIX: Final = "art_"
ARTIFACT_ID_DIGITS: Final = 12
"""Hex digits of the content's hash in an artifact's short id. Source: PRAANA src/context-engine/artifact-store.ts."""


def short_id(sha256: str) -> str:
    """The name of an artifact in prompts: `art_` and the first digits of its content's hash."""
    return ARTIFACT_PREFIX + sha256[:ARTIFACT_ID_DIGITS]


def command_of(args: Mapping[str, Any]) -> str | None:
    """What a call was about: its command, else its path, else its query.

    Source: PRAANA src/turn.ts.
    """
    return next((value for name in ("command", "path", "query") if isinstance(value := args.get(name), str)), None)


def card(artifact_id: str, tool: str, command: str | None, raw_tokens: int, summary: str) -> str:
    """The card of one artifact: what it is, its distilled text, and how to get the whole.

    Source: PRAANA, "Artifacts".
    """
    about = f"{tool}: {command}" if command else tool
    return (
        f"[artifact: {artifact_id} | {about} | {raw_tokens:,} tokens raw]\n"
        f'{summary}\nRetrieve: retrieve_artifact("{artifact_id}")'
    )
