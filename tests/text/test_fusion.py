import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench.text.fusion import minmax_sum, reciprocal_rank

NAN = float("nan")
FUSIONS = [lambda words, meaning: minmax_sum(words, meaning, 0.3), reciprocal_rank]

SCORE = st.one_of(st.just(NAN), st.floats(-1e308, 1e308), st.integers(-3, 3).map(float))


@st.composite
def lists(draw):
    length = draw(st.integers(0, 12))
    return tuple(draw(arrays(np.float64, length, elements=SCORE)) for _ in range(2))


def test_each_list_is_scaled_to_its_own_range_and_what_it_lacks_counts_zero():
    words, meaning = [12.0, 6.0, 4.0, NAN], [0.7, 0.9, NAN, 0.1]
    assert minmax_sum(words, meaning, 0.5).tolist() == pytest.approx([0.5 + 0.375, 0.125 + 0.5, 0.0, 0.0])


def test_the_weight_is_the_share_of_meaning():
    words, meaning = [2.0, 1.0], [1.0, 2.0]
    assert minmax_sum(words, meaning, 0.0).tolist() == [1.0, 0.0]
    assert minmax_sum(words, meaning, 1.0).tolist() == [0.0, 1.0]
    assert minmax_sum(words, meaning, 0.7).tolist() == pytest.approx([0.3, 0.7])


def test_a_list_of_equal_scores_counts_one_for_each():
    assert minmax_sum([2.0, 2.0], [NAN, 0.5], 0.5).tolist() == [0.5, 1.0]


def test_reciprocal_ranks_are_added():
    words, meaning = [9.0, 3.0, NAN], [0.2, 0.8, 0.5]
    assert reciprocal_rank(words, meaning).tolist() == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 62])


def test_equal_scores_share_the_best_of_their_ranks():
    nothing = [NAN] * 4
    assert reciprocal_rank([5.0, 7.0, 5.0, 1.0], nothing, k=0).tolist() == [1 / 2, 1.0, 1 / 2, 1 / 4]


def test_leading_axes_are_fused_row_by_row():
    words = np.array([[3.0, 1.0, NAN], [NAN, 1.0, 5.0]])
    meaning = np.array([[NAN, 0.1, 0.4], [0.9, 0.9, 0.1]])
    for fuse in FUSIONS:
        together = fuse(words, meaning)
        assert together.tolist() == [fuse(*row).tolist() for row in zip(words, meaning, strict=True)]


def test_lists_of_different_lengths_and_weights_that_are_no_share_are_refused():
    with pytest.raises(ValueError, match="both lists"):
        minmax_sum([1.0], [1.0, 2.0], 0.5)
    with pytest.raises(ValueError, match="from 0 to 1"):
        minmax_sum([1.0], [1.0], 1.5)
    with pytest.raises(ValueError, match="above -1"):
        reciprocal_rank([1.0], [1.0], k=-1.0)


@settings(deadline=None, max_examples=60)
@given(lists())
def test_fused_scores_are_finite_and_zero_exactly_where_nothing_was_found_or_nothing_counts(both):
    words, meaning = both
    lacking = np.isnan(words) & np.isnan(meaning)
    blend, ranks = minmax_sum(words, meaning, 0.5), reciprocal_rank(words, meaning)
    assert np.isfinite(blend).all()
    assert ((blend >= 0) & (blend <= 1)).all()
    assert (blend[lacking] == 0).all()
    assert ((ranks == 0) == lacking).all()


@settings(deadline=None, max_examples=60)
@given(lists(), st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(both, random):
    words, meaning = both
    order = list(range(len(words)))
    random.shuffle(order)
    for fuse in FUSIONS:
        assert fuse(words[order], meaning[order]).tolist() == fuse(words, meaning)[order].tolist()


@settings(deadline=None, max_examples=60)
@given(lists())
def test_a_document_that_is_better_in_both_lists_is_never_behind(both):
    words, meaning = both
    better = (words[:, None] >= words[None, :]) & (meaning[:, None] >= meaning[None, :])
    for fuse in FUSIONS:
        fused = fuse(words, meaning)
        assert (fused[:, None] >= fused[None, :])[better].all()


@settings(deadline=None, max_examples=60)
@given(lists(), st.floats(0.5, 100), st.integers(-5, 5))
def test_ranks_alone_count_in_reciprocal_rank_fusion(both, factor, shift):
    words, meaning = (np.where(np.abs(scores) < 1e6, scores, NAN).round(2) for scores in both)
    assert reciprocal_rank(words * factor + shift, meaning).tolist() == reciprocal_rank(words, meaning).tolist()
