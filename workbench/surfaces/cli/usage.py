"""`workbench usage`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.reports.render.numbers import UNKNOWN, count, plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import as_json, local, plain, print_table

if TYPE_CHECKING:
    from workbench.bench import Workbench
    from workbench.reports.usage import Usage, UsageRow

COUNTERS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
HEADS = ("calls", "input", "output", "cache read", "cache write", "cost USD")


class By(StrEnum):
    """What usage is split by."""

    DAY = "day"
    PROJECT = "project"
    MODEL = "model"
    SESSION = "session"


@app.command()
def usage(
    context: typer.Context,
    home: HomeOption = None,
    json: JsonOption = False,
    by: Annotated[By, typer.Option("--by", help="What to split by.")] = By.MODEL,
    project: Annotated[
        str | None, typer.Option("--project", help="Only of this project: its id, or part of its path.")
    ] = None,
    since: Annotated[
        datetime | None, typer.Option("--since", help="Only model calls at or after this local time.")
    ] = None,
) -> None:
    """Add up tokens and cost of model calls, each call once."""
    answered = None if since or project or not json else _remembered(context, home, by)
    if answered is not None:
        print(answered)
        return
    found, answer = _asked(open_bench(context, home), by, since=since, project=project)
    if json:
        print(answer)
        return
    _print(found)
    filters = {"project": project, "since": local(since.astimezone()) if since else None}
    told = ", ".join(f"{name} {value}" for name, value in filters.items() if value)
    print(plain(f"only {told}" if told else "all projects"))


def _remembered(context: typer.Context, home: Path | None, by: By) -> str | None:
    """The answer of before, where nothing landed since; what reads the tables is not even loaded."""
    from workbench.config import resolve_home  # noqa: PLC0415
    from workbench.reports.usage_memory import remembered  # noqa: PLC0415
    from workbench.store.home import Home  # noqa: PLC0415

    return remembered(Home.open(resolve_home(home or context.obj)), by.value)


def _asked(bench: Workbench, by: By, *, since: datetime | None, project: str | None) -> tuple[Usage, str]:
    """The answer, and it as JSON."""
    from workbench.reports.usage import read_usage  # noqa: PLC0415  (--help needs none of it)
    from workbench.reports.usage_memory import remember, state  # noqa: PLC0415
    from workbench.store.lake import Lake  # noqa: PLC0415

    bench.land_logs()
    before = state(bench.home)
    found = read_usage(Lake(bench.home), by.value, since=since.astimezone() if since else None, project=project)
    answer = as_json(
        {
            "by": found.by,
            "zone": found.zone,
            "rows": found.row_dicts(),
            "total": found.total.as_dict(),
            "unpriced_models": found.unpriced_models,
        }
    )
    if not (since or project or bench.notices):
        remember(bench.home, by.value, answer, before)
    return found, answer


def prepare_answer(bench: Workbench) -> None:
    """Have the answer by model ready for the next who asks."""
    _asked(bench, By.MODEL, since=None, project=None)


def _print(found: Usage) -> None:
    rows = [*found.rows, found.total]
    columns = [[count(row.model_calls) for row in rows]]
    columns += [[count(row.tokens[name]) for row in rows] for name in COUNTERS]
    columns += [[UNKNOWN if row.cost_usd is None else f"{row.cost_usd:,.2f}" for row in rows]]
    names = [*(_name(found, row) for row in found.rows), "in all, each call once"]
    heads, cells = zip(*map(_right, HEADS, columns), strict=True)
    by = f"day ({found.zone})" if found.by == "day" else found.by
    print_table((*heads, by), list(zip(*cells, names, strict=True)))
    if found.shared_calls:
        calls = plural(found.shared_calls, "call")
        print(f"{calls} told again by copied or resumed sessions: the rows add up to more than the total")
    if found.total.unpriced_calls:
        calls = plural(found.total.unpriced_calls, "call")
        models = f" of {plain(found.unpriced_models)}" if found.unpriced_models else ""
        print(f"no price is known for {calls}{models}; cost leaves them out")


def _right(head: str, cells: list[str]) -> tuple[str, list[str]]:
    """A column with its head, flush right: a table sets texts flush left, and a dash is one."""
    width = max(map(len, [head, *cells]))
    return head.rjust(width), [cell.rjust(width) for cell in cells]


def _name(found: Usage, row: UsageRow) -> str:
    """What a person knows the row by."""
    key, *more = row.key
    if found.by == "session":
        return f"{key}  {more[0] or ''}".rstrip()
    return (more[0] if more and more[0] else key) or UNKNOWN
