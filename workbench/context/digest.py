"""What is kept of one exchange, taken out of its record without a model.

Source: PRAANA, "Turn digest"; PRAANA src/context-engine/turn-digest.ts, state-snapshot.ts; specification A, 16.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.context.implied import implied_constraints
from workbench.context.plans import extract_plan
from workbench.context.records import Decision, StateObject, TurnDigest

if TYPE_CHECKING:
    from workbench.config.context import Digest
    from workbench.context.records import StateKind, TurnRecord


def user_intent(message: str, settings: Digest) -> str:
    """What was asked, on one line and not too long.

    Source: PRAANA src/context-engine/turn-digest.ts.
    """
    text = " ".join(message.split())
    return text if len(text) <= settings.intent_chars else text[: settings.intent_chars - 3] + "..."


def tool_summary(tools: Iterable[str]) -> str:
    """Tools by first use with their counts; `no tools` where there are none.

    Source: PRAANA src/context-engine/turn-digest.ts.
    """
    counts = Counter(tools)
    return ", ".join(
        tool if count == 1 else f"{tool}\N{MULTIPLICATION SIGN}{count}" for tool, count in counts.items()
    ) or ("no tools")


def digest_turn(
    record: TurnRecord,
    before: Sequence[StateObject],
    after: Sequence[StateObject],
    settings: Digest,
    *,
    errors_new: Sequence[str] = (),
    errors_fixed: Sequence[str] = (),
) -> TurnDigest:
    """Sum up an exchange.

    Args:
        record: The exchange.
        before: State objects when it began.
        after: State objects when it ended.
        settings: Lengths.
        errors_new: Errors that opened in it.
        errors_fixed: Errors that closed in it.

    Source: PRAANA src/context-engine/turn-digest.ts, `extractTurnDigest`.
    """
    made = changed_objects(before, after)
    stated = [str(each.payload.get("text", "")) for each in _of_kind(made, "constraint")]
    implied = [each.text for each in implied_constraints(record.user_message)]
    return TurnDigest(
        turn=record.turn,
        user_intent=user_intent(record.user_message, settings),
        files_changed=tuple(dict.fromkeys([*record.files_read, *record.files_written])),
        files_written=record.files_written,
        artifact_refs=record.artifact_ids,
        decisions=tuple(_decision(each) for each in _of_kind(made, "decision")),
        constraints=tuple(dict.fromkeys([*stated, *implied])),
        errors_new=tuple(errors_new),
        errors_fixed=tuple(errors_fixed),
        tool_summary=tool_summary(call.tool for call in record.tool_calls),
        extracted_plan=extract_plan(record.assistant_message),
    )


def changed_objects(before: Sequence[StateObject], after: Sequence[StateObject]) -> list[StateObject]:
    """Objects that are new, or whose payload changed; a change of tier is none.

    Source: PRAANA src/context-engine/state-snapshot.ts.
    """
    known = {each.id: each for each in before}
    return [each for each in after if not each.retracted and _is_new(each, known.get(each.id))]


def _is_new(each: StateObject, older: StateObject | None) -> bool:
    return older is None or each.updated_at > older.updated_at or each.payload != older.payload


def _of_kind(objects: Iterable[StateObject], kind: StateKind) -> list[StateObject]:
    return [each for each in objects if each.kind == kind]


def _decision(each: StateObject) -> Decision:
    return Decision(summary=str(each.payload.get("summary", "")), rationale=each.payload.get("rationale") or None)
