"""Space, folds, search, choice and null, apart from weights and prompts."""

import numpy as np
import pytest

from workbench.experiments.study.folds import connected, developer_of, known_groups, named_folds, shuffled_folds
from workbench.experiments.study.nested import nested
from workbench.experiments.study.null import NullRules, judge_null, null_gains
from workbench.experiments.study.search import cautious_choice, search
from workbench.experiments.study.space import Parameter, Space

THRESHOLD = Space("hydration", [Parameter("context_engine.relevance.hydrate_threshold", 0.15, 0.0, 1.0)])
WEIGHTS = Space(
    "weights",
    [Parameter(name, default, 0.01, 1.0, log=True, can_be_off=True) for name, default in (("a", 0.5), ("b", 0.3))],
    by_ratio=True,
)


class Peak:
    """Any other use of the frame takes as little: groups that like one place of the range best."""

    def __init__(self, groups=20, at=0.6, noise=0.0, seed=0):
        self.groups = [f"g{number}" for number in range(groups)]
        self._at = at
        self._noise = np.random.default_rng(seed).normal(0, noise, groups)
        self.asked = 0

    def search_values(self, points):
        self.asked += len(points)
        return -np.abs(points[:, :1] - self._at) + self._noise

    report_values = search_values

    def permuted(self, seed):
        return Peak(len(self.groups), self._at, 1.0, seed)


def test_points_begin_with_the_default_and_are_spread_evenly():
    points = THRESHOLD.quasi_random(65, seed=1)
    assert points.shape == (65, 1)
    assert points[0] == [0.15]
    assert np.histogram(points[1:], bins=8, range=(0, 1))[0].tolist() == [8] * 8
    assert np.array_equal(points, THRESHOLD.quasi_random(65, seed=1))


def test_of_weights_only_the_ratio_counts():
    points = WEIGHTS.quasi_random(40, seed=1)
    assert points.sum(axis=1) == pytest.approx(0.8)
    assert (points[1:] == 0).any()
    assert WEIGHTS.distance(np.array([[0.5, 0.3], [0.8, 0.0]])).tolist() == pytest.approx([0, 0.3 * 2**0.5 / 0.8])


def test_a_place_in_a_range_gives_its_value_back():
    for parameter in (*THRESHOLD.parameters, *WEIGHTS.parameters):
        for value in (0.02, 0.15, 0.9):
            assert parameter.at(np.array([parameter.share(value)]))[0] == pytest.approx(value)
    assert WEIGHTS.parameters[0].at(np.array([WEIGHTS.parameters[0].share(0.0)]))[0] == 0.0


def test_among_equals_the_point_nearest_to_the_default_is_chosen():
    random = np.random.default_rng(1)
    noise = random.normal(0, 0.1, 50)
    values = np.stack([noise, noise + random.normal(0.0, 0.2, 50), noise + 0.5])
    assert cautious_choice(values[:2] + np.array([[0.0], [0.01]]), np.array([0.0, 1.0])) == 0
    assert cautious_choice(values, np.array([0.0, 1.0, 9.0])) == 2


def test_a_search_finds_the_peak_by_points_and_then_by_learning():
    objective = Peak()
    points = THRESHOLD.quasi_random(9, seed=1)
    everyone = np.ones(20, dtype=bool)
    told = {"points": points, "values": objective.search_values(points), "within": everyone, "seed": 0}
    bulk, learnt = (search(THRESHOLD, objective, **told, learning_trials=trials) for trials in (0, 12))
    assert abs(learnt.chosen[0] - 0.6) <= abs(bulk.chosen[0] - 0.6) < 0.1
    assert len(learnt.learnt) == 12


def test_no_part_is_judged_by_a_point_that_was_found_with_it():
    seen = []

    class Watched(Peak):
        def report_values(self, points):
            seen.append(points[0, 0])
            return super().report_values(points)

    folds = np.arange(20) % 4
    held = nested(THRESHOLD, Watched(), THRESHOLD.quasi_random(9, seed=1), folds, learning_trials=0, seed=0)
    assert len(seen) == len(held.found) == 4
    assert np.isfinite(held.values).all()


def test_a_choice_of_an_earlier_run_is_not_searched_again():
    points, folds, found = THRESHOLD.quasi_random(9, seed=1), np.arange(20) % 4, {}
    first = nested(
        THRESHOLD,
        Peak(),
        points,
        folds,
        learning_trials=5,
        seed=0,
        found=lambda part, each: found.update({part: each.chosen}),
    )
    objective = Peak()
    again = nested(THRESHOLD, objective, points, folds, learning_trials=5, seed=0, known=found.get)
    assert np.array_equal(first.values, again.values)
    assert objective.asked == 9 + 4 * 2


def test_groups_stay_together_in_folds():
    folds = shuffled_folds(["a", "b", "a", "c", "d", "b"], 3, seed=1)
    assert folds[0] == folds[2]
    assert folds[1] == folds[5]
    assert sorted(set(folds.tolist())) == [0, 1, 2]
    assert set(shuffled_folds(["a", "b"], 5, seed=1).tolist()) == {0, 1}


def test_small_groups_are_one_part():
    folds, names = named_folds(["x"] * 3 + ["y", "z"], smallest=3)
    assert (folds.tolist(), names) == ([0, 0, 0, 1, 1], ["x", "others"])


def test_sessions_that_share_records_are_one_group():
    assert connected("abcd", [("b", "a"), ("c", "b"), ("d", "gone")]) == {"a": "a", "b": "a", "c": "a", "d": "d"}


@pytest.mark.parametrize(
    ("cwd", "who"),
    [
        ("/Users/ann/Work/x", "ann"), ("/home/bob", "bob"), ("C:\\Users\\cy\\x", "cy"), ("/srv/x", None), (None, None),
    ],
)  # fmt: skip
def test_the_developer_is_the_owner_of_the_home_folder(cwd, who):
    assert developer_of(cwd) == who


def test_whoever_is_not_known_is_a_group_of_its_own():
    assert known_groups(["s", "t"], {"s": "ann", "t": None}) == ["ann", "unknown t"]


def gains_of(values):
    return lambda number: values[number % len(values)]


def test_permutations_go_on_until_their_mean_is_known():
    wide = null_gains(gains_of([-0.02, 0.02]), NullRules(4, 100, 0.004, 0.01))
    assert 24 <= len(wide.gains) <= 28
    assert (wide.is_precise, wide.holds) == (True, True)
    narrow = null_gains(gains_of([-0.001, 0.001]), NullRules(20, 100, 0.004, 0.01))
    assert len(narrow.gains) == 20


def test_a_null_that_is_not_near_zero_or_not_known_does_not_hold():
    rules = NullRules(4, 10, 0.004, 0.01)
    assert judge_null([0.04, 0.041, 0.039, 0.04], rules).holds is False
    vague = null_gains(gains_of([-0.3, 0.3]), rules)
    assert (len(vague.gains), vague.is_precise, vague.holds) == (10, False, False)
    assert judge_null([0.0], NullRules(1, 1, 0.004, 0.01)).holds is False
