"""Exchanges: a prompt and all that followed until the next, as one row (PRAANA's turn record)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from workbench.events import Event
from workbench.ingest.derive.tool_calls import ToolCall
from workbench.ingest.derive.turns import Turn
from workbench.ingest.derive.usage import ModelCall, total_tokens

READ_TOOLS: Final = frozenset(
    ("Read", "NotebookRead", "read", "read_file", "ReadFile", "view", "view_image", "open_file", "open")
)
WRITE_TOOLS: Final = frozenset(
    (
        "Write",
        "Edit",
        "MultiEdit",
        "NotebookEdit",
        "write",
        "edit",
        "write_file",
        "edit_file",
        "replace",
        "create",
        "apply_patch",
    )
)
"""Names of file tools: Claude Code, PRAANA, pi, Gemini CLI, Codex, SWE-agent."""

Row = tuple[Any, ...]


def time_span(events: Iterable[Event]) -> tuple[datetime | None, datetime | None, int | None]:
    """Oldest and newest time and the milliseconds between: never negative, whatever the clocks did."""
    times = [event.occurred_at for event in events if event.occurred_at is not None]
    if not times:
        return None, None, None
    start, end = min(times), max(times)
    return start, end, round((end - start).total_seconds() * 1000)


def exchange_rows(
    events: Sequence[Event], turns: Sequence[Turn], calls: Sequence[ToolCall], usage: Sequence[ModelCall]
) -> list[Row]:
    """Rows of `turn_records`, in the order of its columns; what came before the first prompt is no exchange."""
    by_turn: dict[int, list[Event]] = defaultdict(list)
    turns_of: dict[int, list[Turn]] = defaultdict(list)
    calls_of: dict[int, list[ToolCall]] = defaultdict(list)
    usage_of: dict[int, list[ModelCall]] = defaultdict(list)
    for event in events:
        by_turn[event.turn].append(event)
    for turn in turns:
        turns_of[turn.first.turn].append(turn)
    for call in calls:
        calls_of[call.turn].append(call)
    for model_call in usage:
        usage_of[model_call.turn].append(model_call)
    interrupted = {event.turn for event in events if event.kind == "system_note" and is_interrupt(event)}
    compacted = {event.turn for event in events if event.kind == "compaction" and is_compaction(event)}
    return [
        (
            by_turn[number][0].session_id,
            number,
            *_texts(turns_of[number]),
            *time_span(by_turn[number]),
            *_counts(turns_of[number], calls_of[number]),
            number in interrupted,
            number in compacted,
            *total_tokens(usage_of[number]),
        )
        for number in sorted(by_turn)
        if number > 0
    ]


def _texts(turns: list[Turn]) -> tuple[str, str]:
    """The prompt, and the last that the agent said to the person."""
    main = [turn for turn in turns if not turn.first.is_sidechain]
    asked = next((turn.text for turn in main if turn.role == "user"), "")
    return asked, next((turn.text for turn in reversed(main) if turn.role == "assistant" and turn.texts), "")


def _counts(turns: list[Turn], calls: list[ToolCall]) -> tuple[int, int, int, list[str], list[str], list[str]]:
    """Responses of the main chain, calls, failed calls, files read, files written, first lines of errors."""
    responses = [turn for turn in turns if turn.role == "assistant" and not turn.first.is_sidechain]
    if not calls:
        return len(responses), 0, 0, [], [], []
    failed = [call for call in calls if call.is_error]
    files = [call for call in calls if call.file_path]
    errors = [first_line(call.result or "") for call in failed]
    return len(responses), len(calls), len(failed), _files(files, READ_TOOLS), _files(files, WRITE_TOOLS), errors


def _files(calls: Sequence[ToolCall], tools: frozenset[str]) -> list[str]:
    return list(dict.fromkeys(call.file_path for call in calls if call.tool in tools and call.file_path))


def first_line(text: str, length: int = 200) -> str:
    """The first line that says something, cut at `length` characters."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= length else line[: length - 1] + "…"


def is_interrupt(event: Event) -> bool:
    """Whether a person stopped the agent here."""
    return event.kind == "system_note" and event.payload.get("type") == "turn_interrupted"


def is_compaction(event: Event) -> bool:
    """Whether the history was replaced by a summary here; the summary that follows the mark is not counted again."""
    return event.kind == "compaction" and event.payload.get("type") != "summary"
