"""A replay as rows of the context tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench import __version__
from workbench.context.checkpoint_text import render_checkpoint
from workbench.context.scoring import TERMS
from workbench.text.ids import content_hash, new_ulid

if TYPE_CHECKING:
    from workbench.context.session import Ended, EngineSession, Policy
    from workbench.experiments.replay import Mode, ReplayedPrompt, SessionReplay

Row = dict[str, Any]

POLICY_DIGITS: Final = 16
"""Hex digits of a policy's hash."""
SECTIONS: Final = (
    "frame", "skills", "workflow", "checkpoint", "verbatim", "scored", "memory", "active_state", "peripheral", "input",
)  # fmt: skip


def policy_id(policy: Policy) -> str:
    """The name of a configuration: a hash of all that prompts depend on."""
    return content_hash(policy_json(policy))[:POLICY_DIGITS]


def policy_json(policy: Policy) -> str:
    """All that prompts depend on, as JSON with sorted keys."""
    told = {
        "compiler": policy.compiler,
        "tiers": policy.tiers,
        "engine": policy.engine,
        "window": policy.window,
        "level": policy.level,
    }
    return msgspec.json.encode(told, order="sorted").decode()


def replay_rows(
    made: SessionReplay, *, mode: Mode, embedder: str | None, recorded_at: datetime, replay_id: str | None = None
) -> dict[str, list[Row]]:
    """All rows of a replay, by table.

    Args:
        made: The replay.
        mode: engine or classic.
        embedder: Model that judged meaning, if one did.
        recorded_at: UTC.
        replay_id: Its id; a new one unless given.
    """
    name = replay_id or new_ulid()
    shared = {"replay_id": name, "session_id": made.session.session_id}
    placed = shared | {"level": made.policy.level, "policy_id": policy_id(made.policy)}
    rows: dict[str, list[Row]] = {"replays": [_replay(made, placed, mode, embedder, recorded_at)]}
    rows["compiles"], rows["unit_scores"] = [], []
    for prompt in made.prompts:
        compile_id = new_ulid()
        moment = placed | {"compile_id": compile_id, "turn": prompt.turn, "step": prompt.step}
        told = {"mode": mode, "embedder": embedder, "recorded_at": recorded_at}
        rows["compiles"].append(moment | told | _compile(prompt, made))
        rows["unit_scores"] += [moment | row for row in _units(prompt)]
    if mode == "engine":
        rows |= {table: [shared | row for row in found] for table, found in _kept(made).items()}
    return rows


def _replay(made: SessionReplay, placed: Row, mode: Mode, embedder: str | None, recorded_at: datetime) -> Row:
    return placed | {
        "mode": mode,
        "policy": policy_json(made.policy),
        "embedder": embedder,
        "window_tokens": made.policy.window,
        "prompts": len(made.prompts),
        "code_version": __version__,
        "recorded_at": recorded_at,
    }


def _compile(prompt: ReplayedPrompt, made: SessionReplay) -> Row:
    row: Row = {
        "classic_tokens": prompt.classic_tokens,
        "hydrated": [each.id for each in prompt.hydrated],
        "cuts": [],
    }
    compiled = prompt.compiled
    if compiled is None:
        return row | {
            "usable_tokens": made.usable,
            "raw_tokens": prompt.classic_tokens,
            "pressure": prompt.classic_pressure,
        }
    return row | {
        "usable_tokens": compiled.usable,
        "raw_tokens": compiled.raw_tokens,
        "weighted_tokens": compiled.weighted_tokens,
        "pressure": compiled.pressure,
        "pressure_mode": compiled.mode,
        "task_type": compiled.task_type,
        "units": len(compiled.scores.units),
        "units_included": int(compiled.scores.included.sum()),
        "cuts": [f"{cut.section}: {cut.tokens} -> {cut.kept_tokens}" for cut in compiled.cuts],
        **{f"{section.name}_tokens": section.tokens for section in compiled.sections},
    }


def _units(prompt: ReplayedPrompt) -> Iterator[Row]:
    if prompt.compiled is None:
        return
    scores = prompt.compiled.scores
    terms = {name: getattr(scores.terms, name).tolist() for name in TERMS}
    columns = zip(
        scores.units, scores.band.tolist(), scores.rank.tolist(), scores.included.tolist(), scores.why, strict=True
    )
    for place, (unit, band, rank, included, why) in enumerate(columns):
        yield {
            "unit_id": unit.id,
            "unit_type": unit.type,
            "source_turn": unit.source_turn,
            "tokens": unit.tokens,
            "pinned": unit.pinned,
            "band": band,
            "rank": rank,
            "included": included,
            "why": why,
            "call_ids": list(unit.call_ids),
            **{name: values[place] for name, values in terms.items()},
        }


def _kept(made: SessionReplay) -> Mapping[str, list[Row]]:
    engine = made.engine
    if engine is None:
        return {}
    return {
        "turn_digests": [_digest(ended) for ended in made.ended],
        "activity": [row for ended in made.ended for row in _activity(ended)],
        "state_objects": [
            {
                "object_id": each.id,
                "kind": each.kind,
                "state_tier": each.state_tier,
                "payload": _json(each.payload),
                "created_at": each.created_at,
                "updated_at": each.updated_at,
                "touched_turn": each.touched_turn,
                "is_focused": each.focused,
                "is_retracted": each.retracted,
            }
            for each in engine.graph.snapshot()
        ],
        "session_checkpoints": [_checkpoint(engine)] if made.ended else [],
        "distiller_stats": [
            {
                "place": place,
                "turn": turn,
                "tool": tool,
                "distiller": run.distiller,
                "intensity": run.intensity,
                "input_tokens": run.input_tokens,
                "output_tokens": run.output_tokens,
            }
            for place, (turn, tool, run) in enumerate(engine.runs)
        ],
    }


def _digest(ended: Ended) -> Row:
    digest = ended.digest
    return {
        "turn": digest.turn,
        "user_intent": digest.user_intent,
        "files_changed": list(digest.files_changed),
        "files_written": list(digest.files_written),
        "artifact_refs": list(digest.artifact_refs),
        "decisions": _json(digest.decisions),
        "constraints": list(digest.constraints),
        "errors_new": list(digest.errors_new),
        "errors_fixed": list(digest.errors_fixed),
        "tool_summary": digest.tool_summary,
        "extracted_plan": digest.extracted_plan,
    }


def _activity(ended: Ended) -> Iterator[Row]:
    for place, entry in enumerate(ended.activity):
        yield {
            "turn": entry.turn,
            "place": place,
            "type": entry.type,
            "summary": entry.summary,
            "artifact_ref": entry.artifact_ref,
        }


def _checkpoint(session: EngineSession) -> Row:
    state, engine = session.checkpoint, session.policy.engine
    return {
        "last_turn": state.last_reconciled_turn,
        "state": _json(state),
        "text": render_checkpoint(state, "normal", engine.checkpoint, engine.density).text,
    }


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
