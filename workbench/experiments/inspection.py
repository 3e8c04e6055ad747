"""A person looks at labels: pairs of a unit and a moment at which a rule says that the unit was needed.

A rule is a guess about what the agent did. How good it is, only somebody who reads the pair can say: was this unit of
use for what the agent did there? The verdicts are kept, and each rule's precision follows from them: of the pairs that
were drawn for it alone, since among those drawn for another rule its own are no fair sample.

Source: design, "Labels"; the prototype of the study, section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import numpy as np

from workbench import __version__
from workbench.context.session import Level
from workbench.errors import BadInputError, NotFoundError
from workbench.experiments.frames import build_frame, units_on_offer
from workbench.experiments.labels.rules import RULES
from workbench.experiments.recorded import READ, read_each, read_recorded
from workbench.experiments.replay_job import policy_of
from workbench.experiments.statistics.proportion import wilson

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from workbench.config import Config
    from workbench.context.records import ContextUnit
    from workbench.experiments.frames import SessionFrame
    from workbench.experiments.recorded import RecordedExchange, RecordedSession
    from workbench.store.lake import Lake

Opinion = Literal["needed", "not_needed", "unclear"]
OPINIONS: Final[tuple[Opinion, ...]] = ("needed", "not_needed", "unclear")
UNFIRED: Final = "none"
"""In the place of a rule: pairs on which no rule fires, to see what the rules miss."""
USE_CHARS: Final = 2_000
"""Characters shown of what was said and done."""

_NEWEST: Final = """
    select * from verdicts
    qualify row_number() over (
        partition by session_id, level, turn, step, unit_id order by recorded_at desc, opinion
    ) = 1
"""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A unit that was on offer at a moment.

    Attributes:
        session_id: The session.
        level: exchange or step.
        turn: The exchange, from 1.
        step: The model call in it; 0 by exchange.
        unit_id: The unit.
        drawn_for: The rule that it was drawn for.
        rules: Rules that fire on the pair.
        unit: The unit as it would stand in a prompt.
        asked: What the person had said.
        did: What the agent said and called there: the later use, if it is one.
    """

    session_id: str
    level: Level
    turn: int
    step: int
    unit_id: str
    drawn_for: str
    rules: tuple[str, ...]
    unit: str
    asked: str
    did: str


def sample_pairs(
    lake: Lake,
    config: Config,
    rule: str,
    *,
    count: int,
    seed: int = 0,
    level: Level = "step",
    session_ids: Sequence[str] | None = None,
) -> list[Pair]:
    """Pairs on which a rule fires, drawn at random: one a session, so that no long session speaks for all.

    Args:
        lake: The tables.
        config: How units are made, and how many model calls of a session are looked at.
        rule: One of `RULES`, or `UNFIRED`.
        count: How many; fewer where fewer sessions have one.
        seed: Another seed draws others.
        level: What a moment is.
        session_ids: Only of these sessions.

    Returns:
        The pairs in the order they were drawn; those that have a verdict are not drawn again.

    Raises:
        BadInputError: There is no such rule.
        NotFoundError: A session is not there.
    """
    _check(rule)
    generator = np.random.default_rng(seed)
    known = session_ids if session_ids is not None else _sessions(lake)
    judged = set(_verdicts(lake).select("session_id", "level", "turn", "step", "unit_id").iter_rows())
    drawn: list[Pair] = []
    with _reading(lake) as tables:
        for session in read_each(tables, generator.permutation(sorted(known)).tolist()):
            if len(drawn) == count:
                break
            frame = _frame(session, config, level)
            places = _firing(frame, rule)
            units = _units(session, config, level) if places.size else ()
            for place in generator.permutation(places).tolist():
                pair = _pair(session, frame, units, level, place, rule)
                if (pair.session_id, level, pair.turn, pair.step, pair.unit_id) not in judged:
                    drawn.append(pair)
                    break
    return drawn


def _check(rule: str) -> None:
    if rule not in (*RULES, UNFIRED):
        raise BadInputError(f"there is no rule {rule!r}; there are {', '.join(RULES)}, and {UNFIRED}: pairs of no rule")


def find_pair(lake: Lake, config: Config, session_id: str, turn: int, step: int, unit_id: str, rule: str) -> Pair:
    """One pair by its names; `step` 0 is a moment by exchange.

    Raises:
        BadInputError: There is no such rule, or it does not fire on the pair.
        NotFoundError: There is no such moment, or the unit was not on offer there.
    """
    _check(rule)
    level: Level = "step" if step else "exchange"
    with _reading(lake) as tables:
        session = read_recorded(tables, session_id)
    frame = _frame(session, config, level)
    found = np.flatnonzero((frame.turns == turn) & (frame.steps == step))
    where = f"{turn}.{step}" if step else str(turn)
    if not found.size:
        raise NotFoundError(f"session {session_id} has no moment {where} by {level} that is looked at")
    start, end = frame.starts[found[0]], frame.starts[found[0] + 1]
    units = _units(session, config, level)
    here = [place for place in range(start, end) if units[frame.units[place]].id == unit_id]
    if not here:
        raise NotFoundError(f"the unit {unit_id!r} was not on offer at {where} of session {session_id}")
    pair = _pair(session, frame, units, level, here[-1], rule)
    if rule not in (pair.rules or (UNFIRED,)):
        fired = ", ".join(pair.rules) or UNFIRED
        raise BadInputError(f"the rule {rule} does not fire on {unit_id} at {where}; there fire: {fired}")
    return pair


def record_verdict(lake: Lake, pair: Pair, opinion: str, *, recorded_by: str, now: datetime | None = None) -> None:
    """Keep what a person says of a pair; a later verdict on the same pair takes the place of the earlier one.

    Raises:
        BadInputError: There is no such opinion.
    """
    if opinion not in OPINIONS:
        raise BadInputError(f"a verdict is {', '.join(OPINIONS)}, not {opinion!r}")
    store = lake.stores["verdicts"]
    row = {
        "session_id": pair.session_id,
        "level": pair.level,
        "turn": pair.turn,
        "step": pair.step,
        "unit_id": pair.unit_id,
        "drawn_for": pair.drawn_for,
        "rules": list(pair.rules),
        "opinion": opinion,
        "code_version": __version__,
        "recorded_by": recorded_by,
        "recorded_at": now or datetime.now(UTC),
    }
    store.append(store.table.from_dicts([row]))


def rule_precision(lake: Lake) -> pl.DataFrame:
    """How often each rule was right on the pairs that were drawn for it, by the newest verdict on each.

    Returns:
        One row a rule, those without a verdict too: `rule`, `judged`, `needed`, `not_needed`, `unclear`, `precision`
        (needed among needed and not needed; null where there are none) and its 95 % Wilson interval `low`, `high`.
    """
    import polars as pl  # noqa: PLC0415

    told = _verdicts(lake).rename({"drawn_for": "rule"})
    counted = told.group_by("rule").agg(
        pl.len().alias("judged"), *((pl.col("opinion") == each).sum().alias(each) for each in OPINIONS)
    )
    rows = {row["rule"]: row for row in counted.iter_rows(named=True)}
    return pl.DataFrame([_precision(rule, rows.get(rule, {})) for rule in (*RULES, UNFIRED)], infer_schema_length=None)


def _precision(rule: str, row: dict[str, Any]) -> dict[str, Any]:
    counts = {name: int(row.get(name, 0)) for name in ("judged", *OPINIONS)}
    clear = counts["needed"] + counts["not_needed"]
    low, high = wilson(counts["needed"], clear)
    share = counts["needed"] / clear if clear else None
    return {"rule": rule, **counts, "precision": share, "low": low if clear else None, "high": high if clear else None}


class _Tables:
    """Some tables of a lake: to open all of them takes longer than to read one session."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def sql(self, query: str, parameters: Mapping[str, Any]) -> pl.DataFrame:
        frame: pl.DataFrame = self._connection.sql(query, params=dict(parameters)).pl()
        return frame


@contextmanager
def _reading(lake: Lake) -> Iterator[_Tables]:
    connection = lake.connection(READ)
    try:
        yield _Tables(connection)
    finally:
        connection.close()


def _verdicts(lake: Lake) -> pl.DataFrame:
    connection = lake.connection(("verdicts",))
    try:
        frame: pl.DataFrame = connection.sql(_NEWEST).pl()
        return frame
    finally:
        connection.close()


def _sessions(lake: Lake) -> list[str]:
    return [str(row[0]) for row in lake.sql("select session_id from sessions where tool_calls > 0").rows()]


def _frame(session: RecordedSession, config: Config, level: Level) -> SessionFrame:
    return build_frame(session, policy_of(config, level), steps_max=config.study.steps_max)


def _firing(frame: SessionFrame, rule: str) -> Any:
    fires = frame.labels == 0 if rule == UNFIRED else frame.labels & (1 << RULES.index(rule)) > 0
    return np.flatnonzero(fires)


def _moment(frame: SessionFrame, place: int) -> tuple[int, int]:
    moment = int(np.searchsorted(frame.starts, place, side="right")) - 1
    return int(frame.turns[moment]), int(frame.steps[moment])


def _units(session: RecordedSession, config: Config, level: Level) -> Sequence[ContextUnit]:
    return units_on_offer(session, policy_of(config, level), steps_max=config.study.steps_max)


def _pair(
    session: RecordedSession, frame: SessionFrame, units: Sequence[ContextUnit], level: Level, place: int, rule: str
) -> Pair:
    turn, step = _moment(frame, place)
    exchange = next(each for each in session.exchanges if each.turn == turn)
    unit = units[frame.units[place]]
    return Pair(
        session_id=session.session_id,
        level=level,
        turn=turn,
        step=step,
        unit_id=unit.id,
        drawn_for=rule,
        rules=tuple(name for bit, name in enumerate(RULES) if int(frame.labels[place]) >> bit & 1),
        unit=unit.content,
        asked=exchange.user_text[:USE_CHARS],
        did="\n".join(_use(exchange, step))[:USE_CHARS],
    )


def _use(exchange: RecordedExchange, step: int) -> Iterator[str]:
    """What the agent said and which tools it called with what, at a model call or in the whole exchange."""
    for each in exchange.steps:
        if step in (0, each.number):
            yield from filter(None, [each.text])
            yield from (f"{call.tool} {msgspec.json.encode(call.args).decode()}" for call in each.calls)
