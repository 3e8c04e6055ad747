"""`workbench tune`."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from workbench.errors import BadInputError
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_table, progress_bar
from workbench.surfaces.cli.tune_settings import NOT_APPLIED, tell
from workbench.surfaces.exits import say

if TYPE_CHECKING:
    from workbench.bench import Workbench
    from workbench.experiments.study.result import Bounds, NullRow, StudyResult


class By(StrEnum):
    """What is scored."""

    STEP = "step"
    EXCHANGE = "exchange"


class What(StrEnum):
    """What is tuned."""

    WEIGHTS = "weights"
    IDLE_TURNS = "idle-turns"
    HYDRATION = "hydration"
    FUSION = "fusion"


@app.command()
def tune(
    context: typer.Context,
    sessions: Annotated[
        list[str] | None, typer.Argument(metavar="[SESSION]...", help="Ids, prefixes or `last`; all unless given.")
    ] = None,
    what: Annotated[
        What,
        typer.Option(
            "--what",
            help="Weights of the context score; turns until idle state sinks; relevance from which it comes back; "
            "weights of words and meaning in hybrid search.",
        ),
    ] = What.WEIGHTS,
    judged: Annotated[
        Path | None,
        typer.Option("--set", help="With --what fusion: a judged set, as for eval retrieval.", show_default=False),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", help="With --what fusion: the set's documents.", show_default=False),
    ] = None,
    level: Annotated[
        By | None, typer.Option("--level", help="Model calls or exchanges; study.level unless given.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", help="Tokens that a policy may select.", show_default=False)
    ] = None,
    label: Annotated[
        str, typer.Option("--label", help="What counts as needed: vis, core, b_ref, c_vis, c_strict or a_ref.")
    ] = "vis",
    trials: Annotated[
        int | None, typer.Option("--trials", help="Evenly spread points to try.", show_default=False)
    ] = None,
    learning_trials: Annotated[
        int | None,
        typer.Option("--learning-trials", help="Further points of each search (TPE).", show_default=False),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option("--permutations", help="Studies with permuted labels, at least.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of everything random.", min=0)] = 0,
    semantic: Annotated[
        bool, typer.Option("--semantic", help="Judge meaning too, by the configured embedder.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the weights into config.json, if the study shows that they help.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --apply: only say what would be written.")] = False,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Find out whether other weights of the context score would have helped in recorded sessions.

    With --what idle-turns or hydration: whether state should have sunk or come back otherwise. With --what fusion:
    whether other weights of hybrid search find more in a judged set.

    No model is called. Interrupted, the same command goes on from there. The normal answer is "no difference".
    """
    if dry_run and not apply:
        raise BadInputError("--dry-run belongs to --apply")
    bench = open_bench(context, home)
    if (judged or corpus) and what is not What.FUSION:
        raise BadInputError("--set and --corpus belong to --what fusion")
    if what is not What.WEIGHTS and (level or budget or semantic or label != "vis"):
        raise BadInputError(f"--what {what.value} takes no level, budget, label or --semantic")
    asked: dict[str, Any] = {
        "trials": trials,
        "learning_trials": learning_trials or 0,
        "permutations": permutations,
        "seed": seed,
    }
    if what is What.FUSION:
        if judged is None or sessions:
            raise BadInputError("--what fusion needs --set, and takes no sessions")
        tell(bench, partial(bench.tune_fusion, judged, corpus=corpus, **asked), apply=apply, dry_run=dry_run, json=json)
        return
    if what is not What.WEIGHTS:
        of: Literal["idle-turns", "hydration"] = "idle-turns" if what is What.IDLE_TURNS else "hydration"
        study = partial(bench.tune_state, of, sessions=sessions or (), **asked)
        tell(bench, study, apply=apply, dry_run=dry_run, json=json)
        return
    with progress_bar("study", of_bytes=False) as progress:
        result = bench.tune(
            level=level.value if level else None,
            budget=budget,
            label=label,
            trials=trials,
            learning_trials=learning_trials,
            permutations=permutations,
            seed=seed,
            semantic=semantic,
            sessions=sessions or (),
            progress=progress,
        )
    applied = _apply(bench, result, dry_run=dry_run) if apply else None
    if json:
        print_json(result.to_dict() | {"applied": applied})
    else:
        _print(result)
        if applied and applied["written"]:
            print(plain(f"wrote {applied['path']}"))
    if applied and applied["refused"]:
        say(f"nothing was applied: {applied['refused']}")
        raise typer.Exit(NOT_APPLIED)


def _apply(bench: Workbench, result: StudyResult, *, dry_run: bool) -> dict[str, Any]:
    from workbench.experiments.study.apply import refusal, weights_to_apply  # noqa: PLC0415

    if not result.may_apply:
        return {"written": False, "path": None, "values": {}, "refused": refusal(result)}
    path = bench.apply_weights(result, dry_run=dry_run)
    return {"written": not dry_run, "path": str(path), "values": weights_to_apply(result), "refused": None}


def _print(result: StudyResult) -> None:
    _print_data(result)
    if result.policies:
        _print_policies(result)
    if result.null is not None:
        _print_null(result.null)
    _print_beside(result)
    for warning in result.warnings:
        print(plain(f"warning: {warning}"))
    for lack in result.lacks:
        print(plain(f"not in this study: {lack}"))
    print(plain(f"verdict: {result.verdict}: {result.why}"))


def _print_data(result: StudyResult) -> None:
    told = result.dropped
    print(f"study {result.study_id}, {result.level} level, {result.budget_tokens:,} tokens, label {result.need}")
    print(
        f"sessions: {told['sessions']} looked at, {told['sessions_scored']} scored; left out: "
        f"{told['sessions_within_budget']} whose pools fit the budget, {told['sessions_without_need']} where no rule "
        f"fires, {told['sessions_without_moments']} with nothing on offer"
    )
    print(
        f"moments: {told['moments']:,} looked at, {told['moments_scored']:,} scored; left out: "
        f"{told['moments_within_budget']:,} within the budget, {told['moments_without_need']:,} without a needed unit"
    )
    if result.evaluations_per_second:
        speed = f"{result.evaluations_per_second:,.0f} evaluations a second"
        print(f"{result.trials} trials and {result.learning_trials} that learn, {result.folds} folds, {speed}")


def _print_policies(result: StudyResult) -> None:
    rows = [
        (
            each.name,
            f"{each.recall:.3f}",
            f"{each.share:.3f}",
            f"{each.lift:+.3f}",
            f"{each.matched:+.3f}",
            f"{each.ndcg:.3f}",
            _bounds(each.lift_over_seed),
            _bounds(each.lift_over_best),
        )
        for each in result.policies
    ]
    print()
    print_table(("policy", "recall", "share", "lift", "matched", "ndcg", "lift over seed", "over best hand-set"), rows)
    print(plain(f"best hand-set: {result.best_hand_set}"))
    weights = ", ".join(
        f"{name.rpartition('.')[2]} {value:.3f} ({result.default_weights[name]:g})"
        for name, value in result.weights.items()
    )
    print(plain(f"weights found (in use): {weights}"))
    for name, why in result.not_identifiable.items():
        print(plain(f"not identifiable: {name.rpartition('.')[2]}: {why}"))
    print(f"smallest gain such a study finds four times in five: {_number(result.minimum_detectable_effect)}")
    print(f"gain where it was searched: {_number(result.in_search_gain)}; under other seeds: {_numbers(result.seeds)}")


def _print_null(null: NullRow) -> None:
    told = "holds" if null.holds else "does not hold"
    print(
        f"permuted labels: {null.permutations} permutations (at most {null.most}), mean gain {_number(null.mean)}, "
        f"standard error {_number(null.standard_error)}: {told}"
    )


def _print_beside(result: StudyResult) -> None:
    rows = [
        (f"level {each.level}", each.sessions, _bounds(each.lift_over_seed), _bounds(each.lift_over_repaired))
        for each in result.beside
    ]
    rows += [(f"{each.by} {each.name} held out", each.sessions, "", _bounds(each.gain)) for each in result.groups]
    rows += [
        (f"tuned on {each.tuned_on}, judged on {each.judged_on}", each.sessions, "", _bounds(each.gain))
        for each in result.rules
    ]
    if rows:
        print()
        print_table(("beside", "sessions", "tuned over seed", "over repaired or best"), rows)


def _bounds(bounds: Bounds | None) -> str:
    if bounds is None:
        return "too few sessions"
    return f"{bounds.estimate:+.3f} ({bounds.low:+.3f} to {bounds.high:+.3f})"


def _number(value: float | None) -> str:
    return "not known" if value is None else f"{value:+.4f}"


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{value:+.3f}" for value in values) or "none"
