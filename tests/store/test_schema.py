from datetime import UTC, datetime, timedelta, timezone

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import SchemaError
from workbench.store.schema import BOOL, INT, STRING, STRINGS, TIME, Column, Table
from workbench.store.tables import DERIVED, TABLES

NOON = datetime(2026, 3, 2, 12, 0, 0, 5, tzinfo=UTC)
NAIVE = NOON.replace(tzinfo=None)


def table(*columns, kind="recorded", key=("name",)):
    return Table("things", "small", kind, "one thing", key, columns, "here")


NAME = Column("name", STRING, "Its name.", required=True)
THINGS = table(
    NAME,
    Column("size", INT, "Its size."),
    Column("seen_at", TIME, "When it was seen."),
    Column("tags", STRINGS, "Its tags."),
    Column("is_new", BOOL, "Whether it is new."),
)


# -- declaring ---------------------------------------------------------------------------------------------------------


def test_a_table_has_its_own_columns_and_those_of_its_kind():
    assert table(NAME).schema.names == ["name"]
    assert table(NAME, kind="derived").schema.names == ["name", "landing_id"]
    assert table(NAME, kind="entity").schema.names == ["name", "row_id", "recorded_at", "recorded_by", "deleted"]


def test_required_columns_take_no_nulls_in_the_schema():
    assert {field.name: field.nullable for field in THINGS.schema} == {
        "name": False,
        "size": True,
        "seen_at": True,
        "tags": True,
        "is_new": True,
    }


def test_a_key_is_made_of_declared_columns():
    with pytest.raises(SchemaError, match=r"things: key columns \['owner'\] are not declared"):
        table(NAME, key=("name", "owner"))


def test_a_column_is_declared_once():
    with pytest.raises(SchemaError, match=r"things: columns \['name'\] are declared twice"):
        table(NAME, NAME)


# -- the tables there are ----------------------------------------------------------------------------------------------

EVERY_COLUMN = [(table, column) for table in TABLES.values() for column in table.columns]


def test_every_name_can_be_written_without_quotes():
    reserved = []
    with duckdb.connect() as connection:
        for name in sorted({column.name for _, column in EVERY_COLUMN} | set(TABLES)):
            try:
                connection.execute(f'create table "{name}" as select 1 as "{name}"')
                connection.execute(f"select {name} from {name} t where {name} = 1 group by {name} order by {name}")
            except duckdb.ParserException:
                reserved.append(name)
    assert reserved == []


def test_that_check_would_find_a_reserved_word():
    with duckdb.connect() as connection, pytest.raises(duckdb.ParserException):
        connection.execute('select at from (select 1 as "at")')


def test_every_column_has_a_meaning_that_is_a_sentence():
    for declared, column in EVERY_COLUMN:
        assert column.meaning.endswith((".", "?")), (declared.name, column.name)


def test_times_end_in_at_and_nothing_else_does():
    odd = [(t.name, c.name) for t, c in EVERY_COLUMN if (c.type == TIME) != c.name.endswith("_at")]
    assert odd == []


def test_every_table_has_grain_key_and_source():
    for declared in TABLES.values():
        assert declared.grain
        assert declared.key
        assert declared.source
        assert all(not declared.schema.field(name).nullable for name in declared.key), declared.name


def test_derived_tables_belong_to_sessions():
    assert [t.name for t in DERIVED if "session_id" not in t.schema.names] == []
    assert {t.kind for t in DERIVED} == {"derived"}


def test_statistics_are_kept_of_ids_keys_times_and_numbers_and_of_no_text():
    """Whatever is text and neither key nor id may be what a person wants erased; statistics would keep it."""
    for declared in TABLES.values():
        columns = declared.statistics_columns
        texts = {c.name for c in declared.columns if c.type in (STRING, STRINGS)}
        assert set(columns) & texts <= {*declared.key, "session_id", "source_id"}, declared.name
        assert set(declared.key) <= set(columns)
        assert len(columns) == len(set(columns))
    assert TABLES["turns"].statistics_columns == [
        "session_id",
        "sequence_number",
        "source_id",
        "turn",
        "seq",
        "occurred_at",
        "ended_at",
        "images",
        "tokens",
        "tool_calls",
        "is_error",
        "is_sidechain",
        "landing_id",
    ]


# -- casting -----------------------------------------------------------------------------------------------------------


def test_cast_orders_columns_and_adds_those_that_may_be_null():
    rows = pa.table({"size": pa.array([1, 2], pa.int32()), "name": pa.array(["a", "b"], pa.large_string())})
    fitted = THINGS.cast(rows)
    assert fitted.schema == THINGS.schema
    assert fitted.to_pylist() == [
        {"name": "a", "size": 1, "seen_at": None, "tags": None, "is_new": None},
        {"name": "b", "size": 2, "seen_at": None, "tags": None, "is_new": None},
    ]


@pytest.mark.parametrize(
    ("column", "given_type"),
    [
        ("name", pa.large_string()),
        ("name", pa.string_view()),
        ("name", pa.dictionary(pa.int32(), pa.string())),
        ("size", pa.uint8()),
        ("size", pa.null()),
        ("seen_at", pa.timestamp("ms", tz="UTC")),
        ("seen_at", pa.timestamp("ns", tz="Europe/Berlin")),
        ("tags", pa.large_list(pa.string_view())),
        ("tags", pa.null()),
    ],
)
def test_cast_takes_another_way_to_write_the_same_down(column, given_type):
    values = {
        "name": pa.array(["a"]),
        "size": pa.array([1]),
        "seen_at": pa.array([NOON], TIME),
        "tags": pa.array([["x"]]),
    }
    if pa.types.is_null(given_type):
        rows = pa.table({"name": ["a"], column: pa.nulls(1)})
    elif column == "seen_at":
        rows = pa.table({"name": ["a"], column: values[column].cast(given_type, safe=False)})
    else:
        rows = pa.table({"name": ["a"], column: values[column].cast(given_type)})
    assert THINGS.cast(rows).schema == THINGS.schema


def test_cast_keeps_the_instant_of_a_time_in_another_zone():
    berlin = pa.array([NOON], pa.timestamp("us", tz="Europe/Berlin"))
    rows = THINGS.cast(pa.table({"name": ["a"], "seen_at": berlin}))
    assert rows["seen_at"].to_pylist() == [NOON]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"name": ["a"], "weight": [1]}, r"table things has no columns \['weight'\]; it has \['name', 'size'"),
        ({"size": [1]}, r"things.name is required and missing; given were \['size'\]"),
        ({"name": ["a", None]}, r"things.name is required, but 1 of 2 rows have none"),
        ({"name": pa.nulls(2)}, r"things.name is required, but 2 of 2 rows have none"),
        ({"name": ["a"], "seen_at": [NAIVE]}, "things.seen_at got times without a zone; make them UTC"),
        ({"name": ["a"], "seen_at": [1_772_452_800_000]}, r"things.seen_at wants timestamp\[us, tz=UTC\], got int64"),
        ({"name": ["a"], "seen_at": ["2026-03-02T12:00:00Z"]}, "things.seen_at wants .*, got string"),
        ({"name": ["a"], "seen_at": [NOON.date()]}, "things.seen_at wants .*, got date32"),
        ({"name": ["a"], "size": ["1"]}, "things.size wants int64, got string"),
        ({"name": ["a"], "size": [1.5]}, "things.size wants int64, got double"),
        (
            {"name": ["a"], "size": pa.array([2**63], pa.uint64())},
            "things.size wants int64, got uint64: .* not in range",
        ),
        ({"name": ["a"], "is_new": [1]}, "things.is_new wants bool, got int64"),
        ({"name": [1]}, "things.name wants string, got int64"),
        ({"name": ["a"], "tags": ["x"]}, "things.tags wants list<.*>, got string"),
        ({"name": ["a"], "tags": [[1]]}, "things.tags wants list<.*>, got list<.*int64>"),
        ({"name": [b"a"]}, "things.name wants string, got binary"),
    ],
)
def test_cast_refuses_what_does_not_fit(rows, message):
    with pytest.raises(SchemaError, match=message):
        THINGS.cast(pa.table(rows))


def test_cast_refuses_a_time_finer_than_a_microsecond():
    rows = pa.table({"name": ["a"], "seen_at": pa.array([1], pa.timestamp("ns", tz="UTC"))})
    with pytest.raises(SchemaError, match=r"things.seen_at wants .* would lose data"):
        THINGS.cast(rows)


# -- building from values ----------------------------------------------------------------------------------------------


def test_rows_are_tuples_in_the_order_of_the_columns():
    elsewhere = NOON.astimezone(timezone(timedelta(hours=-5)))
    made = THINGS.from_rows([("a", 1, NOON, ["x"], True), ("b", None, elsewhere, [], None)])
    assert made.schema == THINGS.schema
    assert made.to_pylist() == [
        {"name": "a", "size": 1, "seen_at": NOON, "tags": ["x"], "is_new": True},
        {"name": "b", "size": None, "seen_at": NOON, "tags": [], "is_new": None},
    ]
    assert THINGS.from_rows([]).schema == THINGS.schema


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", 1, NAIVE, None, None), "things.seen_at wants times with a zone, got datetime"),
        (("a", 1, 1_772_452_800_000, None, None), "things.seen_at wants times with a zone, got 1772452800000"),
        (("a", "1", None, None, None), "things.size: "),
        (("a", 2**63, None, None, None), "things.size: "),
        (("\ud800", 1, None, None, None), "things.name: "),
        ((1, 1, None, None, None), "things.name: "),
        (("a", 1, None, "new", None), "things.tags wants lists, got 'new'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(row, message):
    with pytest.raises(SchemaError, match=message):
        THINGS.from_rows([("a", 1, NOON, None, None), row])


def test_dicts_may_leave_columns_out_but_not_make_any_up():
    assert THINGS.from_dicts([{"size": 1, "name": "a"}]).to_pylist() == [
        {"name": "a", "size": 1, "seen_at": None, "tags": None, "is_new": None}
    ]
    with pytest.raises(SchemaError, match=r"table things has no columns \['weight'\]"):
        THINGS.from_dicts([{"name": "a"}, {"name": "b", "weight": 2}])


INSTANTS = st.datetimes(NAIVE.replace(year=2), NAIVE.replace(year=9998), timezones=st.timezones())
ROWS = st.lists(
    st.tuples(
        st.text(max_size=20),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | INSTANTS,
        st.none() | st.lists(st.text(max_size=5), max_size=3),
        st.none() | st.booleans(),
    ),
    max_size=5,
)


@given(ROWS)
def test_what_is_built_says_what_was_given(rows):
    made = THINGS.from_rows(rows)
    assert THINGS.cast(made) == made
    back = [tuple(row.values()) for row in made.to_pylist()]
    assert back == [tuple(v.astimezone(UTC) if isinstance(v, datetime) else v for v in row) for row in rows]
