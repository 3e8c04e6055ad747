from __future__ import annotations

from workbench.config.context import ContextEngine
from workbench.context.artifacts import Shelf
from workbench.context.checkpoint import CheckpointDecision, SessionCheckpoint
from workbench.context.lineage import RelatedArtifact, render_lineage, trace_lineage
from workbench.context.records import ToolCallRecord, TurnRecord


def session():
    shelf = Shelf(ContextEngine(artifact_inline_threshold=0))
    made = {name: shelf.ingest("shell", f"{name} text", turn, command=name).artifact for name, turn in NAMED.items()}
    call = ToolCallRecord(tool="shell", args={"command": "near"}, artifact_id=made["own"].id)
    records = [
        TurnRecord(turn=4, user_message="", tool_calls=(call,), files_read=("a.py",), artifact_ids=(made["own"].id,)),
        TurnRecord(turn=9, user_message="", files_written=("a.py",), artifact_ids=(made["same file"].id,)),
        TurnRecord(turn=12, user_message="", files_written=("b.py",), artifact_ids=(made["far"].id,)),
    ]
    return shelf, made, records


NAMED = {"own": 4, "before": 3, "same file": 9, "far": 12}


def test_lineage_names_the_call_the_decisions_before_and_what_lies_near_or_shares_a_file():
    shelf, made, records = session()
    decisions = [CheckpointDecision(summary=f"d{turn}", turn=turn) for turn in (2, 4, 5)]
    checkpoint = SessionCheckpoint(decisions=tuple(decisions))
    found = trace_lineage(made["own"], shelf.artifacts, records, checkpoint=checkpoint)
    assert found.produced_by == 'shell command "near" in turn 4'
    assert (found.decisions, found.files) == (("d2", "d4"), ("a.py",))
    assert found.artifacts == (
        RelatedArtifact(made["before"].id, "shell: before", 3),
        RelatedArtifact(made["same file"].id, "shell: same file", 9),
    )
    assert render_lineage(found).split("\n")[3:5] == [
        "Related artifacts:",
        f"- {made['before'].id} (shell: before, turn 3)",
    ]


def test_asking_for_lineage_counts_as_no_access():
    shelf, made, records = session()
    before = shelf.artifacts
    render_lineage(trace_lineage(made["own"], shelf.artifacts, records))
    assert shelf.artifacts == before
