from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.config.context import Scoring
from workbench.context import scoring
from workbench.context.scoring import ADDED, Features, rank_order, score_terms, select_within

NAMES = ("pinned", "age_turns", "relevance", "semantic", "hydrate", "order", "last_step")
VALUES = st.floats(0, 1)


def by_hand(budget, tokens, pinned, ranking):
    taken, used = [], 0
    for place in ranking:
        if pinned[place] or used + tokens[place] <= budget:
            taken.append(place)
            used += tokens[place]
    return taken


UNITS = st.lists(
    st.tuples(st.integers(0, 30), st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.5 + 2**-50, np.nan, np.inf])),
    max_size=40,
)


@given(st.integers(0, 200), UNITS, st.booleans(), st.sampled_from([1, 3, 64]), st.data())
def test_selection_is_the_walk_down_the_whole_ranking(budget, units, some_pinned, first_ranked, data):
    columns = list(zip(*units, strict=True)) or [(), (), ()]
    tokens, score = np.array(columns[0], dtype=np.int64), np.array(columns[2], dtype=np.float64)
    pinned = np.array(columns[1], dtype=np.bool_) & some_pinned
    offered = data.draw(st.sets(st.integers(0, max(len(units) - 1, 0)))) if units else set()
    places = np.array(sorted(offered), dtype=np.intp)
    ranking = places[rank_order(score[places], places, ())]
    with mock.patch.object(scoring, "FIRST_RANKED", first_ranked):
        taken = select_within(budget, tokens, pinned, score, places)
    assert taken.tolist() == by_hand(budget, tokens, pinned, ranking.tolist())


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, -0.0, np.nan, np.inf]), max_size=30))
def test_a_ranking_is_by_score_then_the_newest_with_what_is_no_number_last(scores):
    places = sorted(
        range(len(scores)), key=lambda place: (np.isnan(scores[place]), -np.nan_to_num(scores[place]), -place)
    )
    assert rank_order(np.array(scores), np.arange(len(scores)), ()).tolist() == places


@given(st.lists(st.tuples(*[VALUES] * 7), max_size=6), st.tuples(*[st.floats(0, 2)] * 7))
def test_the_terms_add_up_to_the_score(rows, weights):
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), 7).T
    names = ("w_pin", "w_recency", "w_relevance", "w_semantic", "w_hydrate_boost", "w_unit_order", "w_last_step")
    terms = score_terms(
        Features(**dict(zip(NAMES, columns, strict=True))), Scoring(**dict(zip(names, weights, strict=True)))
    )
    assert np.allclose(sum(getattr(terms, name) for name in ADDED), terms.score, rtol=0, atol=1e-9)
    assert np.array_equal(terms.relevance, np.maximum(terms.bm25, terms.semantic))


def test_ties_go_to_the_newest_unit_then_by_id():
    score = np.array([0.5, 0.5, 0.5, 0.9])
    assert rank_order(score, np.array([1, 3, 3, 0]), ["c", "b", "a", "d"]).tolist() == [3, 2, 1, 0]


def test_a_ranking_of_a_pool_needs_no_ids():
    assert rank_order(np.array([0.5, 0.5, 0.9]), np.arange(3), ()).tolist() == [2, 1, 0]


def test_a_unit_without_a_vector_is_judged_by_words_alone():
    one = np.ones(1)
    features = Features(one * 0, one * 0, one * 0.5, one * np.nan, one * 0, one * 0, one * 0)
    terms = score_terms(features, Scoring())
    assert (float(terms.semantic[0]), float(terms.relevance[0])) == (0.0, 0.15)
