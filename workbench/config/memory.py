"""Settings of the memory that lasts over sessions: recall, decay, reinforcement, promotion, digest, summaries."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from workbench.config.fields import About, Amount, Count, Positive, Ratio, Settings

_SEED = "PRAANA, Configuration"
_CONFIG = "PRAANA src/config.ts"
_STORE = "PRAANA src/memory/store.ts"
_RECALL = "PRAANA, Ranking and Decay"
_DECAY = "PRAANA, Ranking and Decay"
_DEDUP = "PRAANA source, deduplication"
_DIGEST = "PRAANA source, memory digest"
_SUMMARY = "PRAANA src/memory/summarizer.ts"
_CONSOLIDATION = "PRAANA source, consolidation"

Days = Annotated[float, Meta(gt=0)]


class Entry(Settings, frozen=True):
    """A memory when it is written."""

    content_max_chars: Annotated[Positive, About("characters kept", _STORE)] = 1000
    validity_high: Annotated[Ratio, About("validity of what is said with high certainty", _STORE)] = 0.8
    validity_medium: Annotated[Ratio, About("with medium certainty", _STORE)] = 0.5
    validity_low: Annotated[Ratio, About("with low certainty", _STORE)] = 0.3
    usefulness_start: Annotated[Ratio, About("usefulness before any use", _STORE)] = 0.5


class Recall(Settings, frozen=True):
    """Ranking of memories for a query; the least match is compiler.recall_min_score."""

    limit: Annotated[Positive, About("memories that the tool returns", _RECALL)] = 10
    command_limit: Annotated[Positive, About("memories that the command shows", _RECALL)] = 20
    candidate_factor: Annotated[Positive, About("candidates fetched for each result", _RECALL)] = 4
    vector_match_max: Annotated[Ratio, About("most that closeness of meaning counts as match", _RECALL)] = 0.75
    keyword_base: Annotated[Ratio, About("match of any shared word", _RECALL)] = 0.6
    keyword_coverage: Annotated[Ratio, About("part of the match for the share of words found", _RECALL)] = 0.3
    keyword_rank: Annotated[Ratio, About("part of the match for the rank among hits", _RECALL)] = 0.1
    w_validity: Annotated[Amount, About("weight of validity", _RECALL)] = 0.2
    w_usefulness: Annotated[Amount, About("weight of usefulness", _RECALL)] = 0.3
    recency_boost: Annotated[Amount, About("bonus of a memory seen today", _RECALL)] = 0.2
    recency_fade_per_day: Annotated[Amount, About("loss of that bonus a day", _RECALL)] = 0.02
    pin_boost: Annotated[Amount, About("bonus of a pinned memory", _RECALL)] = 0.3


class Decay(Settings, frozen=True):
    """Days in which validity halves; constraints and pinned memories keep theirs."""

    preference_days: Annotated[Days, About("preferences", _DECAY)] = 180.0
    fact_days: Annotated[Days, About("facts", _DECAY)] = 90.0
    decision_days: Annotated[Days, About("decisions", _DECAY)] = 365.0
    mistake_days: Annotated[Days, About("mistakes", _DECAY)] = 60.0
    pattern_days: Annotated[Days, About("patterns", _DECAY)] = 365.0
    deep_factor: Annotated[Amount, About("how many times longer in the second layer", _DECAY)] = 4.0


class Reinforcement(Settings, frozen=True):
    """What each signal does to validity and usefulness. A gain is a share of the way to 1."""

    surfaced_gain: Annotated[Ratio, About("validity of what was shown", _STORE)] = 0.15
    used_gain: Annotated[Ratio, About("usefulness of what was used in a good session", _STORE)] = 0.15
    unused_factor: Annotated[Ratio, About("usefulness of what was shown and not used", _STORE)] = 0.95
    duplicate_gain: Annotated[Ratio, About("validity when the same is written again", _STORE)] = 0.08
    tool_success_gain: Annotated[Ratio, About("validity when a tool succeeds after the recall", _STORE)] = 0.08
    contradicted_factor: Annotated[Ratio, About("validity when a learning contradicts it", _STORE)] = 0.7
    confirmed_gain: Annotated[Ratio, About("validity when consolidation confirms it", _CONSOLIDATION)] = 0.1
    refuted_factor: Annotated[Ratio, About("validity when consolidation contradicts it", _CONSOLIDATION)] = 0.8


class Promotion(Settings, frozen=True):
    """What moves up: memories into the second layer, tool output and notes into memory."""

    min_sessions: Annotated[Positive, About("sessions that must have confirmed a memory", _STORE)] = 2
    min_validity: Annotated[Ratio, About("validity it must have", _STORE)] = 0.7
    artifact_min_accesses: Annotated[Positive, About("accesses that make tool output worth remembering", _STORE)] = 3
    artifact_chars: Annotated[Positive, About("characters of it that are remembered", _STORE)] = 200


class Prune(Settings, frozen=True):
    """What is deleted: first layer, not pinned, long unseen and no longer believed."""

    after_days: Annotated[Amount, About("days unseen", _STORE)] = 30.0
    below_validity: Annotated[Ratio, About("validity under which it goes", _STORE)] = 0.05
    growth_entries: Annotated[Count, About("entries from which writing prunes too", _STORE)] = 1000
    growth_step: Annotated[Positive, About("new entries between two such prunings", _STORE)] = 100


class Dedup(Settings, frozen=True):
    """When two memories are the same, and when they contradict each other."""

    candidates: Annotated[Positive, About("neighbours looked at before a write", _DEDUP)] = 5
    near_match: Annotated[Ratio, About("match of a near duplicate", _DEDUP)] = 0.92
    near_cosine: Annotated[Ratio, About("closeness of meaning of a near duplicate", _DEDUP)] = 0.92
    contradiction_cosine: Annotated[Ratio, About("closeness from which two texts may contradict", _DEDUP)] = 0.8
    cached_vectors: Annotated[Positive, About("vectors kept for that comparison", _DEDUP)] = 100


class MemoryDigest(Settings, frozen=True):
    """The memories shown at the start of a session; weights by kind."""

    constraint: Annotated[Amount, About("weight of constraints", _DIGEST)] = 1.3
    preference: Annotated[Amount, About("weight of preferences", _DIGEST)] = 1.2
    pattern: Annotated[Amount, About("weight of patterns", _DIGEST)] = 1.1
    fact: Annotated[Amount, About("weight of facts", _DIGEST)] = 1.0
    decision: Annotated[Amount, About("weight of decisions", _DIGEST)] = 0.9
    mistake: Annotated[Amount, About("weight of mistakes", _DIGEST)] = 0.7
    pin_boost: Annotated[Amount, About("bonus of a pinned memory", _DIGEST)] = 0.3


class Summary(Settings, frozen=True):
    """The call that draws learnings from a finished session."""

    temperature: Annotated[Amount, About("temperature of the call", _SUMMARY)] = 0.3
    max_tokens: Annotated[Positive, About("tokens of the answer", _SUMMARY)] = 1500
    timeout_seconds: Annotated[Positive, About("time for the call", _SUMMARY)] = 30
    learnings_max: Annotated[Count, About("learnings asked for", _SUMMARY)] = 5
    learning_chars: Annotated[Positive, About("characters of a learning", _SUMMARY)] = 200
    result_chars: Annotated[Count, About("characters of a tool result in the transcript", _SUMMARY)] = 200
    entry_chars: Annotated[Count, About("characters of a shown memory in the question", _SUMMARY)] = 120
    check_candidates: Annotated[Count, About("memories checked against a new learning", _SUMMARY)] = 3
    check_score: Annotated[Ratio, About("match from which one is checked for contradiction", _SUMMARY)] = 0.8


class Memory(Settings, frozen=True):
    """Memory over sessions."""

    enabled: Annotated[bool, About("whether memories are kept and recalled", _SEED)] = True
    summarizer: Annotated[
        Literal["disabled", "ollama", "openrouter", "openai"] | None,
        About("who summarises a finished session; unset: by llm.provider", _SEED),
    ] = None
    summarizer_model: Annotated[
        str, About("model that summarises; empty: the usual one", "PRAANA source, PRAANA_SUMMARIZER_MODEL")
    ] = ""
    db_path: Annotated[
        Path, About("file of the memories", _SEED, local_only=True, no_effect="memories are tables of the home")
    ] = Path("~/.praana/memory.db")
    embedder: Annotated[
        Literal["auto", "ollama", "transformers", "transformers-nomic"],
        About("who embeds memories; auto: embedding.model", _CONFIG),
    ] = "auto"
    transformers_model: Annotated[str | None, About("model of the transformers embedder", _CONFIG)] = None
    ollama_url: Annotated[str, About("address of Ollama", _CONFIG, local_only=True)] = "http://localhost:11434"
    ollama_model: Annotated[str, About("embedding model of Ollama", _CONFIG)] = "nomic-embed-text"
    ollama_summarizer_model: Annotated[str | None, About("summarising model of Ollama", _CONFIG)] = None
    user: Annotated[
        str,
        About(
            "whose memories these are (hashed)",
            "PRAANA source, memory scopes",
            local_only=True,
            variable="USER",
            hashed=False,
        ),
    ] = "unknown"
    entry: Entry = Entry()
    recall: Recall = Recall()
    decay: Decay = Decay()
    reinforcement: Reinforcement = Reinforcement()
    promotion: Promotion = Promotion()
    prune: Prune = Prune()
    dedup: Dedup = Dedup()
    digest: MemoryDigest = MemoryDigest()
    summary: Summary = Summary()


class Consolidation(Settings, frozen=True):
    """The pass over old memories after a session."""

    enabled: Annotated[bool, About("whether it runs", _CONFIG)] = True
    promotion_threshold: Annotated[Count, About("confirmations that promote a memory", _CONFIG)] = 3
    run_delay_seconds: Annotated[Count, About("wait after the end of a session", _CONFIG)] = 30
    model: Annotated[str | None, About("its model", _CONFIG, no_effect="background_intelligence.model is asked")] = None
    promotion_min_validity: Annotated[Ratio, About("validity that a promoted memory must have", _CONSOLIDATION)] = 0.6
    candidates_max: Annotated[Count, About("memories looked at", _CONSOLIDATION)] = 50
    unseen_days: Annotated[Amount, About("days unseen that make a memory a candidate", _CONSOLIDATION)] = 30.0
    transcript_chars: Annotated[Count, About("characters of the transcript shown", _CONSOLIDATION)] = 4000
    new_entries_max: Annotated[Count, About("new memories taken from the answer", _CONSOLIDATION)] = 5
    temperature: Annotated[Amount, About("temperature of the call", _CONSOLIDATION)] = 0.2
    max_tokens: Annotated[Positive, About("tokens of the answer", _CONSOLIDATION)] = 2000
    timeout_seconds: Annotated[Positive, About("time for the call", _CONSOLIDATION)] = 60
