"""Replays of the same sessions against each other: a pair is one session under two policies, modes or levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.errors import BadInputError
from workbench.experiments.comparison import Dropped, Measure, Sample
from workbench.experiments.samples import Samples, matrix

if TYPE_CHECKING:
    import polars as pl

REPLAY_COLUMNS: Final = ("policy_id", "mode", "level", "embedder")
"""Columns of `replays` by which they may be told apart."""

READ: Final = ("sessions", "replays", "compiles")
"""Tables that `replay_figures` reads."""

MEASURES: Final = (
    Measure("raw_tokens", "raw_tokens_per_prompt", "tokens", "lower"),
    Measure("pressure", "pressure_per_prompt", "share", "lower"),
    Measure("over_full", "over_full_per_prompt", "share", "lower"),
    Measure("part_of_classic", "part_of_classic", "share", "lower"),
    Measure("tight_prompts", "tight_per_prompt", "share", "lower"),
    Measure("units_included", "units_included_per_prompt", "count", None),
    Measure("inclusion", "inclusion_rate", "share", None),
    Measure("hydrated", "hydrated_per_prompt", "count", None),
)
"""What replays are compared by; a count or share of a prompt."""


def sample_replays(figures: pl.DataFrame, by: str, baseline: str | None = None) -> Samples:
    """Two arms of the same sessions.

    Args:
        figures: The answer of `store/sql/replay_figures.sql`.
        by: One of `REPLAY_COLUMNS`, which has two values; in all the others a session's two replays agree.
        baseline: The value that the other is compared with; the first by name unless given.

    Raises:
        BadInputError: There is no such column, it has not two values, or no session was replayed under both.
    """
    if by not in REPLAY_COLUMNS:
        raise BadInputError(f"replays cannot be told apart by {by!r}; they can by {', '.join(REPLAY_COLUMNS)}")
    values = sorted(figures[by].unique().to_list())
    if baseline is not None and baseline not in values:
        raise BadInputError(f"no replay has {by} {baseline!r}; there are {', '.join(values) or 'none'}")
    if len(values) != 2:  # noqa: PLR2004
        raise BadInputError(
            f"replays have {len(values)} values of {by} ({', '.join(values) or 'none'}), and two make a pair; "
            "make others: workbench context replay"
        )
    first, second = sorted(values, key=lambda value: (value != baseline, value))
    same = ["session_id", *(name for name in REPLAY_COLUMNS if name != by)]
    paired = figures.filter(figures[by] == first).join(figures.filter(figures[by] == second), on=same, suffix="_other")
    once = paired.sort("session_id", *same[1:]).unique("session_id", keep="first", maintain_order=True)
    if not once.height:
        raise BadInputError(f"no session was replayed under both {first} and {second}, all else being the same")
    dropped = [
        Dropped(each.name, arm, f"replays of {arm} do not have it")
        for each in MEASURES
        for arm in _without(once, each, (first, second))
    ]
    kept = [each for each in MEASURES if each.name not in {gone.metric for gone in dropped}]
    others = once.select("session_id", *(_other(each.column) for each in kept))
    samples = [Sample(first, matrix(once, kept)), Sample(second, matrix(others, kept))]
    alone = figures["session_id"].n_unique() - once.height
    notes = [f"{once.height} sessions replayed under both" + (f", {alone} under one alone" if alone else "")]
    return Samples(samples, kept, dropped, notes)


def _other(column: str) -> pl.Expr:
    """The column of the second replay, under the first one's name."""
    import polars as pl  # noqa: PLC0415

    return pl.col(f"{column}_other").alias(column)


def _without(once: pl.DataFrame, measure: Measure, arms: tuple[str, str]) -> list[str]:
    columns = (measure.column, f"{measure.column}_other")
    return [arm for arm, column in zip(arms, columns, strict=True) if not once[column].count()]
