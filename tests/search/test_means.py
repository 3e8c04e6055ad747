"""Mean vectors of owners: of all their chunks as they are, and of no other texts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from search.word_embedder import WordEmbedder
from workbench.search.index import ChunkIndex
from workbench.search.means import mean_by_owner, read_means, store_means
from workbench.search.refresh import embed_missing
from workbench.store.vectors import VectorDatabase, forget_sessions, mean_table_name, optimise, problems

UNIT = np.eye(4, dtype=np.float32)


def owned(**texts):
    """Chunks of owners, each with a list of texts."""
    rows = [
        {"chunk_id": f"{owner}/{number}", "owner": owner, "kind": "note", "id": owner, "text": text}
        for owner, own in texts.items()
        for number, text in enumerate(own)
    ]
    return pl.DataFrame(rows)


@pytest.fixture
def index(tmp_path):
    """An owner of two chunks and one of one, with vectors of the model `m`."""
    index = ChunkIndex(tmp_path / "vectors", "notes-1")
    index.upsert(owned(a=["red pump", "blue pump"], b=["green valve"]), {"a": "1", "b": "1"})
    index.add_vectors("m", ["a/0", "a/1", "b/0"], UNIT[:3])
    return index


def means(index, model="m"):
    owners, matrix = read_means(index, model)
    return dict(zip(owners, matrix.tolist(), strict=True))


def test_a_mean_is_over_the_owners_rows_wherever_they_stand_and_keeps_its_length():
    vectors = np.array([[1, 0], [0, 2], [0, 1], [-1, 0]], dtype=np.float32)
    owners, matrix = mean_by_owner(["x", "y", "x", "z"], vectors)
    assert owners == ["x", "y", "z"]
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[0.5, 0.5], [0.0, 2.0], [-1.0, 0.0]]


def test_each_owner_has_the_mean_of_its_chunks(index):
    assert means(index) == {}
    assert store_means(index, "m") == 2
    assert means(index) == {"a": [0.5, 0.5, 0.0, 0.0], "b": [0.0, 0.0, 1.0, 0.0]}
    assert store_means(index, "m") == 0


def test_only_changed_owners_are_made_anew_and_stale_means_leave_at_once(index):
    store_means(index, "m")
    index.upsert(owned(a=["red pump", "new text"]), {"a": "2"})
    assert means(index) == {"b": [0.0, 0.0, 1.0, 0.0]}
    assert store_means(index, "m") == 0  # one of its chunks has no vector yet
    index.add_vectors("m", ["a/1"], UNIT[3:])
    assert store_means(index, "m") == 1
    assert means(index)["a"] == [0.5, 0.0, 0.0, 0.5]
    index.delete(["a"])
    assert list(means(index)) == ["b"]


def test_models_do_not_mix(index):
    store_means(index, "m")
    embed_missing(index, WordEmbedder(dimension=8))
    assert store_means(index, "words") == 2
    assert {len(vector) for vector in means(index, "words").values()} == {8}
    assert {len(vector) for vector in means(index).values()} == {4}
    assert index.models() == ["m", "words"]


def test_a_mean_of_other_texts_is_a_problem_that_names_its_table(index):
    store_means(index, "m")
    assert problems(index.database) == []
    table = index.database.open(mean_table_name("notes-1", "m"))
    table.update(where="owner = 'a'", values={"state": "another"})
    (found,) = problems(index.database)
    assert (found.collection, found.problem, found.rows) == (mean_table_name("notes-1", "m"), "mean_of_other_texts", 1)


def test_care_of_the_store_and_forgetting_sessions_leave_notes_as_they_are(index):
    store_means(index, "m")
    before = means(index)
    assert forget_sessions(index.database, ["s-1"]) == 0
    assert mean_table_name("notes-1", "m") in optimise(index.database)
    again = ChunkIndex(index.database.folder, "notes-1")
    assert index.keyword("valve", 5)["chunk_id"].to_list() == ["b/0"]
    assert means(again) == before
    assert again.states() == {"a": "1", "b": "1"}
    assert problems(again.database) == []


def test_a_dropped_collection_leaves_nothing_and_no_other_one_is_touched(index):
    other = ChunkIndex(index.database.folder, "notes-12")
    other.upsert(owned(c=["yellow tap"]))
    store_means(index, "m")
    index.database.drop_collection("notes-1")
    assert VectorDatabase(index.database.folder).names() == ["notes-12"]
    assert index.states() == {}
    assert means(index) == {}
