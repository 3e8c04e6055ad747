"""Settings of the context engine: budgets, tiers, scoring, pressure, artifacts, distillers, the session checkpoint."""

from typing import Annotated, Literal

from msgspec import Meta

from workbench.config.fields import About, Amount, Count, Pair, Positive, Ratio, Settings, Shares

_SEED = "PRAANA, Configuration"
_CONFIG = "PRAANA src/config.ts"
_COMPILER = "PRAANA src/context-engine/engine-compiler.ts"
_CHECKPOINT = "PRAANA, Session Checkpoint"
_CHECKPOINT_CODE = "PRAANA src/context-engine/checkpoint.ts"
_DENSITY = "PRAANA src/context-engine/density.ts"
_DISTILLERS = "PRAANA src/distillers"
_DIGEST = "PRAANA src/context-engine/turn-digest.ts"
_TASK = "PRAANA source, task classification"
_LEGACY = "only the legacy compiler used it, which is not built here"

Tokens = Annotated[int, Meta(gt=1000)]


class Compiler(Settings, frozen=True):
    """Token budgets of a prompt, and compaction in classic mode."""

    token_budget: Annotated[Tokens, About("tokens that a prompt may have", _SEED)] = 100_000
    recent_turns: Annotated[int, Meta(ge=1, le=100), About("turns kept whole", _SEED, no_effect=_LEGACY)] = 10
    recent_turns_token_budget: Annotated[Count, About("tokens of the turns kept whole", _SEED, no_effect=_LEGACY)] = (
        30_000
    )
    recall_min_score: Annotated[
        Ratio, About("least match of a memory to be recalled or shown at the start", _CONFIG)
    ] = 0.35
    memories_budget_ratio: Annotated[Ratio, About("share of the prompt for memories", _CONFIG)] = 0.2
    agents_budget_ratio: Annotated[Ratio, About("share of the prompt for project instructions", _CONFIG)] = 0.3
    reserved_output_tokens: Annotated[Count, About("tokens of the window kept free for the answer", _CONFIG)] = 0
    auto_compact: Annotated[bool, About("whether classic mode compacts by itself", "design 8 (always, in PRAANA)")] = (
        False
    )
    auto_compact_at: Annotated[float, Meta(ge=0.5, le=1), About("fill at which compaction starts", _CONFIG)] = 0.75
    auto_compact_clear_at: Annotated[
        float, Meta(ge=0.1, le=1), About("fill under which it may start again", _CONFIG, below="auto_compact_at")
    ] = 0.55
    compact_chunk_fraction: Annotated[
        float, Meta(ge=0.05, le=0.5), About("share of the history folded by one compaction", _CONFIG)
    ] = 0.25
    verbatim_only: Annotated[bool, About("whether compaction is ruled out", _CONFIG)] = False
    compression_watermark: Annotated[
        Ratio, About("older name of a threshold", _CONFIG, no_effect="compiler.auto_compact_at took its place")
    ] = 0.75
    compression_flush_fraction: Annotated[
        Ratio, About("older name of a share", _CONFIG, no_effect="compiler.compact_chunk_fraction took its place")
    ] = 0.3


class Tiers(Settings, frozen=True):
    """How state objects leave the prompt when nobody touches them."""

    idle_soft_after_turns: Annotated[Positive, About("idle turns after which an active object becomes soft", _SEED)] = (
        20
    )
    idle_hard_after_turns: Annotated[
        Positive, About("idle turns after which an object becomes hard", _SEED, above="idle_soft_after_turns")
    ] = 50


class Distiller(Settings, frozen=True):
    """How tool output is shortened. A pair is one figure for `lite` and one for `full`."""

    default_intensity: Annotated[Literal["lite", "full"], About("how hard output is shortened", _SEED)] = "full"
    full_above_tokens: Annotated[Count, About("size from which output is always shortened hard", _DISTILLERS)] = 2000
    lite_above_tokens: Annotated[Count, About("size from which output is shortened at least lightly", _DISTILLERS)] = (
        400
    )
    head_tail_chars: Annotated[Pair, About("characters kept at each end of plain text", _DISTILLERS)] = (400, 250)
    head_tail_slack_chars: Annotated[Count, About("a cut that saves less is not made", _DISTILLERS)] = 40
    short_text_lines: Annotated[Count, About("plain text of so few lines stays whole", _DISTILLERS)] = 8
    short_text_chars: Annotated[Count, About("and of so few characters", _DISTILLERS)] = 600
    json_items: Annotated[Pair, About("items kept of a JSON array or object", _DISTILLERS)] = (16, 8)
    diff_context_lines: Annotated[Pair, About("unchanged lines around a change", _DISTILLERS)] = (2, 1)
    diff_fallback_chars: Annotated[Count, About("characters kept of a diff without changes", _DISTILLERS)] = 1200
    diff_lines: Annotated[
        Pair, About("lines of a diff; of the rest its files are named (no cap in PRAANA)", "design, principle 6")
    ] = (1200, 600)
    line_chars: Annotated[
        Pair, About("characters of a line before its middle is cut out (no cap in PRAANA)", "design, principle 6")
    ] = (600, 400)
    test_failure_lines: Annotated[Pair, About("lines of failing tests", _DISTILLERS)] = (140, 80)
    test_summary_lines: Annotated[Count, About("summary lines of a test run", _DISTILLERS)] = 6
    build_groups: Annotated[Pair, About("distinct build errors", _DISTILLERS)] = (50, 25)
    build_locations: Annotated[Pair, About("places listed for one build error", _DISTILLERS)] = (50, 20)
    build_warnings: Annotated[
        Pair, About("distinct build warnings", "design, principle 6 (errors only, in PRAANA)")
    ] = (
        10,
        5,
    )
    build_source_lines: Annotated[Count, About("lines of source around a build error, lite", "design, principle 6")] = 6
    build_fallback_lines: Annotated[Pair, About("lines kept of a build without errors", _DISTILLERS)] = (40, 20)
    search_lines: Annotated[Pair, About("distinct search hits", _DISTILLERS)] = (30, 15)
    search_key_chars: Annotated[Count, About("characters by which two hits are the same", _DISTILLERS)] = 120
    search_fallback_chars: Annotated[Count, About("characters kept of a search without hits", _DISTILLERS)] = 800
    log_lines: Annotated[Pair, About("patterns of a log", _DISTILLERS)] = (15, 8)
    log_error_lines: Annotated[Count, About("last error lines of a log", _DISTILLERS)] = 5


class Scoring(Settings, frozen=True):
    """Weights of a context unit's score."""

    w_pin: Annotated[float, About("weight of being pinned", _SEED)] = 1.0
    w_recency: Annotated[float, About("weight of recency, 1 / (1 + age in turns)", _SEED)] = 0.5
    w_relevance: Annotated[float, About("weight of word overlap with the prompt", _SEED)] = 0.3
    w_semantic: Annotated[float, About("weight of closeness of meaning to the prompt", _SEED)] = 0.3
    w_hydrate_boost: Annotated[float, About("weight of overlap with objects just brought back", _SEED)] = 0.2
    w_unit_order: Annotated[float, About("weight of the unit's place among all units", "design 8")] = 0.0
    w_last_step: Annotated[float, About("weight of word overlap with the last step", "design 8")] = 0.0
    pin_scale: Annotated[Amount, About("height of the pin term", "PRAANA src/context-engine/scoring.ts")] = 1000.0
    embedding_cache_size: Annotated[
        Positive, About("vectors kept in a session", "PRAANA src/context-engine/embedding-cache.ts")
    ] = 500


class Pressure(Settings, frozen=True):
    """Fill of the usable budget at which the prompt gets tighter."""

    compact_at: Annotated[float, About("fill above which older digests go", _SEED)] = 0.7
    emergency_at: Annotated[float, About("fill above which only the bare needs stay", _SEED, above="compact_at")] = 0.85


class Relevance(Settings, frozen=True):
    """Word overlap between two texts, and what it brings back."""

    method: Annotated[
        Literal["corpus", "seed"],
        About("statistics of the pool at hand, or of one document", "design 8 (seed: PRAANA src/utils/bm25.ts)"),
    ] = "corpus"
    k1: Annotated[Amount, About("how fast repeats of a word stop counting", "PRAANA src/utils/bm25.ts")] = 1.5
    b: Annotated[Ratio, About("how much long texts are held back", "PRAANA src/utils/bm25.ts")] = 0.75
    hydrate_threshold: Annotated[
        Ratio, About("overlap from which an object is brought back", "PRAANA, Auto-Hydration")
    ] = 0.15
    hydrate_cosine: Annotated[
        Ratio,
        About(
            "closeness of meaning from which an object is brought back",
            "measured with MiniLM: 7 pairs that belong together 0.19 to 0.39, 11 that do not at most 0.19",
        ),
    ] = 0.3
    hydrate_max: Annotated[Count, About("objects brought back in one turn", "design 8")] = 5
    keyword_min_chars: Annotated[Positive, About("length of a keyword", "PRAANA src/state-graph.ts")] = 3


class Bands(Settings, frozen=True):
    """Budgets and ages of the prompt's bands."""

    verbatim_tokens: Annotated[Count, About("last exchanges, word for word", _COMPILER)] = 3000
    recent_tokens: Annotated[Count, About("scored units of medium age", _COMPILER)] = 3000
    older_tokens: Annotated[Count, About("scored units beyond", _COMPILER)] = 2000
    verbatim_max_age: Annotated[Count, About("exchanges this old are kept word for word", _COMPILER)] = 2
    recent_max_age: Annotated[Count, About("units this old are of medium age", _COMPILER, above="verbatim_max_age")] = 6
    scale_max: Annotated[Amount, About("most that a task type widens a band", _COMPILER)] = 3.0
    min_tokens: Annotated[Count, About("least that a band gets", _COMPILER)] = 50
    answer_chars: Annotated[Count, About("characters of the answer in a turn's digest", _COMPILER)] = 400
    card_chars: Annotated[Count, About("characters of a result in its card", _COMPILER)] = 600


class Density(Settings, frozen=True):
    """How much a token of each kind weighs when the fill is measured."""

    pinned_infra: Annotated[Ratio, About("frame, skills", _DENSITY)] = 1.0
    active_request: Annotated[Ratio, About("the request at hand", _DENSITY)] = 1.0
    decision: Annotated[Ratio, About("decisions", _DENSITY)] = 1.0
    constraint: Annotated[Ratio, About("constraints", _DENSITY)] = 1.0
    plan: Annotated[Ratio, About("the plan", _DENSITY)] = 1.0
    memory_digest: Annotated[Ratio, About("memories", _DENSITY)] = 1.0
    active_state: Annotated[Ratio, About("active state objects", _DENSITY)] = 1.0
    verbatim_turn: Annotated[Ratio, About("exchanges word for word", _DENSITY)] = 0.9
    open_error: Annotated[Ratio, About("open errors", _DENSITY)] = 0.8
    narrative: Annotated[Ratio, About("the narrative", _DENSITY)] = 0.6
    file: Annotated[Ratio, About("files in play", _DENSITY)] = 0.6
    peripheral_state: Annotated[Ratio, About("soft and hard state objects", _DENSITY)] = 0.6
    turn_digest: Annotated[Ratio, About("digests of exchanges", _DENSITY)] = 0.4
    artifact_card: Annotated[Ratio, About("cards of tool output", _DENSITY)] = 0.4
    finding: Annotated[Ratio, About("findings", _DENSITY)] = 0.25
    activity: Annotated[Ratio, About("activity in the checkpoint", _DENSITY)] = 0.25
    fixed_error: Annotated[Ratio, About("errors that were fixed", _DENSITY)] = 0.25
    activity_entry: Annotated[Ratio, About("activity as units", _DENSITY)] = 0.25


class Checkpoint(Settings, frozen=True):
    """What the rolling summary of a session holds, and how much of it."""

    total_tokens: Annotated[Count, About("the whole summary", "PRAANA, Engine mode (band 3)")] = 2000
    active_request_tokens: Annotated[Count, About("the request at hand", _CHECKPOINT_CODE)] = 200
    narrative_max_entries: Annotated[Count, About("entries of the narrative", _CHECKPOINT)] = 20
    narrative_tokens: Annotated[Count, About("the narrative", _CHECKPOINT)] = 400
    plan_tokens: Annotated[Count, About("plan and superseded plans", _CHECKPOINT)] = 400
    decisions_shown: Annotated[Count, About("newest decisions shown", _CHECKPOINT_CODE)] = 20
    decisions_tokens: Annotated[Count, About("decisions", _CHECKPOINT)] = 800
    decision_compact_after_turns: Annotated[
        Count, About("turns after which a decision is shown on one line", _CHECKPOINT)
    ] = 10
    rationale_chars: Annotated[Count, About("characters of a reason", _CHECKPOINT_CODE)] = 240
    file_forget_after_turns: Annotated[Count, About("turns after which a file is out of play", _CHECKPOINT_CODE)] = 10
    findings_max: Annotated[Count, About("findings kept", _CHECKPOINT)] = 30
    findings_shown: Annotated[Count, About("findings shown", _CHECKPOINT_CODE)] = 15
    findings_tokens: Annotated[Count, About("findings", _CHECKPOINT)] = 300
    findings_compact_tokens: Annotated[Count, About("findings under pressure", _CHECKPOINT_CODE)] = 150
    errors_tokens: Annotated[Count, About("open errors", _CHECKPOINT_CODE)] = 1000
    fixed_errors_max: Annotated[Count, About("fixed errors kept", _CHECKPOINT_CODE)] = 20
    activity_compact_entries: Annotated[Count, About("activity entries under pressure", _CHECKPOINT_CODE)] = 5
    extraction_entries: Annotated[
        Count, About("decisions and constraints remembered between turns", _CHECKPOINT_CODE)
    ] = 30


class Digest(Settings, frozen=True):
    """The summary of one exchange."""

    intent_chars: Annotated[Count, About("characters of the user's intent", _DIGEST)] = 120
    narrative_chars: Annotated[Count, About("characters of its entry in the narrative", _DIGEST)] = 160
    error_chars: Annotated[Count, About("characters of an error taken from a result", _DIGEST)] = 200


_SHARES = "shares of errors, verbatim turns, decisions, artifacts, narrative"


class TaskType(Settings, frozen=True):
    """How the kind of task is told, and how it shares out the budget."""

    turns_back: Annotated[Count, About("turns before the current one that are looked at", _TASK)] = 2
    keyword_min_score: Annotated[Count, About("keyword points that decide alone", _TASK)] = 2
    keyword_share: Annotated[Ratio, About("share of keywords when both are blended; tools have the rest", _TASK)] = 0.6
    sure_at_score: Annotated[Positive, About("points that count as certain", _TASK)] = 4
    general: Annotated[Shares, About(f"general: {_SHARES}", _TASK, whole=True)] = (0.10, 0.30, 0.15, 0.25, 0.20)
    reviewing: Annotated[Shares, About(f"reviewing: {_SHARES}", _TASK, whole=True)] = (0.10, 0.30, 0.15, 0.25, 0.20)
    debugging: Annotated[Shares, About(f"debugging: {_SHARES}", _TASK, whole=True)] = (0.25, 0.35, 0.10, 0.20, 0.10)
    testing: Annotated[Shares, About(f"testing: {_SHARES}", _TASK, whole=True)] = (0.10, 0.25, 0.15, 0.35, 0.15)
    implementing: Annotated[Shares, About(f"implementing: {_SHARES}", _TASK, whole=True)] = (
        0.05,
        0.20,
        0.20,
        0.40,
        0.15,
    )
    refactoring: Annotated[Shares, About(f"refactoring: {_SHARES}", _TASK, whole=True)] = (0.10, 0.25, 0.25, 0.30, 0.10)


class ContextEngine(Settings, frozen=True):
    """The engine that chooses what is in the prompt."""

    enabled: Annotated[bool, About("whether it chooses; off: the whole transcript (classic)", _SEED)] = True
    measurement_mode: Annotated[bool, About("whether classic mode is measured too", _SEED)] = False
    artifact_inline_threshold: Annotated[Count, About("tokens up to which tool output stays as it is", _SEED)] = 400
    artifact_ttl_turns: Annotated[Positive, About("turns after which unused tool output is dropped", _SEED)] = 50
    artifact_hot_accesses: Annotated[
        Count, About("accesses from which it is kept twice as long", "PRAANA src/context-engine/artifact-store.ts")
    ] = 4
    distiller: Distiller = Distiller()
    llm_digest: Annotated[bool, About("digests by a model", _CONFIG, no_effect="digests are made without a model")] = (
        False
    )
    activity_log_max_entries: Annotated[Positive, About("entries of the activity log", _CONFIG)] = 15
    checkpoint_enabled: Annotated[bool, About("whether a rolling summary of the session is kept", _SEED)] = True
    scoring: Scoring = Scoring()
    pressure: Pressure = Pressure()
    relevance: Relevance = Relevance()
    bands: Bands = Bands()
    density: Density = Density()
    checkpoint: Checkpoint = Checkpoint()
    digest: Digest = Digest()
    task_type: TaskType = TaskType()
