"""The LanceDB folder: locks, care, and erasure."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from search.chunks import chunks

from workbench.errors import BusyError
from workbench.search.index import ChunkIndex
from workbench.store.vectors import VectorDatabase, forget_sessions, optimise, problems, vector_table_name

COUNT = 400


@pytest.fixture
def index(tmp_path):
    """Chunks of as many sessions, with vectors."""
    index = ChunkIndex(tmp_path / "vectors")
    rows = chunks({f"s{number}": f"word{number} of a getSecret{number}Name" for number in range(COUNT)})
    index.upsert(rows.with_columns(session_id="id"), {f"s{number}": "1" for number in range(COUNT)})
    index.add_vectors("m", rows["chunk_id"].to_list(), np.random.default_rng(0).normal(size=(COUNT, 8)).astype("f4"))
    index.refresh_full_text()
    return index


def files(folder):
    """Data, deletions and index parts on disk, with when they were written."""
    parts = ("data", "_indices", "_deletions")
    paths = (path for path in folder.rglob("*") if path.is_file() and {*path.parts} & {*parts})
    return {(str(path), path.stat().st_mtime_ns) for path in paths}


def test_a_forgotten_session_is_in_no_file_of_before(index):
    before = files(index.database.folder)
    learned = [index.database.folder / "lsa.json", index.database.folder / "lsa-1.npz"]
    for path in learned:
        path.write_bytes(b"the words of every session")
    assert forget_sessions(index.database, ["s7", "unknown"]) == 1
    assert not any(path.exists() for path in learned)
    assert before & files(index.database.folder) == set()
    assert index.keyword("word7 getSecret7Name", 3).filter(pl.col("chunk_id") == "s7/0").height == 0
    assert index.coverage("m") == (COUNT - 1, COUNT - 1)
    assert "s7" not in index.states()
    assert index.keyword("word8", 1)["chunk_id"].to_list() == ["s8/0"]
    assert index.keyword("getSecret8Name", 1)["chunk_id"].to_list() == ["s8/0"]
    assert index.semantic(np.ones(8, np.float32), "m", 5).height == 5


def test_forgetting_nothing_touches_nothing(index, tmp_path):
    before = files(index.database.folder)
    assert forget_sessions(index.database, []) == 0
    assert forget_sessions(VectorDatabase(tmp_path / "nowhere"), ["s1"]) == 0
    assert files(index.database.folder) == before
    assert not (tmp_path / "nowhere").exists()


def test_optimise_joins_files_and_keeps_every_row(index):
    for number in range(5):
        index.upsert(chunks({f"more{number}": "late"}))
    folder = index.database.folder / "chunks.lance/data"
    many = len(list(folder.iterdir()))
    assert optimise(index.database, older_than=timedelta(0)) == sorted(
        ["chunks", "chunks--owners", vector_table_name("chunks", "m")]
    )
    assert len(list(folder.iterdir())) < many
    assert index.coverage("m") == (COUNT, COUNT + 5)
    assert index.keyword("late", 10).height == 5
    assert optimise(VectorDatabase(folder / "nowhere")) == []


def test_a_sound_index_has_no_problems(index, tmp_path):
    assert problems(index.database) == []
    assert problems(VectorDatabase(tmp_path / "nowhere")) == []


def test_vectors_whose_text_is_gone_or_changed_are_told(index):
    table = index.database.open("chunks")
    table.delete("chunk_id in ('s1/0', 's2/0')")
    table.update(where="chunk_id = 's3/0'", values={"content_hash": "other"})
    found = {problem.problem: problem.rows for problem in problems(index.database)}
    assert found == {"text_gone": 2, "text_changed": 1}
    assert {problem.collection for problem in problems(index.database)} == {vector_table_name("chunks", "m")}


def test_a_table_that_cannot_be_read_is_told_and_hides_no_other(index):
    other = ChunkIndex(index.database.folder, "notes")
    other.upsert(chunks({"n": "text"}))
    for path in (index.database.folder / "chunks.lance/_versions").iterdir():
        path.write_bytes(b"broken")
    found = problems(VectorDatabase(index.database.folder))
    assert [(problem.collection, problem.problem) for problem in found] == [("chunks", "unreadable")]


def test_a_lock_that_another_process_holds_is_named(index):
    code = f"""
from pathlib import Path
from workbench.store.vectors import VectorDatabase
with VectorDatabase(Path({str(index.database.folder)!r})).lock("embed"):
    print("held", flush=True)
    input()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(BusyError, match=r"another process embeds texts in .*run the same command again"):
        index.database.lock("embed", wait_seconds=0).__enter__()
    with index.database.lock("write", wait_seconds=0):
        pass
    process.communicate("\n", timeout=60)
    with index.database.lock("embed", wait_seconds=5):
        pass


def test_names_of_models_become_tables_of_their_own():
    names = {vector_table_name("x", model) for model in ("a/b", "a-b", "a b", "A/b", "", "é" * 300)}
    assert len(names) == 6
    assert all(name.isascii() and len(name) < 80 for name in names)
