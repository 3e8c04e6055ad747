"""Where an artifact comes from: the call, the decisions, the files and the artifacts around it.

Asking is no retrieval: it counts as an access of nothing.

Source: PRAANA src/context-engine/event-lineage.ts; specification A, 19, W22.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from workbench.context.artifacts import Artifact
    from workbench.context.checkpoint import SessionCheckpoint
    from workbench.context.records import TurnDigest, TurnRecord

DECISIONS: Final = 10
"""Last decisions that are told. Source: PRAANA src/context-engine/event-lineage.ts."""


class RelatedArtifact(msgspec.Struct, frozen=True):
    """Another artifact: its short name, tool and command, and the exchange in which it came."""

    id: str
    label: str
    turn: int


class Lineage(msgspec.Struct, frozen=True, kw_only=True):
    """Where an artifact comes from.

    Attributes:
        artifact_id: The artifact.
        source_tool: The tool that made it.
        command: What that call was about.
        content_type: What kind of output it is.
        produced_turn: The exchange in which it came.
        produced_by: The call in words.
        decisions: Decisions of that exchange and before.
        artifacts: Artifacts of the same exchange, of the ones before and after, and of others about the same files.
        files: Files that the exchange read or wrote.
    """

    artifact_id: str
    source_tool: str
    command: str | None
    content_type: str
    produced_turn: int
    produced_by: str
    decisions: tuple[str, ...] = ()
    artifacts: tuple[RelatedArtifact, ...] = ()
    files: tuple[str, ...] = ()


def trace_lineage(
    artifact: Artifact,
    artifacts: Sequence[Artifact],
    records: Sequence[TurnRecord],
    *,
    digest: TurnDigest | None = None,
    checkpoint: SessionCheckpoint | None = None,
) -> Lineage:
    """Tell where an artifact comes from.

    Args:
        artifact: The artifact.
        artifacts: All of its session.
        records: All exchanges of the session, that of the artifact among them where it is known.
        digest: The summary of the exchange in which it came.
        checkpoint: The session's summary.

    Source: PRAANA src/context-engine/event-lineage.ts, `buildEventLineage`.
    """
    turn = artifact.created_turn
    record = next((each for each in records if each.turn == turn), None)
    files = _files(record, digest)
    return Lineage(
        artifact_id=artifact.id,
        source_tool=artifact.source_tool,
        command=artifact.command,
        content_type=artifact.content_type,
        produced_turn=turn,
        produced_by=_producer(artifact, record),
        decisions=_decisions(turn, digest, checkpoint),
        artifacts=_related(artifact, artifacts, records, files),
        files=files,
    )


def render_lineage(lineage: Lineage) -> str:
    """What an agent that asks is told.

    Source: PRAANA src/context-engine/event-lineage.ts, `formatEventLineage`.
    """
    about = lineage.command or lineage.source_tool
    lines = [
        f"Artifact {lineage.artifact_id} ({about}, turn {lineage.produced_turn})",
        f"Produced by: {lineage.produced_by}",
    ]
    if lineage.decisions:
        lines.append(f"Related decisions: {', '.join(lineage.decisions)}")
    if lineage.artifacts:
        lines += [
            "Related artifacts:",
            *(f"- {each.id} ({each.label}, turn {each.turn})" for each in lineage.artifacts),
        ]
    if lineage.files:
        lines.append(f"Related files: {', '.join(lineage.files)}")
    return "\n".join(lines)


def _producer(artifact: Artifact, record: TurnRecord | None) -> str:
    calls = record.tool_calls if record else ()
    call = next((each for each in calls if each.artifact_id == artifact.id), None)
    if call is None:
        tool, command = artifact.source_tool, artifact.command
    else:
        told = (call.args.get(name) for name in ("command", "path"))
        tool, command = call.tool, next((value for value in told if isinstance(value, str)), None)
    about = f'{tool} command "{command}"' if command else tool
    return f"{about} in turn {artifact.created_turn}"


def _files(record: TurnRecord | None, digest: TurnDigest | None) -> tuple[str, ...]:
    named = [*record.files_read, *record.files_written] if record else []
    return tuple(dict.fromkeys([*named, *(digest.files_changed if digest else ())]))


def _decisions(turn: int, digest: TurnDigest | None, checkpoint: SessionCheckpoint | None) -> tuple[str, ...]:
    own = [each.summary for each in digest.decisions] if digest else []
    before = [each.summary for each in checkpoint.decisions if each.turn <= turn] if checkpoint else []
    return tuple(dict.fromkeys([*own, *before]))[-DECISIONS:]


def _related(
    artifact: Artifact, artifacts: Sequence[Artifact], records: Sequence[TurnRecord], files: Iterable[str]
) -> tuple[RelatedArtifact, ...]:
    wanted = set(files)
    of_files = {
        key for each in records if wanted & {*each.files_read, *each.files_written} for key in each.artifact_ids
    }
    near = range(artifact.created_turn - 1, artifact.created_turn + 2)
    found = {
        each.id: RelatedArtifact(
            each.id, f"{each.source_tool}: {each.command}" if each.command else each.source_tool, each.created_turn
        )
        for each in artifacts
        if each.id != artifact.id and (each.created_turn in near or each.id in of_files)
    }
    return tuple(sorted(found.values(), key=lambda each: (each.turn, each.id)))
