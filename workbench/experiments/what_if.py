"""One prompt of a recorded session made again under other weights and budgets, and which units that moves.

The pool, the state and the summary stay as they were at that moment; nothing is written and no model is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl

from workbench.context.compile import Compiled, compile_prompt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.context.selection import UnitScores
    from workbench.experiments.replay import Halted

WEIGHTS: Final = (
    "w_pin", "w_recency", "w_relevance", "w_semantic", "w_hydrate_boost", "w_unit_order", "w_last_step",
)  # fmt: skip
"""Fields of `config.Scoring` that can be tried."""
BUDGETS: Final = ("token_budget", "verbatim_tokens", "recent_tokens", "older_tokens")
"""Budgets that can be tried: the whole prompt's, and those of its bands before the kind of task scales them."""

CHANGES: Final = {
    "unit_id": pl.String,
    "unit_type": pl.String,
    "source_turn": pl.Int64,
    "tokens": pl.Int64,
    "moved": pl.String,
    "rank_before": pl.Int64,
    "rank_after": pl.Int64,
    "score_before": pl.Float64,
    "score_after": pl.Float64,
}
"""Columns of `unit_changes`."""


def recompile(
    halted: Halted, *, weights: Mapping[str, float] | None = None, budgets: Mapping[str, int] | None = None
) -> Compiled:
    """Make the prompt of a halted replay again.

    Args:
        halted: Where the replay stopped.
        weights: Some of `WEIGHTS`; the others stay.
        budgets: Some of `BUDGETS`; the others stay.

    Returns:
        The prompt; without weights and budgets the very same as before.

    Raises:
        TypeError: There is no such weight or budget.
    """
    policy, asked = halted.policy, dict(budgets or {})
    engine, compiler = policy.engine, policy.compiler
    if "token_budget" in asked:
        compiler = msgspec.structs.replace(compiler, token_budget=asked.pop("token_budget"))
    changed: dict[str, Any] = {
        "scoring": msgspec.structs.replace(engine.scoring, **dict(weights or {})),
        "bands": msgspec.structs.replace(engine.bands, **asked),
    }
    return compile_prompt(halted.moment, compiler, msgspec.structs.replace(engine, **changed), window=policy.window)


def unit_changes(before: UnitScores, after: UnitScores) -> pl.DataFrame:
    """The units whose place differs between two compiles of one pool.

    Args:
        before: One compile.
        after: The other.

    Returns:
        One row a unit that came in, went out or has another rank: `moved` is `in`, `out` or null, ranks are within
        the band. Those that came in stand first, then those that went out, each by its new rank.
    """
    frame = _placed(before).join(
        _placed(after).drop("unit_type", "source_turn", "tokens"), on="unit_id", suffix="_after"
    )
    was, now = pl.col("included"), pl.col("included_after")
    return (
        frame.with_columns(moved=pl.when(now & ~was).then(pl.lit("in")).when(was & ~now).then(pl.lit("out")))
        .filter(pl.col("moved").is_not_null() | (pl.col("rank") != pl.col("rank_after")))
        .sort("moved", "band", "rank_after", nulls_last=True)
        .rename({"rank": "rank_before", "score": "score_before"})
        .select(pl.col(name).cast(dtype) for name, dtype in CHANGES.items())
    )


def _placed(scores: UnitScores) -> pl.DataFrame:
    units = scores.units
    return pl.DataFrame(
        {
            "unit_id": [unit.id for unit in units],
            "unit_type": [unit.type for unit in units],
            "source_turn": [unit.source_turn for unit in units],
            "tokens": [unit.tokens for unit in units],
            "band": scores.band,
            "rank": scores.rank,
            "score": scores.terms.score,
            "included": scores.included,
        },
        schema_overrides={"unit_id": pl.String, "unit_type": pl.String, "source_turn": pl.Int64, "tokens": pl.Int64},
    )
