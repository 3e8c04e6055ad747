"""The numbers of the context report: pure, frames in and small rows out.

A prompt here is the one that begins an exchange: one an exchange, whatever model calls followed in it.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import polars as pl

from workbench.reports.context_frames import SECTIONS, ContextFrames

MOST_STEPS: Final = 60
"""Places along a chart of exchanges; of more of them several share one."""

AGES: Final = ((0, 3), (4, 6), (7, 10), (11, 20), (21, 50), (51, None))
"""Ages of units in exchanges. By exchange nothing is on offer before it is 3 old, and what is 6 old or younger competes
for the recent band (defaults of `config.Bands`)."""

MODES: Final = ("normal", "compact", "emergency")

Row = dict[str, Any]


class Totals(NamedTuple):
    """Sums over all prompts.

    Attributes:
        sessions: Those with a replay that has prompts.
        prompts: Prompts of all of them.
        engine_tokens: What the engine would have sent.
        classic_tokens: What sending the whole history would have cost.
        over_full: Prompts whose whole history would not have fitted.
        dearer: Prompts of the engine that cost more than the whole history.
        modes: Prompts by pressure, from loose to tight.
        cut: Prompts of which parts were cut at the end.
        hydrated: State objects that came back.
        units: Units on offer, counted once a prompt.
        included: Of them in the prompt.
        most_pressure: The highest; None without prompts.
    """

    sessions: int
    prompts: int
    engine_tokens: int
    classic_tokens: int
    over_full: int
    dearer: int
    modes: dict[str, int]
    cut: int
    hydrated: int
    units: int
    included: int
    most_pressure: float | None

    @property
    def saved_tokens(self) -> int:
        """What the engine saves; negative where it costs more."""
        return self.classic_tokens - self.engine_tokens


def totals(frames: ContextFrames) -> Totals:
    """Sum everything up."""
    prompts = frames.prompts
    modes = dict(prompts.group_by("pressure_mode").len().iter_rows())
    most = prompts["pressure"].max()
    return Totals(
        sessions=prompts["session_id"].n_unique(),
        prompts=prompts.height,
        engine_tokens=int(prompts["raw_tokens"].sum()),
        classic_tokens=int(prompts["classic_tokens"].sum()),
        over_full=int((prompts["classic_tokens"] > prompts["usable_tokens"]).sum()),
        dearer=int((prompts["raw_tokens"] > prompts["classic_tokens"]).sum()),
        modes={mode: modes.get(mode, 0) for mode in MODES},
        cut=int((prompts["cuts"] > 0).sum()),
        hydrated=int(prompts["hydrated"].sum()),
        units=int(prompts["units"].sum()),
        included=int(prompts["units_included"].sum()),
        most_pressure=most if isinstance(most, float) else None,
    )


def step_of(turns: pl.Series) -> int:
    """How many exchanges share one place of a chart, so that there are at most `MOST_STEPS`."""
    last = turns.max()
    return max(1, math.ceil(last / MOST_STEPS)) if isinstance(last, int) else 1


def by_turn(prompts: pl.DataFrame) -> list[Row]:
    """What was sent at each exchange, over all sessions that reach it.

    Returns:
        One row a place: `turn` and `last_turn` (the exchanges that share it), `sessions`, `prompts`, `engine_tokens`
        and `classic_tokens` (sums), `engine_median` and `classic_median` (of a prompt), `pressure_median`,
        `pressure_most`.
    """
    step = step_of(prompts["turn"])
    return (
        prompts.group_by(((pl.col("turn") - 1) // step * step + 1).alias("turn"))
        .agg(
            pl.col("turn").max().alias("last_turn"),
            pl.col("session_id").n_unique().alias("sessions"),
            pl.len().alias("prompts"),
            pl.col("raw_tokens").sum().alias("engine_tokens"),
            pl.col("classic_tokens").sum(),
            pl.col("raw_tokens").median().alias("engine_median"),
            pl.col("classic_tokens").median().alias("classic_median"),
            pl.col("pressure").median().alias("pressure_median"),
            pl.col("pressure").max().alias("pressure_most"),
        )
        .sort("turn")
        .to_dicts()
    )


def by_session(frames: ContextFrames) -> list[Row]:
    """One row a session with prompts, the largest saving first.

    Returns:
        `session_id`, `title`, `prompts`, `engine_tokens`, `classic_tokens`, `saved_tokens`, `pressure_most`,
        `over_full` (prompts whose whole history would not have fitted) and `turns`: its prompts in order, each with
        `turn`, `engine` and `classic`.
    """
    prompts = frames.prompts.sort("session_id", "turn")
    sums = prompts.group_by("session_id").agg(
        pl.len().alias("prompts"),
        pl.col("raw_tokens").sum().alias("engine_tokens"),
        pl.col("classic_tokens").sum(),
        (pl.col("classic_tokens").sum() - pl.col("raw_tokens").sum()).alias("saved_tokens"),
        pl.col("pressure").max().alias("pressure_most"),
        (pl.col("classic_tokens") > pl.col("usable_tokens")).sum().alias("over_full"),
        pl.struct("turn", pl.col("raw_tokens").alias("engine"), pl.col("classic_tokens").alias("classic")).alias(
            "turns"
        ),
    )
    names = frames.replays.select("session_id", "title")
    return (
        sums.join(names, on="session_id", how="left")
        .sort(["saved_tokens", "session_id"], descending=[True, False])
        .to_dicts()
    )


def section_rows(prompts: pl.DataFrame) -> list[Row]:
    """What each part of a prompt costs.

    Returns:
        One row a part that is ever there, in the order of the prompt: `section`, `prompts` (that have it), `mean`
        (over all prompts), `most`, `tokens` and `part` (of all parts' tokens, 0 to 1).
    """
    sums = {name: int(prompts[f"{name}_tokens"].sum()) for name in SECTIONS}
    whole = sum(sums.values())
    return [
        {
            "section": name,
            "prompts": int((prompts[f"{name}_tokens"].fill_null(0) > 0).sum()),
            "mean": tokens / prompts.height,
            "most": max(prompts[f"{name}_tokens"].drop_nulls()),
            "tokens": tokens,
            "part": tokens / whole,
        }
        for name, tokens in sums.items()
        if tokens
    ]


def sections_by_turn(prompts: pl.DataFrame) -> list[Row]:
    """Mean tokens of each part at each place of a chart: `turn`, `last_turn`, `section`, `tokens`; zeros left out."""
    step = step_of(prompts["turn"])
    columns = [f"{name}_tokens" for name in SECTIONS]
    means = (
        prompts.group_by(((pl.col("turn") - 1) // step * step + 1).alias("turn"))
        .agg(pl.col("turn").max().alias("last_turn"), *(pl.col(name).fill_null(0).mean() for name in columns))
        .sort("turn")
    )
    return [
        {"turn": row["turn"], "last_turn": row["last_turn"], "section": name, "tokens": row[f"{name}_tokens"]}
        for row in means.iter_rows(named=True)
        for name in SECTIONS
        if row[f"{name}_tokens"]
    ]


def distiller_rows(frames: ContextFrames) -> list[Row]:
    """What each distiller saved, the largest saving first.

    Returns:
        `distiller`, `runs`, `lite`, `full` (runs by how hard it shortened), `input_tokens`, `output_tokens`,
        `saved_tokens`.
    """
    hard = pl.col("intensity") == "full"
    return (
        frames.distillers.group_by("distiller")
        .agg(
            pl.col("runs").sum(),
            pl.col("runs").filter(~hard).sum().alias("lite"),
            pl.col("runs").filter(hard).sum().alias("full"),
            pl.col("input_tokens", "output_tokens").sum(),
        )
        .with_columns(saved_tokens=pl.col("input_tokens") - pl.col("output_tokens"))
        .sort(["saved_tokens", "distiller"], descending=[True, False])
        .to_dicts()
    )


def age_name(low: int, high: int | None) -> str:
    """What an age of `AGES` is called: up to 3, 4-6, over 50."""
    if high is None:
        return f"over {low - 1}"
    return f"{low}–{high}" if low else f"up to {high}"  # noqa: RUF001  (an en dash)


def inclusion(frames: ContextFrames) -> list[Row]:
    """How often units of each kind and age were in a prompt.

    Returns:
        One row a kind and age that was ever on offer: `unit_type`, `age`, `offered`, `included`, `part` (0 to 1),
        kinds by name, ages from young to old.
    """
    rows: list[Row] = []
    kinds = sorted(frames.units["unit_type"].unique())
    for kind in kinds:
        of_kind = frames.units.filter(pl.col("unit_type") == kind)
        for low, high in AGES:
            aged = of_kind.filter(pl.col("age_turns").is_between(low, math.inf if high is None else high))
            offered = int(aged["units"].sum())
            if offered:
                included = int(aged.filter(pl.col("why") == "included")["units"].sum())
                name = age_name(low, high)
                told = {"unit_type": kind, "age": name, "offered": offered, "included": included}
                rows.append(told | {"part": included / offered})
    return rows


def reasons(frames: ContextFrames) -> list[Row]:
    """Why units were in prompts or not, the commonest first: `why`, `units`, `tokens`, `part` of all units (0 to 1)."""
    sums = frames.units.group_by("why").agg(pl.col("units", "tokens").sum())
    whole = int(sums["units"].sum())
    return [
        {**row, "part": row["units"] / whole}
        for row in sums.sort(["units", "why"], descending=[True, False]).iter_rows(named=True)
    ]


def dearest(frames: ContextFrames, most: int) -> list[Row]:
    """The prompts of the engine that cost most, each with its session's title."""
    prompts = frames.prompts.sort(["raw_tokens", "session_id", "turn"], descending=[True, False, False]).head(most)
    return prompts.join(frames.replays.select("session_id", "title"), on="session_id", how="left").to_dicts()


def missing(frames: ContextFrames) -> list[str]:
    """What the report lacks, in sentences."""
    told: list[str] = []
    replays = frames.replays
    with_prompts = replays.filter(pl.col("replay_id").is_not_null() & (pl.col("exchanges") > 0))
    by_words = with_prompts.filter(pl.col("embedder").is_null()).height
    if by_words:
        which = "All sessions were" if by_words == with_prompts.height else f"{by_words:,} of the sessions were"
        told.append(f"{which} replayed by words alone: no embedder judged meaning, the semantic term is 0.")
    for model, sessions in with_prompts.drop_nulls("embedder").group_by("embedder").len().sort("embedder").iter_rows():
        told.append(f"In {sessions:,} of the sessions {model} judged meaning too.")
    empty = replays.filter(pl.col("exchanges") == 0).height
    if empty:
        told.append(f"{empty:,} of the sessions have no exchange, so no prompt.")
    unreplayed = replays.filter(pl.col("replay_id").is_null() & (pl.col("exchanges") > 0)).height
    if unreplayed:
        told.append(f"{unreplayed:,} of the sessions have not been replayed and are left out.")
    return told
