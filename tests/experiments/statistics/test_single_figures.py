"""Ranks, correction, ratio, power and CUPED, against the libraries that define the same."""

import numpy as np
import pyarrow as pa
import pytest
import tea_tasting
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower, TTestPower

from workbench.experiments.statistics import (
    benjamini_hochberg,
    cuped,
    mann_whitney,
    minimum_detectable_effect,
    sample_ratio_check,
    welch,
    wilcoxon,
)

FIRST = np.random.default_rng(1).poisson(2.0, 60).astype(float)
SECOND = np.random.default_rng(2).poisson(2.6, 45).astype(float)


def test_mann_whitney_is_scipys_and_tea_tastings():
    ours = mann_whitney(FIRST, SECOND)[0]
    data = pa.table({"variant": [0] * 60 + [1] * 45, "y": np.r_[FIRST, SECOND]})
    theirs = tea_tasting.Experiment(y=tea_tasting.MannWhitneyU("y")).analyze(data, control=0)["y"]
    assert ours == pytest.approx(stats.mannwhitneyu(SECOND, FIRST).pvalue, abs=1e-12)
    assert ours == pytest.approx(theirs.pvalue, abs=1e-6)


def test_wilcoxon_is_scipys_without_pairs_that_do_not_differ():
    first, second = FIRST[:45], SECOND
    kept = first != second
    assert wilcoxon(first, second)[0] == pytest.approx(stats.wilcoxon(second[kept] - first[kept]).pvalue, abs=1e-12)


def test_ranks_of_what_is_the_same_have_p_1_and_of_nothing_none():
    assert mann_whitney([3.0] * 4, [3.0] * 5)[0] == 1.0
    assert wilcoxon([3.0] * 4, [3.0] * 4)[0] == 1.0
    assert np.isnan(mann_whitney([], [1.0])[0])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sets(st.integers(0, 29)))
def test_adjusted_p_values_are_statsmodels_over_the_tests_that_were_made(p, missing):
    given_ = np.array([np.nan if place in missing else value for place, value in enumerate(p)])
    made = ~np.isnan(given_)
    ours = benjamini_hochberg(given_)
    assert np.isnan(ours[~made]).all()
    if made.any():
        assert ours[made] == pytest.approx(multipletests(given_[made], method="fdr_bh")[1], abs=1e-12)


def test_a_p_value_above_1_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([0.5, 1.5])


def test_the_ratio_check_is_scipys_chi_square():
    found = sample_ratio_check({"a": 520, "b": 241, "c": 239}, {"a": 2, "b": 1, "c": 1})
    theirs = stats.chisquare([520, 241, 239], [500, 250, 250])
    assert (found.chi2, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-12)
    assert found.alarm is False


def test_units_that_do_not_fit_the_plan_raise_the_alarm():
    found = sample_ratio_check({"a": 600, "b": 400}, {"a": 0.5, "b": 0.5})
    assert found.alarm is True
    assert "do not fit" in found.note


@pytest.mark.parametrize(
    ("observed", "planned", "said"),
    [
        ({"a": 5, "b": 1}, None, "no planned ratio"),
        ({"a": 0, "b": 0}, {"a": 1, "b": 1}, "nothing to compare"),
        ({"a": 9}, {"a": 1}, "nothing to compare"),
    ],
)
def test_a_check_that_cannot_be_made_is_not_made(observed, planned, said):
    found = sample_ratio_check(observed, planned)
    assert (found.chi2, found.p, found.alarm) == (None, None, None)
    assert said in found.note


def test_few_expected_units_are_told():
    assert "only 2.0 units" in sample_ratio_check({"a": 38, "b": 2}, {"a": 0.95, "b": 0.05}).note


@pytest.mark.parametrize("planned", [{"a": 1}, {"a": 1, "b": 0}, {"a": 1, "b": -1}])
def test_a_plan_for_other_arms_or_without_a_share_is_refused(planned):
    with pytest.raises(ValueError, match="plan"):
        sample_ratio_check({"a": 1, "b": 1}, planned)


def test_the_detectable_effect_has_the_power_that_statsmodels_computes():
    sizes, spread = (60, 45), 1.7
    error = spread * np.sqrt(1 / sizes[0] + 1 / sizes[1])
    found = float(minimum_detectable_effect(error, sum(sizes) - 2))
    power = TTestIndPower().power(found / spread, sizes[0], 0.05, sizes[1] / sizes[0])
    assert power == pytest.approx(0.8, abs=1e-6)


def test_the_detectable_effect_of_pairs_too():
    found = float(minimum_detectable_effect(2.0 / np.sqrt(30), 29, alpha=0.01, power=0.9))
    assert TTestPower().power(found / 2.0, 30, 0.01) == pytest.approx(0.9, abs=1e-6)


def test_without_an_error_nothing_is_known_of_what_could_be_found():
    assert np.isnan(minimum_detectable_effect([0.0, np.nan], [5.0, 5.0])).all()
    with pytest.raises(ValueError, match="no effect"):
        minimum_detectable_effect(1.0, 5.0, alpha=0.9, power=0.8)


def test_cuped_is_tea_tastings():
    random = np.random.default_rng(4)
    before = [each + random.normal(0, 0.7, len(each)) for each in (FIRST, SECOND)]
    data = pa.table(
        {"variant": [0] * 60 + [1] * 45, "y": np.r_[FIRST, SECOND], "x": np.concatenate(before)},
    )
    theirs = tea_tasting.Experiment(y=tea_tasting.Mean("y", covariate="x")).analyze(data, control=0)["y"]
    ours = cuped(FIRST, SECOND, *before)
    found = welch(ours.first, ours.second)
    assert found.estimate[0] == pytest.approx(theirs.effect_size, abs=1e-6)
    assert found.estimate[0] / found.standard_error[0] == pytest.approx(theirs.statistic, abs=1e-6)
    assert ours.reduction == pytest.approx(np.corrcoef(np.r_[FIRST, SECOND], np.concatenate(before))[0, 1] ** 2)


def test_a_covariate_that_is_the_same_everywhere_changes_nothing():
    found = cuped([1.0, 2.0], [3.0, 4.0], [7.0, 7.0], [7.0, 7.0])
    assert (found.theta, found.first.tolist(), found.second.tolist()) == (0.0, [1.0, 2.0], [3.0, 4.0])


def test_a_unit_without_a_covariate_is_refused():
    with pytest.raises(ValueError, match="one of the covariate"):
        cuped([1.0, 2.0], [3.0], [1.0], [1.0])
    with pytest.raises(ValueError, match="finite"):
        cuped([1.0, 2.0], [3.0], [1.0, np.nan], [1.0])
