"""The context group: what prompts were made of, or would have been, and why.

All are recorded and not derived: they depend on configuration, embedder, memory and patterns of that moment. A replay
names itself in each of its rows, so that two replays of one session stand beside each other.
"""

from __future__ import annotations

from typing import Final

from workbench.store.schema import BOOL, FLOAT, INT, STRING, STRINGS, TIME, Column, Table

_SESSION = Column("session_id", STRING, "The session.", required=True)
_REPLAY = Column("replay_id", STRING, "The replay that made it; null for a session that ran here.")
_OF_REPLAY = Column("replay_id", STRING, "The replay that made it.", required=True)
_TURN = Column("turn", INT, "The exchange, from 1.", required=True)
_STEP = Column("step", INT, "The model call in it, from 1; 0 for a prompt by exchange.", required=True)
_LEVEL = Column("level", STRING, "exchange or step.", required=True)
_POLICY = Column("policy_id", STRING, "Hash of the configuration that prompts depend on.", required=True)
_RECORDED = Column("recorded_at", TIME, "When the row was made.", required=True)


def _recorded(name: str, grain: str, key: tuple[str, ...], columns: tuple[Column, ...]) -> Table:
    return Table(name, "context", "recorded", grain, key, columns, "design 6 and 8")


def _tokens(section: str, meaning: str) -> Column:
    return Column(f"{section}_tokens", INT, f"Estimated tokens of {meaning}; null in classic mode.")


REPLAYS: Final = _recorded(
    "replays",
    "one replay of one session",
    ("replay_id",),
    (
        Column("replay_id", STRING, "ULID.", required=True),
        _SESSION,
        Column("mode", STRING, "engine or classic.", required=True),
        _LEVEL,
        _POLICY,
        Column("policy", STRING, "The configuration itself, JSON.", required=True),
        Column("embedder", STRING, "Model that judged meaning; null where words alone told."),
        Column("window_tokens", INT, "Context window of the model.", required=True),
        Column("prompts", INT, "Rows in compiles.", required=True),
        Column("code_version", STRING, "Version of workbench.", required=True),
        _RECORDED,
    ),
)

COMPILES: Final = _recorded(
    "compiles",
    "one prompt",
    ("compile_id",),
    (
        Column("compile_id", STRING, "ULID.", required=True),
        _REPLAY,
        _SESSION,
        _LEVEL,
        _POLICY,
        Column("embedder", STRING, "Model that judged meaning; null where words alone told."),
        _TURN,
        _STEP,
        Column("mode", STRING, "engine or classic.", required=True),
        Column("pressure_mode", STRING, "normal, compact or emergency; null in classic mode."),
        Column("task_type", STRING, "The kind of task that widened or narrowed the parts; null in classic mode."),
        Column("usable_tokens", INT, "Tokens a prompt may have.", required=True),
        Column("raw_tokens", INT, "Estimated tokens of the prompt.", required=True),
        Column("weighted_tokens", FLOAT, "What they weigh by density; null in classic mode."),
        Column("pressure", FLOAT, "Weighted tokens (classic: raw ones) over the usable ones.", required=True),
        Column("classic_tokens", INT, "Estimated tokens of the whole history at this point.", required=True),
        _tokens("frame", "the fixed beginning"),
        _tokens("skills", "the skills catalog"),
        _tokens("workflow", "workflow patterns"),
        _tokens("checkpoint", "the session checkpoint"),
        _tokens("verbatim", "the last exchanges, word for word"),
        _tokens("scored", "scored units"),
        _tokens("memory", "memories"),
        _tokens("active_state", "active state objects"),
        _tokens("peripheral", "soft and hard state objects"),
        _tokens("input", "what the person said"),
        Column("units", INT, "Units on offer; null in classic mode."),
        Column("units_included", INT, "Of them in the prompt; null in classic mode."),
        Column("hydrated", STRINGS, "State objects that came back.", required=True),
        Column("cuts", STRINGS, "Parts that were cut at the end because the prompt was still too long.", required=True),
        _RECORDED,
    ),
)

UNIT_SCORES: Final = _recorded(
    "unit_scores",
    "one unit of one prompt",
    ("compile_id", "unit_id"),
    (
        Column("compile_id", STRING, "The prompt.", required=True),
        _REPLAY,
        _SESSION,
        _LEVEL,
        _POLICY,
        _TURN,
        _STEP,
        Column("unit_id", STRING, "The unit, unique in a prompt.", required=True),
        Column("unit_type", STRING, "turn_digest, artifact_card, activity_entry, ...", required=True),
        Column("source_turn", INT, "The exchange it comes from.", required=True),
        Column("tokens", INT, "Estimated tokens.", required=True),
        Column("pinned", BOOL, "Whether it is pinned.", required=True),
        Column("band", INT, "4 recent, 5 older.", required=True),
        Column("rank", INT, "Place in its band, from 1.", required=True),
        Column("included", BOOL, "Whether it is in the prompt.", required=True),
        Column("why", STRING, "included, over_budget, compact, emergency or cut.", required=True),
        Column("pin", FLOAT, "Weighted term.", required=True),
        Column("recency", FLOAT, "Weighted term.", required=True),
        Column("bm25", FLOAT, "Weighted relevance by words.", required=True),
        Column("semantic", FLOAT, "Weighted closeness of meaning.", required=True),
        Column("relevance", FLOAT, "The higher of bm25 and semantic: a term.", required=True),
        Column("hydrate_boost", FLOAT, "Weighted term.", required=True),
        Column("unit_order", FLOAT, "Weighted term.", required=True),
        Column("last_step", FLOAT, "Weighted term.", required=True),
        Column("score", FLOAT, "Sum of the terms.", required=True),
        Column("call_ids", STRINGS, "Tool calls it speaks of.", required=True),
    ),
)

TURN_DIGESTS: Final = _recorded(
    "turn_digests",
    "what the engine keeps of one exchange",
    ("replay_id", "session_id", "turn"),
    (
        _OF_REPLAY,
        _SESSION,
        _TURN,
        Column("user_intent", STRING, "What was asked, on one line.", required=True),
        Column("files_changed", STRINGS, "Files read or written.", required=True),
        Column("files_written", STRINGS, "Files written.", required=True),
        Column("artifact_refs", STRINGS, "Artifacts made.", required=True),
        Column("decisions", STRING, "JSON: summary and rationale of each.", required=True),
        Column("constraints", STRINGS, "Constraints, stated or implied.", required=True),
        Column("errors_new", STRINGS, "Errors that opened.", required=True),
        Column("errors_fixed", STRINGS, "Errors that closed.", required=True),
        Column("tool_summary", STRING, "Tools used with their counts.", required=True),
        Column("extracted_plan", STRING, "The plan the agent announced."),
    ),
)

ACTIVITY: Final = _recorded(
    "activity",
    "one thing that happened",
    ("replay_id", "session_id", "turn", "place"),
    (
        _OF_REPLAY,
        _SESSION,
        _TURN,
        Column("place", INT, "Position in the exchange, from 0.", required=True),
        Column(
            "type", STRING, "commit, test_pass, test_fail, error_fixed, file_written, decision_made.", required=True
        ),
        Column("summary", STRING, "One line.", required=True),
        Column("artifact_ref", STRING, "Artifact with the whole output."),
    ),
)

STATE_OBJECTS: Final = _recorded(
    "state_objects",
    "one thing kept in mind, at the end of the session",
    ("replay_id", "session_id", "object_id"),
    (
        _OF_REPLAY,
        _SESSION,
        Column("object_id", STRING, "Its id.", required=True),
        Column("kind", STRING, "task, decision, constraint or note.", required=True),
        Column("state_tier", STRING, "active, soft or hard.", required=True),
        Column("payload", STRING, "JSON, by kind.", required=True),
        Column("created_at", TIME, "When it was made.", required=True),
        Column("updated_at", TIME, "When it last changed.", required=True),
        Column("touched_turn", INT, "Exchanges that had ended when somebody last touched it.", required=True),
        Column("is_focused", BOOL, "Whether it is the task at hand.", required=True),
        Column("is_retracted", BOOL, "Whether it was taken back.", required=True),
    ),
)

SESSION_CHECKPOINTS: Final = _recorded(
    "session_checkpoints",
    "the rolling summary of one session, at its end",
    ("replay_id", "session_id"),
    (
        _OF_REPLAY,
        _SESSION,
        Column("last_turn", INT, "The last exchange in it.", required=True),
        Column("state", STRING, "JSON.", required=True),
        Column("text", STRING, "As it stands in a prompt at normal pressure.", required=True),
    ),
)

DISTILLER_STATS: Final = _recorded(
    "distiller_stats",
    "one run of a distiller",
    ("replay_id", "session_id", "place"),
    (
        _OF_REPLAY,
        _SESSION,
        Column("place", INT, "Position in the session, from 0.", required=True),
        _TURN,
        Column("tool", STRING, "Whose output it was.", required=True),
        Column("distiller", STRING, "The distiller.", required=True),
        Column("intensity", STRING, "lite or full.", required=True),
        Column("input_tokens", INT, "Before.", required=True),
        Column("output_tokens", INT, "After.", required=True),
    ),
)

TABLES: Final = (
    REPLAYS,
    COMPILES,
    UNIT_SCORES,
    TURN_DIGESTS,
    ACTIVITY,
    STATE_OBJECTS,
    SESSION_CHECKPOINTS,
    DISTILLER_STATS,
)
