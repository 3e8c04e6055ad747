"""The rules: for each pair of a moment and a unit on offer there, whether the unit was needed, one column a rule.

    a         a file of the unit is touched
    a_strict  and neither the user's message nor what stands word for word names the file
    a_ref     the unit is the newest one of that file that says something of it
    b         a file that the unit read is read again
    b_ref     the unit is the newest read of lines that are read again                                       grade 3
    c         an identifier is used that is in at most three units, this one among them, and not in the user's message
    c_strict  and not in the agent's own output since that message, nor in what stands word for word         grade 1
    c_vis     and the unit's card shows it                                                                   grade 2
    d         a command that failed is run again
    d_open    and the unit is its last run

Recall and lift count grades 2 and 3 as needed; grade 1 enters nDCG alone. What has no grade is a column, off.

Each rule is a chain of joins; first uses by the agent, then the units that they point to, last the pools.

Source: design, "Labels"; the prototype of the study, section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from workbench.experiments.labels.identifiers import identifiers

if TYPE_CHECKING:
    from workbench.experiments.labels.trace import Trace

RULES: Final = ("a", "a_strict", "a_ref", "b", "b_ref", "c", "c_strict", "c_vis", "d", "d_open")
"""Columns of `label_pairs`, which are also the bits of a stored label, the first the lowest."""

NEEDS: Final[dict[str, dict[str, int]]] = {
    "vis": {"b_ref": 3, "c_vis": 2, "c_strict": 1},
    "core": {"b_ref": 3, "c_strict": 2},
    "b_ref": {"b_ref": 3},
    "c_vis": {"c_vis": 2},
    "c_strict": {"c_strict": 2},
    "a_ref": {"a_ref": 2},
}
"""Names of labels: which rules count, and their grades; a unit has the highest grade of those that fire."""
DEFAULT_NEED: Final = "vis"
NEEDED_GRADE: Final = 2
"""From here on a unit counts as needed."""

RARE_UNITS: Final = 3
"""Units that an identifier may be in at most. Source: the prototype of the study."""
VERBATIM_STEPS: Final = 2
"""Model calls that stand word for word at step level. Source: design, "Replay"."""
INFORMATIVE_TOKENS: Final = 40
"""Smaller units say "file updated" and the like. Source: the prototype's size classes."""

Level = Literal["step", "exchange"]


def label_pairs(
    trace: Trace, units: pl.DataFrame, moments: pl.DataFrame, pairs: pl.DataFrame, *, level: Level
) -> pl.DataFrame:
    """Label every pair of a moment and a unit on offer there.

    Args:
        trace: The session.
        units: See `trace.units_frame`; `tokens` too.
        moments: `moment` (the model call's number in the session, or the exchange), `turn`, `pool` (units ever added
            to the pool by then: those at places below it).
        pairs: `moment`, `unit` (place in `units`).
        level: What a moment is.

    Returns:
        The pairs in their order, with a Boolean column for each of `RULES`.
    """
    owned = _units_of_calls(trace, units)
    found = {
        **_file_rules(trace, owned, level),
        **_identifier_rules(trace, owned, units, moments, level),
        **_command_rules(trace, owned),
    }
    named = units.select("unit", "unit_id")
    offered = pairs.with_row_index("place").join(named, on="unit").join(moments.select("moment", "pool"), on="moment")
    return pairs.with_columns(_column(found[rule], offered, pairs.height, level).alias(rule) for rule in RULES)


def _column(found: pl.DataFrame, offered: pl.DataFrame, count: int, level: Level) -> pl.Series:
    """Of each pair whether `found` (step, turn, unit_id, born: the place of the unit that is meant) has it."""
    when = "step" if level == "step" else "turn"
    hits = (
        found.select(pl.col(when).alias("moment"), "unit_id", "born")
        .join(offered, on=["moment", "unit_id"])
        .filter(pl.col("born") < pl.col("pool"))
    )
    return pl.Series(pl.zeros(count, dtype=pl.UInt8, eager=True)).scatter(hits["place"].unique(), 1).cast(pl.Boolean)


def _units_of_calls(trace: Trace, units: pl.DataFrame) -> pl.DataFrame:
    """One row a call that a unit speaks of: the columns of `calls`, and `unit_id`, `born` (the unit's place)."""
    spoken = (
        units.select("unit_id", pl.col("unit").alias("born"), "tokens", pl.col("call_ids").alias("call_id"))
        .explode("call_id", empty_as_null=False)
        .drop_nulls("call_id")
    )
    return trace.calls.join(spoken, on="call_id")


def _file_rules(trace: Trace, owned: pl.DataFrame, level: Level) -> dict[str, pl.DataFrame]:
    touches = trace.calls.filter(pl.col("path").is_not_null()).select("step", "turn", "path", "tool", "first", "last")
    earlier = owned.filter(pl.col("path").is_not_null())
    touched = _before(touches, earlier, on="path", level=level)
    informative = earlier.filter(~pl.col("is_error") & (pl.col("tokens") >= INFORMATIVE_TOKENS))
    reads = touched.filter((pl.col("tool") == "read_file") & (pl.col("tool_right") == "read_file"))
    return {
        "a": touched,
        "a_strict": touched.join(_unnamed(trace, touches, level), on=["step", "path"], how="semi"),
        "a_ref": _newest(_before(touches, informative, on="path", level=level), by=["step", "path"]),
        "b": reads,
        "b_ref": _read_again(trace, owned, touches),
    }


def _before(uses: pl.DataFrame, earlier: pl.DataFrame, *, on: str, level: Level) -> pl.DataFrame:
    """Pairs of a use and an earlier call of the same thing."""
    when = "step" if level == "step" else "turn"
    return uses.join(earlier, on=on).filter(pl.col(f"{when}_right") < pl.col(when))


def _newest(found: pl.DataFrame, *, by: list[str]) -> pl.DataFrame:
    return found.filter(pl.col("call") == pl.col("call").max().over(by)) if found.height else found


def _read_again(trace: Trace, owned: pl.DataFrame, touches: pl.DataFrame) -> pl.DataFrame:
    """The newest read of overlapping lines, whether or not it is on offer yet; only then the unit that shows it."""
    reads = trace.calls.filter((pl.col("tool") == "read_file") & pl.col("path").is_not_null())
    known = reads.filter(~pl.col("is_error")).select("call", "step", "path", "first", "last")
    again = (
        touches.filter(pl.col("tool") == "read_file")
        .with_row_index("use")
        .join(known, on="path")
        .filter(
            (pl.col("step_right") < pl.col("step"))
            & (pl.col("first_right") <= pl.col("last"))
            & (pl.col("last_right") >= pl.col("first"))
        )
    )
    newest = _newest(again, by=["use"]).select("step", "turn", "call")
    return newest.join(owned.select("call", "unit_id", "born"), on="call")


def _unnamed(trace: Trace, touches: pl.DataFrame, level: Level) -> pl.DataFrame:
    """Touches of files whose name is neither in the message nor in what stands word for word before them."""
    names = touches.select("step", "turn", "path").unique()
    names = names.with_columns(name=pl.col("path").str.extract(r"([^/]+)$"))
    seen = _shown_texts(trace).rename({"step": "shown_at"})
    asked = names.join(trace.turns.select("turn", "message"), on="turn")
    asked = asked.filter(~pl.col("message").str.contains(pl.col("name"), literal=True)).drop("message")
    if level == "step":
        shown = [asked.with_columns(shown_at=pl.col("step") - back) for back in range(1, VERBATIM_STEPS + 1)]
        beside = pl.concat(shown).join(seen.drop("turn"), on="shown_at")
    else:
        beside = asked.join(seen, on="turn").filter(pl.col("shown_at") < pl.col("step"))
    told = beside.filter(pl.col("text").str.contains(pl.col("name"), literal=True)).select("step", "path")
    return asked.join(told, on=["step", "path"], how="anti").select("step", "path")


def _shown_texts(trace: Trace) -> pl.DataFrame:
    """All that was said and came back, a row a text: `step`, `turn`, `text`."""
    calls = trace.calls.select("step", "turn", "words", "result")
    return pl.concat(
        [
            trace.steps.select("step", "turn", "text"),
            calls.select("step", "turn", pl.col("words").alias("text")),
            calls.select("step", "turn", pl.col("result").alias("text")),
        ]
    )


def _identifier_rules(
    trace: Trace, owned: pl.DataFrame, units: pl.DataFrame, moments: pl.DataFrame, level: Level
) -> dict[str, pl.DataFrame]:
    holders = _rare_holders(trace, owned, units)
    words = _words(trace)
    said = identifiers(trace.turns, "turn", "message")
    uses = words.join(said, on=["turn", "token"], how="anti")
    when = "step" if level == "step" else "turn"
    pools = moments.select(pl.col("moment").alias(when), "pool")
    loose = (
        uses.join(pools, on=when)
        .join(holders, on="token")
        .filter(pl.col("born") < pl.col("pool"))
        .filter(pl.len().over("step", "token") <= RARE_UNITS)
    )
    news = _not_shown(trace, uses, words, level)
    strict = loose.join(news, on=["step", "token"], how="semi")
    return {"c": loose, "c_strict": strict, "c_vis": strict.filter("in_card")}


def _words(trace: Trace) -> pl.DataFrame:
    """Identifiers in the agent's own words: `step`, `turn`, `token`, each once."""
    calls = trace.calls.select("step", "turn", pl.col("words").alias("text"))
    texts = pl.concat([trace.steps.select("step", "turn", "text"), calls])
    return identifiers(texts, "step", "text").join(trace.steps.select("step", "turn"), on="step")


def _not_shown(trace: Trace, uses: pl.DataFrame, words: pl.DataFrame, level: Level) -> pl.DataFrame:
    """Uses of identifiers that the agent has not written since the message, nor has word for word before it."""
    results = identifiers(trace.calls, "step", "result").join(trace.steps.select("step", "turn"), on="step")
    first = uses.filter(pl.col("step") == pl.col("step").min().over("turn", "token")).select("step", "turn", "token")
    if level == "exchange":
        came = results.group_by("turn", "token").agg(pl.col("step").min().alias("came"))
        return first.join(came, on=["turn", "token"], how="left").filter(
            pl.col("came").fill_null(1 << 40) >= pl.col("step")
        )
    shown = pl.concat([words, results.select(words.columns)]).select("step", "token")
    beside = pl.concat([shown.with_columns(pl.col("step") + back) for back in range(1, VERBATIM_STEPS + 1)])
    return first.join(beside, on=["step", "token"], how="anti")


def _rare_holders(trace: Trace, owned: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Which units hold an identifier: `token`, `unit_id`, `born`, `in_card`.

    Of each identifier the four oldest units alone: where a fifth is older than a moment, so are these four, and the
    identifier is not rare there.
    """
    raw = pl.concat(
        [
            owned.select("born", pl.col("words").alias("text")),
            owned.select("born", pl.col("result").alias("text")),
            _answers(trace, units),
        ]
    )
    shown = units.select(pl.col("unit").alias("born"), pl.col("card").str.replace_all(r"\\[nt]", " ").alias("text"))
    in_raw = identifiers(raw, "born", "text").with_columns(in_card=pl.lit(value=False))
    in_card = identifiers(shown, "born", "text").with_columns(in_card=pl.lit(value=True))
    named = units.select(pl.col("unit").alias("born"), "unit_id")
    return (
        pl.concat([in_raw, in_card])
        .join(named, on="born")
        .group_by("token", "unit_id")
        .agg(pl.col("born").min(), pl.col("in_card").any())
        .sort("token", "born")
        .filter(pl.int_range(pl.len()).over("token") <= RARE_UNITS)
    )


def _answers(trace: Trace, units: pl.DataFrame) -> pl.DataFrame:
    """The whole message and answer of the exchange behind each digest."""
    digests = units.filter(pl.col("type") == "turn_digest").select(pl.col("unit").alias("born"), "turn")
    whole = trace.turns.select("turn", text=pl.concat_str("message", "answer", separator="\n"))
    return digests.join(whole, on="turn").select("born", "text")


def _command_rules(trace: Trace, owned: pl.DataFrame) -> dict[str, pl.DataFrame]:
    runs = trace.calls.filter(pl.col("command").is_not_null())
    uses = runs.select("step", "turn", "command")
    failed = owned.filter(pl.col("command").is_not_null() & pl.col("is_error"))
    again = uses.join(failed, on="command").filter(pl.col("step_right") < pl.col("step"))
    last = uses.join(runs.select("call", "command", pl.col("step").alias("ran")), on="command")
    last = last.filter(pl.col("ran") < pl.col("step")).group_by("step", "command").agg(pl.col("call").max())
    return {"d": again, "d_open": again.join(last, on=["step", "command", "call"], how="semi")}
