"""`workbench tune --what fusion|idle-turns|hydration`: studies of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import typer

from workbench.surfaces.cli.output import plain, print_json, print_table, progress_bar
from workbench.surfaces.exits import say

if TYPE_CHECKING:
    from workbench.bench import Workbench
    from workbench.experiments.study.plain import Progress, SpaceResult

NOT_APPLIED: Final = 1
"""Exit code where `--apply` was refused; the study itself is done."""


class Study(Protocol):
    """Makes a study."""

    def __call__(self, *, progress: Progress | None) -> SpaceResult:
        """Make it; `progress` is called with things done, things in all and what they are."""


def tell(bench: Workbench, study: Study, *, apply: bool, dry_run: bool, json: bool) -> None:
    """Make a study of settings, tell it, and write what it found where that was asked for and is allowed.

    Args:
        bench: The home.
        study: Makes it.
        apply: Whether to write.
        dry_run: Whether only to say what would be written.
        json: Whether to print JSON.

    Raises:
        typer.Exit: `apply` was refused.
    """
    with progress_bar("study", of_bytes=False) as progress:
        result = study(progress=progress)
    applied = _apply(bench, result, dry_run=dry_run) if apply else None
    if json:
        import msgspec  # noqa: PLC0415

        print_json(msgspec.to_builtins(result) | {"applied": applied})
    else:
        _print(result)
        if applied and applied["written"]:
            print(plain(f"wrote {applied['path']}"))
    if applied and applied["refused"]:
        say(f"nothing was applied: {applied['refused']}")
        raise typer.Exit(NOT_APPLIED)


def _apply(bench: Workbench, result: SpaceResult, *, dry_run: bool) -> dict[str, Any]:
    from workbench.experiments.setting_jobs import settings_to_apply  # noqa: PLC0415
    from workbench.experiments.study.apply import refusal  # noqa: PLC0415

    if not result.may_apply:
        return {"written": False, "path": None, "values": {}, "refused": refusal(result)}
    values = settings_to_apply(result, bench.config)
    path = bench.apply_weights(result, dry_run=dry_run)
    return {"written": not dry_run, "path": str(path), "values": values, "refused": None}


def _print(result: SpaceResult) -> None:
    scored = f"{result.groups} {result.of}" if result.groups == result.looked_at else _part(result)
    print(f"{result.what}: {scored}, {result.trials} trials, {result.folds} folds")
    rows = [
        (
            each.name,
            f"{each.mean:.3f}",
            f"{each.over_default.estimate:+.3f} ({each.over_default.low:+.3f} to {each.over_default.high:+.3f})",
        )
        for each in result.rows
    ]
    print_table(("setting", result.measure, "over the setting in use"), rows)
    print(plain(f"best hand-set: {result.best_hand_set}"))
    for name, value in result.found.items():
        parts = [each[name] for each in result.fold_points]
        print(
            f"{name} found {value:.3f}, in use {result.default[name]:.3f}; parts {min(parts):.3f} to {max(parts):.3f}"
        )
    null = result.null
    held = "holds" if null.holds else "does not hold"
    mean = "not known" if null.mean is None else f"{null.mean:+.4f}"
    print(f"permuted labels: {null.permutations} permutations, mean gain {mean}: {held}")
    print(f"gain where it was searched: {result.in_search_gain:+.4f}; under other seeds: {_numbers(result.seeds)}")
    if result.minimum_detectable_effect is not None:
        print(f"smallest gain such a study finds four times in five: {result.minimum_detectable_effect:.4f}")
    print(plain(f"verdict: {result.verdict}: {result.why}"))
    print(f"report  workbench report tuning {result.study_id}")


def _part(result: SpaceResult) -> str:
    return f"{result.groups} of {result.looked_at} {result.of} tell something"


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{value:+.3f}" for value in values) or "none"
