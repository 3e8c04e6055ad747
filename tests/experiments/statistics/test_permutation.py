from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workbench.experiments.statistics import permutation_test, sign_flip_test


def gap(one, other, axis=0):
    return np.mean(one, axis=axis) - np.mean(other, axis=axis)


def scipys(first, second, kind):
    found = stats.permutation_test((second, first), gap, permutation_type=kind, n_resamples=np.inf)
    return found.pvalue


def test_the_exact_p_is_scipys():
    random = np.random.default_rng(0)
    first, second = random.normal(0, 1, 6), random.normal(0.8, 1, 6)
    ours = permutation_test(first, second, seed=0)
    assert (ours.is_exact, ours.permutations) == (True, 924)
    assert ours.p[0] == pytest.approx(scipys(first, second, "independent"), abs=1e-12)


def test_the_exact_p_of_pairs_is_scipys():
    random = np.random.default_rng(0)
    first, second = random.normal(0, 1, 9), random.normal(0.8, 1, 9)
    ours = sign_flip_test(first, second, seed=0)
    assert (ours.is_exact, ours.permutations) == (True, 512)
    assert ours.p[0] == pytest.approx(scipys(first, second, "samples"), abs=1e-12)


def test_ties_count_as_hits_whatever_rounding_makes_of_them():
    first, second = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.1, 0.2])
    assert permutation_test(first, second, seed=0).p[0] == 1.0


def test_studentised_splits_are_judged_by_welchs_t():
    random = np.random.default_rng(3)
    first, second = random.normal(0, 1, 5), random.normal(0, 3, 4)
    pooled = np.r_[first, second]

    def t(chosen):
        other = pooled[list(chosen)]
        one = np.delete(pooled, list(chosen))
        return abs(stats.ttest_ind(other, one, equal_var=False).statistic)

    bar = t(range(5, 9)) - 1e-9
    hits = [t(chosen) >= bar for chosen in combinations(range(9), 4)]
    ours = permutation_test(first, second, seed=0, studentised=True)
    assert ours.p[0] == pytest.approx(sum(hits) / len(hits), abs=1e-12)


@pytest.mark.parametrize("permutations", [1, 10, 99])
def test_a_p_value_from_random_splits_is_never_0(permutations):
    found = permutation_test(range(20), range(100, 120), seed=1, permutations=permutations)
    assert (found.is_exact, found.p[0]) == (False, 1 / (permutations + 1))
    assert sign_flip_test(range(20), range(100, 120), seed=1, permutations=permutations).p[0] >= 1 / (permutations + 1)


def test_random_splits_come_close_to_all_of_them():
    random = np.random.default_rng(5)
    first, second = random.normal(0, 1, 7), random.normal(1, 1, 7)
    exact = permutation_test(first, second, seed=0).p[0]
    assert permutation_test(first, second, seed=0, exact=False).p[0] == pytest.approx(exact, abs=0.006)


def test_metrics_side_by_side_are_each_metric_alone():
    random = np.random.default_rng(6)
    first, second = random.normal(size=(40, 3)), random.normal(0.3, size=(30, 3))
    both = permutation_test(first, second, seed=8, permutations=999, studentised=True).p
    alone = [
        permutation_test(first[:, place], second[:, place], seed=8, permutations=999, studentised=True).p[0]
        for place in range(3)
    ]
    assert both.tolist() == alone


def test_a_metric_that_is_the_same_everywhere_has_p_1():
    assert permutation_test([2.0] * 30, [2.0] * 40, seed=0, permutations=99, studentised=True).p[0] == 1.0


def test_an_empty_arm_has_no_p():
    assert np.isnan(permutation_test([], [1.0], seed=0).p[0])
    assert np.isnan(sign_flip_test([], [], seed=0).p[0])


def test_a_split_with_tied_keys_is_dealt_again(monkeypatch):
    from workbench.experiments.statistics import permutation

    dealt = permutation._dealt
    calls = []

    def tied_at_first(rows, size, taken, random):
        calls.append(rows)
        labels = dealt(rows, size, taken, random)
        if len(calls) == 1:
            labels[0] = True
        return labels

    monkeypatch.setattr(permutation, "_dealt", tied_at_first)
    (labels,) = permutation._random_splits(12, 5, 20, 0)
    assert calls == [20, 1]
    assert set(labels.sum(axis=1)) == {5.0}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_swapping_the_arms_changes_no_p(first, second):
    there, back = permutation_test(first, second, seed=0), permutation_test(second, first, seed=0)
    assert there.p[0] == pytest.approx(back.p[0], abs=1e-12)
    assert 0 < there.p[0] <= 1
