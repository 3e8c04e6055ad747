"""How two lists of chunks become one list of hits."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from workbench.config.knowledge import Search
from workbench.search.rank import reranked, scored, with_context, with_recency

NOW = datetime(2026, 3, 2, tzinfo=UTC)
HALF = Search(keyword_weight=0.5, semantic_weight=0.5)
SCHEMA = {
    "chunk_id": pl.String,
    "session_id": pl.String,
    "kind": pl.String,
    "id": pl.String,
    "turn": pl.Int64,
    "occurred_at": pl.Datetime("us", "UTC"),
    "keyword": pl.Float64,
    "semantic": pl.Float64,
    "text": pl.String,
}


def candidates(*rows):
    """Chunks given as id of the hit, keyword and semantic score; what else is given wins."""
    known = [
        {
            "chunk_id": f"{hit}/{number}",
            "session_id": "s",
            "kind": "turn",
            "id": hit,
            "turn": None,
            "occurred_at": NOW,
            "keyword": keyword,
            "semantic": semantic,
            "text": f"text of {hit}",
        }
        | more
        for number, (hit, keyword, semantic, more) in enumerate((*row, {})[:4] for row in rows)
    ]
    return pl.DataFrame(known, schema=SCHEMA)


def order(hits):
    return hits["id"].to_list()


def test_the_weighted_sum_scales_each_list_and_gives_nothing_for_absence():
    hits = scored(
        candidates(("a", 10.0, 0.2), ("b", 5.0, 0.6), ("c", None, 0.4), ("d", 0.0, None)), "hybrid", HALF, NOW
    )
    assert dict(hits.select("id", "score").iter_rows()) == pytest.approx({"a": 0.5, "b": 0.75, "c": 0.25, "d": 0.0})
    assert order(hits) == ["b", "a", "c", "d"]


def test_the_weights_are_those_of_the_configuration():
    only_words = Search(keyword_weight=1.0, semantic_weight=0.0)
    assert order(scored(candidates(("a", 1.0, 0.9), ("b", 2.0, 0.1)), "hybrid", only_words, NOW)) == ["b", "a"]


def test_a_hit_has_the_best_place_of_its_chunks_in_each_list_and_its_best_chunk():
    rows = candidates(("a", 3.0, None), ("a", None, 0.9), ("b", 2.0, 0.5), ("a", 1.0, 0.1))
    hits = scored(rows, "hybrid", Search(fusion="rrf"), NOW)
    assert hits.select("id", "keyword", "semantic").rows() == [("a", 3.0, 0.9), ("b", 2.0, 0.5)]
    assert hits["fused"].to_list() == pytest.approx([2 / 61, 2 / 62])
    assert hits["chunk_id"][0] == "a/3"  # the chunk that both lists have


@pytest.mark.parametrize("mode", ["keyword", "semantic"])
def test_alone_a_list_is_taken_as_it_is(mode):
    hits = scored(candidates(("a", 1.5, 0.25), ("b", 7.5, 0.75)), mode, Search(), NOW)
    assert hits["score"].to_list() == hits[mode].to_list() == sorted(hits[mode].to_list(), reverse=True)


def test_ties_go_to_the_newest_then_by_id():
    older = {"occurred_at": NOW - timedelta(days=1)}
    rows = candidates(("old", 1.0, None, older), ("b", 1.0, None), ("a", 1.0, None, {"chunk_id": "a/0"}))
    assert order(scored(rows, "keyword", Search(), NOW)) == ["a", "b", "old"]


def test_context_is_the_best_score_beside_a_hit():
    rows = candidates(
        ("a", 4.0, None, {"turn": 1}),
        ("b", 9.0, None, {"turn": 2}),
        ("far", 99.0, None, {"turn": 4}),
        ("other", 50.0, None, {"turn": 1, "session_id": "t"}),
        ("nowhere", 60.0, None),
        ("no session", 70.0, None, {"turn": 1, "session_id": None}),
        ("a", 8.0, None, {"turn": 1}),
    )
    found = with_context(rows.with_columns(fused="keyword"), 1)
    assert found["context"].to_list() == [9.0, 8.0, 0.0, 0.0, 0.0, 0.0, 9.0]
    assert with_context(rows.clear().with_columns(fused="keyword"), 1).height == 0


def test_context_counts_by_its_weight():
    rows = candidates(("a", 4.0, None, {"turn": 1}), ("b", 3.0, None, {"turn": 2}), ("c", 4.5, None, {"turn": 9}))
    assert order(scored(rows, "keyword", Search(), NOW)) == ["c", "a", "b"]
    hits = scored(rows, "keyword", Search(context_weight=0.5), NOW)
    assert hits.select("id", "score").rows() == [("a", 5.5), ("b", 5.0), ("c", 4.5)]


def test_recency_halves_with_the_half_life_and_never_rewards_the_future():
    ages = [0, 90, 180, -5]
    rows = candidates(*((f"{age}", 1.0, None, {"occurred_at": NOW - timedelta(days=age)}) for age in ages))
    rows = pl.concat([rows, candidates(("no time", 1.0, None, {"occurred_at": None}))])
    assert with_recency(rows, NOW, 90)["recency"].to_list() == pytest.approx([1, 0.5, 0.25, 1, 1])
    assert with_recency(rows, NOW, 0)["recency"].to_list() == [1] * 5


def test_an_old_hit_with_a_negative_score_gains_nothing():
    rows = candidates(("new", None, -0.1), ("old", None, -0.2, {"occurred_at": NOW - timedelta(days=900)}))
    hits = scored(rows, "semantic", Search(recency_boost_days=90), NOW)
    assert order(hits) == ["new", "old"]
    assert hits["score"].to_list() == pytest.approx([0.1, 0.0])


def test_what_a_cross_encoder_scored_is_ordered_by_it_and_the_rest_is_left_out():
    hits = scored(candidates(("a", 3.0, None), ("b", 2.0, None), ("c", 1.0, None)), "keyword", Search(), NOW)
    again = reranked(hits, lambda texts: np.array([len(texts) * -1.0, 5.0]), top=2)
    assert again.select("id", "score", "rerank", "keyword").rows() == [("b", 5.0, 5.0, 2.0), ("a", -2.0, -2.0, 3.0)]
