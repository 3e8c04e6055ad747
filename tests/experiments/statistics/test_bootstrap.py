import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workbench.experiments.statistics.bootstrap import (
    Interval,
    bootstrap_interval,
    paired_bootstrap_interval,
    unpaired_bootstrap_interval,
)

FIRST = np.random.default_rng(1).gamma(2.0, size=60)
SECOND = np.random.default_rng(2).gamma(3.0, size=45)


def scipys(samples, statistic, seed, **more):
    found = stats.bootstrap(
        samples, statistic, method="percentile", n_resamples=2000, rng=np.random.default_rng(seed), **more
    )
    return found.confidence_interval


@pytest.mark.parametrize("statistic", [np.mean, np.median])
def test_the_interval_of_a_sample_is_scipys_to_the_last_digit(statistic):
    ours = bootstrap_interval(FIRST, seed=7, statistic=statistic, resamples=2000)
    theirs = scipys((FIRST,), statistic, 7)
    assert ours.estimate == statistic(FIRST)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_the_interval_of_a_paired_difference_is_scipys():
    other = FIRST[::-1] * 0.9
    ours = paired_bootstrap_interval(FIRST, other, seed=3, resamples=2000)

    def difference(first, second, axis):
        return np.mean(first - second, axis=axis)

    theirs = scipys((FIRST, other), difference, 3, paired=True)
    assert ours.estimate == pytest.approx(np.mean(FIRST - other))
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_the_interval_of_two_groups_is_scipys_up_to_the_draws():
    ours = unpaired_bootstrap_interval(FIRST, SECOND, seed=5, resamples=20_000)

    def difference(first, second, axis):
        return np.mean(first, axis=axis) - np.mean(second, axis=axis)

    theirs = scipys((FIRST, SECOND), difference, 5)
    assert ours.estimate == pytest.approx(FIRST.mean() - SECOND.mean())
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.04)


def test_samples_drawn_in_several_batches_are_those_drawn_at_once(monkeypatch):
    whole = bootstrap_interval(FIRST, seed=9, resamples=1000)
    monkeypatch.setattr("workbench.experiments.statistics.bootstrap._ELEMENTS_AT_ONCE", 600)
    assert bootstrap_interval(FIRST, seed=9, resamples=1000) == pytest.approx(whole, abs=1e-12)


def test_a_95_percent_interval_of_a_normal_mean_holds_the_truth_about_95_times_of_100():
    random = np.random.default_rng(0)
    held = 0
    for seed in range(400):
        interval = bootstrap_interval(random.normal(1.0, 2.0, 50), seed=seed, resamples=500)
        held += interval.low <= 1.0 <= interval.high
    assert 0.91 <= held / 400 <= 0.98


def test_the_same_seed_gives_the_same_interval_and_another_one_another():
    assert bootstrap_interval(FIRST, seed=1) == bootstrap_interval(FIRST, seed=1)
    assert bootstrap_interval(FIRST, seed=1) != bootstrap_interval(FIRST, seed=2)


def test_pairs_tell_more_than_groups_where_units_differ_among_themselves():
    base = np.linspace(0, 100, 50)
    better = base + 1 + np.random.default_rng(0).normal(0, 0.5, 50)
    assert paired_bootstrap_interval(better, base, seed=0).low > 0
    assert unpaired_bootstrap_interval(better, base, seed=0).low < 0


def test_an_empty_sample_has_no_interval():
    for interval in (bootstrap_interval([], seed=0), unpaired_bootstrap_interval([], [1.0], seed=0)):
        assert all(np.isnan(interval))


@pytest.mark.parametrize("bad", [[1.0, np.nan], [np.inf], [[1.0], [2.0]]])
def test_what_is_no_finite_row_of_numbers_is_refused(bad):
    with pytest.raises(ValueError, match="finite numbers"):
        bootstrap_interval(bad, seed=0)


def test_pairs_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="two values each"):
        paired_bootstrap_interval([1.0, 2.0], [1.0], seed=0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(0, 5))
def test_an_interval_of_a_mean_lies_between_the_least_and_the_greatest_value(sample, seed):
    interval = bootstrap_interval(sample, seed=seed, resamples=200)
    assert isinstance(interval, Interval)
    slack = 1e-9 * max(map(abs, sample))
    assert min(sample) - slack <= interval.low <= interval.high <= max(sample) + slack
