"""One session as a Markdown document that any viewer shows as it was meant, whatever the transcript holds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

RESULT_CHARACTERS: Final = 2_000
"""A longer result is cut; the whole text is in `tool_calls.result`."""

Row = Mapping[str, Any]


def fence(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in the text."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def code(text: str) -> str:
    """Text in a line, as code."""
    flat = " ".join(text.split())
    ticks = "`" * (max(map(len, re.findall(r"`+", flat)), default=0) + 1)
    pad = " " if flat[:1] == "`" or flat[-1:] == "`" else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def session_markdown(session: Row, turns: Sequence[Row], tool_calls: Sequence[Row]) -> str:
    """A session as a document: facts, then every turn of the main chain with its calls, then what sub-agents did.

    Args:
        session: The row of `sessions`.
        turns: Its rows of `turns`, by sequence number.
        tool_calls: Its rows of `tool_calls`, by seq.

    Returns:
        Markdown; times in UTC.
    """
    calls: dict[str | None, list[Row]] = defaultdict(list)
    for call in tool_calls:
        calls[call["message_id"]].append(call)
    main = [turn for turn in turns if not turn["is_sidechain"]]
    side = [turn for turn in turns if turn["is_sidechain"]]
    parts = [f"# {_heading(session['title'] or session['session_id'])}", _facts(session)]
    parts += [_turn(turn, calls, "##") for turn in main]
    agents = list(dict.fromkeys(turn["agent_id"] for turn in side))
    for agent_id in agents:
        parts.append(f"## Sub-agent {code(agent_id or 'unnamed')}")
        parts += [_turn(turn, calls, "###") for turn in side if turn["agent_id"] == agent_id]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(text.split()))


def _facts(session: Row) -> str:
    facts = (
        ("session", session["session_id"]),
        ("agent", " ".join(filter(None, (session["agent"], session["agent_version"])))),
        ("models", ", ".join(session["models"] or ())),
        ("folder", session["cwd"]),
        ("started", session["started_at"] and f"{session['started_at']:%Y-%m-%d %H:%M:%S} UTC"),
        ("prompts", session["prompts"]),
        ("responses", session["responses"]),
        ("tool calls", session["tool_calls"]),
        ("failed", session["tool_errors"]),
        ("output tokens", session["output_tokens"]),
    )
    return "\n".join(f"- {name}: {code(str(value))}" for name, value in facts if value not in (None, ""))


def _turn(turn: Row, calls: Mapping[str | None, Sequence[Row]], level: str) -> str:
    at = f", {turn['occurred_at']:%H:%M:%S}" if turn["occurred_at"] else ""
    if turn["role"] == "user":
        who = f"{level} Prompt {turn['turn']}{at}"
        pictures = f"\n\n*{turn['images']} pictures*" if turn["images"] else ""
        return f"{who}\n\n{_quote(turn['text'])}{pictures}"
    own = calls.get(turn["message_id"], ()) if turn["message_id"] else ()
    said = [f"{level} Response{at}", turn["text"].strip()]
    return "\n\n".join([part for part in said if part] + [_call(call) for call in own])


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _call(call: Row) -> str:
    about = call["command"] or call["file_path"] or call["input"]
    head = f"**{_heading(call['tool'])}** {code(about[:300])} ({call['status']})"
    result = call["result"]
    if not result:
        return head
    cut = result[:RESULT_CHARACTERS]
    note = f"\n\n*{len(result) - len(cut):,} more characters*" if len(cut) < len(result) else ""
    return f"{head}\n\n{fence(cut)}{note}"
