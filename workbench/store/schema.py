"""How a table is declared: once, as data. Schema, views, validation and the documentation page follow from it.

A *derived* table is a function of a session's log or archived sources, or of a vault, and carries `landing_id`, which
says by which landing its rows came (see `landing`). A *recorded* table only grows. An *entity* table holds versions of
things; the newest version of a key is the thing. One that names a head carries `landing_id` too, and its versions count
from the moment at which the head has that landing.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

import pyarrow as pa

from workbench.errors import SchemaError
from workbench.store.landing_key import HEAD, OWNERS

Kind = Literal["derived", "recorded", "entity"]

STRING = pa.string()
BOOL = pa.bool_()
INT = pa.int64()
FLOAT = pa.float64()
STRINGS = pa.list_(pa.string())
TIME = pa.timestamp("us", tz="UTC")

LANDING_ID: Final = "landing_id"


@dataclass(frozen=True)
class Column:
    """One column: its Arrow type, what it means, and where it comes from."""

    name: str
    type: pa.DataType
    meaning: str
    required: bool = False

    def arrow(self) -> pa.Field[Any]:
        """The Arrow field."""
        return pa.field(self.name, self.type, nullable=not self.required)


_LANDING = Column(LANDING_ID, INT, "Which landing wrote the row; hidden in the views.", required=True)
_ENTITY = (
    Column("row_id", STRING, "ULID of this version.", required=True),
    Column("recorded_at", TIME, "When this version was recorded; grows strictly within a key.", required=True),
    Column("recorded_by", STRING, "Who recorded it.", required=True),
    Column("deleted", BOOL, "True where this version says that the thing is gone.", required=True),
)


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: Also the folder name and the name of the view.
        group: Heading in the documentation.
        kind: `derived`, `recorded` or `entity`.
        grain: What one row stands for.
        key: Columns that are unique together (in an entity table: of the newest version).
        declared: Its own columns; those of the kind are added, see `columns`.
        source: The seed or design section it follows.
        head: The table that says which landings are shown (`landing_key.OWNERS`); `sessions` of a derived table unless
            given, None of a recorded one.
        schema: The Arrow schema of what is stored.
    """

    name: str
    group: str
    kind: Kind
    grain: str
    key: tuple[str, ...]
    declared: tuple[Column, ...]
    source: str
    head: str | None = None
    schema: pa.Schema = field(init=False)

    def __post_init__(self) -> None:
        """Derive the Arrow schema once and check names and key."""
        if self.kind == "derived" and self.head is None:
            object.__setattr__(self, "head", HEAD)
        object.__setattr__(self, "schema", pa.schema([column.arrow() for column in self.columns]))
        twice = {name for name in self.schema.names if self.schema.names.count(name) > 1}
        if twice:
            raise SchemaError(f"table {self.name}: columns {sorted(twice)} are declared twice")
        missing = set(self.key) - set(self.schema.names)
        if missing:
            raise SchemaError(f"table {self.name}: key columns {sorted(missing)} are not declared")

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns as stored, those that the kind adds included."""
        landing = () if self.head is None else (_LANDING,)
        return (*self.declared, *landing, *_ENTITY) if self.kind == "entity" else (*self.declared, *landing)

    @property
    def owner(self) -> str | None:
        """The column that names whose rows they are: `session_id`, `vault_id`; None where no head shows them."""
        return None if self.head is None else OWNERS[self.head]

    @property
    def statistics_columns(self) -> list[str]:
        """Columns that Delta keeps minimum and maximum of: ids, keys, times, numbers; never texts.

        Statistics outlive a delete, so a text must not get into them (design 4, "Creating").
        """
        short = [c.name for c in self.columns if c.type in (INT, TIME, BOOL)]
        return list(
            dict.fromkeys([*self.key, *(n for n in ("session_id", "source_id") if n in self.schema.names), *short])
        )

    def cast(self, rows: pa.Table) -> pa.Table:
        """Fit `rows` to the declared schema.

        Args:
            rows: Any column order; columns that may be null may be absent.

        Returns:
            The same rows with exactly the declared columns, types and order.

        Raises:
            SchemaError: A column is unknown, missing or of another type, a required value is null, or a time is naive.
        """
        unknown = sorted(set(rows.column_names) - set(self.schema.names))
        if unknown:
            raise SchemaError(f"table {self.name} has no columns {unknown}; it has {self.schema.names}")
        return pa.table([self._fit(rows, target) for target in self.schema], schema=self.schema)

    def _fit(self, rows: pa.Table, target: pa.Field[Any]) -> pa.ChunkedArray[Any]:
        where = f"{self.name}.{target.name}"
        if target.name not in rows.column_names:
            if not target.nullable:
                raise SchemaError(f"{where} is required and missing; given were {rows.column_names}")
            return pa.chunked_array([pa.nulls(rows.num_rows, target.type)])
        column = rows.column(target.name)
        if not target.nullable and column.null_count:
            raise SchemaError(f"{where} is required, but {column.null_count} of {rows.num_rows} rows have none")
        if column.type == target.type:
            return column
        if pa.types.is_timestamp(column.type) and pa.types.is_timestamp(target.type) and column.type.tz is None:
            raise SchemaError(f"{where} got times without a zone; make them UTC first")
        if not is_like(column.type, target.type):
            raise SchemaError(f"{where} wants {target.type}, got {column.type}")
        try:
            return column.cast(target.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise SchemaError(f"{where} wants {target.type}, got {column.type}: {error}") from error

    def from_columns(self, columns: Sequence[Sequence[Any]]) -> pa.Table:
        """Build the Arrow table from the values of each column, in order.

        Raises:
            SchemaError: A value does not fit its column, or a time has no zone.
        """
        arrays = [self._array(column, values) for column, values in zip(self.columns, columns, strict=True)]
        return pa.table(arrays, schema=self.schema)

    def from_rows(self, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
        """Build the Arrow table from tuples in the order of the columns.

        Raises:
            SchemaError: A value does not fit its column, or a time has no zone.
        """
        return self.from_columns(list(zip(*rows, strict=True)) if rows else [()] * len(self.columns))

    def from_dicts(self, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        """Build the Arrow table from dicts; a column that a row leaves out is null there.

        Raises:
            SchemaError: As for `from_rows`, or a row has a column that the table has not.
        """
        unknown = sorted({name for row in rows for name in row} - set(self.schema.names))
        if unknown:
            raise SchemaError(f"table {self.name} has no columns {unknown}; it has {self.schema.names}")
        return self.from_rows([tuple(row.get(name) for name in self.schema.names) for row in rows])

    def _array(self, column: Column, values: Sequence[Any]) -> pa.Array[Any]:
        try:
            if column.type == TIME and (odd := _odd_time(values)) is not None:
                raise SchemaError(f"{self.name}.{column.name} wants times with a zone, got {odd!r}")
            if column.type == STRINGS and str in set(map(type, values)):  # a text is a sequence of texts too
                odd = next(value for value in values if isinstance(value, str))
                raise SchemaError(f"{self.name}.{column.name} wants lists, got {odd!r}")
            if column.type == STRING and values and type(values[0]) is bytes and set(map(type, values)) == {bytes}:
                return _joined(values)
            return pa.array(values, type=column.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError, OverflowError) as error:
            raise SchemaError(f"{self.name}.{column.name}: {error}") from error


@dataclass(frozen=True)
class View:
    """A question that is asked so often that it has a name, beside the tables' own views.

    Attributes:
        name: Name of the view.
        group: Heading in the documentation.
        grain: What one row stands for.
        key: Columns that are unique together.
        columns: Its columns, in order.
        reads: The tables whose views the query names.
        query: The SELECT.
        source: The design section it follows.
    """

    name: str
    group: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    reads: tuple[str, ...]
    query: str
    source: str


def _odd_time(values: Sequence[Any]) -> Any:
    """The first value that is neither a time with a zone nor None; None where there is none."""
    try:
        zones = {value.tzinfo for value in values if value is not None}
        if all(zone is UTC for zone in zones):
            return None
    except AttributeError:
        pass
    return next((v for v in values if v is not None and (not isinstance(v, datetime) or v.utcoffset() is None)), None)


def _joined(texts: Sequence[bytes]) -> pa.Array[Any]:
    """Text out of valid UTF-8, none of it missing: joined once, in a third of the time that `pa.array` takes."""
    offsets = array("i", itertools.accumulate(map(len, texts), initial=0))
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(b"".join(texts)))


def is_like(given: Any, wanted: Any) -> bool:
    """Whether a cast only changes how a value is written down: never a number into a time, or a text into a number."""
    if pa.types.is_null(given):
        return True
    if pa.types.is_dictionary(given):
        return is_like(given.value_type, wanted)
    if _is_list(given) and _is_list(wanted):
        return is_like(given.value_type, wanted.value_type)
    return any(kind(given) and kind(wanted) for kind in _KINDS)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


_KINDS: Final = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_timestamp,
    pa.types.is_boolean,
    _is_text,
)
