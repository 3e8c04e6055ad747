"""`workbench export`: what it prints and exits with."""

import duckdb
import pyarrow.parquet as pq
import pytest
from in_process import runner
from transcripts import OTHER, SESSION, jsonl, small_session

import workbench as wb


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    root = tmp_path_factory.mktemp("export")
    (root / "agent").mkdir()
    for session, name in ((SESSION, "a"), (OTHER, "b")):
        (root / "agent" / f"{session}.jsonl").write_bytes(jsonl(*small_session(session, name)))
    wb.open(root / "home").ingest(root / "agent")
    return root / "home"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


def test_json_has_this_shape(run, home, tmp_path):
    done = run(
        "export", "--parquet", tmp_path / "out", "--table", "turns", "--table", "blobs", "--home", home, "--json"
    )
    told = done.json
    size = sum(path.stat().st_size for path in (tmp_path / "out").iterdir())
    assert done.code == 0
    assert told == {"path": str(tmp_path / "out"), "rows": {"turns": 6, "blobs": 0}, "size_bytes": size, "left_out": []}
    assert pq.read_table(tmp_path / "out" / "turns.parquet").num_rows == 6


def test_it_tells_a_person_which_sessions_and_what_is_left_out(run, home, tmp_path):
    done = run("export", "--duckdb", tmp_path / "x.duckdb", "--session", SESSION, "--home", home)
    assert (done.code, done.err) == (0, "")
    assert f"bytes in {tmp_path / 'x.duckdb'}" in done.out
    assert f"only session {SESSION}" in done.out
    assert "left out, since their rows belong to no single session: forgotten_sessions" in done.out
    with duckdb.connect(tmp_path / "x.duckdb", read_only=True) as connection:
        assert connection.sql("select distinct session_id from events").fetchall() == [(SESSION,)]
    every = run("export", "--duckdb", tmp_path / "x.duckdb", "--overwrite", "--home", home)
    assert "all sessions" in every.out


def test_exit_codes(run, home, tmp_path):
    assert run("export", "--home", home).code == 2
    assert run("export", "--parquet", tmp_path / "o", "--table", "turn", "--home", home).code == 3
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "note.txt").write_text("mine")
    done = run("export", "--parquet", tmp_path / "o", "--overwrite", "--home", home)
    assert (done.code, "which no export wrote" in done.err) == (2, True)
