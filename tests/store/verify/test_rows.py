"""Rows that stand twice, versions without an order, rows that no session shows."""

import secrets
import shutil
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from made_sessions import session_id

import workbench as wb
from workbench.store.delta import DeltaStore
from workbench.store.schema import LANDING_ID
from workbench.store.tables import TABLES


def store(home, table):
    return DeltaStore(home / "tables" / table, TABLES[table])


def all_rows(home, table):
    return store(home, table).read(TABLES[table].schema.names)[1]


def again(home, table, rows=1, **changed):
    """Append the first rows of a table once more, with some columns changed."""
    first = all_rows(home, table).slice(0, rows)
    for name, value in changed.items():
        field = TABLES[table].schema.field(name)
        first = first.set_column(first.schema.get_field_index(name), field, pa.array([value] * rows, field.type))
    store(home, table).append(first)


def details(problems):
    """What is told of each kind of problem at each place; one look."""
    return {(problem.what, problem.where): problem.detail for problem in problems.whole()}


def test_rows_that_stand_twice_are_told_table_by_table(home, problems):
    for table in ("turns", "usage", "sources"):
        again(home, table)
    told = details(problems)
    assert {where for what, where in told if what == "repeated_key"} == {
        "tables/turns",
        "tables/usage",
        "tables/sources",
    }
    assert told["repeated_key", "tables/sources"].startswith(
        "1 values of the key (source_id) stand in several rows, such as "
    )


def test_a_text_stored_twice_and_a_later_version_are_no_problem_but_two_texts_under_one_hash_are(home, problems):
    again(home, "blobs")
    again(home, "session_labels", row_id="01ZZZZZZZZZZZZZZZZZZZZZZZZ", recorded_at=datetime(2030, 1, 1, tzinfo=UTC))
    assert problems() == []
    again(home, "blobs", text="other", size_bytes=5)
    assert set(problems()) == {("repeated_key", "tables/blobs"), ("wrong_hash", "tables/blobs")}


def test_versions_of_a_thing_that_cannot_be_told_apart_are_told(home, problems):
    again(home, "session_labels")
    told = details(problems)
    assert set(told) == {
        ("repeated_row_id", "tables/session_labels"),
        ("versions_out_of_order", "tables/session_labels"),
    }
    assert session_id(1) in told["versions_out_of_order", "tables/session_labels"]


def test_rows_of_no_session_are_told_unless_an_import_left_them(home, problems):
    again(home, "events", rows=3, landing_id=secrets.randbelow(2**62))
    assert problems() == [("rows_without_session", "tables/events")]
    assert details(problems)["rows_without_session", "tables/events"].startswith(
        "3 rows are of no session that there is"
    )
    (home / "landing.unfinished").write_text("{}")
    assert problems() == []


@pytest.mark.parametrize("is_told", [True, False], ids=["wholly", "in part"])
def test_a_lost_sessions_table_is_told_and_comes_back(home, problems, rows, is_told):
    before = rows()
    if is_told:
        shutil.rmtree(home / "tables" / "sessions")
    else:
        store(home, "sessions").delete_where("session_id", [session_id(2)])
    told = problems.whole()
    assert {"rows_without_session", "source_not_landed"} <= {problem.what for problem in told}
    assert {problem.remedy for problem in told} == {"workbench ingest --rebuild"}
    wb.open(home).rebuild()
    assert problems() == []
    assert rows() == before


def test_rows_with_the_landing_of_another_session_are_told(home, problems):
    others = all_rows(home, "sessions").to_pylist()
    landing = next(row[LANDING_ID] for row in others if row["session_id"] == session_id(2))
    first = all_rows(home, "turns").filter(pa.compute.field("session_id") == session_id(1)).slice(0, 1)
    first = first.set_column(first.schema.get_field_index(LANDING_ID), LANDING_ID, pa.array([landing], pa.int64()))
    store(home, "turns").append(first)
    assert ("wrong_session", "tables/turns") in problems()
