"""The last exchanges, word for word, within a cap that holds.

Source: PRAANA, "Engine mode" (band 2); PRAANA src/context-engine/engine-compiler.ts; specification A, W8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from workbench.context.records import ToolCallRecord, TurnRecord
from workbench.context.trim import shorten
from workbench.text.tokens import estimate_tokens

HEADING: Final = "# Recent Turns (verbatim)"
NOTHING: Final = "# Recent Turns\n(no recent turns)"
AGENT: Final = "Agent"
CUT: Final = "… [the exchange goes on]"


def compact_json(value: Any) -> str:
    """JSON on one line, as prompts carry arguments."""
    return msgspec.json.encode(value).decode()


def render_turn(record: TurnRecord, agent: str = AGENT) -> str:
    """One exchange: what was said, each call, and its result or where that is kept."""
    lines = [f"### Turn {record.turn}", f"User: {record.user_message}", f"{agent}: {record.assistant_message}"]
    for call in record.tool_calls:
        lines += _call_lines(call)
    return "\n".join(lines)


def render_verbatim(records: Sequence[TurnRecord], cap: int, agent: str = AGENT) -> str:
    """The section of the last exchanges.

    Args:
        records: Oldest first.
        cap: Tokens allowed. Where all together cost more, only the last stays; where that costs more, it is cut.
        agent: The name the agent speaks under.

    Returns:
        The section with its heading.
    """
    if not records:
        return NOTHING
    turns = [render_turn(record, agent) for record in records]
    whole = _section(turns)
    if estimate_tokens(whole) <= cap:
        return whole
    last = _section(turns[-1:])
    return last if estimate_tokens(last) <= cap else shorten(last, cap, CUT)


def _section(turns: Sequence[str]) -> str:
    return "\n\n".join([HEADING, *turns])


def _call_lines(call: ToolCallRecord) -> list[str]:
    lines = [f"Tool call: {call.tool}({compact_json(call.args)})"]
    if call.artifact_id:
        lines.append(f"Result: [artifact: {call.artifact_id}]")
    elif call.result_text is not None:
        lines.append(f"Result: {call.result_text}")
    return lines
