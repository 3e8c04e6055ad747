import numpy as np
import pyarrow as pa
import pytest
import tea_tasting
from scipy import stats

from workbench.experiments.statistics import paired_t, welch

FIRST = np.random.default_rng(1).gamma(1.0, 1.0, 60)
SECOND = np.random.default_rng(2).gamma(1.0, 1.3, 45)


def test_welch_is_scipys():
    ours, theirs = welch(FIRST, SECOND), stats.ttest_ind(SECOND, FIRST, equal_var=False)
    assert ours.estimate[0] / ours.standard_error[0] == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.degrees[0] == pytest.approx(theirs.df, abs=1e-9)


def test_welch_is_tea_tastings():
    data = pa.table({"variant": [0] * 60 + [1] * 45, "y": np.r_[FIRST, SECOND]})
    theirs = tea_tasting.Experiment(y=tea_tasting.Mean("y")).analyze(data, control=0)["y"]
    ours = welch(FIRST, SECOND)
    reach = stats.t.ppf(0.975, ours.degrees[0]) * ours.standard_error[0]
    assert ours.estimate[0] == pytest.approx(theirs.effect_size, abs=1e-9)
    assert ours.estimate[0] - reach == pytest.approx(theirs.effect_size_ci_lower, abs=1e-6)


def test_the_cautious_error_is_the_larger_of_welchs_and_the_pooled_one():
    pooled = stats.ttest_ind(SECOND, FIRST, equal_var=True)
    ours = welch(FIRST, SECOND)
    assert ours.cautious_error[0] == pytest.approx(
        max(ours.standard_error[0], ours.estimate[0] / pooled.statistic), abs=1e-9
    )


def test_a_small_arm_in_which_nothing_happens_to_vary_does_not_look_certain():
    many, few = np.r_[np.zeros(90), np.ones(10)], np.zeros(10)
    found = welch(many, few)
    assert found.cautious_error[0] > 2.5 * found.standard_error[0]


def test_pairs_are_scipys():
    ours, theirs = paired_t(FIRST[:45], SECOND), stats.ttest_rel(SECOND, FIRST[:45])
    assert ours.estimate[0] / ours.standard_error[0] == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.degrees[0] == 44


def test_metrics_side_by_side_are_each_metric_alone():
    both = welch(np.c_[FIRST, FIRST**2], np.c_[SECOND, SECOND**2])
    assert both.estimate[1] == welch(FIRST**2, SECOND**2).estimate[0]


def test_an_arm_of_one_has_a_difference_and_no_error():
    found = welch([1.0, 2.0, 3.0], [5.0])
    assert (found.estimate[0], np.isnan(found.standard_error[0])) == (3.0, True)


def test_a_constant_column_has_an_error_of_exactly_0():
    assert welch([0.1] * 7, [0.3] * 5).standard_error[0] == 0.0


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([1.0, np.nan], [1.0], "finite"),
        ([[1.0, 2.0]], [1.0], "2 and 1 metrics"),
    ],
)
def test_what_is_no_sample_is_refused(first, second, said):
    with pytest.raises(ValueError, match=said):
        welch(first, second)


def test_pairs_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="two values each"):
        paired_t([1.0, 2.0], [1.0])
