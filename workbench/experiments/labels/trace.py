"""A recorded session and its pools as frames that rules can be joined over.

Model calls are counted through the session from 1 (`step`). A *moment* is what is scored: a model call, or an exchange.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

if TYPE_CHECKING:
    from workbench.context.records import ContextUnit
    from workbench.experiments.recorded import RecordedCall, RecordedExchange, RecordedSession

Schema = dict[str, type[pl.DataType] | pl.DataType]

END_OF_FILE: Final = 1 << 40
"""Last line of a read that names none."""

_FILE_TOOLS: Final = frozenset({"read_file", "write_file", "edit_file"})

CALLS: Final[Schema] = {
    "call": pl.Int64,
    "step": pl.Int64,
    "turn": pl.Int64,
    "tool": pl.String,
    "path": pl.String,
    "first": pl.Int64,
    "last": pl.Int64,
    "command": pl.String,
    "is_error": pl.Boolean,
    "call_id": pl.String,
    "words": pl.String,
    "result": pl.String,
}
STEPS: Final[Schema] = {"step": pl.Int64, "turn": pl.Int64, "text": pl.String}
TURNS: Final[Schema] = {"turn": pl.Int64, "message": pl.String, "answer": pl.String, "last_step": pl.Int64}
UNITS: Final[Schema] = {
    "unit": pl.Int64,
    "unit_id": pl.String,
    "type": pl.String,
    "turn": pl.Int64,
    "card": pl.String,
    "call_ids": pl.List(pl.String),
}


@dataclass(frozen=True, slots=True)
class Trace:
    """A session as frames.

    Attributes:
        calls: One row a tool call: `call` (place in the session), `step`, `turn`, `tool` (our word), `path` (absolute
            where the session's folder is known), lines `first` to `last` of a read, `command`, `is_error`, `call_id`,
            `words` (its arguments as plain text), `result`.
        steps: One row a model call: `step`, `turn`, `text`.
        turns: One row an exchange: `turn`, `message`, `answer`, `last_step`.
    """

    calls: pl.DataFrame
    steps: pl.DataFrame
    turns: pl.DataFrame


def trace_session(session: RecordedSession) -> Trace:
    """Lay out a recorded session; tools of any agent are in our words already."""
    calls: list[tuple[Any, ...]] = []
    steps: list[tuple[Any, ...]] = []
    turns: list[tuple[Any, ...]] = []
    for exchange in session.exchanges:
        for step in exchange.steps:
            steps.append((len(steps) + 1, exchange.turn, step.text))
            calls += [(len(steps), exchange.turn, *_call(call, session.cwd)) for call in step.calls]
        turns.append((exchange.turn, exchange.user_text, exchange.answer, len(steps)))
    return Trace(
        pl.DataFrame([(place, *row) for place, row in enumerate(calls)], schema=CALLS, orient="row"),
        pl.DataFrame(steps, schema=STEPS, orient="row"),
        pl.DataFrame(turns, schema=TURNS, orient="row"),
    )


def units_frame(units: Sequence[ContextUnit]) -> pl.DataFrame:
    """The units of a pool with their places."""
    rows = [
        (place, unit.id, unit.type, unit.source_turn, unit.content, list(unit.call_ids))
        for place, unit in enumerate(units)
    ]
    return pl.DataFrame(rows, schema=UNITS, orient="row")


def global_steps(exchanges: Iterable[RecordedExchange]) -> dict[tuple[int, int], int]:
    """Exchange and number of a model call in it, to its number in the session."""
    places = ((exchange.turn, step.number) for exchange in exchanges for step in exchange.steps)
    return {place: number for number, place in enumerate(places, 1)}


def line_range(args: Mapping[str, Any]) -> tuple[int, int]:
    """First and last line that a read asks for; the whole file where it names none.

    Claude Code and pi say `offset` (from 1) and `limit`, Gemini CLI also `start_line` and `end_line`, editor tools
    `view_range`.
    """
    view = args.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(_is_int(each) for each in view):  # noqa: PLR2004
        return max(view[0], 1), view[1] if view[1] >= view[0] else END_OF_FILE
    start = next((args[name] for name in ("offset", "start_line", "line_number") if _is_int(args.get(name))), 1)
    start = max(start, 1)
    if _is_int(args.get("limit")) and args["limit"] > 0:
        return start, start + args["limit"] - 1
    end = args.get("end_line")
    return start, end if isinstance(end, int) and _is_int(end) and end >= start else END_OF_FILE


def plain_words(value: Any) -> str:
    """Every text in a call's arguments, a line each: names and values, without the quoting of JSON."""
    return "\n".join(_texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _call(call: RecordedCall, cwd: str | None) -> tuple[Any, ...]:
    args = call.our_args
    path = args.get("path") if call.our_tool in _FILE_TOOLS else None
    named = _absolute(path, cwd) if isinstance(path, str) and path else None
    first, last = line_range(args) if named and call.our_tool == "read_file" else (None, None)
    command = args.get("command") if call.our_tool == "shell" else None
    return (
        call.our_tool,
        named,
        first,
        last,
        command.strip() if isinstance(command, str) else None,
        call.is_error,
        call.call_id,
        plain_words(call.args),
        call.result or "",
    )


def _absolute(path: str, cwd: str | None) -> str:
    return posixpath.normpath(posixpath.join(cwd or "", path))


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
