"""Data files that are gone, cut, garbled, or of another kind than declared."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sound_home import newest_file

from workbench.store.aside import ASIDE
from workbench.store.tables import TABLES
from workbench.store.verify.data_files import Named, _look, check_files


def remove(file):
    file.unlink()


def cut(file):
    file.write_bytes(file.read_bytes()[:-100])


def garble_footer(file):
    data = bytearray(file.read_bytes())
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[begin : begin + 64] = bytes(64)
    file.write_bytes(data)


def garble_middle(file):
    data = bytearray(file.read_bytes())
    data[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
    file.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (remove, "missing_file"),
        (cut, "wrong_size"),
        (garble_footer, "unreadable_file"),
        (garble_middle, "unreadable_file"),
    ],
    ids=["deleted", "cut", "footer", "middle"],
)
@pytest.mark.parametrize(("table", "is_repairable"), [("events", True), ("session_labels", False)])
def test_a_damaged_file_is_told(home, damage, what, table, is_repairable):
    file = newest_file(home, table)
    damage(file)
    (problem,) = check_files(home, home / "tables" / table, TABLES[table])
    assert (problem.what, problem.where, problem.repairable) == (what, f"tables/{table}/{file.name}", is_repairable)


def test_tables_with_a_damaged_file_are_set_aside_and_made_again_from_the_archive(home, problems, repair, rows):
    before, damages = rows(), {"events": cut, "blobs": cut, "sessions": garble_footer, "sources": remove}
    for table, damage in damages.items():
        damage(newest_file(home, table))
    assert {where.split("/")[1] for _, where in problems()} == set(damages)  # and rows in them are not told as lost too
    done = repair()
    assert [problem.told() for problem in done.problems] == []
    assert rows() == before
    assert {path.name for path in (home / ASIDE).glob("*/tables/*")} == set(damages)


def test_a_file_of_what_people_said_is_asked_of_a_backup_and_nothing_else_is_hidden(home, problems):
    file = newest_file(home, "session_labels")
    file.unlink()
    (home / "archive" / "nonsense.zst").write_bytes(b"x")
    whole = problems.whole()
    assert {(problem.what, problem.repairable) for problem in whole} == {
        ("missing_file", False),
        ("damaged_content", True),
    }
    assert "backup" in next(problem.remedy for problem in whole if problem.what == "missing_file")


def labels(**changed):
    schema = TABLES["session_labels"].schema
    columns = {name: pa.array(["x"]) for name in ("session_id", "row_id", "recorded_by", "title", "arm", "project")}
    columns |= {
        "tags": pa.array([["t"]]),
        "deleted": pa.array([False]),
        "recorded_at": pa.array([0], pa.timestamp("us", "UTC")),
    }
    columns |= changed
    return pa.table({name: columns[name] for name in schema.names if columns[name] is not None})


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (labels(), None),
        (labels(title=None), None),  # made before the column was declared
        (labels(session_id=None), ("wrong_schema", "the required column session_id is missing")),
        (labels(title=pa.array([1])), ("wrong_schema", "the column title is int64, not string")),
        (labels(title=pa.array(["x"], pa.string_view())), None),
        (
            labels(session_id=pa.array([None], pa.string())),
            ("null_in_required", "1 rows have no session_id, which is required"),
        ),
    ],
    ids=["as declared", "older", "column lost", "other type", "view", "null"],
)
def test_what_a_file_holds_is_compared_with_what_is_declared(tmp_path, table, told):
    file = tmp_path / "a.parquet"
    pq.write_table(table, file)
    assert _look(Named(file, file.stat().st_size, 1), TABLES["session_labels"]) == told


def test_rows_are_counted_against_the_log(tmp_path):
    file = tmp_path / "a.parquet"
    pq.write_table(labels(), file)
    found = _look(Named(file, file.stat().st_size, 2), TABLES["session_labels"])
    assert found == ("wrong_rows", "1 rows where the log says 2")
