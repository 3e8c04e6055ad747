"""Names of rows that are not there, numbers that do not agree, texts that are not what their hash says."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from made_sessions import session_id

from workbench.store.delta import DeltaStore
from workbench.store.tables import TABLES
from workbench.store.verify.references import REFERENCES


def rewrite(home, table, change):
    """Put changed rows in the place of all rows of a table, behind the back of every rule."""
    from deltalake import write_deltalake

    rows = DeltaStore(home / "tables" / table, TABLES[table]).read(TABLES[table].schema.names)[1]
    write_deltalake(home / "tables" / table, TABLES[table].cast(change(rows)), mode="overwrite")


def with_column(rows, name, values):
    return rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), values)


def dangling(rows, name):
    """The rows, the last one that names something naming nothing that there is."""
    values = rows[name].to_pylist()
    place = max(place for place, value in enumerate(values) if value is not None)
    values[place] = 10**6 if isinstance(values[place], int) else "nowhere"
    return with_column(rows, name, pa.array(values, rows.schema.field(name).type))


@pytest.mark.parametrize("target", sorted({reference.target for reference in REFERENCES}))
def test_each_reference_that_leads_nowhere_is_told(home, problems, target):
    """All references to one table are broken at once, each in a row of its own table."""
    broken = [reference for reference in REFERENCES if reference.target == target]
    for reference in broken:
        rewrite(home, reference.table, lambda rows, column=reference.columns[-1]: dangling(rows, column))
    told = {
        (p.where, p.remedy) for p in problems.whole() if p.what == "dangling_reference" and f"name {target}" in p.detail
    }
    assert told == {(f"tables/{reference.table}", "workbench ingest --rebuild") for reference in broken}


def test_rows_that_are_gone_are_missed(home, problems):
    lost = pc.field("session_id") != session_id(1)
    for table in ("turns", "tool_calls", "usage", "events"):
        rewrite(home, table, lambda rows: rows.filter(lost))
    told = {(problem.what, problem.where): problem.detail for problem in problems.whole()}
    for table in ("turns", "tool_calls", "usage", "events"):
        detail = told["wrong_count", f"tables/{table}"]
        assert detail == f"1 sessions have another number of rows in {table} than they tell, such as {session_id(1)}"


def test_events_that_are_not_numbered_without_gaps_are_told(home, problems):
    def renumbered(rows):
        last = pc.and_(pc.equal(rows["session_id"], session_id(1)), pc.equal(rows["seq"], 4))
        return with_column(rows, "seq", pc.if_else(last, 99, rows["seq"]))

    rewrite(home, "events", renumbered)
    assert problems() == [("wrong_numbering", "tables/events")]


def test_a_text_that_is_not_what_its_hash_says_is_told(home, problems):
    rewrite(home, "blobs", lambda rows: with_column(rows, "text", pa.array(["changed"] * rows.num_rows)))
    assert problems() == [("wrong_hash", "tables/blobs")]
