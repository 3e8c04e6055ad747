"""`workbench search` and `workbench embed`."""

from __future__ import annotations

import re
import sys
import time
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from workbench.errors import BadInputError
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, progress_bar, zone

if TYPE_CHECKING:
    from workbench.search.query import Answer
    from workbench.search.refresh import Embedded

INDENT: Final = "    "
_WHITE_SPACE: Final = re.compile(r"\s+")


VaultOption = Annotated[
    Path | None,
    typer.Option("--vault", help="A folder of notes that `vault index` has read, in place of sessions."),
]


class Mode(StrEnum):
    """How is searched."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class Kind(StrEnum):
    """What is searched."""

    TURN = "turn"
    TOOL_RESULT = "tool_result"
    SESSION = "session"


class Role(StrEnum):
    """Who said it."""

    USER = "user"
    ASSISTANT = "assistant"


@app.command()
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Words to be found, or a question; nothing in it is syntax.")],
    home: HomeOption = None,
    json: JsonOption = False,
    mode: Annotated[
        Mode | None, typer.Option("--mode", help="By words, by meaning, or both; search.mode unless given.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", help="Most hits; search.default_limit unless given.", min=1)
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", help="Only of this project: its id, or part of its path.")
    ] = None,
    since: Annotated[datetime | None, typer.Option("--since", help="Only at or after this local time.")] = None,
    until: Annotated[datetime | None, typer.Option("--until", help="Only before this local time.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only results of this tool.")] = None,
    role: Annotated[Role | None, typer.Option("--role", help="Only turns of this role.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only of this agent.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="Only of this session: id, beginning of one, or last.")
    ] = None,
    kind: Annotated[Kind | None, typer.Option("--kind", help="Only hits of this kind.")] = None,
    vault: VaultOption = None,
) -> None:
    """Search over everything that was said and done, or over notes. What is new since the last search is indexed first.

    Notes are searched as the last `vault index` found them; the filters are those of sessions.
    """
    bench = open_bench(context, home)
    filters: dict[str, Any] = {
        "project": project,
        "since": since.astimezone() if since else None,
        "until": until.astimezone() if until else None,
        "tool": tool,
        "role": role.value if role else None,
        "agent": agent,
        "session": session,
        "kind": kind.value if kind else None,
    }
    asked = {name: value for name, value in filters.items() if value is not None}
    if vault is not None and asked:
        raise BadInputError(f"notes have no {', '.join(asked)}; leave out --{' and --'.join(asked)}, or --vault")
    with progress_bar("indexing", of_bytes=False) as progress:
        how: dict[str, Any] = {"mode": mode.value if mode else None, "limit": limit, "progress": progress}
        answer = bench.answer(query, **how, **filters) if vault is None else bench.vault(vault).answer(query, **how)
    if json:
        print_json(
            {
                "mode": answer.mode,
                "degraded": answer.degraded,
                "notices": answer.notices,
                "hits": answer.hits.to_dicts(),
            }
        )
        return
    told = ", ".join(
        f"{name} {local(value) if isinstance(value, datetime) else value}" for name, value in asked.items()
    )
    _print(answer, "all notes" if vault is not None else f"only {told}" if told else "all projects")


def _print(answer: Answer, among: str) -> None:
    for hit in answer.hits.iter_rows(named=True):
        print(plain(_heading(hit)))
        print(f"{INDENT}{_marked(hit['snippet'], hit['marks'])}\n")
    print(plain(f"{answer.hits.height} hits by {answer.mode}; {among}; {zone()}"))
    for lack in (*answer.lacks, *answer.notices):
        print(f"workbench: {plain(lack)}", file=sys.stderr)


def _heading(hit: dict[str, Any]) -> str:
    """Score, what was found, when it was said or changed, and where it is."""
    if "path" in hit:
        return f"{hit['score']:.3f}  {hit['title']}  {local(hit['modified_at'])}  {hit['path']}:{hit['line']}"
    by = hit["tool"] or hit["role"] or ""
    when = local(hit["occurred_at"])
    return f"{hit['score']:.3f}  {hit['kind']} {by}  {when}  {hit['session_id'] or ''}".replace("   ", "  ")


def _marked(text: str, marks: list[list[int]]) -> str:
    """A snippet on one line, what was found in bold where a person reads it; nothing in it steers the terminal."""
    bold, normal = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    pieces, place = [], 0
    for first, last in marks:
        pieces += [_line(text[place:first]), bold, _line(text[first:last]), normal]
        place = last
    return "".join([*pieces, _line(text[place:])]).strip()


def _line(text: str) -> str:
    return plain(_WHITE_SPACE.sub(" ", text))


@app.command()
def embed(context: typer.Context, home: HomeOption = None, json: JsonOption = False, vault: VaultOption = None) -> None:
    """Give every text a vector, for search by meaning. Ctrl-C ends it; what is done stays, the next run goes on."""
    started = time.perf_counter()
    bench = open_bench(context, home)
    with progress_bar("embedding", of_bytes=False) as progress:
        done = (bench if vault is None else bench.vault(vault)).embed(progress=progress)
    seconds = round(time.perf_counter() - started, 3)
    if json:
        print_json(embedded_shape(done, seconds))
        return
    print_embedded(done, seconds)


def print_embedded(done: Embedded, seconds: float) -> None:
    """Tell a person what an embedding run did."""
    print(
        f"embedded {done.embedded:,} texts with {plain(done.model)} in {seconds:.1f} s; "
        f"{done.vectors:,} of {done.texts:,} texts have a vector"
    )
    if done.shared:
        print(f"{done.shared:,} of them share the vector of the same text elsewhere")
    if done.index is not None:
        verdict = "accepted" if done.index.is_accepted else "not used: every vector is compared, which is slower"
        print(f"index of {done.index.rows:,} vectors: recall {done.index.recall:.3f}, {verdict}")


def embedded_shape(done: Embedded, seconds: float) -> dict[str, Any]:
    """What an embedding run did, as JSON has it."""
    index = None
    if done.index is not None:
        index = {"rows": done.index.rows, "recall": done.index.recall, "accepted": done.index.is_accepted}
    return {
        "model": done.model,
        "texts": done.texts,
        "embedded": done.embedded,
        "shared": done.shared,
        "vectors": done.vectors,
        "index": index,
        "seconds": seconds,
    }
