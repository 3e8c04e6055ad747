"""Settings of telemetry and experiments: workflow patterns, scorecards, weight studies, comparisons."""

from typing import Annotated, Literal

from msgspec import Meta

from workbench.config.fields import About, Amount, Count, Positive, Ratio, Settings

_PATTERNS = "PRAANA src/context-engine/workflow-tracker.ts"
_TELEMETRY = "PRAANA src/context-engine/telemetry.ts"
_STUDY = "design 8"
_TUNING = "the prototype of the study"


class Workflow(Settings, frozen=True):
    """Patterns of work seen in earlier sessions."""

    keep_days: Annotated[
        Amount, About("days after which an unseen pattern goes", "PRAANA, Workflow Pattern Tracking")
    ] = 30.0
    max_tools: Annotated[Positive, About("tools of a pattern", _PATTERNS)] = 20
    max_artifact_types: Annotated[Positive, About("kinds of tool output of a pattern", _PATTERNS)] = 10
    patterns_shown: Annotated[Count, About("patterns told in a prompt", _PATTERNS)] = 3
    tools_shown: Annotated[Count, About("tools named there", _PATTERNS)] = 8
    artifact_types_shown: Annotated[Count, About("kinds of tool output named there", _PATTERNS)] = 5


class Telemetry(Settings, frozen=True):
    """What a session's figures say."""

    retrieval_rate_note: Annotated[Ratio, About("retrieved share of cards that earns a remark", _TELEMETRY)] = 0.25
    distillers_shown: Annotated[Count, About("costliest distillers named", _TELEMETRY)] = 3


class Study(Settings, frozen=True):
    """Replay of recorded sessions, and the search for better weights."""

    level: Annotated[Literal["step", "exchange"], About("what is scored: model calls or exchanges", _STUDY)] = "step"
    budget_tokens: Annotated[Positive, About("tokens that a policy may select", "design 13")] = 3000
    verbatim_steps: Annotated[Count, About("last steps that stay outside the pool", _STUDY)] = 2
    steps_max: Annotated[Positive, About("steps scored of a session", _STUDY)] = 60
    tuning_steps_max: Annotated[Positive, About("steps of a session while weights are searched", "design 13")] = 10
    window_min_age: Annotated[Count, About("age of units in PRAANA's own window", _STUDY)] = 3
    folds: Annotated[int, Meta(ge=2), About("parts of the cross-validation", _TUNING)] = 5
    bulk_trials: Annotated[
        Positive, About("evenly spread trials of a search", "measured: held out, 1,024 choose no better than 128")
    ] = 512
    tpe_trials: Annotated[Count, About("trials of each search that learn from earlier ones", _TUNING)] = 24
    tpe_trials_max: Annotated[Count, About("and at most", _STUDY)] = 300
    seeds: Annotated[Count, About("repeats with other seeds, for the spread", _TUNING)] = 4
    null_permutations_min: Annotated[Positive, About("studies with permuted labels", _STUDY)] = 20
    null_permutations_max: Annotated[
        Positive, About("and at most; a study that needs more says that it cannot tell", "time: some seconds each")
    ] = 100
    null_standard_error_max: Annotated[Amount, About("precision their mean must reach", _STUDY)] = 0.004
    null_tolerance: Annotated[Amount, About("how far their mean may be from 0", _STUDY)] = 0.01
    bootstrap_draws: Annotated[Positive, About("draws behind an interval", _TUNING)] = 4000
    min_sessions: Annotated[Positive, About("scored sessions under which there is no verdict", _STUDY)] = 30
