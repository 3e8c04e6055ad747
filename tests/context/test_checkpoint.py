from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config.context import Checkpoint, ContextEngine, Density, Digest
from workbench.context.checkpoint import (
    CheckpointDecision,
    CheckpointError,
    Finding,
    NarrativeEntry,
    Plan,
    SessionCheckpoint,
    reconcile,
)
from workbench.context.checkpoint_text import render_checkpoint
from workbench.context.implied import implied_constraints
from workbench.context.ledger import TurnLedger
from workbench.context.recorder import Call, record_turn
from workbench.context.records import ActivityEntry, Decision, TurnDigest
from workbench.text.tokens import estimate_tokens

SETTINGS, LENGTHS, DENSITY = Checkpoint(), Digest(), Density()
WORDS = st.text(st.sampled_from("ab 漢🙂\n"), max_size=400)


def fold(*digests):
    state = SessionCheckpoint()
    for digest in digests:
        state = reconcile(state, digest, [], [], SETTINGS, LENGTHS)
    return state


def rendered(state, mode="normal", **changed):
    return render_checkpoint(state, mode, msgspec.structs.replace(SETTINGS, **changed), DENSITY).text


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 300), st.lists(WORDS, max_size=30), st.sampled_from(["normal", "compact", "emergency"]))
def test_the_whole_never_costs_more_than_its_cap(cap, texts, mode):
    state = SessionCheckpoint(
        active_request="".join(texts),
        plans=tuple(Plan(text=text, turn=turn) for turn, text in enumerate(texts)),
        constraints=tuple(texts),
        decisions=tuple(CheckpointDecision(summary=text, turn=1, rationale=text) for text in texts),
        findings=tuple(Finding(summary=text, turn=1) for text in texts),
        errors=tuple(CheckpointError(key=text, message=text, turn=1) for text in texts),
        activity=tuple(ActivityEntry(turn=1, type="commit", summary=text) for text in texts),
        narrative=tuple(NarrativeEntry(1, text) for text in texts),
    )
    assert estimate_tokens(rendered(state, mode, total_tokens=cap)) <= cap


def test_the_newest_decisions_stay_and_the_text_says_how_many_are_gone():
    state = fold(*(TurnDigest(turn=n, decisions=(Decision(summary=f"choice {n} " + "x" * 300),)) for n in range(15)))
    text = rendered(state)
    assert "choice 14" in text
    assert "choice 0 " not in text
    assert "… 6 more, older" in text


def test_the_newest_open_errors_stay():
    errors = tuple(CheckpointError(key=str(n), message=f"error {n} " + "y" * 400, turn=n) for n in range(20))
    text = rendered(SessionCheckpoint(errors=errors))
    assert "error 19" in text
    assert "error 0 " not in text


def test_past_its_whole_cap_what_was_agreed_stays_longest():
    state = SessionCheckpoint(
        constraints=("Never touch prod",),
        activity=tuple(ActivityEntry(turn=1, type="commit", summary="done " * 30) for _ in range(15)),
        findings=tuple(Finding(summary="seen " * 20, turn=1) for _ in range(15)),
    )
    text = rendered(state, total_tokens=60)
    assert "Never touch prod" in text
    assert "done" not in text


def test_the_story_keeps_twenty_entries():
    state = fold(*(TurnDigest(turn=n, files_written=(f"f{n}.py",)) for n in range(25)))
    assert [entry.turn for entry in state.narrative] == list(range(5, 25))


def test_an_emergency_keeps_decisions_constraints_plans_and_open_errors_only():
    state = SessionCheckpoint(
        plans=(Plan(text="1. go", turn=1),),
        constraints=("c",),
        decisions=(CheckpointDecision(summary="d", turn=1),),
        errors=(
            CheckpointError(key="k", message="broken", turn=1),
            CheckpointError(key="f", message="Fixed: x", turn=1, fixed=True, fixed_turn=2),
        ),
        findings=(Finding(summary="seen", turn=1),),
        activity=(ActivityEntry(turn=1, type="commit", summary="Committed"),),
    )
    text = rendered(state, "emergency")
    assert [line for line in text.split("\n") if line.startswith("### ")] == [
        "### Plan",
        "### Constraints",
        "### Decisions",
        "### Open errors",
    ]


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("please use not npm, pnpm", ["Use pnpm, not npm"]),
        ("it is not broken, just slow", []),
        ("it is not broken, slow", []),
        ("not v1.2, v1.3", ["Use v1.3, not v1.2"]),
        ("why not, let us try", []),
        ("that is not what I said, is it", []),
    ],
)
def test_only_a_pair_of_names_is_a_correction(message, texts):
    assert [each.text for each in implied_constraints(message)] == texts


def test_an_implied_constraint_keeps_its_sentence():
    (found,) = implied_constraints("Fix the loader. Use not csv, parquet. Then stop.")
    assert (found.text, found.sentence, found.confidence) == (
        "Use parquet, not csv",
        "Use not csv, parquet",
        "high",
    )


def test_the_ledger_takes_a_turn_once_and_finds_it_by_its_words():
    first = record_turn(1, "load parquet", [Call(tool="shell", args={"command": "pytest -q"})], "done")
    ledger = TurnLedger([first, record_turn(2, "plot churn", [], "ok")])
    assert not ledger.append(record_turn(1, "another", [], ""))
    assert [match.record.turn for match in ledger.search("pytest parquet")] == [1]
    assert ledger.search("") == ledger.search("nowhere") == []


def test_every_mode_of_a_task_type_has_caps():
    for name in ("general", "debugging", "testing", "implementing", "refactoring", "reviewing"):
        assert abs(sum(getattr(ContextEngine().task_type, name)) - 1.0) < 1e-9
