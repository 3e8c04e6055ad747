"""`workbench compare` and `workbench reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_table, progress_bar
from workbench.surfaces.cli.report import report

if TYPE_CHECKING:
    from workbench.experiments.comparison import Comparison, Effect
    from workbench.reports.comparing import Question
    from workbench.reports.reproduce import Reproduction

DIFFERS: Final = 1
"""Exit code of `reproduce` where numbers are not the same."""

ArmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arm",
        help="NAME=FILTER, twice or more; FILTER is a SQL condition over the columns of scorecards. The first is the "
        "baseline.",
        show_default=False,
    ),
]
ArmLabelOption = Annotated[bool, typer.Option("--arm-label", help="Arms by the label `arm` of sessions.")]
ByOption = Annotated[
    str | None,
    typer.Option("--by", help="Arms by a column: config_hash, model, version, agent, ...", show_default=False),
]
ReplaysByOption = Annotated[
    str | None,
    typer.Option(
        "--replays-by",
        help="Replays of the same sessions as pairs, told apart by policy_id, mode, level or embedder.",
        show_default=False,
    ),
]
BaselineOption = Annotated[
    str | None, typer.Option("--baseline", help="The arm that the others are compared with.", show_default=False)
]
PairByOption = Annotated[
    list[str] | None,
    typer.Option("--pair-by", help="Pair sessions of two arms by project, task-type, agent or model; may be repeated."),
]
PlanOption = Annotated[
    list[str] | None,
    typer.Option("--plan", help="NAME=SHARE for each arm: the shares that were planned.", show_default=False),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of all random draws.", min=0)]


@app.command()
def compare(
    context: typer.Context,
    arm: ArmOption = None,
    arm_label: ArmLabelOption = False,
    by: ByOption = None,
    replays_by: ReplaysByOption = None,
    baseline: BaselineOption = None,
    pair_by: PairByOption = None,
    plan: PlanOption = None,
    seed: SeedOption = 0,
    record: Annotated[bool, typer.Option("--record/--no-record", help="Whether to keep it in comparisons.")] = True,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Compare arms of sessions, metric by metric: difference, interval, tests, and what could have been found."""
    from workbench.reports.comparing import json_of  # noqa: PLC0415  (--help needs none of it)

    question = _question(arm, arm_label, by, replays_by, baseline, pair_by, plan, seed)
    bench = open_bench(context, home)
    compared = bench.compare(question)
    comparison_id = bench.record(compared) if record else None
    if json:
        print_json({"comparison_id": comparison_id, **json_of(compared)})
        return
    _print(compared.comparison)
    if comparison_id is not None:
        print(f"recorded as {comparison_id} in comparisons")


@report.command("telemetry")
def telemetry_report(
    context: typer.Context,
    arm: ArmOption = None,
    arm_label: ArmLabelOption = False,
    by: ByOption = None,
    replays_by: ReplaysByOption = None,
    baseline: BaselineOption = None,
    pair_by: PairByOption = None,
    plan: PlanOption = None,
    seed: SeedOption = 0,
    out: Annotated[
        Path, typer.Option("--out", help="A file that ends in .html, or a folder for telemetry.html.")
    ] = Path("reports"),
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Report what arms of sessions show: effects, forest plot, distributions; numbers and manifest beside the page."""
    from workbench.reports.telemetry import headline  # noqa: PLC0415

    question = _question(arm, arm_label, by, replays_by, baseline, pair_by, plan, seed)
    bench = open_bench(context, home)
    written = bench.telemetry_report(out, question, command=command_of(question))
    comparison = written.compared.comparison
    if json:
        print_json(
            {
                "path": str(written.path.absolute()),
                "manifest": str(written.manifest.absolute()),
                "numbers": str(written.numbers.absolute()),
                "size_bytes": written.size_bytes,
                "units": comparison.units,
                "headline": headline(comparison),
            }
        )
        return
    print(f"{plain(str(written.path))}: {headline(comparison)}, {written.size_bytes / 1000:,.0f} kB")
    print(f"reproduce  workbench reproduce {plain(str(written.manifest))}")
    print(f"open  {written.path.absolute().as_uri()}")


@app.command()
def reproduce(
    context: typer.Context,
    manifest: Annotated[Path, typer.Argument(help="NAME.manifest.json beside a report.")],
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Make a report's numbers again, on the very snapshots it was made from, and say whether they agree."""
    with progress_bar("making it again", of_bytes=False) as progress:
        found = open_bench(context, home).reproduce(manifest, progress=progress)
    if json:
        import msgspec  # noqa: PLC0415

        print_json(msgspec.to_builtins(found))
    else:
        _print_reproduction(found)
    if not found.equal:
        raise typer.Exit(DIFFERS)


def command_of(question: Question) -> str:
    """The command that makes the report of a question anew."""
    import shlex  # noqa: PLC0415

    words = ["workbench", "report", "telemetry"]
    for name, condition in (question.arms or {}).items():
        words += ["--arm", f"{name}={condition}"]
    for option, value in (
        ("--by", question.by),
        ("--replays-by", question.replays_by),
        ("--baseline", question.baseline),
    ):
        words += [option, value] if value is not None else []
    for column in question.pair_by:
        words += ["--pair-by", column]
    for name, share in (question.planned or {}).items():
        words += ["--plan", f"{name}={share:g}"]
    return shlex.join([*words, "--seed", str(question.seed)])


def _question(
    arm: list[str] | None,
    arm_label: bool,
    by: str | None,
    replays_by: str | None,
    baseline: str | None,
    pair_by: list[str] | None,
    plan: list[str] | None,
    seed: int,
) -> Question:
    from workbench.experiments.arms import parse_arms, parse_plan  # noqa: PLC0415
    from workbench.reports.comparing import Question  # noqa: PLC0415

    columns = {"project": "project_id", "task-type": "task_type"}
    return Question(
        arms=parse_arms(arm) if arm else None,
        by="arm" if arm_label else by,
        replays_by=replays_by,
        baseline=baseline,
        pair_by=[columns.get(name, name) for name in pair_by or []],
        planned=parse_plan(plan) if plan else None,
        seed=seed,
    )


def _print(comparison: Comparison) -> None:
    thing = "pair" if comparison.design == "pairs" else "session"
    print(plain("  ".join(f"{name}: {plural(units, thing)}" for name, units in comparison.units.items())))
    print(plain(f"sample ratio: {comparison.ratio['note']}"))
    for note in comparison.notes:
        print(plain(f"note: {note}"))
    heads = (
        "metric",
        "arm",
        "units",
        comparison.baseline,
        "arm's",
        "difference",
        "95 %",
        "p",
        "adjusted",
        "detectable",
        "verdict",
    )
    print_table(heads, [_line(effect) for effect in comparison.effects])
    several = len(comparison.units) > 2  # noqa: PLR2004  (whom a line is about must be told)
    remarks = [(note, each.column, each.arm) for each in comparison.effects for note in each.notes]
    for line in _gathered(remarks, several=several):
        print(plain(f"note: {line}"))
    for line in _gathered([(each.why, each.metric, each.arm) for each in comparison.dropped], several=several):
        print(plain(f"not compared, {line}"))


def _gathered(said: Sequence[tuple[str, str, str]], *, several: bool) -> list[str]:
    """What is said of metrics, each thing once with the metrics that it is said of."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for what, metric, arm in said:
        metrics.setdefault((what, arm if several else ""), []).append(metric)
    return [f"{what}{f' (against {arm})' if arm else ''}: {', '.join(names)}" for (what, arm), names in metrics.items()]


def _line(effect: Effect) -> list[Any]:
    ends = "" if effect.low is None else f"{effect.low:+.4g} to {effect.high:+.4g}"
    return [
        effect.column,
        effect.arm,
        f"{effect.n_baseline}/{effect.n_arm}",
        effect.mean_baseline,
        effect.mean_arm,
        f"{effect.difference:+.4g}",
        ends,
        effect.p,
        effect.p_adjusted,
        effect.minimum_detectable,
        effect.verdict,
    ]


def _print_reproduction(found: Reproduction) -> None:
    if found.equal:
        print(f"equal: all {found.numbers:,} numbers of the {found.report} report are the same")
    elif found.shape:
        print(f"not equal: {'; '.join(found.shape)}")
    else:
        said = ", all to nine digits the same" if found.close else ""
        print(f"not equal: {found.different:,} of {found.numbers:,} numbers differ{said}")
        print_table(("number", "then", "now"), [(each.name, str(each.before), str(each.now)) for each in found.changes])
    for each in found.packages:
        print(
            plain(
                f"other version: {each.name} {each.before or 'not installed'} then, {each.now or 'not installed'} now"
            )
        )
    if found.report_file != "same":
        print(f"the page itself is {found.report_file}")
