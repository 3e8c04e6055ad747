import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from workbench.experiments.retrieval.metrics import measures, ndcg, recall_all, recall_any, reciprocal_rank

# three queries: right at rank 1, right at ranks 2 and 4 of two, nothing found
GAINS = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 2.0], [0, 0, 0, 0]])
IDEAL = np.array([[1.0, 0], [2.0, 1.0], [1.0, 0]])


def test_recall_asks_for_one_right_document_or_for_all():
    assert recall_any(GAINS, 1).tolist() == [1, 0, 0]
    assert recall_any(GAINS, 2).tolist() == [1, 1, 0]
    assert recall_all(GAINS, IDEAL, 2).tolist() == [1, 0, 0]
    assert recall_all(GAINS, IDEAL, 4).tolist() == [1, 1, 0]


def test_the_reciprocal_rank_is_that_of_the_first_right_document():
    assert reciprocal_rank(GAINS).tolist() == [1, 0.5, 0]
    assert reciprocal_rank(GAINS, 1).tolist() == [1, 0, 0]


def test_discounted_gain_is_that_of_the_best_order_at_most():
    second = (1 / np.log2(3) + 2 / np.log2(5)) / (2 + 1 / np.log2(3))
    assert ndcg(GAINS, IDEAL).tolist() == pytest.approx([1, second, 0])


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=15))
def test_discounted_gain_is_that_of_scikit_learn(grades):
    gains = np.array([grades], dtype=float)
    ideal = -np.sort(-gains, axis=1)
    scores = -np.arange(len(grades), dtype=float)[None, :]
    theirs = ndcg_score(gains, scores, k=10) if gains.any() else 0.0
    assert ndcg(gains, ideal)[0] == pytest.approx(theirs)


def test_every_measure_has_a_value_a_query():
    found = measures(GAINS, IDEAL)
    assert list(found) == [
        *(f"recall_{kind}@{cut}" for cut in (1, 5, 10, 20) for kind in ("any", "all")),
        "mrr@10",
        "ndcg@10",
    ]
    assert {values.shape for values in found.values()} == {(3,)}
