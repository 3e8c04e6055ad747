"""From a lake to a comparison: read scorecards or replays, choose arms, compare, and record what came of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from workbench import __version__
from workbench.errors import BadInputError, StoreError
from workbench.experiments.arms import Arm, arms_by, arms_where, check_arms
from workbench.experiments.comparison import Comparison, Design, Settings, compare
from workbench.experiments.replay_samples import READ as REPLAY_TABLES
from workbench.experiments.replay_samples import sample_replays
from workbench.experiments.samples import Samples, sample_arms, sample_cells
from workbench.reports.scorecards import scorecards_frame
from workbench.store.pinned import versions_of
from workbench.store.sql import query
from workbench.store.tables.telemetry import SCORECARDS
from workbench.text.ids import new_ulid

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.store.lake import Lake

ATTEMPTS: Final = 5
"""How often everything is read again because an import landed in between."""

CARD_TABLES: Final = (*SCORECARDS.reads, "usage")
"""Tables that scorecards are made from, their costs included."""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is compared with what.

    Attributes:
        arms: Conditions over the scorecards by name, the baseline first.
        by: Else a column of the scorecards whose values are the arms.
        replays_by: Else a column of `replays` by which replays of the same sessions are told apart.
        baseline: The arm that the others are compared with; unless given, the first condition, of `by` the arm of most
            sessions, of replays the first by name.
        pair_by: Columns whose values pair the sessions of two arms.
        planned: Shares of sessions by arm that were planned.
        seed: Of all random draws.
    """

    arms: dict[str, str] | None = None
    by: str | None = None
    replays_by: str | None = None
    baseline: str | None = None
    pair_by: list[str] = []
    planned: dict[str, float] | None = None
    seed: int = 0


class Compared(NamedTuple):
    """A comparison with what it was made from."""

    question: Question
    comparison: Comparison
    arms: list[Arm]
    samples: Samples
    versions: dict[str, int | None]


def make_comparison(lake: Lake, config: Config, question: Question) -> Compared:
    """Compare arms.

    Args:
        lake: The tables.
        config: Of the draws, and of the kinds of task.
        question: What with what.

    Raises:
        BadInputError: Arms cannot be told, are empty, overlap, or the plan is for others or for pairs.
        StoreError: A table cannot be read, or imports never paused.
    """
    chosen = [question.arms is not None, question.by is not None, question.replays_by is not None]
    if sum(chosen) != 1:
        raise BadInputError(
            "say once what the arms are: --arm NAME=FILTER twice or more, --arm-label, --by COLUMN, or --replays-by "
            "COLUMN"
        )
    if question.planned is not None and (question.replays_by is not None or question.pair_by):
        raise BadInputError("a plan is of sessions in each arm, and pairs have as many in both; leave out --plan")
    tables = REPLAY_TABLES if question.replays_by is not None else CARD_TABLES
    for _ in range(ATTEMPTS):
        versions = versions_of(lake, tables)
        arms, samples, design = _sampled(lake, config, question)
        if versions_of(lake, tables) == versions:
            return Compared(question, _compared(config, question, samples, design), arms, samples, versions)
    raise StoreError("imports finish faster than the comparison can be made; try again in a moment")


def record_comparison(lake: Lake, compared: Compared) -> str:
    """Append a comparison to `comparisons`.

    Returns:
        Its id.

    Raises:
        StoreError: The table cannot be written.
    """
    comparison_id = new_ulid()
    shared = {
        "comparison_id": comparison_id,
        "design": compared.comparison.design,
        "baseline": compared.comparison.baseline,
        "ratio_p": compared.comparison.ratio["p"],
        "ratio_alarm": compared.comparison.ratio["alarm"],
        "settings": json.dumps(settings_of(compared), ensure_ascii=False),
        "code_version": __version__,
        "recorded_at": datetime.now(UTC),
    }
    store = lake.stores["comparisons"]
    store.append(store.table.from_dicts([{**shared, **row} for row in _rows(compared.comparison)]))
    return comparison_id


def settings_of(compared: Compared) -> dict[str, Any]:
    """How a comparison was made, as JSON has it."""
    return {
        "question": msgspec.to_builtins(compared.question),
        "units": compared.comparison.units,
        "notes": compared.comparison.notes,
        "resamples": compared.comparison.resamples,
        "permutations": compared.comparison.permutations,
        "tables": compared.versions,
    }


def json_of(compared: Compared) -> dict[str, Any]:
    """A comparison as JSON has it: what `workbench compare --json` prints."""
    told: dict[str, Any] = msgspec.to_builtins(compared.comparison)
    arms = [
        {
            "name": arm.name,
            "condition": arm.condition,
            "sessions": len(arm.session_ids),
            "not_final": arm.not_final,
            "without_turns": arm.without_turns,
        }
        for arm in compared.arms
    ]
    question = msgspec.to_builtins(compared.question)
    return {"question": question, "arms": arms, **told, "tables": compared.versions}


def effects_frame(comparison: Comparison) -> pl.DataFrame:
    """The effects as a frame, a row a metric and arm; `cuped_` stands before the figures of CUPED."""
    import polars as pl  # noqa: PLC0415  (175 ms)

    floats = (
        "mean_baseline", "mean_arm", "median_baseline", "median_arm", "difference", "low", "high", "p", "p_adjusted",
        "p_rank", "minimum_detectable", "sequential_low", "sequential_high", "cuped_difference", "cuped_low",
        "cuped_high", "cuped_reduction", "cuped_covered",
    )  # fmt: skip
    schema: dict[str, Any] = dict.fromkeys(("arm", "metric", "compared", "unit", "better", "baseline"), pl.String)
    schema |= {"n_baseline": pl.Int64, "n_arm": pl.Int64, **dict.fromkeys(floats, pl.Float64)}
    schema |= {"verdict": pl.String, "notes": pl.List(pl.String)}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in _effect_rows(comparison)], schema=schema)


def _effect_rows(comparison: Comparison) -> list[dict[str, Any]]:
    rows = []
    for effect in comparison.effects:
        row = msgspec.structs.asdict(effect)
        cuped = row.pop("cuped")
        row["compared"] = row.pop("column")
        if cuped is not None:
            row |= {f"cuped_{name}": getattr(cuped, name) for name in ("difference", "low", "high", "covered")}
            row["cuped_reduction"] = cuped.variance_reduction
        rows.append(row)
    return rows


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Rows of `comparisons`, metrics that were dropped included."""
    left_out = ("better", "cuped_reduction", "cuped_covered")
    rows = [{key: value for key, value in row.items() if key not in left_out} for row in _effect_rows(comparison)]
    return rows + [
        {"arm": each.arm, "metric": each.metric, "verdict": "dropped", "notes": [each.why]}
        for each in comparison.dropped
    ]


def _sampled(lake: Lake, config: Config, question: Question) -> tuple[list[Arm], Samples, Design]:
    if question.replays_by is not None:
        figures = lake.sql(query("replay_figures"))
        return [], sample_replays(figures, question.replays_by, question.baseline), "pairs"
    cards = scorecards_frame(lake, config)
    arms = _arms(cards, question)
    check_arms(arms)
    if question.pair_by:
        return arms, sample_cells(cards, arms, question.pair_by), "pairs"
    return arms, sample_arms(cards, arms), "arms"


def _arms(cards: pl.DataFrame, question: Question) -> list[Arm]:
    if question.arms is None:
        return arms_by(cards, str(question.by), question.baseline)
    names = list(question.arms)
    if question.baseline is not None and question.baseline not in names:
        raise BadInputError(f"the baseline {question.baseline!r} is no arm; there are {', '.join(names)}")
    ordered = sorted(names, key=lambda name: name != (question.baseline or names[0]))
    return arms_where(cards, {name: question.arms[name] for name in ordered})


def _compared(config: Config, question: Question, samples: Samples, design: Design) -> Comparison:
    try:
        return compare(
            samples.samples,
            samples.measures,
            design=design,
            planned=question.planned,
            dropped=samples.dropped,
            notes=samples.notes,
            settings=Settings(seed=question.seed, resamples=config.study.bootstrap_draws),
        )
    except ValueError as error:
        raise BadInputError(str(error)) from error
