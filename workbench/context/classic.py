"""The classic prompt: everything that was said and done, nothing cut. Over-full is a state that is reported.

Source: PRAANA, "Classic mode"; PRAANA src/compile-classic.ts; specification A, 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import msgspec

from workbench.context.frame import Frame, classic_frame
from workbench.context.pressure import pressure_ratio, usable_budget
from workbench.context.prompt import JOINT, Section, join, make_section
from workbench.context.verbatim import AGENT, compact_json
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.config.context import Compiler, Density

HEADING: Final = "# Conversation History"
_HIDDEN: Final = frozenset({"context_action", "system_note", "ui_transcript"})


class Told(Protocol):
    """What the history needs of an event."""

    @property
    def kind(self) -> str:
        """Kind of the event."""

    @property
    def payload(self) -> dict[str, Any]:
        """Its content."""


class Said(NamedTuple):
    """An event as far as the history needs it, where there is no event."""

    kind: str
    payload: dict[str, Any]


class ClassicPrompt(msgspec.Struct, frozen=True):
    """The prompt and how full the window is; `raw_tokens` may exceed `usable`."""

    text: str
    sections: Sequence[Section]
    raw_tokens: int
    usable: int
    pressure: float

    @property
    def is_over_full(self) -> bool:
        """Whether it does not fit."""
        return self.raw_tokens > self.usable


def compile_classic(
    events: Sequence[Told],
    user_input: str,
    frame: Frame,
    compiler: Compiler,
    density: Density,
    *,
    window: int,
    agent: str = AGENT,
) -> ClassicPrompt:
    """Make the classic prompt.

    Args:
        events: The session so far.
        user_input: What the person asks now.
        frame: What the beginning is made of.
        compiler: Token budgets.
        density: For the sections' weights; a classic prompt is measured raw.
        window: Context window of the model in tokens.
        agent: The name the agent speaks under.

    Source: PRAANA src/compile-classic.ts.
    """
    usable = usable_budget(compiler.token_budget, window, compiler.reserved_output_tokens)
    history = classic_history(events, user_input, agent=agent)
    current = f"## Current Input{JOINT}User: {user_input}" if user_input else ""
    sections = [
        make_section("frame", classic_frame(frame), density.pinned_infra),
        make_section("skills", frame.skills, density.pinned_infra),
        make_section("memory", frame.memory, density.memory_digest),
        make_section("history", history, density.verbatim_turn),
        make_section("input", current, density.active_request),
    ]
    text = join(sections)
    raw = estimate_tokens(text)
    return ClassicPrompt(text, sections, raw, usable, pressure_ratio(raw, usable))


def classic_history(events: Iterable[Told], user_input: str | None = None, *, agent: str = AGENT) -> str:
    """All that was said and done, oldest first; a last message that is the input itself is left out.

    Source: PRAANA src/compile-classic.ts.
    """
    given = list(events)
    told = [event for event in given if event.kind not in _HIDDEN]
    last = told[-1] if told else None
    if last is not None and last.kind == "user_message" and last.payload.get("text") == user_input:
        told = told[:-1]
    tools = {
        event.payload.get("tool_call_id"): event.payload.get("tool") for event in told if event.kind == "tool_call"
    }
    lines = [line for event in told for line in history_lines(event, agent, tools)]
    return "\n".join([HEADING, *(lines if given else ["(no prior turns)"])])


def history_lines(event: Told, agent: str, tools: Mapping[Any, Any]) -> list[str]:
    """What the history says of one event.

    Args:
        event: The event.
        agent: The name the agent speaks under.
        tools: Name of the tool by the id of a call, for results that do not name it.
    """
    payload = event.payload
    match event.kind:
        case "user_message":
            return [f"User: {payload.get('text', '')}"]
        case "agent_message":
            return [f"{agent}: {payload['text']}"] if payload.get("text") else []
        case "tool_call":
            return [f"Tool call: {payload.get('tool')}({compact_json(payload.get('args', {}))})"]
        case "tool_result":
            result = payload.get("result")
            text = result if isinstance(result, str) else compact_json(result)
            return [f"Result ({payload.get('tool') or tools.get(payload.get('tool_call_id'))}): {text}"]
        case _:
            return []
