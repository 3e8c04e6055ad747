import msgspec
import numpy as np
import pytest

from workbench.experiments import statistics as st
from workbench.experiments.comparison import Comparison, Measure, Sample, Settings, compare

TURNS = Measure("tool_calls", "tool_calls_per_turn", "count", None)
ERRORS = Measure("failed_calls", "tool_error_rate", "count", "lower")
FEW = Settings(resamples=400, permutations=999)
RANDOM = np.random.default_rng(7)
OLD, NEW = RANDOM.gamma(2.0, 1.0, (60, 2)), RANDOM.gamma(2.0, 1.0, (70, 2))
NEW[:, 1] *= 0.4


def compared(old, new, measures=(TURNS, ERRORS), **more):
    samples = [Sample("old", np.asarray(old, float)), Sample("new", np.asarray(new, float))]
    return compare(samples, measures, settings=FEW, **more)


def test_an_effect_has_what_the_statistics_say_of_its_column():
    effect = compared(OLD, NEW).effects[1]
    interval = st.difference_interval(OLD[:, 1], NEW[:, 1], seed=0, resamples=400)
    test = st.permutation_test(OLD[:, 1], NEW[:, 1], seed=0, permutations=999, studentised=True)
    assert (effect.metric, effect.column, effect.baseline, effect.arm) == (
        "failed_calls", "tool_error_rate", "old", "new",
    )  # fmt: skip
    assert (effect.n_baseline, effect.n_arm) == (60, 70)
    assert effect.difference == pytest.approx(NEW[:, 1].mean() - OLD[:, 1].mean())
    assert (effect.low, effect.high) == pytest.approx((interval.low[0], interval.high[0]), rel=1e-9)
    assert effect.p == test.p[0]
    assert effect.p_rank == pytest.approx(st.mann_whitney(OLD[:, 1], NEW[:, 1])[0])
    assert effect.median_arm == np.median(NEW[:, 1])
    found = st.welch(OLD[:, 1], NEW[:, 1])
    assert effect.minimum_detectable == pytest.approx(
        float(st.minimum_detectable_effect(found.standard_error, found.degrees)[0])
    )
    assert effect.sequential_low < effect.low < effect.high < effect.sequential_high


def test_p_values_are_adjusted_over_all_tests_and_decide():
    same, fewer = compared(OLD, NEW).effects
    assert (same.verdict, fewer.verdict) == ("not shown", "better")
    assert [same.p_adjusted, fewer.p_adjusted] == st.benjamini_hochberg([same.p, fewer.p]).tolist()


def test_the_verdict_follows_the_direction_that_is_better():
    assert compared(NEW, OLD).effects[1].verdict == "worse"
    neutral = compared(OLD, NEW, measures=(ERRORS, TURNS)).effects[1]
    assert neutral.verdict == "differs"


def test_each_metric_is_compared_over_the_units_that_know_it():
    old = OLD.copy()
    old[:15, 1] = np.nan
    effect = compared(old, NEW).effects[1]
    assert (effect.n_baseline, effect.n_arm) == (45, 70)
    assert effect.mean_baseline == pytest.approx(OLD[15:, 1].mean())
    alone = compared(old[15:], NEW).effects[1]
    assert (effect.low, effect.high, effect.p) == pytest.approx((alone.low, alone.high, alone.p), rel=1e-9)


def test_a_metric_that_nobody_knows_in_an_arm_is_dropped_and_named():
    new = NEW.copy()
    new[:, 0] = np.nan
    found = compared(OLD, new)
    assert [effect.metric for effect in found.effects] == ["failed_calls"]
    assert [(each.metric, each.why) for each in found.dropped] == [("tool_calls", "no session of new shows it")]


def test_a_constant_metric_is_dropped_and_named():
    found = compared(np.c_[OLD[:, 0], np.full(60, 2.5)], np.c_[NEW[:, 0], np.full(70, 2.5)])
    assert [(each.metric, each.why) for each in found.dropped] == [("failed_calls", "it is 2.5 in every session")]


def test_what_is_constant_in_each_arm_alone_is_tested_without_an_interval():
    found = compared(np.zeros((5, 1)), np.ones((6, 1)), measures=(TURNS,)).effects[0]
    assert (found.low, found.high, found.minimum_detectable) == (None, None, None)
    assert found.p == pytest.approx(1 / 462, abs=1e-9)
    assert "nothing varies within the arms: there is no interval" in found.notes


def test_an_arm_of_one_has_a_difference_and_says_what_it_has_not():
    found = compared(OLD[:, :1], NEW[:1, :1], measures=(TURNS,)).effects[0]
    assert (found.p, found.p_adjusted, found.p_rank) == (None, None, None)
    assert (found.n_arm, found.low, found.sequential_low, found.minimum_detectable) == (1, None, None, None)
    assert found.difference == pytest.approx(NEW[0, 0] - OLD[:, 0].mean())
    assert found.notes == ["a single unit in an arm: there is no interval and no test"]
    assert found.verdict == "not tested"


def test_one_unit_however_far_off_is_no_difference_between_arms():
    found = compared(OLD[:, :1], OLD[:1, :1] + 1e6, measures=(TURNS,)).effects[0]
    assert found.verdict == "not tested"


def test_a_small_arm_that_does_not_vary_makes_an_interval_that_is_too_narrow_and_this_is_told():
    told = "a small arm does not vary: the interval knows the spread of the other alone and is too narrow"
    none, some = np.zeros((3, 1)), NEW[:, :1]
    assert told in compared(none, some, measures=(TURNS,)).effects[0].notes
    assert told in compared(some, none, measures=(TURNS,)).effects[0].notes
    assert compared(np.zeros((60, 1)), some, measures=(TURNS,)).effects[0].notes == []
    assert told not in compared(np.zeros((9, 1)), NEW[:9, :1], measures=(TURNS,), design="pairs").effects[0].notes


def test_units_too_few_for_any_p_to_be_small_are_told():
    five, four = OLD[:5, :1], OLD[:4, :1]
    pairs = compared(five, five + 1 + four.mean(), measures=(TURNS,), design="pairs").effects[0]
    assert pairs.p == 2 / 32
    assert pairs.notes[0] == "so few units that no p can be below 0.062"
    assert compared(OLD[:3, :1], OLD[3:6, :1], measures=(TURNS,)).effects[0].notes[0] == (
        "so few units that no p can be below 0.1"
    )
    assert compared(OLD[:2, :1], OLD[2:7, :1], measures=(TURNS,)).effects[0].notes == ["fewer than 50 units in an arm"]


def test_small_arms_are_warned_about_and_large_ones_are_not():
    assert compared(OLD, NEW).notes == []
    (note,) = compared(OLD, NEW[:20]).notes
    assert note.startswith("new has 20 units: below 50")


def test_every_other_arm_stands_against_the_first():
    third = Sample("third", NEW + 10)
    found = compare([Sample("old", OLD), Sample("new", NEW), third], (TURNS, ERRORS), settings=FEW)
    assert [(each.arm, each.metric) for each in found.effects] == [
        ("new", "tool_calls"), ("new", "failed_calls"), ("third", "tool_calls"), ("third", "failed_calls"),
    ]  # fmt: skip
    assert {each.baseline for each in found.effects} == {"old"}


def test_the_ratio_is_checked_against_the_plan_only():
    assert compared(OLD, NEW).ratio == {
        "chi2": None, "p": None, "alarm": None, "note": "no planned ratio, check not made",
    }  # fmt: skip
    assert compared(OLD, NEW, planned={"old": 6, "new": 7}).ratio["p"] == 1.0
    assert compared(OLD, NEW, planned={"old": 9, "new": 1}).ratio["alarm"] is True
    with pytest.raises(ValueError, match="the plan is for the arms"):
        compared(OLD, NEW, planned={"old": 9})


def test_pairs_are_compared_pair_by_pair():
    base = np.linspace(0, 100, 30)[:, None]
    better = base - 1 + RANDOM.normal(0, 0.3, (30, 1))
    found = compared(base, better, measures=(ERRORS,), design="pairs").effects[0]
    assert found.verdict == "better"
    assert -1.3 < found.low < found.high < -0.7
    assert compared(base, better, measures=(ERRORS,)).effects[0].verdict == "not shown"


def test_a_pair_that_lacks_one_side_is_no_pair():
    one, two = np.array([[1.0], [2.0], [np.nan], [4.0]]), np.array([[2.0], [np.nan], [3.0], [6.0]])
    found = compared(one, two, measures=(TURNS,), design="pairs").effects[0]
    assert (found.n_baseline, found.n_arm, found.difference) == (2, 2, 1.5)
    none = compared(one[1:3], two[1:3], measures=(TURNS,), design="pairs")
    assert [each.why for each in none.dropped] == ["no pair has it in both"]


def before(values, noise):
    return values + RANDOM.normal(0, noise, values.shape)


def test_cuped_takes_out_what_the_pre_period_tells():
    old, new = Sample("old", OLD, before(OLD, 0.3)), Sample("new", NEW, before(NEW, 0.3))
    effect = compare([old, new], (TURNS, ERRORS), settings=FEW).effects[0]
    adjusted = st.cuped(OLD[:, 0], NEW[:, 0], old.before[:, 0], new.before[:, 0])
    assert effect.cuped.difference == pytest.approx(adjusted.second.mean() - adjusted.first.mean())
    assert effect.cuped.high - effect.cuped.low < 0.6 * (effect.high - effect.low)
    assert (effect.cuped.variance_reduction, effect.cuped.covered) == (pytest.approx(adjusted.reduction), 1.0)


def test_a_pre_period_that_half_of_the_units_do_not_have_is_not_used():
    unknown = before(OLD, 0.3)
    unknown[:45] = np.nan
    old, new = Sample("old", OLD, unknown), Sample("new", NEW, np.full_like(NEW, np.nan))
    assert compare([old, new], (TURNS, ERRORS), settings=FEW).effects[0].cuped is None


def test_units_without_a_pre_period_count_as_its_mean():
    some = before(OLD, 0.3)
    some[:10] = np.nan
    old, new = Sample("old", OLD, some), Sample("new", NEW, before(NEW, 0.3))
    assert compare([old, new], (TURNS, ERRORS), settings=FEW).effects[0].cuped.covered == pytest.approx(120 / 130)


def test_the_same_seed_gives_the_same_comparison_and_it_survives_json():
    found = compared(OLD, NEW)
    assert found == compared(OLD, NEW)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found
