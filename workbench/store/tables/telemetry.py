"""The telemetry group: what a session shows in numbers, and how work of a kind went before.

Scorecards are a view and no table: the query over the landed rows takes a fraction of a second for hundreds of
sessions, so that they are never behind an import and cost it nothing; prices and the kind of task, which SQL has not,
are added by `bench.scorecards()`. What a session's outputs were (`session_patterns`) means reading every one of them,
half as long as their import takes; so it is kept, one row a state of a session, and told anew where the state changed.
"""

from __future__ import annotations

from typing import Final

from workbench.store.schema import BOOL, INT, STRING, STRINGS, TIME, Column, Table, View
from workbench.store.sql import query
from workbench.store.tables.metrics import METRICS, columns

_SESSION = Column("session_id", STRING, "The session.", required=True)
_STATE = Column("state", STRING, "Name of the state of its content.", required=True)
_TYPE = Column("task_type", STRING, "debugging, testing, implementing, refactoring, reviewing, general.", required=True)
_TOOLS = Column(
    "tool_sequence", STRINGS, "Tools of the main chain that succeeded, by first use, in our own words.", required=True
)
_KINDS = Column("artifact_types", STRINGS, "Kinds of large tool output, the commonest first.", required=True)
_PATTERN = Column("pattern_id", STRING, "Task type and hash of the pattern; null where it is none.")

_TABLES: Final = (
    "sessions", "session_labels", "sources", "turn_records", "turns", "tool_calls", "usage", "compiles",
    "replays",
)  # fmt: skip

SESSION_PATTERNS: Final = Table(
    "session_patterns",
    "telemetry",
    "recorded",
    "how one session went, at one state of its content",
    ("session_id", "state", "rules", "recorded_at"),
    (
        _SESSION,
        _STATE,
        Column("rules", STRING, "Hash of the settings that it was told by, and their version.", required=True),
        _TYPE,
        _TOOLS,
        _KINDS,
        _PATTERN,
        Column("seen_at", TIME, "When the session ended; null where it has no times."),
        Column("recorded_at", TIME, "When the row was made.", required=True),
    ),
    "PRAANA, Workflow Pattern Tracking; specification B, 8",
)

SESSION_STATES: Final = View(
    "session_states",
    "telemetry",
    "one session",
    ("session_id",),
    (
        _SESSION,
        Column("format", STRING, "Format of its records, such as claude-code."),
        _STATE,
    ),
    ("sessions", "sources"),
    query("session_states"),
    "design 6",
)


_ABOUT: Final = (
    _SESSION,
    Column("agent", STRING, "The agent's name.", required=True),
    Column("format", STRING, "Format of its records, which decides what they can show."),
    Column("project_id", STRING, "The project: that of its label, else of its folder."),
    Column("title", STRING, "The title of its label, else its own."),
    Column("tags", STRINGS, "Tags of its label."),
    Column("arm", STRING, "Arm of a comparison, of its label."),
    Column("started_at", TIME, "Oldest time of its events."),
    Column("ended_at", TIME, "Newest time of its events."),
    Column("final", BOOL, "Whether the last exchange came to its end: answered or interrupted.", required=True),
    Column("model", STRING, "The model that gave most answers on the main chain."),
    Column("version", STRING, "The newest version of the agent that wrote to it."),
    Column("config_hash", STRING, "Configuration of a session run here; foreign records do not tell theirs."),
    Column("task_type", STRING, "Of the last prompt made here; `bench.scorecards()` tells it of every session."),
    Column("policy_id", STRING, "Configuration of the compiled prompts; null where there are none."),
    Column("replay_id", STRING, "Their replay; null where the session ran here."),
    Column("compile_level", STRING, "exchange or step."),
)


def scorecards_sql() -> str:
    """The SELECT behind `scorecards`: the counts, null where records of the format cannot show a metric."""
    counted = [each for each in METRICS if each.origin != "prices"]
    shown = [
        *(each.name for each in _ABOUT),
        *(f"{_shown(each.formats, each.name)} as {each.name}" for each in counted),
    ]
    hidden = [f"case when not {_fits(each.formats)} then '{each.name}' end" for each in METRICS if each.formats]
    missing = f"list_filter([{', '.join(hidden)}], lambda name: name is not null) as not_applicable"
    selected = ",\n    ".join([*shown, missing])
    return f"with counts as (\n{query('scorecards')})\n\nselect\n    {selected}\nfrom counts\n"


def _shown(formats: frozenset[str] | None, name: str) -> str:
    return name if formats is None else f"case when {_fits(formats)} then {name} end"


def _fits(formats: frozenset[str] | None) -> str:
    return f"coalesce(format in ({', '.join(repr(each) for each in sorted(formats or ()))}), false)"


SCORECARDS: Final = View(
    "scorecards",
    "telemetry",
    "one session",
    ("session_id",),
    (
        *_ABOUT,
        *columns(),
        Column("not_applicable", STRINGS, "Metrics that records of this format cannot show; they are null."),
    ),
    _TABLES,
    scorecards_sql(),
    "PRAANA specification B, 9 and 13; design 6",
)

_RULES: Final = "select 30.0 as keep_days, (select max(seen_at) from session_patterns) as as_of"


def workflow_patterns_sql() -> str:
    """The SELECT of `workflow_patterns` at another moment: bound are `$keep_days`, and `$as_of` (null: the newest)."""
    whole = query("workflow_patterns")
    if _RULES not in whole:
        raise ValueError(f"workflow_patterns.sql lacks the line {_RULES!r}")
    bound = _RULES.replace("30.0", "$keep_days::double").replace("(select", "coalesce($as_of::timestamptz, (select")
    return whole.replace(_RULES, bound.replace("session_patterns)", "session_patterns))"))


WORKFLOW_PATTERNS: Final = View(
    "workflow_patterns",
    "telemetry",
    "one way of working, as of the end of the newest session whose pattern is known",
    ("task_type", "tool_sequence", "artifact_types"),
    (
        Column("pattern_id", STRING, "Task type and hash of the pattern.", required=True),
        _TYPE,
        _TOOLS,
        _KINDS,
        Column("hit_count", INT, "Sessions that went so, since it last was forgotten.", required=True),
        Column("last_seen_at", TIME, "When the newest of them ended.", required=True),
        Column("created_at", TIME, "When the first of them ended.", required=True),
    ),
    ("sessions", "sources", "session_patterns"),
    query("workflow_patterns"),
    "PRAANA, Workflow Pattern Tracking; specification B, 8",
)

TABLES: Final = (SESSION_PATTERNS,)
VIEWS: Final = (SESSION_STATES, SCORECARDS, WORKFLOW_PATTERNS)
