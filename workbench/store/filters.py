"""Conditions on columns, written for each engine in one place: SQL for LanceDB, expressions for Polars."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Literal

from workbench.errors import QueryError
from workbench.store.delta import quote

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Condition:
    """One column against a value.

    Attributes:
        column: A column's name.
        test: `in` (one of several texts), `since` (that time or later) or `until` (before that time).
        value: The texts, or a time with a zone.
    """

    column: str
    test: Literal["in", "since", "until"]
    value: tuple[str, ...] | datetime

    def __post_init__(self) -> None:
        """Refuse a time without a zone: it would mean another moment on another machine."""
        if self.test == "in":
            return
        if not isinstance(self.value, datetime) or self.value.tzinfo is None:
            raise QueryError(f"{self.test} needs a time with a zone, got {self.value!r}")

    def sql(self) -> str:
        """The condition in SQL; texts are quoted, a column that is null does not fit."""
        if isinstance(self.value, datetime):
            sign = ">=" if self.test == "since" else "<"
            return f"{self.column} {sign} timestamp '{self.value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}'"
        return f"{self.column} in ({', '.join(map(quote, self.value))})" if self.value else "false"

    def expression(self) -> pl.Expr:
        """The condition in Polars."""
        import polars as pl  # noqa: PLC0415  (175 ms)

        column = pl.col(self.column)
        if isinstance(self.value, datetime):
            return column >= self.value if self.test == "since" else column < self.value
        return column.is_in(list(self.value))


@dataclass(frozen=True)
class Where:
    """Conditions that must all hold.

    Attributes:
        conditions: At least one.
    """

    conditions: tuple[Condition, ...]

    @classmethod
    def of(
        cls,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        time_column: str = "occurred_at",
        **one_of: str | Collection[str] | None,
    ) -> Where | None:
        """The conditions that were asked for; None where there are none.

        Args:
            since: That time or later, with a zone.
            until: Before that time, with a zone.
            time_column: What the times are compared with.
            one_of: Column to the text, or the texts, that it must have.

        Raises:
            QueryError: A time without a zone.
        """
        texts = {column: (value,) if isinstance(value, str) else value for column, value in one_of.items()}
        conditions = [Condition(column, "in", tuple(value)) for column, value in texts.items() if value is not None]
        conditions += [Condition(time_column, "since", since)] if since is not None else []
        conditions += [Condition(time_column, "until", until)] if until is not None else []
        return cls(tuple(conditions)) if conditions else None

    def sql(self) -> str:
        """All of them in SQL."""
        return " and ".join(f"({condition.sql()})" for condition in self.conditions)

    def expression(self) -> pl.Expr:
        """All of them in Polars."""
        return reduce(and_, (condition.expression() for condition in self.conditions))
