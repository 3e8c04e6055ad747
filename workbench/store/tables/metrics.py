"""The scorecard's metrics, each defined once: columns, documentation, comparisons and reports follow from this list.

A metric says which formats of records can show it. For a session of another format it is null and its name stands in
`not_applicable`: a zero would say that the thing did not happen. What is null and not named there is unknown of this
session: it tells no usage, or no prompt of it was compiled.

The query behind the counts is `store/sql/scorecards.sql`; a test holds its columns to this list.

Source: PRAANA specification B, 9 and 13; design 6 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from workbench.store.schema import INT, Column

Better = Literal["lower", "higher"]
Origin = Literal["events", "compiles", "prices"]

PEOPLE: Final = frozenset({"aider", "claude-code", "codex", "gemini-cli", "pi", "praana", "workbench"})
"""Formats that record when a person stops the agent."""
LOOPS: Final = frozenset({"claude-code", "codex", "gemini-cli", "pi", "praana", "workbench"})
"""Formats that record every tool call with its outcome, and compactions."""
CALLS: Final = LOOPS | {"specstory", "swe-agent"}
"""Formats that record every tool call; Aider records edits alone."""
REJECTING: Final = frozenset({"claude-code", "codex", "gemini-cli"})
"""Formats that tell a call that a person refused from one that failed."""
SUBAGENTS: Final = frozenset({"claude-code", "codex"})
"""Formats of agents that start sub-agents by a tool of a known name."""
SKILLED: Final = frozenset({"claude-code", "praana", "workbench"})
"""Formats of agents that load skills by a tool."""
OWN: Final = frozenset({"praana", "workbench"})
"""Formats of agents that have the context engine's tools."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: Column of the scorecard.
        meaning: What is counted, and when.
        unit: count, tokens, ms or usd.
        per: The metric that it is divided by where sessions are compared; None where it is compared as it is.
        better: Which direction is better where other things are equal; None where neither is.
        formats: Formats of records that can show it; None is all of them.
        origin: Recorded `events`, `compiles` of the context engine, or events and a `prices` table.
        version: Raised when the definition changes: figures of different versions are not compared.
        rate_name: Name of the quotient, where it has one of its own.
    """

    name: str
    meaning: str
    unit: Literal["count", "tokens", "ms", "usd"] = "count"
    per: str | None = "total_turns"
    better: Better | None = None
    formats: frozenset[str] | None = None
    origin: Origin = "events"
    version: int = 1
    rate_name: str | None = None

    @property
    def rate(self) -> str | None:
        """Name of the metric divided by `per`, such as `tool_calls_per_turn`."""
        return None if self.per is None else self.rate_name or f"{self.name}_per_{_SINGULAR[self.per]}"

    @property
    def compared(self) -> str:
        """The column that sessions are compared by: the rate where there is one."""
        return self.rate or self.name


_SINGULAR: Final = {
    "total_turns": "turn",
    "tool_calls": "call",
    "file_reads": "read",
    "test_runs": "run",
    "compiled_prompts": "prompt",
    "artifact_cards_produced": "card",
}

METRICS: Final = (
    Metric("total_turns", "Exchanges, finished or interrupted: the denominator of most rates.", per=None),
    Metric("tool_calls", "Tool calls, sub-agents' included.", formats=CALLS),
    Metric(
        "failed_calls",
        "Tool calls that failed; what a person refused is not among them.",
        per="tool_calls",
        better="lower",
        formats=LOOPS,
        rate_name="tool_error_rate",
    ),
    Metric(
        "rejected_calls",
        "Tool calls that a person refused.",
        per="tool_calls",
        better="lower",
        formats=REJECTING,
        rate_name="rejection_rate",
    ),
    Metric("file_reads", "Files read by a tool with success.", formats=CALLS),
    Metric(
        "repeat_file_reads",
        "Reads of an absolute path that the same chain (main, or one sub-agent) had read before in the session; a "
        "relative path stands for one in the session's folder, and nothing else is normalised. A sign of re-work.",
        per="file_reads",
        better="lower",
        formats=CALLS,
        rate_name="repeat_read_rate",
    ),
    Metric("edits", "Files edited or written by a tool with success."),
    Metric(
        "repeat_failed_commands",
        "Shell commands that failed as the same text had failed before in the same chain. A sign of re-work.",
        better="lower",
        formats=LOOPS,
    ),
    Metric("test_runs", "Shell commands that run tests, by their text.", formats=CALLS),
    Metric(
        "failed_test_runs",
        "Of them: those that the agent marked as failed. A pipe (`pytest | tail`) hides a failure from the mark.",
        per="test_runs",
        better="lower",
        formats=LOOPS,
        rate_name="test_failure_rate",
    ),
    Metric("subagent_calls", "Calls that start a sub-agent.", formats=SUBAGENTS),
    Metric("interruptions", "How often a person stopped the agent.", better="lower", formats=PEOPLE),
    Metric("compactions", "How often the agent replaced its history by a summary.", better="lower", formats=LOOPS),
    Metric(
        "model_calls",
        "Calls of a model, where the session tells usage; what the agent wrote in a model's place is none.",
        version=2,
    ),
    Metric("input_tokens", "Fresh input tokens.", "tokens", better="lower"),
    Metric("output_tokens", "Output tokens, reasoning included.", "tokens", better="lower"),
    Metric("cache_read_tokens", "Input tokens read from the provider's cache.", "tokens"),
    Metric("cache_write_tokens", "Input tokens written to the provider's cache.", "tokens"),
    Metric(
        "cost_usd",
        "US dollars of the model calls that have a price; a call that several sessions tell of counts in each.",
        "usd",
        better="lower",
        origin="prices",
    ),
    Metric("duration_ms", "Newest minus oldest time of the session, pauses of the person included.", "ms", per=None),
    Metric("active_ms", "Sum of the exchanges' durations: pauses between them are left out.", "ms", better="lower"),
    Metric(
        "artifact_retrieve_calls",
        "Successful calls of retrieve_artifact.",
        per="artifact_cards_produced",
        better="lower",
        formats=OWN,
        rate_name="retrieval_rate",
    ),
    Metric(
        "artifact_cards_produced", "Tool results large enough to become a card instead of standing inline.", formats=OWN
    ),
    Metric("turn_event_searches", "Calls of search_turn_events. A sign of re-work.", better="lower", formats=OWN),
    Metric("recall_calls", "Calls of recall, with hits or without.", formats=OWN),
    Metric("skills_loaded", "Different skills that were loaded.", formats=SKILLED),
    Metric("skill_load_events", "Loads of skills.", formats=SKILLED),
    Metric("skill_reload_count", "Loads of a skill that had been loaded before.", better="lower", formats=SKILLED),
    Metric("skill_tokens_consumed", "Estimated tokens of loaded skills, reloads included.", "tokens", formats=OWN),
    Metric(
        "compiled_prompts",
        "Prompts of the context engine: those of a session run here, else of its newest replay.",
        per=None,
        origin="compiles",
    ),
    Metric(
        "pressure_events",
        "Of these: those whose pressure left normal, or rose from compact to emergency.",
        per="compiled_prompts",
        better="lower",
        origin="compiles",
    ),
    Metric(
        "compaction_triggers",
        "Of these: those that left out at least one scored unit.",
        per="compiled_prompts",
        better="lower",
        origin="compiles",
    ),
)
"""Every metric that recorded events, compiled prompts or a price table can show."""

NOT_SHOWN: Final = {
    "decision_contradictions": "reserved: PRAANA never counts it",
    "recall_used_count": "needs the memory's own record of what was used",
    "validity_avg_start": "needs the memory",
    "validity_avg_end": "needs the memory",
    "usefulness_avg_start": "needs the memory",
    "usefulness_avg_end": "needs the memory",
    "skills_used": "needs the residency of skills; in classic mode it is the number loaded and cannot be compared",
    "skill_underload_events": "loaded minus used: needs the residency of skills",
}
"""Metrics of the specification that no recorded event shows, and why; a live session counts them (`telemetry`)."""

BY_NAME: Final = {metric.name: metric for metric in METRICS}


def columns() -> tuple[Column, ...]:
    """Columns of the view `scorecards`: all metrics but those that need a price table."""
    return tuple(Column(each.name, INT, meaning(each)) for each in METRICS if each.origin != "prices")


def meaning(metric: Metric) -> str:
    """What a reader of the documentation wants to know of a metric, on one line."""
    shown = "" if metric.formats is None else f" Shown by {', '.join(sorted(metric.formats))}."
    return metric.meaning + shown


def not_applicable(record_format: str) -> list[str]:
    """Metrics that records of a format cannot show, in the order of the list."""
    return [each.name for each in METRICS if each.formats is not None and record_format not in each.formats]
