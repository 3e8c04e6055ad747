"""The sessions group: what agents did, whichever agent it was."""

from __future__ import annotations

from typing import Final

from workbench.store.schema import BOOL, INT, STRING, STRINGS, TIME, Column, Table, View
from workbench.store.sql import query

_SESSION = Column("session_id", STRING, "The session.", required=True)
_TURN = Column("turn", INT, "The exchange, from 1; 0 before the first prompt.", required=True)
_ORIGIN = (
    Column("source_id", STRING, "The file it was read from.", required=True),
    Column("agent_id", STRING, "The sub-agent that did it; null on the main chain."),
    Column("is_sidechain", BOOL, "Whether a sub-agent did it.", required=True),
)
_TOKENS = (
    Column("input_tokens", INT, "Fresh input tokens, caches apart."),
    Column("output_tokens", INT, "Output tokens, reasoning included."),
    Column("cache_read_tokens", INT, "Input tokens read from the provider's cache."),
    Column("cache_write_tokens", INT, "Input tokens written to the provider's cache, whatever the lifetime."),
)


def _derived(name: str, grain: str, key: tuple[str, ...], columns: tuple[Column, ...]) -> Table:
    return Table(name, "sessions", "derived", grain, key, columns, "design 5 and 6")


SESSIONS: Final = _derived(
    "sessions",
    "one session",
    ("session_id",),
    (
        _SESSION,
        Column("project_id", STRING, "Hash of the normalised first working directory; null where no record has one."),
        Column("agent", STRING, "The agent's name, such as claude-code.", required=True),
        Column("agent_version", STRING, "The newest version of the agent that wrote to it."),
        Column("title", STRING, "First line of the first prompt; where that ends in a colon, with the next."),
        Column("cwd", STRING, "The first working directory that a record names."),
        Column("git_branch", STRING, "The first branch that a record names."),
        Column("started_at", TIME, "Oldest time of its events."),
        Column("ended_at", TIME, "Newest time of its events."),
        Column("duration_ms", INT, "Newest minus oldest time; null where there are no times."),
        Column("prompts", INT, "What a person asked: user turns of the main chain.", required=True),
        Column("responses", INT, "Model responses of the main chain.", required=True),
        Column("turns", INT, "Rows in turns, sub-agents included.", required=True),
        Column("events", INT, "Rows in events.", required=True),
        Column("tool_calls", INT, "Tool calls, sub-agents included.", required=True),
        Column("sidechain_tool_calls", INT, "Tool calls of sub-agents.", required=True),
        Column("tool_errors", INT, "Tool calls that failed, sub-agents included.", required=True),
        Column("subagents", INT, "Distinct sub-agents.", required=True),
        Column("interrupts", INT, "How often a person stopped the agent.", required=True),
        Column("compactions", INT, "How often the history was replaced by a summary.", required=True),
        Column("models", STRINGS, "Models that answered, by first use."),
        Column("model_calls", INT, "Rows in usage.", required=True),
        *_TOKENS,
        Column("issues", INT, "Rows in import_issues.", required=True),
    ),
)

SOURCES: Final = _derived(
    "sources",
    "one file that sessions were read from",
    ("source_id",),
    (
        Column("source_id", STRING, "Hash of format and path.", required=True),
        Column("session_id", STRING, "The session that the file is about.", required=True),
        Column("session_ids", STRINGS, "All sessions that its records belong to.", required=True),
        Column("path", STRING, "Where it was found.", required=True),
        Column("format", STRING, "Who wrote it, such as claude-code.", required=True),
        Column("role", STRING, "main, subagent or log.", required=True),
        Column("parent_source_id", STRING, "For a sub-agent's file: the source of the session that started it."),
        Column("sha256", STRING, "Hash of what is archived; null for a log of our own, which is its own archive."),
        Column("older_sha256s", STRINGS, "Archived earlier contents that the newest one does not contain."),
        Column("size_bytes", INT, "Size of the file.", required=True),
        Column("mtime_ns", INT, "Modification time of the file in nanoseconds since 1970.", required=True),
        Column("inode", INT, "Inode of the file.", required=True),
        Column("lines", INT, "Lines in the file.", required=True),
        Column("records", INT, "Records read from it.", required=True),
        Column("imported_at", TIME, "When this content was first archived."),
    ),
)

IMPORT_ISSUES: Final = _derived(
    "import_issues",
    "one thing in a source that is not as it should be",
    ("source_id", "line", "issue"),
    (
        _SESSION,
        Column("source_id", STRING, "The file.", required=True),
        Column("line", INT, "Line in it, from 1; 0 where the issue is about the whole file.", required=True),
        Column(
            "issue", STRING, "bad_json, not_an_object, unfinished_line, unknown_record, odd_field, ...", required=True
        ),
        Column("detail", STRING, "What was found and what was done.", required=True),
        Column("count", INT, "How many records it stands for.", required=True),
    ),
)

EVENTS: Final = _derived(
    "events",
    "one event",
    ("session_id", "seq"),
    (
        _SESSION,
        Column("seq", INT, "Position in the session, from 1, without gaps.", required=True),
        Column("event_id", STRING, "ULID; of an imported event derived from its time and record.", required=True),
        Column("occurred_at", TIME, "As recorded; null where the source has no usable time."),
        Column("time_source", STRING, "recorded, missing or unreadable.", required=True),
        Column("kind", STRING, "user_message, agent_message, tool_call, tool_result, ...", required=True),
        Column("actor", STRING, "user, agent, kernel or tool.", required=True),
        _TURN,
        Column("parent_event_id", STRING, "The event that caused it: of a tool result its call."),
        Column("payload", STRING, "JSON, by kind.", required=True),
        Column("source_line", INT, "Line in the source, from 1."),
        *_ORIGIN,
    ),
)

TURNS: Final = _derived(
    "turns",
    "one message of one role: a prompt or one model response",
    ("session_id", "sequence_number"),
    (
        _SESSION,
        Column("sequence_number", INT, "Position among the session's turns, from 0.", required=True),
        _TURN,
        Column("role", STRING, "user or assistant.", required=True),
        Column("event_id", STRING, "Its first event.", required=True),
        Column("seq", INT, "Position of that event.", required=True),
        Column("occurred_at", TIME, "Time of its first event."),
        Column("ended_at", TIME, "Time of its last event; of a response, when its last block was written."),
        Column("text", STRING, "What was said, reminders of the harness taken out.", required=True),
        Column("thinking", STRING, "What the model thought, where the agent recorded it."),
        Column("images", INT, "Pictures in the message.", required=True),
        Column("tokens", INT, "Estimated tokens of the text.", required=True),
        Column("tool_calls", INT, "Tool calls in the response.", required=True),
        Column("model", STRING, "The model that answered."),
        Column("message_id", STRING, "The provider's id of the response."),
        Column("request_id", STRING, "The provider's id of the request."),
        Column(
            "is_error", BOOL, "Whether the response is an error of the provider, written by the agent.", required=True
        ),
        *_ORIGIN,
    ),
)

TURN_RECORDS: Final = _derived(
    "turn_records",
    "one exchange: a prompt and all that followed until the next",
    ("session_id", "turn"),
    (
        _SESSION,
        _TURN,
        Column("user_text", STRING, "The prompt.", required=True),
        Column("assistant_text", STRING, "The last thing the agent said to the person.", required=True),
        Column("started_at", TIME, "Oldest time of its events."),
        Column("ended_at", TIME, "Newest time of its events."),
        Column("duration_ms", INT, "Newest minus oldest time, never negative."),
        Column("responses", INT, "Model responses of the main chain.", required=True),
        Column("tool_calls", INT, "Tool calls, sub-agents included.", required=True),
        Column("tool_errors", INT, "Tool calls that failed.", required=True),
        Column("files_read", STRINGS, "Files that tools read, by first use.", required=True),
        Column("files_written", STRINGS, "Files that tools wrote, by first use.", required=True),
        Column("errors", STRINGS, "First line of each failed call's result.", required=True),
        Column("is_interrupted", BOOL, "Whether a person stopped the agent.", required=True),
        Column("is_compacted", BOOL, "Whether the history was compacted in it.", required=True),
        *_TOKENS,
    ),
)

TOOL_CALLS: Final = _derived(
    "tool_calls",
    "one call of a tool with its result",
    ("session_id", "tool_call_id"),
    (
        _SESSION,
        Column("tool_call_id", STRING, "The provider's id of the call, else the id of its event.", required=True),
        _TURN,
        Column("seq", INT, "Position of the call's event.", required=True),
        Column("call_event_id", STRING, "The event of the call.", required=True),
        Column("result_event_id", STRING, "The event of the result; null while there is none."),
        Column("message_id", STRING, "The response that made the call."),
        Column("tool", STRING, "Name of the tool as the agent writes it.", required=True),
        Column("input", STRING, "Arguments, JSON.", required=True),
        Column("command", STRING, "For shell tools: the command."),
        Column("file_path", STRING, "For file tools: the file."),
        Column("called_at", TIME, "Time of the call."),
        Column("returned_at", TIME, "Time of the result."),
        Column("duration_ms", INT, "Result minus call, null where that is negative or unknown."),
        Column("status", STRING, "ok, error, rejected (by the person) or open (no result).", required=True),
        Column("is_error", BOOL, "Whether it failed or was rejected; null without a result."),
        Column("result", STRING, "What came back, as text; pictures are named by type and size."),
        Column("result_tokens", INT, "Estimated tokens of the result."),
        Column("artifact_id", STRING, "Hash of the result where it is large enough to be an artifact."),
        *_ORIGIN,
    ),
)

USAGE: Final = _derived(
    "usage",
    "one model call of a session",
    ("session_id", "call_id"),
    (
        _SESSION,
        Column("call_id", STRING, "Message id of the call, else the id of its event.", required=True),
        _TURN,
        Column("event_id", STRING, "The event that told of it.", required=True),
        Column("occurred_at", TIME, "Time of that event."),
        Column("message_id", STRING, "The provider's id of the response."),
        Column("request_id", STRING, "The provider's id of the request."),
        Column("model", STRING, "The model that was billed."),
        *_TOKENS,
        Column("cache_write_1h_tokens", INT, "Of the cache writes: those kept for an hour."),
        Column("reasoning_tokens", INT, "Of the output: reasoning, where told."),
        *_ORIGIN,
    ),
)

ARTIFACTS: Final = _derived(
    "artifacts",
    "one large tool result of a session, by content",
    ("session_id", "artifact_id"),
    (
        _SESSION,
        Column("artifact_id", STRING, "SHA-256 of the text; the text is in blobs.", required=True),
        Column("created_turn", INT, "The exchange in which it first came.", required=True),
        Column("created_event_id", STRING, "The event that first brought it.", required=True),
        Column("source_tool", STRING, "The tool that made it.", required=True),
        Column("command", STRING, "For shell tools: the command."),
        Column("file_path", STRING, "For file tools: the file."),
        Column("raw_tokens", INT, "Estimated tokens.", required=True),
        Column("size_bytes", INT, "Length in UTF-8.", required=True),
        Column("uses", INT, "How many calls of the session brought it.", required=True),
    ),
)

BLOBS: Final = Table(
    "blobs",
    "sessions",
    "recorded",
    "one text by content, shared by sessions",
    ("sha256",),
    (
        Column("sha256", STRING, "Hash of the text in UTF-8.", required=True),
        Column("text", STRING, "The text.", required=True),
        Column("size_bytes", INT, "Length in UTF-8.", required=True),
    ),
    "PRAANA, artifact store; spec W12",
)

SESSION_LABELS: Final = Table(
    "session_labels",
    "sessions",
    "entity",
    "what people say of one session",
    ("session_id",),
    (
        _SESSION,
        Column("title", STRING, "A better title."),
        Column("tags", STRINGS, "Tags."),
        Column("arm", STRING, "The arm of a comparison."),
        Column("project", STRING, "The project it should count for."),
    ),
    "design 6",
)

USAGE_ONCE: Final = View(
    "usage_once",
    "sessions",
    "one model call, told by the session that began first, with the figures of the telling with the most output",
    ("session_id", "call_id"),
    (*USAGE.declared, Column("tellings", INT, "How many rows of usage tell of it.", required=True)),
    ("sessions", "usage"),
    query("usage_once"),
    "design 5, Usage",
)

VIEWS: Final = (USAGE_ONCE,)

TABLES: Final = (
    SESSIONS,
    SESSION_LABELS,
    SOURCES,
    IMPORT_ISSUES,
    EVENTS,
    TURNS,
    TURN_RECORDS,
    TOOL_CALLS,
    USAGE,
    ARTIFACTS,
    BLOBS,
)
