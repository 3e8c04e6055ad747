"""The fixed beginning of a prompt. Nothing in it changes from turn to turn, so that a provider can cache it.

Source: PRAANA, "Engine mode" (band 1) and "Classic mode"; specification A, 9, W7 (the time stands at the end instead).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from workbench.context.trim import trim_project_context


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """What the beginning of a prompt is made of.

    Attributes:
        session_id: The session.
        cwd: Where the agent works.
        project_context: The project's own instructions (AGENTS.md), if any.
        tools: One line a tool.
        skills: The catalog of skills, as text.
        patterns: How work of this kind went before, as text.
        memory: What is remembered from other sessions, as text.
        project_cap: Tokens allowed for `project_context`; 0 is no cap.
    """

    session_id: str = ""
    cwd: str = ""
    project_context: str | None = None
    tools: Sequence[str] = ()
    skills: str = ""
    patterns: str = ""
    memory: str = ""
    project_cap: int = 0


_EVIDENCE = """## Evidence first
- Look before you claim: read the file, run the command, quote what it said.
- Say what you did not check.
- Ask retrieve_artifact for the whole of a shortened result before you rely on a detail of it."""

_CAPTURE = """## What to keep
- When the person corrects you or states a preference, record it with add_constraint or add_note at once.
- Record a decision with its reason when you take one.
- Notes are for what will matter later, not a log of what you did."""

_SAFETY = """## Tools
- Change files or state outside the project only when the message of this turn asks for it."""


def engine_frame(frame: Frame) -> str:
    """The beginning of a prompt of the context engine.

    Source: PRAANA src/context-engine/engine-compiler.ts, system frame.
    """
    return "\n\n".join([_about(frame), *_project(frame), *_tools(frame), _EVIDENCE, _CAPTURE, _SAFETY])


def classic_frame(frame: Frame) -> str:
    """The beginning of a classic prompt: no working memory, and skills are loaded by name.

    Source: PRAANA src/compile-classic.ts; specification A, D7.
    """
    skills = ["Load a skill with load_skill when one fits the task."] if frame.skills else []
    return "\n\n".join([_about(frame), *_project(frame), *_tools(frame), *skills, _SAFETY])


def now_line(moment: datetime | None) -> str:
    """The time, for the end of a prompt; empty without one."""
    return f"Now: {moment.isoformat(timespec='minutes')}" if moment else ""


def _about(frame: Frame) -> str:
    facts = [("Working directory", frame.cwd), ("Session", frame.session_id)]
    known = [f"{name}: {value}" for name, value in facts if value]
    return "\n".join(["# System", "You are a coding agent. Work with the person until the task is done.", *known])


def _project(frame: Frame) -> list[str]:
    text, _ = trim_project_context(frame.project_context, frame.project_cap)
    return [f"## Project\n{text}"] if text else []


def _tools(frame: Frame) -> list[str]:
    return ["## Available tools\n" + "\n".join(f"- {tool}" for tool in frame.tools)] if frame.tools else []
