import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.experiments.statistics import difference_interval, paired_interval

FIRST = np.random.default_rng(1).gamma(1.0, 1.0, 60)
SECOND = np.random.default_rng(2).gamma(1.0, 1.3, 45)


def plain_interval(first, second, draws, resamples):
    """Symmetric bootstrap-t of one metric, as a textbook writes it."""
    random = np.random.default_rng(draws)
    one = [first[random.integers(0, len(first), len(first))] for _ in range(resamples)]
    other = [second[random.integers(0, len(second), len(second))] for _ in range(resamples)]
    gap = second.mean() - first.mean()
    error = np.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    t = [
        abs(b.mean() - a.mean() - gap) / np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
        for a, b in zip(one, other, strict=True)
    ]
    reach = np.quantile(t, 0.95, method="inverted_cdf") * error
    return gap, gap - reach, gap + reach


def test_the_interval_is_the_textbooks_up_to_the_draws():
    ours = difference_interval(FIRST, SECOND, seed=1, resamples=6000)
    gap, low, high = plain_interval(FIRST, SECOND, 3, 6000)
    assert ours.estimate[0] == pytest.approx(gap)
    assert (ours.low[0], ours.high[0]) == pytest.approx((low, high), abs=0.04)


def test_metrics_side_by_side_are_each_metric_alone():
    both = difference_interval(np.c_[FIRST, 1e6 * FIRST], np.c_[SECOND, 1e6 * SECOND], seed=4, resamples=500)
    alone = difference_interval(FIRST, SECOND, seed=4, resamples=500)
    assert both.low[0] == pytest.approx(alone.low[0], rel=1e-9)
    assert both.low[1] == pytest.approx(1e6 * alone.low[0], rel=1e-9)


def test_metrics_in_several_parts_are_those_made_at_once(monkeypatch):
    first, second = np.c_[FIRST, FIRST**2, FIRST**3], np.c_[SECOND, SECOND**2, SECOND**3]
    whole = difference_interval(first, second, seed=9, resamples=300)
    monkeypatch.setattr("workbench.experiments.statistics.studentised.FIGURES_AT_ONCE", 300)
    parts = difference_interval(first, second, seed=9, resamples=300)
    assert parts.high == pytest.approx(whole.high, rel=1e-12)


def test_pairs_tell_more_than_arms_where_units_differ_among_themselves():
    base = np.linspace(0, 100, 50)
    better = base + 1 + np.random.default_rng(0).normal(0, 0.5, 50)
    assert paired_interval(base, better, seed=0, resamples=500).low[0] > 0
    assert difference_interval(base, better, seed=0, resamples=500).low[0] < 0


def test_there_is_no_interval_of_one_unit_or_of_what_does_not_vary():
    for first, second in (([1.0, 2.0, 3.0], [5.0]), ([1.0] * 9, [2.0] * 9), ([], [1.0, 2.0])):
        found = difference_interval(first, second, seed=0, resamples=50)
        assert np.isnan(found.low[0])
        assert np.isnan(found.high[0])


def test_a_single_event_among_many_zeros_has_no_end():
    found = difference_interval(np.zeros(10), np.r_[np.zeros(9), 1.0], seed=0, resamples=500)
    assert (found.low[0], found.high[0]) == (-np.inf, np.inf)


def test_no_resamples_are_refused():
    with pytest.raises(ValueError, match="no interval"):
        difference_interval(FIRST, SECOND, seed=0, resamples=0)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(2, 30), st.integers(0, 1000))
def test_the_interval_holds_its_own_estimate_in_its_middle(first, second, seed):
    random = np.random.default_rng(seed)
    found = difference_interval(random.normal(size=first), random.normal(size=second), seed=seed, resamples=99)
    above, below = found.high[0] - found.estimate[0], found.estimate[0] - found.low[0]
    assert above == pytest.approx(below, rel=1e-9)
    assert above > 0
