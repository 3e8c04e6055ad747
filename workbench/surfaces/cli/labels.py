"""`workbench labels`: a person looks at what the labels of a study say, and tells whether they are right."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.errors import BadInputError
from workbench.reports.render.numbers import UNKNOWN, plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_rows, print_table

if TYPE_CHECKING:
    from workbench.bench import Workbench
    from workbench.experiments.inspection import Pair

labels_app = typer.Typer(
    help="Look at pairs of a unit and a moment that a rule calls needed, judge them, and see each rule's precision.",
    no_args_is_help=True,
)
app.add_typer(labels_app, name="labels")


class By(StrEnum):
    """What a moment is."""

    STEP = "step"
    EXCHANGE = "exchange"


class Opinion(StrEnum):
    """What a person may say of a pair."""

    NEEDED = "needed"
    NOT_NEEDED = "not_needed"
    UNCLEAR = "unclear"


KEYS = {"y": Opinion.NEEDED, "n": Opinion.NOT_NEEDED, "u": Opinion.UNCLEAR}
UNIT_LINES = 40
"""Lines of a unit that are shown on the screen."""


@labels_app.command("inspect")
def inspect(
    context: typer.Context,
    rule: Annotated[str, typer.Argument(help="The rule, such as b_ref; `none` for pairs on which no rule fires.")],
    count: Annotated[int, typer.Option("--count", "-n", help="Pairs, one a session.", min=1)] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Another number draws other pairs.", min=0)] = 0,
    level: Annotated[By, typer.Option("--level", help="What a moment is.")] = By.STEP,
    session: Annotated[
        list[str] | None,
        typer.Option("--session", help="Only of this session; may be given several times.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Show drawn pairs with what the agent did there; in a terminal, ask about each and keep the verdict."""
    bench = open_bench(context, home)
    pairs = bench.inspect_labels(rule, count=count, seed=seed, level=level.value, sessions=session or ())
    if json:
        print_json([{name: getattr(pair, name) for name in pair.__struct_fields__} for pair in pairs])
        return
    asks = sys.stdin.isatty()
    for place, pair in enumerate(pairs, 1):
        _print_pair(pair, f"{place} of {len(pairs)}")
        if asks and not _ask(bench, pair):
            break
    if not pairs:
        print(plain(f"no session has a pair of {rule} without a verdict"))
    elif not asks:
        print("judge one: workbench labels judge SESSION TURN UNIT RULE needed|not_needed|unclear")


@labels_app.command("judge")
def judge(
    context: typer.Context,
    session: Annotated[str, typer.Argument(help="Id, prefix or `last`.")],
    turn: Annotated[str, typer.Argument(help="The exchange, or exchange.step, as in 7 or 7.3.")],
    unit: Annotated[str, typer.Argument(help="The unit's id.")],
    rule: Annotated[str, typer.Argument(help="The rule that it was drawn for.")],
    opinion: Annotated[Opinion, typer.Argument(help="Whether the unit was of use for what the agent did there.")],
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Keep a verdict on one pair; a later one takes the place of an earlier one."""
    exchange, step = _moment(turn)
    pair = open_bench(context, home).judge_label(session, exchange, unit, rule, opinion.value, step=step)
    if json:
        print_json({**{name: getattr(pair, name) for name in pair.__struct_fields__}, "opinion": opinion.value})
    else:
        print(plain(f"{opinion.value}: {pair.unit_id} at {turn} of {pair.session_id}, drawn for {rule}"))


@labels_app.command("precision")
def precision(context: typer.Context, home: HomeOption = None, json: JsonOption = False) -> None:
    """Tell how often each rule was right on the pairs drawn for it, with a 95 % interval."""
    found = open_bench(context, home).label_precision()
    if json:
        print_rows(found)
        return
    rows = [
        (
            row["rule"],
            *(row[name] for name in ("judged", "needed", "not_needed", "unclear")),
            UNKNOWN if row["precision"] is None else f"{row['precision']:.2f}  [{row['low']:.2f}, {row['high']:.2f}]",
        )
        for row in found.iter_rows(named=True)
    ]
    print_table(("rule", "judged", "needed", "not needed", "unclear", "precision"), rows)
    print(f"{plural(sum(row[1] for row in rows), 'verdict')}, one pair a session; none: pairs on which no rule fires")


def _moment(text: str) -> tuple[int, int]:
    exchange, _, step = text.partition(".")
    if not exchange.isdecimal() or not (step.isdecimal() or not step):
        raise BadInputError(f"{text!r} is no turn; write 7, or 7.3 for the third model call of exchange 7")
    return int(exchange), int(step or 0)


def _print_pair(pair: Pair, place: str) -> None:
    where = f"{pair.turn}.{pair.step}" if pair.step else str(pair.turn)
    print(plain(f"\n=== {place}: {pair.session_id} {where} {pair.unit_id} ({', '.join(pair.rules) or 'no rule'})"))
    lines = pair.unit.split("\n")
    shown = lines[:UNIT_LINES] + ([f"... {len(lines) - UNIT_LINES} more lines"] if len(lines) > UNIT_LINES else [])
    for title, text in (
        ("asked", pair.asked.split("\n")),
        ("the unit", shown),
        ("then the agent", pair.did.split("\n")),
    ):
        print(f"--- {title}")
        for line in text:
            print(plain(line))


def _ask(bench: Workbench, pair: Pair) -> bool:
    """Ask about a pair; False where the person wants no more."""
    while True:
        answer: str = typer.prompt("of use there? y(es), n(o), u(nclear), s(kip), q(uit)", default="s")
        said = answer.strip().lower()[:1]
        if said in KEYS:
            bench.judge_label(
                pair.session_id, pair.turn, pair.unit_id, pair.drawn_for, KEYS[said].value, step=pair.step
            )
        if said in {*KEYS, "s", "q"}:
            return said != "q"
