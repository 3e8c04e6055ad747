"""`workbench scorecard` and `workbench patterns`: what sessions show in numbers, and how work of a kind went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from workbench.reports.render.numbers import UNKNOWN, lasting, plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, print_rows, print_table, progress_bar

if TYPE_CHECKING:
    import polars as pl

    from workbench.telemetry.scorecard import Figure

COLUMNS: Final[tuple[tuple[str, str, Callable[[Any], str]], ...]] = (
    ("arm", "arm", str),
    ("task", "task_type", str),
    ("turns", "total_turns", "{:,.4g}".format),
    ("calls/turn", "tool_calls_per_turn", "{:.1f}".format),
    ("failed", "tool_error_rate", "{:.1%}".format),
    ("re-read", "repeat_read_rate", "{:.0%}".format),
    ("tests failed", "test_failure_rate", "{:.0%}".format),
    ("output/turn", "output_tokens_per_turn", "{:,.0f}".format),
    ("USD", "cost_usd", "{:,.2f}".format),
)
"""Head, column and form of what the list shows of a session, between its id and its title."""


class TaskType(StrEnum):
    """Kinds of task that patterns are kept of."""

    DEBUGGING = "debugging"
    TESTING = "testing"
    IMPLEMENTING = "implementing"
    REFACTORING = "refactoring"
    REVIEWING = "reviewing"


@app.command()
def scorecard(
    context: typer.Context,
    session: Annotated[
        str | None, typer.Argument(help="Id, prefix or `last`; a list of all sessions unless given.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", help="Only of this project: its id or its label.", show_default=False)
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", help="Only of this arm.", show_default=False)] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="The newest so many; 0 for all.", min=0)] = 50,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Show what sessions did in numbers: re-work, failures, interruptions, tokens, cost."""
    bench = open_bench(context, home)
    if session is not None:
        card = bench.scorecard(session)
        if json:
            print_json(_shape(card))
        else:
            _print_card(card)
        return
    cards = _of(bench.scorecards(), project_id=project, arm=arm)
    if json:
        print_rows(cards)
        return
    shown = cards.head(limit) if limit else cards
    _print_cards(shown)
    filters = ", ".join(f"{name} {value}" for name, value in (("project", project), ("arm", arm)) if value)
    told = f"{shown.height:,} of {plural(cards.height, 'session')}"
    print(plain(f"{told}; {f'only {filters}' if filters else 'all projects'}"))


@app.command()
def patterns(
    context: typer.Context,
    task: Annotated[
        TaskType | None, typer.Option("--task", help="Only of this kind of task.", show_default=False)
    ] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            "--as-of",
            help="As they were at this local time; at the end of the newest session unless given.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="The most frequent so many; 0 for all.", min=0)] = 20,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Show how work of each kind went: the tools used, the kinds of output, and how many sessions went so."""
    bench = open_bench(context, home)
    moment = as_of.astimezone() if as_of else None
    with progress_bar("looking into sessions", of_bytes=False) as progress:
        found = bench.patterns(task.value if task else None, as_of=moment, progress=progress)
    if json:
        print_rows(found)
        return
    shown = found.head(limit) if limit else found
    rows = [
        (row["task_type"], row["hit_count"], local(row["last_seen_at"]), row["tool_sequence"], row["artifact_types"])
        for row in shown.iter_rows(named=True)
    ]
    print_table(
        ("task", "sessions", "last seen", "tools", "outputs"), [(*row[:3], *map(", ".join, row[3:])) for row in rows]
    )
    told = f"{shown.height:,} of {plural(found.height, 'pattern')}"
    print(plain(f"{told}; as of {local(moment)}" if moment else f"{told}; as of the newest session's end"))
    if task:
        from workbench.experiments.session_patterns import top_patterns  # noqa: PLC0415
        from workbench.telemetry.patterns import render_patterns  # noqa: PLC0415

        text = render_patterns(task.value, top_patterns(found, task.value), bench.config.workflow)
        print(f"\n{plain(text)}" if text else "\nnothing of it would stand in a prompt")


def _of(cards: pl.DataFrame, **wanted: str | None) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415

    return cards.filter(*(pl.col(name) == value for name, value in wanted.items() if value is not None))


def _shape(card: dict[str, Any]) -> dict[str, Any]:
    from workbench.telemetry.scorecard import METRICS, NOT_SHOWN, figures  # noqa: PLC0415

    told = figures(card)
    names = {name for each in METRICS for name in (each.name, each.rate)} | {"not_applicable"}
    return {
        "session": {name: value for name, value in card.items() if name not in names},
        "metrics": [{name: getattr(each, name) for name in each.__struct_fields__} for each in told],
        "not_shown": NOT_SHOWN,
    }


def _print_card(card: dict[str, Any]) -> None:
    from workbench.telemetry.scorecard import card_lines, figures  # noqa: PLC0415

    print(plain(card["title"] or card["session_id"]))
    about = ("agent", "version", "model", "task_type", "arm", "tags", "config_hash")
    for name in about:
        if card[name]:
            print(plain(f"  {name.replace('_', ' '):<12} {plain(card[name])}"))
    print(f"  final        {plain(card['final'])}\n")
    print(plain("\n".join(card_lines(card))))
    print()
    told = figures(card)
    known = [each for each in told if each.standing == "known"]
    print_table(("metric", "value", "rate", "", "better"), [_row(each) for each in known])
    for standing, words in (
        ("unknown", "unknown of this session"),
        ("not_applicable", f"not in {card['format']} records"),
    ):
        names = [each.name for each in told if each.standing == standing]
        if names:
            print(plain(f"{words}: {', '.join(names)}"))


def _row(figure: Figure) -> tuple[str, str, str, str, str]:
    value = figure.value
    if figure.unit == "ms":
        shown = lasting(int(value or 0))
    else:
        shown = f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
    rate = UNKNOWN if figure.rate is None else f"{figure.rate:,.4g}"
    return figure.name, shown, rate if figure.rate_name else "", figure.rate_name or "", figure.better or ""


def _print_cards(cards: pl.DataFrame) -> None:
    names = [name for _, name, _ in COLUMNS]
    rows = [
        (session, *_cells(values), title)
        for session, title, *values in cards.select("session_id", "title", *names).iter_rows()
    ]
    if rows:
        medians = [cards[name].median() if cards[name].dtype.is_numeric() else "" for name in names]
        rows.append(("median", *_cells(medians), "of those that show it"))
    print_table(("session", *(head for head, _, _ in COLUMNS), "title"), rows)


def _cells(values: Sequence[Any]) -> list[str]:
    pairs = zip(COLUMNS, values, strict=True)
    return [
        UNKNOWN if value is None else value if isinstance(value, str) else form(value) for (*_, form), value in pairs
    ]
