"""What of the sessions is searched: turns, tool results and whole sessions, as chunks made from the tables.

A turn is a prompt or a response. A tool result is a call with what came back: the texts of its arguments (command,
path, what was written) and its result. A session is its title, its folder and what it was asked, so that a question
about a whole piece of work finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.store.landing_key import HEAD
from workbench.store.schema import LANDING_ID
from workbench.text.chunking import chunk_text
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    import polars as pl

    from workbench.store.lake import Lake

NAME: Final = "sessions"
"""Of the collection in the vector database."""

KINDS: Final = ("turn", "tool_result", "session")

LAYOUT: Final = 1
"""Raised when the same rows of a session become other chunks; every session is then indexed anew."""

_ASKED: Final = """
select session_id, agent, project_id, cwd, title, started_at as occurred_at,
    (select list(user_text order by turn) from turn_records r where r.session_id = s.session_id) as prompts
from sessions s where session_id in (select unnest($ids)) order by session_id
"""

_SAID: Final = """
select t.session_id, s.agent, s.project_id, t.role, t.event_id as id, t.occurred_at, t.turn, t.seq as position, t.text
from turns t join sessions s using (session_id)
where t.session_id in (select unnest($ids)) and t.text != '' order by t.session_id, t.seq
"""

_DONE: Final = """
select c.session_id, s.agent, s.project_id, c.tool, c.tool_call_id as id, coalesce(c.returned_at, c.called_at)
    as occurred_at, c.turn, c.seq as position, c.input, c.result
from tool_calls c join sessions s using (session_id)
where c.session_id in (select unnest($ids)) order by c.session_id, c.seq
"""

_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""What steers a terminal; left out, since its end and the word behind it would be one word, as in `31mFAILED`."""

PROMPT_CHARS: Final = 300
"""Of each prompt in the text of a session: what was asked stands at its beginning, pasted logs behind it."""


@dataclass(frozen=True)
class SessionTexts:
    """The sessions of a lake as chunks.

    Attributes:
        lake: Where they are read.
        chunk_tokens: Estimated tokens of a chunk.
    """

    lake: Lake
    chunk_tokens: int

    def states(self) -> dict[str, str]:
        """Session id to a name of its present content: the landing, and how chunks are made."""
        rows = self.lake.derived_rows(HEAD, ["session_id", LANDING_ID])
        pairs = zip(rows["session_id"].to_pylist(), rows[LANDING_ID].to_pylist(), strict=True)
        return {str(session_id): f"{LAYOUT}/{self.chunk_tokens}/{landing}" for session_id, landing in pairs}

    def stamp(self) -> int | None:
        """When the log of `sessions` last got an entry; None where that cannot be told."""
        try:
            return (self.lake.home.tables / HEAD / "_delta_log").stat().st_mtime_ns
        except OSError:
            return None

    def chunks(self, session_ids: Sequence[str]) -> pl.DataFrame:
        """The chunks of some sessions, as `ChunkIndex.upsert` takes them; the session is the owner."""
        import polars as pl  # noqa: PLC0415  (175 ms)

        ids = {"ids": list(session_ids)}
        documents = [
            *map(_session, self.lake.sql(_ASKED, ids).iter_rows(named=True)),
            *map(_turn, self.lake.sql(_SAID, ids).iter_rows(named=True)),
            *map(_tool_result, self.lake.sql(_DONE, ids).iter_rows(named=True)),
        ]
        rows = [row for document in documents for row in self._cut(document)]
        return pl.DataFrame(rows, schema=_schema())

    def _cut(self, document: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The chunks of one turn, tool result or session; an id tells whose it is, and where in it."""
        place = document["position"] if document["position"] is not None else 0
        prefix = f"{document['session_id']}/{document['kind']}/{place}"
        text = _COLOURS.sub("", document["text"])
        for number, chunk in enumerate(chunk_text(text, estimate_tokens, self.chunk_tokens)):
            own = {"chunk_id": f"{prefix}/{number}", "text": chunk.text, "start": chunk.start, "end": chunk.end}
            yield document | own


def _turn(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "kind": "turn", "owner": row["session_id"], "tool": None}


def _tool_result(row: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: row[name] for name in row if name not in {"input", "result"}}
    text = "\n".join([*_texts(row["input"]), "", row["result"] or ""]).strip()
    return {**given, "kind": "tool_result", "owner": row["session_id"], "role": None, "text": text}


def _session(row: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: row[name] for name in ("session_id", "agent", "project_id", "occurred_at")}
    prompts = [prompt[:PROMPT_CHARS].strip() for prompt in row["prompts"] or () if prompt]
    title = None if row["title"] and prompts and prompts[0].startswith(row["title"]) else row["title"]
    text = "\n\n".join(filter(None, [title, row["cwd"], *prompts])) or row["session_id"]
    nothing = dict.fromkeys(("role", "tool", "turn", "position"))
    return given | nothing | {"kind": "session", "id": row["session_id"], "owner": row["session_id"], "text": text}


def _texts(arguments: str) -> Iterator[str]:
    """Every text among the arguments of a call, in order; what is no JSON is one text."""
    try:
        decoded = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeDecodeError):
        yield arguments
        return
    waiting = [decoded]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)


def _schema() -> dict[str, Any]:
    import polars as pl  # noqa: PLC0415  (175 ms)

    texts = ("chunk_id", "owner", "kind", "id", "session_id", "project_id", "agent", "role", "tool", "text")
    numbers = ("turn", "position", "start", "end")
    return {
        **dict.fromkeys(texts, pl.String),
        "occurred_at": pl.Datetime("us", "UTC"),
        **dict.fromkeys(numbers, pl.Int64),
    }
