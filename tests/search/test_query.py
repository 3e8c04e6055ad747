"""One question: which lists are asked, what the hits are, and that the answer says what it lacks."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from search.chunks import chunks
from search.word_embedder import WordEmbedder
from workbench.config.knowledge import Search
from workbench.config.store import Vectors
from workbench.errors import EmbedderUnavailableError
from workbench.search.index import ChunkIndex
from workbench.search.query import COLUMNS, Question, ask, ask_chunks
from workbench.search.refresh import embed_missing
from workbench.store.filters import Where

NOW = datetime(2026, 3, 2, tzinfo=UTC)
TEXTS = {
    "cat": "a feline sleeps on the mat",
    "dog": "the dog sleeps in the yard",
    "code": "def getUserProfile(uid): return cache[uid]",
    "chinese": "我们的数据库连接失败了",
    "log": "ERROR pool_timeout after 30s in src/db/pool.py",
}
EMBEDDER = WordEmbedder(also={"cat": "feline", "kitten": "feline"})


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index of `TEXTS`, all embedded; read only."""
    index = ChunkIndex(tmp_path_factory.mktemp("query"))
    index.upsert(chunks(TEXTS))
    embed_missing(index, EMBEDDER)
    return index


def asked(index, query, mode="hybrid", limit=10, where=None, embedder=EMBEDDER, rerank=None, **settings):
    question = Question(query, mode, limit, where)
    return ask(index, question, Search(**settings), embedder=lambda: embedder, rerank=rerank, now=NOW)


def ids(answer):
    return answer.hits["id"].to_list()


@pytest.mark.parametrize(
    ("query", "mode", "first"),
    [
        ("kitten", "semantic", "cat"),
        ("kitten", "hybrid", "cat"),
        ("dog", "keyword", "dog"),
        ("user profile", "keyword", "code"),
        ("user profile", "hybrid", "code"),
        ("数据库", "keyword", "chinese"),
        ("据库连", "hybrid", "chinese"),
        ("pool_timeout", "hybrid", "log"),
        ("src/db/pool.py", "keyword", "log"),
        ('"the dog', "hybrid", "dog"),
    ],
)
def test_each_mode_finds_what_it_is_for(index, query, mode, first):
    answer = asked(index, query, mode)
    assert ids(answer)[0] == first
    assert (answer.mode, answer.degraded, answer.notices) == (mode, None, [])
    assert answer.hits.columns == list(COLUMNS)


def test_words_alone_do_not_find_what_only_means_the_same(index):
    assert asked(index, "kitten", "keyword").hits.rows() == []


def test_every_term_of_a_score_is_a_column(index):
    hit = asked(index, "dog yard").hits.row(0, named=True)
    assert hit["id"] == "dog"
    assert hit["keyword"] > 0
    assert 0 < hit["semantic"] <= 1.0001
    assert (hit["score"], hit["context"], hit["recency"], hit["rerank"]) == (1.0, 0.0, 1.0, None)
    assert (hit["snippet"], hit["marks"]) == (TEXTS["dog"], [[4, 7], [22, 26]])


def test_what_only_words_found_gets_its_cosine_from_the_stored_vectors(index):
    few = {"candidates": 2}
    answer = asked(index, "getUserProfile sleeps", limit=1, **few)
    alone = asked(index, "getUserProfile sleeps", limit=1, rerank_top=0, **few)
    assert None not in answer.hits["semantic"].to_list()
    assert alone.hits["keyword"].to_list() == answer.hits["keyword"].to_list()


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("", "the question is empty"),
        ("  \n", "the question is empty"),
        ("***", "'***' has no words"),
        ("()", "no words"),
    ],
)
@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_a_question_without_words_has_an_empty_answer_that_says_why(index, query, notice, mode):
    answer = asked(index, query, mode)
    assert answer.hits.height == 0
    assert answer.hits.columns == list(COLUMNS)
    assert [notice in told for told in answer.notices] == [True]
    assert answer.degraded is None


def test_a_question_of_stop_words_looks_for_them(index):
    assert set(ids(asked(index, "the", "keyword"))) == {"cat", "dog"}


def test_of_a_question_of_100_000_characters_the_first_words_are_looked_for(index):
    answer = asked(index, "dog yard " + " ".join(f"word{number}" for number in range(11_000)))
    assert ids(answer)[0] == "dog"
    assert answer.notices == ["the question has 21,993 words and parts of words; the first 64 were looked for"]


def test_without_any_vector_the_answer_is_by_words_and_says_so(tmp_path):
    index = ChunkIndex(tmp_path)
    index.upsert(chunks(TEXTS))

    def never():
        raise AssertionError("there is nothing to compare with, so the model need not be loaded")

    for mode, found in (("hybrid", ["dog"]), ("semantic", [])):
        answer = ask(index, Question("dog", mode, 10), Search(), embedder=never, now=NOW)
        assert ids(answer) == found
        assert answer.degraded == "no vectors for 5 of 5 texts; run workbench embed"
    assert ask(index, Question("dog", "keyword", 10), Search(), embedder=never, now=NOW).degraded is None


def test_of_partial_vectors_the_answer_says_how_many_lack(tmp_path):
    index = ChunkIndex(tmp_path)
    index.upsert(chunks({"cat": TEXTS["cat"]}))
    embed_missing(index, EMBEDDER)
    index.upsert(chunks({"dog": TEXTS["dog"]}))
    answer = asked(index, "kitten sleeps", keyword_weight=0.25, semantic_weight=0.75)
    assert answer.degraded == "no vectors for 1 of 2 texts; run workbench embed"
    assert set(ids(answer)) == {"cat", "dog"}
    assert answer.hits["score"].to_list() == pytest.approx([1.0, 0.4])  # 0.25 of 0.25 and half of 0.75
    assert ids(answer)[0] == "cat"
    embed_missing(index, EMBEDDER)
    assert asked(index, "kitten sleeps").degraded is None


def test_vectors_of_another_model_are_not_compared(index):
    answer = asked(index, "kitten", embedder=WordEmbedder("newer", 32))
    assert answer.degraded == (
        "no vectors for 5 of 5 texts; run workbench embed (there are some of words, not of newer)"
    )
    assert answer.hits.height == 0


def test_a_missing_embedder_is_told_in_its_own_words(index):
    def load():
        raise EmbedderUnavailableError("the file model.onnx has another checksum; install the package again")

    answer = ask(index, Question("dog", "hybrid", 10), Search(), embedder=load, now=NOW)
    assert answer.degraded == "the file model.onnx has another checksum; install the package again"
    assert ids(answer) == ["dog"]


def test_an_index_of_vectors_that_was_not_accepted_is_told(tmp_path):
    settings = Vectors(exact_below_rows=300, refine_factor=1, min_recall=1.0)
    index = ChunkIndex(tmp_path, settings=settings)
    index.upsert(chunks({f"{number}": f"text {number}" for number in range(300)}))

    class Alike(WordEmbedder):
        def embed_query(self, text):
            vector = np.ones(self.dimension, np.float32) + np.float32(1e-4) * super().embed_query(text)
            return (vector / np.linalg.norm(vector)).astype(np.float32)

    embed_missing(index, Alike())
    answer = asked(index, "text 77", embedder=Alike())
    assert "of the true neighbours and is not used: every vector is compared" in answer.degraded
    assert ids(answer)[0] == "77"


def test_filters_confine_both_lists(index):
    assert ids(asked(index, "sleeps kitten", where=Where.of(kind="document"))) == ids(asked(index, "sleeps kitten"))
    assert ids(asked(index, "sleeps kitten", where=Where.of(kind="note"))) == []


def test_many_chunks_of_one_thing_are_one_hit_and_leave_room_for_others(tmp_path):
    index = ChunkIndex(tmp_path)
    rows = [
        {"chunk_id": f"big/{number}", "kind": "document", "id": "big", "text": "pump pump"} for number in range(150)
    ]
    rows += [{"chunk_id": f"s{n}/0", "kind": "document", "id": f"s{n}", "text": f"a pump of {n}"} for n in range(3)]
    index.upsert(pl.DataFrame(rows))
    answer = asked(index, "pump", "keyword", limit=4, candidates=10)
    assert ids(answer)[0] == "big"
    assert set(ids(answer)) == {"big", "s0", "s1", "s2"}


def test_a_cross_encoder_decides_where_there_is_one(index):
    def rerank(query, texts):
        assert query == "sleeps"
        return np.array([float("dog" in text) for text in texts])

    answer = asked(index, "sleeps", "keyword", rerank=rerank)
    assert (ids(answer), answer.hits["rerank"].to_list()) == (["dog", "cat"], [1.0, 0.0])
    question = Question("sleeps", "keyword", 10)
    off = ask(index, question, Search(rerank=False), embedder=lambda: EMBEDDER, rerank=rerank, now=NOW)
    assert off.hits["rerank"].to_list() == [None, None]


# -- chunks as they are ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts_of_notes(tmp_path_factory):
    """Two notes, one of them in three chunks, all embedded; read only."""
    index = ChunkIndex(tmp_path_factory.mktemp("parts"))
    texts = {"n/0": "red pump valve", "n/1": "red pump", "n/2": "nothing of it", "o/0": "the pump of another note"}
    rows = [
        {"chunk_id": key, "owner": key[0], "kind": "note", "id": key[0], "text": text} for key, text in texts.items()
    ]
    index.upsert(pl.DataFrame(rows))
    embed_missing(index, EMBEDDER)
    return index


def chunks_for(index, query, limit=20, embedder=lambda: EMBEDDER, **settings):
    weights = {"keyword_weight": 0.5, "semantic_weight": 0.5} | settings
    return ask_chunks(index, Question(query, "hybrid", limit), Search(**weights), embedder=embedder, now=NOW)


def test_chunks_of_one_note_stay_apart_and_score_by_both_lists_scaled_over_them(parts_of_notes):
    answer = chunks_for(parts_of_notes, "red pump")
    rows = {row["chunk_id"]: row for row in answer.hits.iter_rows(named=True)}
    assert answer.hits["chunk_id"].to_list()[0] == "n/1"
    assert {row["id"] for row in rows.values()} == {"n", "o"}
    for term in ("keyword", "semantic"):
        found = [row[term] for row in rows.values() if row[term] is not None]
        for row in rows.values():
            scaled = 0.0 if row[term] is None else (row[term] - min(found)) / (max(found) - min(found))
            row["sum"] = row.get("sum", 0.0) + 0.5 * scaled
    assert {key: row["score"] for key, row in rows.items()} == pytest.approx(
        {key: row["sum"] for key, row in rows.items()}
    )
    assert rows["n/1"]["score"] == pytest.approx(1.0)
    assert rows["n/2"]["keyword"] is None
    assert answer.degraded is None


def test_the_limit_of_chunks_counts_chunks_and_age_does_not_count(parts_of_notes):
    answer = chunks_for(parts_of_notes, "red pump", limit=2, recency_boost_days=1.0)
    assert answer.hits["chunk_id"].to_list() == ["n/1", "n/0"]
    assert answer.hits["recency"].to_list() == [1.0, 1.0]


def test_chunks_without_vectors_are_found_by_words_and_the_answer_names_the_command(tmp_path):
    index = ChunkIndex(tmp_path)
    index.upsert(chunks({"a": "red pump"}))
    question = Question("pump", "hybrid", 5, embed_command="workbench embed --vault notes")
    answer = ask_chunks(index, question, Search(), embedder=lambda: EMBEDDER, now=NOW)
    assert answer.hits["chunk_id"].to_list() == ["a/0"]
    assert answer.degraded == "no vectors for 1 of 1 texts; run workbench embed --vault notes"
    assert ask_chunks(index, Question("", "hybrid", 5), Search(), embedder=lambda: EMBEDDER, now=NOW).hits.height == 0
