"""The pieces of the past that may go into a prompt, made out of exchanges and activity.

An exchange yields one digest and one card for each artifact that its calls brought; an activity entry yields one line.
An id is unique in a session: where an artifact comes up again, the newer unit stands for it (see `pool`).

Source: PRAANA, "Engine mode"; PRAANA src/context-engine/engine-compiler.ts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.context.cards import card, command_of
from workbench.context.records import ContextUnit
from workbench.context.verbatim import compact_json
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbench.config.context import Bands
    from workbench.context.records import ActivityEntry, ToolCallRecord, TurnRecord

ACTIVITY_ID_CHARS: Final = 24
"""Characters of an activity's summary in the id of its unit. Source: PRAANA src/context-engine/engine-compiler.ts."""


def units_of_turn(
    record: TurnRecord, bands: Bands, *, cards: Mapping[str, str] | None = None, order: int = 0
) -> list[ContextUnit]:
    """The units of one exchange: its digest, then a card for each of its artifacts.

    Args:
        record: The exchange.
        bands: How much of answer and result they show.
        cards: Card of an artifact by its id, as the artifact store made it; one is made of the recorded result for an
            artifact that is not in it.
        order: Position of the first unit in the session.

    Returns:
        At least one unit.

    Source: PRAANA src/context-engine/engine-compiler.ts, `buildUnits`.
    """
    known = cards or {}
    calls: dict[str, list[ToolCallRecord]] = {}
    for call in record.tool_calls:
        if call.artifact_id:
            calls.setdefault(call.artifact_id, []).append(call)
    contents = {key: known.get(key) or _card(key, uses[-1], bands) for key, uses in calls.items()}
    return [
        digest_unit(record, bands, order=order),
        *(
            ContextUnit(
                id=artifact_id,
                type="artifact_card",
                content=content,
                tokens=estimate_tokens(content),
                source_turn=record.turn,
                order=place,
                artifact_refs=(artifact_id,),
                call_ids=tuple(call.call_id for call in calls[artifact_id] if call.call_id),
            )
            for place, (artifact_id, content) in enumerate(contents.items(), order + 1)
        ),
    ]


def digest_unit(record: TurnRecord, bands: Bands, *, order: int = 0) -> ContextUnit:
    """The digest of one exchange as a unit.

    Source: PRAANA src/context-engine/engine-compiler.ts.
    """
    digest = _digest(record, bands)
    return ContextUnit(
        id=f"turn_{record.turn}",
        type="turn_digest",
        content=digest,
        tokens=estimate_tokens(digest),
        source_turn=record.turn,
        order=order,
        artifact_refs=record.artifact_ids,
    )


def call_unit(turn: int, call: ToolCallRecord, bands: Bands, *, card: str | None = None, order: int = 0) -> ContextUnit:
    """One tool call as a unit: its card where its result is an artifact, else what was called and what came back.

    Args:
        turn: The exchange it belongs to.
        call: The call.
        bands: How much of the result is shown.
        card: The card, where there is one.
        order: Position in the session, which also names a call without an artifact.
    """
    shown = (call.result_text or "")[: bands.card_chars]
    content = card or f"Tool call: {call.tool}({compact_json(call.args)[: bands.card_chars]})\nResult: {shown}"
    return ContextUnit(
        id=call.artifact_id or f"call_{order}",
        type="artifact_card",
        content=content,
        tokens=estimate_tokens(content),
        source_turn=turn,
        order=order,
        artifact_refs=(call.artifact_id,) if call.artifact_id else (),
        call_ids=(call.call_id,) if call.call_id else (),
    )


def activity_units(entries: Iterable[ActivityEntry], *, order: int = 0) -> list[ContextUnit]:
    """One unit an activity entry.

    Source: PRAANA src/context-engine/engine-compiler.ts.
    """
    units: list[ContextUnit] = []
    for entry in entries:
        content = f"[turn {entry.turn}] {entry.summary}"
        units.append(
            ContextUnit(
                id=f"activity_{entry.turn}_{entry.type}_{entry.summary[:ACTIVITY_ID_CHARS]}",
                type="activity_entry",
                content=content,
                tokens=estimate_tokens(content),
                source_turn=entry.turn,
                order=order + len(units),
                artifact_refs=(entry.artifact_ref,) if entry.artifact_ref else (),
            )
        )
    return units


def _card(artifact_id: str, call: ToolCallRecord, bands: Bands) -> str:
    result = call.result_text or ""
    return card(artifact_id, call.tool, command_of(call.args), estimate_tokens(result), result[: bands.card_chars])


def _digest(record: TurnRecord, bands: Bands) -> str:
    tools = list(dict.fromkeys(call.tool for call in record.tool_calls))
    files = list(dict.fromkeys([*record.files_read, *record.files_written]))
    lines = [
        f"### Turn {record.turn} digest",
        f"User: {record.user_message}",
        f"Assistant: {record.assistant_message[: bands.answer_chars]}",
        f"Tools: {', '.join(tools) or 'no tools'}",
    ]
    if files:
        lines.append(f"Files: {', '.join(files)}")
    if record.errors:
        lines.append(f"Errors: {'; '.join(record.errors)}")
    return "\n".join(lines)
