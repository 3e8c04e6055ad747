"""Settings of search and of the knowledge about projects: index, graph, wake-up, observations, queue, hooks."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from workbench.config.fields import About, Amount, Count, Positive, Ratio, Seconds, Settings

_DAEMON = "PAI, Daemon configuration"
_SEARCH = "PAI src/memory/search.ts"
_FUSION = "measured: reports/retrieval/README.md (PAI: even weights)"
_FEEDBACK = "PAI, Feedback Weight EMA System"
_CHUNKER = "PAI src/memory/chunker"
_INDEXER = "PAI src/memory/indexer.ts"
_GRAPH = "PAI, Graph-Completion Search Pipeline"
_KG = "PAI, Temporal Knowledge Graph"
_TUNNELS = "PAI, Cross-Project Tunnel Detection"
_WAKEUP = "PAI, 4-Layer Wake-Up Context"
_OBSERVATIONS = "PAI src/observations/store.ts"
_QUEUE = "PAI src/daemon/work-queue.ts"
_SUMMARY = "PAI, Session Summary Pipeline"
_TOPICS = "PAI src/daemon/topic-detect-worker.ts"
_ONE_STORE = "rows are Delta tables, vectors LanceDB; store.url says where"
_LATER = "there is no PostgreSQL backend yet"

Limit = Annotated[int, Meta(ge=1, le=100)]
Days = Annotated[float, Meta(ge=0, le=365)]


class Search(Settings, frozen=True):
    """Finding chunks, and ranking them."""

    mode: Annotated[
        Literal["keyword", "semantic", "hybrid", "graph"], About("how is searched", "PAI, Search Modes")
    ] = "keyword"
    rerank: Annotated[bool, About("whether the best are scored again", "PAI, Cross-Encoder Reranking")] = True
    rerank_top: Annotated[Count, About("how many are scored again", "PAI src/memory/reranker.ts; design 11")] = 50
    recency_boost_days: Annotated[
        Days,
        About(
            "age at which a hit counts half; 0: age does not count",
            "PAI src/memory/search.ts has 90, by which an exact hit of a year ago counts a sixteenth",
            seed_key="search.recencyBoostDays",
        ),
    ] = 0.0
    default_limit: Annotated[Limit, About("hits returned", _SEARCH, seed_key="search.defaultLimit")] = 10
    snippet_length: Annotated[Count, About("characters of a hit's text", _SEARCH, seed_key="search.snippetLength")] = (
        200
    )
    candidates: Annotated[Positive, About("hits taken from each list before they are joined", _SEARCH)] = 50
    fusion: Annotated[
        Literal["minmax", "rrf"], About("how words and meaning are joined: sum of scaled scores, or ranks", _FUSION)
    ] = "minmax"
    keyword_weight: Annotated[Ratio, About("weight of words in hybrid search", _FUSION)] = 0.4
    semantic_weight: Annotated[Ratio, About("weight of meaning in hybrid search", _FUSION)] = 0.6
    rrf_k: Annotated[Amount, About("damping of ranks in reciprocal rank fusion", "Cormack, Clarke, Buettcher 2009")] = (
        60.0
    )
    token_min_chars: Annotated[Positive, About("length of a word that is searched for", _SEARCH)] = 2
    chunk_tokens: Annotated[
        Positive,
        About(
            "estimated tokens of a chunk of a session or note",
            "96 % of tool results then fit the 256 of MiniLM; measured",
        ),
    ] = 160
    query_terms: Annotated[Positive, About("distinct words of a query that are looked for", "a screen of text")] = 64
    context_turns: Annotated[Count, About("exchanges to either side that count as neighbours", "design 8")] = 1
    context_weight: Annotated[
        Ratio, About("weight of the best neighbouring hit; 0 until a study says otherwise", "design 8")
    ] = 0.0
    feedback_alpha: Annotated[Ratio, About("how far one read moves a chunk's weight", _FEEDBACK)] = 0.1
    feedback_signal: Annotated[Amount, About("weight that many reads lead to", "PAI, its own figures (2 - 0.9^n)")] = (
        2.0
    )
    read_max_bytes: Annotated[Positive, About("largest file that is handed out", "PAI src/mcp/tools/memory.ts")] = (
        5_000_000
    )


class Embedding(Settings, frozen=True):
    """The model that turns texts into vectors."""

    model: Annotated[
        str, About("embedding model", "design 11 (PAI: arctic-embed-m-v1.5)", seed_key="embeddingModel")
    ] = "all-MiniLM-L6-v2"
    model_path: Annotated[Path | None, About("folder of an ONNX model instead", "design 11", local_only=True)] = None
    max_tokens: Annotated[Positive, About("tokens that the model reads; longer texts are chunked", "design 11")] = 256
    batch_size: Annotated[Positive, About("texts embedded at once", "design 11")] = 8
    url: Annotated[
        str | None,
        About(
            "address of the server of an ollama: or openai: model; unset: the usual one", "design 11", local_only=True
        ),
    ] = None
    api_key: Annotated[
        str, About("what the server is shown; empty: nothing", "design 11", local_only=True, secret=True)
    ] = ""
    timeout_seconds: Annotated[
        Positive, About("patience with one request to the server", "OpenAI's and Ollama's clients wait minutes")
    ] = 60
    tries: Annotated[
        Positive, About("requests before a busy server is given up", "design 10 (stamina's usual few)")
    ] = 4
    dimension: Annotated[
        Positive | None, About("numbers a server's vectors must have; unset: whatever it gives", "design 11")
    ] = None


class Rerank(Settings, frozen=True):
    """The model that scores query and text together."""

    model_path: Annotated[
        Path | None,
        About("folder of an ONNX cross-encoder; unset: the embedder scores again", "design 11", local_only=True),
    ] = None


class Postgres(Settings, frozen=True):
    """PAI's database server."""

    host: Annotated[str, About("server", _DAEMON, local_only=True, no_effect=_LATER)] = "127.0.0.1"
    port: Annotated[int, Meta(ge=1, le=65535), About("port", _DAEMON, local_only=True, no_effect=_LATER)] = 5432
    database: Annotated[str, About("database", _DAEMON, local_only=True, no_effect=_LATER)] = "pai"
    user: Annotated[str, About("user", _DAEMON, local_only=True, no_effect=_LATER)] = "pai"
    password: Annotated[str, About("password", _DAEMON, local_only=True, no_effect=_LATER, secret=True)] = ""


class Graph(Settings, frozen=True):
    """Triples, and search that follows them."""

    fuzzy_confidence: Annotated[Ratio, About("confidence that two objects of one predicate contradict", _KG)] = 0.5
    extracted_max: Annotated[Count, About("relations taken from one summary", "PAI source, triple extraction")] = 15
    wide_k: Annotated[int, Meta(ge=1, le=200), About("chunks that the search starts from", _GRAPH)] = 50
    depth: Annotated[int, Meta(ge=0, le=2), About("steps along triples", _GRAPH)] = 1
    top_k: Annotated[Limit, About("results", _GRAPH)] = 20


class Tunnels(Settings, frozen=True):
    """Concepts that several projects share."""

    min_projects: Annotated[Positive, About("projects that must share it", _TUNNELS)] = 3
    min_occurrences: Annotated[Positive, About("chunks that must name it", "PAI source, tunnels")] = 3
    limit: Annotated[int, Meta(ge=1, le=200), About("concepts returned", "PAI source, tunnels")] = 20
    candidates: Annotated[Positive, About("most frequent words that are looked at", "PAI source, tunnels")] = 500
    term_min_chars: Annotated[Positive, About("length of a word", "PAI source, tunnels")] = 3


class Wakeup(Settings, frozen=True):
    """What is told at the start of a session."""

    l1_count: Annotated[Count, About("newest session notes read", _WAKEUP, seed_key="wakeupL1Count")] = 10
    token_budget: Annotated[int, Meta(ge=100, le=4000), About("tokens of the text", "PAI source, wake-up")] = 800
    token_chars: Annotated[Positive, About("characters counted as a token", "PAI source, wake-up")] = 4
    note_extra_chars: Annotated[
        Count, About("characters that a note may have beyond its share", "PAI source, wake-up")
    ] = 200
    stop_below_chars: Annotated[Count, About("room under which no further note is taken", "PAI source, wake-up")] = 50


class Observations(Settings, frozen=True):
    """What tool calls are remembered as."""

    dedup_seconds: Annotated[Amount, About("time in which the same counts once", _OBSERVATIONS)] = 30.0
    injected: Annotated[Count, About("newest that are told at the start of a session", "PAI src/hooks")] = 25
    timeline_lines: Annotated[Count, About("of them shown line by line", "PAI src/hooks")] = 15
    search_limit: Annotated[Positive, About("found by a search", "PAI src/mcp/tools/observations.ts")] = 20
    timeline_limit: Annotated[Positive, About("in a timeline", "PAI src/mcp/tools/observations.ts")] = 50


class Queue(Settings, frozen=True):
    """Work put off by hooks."""

    max_attempts: Annotated[Positive, About("tries of a job", "PAI, Work Queue and Session Summary Pipeline")] = 3
    retry_seconds: Annotated[Seconds, About("wait after the first, second, ... failure", _QUEUE)] = (5.0, 30.0, 300.0)
    max_jobs: Annotated[Positive, About("jobs kept", _QUEUE)] = 1000
    poll_seconds: Annotated[Amount, About("time between two looks", _QUEUE)] = 5.0
    keep_completed_hours: Annotated[Amount, About("age at which finished jobs go", _QUEUE)] = 1.0
    keep_failed_hours: Annotated[Amount, About("age at which failed jobs go", _QUEUE)] = 24.0


class SessionSummary(Settings, frozen=True):
    """The note that a model writes about a session."""

    stop_tail_chars: Annotated[Positive, About("end of the transcript read when a session stops", _SUMMARY)] = 500_000
    compaction_tail_chars: Annotated[Positive, About("and when it is compacted", _SUMMARY)] = 200_000
    git_commits: Annotated[Count, About("newest commits told to the model", _SUMMARY)] = 20
    cooldown_minutes: Annotated[
        Amount, About("least time between two in one folder", "PAI, Cooldown and Force Flags")
    ] = 30.0
    stop_timeout_seconds: Annotated[Positive, About("time for the model when a session stops", _SUMMARY)] = 300
    compaction_timeout_seconds: Annotated[Positive, About("and when it is compacted", _SUMMARY)] = 120
    prompts: Annotated[Count, About("last prompts told to the model", "PAI src/daemon/session-summary-worker.ts")] = 30
    prompt_chars: Annotated[Count, About("characters of each", "PAI src/daemon/session-summary-worker.ts")] = 500
    new_note_below: Annotated[Ratio, About("similarity of topics under which a new note begins", _SUMMARY)] = 0.3
    shift_threshold: Annotated[Ratio, About("confidence from which a topic belongs to another project", _TOPICS)] = 0.6
    shift_candidates: Annotated[Positive, About("chunks that vote on it", _TOPICS)] = 20
    route_threshold: Annotated[Ratio, About("confidence from which a session is sent elsewhere", _TOPICS)] = 0.5


class Hooks(Settings, frozen=True):
    """What hooks of other agents do."""

    auto_save_interval: Annotated[
        Count, About("prompts between two saves; 0: none", "PAI, Mid-Session Auto-Save", seed_key="autoSaveInterval")
    ] = 15


class Knowledge(Settings, frozen=True):
    """The index of projects and all that follows from it."""

    storage_backend: Annotated[
        Literal["postgres", "sqlite"], About("PAI's database", _DAEMON, seed_key="storageBackend", no_effect=_ONE_STORE)
    ] = "postgres"
    index_interval_secs: Annotated[
        Count, About("time between two index runs of a server", _DAEMON, seed_key="indexIntervalSecs")
    ] = 300
    embed_interval_secs: Annotated[
        Count,
        About("time between two embedding runs of a server", "PAI src/daemon/config.ts", seed_key="embedIntervalSecs"),
    ] = 600
    chunk_max_tokens: Annotated[Positive, About("tokens of a chunk", _CHUNKER)] = 400
    chunk_overlap_tokens: Annotated[
        Count, About("tokens that it shares with the one before", _CHUNKER, below="chunk_max_tokens")
    ] = 80
    tokens_per_word: Annotated[float, Meta(gt=0), About("tokens counted for a word", _CHUNKER)] = 1.3
    max_files: Annotated[Positive, About("files of one project", _INDEXER)] = 5000
    max_depth: Annotated[Count, About("depth of folders", _INDEXER)] = 6
    graph: Graph = Graph()
    tunnels: Tunnels = Tunnels()
    wakeup: Wakeup = Wakeup()
    observations: Observations = Observations()
    queue: Queue = Queue()
    session_summary: SessionSummary = SessionSummary()
    hooks: Hooks = Hooks()
