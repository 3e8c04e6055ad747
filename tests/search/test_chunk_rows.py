"""What a process that goes on asking keeps in memory: the same answers, and it follows whatever is written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from search.chunks import chunks
from search.word_embedder import WordEmbedder
from workbench.config.knowledge import Search
from workbench.config.store import Vectors
from workbench.search.chunk_rows import KEPT
from workbench.search.index import ROWS, ChunkIndex
from workbench.search.query import Question, ask
from workbench.store.vectors import forget_sessions, optimise

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def index(tmp_path):
    """40 texts about pumps of four sessions, each with a vector, put in by two writes."""
    index = ChunkIndex(tmp_path / "vectors")
    texts = {f"t{number:02}": f"pump {number} {'valve' * (number % 3)} leak" for number in range(40)}
    rows = chunks(texts).with_columns(
        session_id=pl.Series([f"s{number % 4}" for number in range(40)]),
        occurred_at=pl.Series([NOW - timedelta(hours=number) for number in range(40)], dtype=pl.Datetime("us", "UTC")),
        turn=pl.Series(range(40), dtype=pl.Int64),
    )
    index.upsert(rows[:25])
    index.upsert(rows[25:])
    index.add_vectors("words", rows["chunk_id"].to_list(), WordEmbedder().embed(rows["text"].to_list()))
    return index


def answer(index, text="pump valve", mode="hybrid"):
    return ask(index, Question(text, mode, 10), Search(), embedder=WordEmbedder, now=NOW).hits


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_the_answer_is_the_same_from_disk_and_from_memory(index, mode):
    first = answer(index, mode=mode)
    assert first.height == 10
    assert index.rows(["t03/0"]).height == 1
    assert answer(index, mode=mode).equals(first)
    assert answer(ChunkIndex(index.database.folder), mode=mode).equals(first)


def test_rows_are_the_same_whether_kept_or_not_in_the_order_asked_for(index):
    ids = ["t30/0", "t02/0", "nothing", "t11/0"]
    for columns in (ROWS, KEPT, ("chunk_id",), ("chunk_id", "text"), ("text", "owner", "id")):
        read = index.rows(ids, columns)
        index.keep()
        kept = index.rows(ids, columns)
        assert kept.equals(read)
        assert kept.columns == list(columns)
        index = ChunkIndex(index.database.folder)
    assert index.rows(ids)["chunk_id"].to_list() == ["t30/0", "t02/0", "t11/0"]
    assert index.rows(["nothing"]).height == 0


def test_what_is_kept_follows_what_others_write(index):
    answer(index)
    other = ChunkIndex(index.database.folder)
    other.upsert(chunks({"new": "pump valve of the new kind"}, session_id="s9"))
    assert "new" in answer(index, "new kind pump", "keyword")["id"].to_list()
    other.delete(["new"])
    assert "new" not in answer(index, "new kind pump", "keyword")["id"].to_list()


def test_what_is_kept_survives_that_rows_change_their_places(index):
    before = answer(index)
    optimise(index.database, older_than=timedelta(0))
    assert answer(index).equals(before)


def test_forgotten_sessions_are_gone_from_memory(index):
    assert "s1" in answer(index)["session_id"].to_list()
    forget_sessions(ChunkIndex(index.database.folder).database, ["s1"])
    hits = answer(index)
    assert hits.height == 10
    assert "s1" not in hits["session_id"].to_list()


def test_an_index_made_anew_under_the_same_name_is_read_anew(index):
    answer(index)
    index.database.drop_collection("chunks")
    other = ChunkIndex(index.database.folder)
    other.upsert(chunks({"only": "another pump"}))
    assert answer(index, "pump", "keyword")["id"].to_list() == ["only"]


def test_who_goes_on_asking_compares_every_vector_up_to_a_number(tmp_path):
    chance = np.random.default_rng(1)
    matrix = chance.normal(size=(400, 16)).astype("f4")
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    names = [f"{number:04}" for number in range(400)]
    low = Vectors(exact_below_rows=300, nprobes=1, refine_factor=1, min_recall=0.0, in_memory_rows=399)
    index = ChunkIndex(tmp_path / "vectors", settings=low)
    index.upsert(chunks({name: f"text {name}" for name in names}))
    index.add_vectors("m", [f"{name}/0" for name in names], matrix)
    assert index.index_vectors("m").is_accepted
    exact = (matrix @ matrix[7])[np.argsort(-(matrix @ matrix[7]))[:5]].astype("f8").tolist()
    by_index = index.semantic(matrix[7], "m", 5)
    index.keep()
    assert index.semantic(matrix[7], "m", 5).equals(by_index)
    roomy = ChunkIndex(tmp_path / "vectors", settings=Vectors(exact_below_rows=300, in_memory_rows=400))
    roomy.keep()
    assert roomy.semantic(matrix[7], "m", 5)["semantic"].to_list() == exact


@pytest.fixture(scope="module")
def three_thousand(tmp_path_factory):
    """Chunks with vectors of 96 numbers: of the model `flat` like in every direction, of `deep` mostly along 20."""
    index = ChunkIndex(tmp_path_factory.mktemp("many"), settings=Vectors(exact_below_rows=2500))
    chance = np.random.default_rng(5)
    names = [f"{number:04}" for number in range(3000)]
    index.upsert(chunks({name: f"text {name}" for name in names}))
    models = {}
    for model, falling in (("flat", np.ones(96)), ("deep", 0.8 ** np.arange(96))):
        matrix = (chance.normal(size=(3000, 96)) * falling).astype("f4")
        models[model] = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        index.add_vectors(model, [f"{name}/0" for name in names], models[model])
        index.index_vectors(model)
    index.keep()
    return index, models


@pytest.mark.parametrize("model", ["flat", "deep"])
def test_many_vectors_in_memory_give_the_true_neighbours(three_thousand, model):
    index, models = three_thousand
    matrix = models[model]
    for number in range(0, 3000, 100):
        cosines = matrix @ matrix[number]
        expected = np.sort(cosines)[::-1][:10].astype("f8")
        assert index.semantic(matrix[number], model, 10)["semantic"].to_list() == pytest.approx(expected, abs=1e-6)


def test_the_short_way_is_taken_only_where_it_was_seen_to_find_them(three_thousand, monkeypatch):
    index, models = three_thousand
    monkeypatch.setattr("workbench.search.nearest.SHORTLIST", 10)
    measured = {}
    for model in models:
        index.database.note_path(index._vectors(model).name).unlink()
        measured[model] = index.index_vectors(model).leading_recall
    assert measured["deep"] == 1.0
    assert measured["flat"] < 0.95
    matrix = models["flat"]
    expected = np.sort(matrix @ matrix[7])[::-1][:50].astype("f8")
    assert index.semantic(matrix[7], "flat", 50)["semantic"].to_list() == pytest.approx(expected, abs=1e-6)
