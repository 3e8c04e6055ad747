"""`workbench sessions` and `workbench show`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.reports.render.numbers import UNKNOWN, lasting
from workbench.reports.render.text import visible
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, print_rows, print_table, zone

if TYPE_CHECKING:
    from workbench.bench import Workbench


class Format(StrEnum):
    """How a session is shown."""

    TEXT = "text"
    MARKDOWN = "md"


sessions_app = typer.Typer(help="List sessions, newest first; `label` says something of one.")
app.add_typer(sessions_app, name="sessions")


@sessions_app.callback(invoke_without_command=True)
def sessions(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    project: Annotated[
        str | None, typer.Option("--project", help="Only of this project: its id, or part of its path.")
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only of this agent.")] = None,
    since: Annotated[
        datetime | None, typer.Option("--since", help="Only those that were active at or after this local time.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="The newest so many; 0 for all.", min=0)] = 50,
) -> None:
    """List sessions, newest first; `label` says something of one."""
    if context.invoked_subcommand is not None:
        context.obj = home or context.obj
        return
    bench = open_bench(context, home)
    found = bench.list_sessions(project=project, agent=agent, since=since.astimezone() if since else None)
    shown = found.head(limit) if limit and not json else found
    if json:
        print_rows(found)
        return
    names = (
        "session_id",
        "started_at",
        "duration_ms",
        "agent",
        "prompts",
        "responses",
        "tool_calls",
        "tool_errors",
        "output_tokens",
        "title",
    )
    heads = (
        "session",
        f"started ({zone()})",
        "lasted",
        "agent",
        "prompts",
        "responses",
        "calls",
        "failed",
        "output",
        "title",
    )
    rows = [
        [lasting(v) if n == "duration_ms" else v for n, v in zip(names, row, strict=True)]
        for row in shown.select(names).rows()
    ]
    print_table(heads, rows)
    filters = {"project": project, "agent": agent, "since": local(since.astimezone()) if since else None}
    told = ", ".join(f"{name} {value}" for name, value in filters.items() if value)
    print(f"{shown.height:,} of {found.height:,} sessions" + (f"; only {told}" if told else "; all projects"))


@sessions_app.command("label")
def label(
    context: typer.Context,
    session: Annotated[str, typer.Argument(help="Its id, a prefix that fits no other, or last.")],
    arm: Annotated[
        str | None, typer.Option("--arm", help="Arm of a comparison; an empty one takes it away.", show_default=False)
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="A better title; an empty one takes it away.", show_default=False)
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag to add; may be given several times.", show_default=False)
    ] = None,
    untag: Annotated[list[str] | None, typer.Option("--untag", help="A tag to take away.", show_default=False)] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", help="The project it counts for; an empty one takes it away.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Say something of a session; what is not named stays. Without an option, tell what is said of it."""
    bench = open_bench(context, home)
    session_id = bench.resolve_session(session)
    given = {"arm": arm, "title": title, "project": project}
    changes = {name: value for name, value in given.items() if value is not None}
    if changes or tags or untag:
        told = bench.label(session_id, add_tags=tags or (), remove_tags=untag or (), **changes)
    else:
        row = bench.session(session_id)["labels"] or {}
        told = {name: row.get(name) for name in ("title", "tags", "arm", "project")}
    if json:
        print_json({"session_id": session_id, **told})
        return
    print(session_id)
    for name, value in told.items():
        print(f"  {name:<8} {plain(value) or UNKNOWN}")


@app.command()
def show(
    context: typer.Context,
    session: Annotated[str, typer.Argument(help="Its id, a prefix that fits no other, or last.")],
    home: HomeOption = None,
    json: JsonOption = False,
    shape: Annotated[
        Format, typer.Option("--format", help="text for the screen, md for a whole Markdown document.")
    ] = Format.TEXT,
) -> None:
    """Show one session: what was asked, what was done, what it cost."""
    bench = open_bench(context, home)
    session_id = bench.resolve_session(session)
    if json:
        print_json(bench.session(session_id))
    elif shape is Format.MARKDOWN:
        print(visible(bench.session_markdown(session_id)))
    else:
        _print_session(bench, session_id)


def _print_session(bench: Workbench, session_id: str) -> None:
    whole = bench.session(session_id)
    about: dict[str, Any] = whole["session"]
    print(plain((whole["labels"] or {}).get("title") or about["title"] or session_id))
    for name, value in (
        ("session", session_id),
        ("agent", " ".join(filter(None, (about["agent"], about["agent_version"])))),
        ("models", about["models"]),
        ("folder", about["cwd"]),
        ("started", f"{local(about['started_at'])} {zone()}" if about["started_at"] else None),
        ("lasted", lasting(about["duration_ms"])),
        ("tokens", _tokens(about)),
        ("sub-agents", about["subagents"] or None),
        ("interrupts", about["interrupts"] or None),
        ("compactions", about["compactions"] or None),
        ("issues", about["issues"] or None),
    ):
        if value:
            print(f"  {name:<12} {plain(value)}")
    print()
    heads = ("turn", "lasted", "responses", "calls", "failed", "output", "prompt")
    rows = [
        (
            r["turn"],
            lasting(r["duration_ms"]),
            r["responses"],
            r["tool_calls"],
            r["tool_errors"],
            r["output_tokens"],
            r["user_text"],
        )
        for r in whole["turn_records"]
    ]
    print_table(heads, rows)
    print(f"\nthe whole text: workbench show {session_id} --format md")


def _tokens(about: dict[str, Any]) -> str | None:
    parts = (
        ("input", "input_tokens"),
        ("output", "output_tokens"),
        ("cache read", "cache_read_tokens"),
        ("cache write", "cache_write_tokens"),
    )
    told = [f"{name} {about[column]:,}" for name, column in parts if about[column] is not None]
    return "; ".join(told) or None
