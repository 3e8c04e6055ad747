"""Arms of a comparison: which sessions stand against which.

An arm is a name and the sessions it holds. It comes from a condition over the scorecards, or from the values of one of
their columns (a label, a configuration, a model). Sessions that did not come to their end, and those without an
exchange, are in no arm; they are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.errors import BadInputError

if TYPE_CHECKING:
    import duckdb
    import polars as pl

MOST_ARMS: Final = 6
"""As many as a chart can tell apart; more values in a column are a sign that it does not name arms."""
SHOWN: Final = 5
"""Names listed in a message."""

ARM_COLUMNS: Final = ("arm", "config_hash", "model", "version", "agent", "policy_id", "project_id", "task_type")
"""Columns of the scorecards whose values may be arms."""


@dataclass(frozen=True)
class Arm:
    """One arm.

    Attributes:
        name: What it is called.
        condition: The condition that chose it; None where a column's value did.
        session_ids: The sessions that are compared.
        not_final: Sessions that fit but did not come to their end.
        without_turns: Sessions that fit but have no exchange.
    """

    name: str
    condition: str | None
    session_ids: tuple[str, ...]
    not_final: int
    without_turns: int


def parse_arms(given: Sequence[str]) -> dict[str, str]:
    """Conditions by name, of texts such as `new=model = 'x'`; the first is the baseline.

    Raises:
        BadInputError: A text has no name or no condition, or a name comes twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, _, condition = (part.strip() for part in text.partition("="))
        if not name or not condition:
            raise BadInputError(f"an arm is NAME=FILTER, such as \"new=model = 'x'\"; got {text!r}")
        if name in found:
            raise BadInputError(f"two arms are called {name!r}; give each a name of its own")
        found[name] = condition
    return found


def parse_plan(given: Sequence[str]) -> dict[str, float]:
    """Planned shares by arm, of texts such as `new=0.1`.

    Raises:
        BadInputError: A text has no name, its share is no number above 0, or a name comes twice.
    """
    found: dict[str, float] = {}
    for text in given:
        name, _, share = (part.strip() for part in text.partition("="))
        if name in found:
            raise BadInputError(f"the plan names the arm {name!r} twice; give each arm one share")
        try:
            found[name] = float(share)
        except ValueError:
            found[name] = 0.0
        if not name or not 0 < found[name] < float("inf"):
            raise BadInputError(f"a plan is NAME=SHARE, such as new=0.1, for every arm; got {text!r}")
    return found


def arms_where(cards: pl.DataFrame, conditions: Mapping[str, str]) -> list[Arm]:
    """Arms by conditions.

    Args:
        cards: Rows of `bench.scorecards()`.
        conditions: One DuckDB expression an arm, over the columns of `cards`; where it is null, the session is not in.

    Raises:
        BadInputError: A condition is no single expression, or is not true or false; the message has DuckDB's own.
    """
    import duckdb  # noqa: PLC0415  (100 ms)

    connection = duckdb.connect(":memory:")
    try:
        connection.execute("set TimeZone='UTC'; set python_enable_replacements=false")
        connection.register("scorecards", cards.to_arrow())
        connection.execute("set enable_external_access=false; set lock_configuration=true")
        return [
            _arm(name, condition, _fitting(connection, cards, name, condition))
            for name, condition in conditions.items()
        ]
    finally:
        connection.close()


def arms_by(cards: pl.DataFrame, column: str, baseline: str | None = None) -> list[Arm]:
    """Arms by the values of a column; the baseline first, then by name.

    Args:
        cards: Rows of `bench.scorecards()`.
        column: One of `ARM_COLUMNS`.
        baseline: The value that the others are compared with; unless given, the one of most sessions that can be
            compared, and among equals the first by name.

    Raises:
        BadInputError: There is no such column, it has fewer than two values or too many, or none is the baseline.
    """
    if column not in ARM_COLUMNS:
        raise BadInputError(f"arms cannot be told by {column!r}; they can by {', '.join(ARM_COLUMNS)}")
    values = sorted(cards[column].drop_nulls().unique().to_list())
    if not 1 < len(values) <= MOST_ARMS:
        frequent = _most_frequent(cards, column)
        told = _listed([f"{value}: {count}" for value, count in frequent])
        raise BadInputError(
            f"{column} has {len(values)} values, 2 to {MOST_ARMS} make arms; sessions of the most frequent: {told}; "
            f"{_instead(column, [value for value, _ in frequent[:2]])}"
        )
    if baseline is not None and baseline not in values:
        raise BadInputError(f"no session has {column} {baseline!r}; there are {_listed(values)}")
    arms = [_arm(value, None, cards.filter(cards[column] == value)) for value in values]
    first = baseline or min(arms, key=lambda arm: (-len(arm.session_ids), arm.name)).name
    return sorted(arms, key=lambda arm: (arm.name != first, arm.name))


def check_arms(arms: Sequence[Arm]) -> None:
    """That arms can be compared.

    Raises:
        BadInputError: There are fewer than two, one is empty, or two hold the same session.
    """
    if len(arms) < 2:  # noqa: PLR2004
        raise BadInputError("a comparison has two arms at least: --arm NAME=FILTER --arm NAME=FILTER, or --arm-label")
    if len(arms) > MOST_ARMS:
        raise BadInputError(f"{len(arms)} arms are more than a comparison can show; it takes {MOST_ARMS}")
    for arm in arms:
        if not arm.session_ids:
            instead = (
                "" if arm.condition else "; to leave it out, name the other arms: --arm NAME=FILTER, twice or more"
            )
            raise BadInputError(f"no session can be compared in the arm {arm.name!r}: {_left_out(arm)}{instead}")
    for place, arm in enumerate(arms):
        for other in arms[place + 1 :]:
            both = sorted(set(arm.session_ids) & set(other.session_ids))
            if both:
                raise BadInputError(
                    f"{len(both)} sessions are in both {arm.name!r} and {other.name!r}: {_listed(both)}; "
                    "narrow the filters until every session is in one arm"
                )


def _fitting(connection: duckdb.DuckDBPyConnection, cards: pl.DataFrame, name: str, condition: str) -> pl.DataFrame:
    import duckdb  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    where = f"the filter of the arm {name!r}"
    table = connection.table("scorecards")
    try:
        expression = duckdb.SQLExpression(condition)
        kinds = table.select(expression).types
        if [str(kind) for kind in kinds] != ["BOOLEAN"]:
            told = f"of type {kinds[0]}" if len(kinds) == 1 else f"{len(kinds)} columns"
            raise BadInputError(f"{where} is no condition but {told}: {condition}")
        chosen = table.filter(expression).select("session_id").fetchall()
    except duckdb.Error as error:
        said = str(error).split("\n", 1)[0]
        raise BadInputError(
            f"{where} is not one condition over the columns of scorecards ({said}): {condition}"
        ) from error
    return cards.filter(pl.col("session_id").is_in([row[0] for row in chosen]))


def _arm(name: str, condition: str | None, fitting: pl.DataFrame) -> Arm:
    import polars as pl  # noqa: PLC0415

    with_turns = fitting.filter(pl.col("total_turns") >= 1)
    compared = with_turns.filter(pl.col("final"))
    ids = tuple(sorted(compared["session_id"].to_list()))
    return Arm(name, condition, ids, with_turns.height - compared.height, fitting.height - with_turns.height)


def _left_out(arm: Arm) -> str:
    if not (arm.not_final or arm.without_turns):
        return "none fits" + (f" {arm.condition}" if arm.condition else "")
    return f"{arm.not_final} that fit did not come to their end, {arm.without_turns} have no exchange"


def _most_frequent(cards: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    """The values that most sessions have which can be compared: those that somebody may mean."""
    import polars as pl  # noqa: PLC0415

    chosen = cards.filter(pl.col("final") & (pl.col("total_turns") >= 1) & pl.col(column).is_not_null())
    return chosen.group_by(column).len().sort("len", column, descending=[True, False]).rows()


def _instead(column: str, frequent: Sequence[str]) -> str:
    if column == "arm":
        return "workbench sessions label SESSION --arm NAME"
    quoted = [value.replace("'", "''") for value in (*frequent, "...", "...")[:2]]
    filters = [f"{column} = '{value}'" for value in quoted]
    named = " ".join(f'--arm "{name}={each}"' for name, each in zip(("one", "other"), filters, strict=True))
    return f"choose two or more by hand, such as {named}"


def _listed(values: Sequence[str]) -> str:
    return ", ".join(map(str, values[:SHOWN])) + (" ..." if len(values) > SHOWN else "") if values else "none"
