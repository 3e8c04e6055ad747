"""The rolling summary of a session, folded from the digests of its exchanges; no model writes it, so it cannot drift.

Source: PRAANA, "Session Checkpoint"; PRAANA src/context-engine/checkpoint.ts; specification A, 18, D9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.context.activity import rolling
from workbench.context.narrative import narrative_entry
from workbench.context.plans import completed_items, plan_items
from workbench.context.records import ActivityEntry, OpenError, TurnDigest

if TYPE_CHECKING:
    from workbench.config.context import Checkpoint, Digest

NOTHING_YET = -1
"""`last_reconciled_turn` before the first exchange. Source: PRAANA src/context-engine/checkpoint.ts."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A plan, the current one or one that another took the place of."""

    text: str
    turn: int
    superseded: bool = False
    superseded_turn: int | None = None
    completed: tuple[str, ...] = ()


class CheckpointDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decision; after a while it is shown in a compact form."""

    summary: str
    turn: int
    rationale: str | None = None
    compact: bool = False


class FileInPlay(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file and the exchange that last touched it."""

    path: str
    turn: int


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was looked at."""

    summary: str
    turn: int
    artifact_ref: str | None = None


class CheckpointError(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error, open or fixed."""

    key: str
    message: str
    turn: int
    fixed: bool = False
    fixed_turn: int | None = None


class NarrativeEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the story."""

    turn: int
    text: str


class SessionCheckpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is remembered of a session; lists are oldest first."""

    active_request: str = ""
    plans: tuple[Plan, ...] = ()
    constraints: tuple[str, ...] = ()
    decisions: tuple[CheckpointDecision, ...] = ()
    files: tuple[FileInPlay, ...] = ()
    findings: tuple[Finding, ...] = ()
    errors: tuple[CheckpointError, ...] = ()
    activity: tuple[ActivityEntry, ...] = ()
    narrative: tuple[NarrativeEntry, ...] = ()
    last_reconciled_turn: int = NOTHING_YET

    @property
    def plan(self) -> Plan | None:
        """The plan that holds."""
        return next((plan for plan in reversed(self.plans) if not plan.superseded), None)

    def open_errors(self) -> list[CheckpointError]:
        """Errors that nothing fixed yet."""
        return [error for error in self.errors if not error.fixed]

    def fixed_errors(self) -> list[CheckpointError]:
        """Errors that were fixed."""
        return [error for error in self.errors if error.fixed]


def reconcile(
    state: SessionCheckpoint,
    digest: TurnDigest,
    open_errors: Sequence[OpenError],
    activity: Sequence[ActivityEntry],
    settings: Checkpoint,
    lengths: Digest,
) -> SessionCheckpoint:
    """Fold one exchange into the summary.

    Args:
        state: Before it.
        digest: The exchange.
        open_errors: Errors that are open after it.
        activity: The last entries after it.
        settings: How much is kept.
        lengths: Of an entry of the story.

    Source: PRAANA src/context-engine/checkpoint.ts, `reconcile`.
    """
    turn = digest.turn
    return SessionCheckpoint(
        active_request=digest.user_intent,
        plans=_plans(state.plans, digest),
        constraints=tuple(dict.fromkeys([*state.constraints, *digest.constraints])),
        decisions=_decisions(state.decisions, digest, settings),
        files=_files(state.files, digest, settings),
        findings=_findings(state.findings, digest, settings),
        errors=_errors(state, digest, open_errors, settings),
        activity=tuple(activity),
        narrative=_narrative(state, digest, settings, lengths),
        last_reconciled_turn=turn,
    )


def rebuild(
    digests: Iterable[TurnDigest],
    activity: Sequence[ActivityEntry],
    settings: Checkpoint,
    lengths: Digest,
    activity_entries: int,
) -> SessionCheckpoint:
    """The summary out of all digests, where none was stored; errors are then known by their messages alone.

    Args:
        digests: Of all exchanges, oldest first.
        activity: All entries.
        settings: How much is kept.
        lengths: Of an entry of the story.
        activity_entries: Entries kept of the activity.

    Source: PRAANA src/context-engine/checkpoint.ts, `replayFromDigests`.
    """
    state = SessionCheckpoint()
    open_errors: list[OpenError] = []
    for digest in digests:
        open_errors += [
            OpenError(key=message, message=message, turn=digest.turn, tool="unknown") for message in digest.errors_new
        ]
        for label in digest.errors_fixed:
            _close(open_errors, label)
        seen = [entry for entry in activity if entry.turn <= digest.turn]
        state = reconcile(state, digest, open_errors, rolling(seen, (), activity_entries), settings, lengths)
    return state


def normalise(raw: Mapping[str, Any]) -> SessionCheckpoint:
    """A stored summary, older forms included: one `plan` as text, decisions without `compact`.

    Raises:
        msgspec.ValidationError: A field has another type.

    Source: PRAANA src/context-engine/checkpoint.ts, `normalizeState`.
    """
    given = {name: value for name, value in raw.items() if name in SessionCheckpoint.__struct_fields__}
    old_plan = raw.get("plan")
    if not given.get("plans") and isinstance(old_plan, str) and old_plan.strip():
        turn = max(0, int(raw.get("last_reconciled_turn", 0)))
        given["plans"] = [{"text": old_plan.strip(), "turn": turn}]
    return msgspec.convert(given, SessionCheckpoint)


def _close(open_errors: list[OpenError], label: str) -> None:
    closed = next((error for error in open_errors if label in error.message or error.message in label), None)
    if closed is not None:
        open_errors.remove(closed)


def _plans(plans: tuple[Plan, ...], digest: TurnDigest) -> tuple[Plan, ...]:
    text = digest.extracted_plan
    current = next((plan for plan in reversed(plans) if not plan.superseded), None)
    if not text or (current is not None and current.text == text):
        return plans
    older = [_superseded(plan, digest) if plan is current else plan for plan in plans]
    return (*older, Plan(text=text, turn=digest.turn))


def _superseded(plan: Plan, digest: TurnDigest) -> Plan:
    done = tuple(completed_items(plan_items(plan.text), digest))
    return msgspec.structs.replace(plan, superseded=True, superseded_turn=digest.turn, completed=done)


def _decisions(
    decisions: tuple[CheckpointDecision, ...], digest: TurnDigest, settings: Checkpoint
) -> tuple[CheckpointDecision, ...]:
    kept = {(decision.summary, decision.turn): decision for decision in decisions}
    for made in digest.decisions:
        key = (made.summary, digest.turn)
        known = kept.get(key)
        if known is None:
            kept[key] = CheckpointDecision(summary=made.summary, rationale=made.rationale, turn=digest.turn)
        elif not known.rationale:
            kept[key] = msgspec.structs.replace(known, rationale=made.rationale)
    after = settings.decision_compact_after_turns
    return tuple(
        msgspec.structs.replace(decision, compact=digest.turn - decision.turn >= after) for decision in kept.values()
    )


def _files(files: tuple[FileInPlay, ...], digest: TurnDigest, settings: Checkpoint) -> tuple[FileInPlay, ...]:
    turns = {file.path: file.turn for file in files} | dict.fromkeys(digest.files_changed, digest.turn)
    forget = settings.file_forget_after_turns
    return tuple(FileInPlay(path, turn) for path, turn in turns.items() if digest.turn - turn < forget)


def _findings(findings: tuple[Finding, ...], digest: TurnDigest, settings: Checkpoint) -> tuple[Finding, ...]:
    new = [Finding(summary=f"Artifact {ref}", artifact_ref=ref, turn=digest.turn) for ref in digest.artifact_refs]
    return tuple([*findings, *new][-settings.findings_max :])


def _errors(
    state: SessionCheckpoint, digest: TurnDigest, open_errors: Sequence[OpenError], settings: Checkpoint
) -> tuple[CheckpointError, ...]:
    still: dict[str, CheckpointError] = {}
    for error in open_errors:
        still.setdefault(error.key, CheckpointError(key=error.key, message=error.message, turn=error.turn))
    fixed = {error.message: error for error in state.fixed_errors()}
    for label in digest.errors_fixed:
        message = f"Fixed: {label}"
        made = CheckpointError(
            key=f"fixed:{label}", message=message, turn=digest.turn, fixed=True, fixed_turn=digest.turn
        )
        fixed.setdefault(message, made)
    return (*still.values(), *[*fixed.values()][-settings.fixed_errors_max :])


def _narrative(
    state: SessionCheckpoint, digest: TurnDigest, settings: Checkpoint, lengths: Digest
) -> tuple[NarrativeEntry, ...]:
    text = narrative_entry(digest, state.active_request, lengths.narrative_chars)
    if text is None:
        return state.narrative
    return tuple([*state.narrative, NarrativeEntry(digest.turn, text)][-settings.narrative_max_entries :])
