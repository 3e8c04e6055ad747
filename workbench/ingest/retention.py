"""How long agents keep their own transcripts, as they document it and as their settings say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

DEFAULT_DAYS: Final = 30.0
"""Claude Code, `cleanupPeriodDays` (code.claude.com, settings); Gemini CLI, `general.sessionRetention.maxAge`
(geminicli.com, session management): 30 days each."""

_SPAN: Final = re.compile(r"(\d+)([hdwm])")
_DAYS: Final = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}


class Retention(NamedTuple):
    """How long an agent keeps a file of one folder.

    Attributes:
        agent: Its name.
        days: Days after the last change until it deletes a file; None where it deletes none by itself, as far as known.
        told_by: Where that is from: a file, or `default`.
    """

    agent: str
    days: float | None
    told_by: str


def retention_of(folder: Path) -> Retention:
    """The retention that holds for a folder of `discover.agent_folders`.

    Codex, pi and PRAANA document no deletion of their own.
    """
    settings = folder.parent / "settings.json"
    if folder.name == "projects":
        return _claude_code(settings)
    if folder.parent.name == ".gemini":
        return _gemini(settings)
    agents = {"archived_sessions": "codex", ".pi": "pi", ".praana": "praana"}
    named = [agents[part] for part in folder.parts if part in agents]
    return Retention(named[-1] if named else "codex", None, "default")


def _claude_code(settings: Path) -> Retention:
    days = _read(settings).get("cleanupPeriodDays")
    if isinstance(days, int | float) and not isinstance(days, bool) and days >= 1:  # it refuses anything below
        return Retention("claude-code", float(days), str(settings))
    return Retention("claude-code", DEFAULT_DAYS, "default")


def _gemini(settings: Path) -> Retention:
    general = _read(settings).get("general")
    told = general.get("sessionRetention") if isinstance(general, dict) else None
    if not isinstance(told, dict):
        return Retention("gemini-cli", DEFAULT_DAYS, "default")
    if told.get("enabled") is False:
        return Retention("gemini-cli", None, str(settings))
    span = _SPAN.fullmatch(str(told.get("maxAge")))
    if span is None:
        return Retention("gemini-cli", DEFAULT_DAYS, "default")
    return Retention("gemini-cli", int(span[1]) * _DAYS[span[2]], str(settings))


def _read(settings: Path) -> dict[str, Any]:
    """An agent's settings; empty where there are none or they cannot be parsed, as the agents take it."""
    try:
        told = msgspec.json.decode(settings.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
