"""The chunk index: words in any script, vectors that belong to a text and a model, and nothing left of what is gone."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from search.chunks import chunks
from workbench.config.store import Vectors
from workbench.errors import SchemaError, StoreError
from workbench.search.index import ROWS, ChunkIndex
from workbench.store.filters import Where
from workbench.store.vectors import problems

TEXTS = {
    "camel": "def getUserProfile(uid): ...",
    "prose": "the profile of another person",
    "chinese": "我们的数据库连接失败了",
    "japanese": "東京都の天気予報を見る",
    "korean": "데이터베이스를 연결했습니다",
    "path": "edited src/app/main.py twice",
    "dunder": "class A: __init__ is empty",
    "party": "ship it 🚀 now",
}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
UNIT = np.eye(4, dtype=np.float32)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """An index of `TEXTS`; read only."""
    index = ChunkIndex(tmp_path_factory.mktemp("texts"))
    index.upsert(chunks(TEXTS))
    return index


@pytest.fixture
def index(tmp_path):
    """Three texts in two projects, each with a vector of the model `m`."""
    index = ChunkIndex(tmp_path / "vectors")
    times = [NOON, NOON + timedelta(hours=1), None]
    rows = chunks({"a": "red pump", "b": "blue pump", "c": "green valve"}).with_columns(
        project_id=pl.Series(["p", "p", "q"]), occurred_at=pl.Series(times, dtype=pl.Datetime("us", "UTC"))
    )
    index.upsert(rows, {"a": "1", "b": "1", "c": "1"})
    index.add_vectors("m", ["a/0", "b/0", "c/0"], UNIT[:3])
    return index


def found(index, query, **filters):
    return [chunk.split("/")[0] for chunk in index.keyword(query, 10, Where.of(**filters))["chunk_id"].to_list()]


def near(index, vector, model="m", limit=10, **filters):
    return index.semantic(np.asarray(vector, np.float32), model, limit, Where.of(**filters)).rows()


# -- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("user profile", "camel"),
        ("getUserProfile", "camel"),
        ("getuserprofile", "camel"),
        ("persons", "prose"),
        ("数据库", "chinese"),
        ("据库", "chinese"),
        ("连", "chinese"),
        ("天気", "japanese"),
        ("데이터", "korean"),
        ("연결", "korean"),
        ("src/app/main.py", "path"),
        ("main", "path"),
        ("__init__", "dunder"),
        ("init", "dunder"),
        ("🚀", "party"),
        ("the", "prose"),
        ('"getUserProfile', "camel"),
        ("text:main AND (src OR", "path"),
    ],
)
def test_words_are_found_in_any_script_and_inside_identifiers(texts, query, first):
    assert found(texts, query)[0] == first


@pytest.mark.parametrize("query", ["", "  ", "***", '""', "()", "zebra", "\udcff", "\x00", "x" * 100_000])
def test_what_has_no_words_here_finds_nothing_and_is_no_error(texts, query):
    assert texts.keyword(query, 10).rows() == []


def test_a_question_as_long_as_a_log_is_answered(texts):
    assert found(texts, "getUserProfile " + "noise9 " * 15_000)[0] == "camel"


def test_the_index_says_what_it_found_and_how_well(texts):
    hits = texts.keyword("user profile", 10, columns=("id", "text"))
    assert hits.columns == ["id", "text", "keyword"]
    assert hits["id"].to_list() == ["camel", "prose"]
    assert hits["keyword"][0] > hits["keyword"][1] > 0
    assert texts.keyword("user profile", 1).height == 1
    assert texts.keyword("user profile", 0).height == 0


# -- rows --------------------------------------------------------------------------------------------------------------


def test_rows_come_in_the_order_of_the_ids_and_those_that_are_gone_are_left_out(index):
    rows = index.rows(["c/0", "nothing", "a/0"])
    assert rows["text"].to_list() == ["green valve", "red pump"]
    assert set(rows.columns) == set(ROWS)


def test_an_absent_index_is_an_empty_one(tmp_path):
    index = ChunkIndex(tmp_path / "nowhere")
    assert index.keyword("pump", 10).rows() == []
    assert near(index, UNIT[0]) == []
    assert index.rows(["a/0"]).rows() == []
    assert index.missing_vectors("m").rows() == []
    assert (index.coverage("m"), index.models(), index.states()) == ((0, 0), [], {})
    assert not (tmp_path / "nowhere").exists()


def test_filters_come_before_the_limit(index):
    assert found(index, "pump") == ["a", "b"]
    assert found(index, "pump", since=NOON + timedelta(minutes=1)) == ["b"]
    assert found(index, "pump valve", project_id="q") == ["c"]
    assert near(index, UNIT[0], limit=1, project_id="q") == [("c/0", 0.0)]
    assert near(index, UNIT[0], until=NOON + timedelta(minutes=1)) == [("a/0", 1.0)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop("text"), r"missing \['text'\]"),
        (lambda rows: rows.with_columns(colour=pl.lit("red")), r"unknown \['colour'\]"),
        (lambda rows: pl.concat([rows, rows]), "chunk ids recur: 'x/0'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(index, change, message):
    with pytest.raises(SchemaError, match=message):
        index.upsert(change(chunks({"x": "text"})))


# -- vectors -----------------------------------------------------------------------------------------------------------


def test_the_nearest_come_first_and_ties_by_id(index):
    assert near(index, [0, 1, 0, 0]) == [("b/0", 1.0), ("a/0", 0.0), ("c/0", 0.0)]
    assert near(index, [0, 1, 0, 0], limit=1) == [("b/0", 1.0)]


def test_vectors_of_two_models_never_meet(index):
    index.add_vectors("other", ["a/0"], np.array([[0, 0, 1]], np.float32))
    assert near(index, UNIT[0])[0] == ("a/0", 1.0)
    assert near(index, [0, 0, 1], "other") == [("a/0", 1.0)]
    assert near(index, UNIT[0], "third") == []
    assert index.models() == ["m", "other"]
    assert [index.coverage(model) for model in ("m", "other", "third")] == [(3, 3), (1, 3), (0, 3)]


def test_a_model_that_was_exchanged_under_its_name_is_refused(index):
    with pytest.raises(SchemaError, match="have 4 numbers, the query's has 3: the model was exchanged"):
        near(index, [1, 0, 0])
    with pytest.raises(SchemaError, match="have 4 numbers, these have 3: the model was exchanged"):
        index.add_vectors("m", ["a/0"], np.ones((1, 3), np.float32))
    with pytest.raises(SchemaError, match="2 chunks need a matrix of as many rows"):
        index.add_vectors("m", ["a/0", "b/0"], UNIT[:1])


def test_a_chunk_whose_text_changed_has_no_vector_any_more_and_others_keep_theirs(index):
    assert index.upsert(chunks({"a": "red tap"})) == 1
    assert index.missing_vectors("m")["text"].to_list() == ["red tap"]
    assert near(index, UNIT[1])[0] == ("b/0", 1.0)
    assert found(index, "pump") == ["b"]


def test_what_is_put_in_again_is_left_as_it_is(index):
    rows = index.rows(["a/0"]).drop("content_hash")
    assert index.upsert(rows) == 0
    assert index.coverage("m") == (3, 3)


def test_a_vector_that_comes_late_belongs_to_no_other_text(index):
    old = index.rows(["a/0"])["content_hash"].to_list()
    index.upsert(chunks({"a": "red tap"}))
    assert index.add_vectors("m", ["a/0", "gone/0"], UNIT[:2], hashes=[*old, "0"]) == 0
    assert index.coverage("m") == (2, 3)


def test_what_is_deleted_is_in_no_list(index):
    index.delete(["a", "nobody"])
    assert found(index, "red pump") == ["b"]
    assert [chunk for chunk, _ in near(index, UNIT[0])] == ["b/0", "c/0"]
    assert index.states() == {"b": "1", "c": "1"}
    assert problems(index.database) == []


def test_a_text_that_is_there_elsewhere_is_known(index):
    hashes, matrix = index.known_vectors("m", [index.rows(["b/0"])["content_hash"][0], "unknown"])
    assert hashes == index.rows(["b/0"])["content_hash"].to_list()
    assert matrix.tolist() == [UNIT[1].tolist()]
    assert index.known_vectors("third", hashes)[0] == []


def test_rows_that_another_process_puts_in_are_seen_at_once(index):
    assert near(index, UNIT[3])[0][1] == 0.0  # the matrix is in memory now
    code = f"""
from pathlib import Path
import numpy as np
from search.chunks import chunks
from workbench.search.index import ChunkIndex
index = ChunkIndex(Path({str(index.database.folder)!r}))
index.upsert(chunks({{"d": "yellow pump"}}))
index.add_vectors("m", ["d/0"], np.array([[0, 0, 0, 1]], np.float32))
"""
    root = __file__.rsplit("/search/", 1)[0]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, timeout=100)
    assert near(index, UNIT[3])[0] == ("d/0", 1.0)
    assert found(index, "yellow") == ["d"]


# -- many vectors ------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path):
    """1,200 chunks of two projects with vectors around 30 middles, in an index that may use one from 1,000 on."""
    index = ChunkIndex(tmp_path / "vectors", settings=Vectors(exact_below_rows=1000))
    chance = np.random.default_rng(1)
    matrix = (chance.normal(size=(30, 16)).repeat(40, axis=0) + 0.2 * chance.normal(size=(1200, 16))).astype("f4")
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    names = [f"{number:04}" for number in range(1200)]
    rows = chunks({name: f"text {name}" for name in names})
    index.upsert(rows.with_columns(project_id=pl.Series(["rare" if name < "0012" else "p" for name in names])))
    index.add_vectors("m", [f"{name}/0" for name in names], matrix)
    return index, matrix


def test_few_vectors_get_no_index(index):
    assert index.index_vectors("m") is None
    assert index.ann("m") is None


def test_many_vectors_get_an_index_that_has_to_find_what_exact_search_finds(many):
    index, matrix = many
    exact = [near(index, vector, limit=5) for vector in matrix[:3]]
    built = index.index_vectors("m")
    assert (built.rows, built.queries, built.is_accepted) == (1200, 100, True)
    assert built.recall >= 0.95
    assert index.uses_index("m")
    for vector, expected in zip(matrix[:3], exact, strict=True):
        hits = near(index, vector, limit=5)
        assert [chunk for chunk, _ in hits] == [chunk for chunk, _ in expected]
        assert [score for _, score in hits] == pytest.approx([score for _, score in expected], abs=1e-5)
    rare = near(index, matrix[600], limit=12, project_id="rare")
    assert sorted(chunk for chunk, _ in rare) == [f"{number:04}/0" for number in range(12)]
    index.upsert(chunks({"new": "another"}))
    index.add_vectors("m", ["new/0"], matrix[:1] * -1)
    assert near(index, -matrix[0], limit=1) == [("new/0", pytest.approx(1.0, abs=1e-5))]
    assert index.index_vectors("m") == built  # one more is no reason to make it anew
    assert near(index, -matrix[0], limit=1) == [("new/0", pytest.approx(1.0, abs=1e-5))]
    index.delete([f"{number:04}" for number in range(100, 200)])
    assert index.index_vectors("m").rows == 1101


def test_an_index_that_finds_too_little_is_not_used(many):
    index, matrix = many
    index = ChunkIndex(index.database.folder, settings=Vectors(exact_below_rows=1000, refine_factor=1))
    alike = np.ones((1200, 16), np.float32) + 1e-4 * matrix  # finer than the 256 steps of the index's numbers
    alike /= np.linalg.norm(alike, axis=1, keepdims=True)
    index.add_vectors("alike", [f"{number:04}/0" for number in range(1200)], alike)
    built = index.index_vectors("alike")
    assert (built.is_accepted, built.recall < 0.95) == (False, True)
    assert not index.uses_index("alike")
    exact = np.sort(alike @ alike[0])[::-1][:20]
    assert [score for _, score in near(index, alike[0], "alike", limit=20)] == exact.tolist()


def test_a_folder_that_is_no_index_is_named_with_the_remedy(index):
    for path in (index.database.folder / "chunks.lance").rglob("*"):
        if path.is_file():
            path.write_bytes(b"broken")
    with pytest.raises(StoreError, match=r"cannot be used: .*delete that folder, then run workbench embed"):
        ChunkIndex(index.database.folder).keyword("pump", 10)
