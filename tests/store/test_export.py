"""Exports: other programs read them without us, and find what the views show."""

import shutil
from datetime import datetime

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_sessions import START, session_id, write_sessions

import workbench as wb
from workbench.errors import BadInputError, NotFoundError
from workbench.store import export
from workbench.store.tables import TABLES, VIEWS

ENTITIES = [name for name, table in TABLES.items() if table.kind == "entity"]
NAMES = [*TABLES, *(f"{name}_history" for name in ENTITIES)]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Sessions with sub-agents and long results, of which two have one in common; labels in several versions."""
    root = tmp_path_factory.mktemp("export")
    write_sessions(root / "agent", 5, 3, size=12_000)
    bench = wb.open(root / "home")
    bench.ingest(root / "agent")
    for title in ("one", "tw'o\n\N{SNOWMAN}"):
        bench.label(session_id(0), title=title, tags=["a", "b"])
    bench.label(session_id(1), arm="b")
    return bench


def sorted_rows(frame):
    """Rows in an order of their own, times in UTC."""
    return sorted(map(repr, frame.rows()))


def view(bench, name):
    return bench.sql(f"from {name}")


def test_parquet_files_hold_what_the_views_show_for_every_reader(bench, tmp_path):
    done = bench.export(parquet=tmp_path / "out")
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.parquet")) == sorted(NAMES)
    for name in NAMES:
        file, expected = tmp_path / "out" / f"{name}.parquet", view(bench, name)
        readers = (
            pl.read_parquet(file),
            pl.from_arrow(pq.read_table(file)),
            duckdb.sql(f"set TimeZone='UTC'; from read_parquet('{file}')").pl(),
        )
        for found in readers:
            assert found.schema == expected.schema
            assert sorted_rows(found) == sorted_rows(expected)
        assert done.rows[name] == expected.height
    assert done.rows["blobs"] > 0
    assert done.rows["session_labels_history"] == done.rows["session_labels"] + 1 == 3
    assert done.size_bytes == sum(path.stat().st_size for path in (tmp_path / "out").iterdir())


def test_parquet_files_are_plain(bench, tmp_path):
    bench.export(parquet=tmp_path / "out")
    file = pq.ParquetFile(tmp_path / "out" / "events.parquet")
    assert file.schema_arrow.field("payload").type == pa.string()
    assert file.schema_arrow.field("occurred_at").type == pa.timestamp("us", tz="UTC")
    assert b"ARROW:schema" not in (file.metadata.metadata or {})
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    labels = pq.read_schema(tmp_path / "out" / "session_labels.parquet")
    assert labels.field("tags").type.value_type == pa.string()
    assert "landing_id" not in file.schema_arrow.names


def test_the_readme_beside_them_has_every_table_column_and_count(bench, tmp_path):
    done = bench.export(parquet=tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    for name, table in TABLES.items():
        assert f"## {name}\n" in text
        assert f"| `{name}.parquet` | {done.rows[name]:,} |" in text
        assert all(column.meaning in text for column in table.declared)


def test_a_duckdb_file_is_read_without_us(bench, tmp_path):
    done = bench.export(duckdb=tmp_path / "all.duckdb")
    with duckdb.connect(tmp_path / "all.duckdb", read_only=True) as connection:
        connection.execute("set TimeZone='UTC'")
        for name in NAMES:
            found, expected = connection.sql(f'from "{name}"').pl(), view(bench, name)
            assert found.schema == expected.schema
            assert sorted_rows(found) == sorted_rows(expected)
            assert done.rows[name] == expected.height
        for name in VIEWS:
            assert sorted_rows(connection.sql(f"from {name}").pl()) == sorted_rows(view(bench, name))
        kinds = connection.sql("select table_name, table_type from information_schema.tables order by all").fetchall()
        views = {name for name, kind in kinds if kind == "VIEW"}
        said = connection.sql(
            "select comment from duckdb_columns() where (table_name, column_name) = ('events', 'payload')"
        ).fetchall()
    assert views == {*ENTITIES, *VIEWS}
    assert said == [("JSON, by kind.",)]
    assert [path.name for path in tmp_path.iterdir()] == ["all.duckdb"]
    assert done.size_bytes == (tmp_path / "all.duckdb").stat().st_size


def test_only_some_sessions(bench, tmp_path):
    done = bench.export(parquet=tmp_path / "one", sessions=[session_id(3)])
    events = pl.read_parquet(tmp_path / "one" / "events.parquet")
    assert events["session_id"].unique().to_list() == [session_id(3)]
    assert sorted_rows(events) == sorted_rows(bench.sql("from events where session_id = ?", [session_id(3)]))
    held = bench.sql("select distinct artifact_id from artifacts where session_id = ?", [session_id(3)])
    assert set(pl.read_parquet(tmp_path / "one" / "blobs.parquet")["sha256"]) == set(held["artifact_id"])
    assert 0 < done.rows["blobs"] < bench.sql("from blobs").height
    assert done.rows["session_labels_history"] == 0
    assert done.left_out == [
        name for name, table in TABLES.items() if "session_id" not in table.schema.names and name != "blobs"
    ]
    assert not (tmp_path / "one" / f"{done.left_out[0]}.parquet").exists()
    text = (tmp_path / "one" / "README.md").read_text("utf-8")
    assert f"Only these sessions: {session_id(3)}." in text


def test_only_sessions_since_a_time_and_only_some_tables(bench, tmp_path):
    since = START.replace(hour=START.hour + 3)
    done = bench.export(duckdb=tmp_path / "x.duckdb", since=since, tables=["sessions", "turns"])
    assert done.rows.keys() == {"sessions", "turns"}
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        ids = {row[0] for row in connection.sql("select session_id from sessions").fetchall()}
    assert ids == {session_id(3), session_id(4)}
    with pytest.raises(BadInputError, match="needs a time with a zone"):
        bench.export(parquet=tmp_path / "y", since=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(NotFoundError, match="there is no table 'turn'; there are"):
        bench.export(parquet=tmp_path / "y", tables=["turn"])
    with pytest.raises(NotFoundError, match="no session begins with"):
        bench.export(parquet=tmp_path / "y", sessions=["zz"])
    assert not (tmp_path / "y").exists()


def test_nothing_is_replaced_unless_asked_and_never_what_is_no_export(bench, tmp_path):
    folder, file = tmp_path / "out", tmp_path / "x.duckdb"
    bench.export(parquet=folder, tables=["turns", "usage"])
    bench.export(duckdb=file, tables=["usage"])
    with pytest.raises(BadInputError, match=r"is not empty; .* --overwrite"):
        bench.export(parquet=folder)
    with pytest.raises(BadInputError, match=r"is there already; .* --overwrite"):
        bench.export(duckdb=file)
    bench.export(parquet=folder, tables=["turns"], overwrite=True)
    bench.export(duckdb=file, tables=["turns"], overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "turns.parquet"]
    with duckdb.connect(file) as connection:
        assert connection.sql("show tables").fetchall() == [("turns",)]
    (folder / "thesis.docx").write_text("mine")
    with pytest.raises(BadInputError, match=r"'thesis.docx', which no export wrote"):
        bench.export(parquet=folder, overwrite=True)
    (tmp_path / "text").write_text("mine")
    with pytest.raises(BadInputError, match="is no DuckDB file"):
        bench.export(duckdb=tmp_path / "text", overwrite=True)
    with pytest.raises(BadInputError, match="is no folder"):
        bench.export(parquet=tmp_path / "text", overwrite=True)
    with pytest.raises(BadInputError, match="one of the two only"):
        bench.export(parquet=folder, duckdb=file)
    assert (folder / "thesis.docx").read_text() == (tmp_path / "text").read_text() == "mine"


def test_an_export_that_fails_leaves_what_was_there(bench, tmp_path, monkeypatch):
    bench.export(parquet=tmp_path / "out", tables=["turns"])
    before = (tmp_path / "out" / "turns.parquet").read_bytes()
    monkeypatch.setattr(export, "ROW_GROUP", "no number")
    with pytest.raises(wb.WorkbenchError, match="cannot be written"):
        bench.export(parquet=tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "turns.parquet").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_export_needs_little_memory_beside_what_it_spills(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "MEMORY", "64MB")
    done = bench.export(duckdb=tmp_path / "x.duckdb", tables=["blobs", "events"])
    assert done.rows["events"] == bench.sql("from events").height


def test_an_empty_home_makes_an_export_with_all_columns(tmp_path):
    wb.open(tmp_path / "home").export(parquet=tmp_path / "out")
    for name, table in TABLES.items():
        found = pl.read_parquet(tmp_path / "out" / f"{name}.parquet")
        assert found.height == 0
        hidden = {"landing_id", "deleted"}
        assert found.columns == [column.name for column in table.columns if column.name not in hidden]


def test_progress_ends_at_the_whole(bench, tmp_path):
    calls = []
    bench.export(parquet=tmp_path / "out", progress=lambda *call: calls.append(call))
    assert [call[0] for call in calls] == sorted(call[0] for call in calls)
    assert calls[-1][0] == calls[-1][1] > 0


def test_a_forget_in_the_middle_of_an_export_makes_it_begin_anew(bench, tmp_path, monkeypatch):
    shutil.copytree(bench.home.root, tmp_path / "home")
    mine = wb.open(tmp_path / "home")
    real, forgotten = export._prepare, []

    def prepare(connection, spill, choice):
        real(connection, spill, choice)
        if not forgotten:
            forgotten.append(wb.open(tmp_path / "home").forget(session_id(4)))

    monkeypatch.setattr(export, "_prepare", prepare)
    done = mine.export(parquet=tmp_path / "out", tables=["sessions", "turns"])
    assert set(pl.read_parquet(tmp_path / "out" / "turns.parquet")["session_id"]) == set(map(session_id, range(4)))
    assert (len(forgotten), done.rows["sessions"]) == (1, 4)
