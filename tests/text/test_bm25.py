from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.bm25 import (
    Pool,
    bm25_score,
    bm25_scores,
    corpus_stats,
    relevance,
    seed_relevance,
    tokenize,
    tokenize_short,
)

DOCUMENTS = ["load parquet files", "plot churn by region", "load csv and plot"]
WORDS = st.lists(st.sampled_from(["load", "plot", "csv", "by", "x"]), max_size=12)
POOLS = st.lists(WORDS, max_size=8)


def test_tokens_keep_dots_slashes_dashes_and_underscores():
    assert tokenize("Edit src/load.py, then re-run net_revenue 3.14.") == [
        *("edit", "src/load.py", "then", "re-run", "net_revenue", "3.14."),
    ]


def test_what_is_not_ascii_separates_tokens():
    assert tokenize("café 收入 \u212aelvin") == ["caf", "kelvin"]


def test_short_form_drops_single_characters():
    assert tokenize_short("a b2 c-") == ["b2", "c-"]


def test_statistics_of_a_pool():
    stats = corpus_stats([["load", "load"], [], ["load", "csv", "x", "y"]])
    assert (stats.average_length, stats.total_documents) == (2.0, 3)
    assert stats.document_frequency == {"load": 2, "csv": 1, "x": 1, "y": 1}


def test_statistics_of_an_empty_pool():
    stats = corpus_stats([])
    assert (stats.average_length, stats.total_documents, stats.document_frequency) == (0.0, 0, {})


def test_idf_of_an_unknown_token_is_that_of_a_token_in_one_document():
    stats = corpus_stats(map(tokenize, DOCUMENTS))
    assert stats.idf("nowhere") == stats.idf("csv") == log(1 + 2.5 / 1.5)


def test_scores_of_three_documents():
    assert bm25_scores("plot churn", DOCUMENTS) == pytest.approx([0.0, 1.3938132493303126, 0.4515318708910997])


@pytest.mark.parametrize(("query", "documents"), [("load", []), ("", DOCUMENTS), ("load", ["", "!?"])])
def test_scores_are_zero_where_there_is_nothing_to_compare(query, documents):
    assert bm25_scores(query, documents).tolist() == [0.0] * len(documents)


@given(WORDS, POOLS)
def test_scores_of_a_pool_equal_those_of_its_documents_one_by_one(query, documents):
    stats = corpus_stats(documents)
    pool = Pool(documents)
    assert pool.stats == stats
    assert pool.scores(query) == pytest.approx([bm25_score(query, document, stats) for document in documents])


@given(WORDS, POOLS, POOLS)
def test_a_pool_that_grew_scores_as_one_made_at_once(query, first, then):
    grown = Pool(first)
    grown.scores(query)
    grown.extend(then)
    whole = Pool([*first, *then])
    assert (grown.stats, len(grown)) == (whole.stats, len(first) + len(then))
    assert grown.relevance(query).tolist() == whole.relevance(query).tolist()


@given(st.lists(WORDS, min_size=1, max_size=4), POOLS)
def test_several_queries_at_once_are_each_answered_as_alone(queries, documents):
    pool = Pool(documents)
    together = pool.relevances(queries)
    assert [row.tolist() for row in together] == [pool.relevance(query).tolist() for query in queries]


@given(WORDS, POOLS)
def test_a_pool_scores_by_the_seed_what_each_text_alone_does(query, documents):
    told = Pool(documents).seed_relevance(query)
    assert told.tolist() == [seed_relevance(" ".join(query), " ".join(document)) for document in documents]


def test_relevance_is_one_for_the_query_itself_and_zero_without_a_common_token():
    pool = ["alpha beta", "beta alpha", "gamma delta"]
    assert relevance(["alpha beta"], pool)[0].tolist() == pytest.approx([1.0, 1.0, 0.0])


def test_relevance_is_the_score_over_the_score_of_the_query_itself():
    query = "plot churn"
    itself = bm25_score(tokenize(query), tokenize(query), corpus_stats(map(tokenize, DOCUMENTS)))
    assert relevance([query], DOCUMENTS)[0] == pytest.approx(bm25_scores(query, DOCUMENTS) / itself)


def test_relevance_of_half_a_query_among_many_is_about_a_half():
    pool = ["alpha beta", "gamma delta", "alpha gamma", "epsilon zeta"]
    assert relevance(["beta delta"], pool)[0].tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0])


def test_strange_words_in_the_query_lower_the_relevance():
    plain, padded = relevance(["plot churn", "plot churn qqq zzz"], DOCUMENTS)[:, 1]
    assert padded < plain


@given(st.lists(WORDS, max_size=3), POOLS)
def test_relevance_lies_between_zero_and_one(queries, documents):
    values = relevance([" ".join(query) for query in queries], [" ".join(document) for document in documents])
    assert values.shape == (len(queries), len(documents))
    assert np.all((values >= 0.0) & (values <= 1.0))


@given(WORDS, POOLS)
def test_a_text_is_wholly_relevant_to_itself(words, documents):
    text = " ".join([*words, "word"])
    pool = [text, *(" ".join(document) for document in documents)]
    assert relevance([text], pool)[0, 0] == pytest.approx(1.0)


def test_the_seed_counts_neither_rarity_nor_length():
    one = log(4 / 3)
    assert seed_relevance("churn", "churn") == pytest.approx(one)
    assert seed_relevance("churn", "the churn of a long and winding text") == pytest.approx(one)
    assert seed_relevance("churn churn plot", "churn churn plot") == pytest.approx(one * 2 * 2.5 * 2 / 3.5 + one)


def test_the_seed_finds_nothing_in_nothing():
    assert seed_relevance("", "text") == seed_relevance("text", "") == seed_relevance("", "") == 0.0
