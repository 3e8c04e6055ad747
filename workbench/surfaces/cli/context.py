"""`workbench context`: what the context engine would have put into a prompt, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.errors import BadInputError
from workbench.reports.render.numbers import count, plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from workbench.experiments.replay import Mode
    from workbench.experiments.replay_job import ReplayResult

context_app = typer.Typer(
    help="Replay recorded sessions under the context engine, and ask why a unit was in a prompt.", no_args_is_help=True
)
app.add_typer(context_app, name="context")


class By(StrEnum):
    """Where prompts are made."""

    EXCHANGE = "exchange"
    STEP = "step"


@context_app.command("replay")
def replay(
    context: typer.Context,
    sessions: Annotated[
        list[str] | None, typer.Argument(help="Ids, prefixes or `last`; all sessions unless given.")
    ] = None,
    classic: Annotated[
        bool, typer.Option("--classic/--engine", help="The whole history, as agents send it, or the context engine.")
    ] = False,
    level: Annotated[By, typer.Option("--level", help="One prompt an exchange, or one a model call.")] = By.EXCHANGE,
    semantic: Annotated[
        bool, typer.Option("--semantic", help="Judge meaning too, by the configured embedder.")
    ] = False,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Say what each prompt of recorded sessions would have held. No model is called."""
    bench = open_bench(context, home)
    mode: Mode = "classic" if classic else "engine"
    with progress_bar("replaying", of_bytes=False) as progress:
        result = bench.replay(*(sessions or ()), mode=mode, level=level.value, semantic=semantic, progress=progress)
    if json:
        print_json(_shape(result))
        return
    rows = [
        (
            each.session_id,
            str(each.prompts),
            count(each.raw_tokens),
            count(each.classic_tokens),
            f"{each.most_pressure:.2f}",
        )
        for each in result.sessions
    ]
    print_table(("session", "prompts", "tokens sent", "classic", "pressure at most"), rows)
    meaning = f"meaning by {result.embedder}" if result.embedder else "by words alone"
    print(plain(f"{plural(len(rows), 'session')}, {mode} by {result.level}, policy {result.policy_id}, {meaning}"))


@context_app.command("why")
def why(
    context: typer.Context,
    session: Annotated[str, typer.Argument(help="Id, prefix or `last`.")],
    turn: Annotated[str, typer.Argument(help="The exchange, or exchange.step, as in 7 or 7.3.")],
    unit: Annotated[str, typer.Argument(help="The unit's id, or a part of it that fits no other.")],
    replay_id: Annotated[
        str | None, typer.Option("--replay", help="The replay; the newest unless given.", show_default=False)
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Say why a unit was in a prompt or not: the terms of its score, its rank, and what it competed with."""
    exchange, step = _moment(turn)
    found = open_bench(context, home).why(session, exchange, unit, step=step, replay_id=replay_id)
    if json:
        print_json(found)
    else:
        _print_why(found)


def _moment(text: str) -> tuple[int, int]:
    exchange, _, step = text.partition(".")
    if not exchange.isdecimal() or not (step.isdecimal() or not step):
        raise BadInputError(f"{text!r} is no turn; write 7, or 7.3 for the third model call of exchange 7")
    return int(exchange), int(step or 0)


def _shape(result: ReplayResult) -> dict[str, Any]:
    return {
        "policy_id": result.policy_id,
        "mode": result.mode,
        "level": result.level,
        "embedder": result.embedder,
        "sessions": [{name: getattr(each, name) for name in each.__struct_fields__} for each in result.sessions],
    }


_VERDICTS = {
    "included": "in the prompt",
    "over_budget": "left out: the band's budget was spent on units that score higher",
    "compact": "left out: compact pressure drops older digests",
    "emergency": "left out: in an emergency no unit is in the prompt",
    "cut": "chosen, but cut off at the end because the prompt was still too long",
}


def _print_why(found: dict[str, Any]) -> None:
    row, prompt = found["unit"], found["compile"]
    where = f"{prompt['turn']}.{prompt['step']}" if prompt["step"] else str(prompt["turn"])
    band = "recent" if row["band"] == 4 else "older"  # noqa: PLR2004  (numbers of the bands, see context.selection)
    print(plain(f"{row['unit_id']} at {where} of {row['session_id']}: {_VERDICTS[row['why']]}"))
    print(plain(f"{row['unit_type']} of exchange {row['source_turn']}, {plural(row['tokens'], 'token')}"))
    print(f"rank {row['rank']} of the {band} band, pressure {prompt['pressure_mode']} ({prompt['pressure']:.3f})")
    terms = [(name, f"{value:.10f}") for name, value in found["terms"].items()]
    print_table(("term", "value"), [*terms, ("score", f"{row['score']:.10f}")])
    print(f"relevance is the higher of bm25 {row['bm25']:.6f} and semantic {row['semantic']:.6f}")
    for name, label in (("last_included", "last one in"), ("first_left_out", "first one out")):
        other = found[name]
        if other is not None:
            print(plain(f"{label}: {other['unit_id']}, score {other['score']:.6f}, {plural(other['tokens'], 'token')}"))
