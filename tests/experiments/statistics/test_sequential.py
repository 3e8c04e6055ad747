import numpy as np
import pytest

from workbench.experiments.statistics import paired_t, sequential_interval, welch
from workbench.experiments.statistics.means import Difference
from workbench.experiments.statistics.sequential import HORIZON, mixture_width


def waudby_smith(estimate, error, size, confidence=0.95):
    """Theorem 2.2 of Waudby-Smith et al. 2024, rho as the module tunes it."""
    rho = 1.0 / mixture_width()
    scale = size * rho + 1.0
    reach = error * np.sqrt(size) * np.sqrt(2 * scale / (size**2 * rho) * np.log(np.sqrt(scale) / (1 - confidence)))
    return estimate - reach, estimate + reach


def test_with_many_units_it_is_the_asymptotic_confidence_sequence():
    error, size = np.array([0.02]), 40_000.0
    found = sequential_interval(Difference(np.array([0.1]), error, np.array([1e9]), error, size))
    assert (found.low[0], found.high[0]) == pytest.approx(waudby_smith(0.1, 0.02, size), abs=1e-7)


def test_it_is_wider_than_the_interval_of_one_look():
    random = np.random.default_rng(0)
    found = sequential_interval(welch(random.normal(size=100), random.normal(size=100)))
    assert (found.high[0] - found.low[0]) / 2 > 2.5 * np.sqrt(2 / 100)


def test_it_is_narrowest_against_one_look_at_the_horizon():
    def factor(size):
        unit = np.array([1.0])
        return sequential_interval(Difference(unit, unit, np.array([1e9]), unit, size)).high[0] - 1.0

    sizes = np.geomspace(HORIZON / 50, HORIZON * 50, 201)
    assert sizes[np.argmin([factor(size) for size in sizes])] == pytest.approx(HORIZON, rel=0.1)


def test_too_few_units_say_nothing_yet():
    found = sequential_interval(welch([1.0, 2.0], [3.0, 5.0]))
    assert (found.low[0], found.high[0]) == (-np.inf, np.inf)


def test_what_does_not_vary_has_no_interval():
    assert np.isnan(sequential_interval(paired_t([1.0] * 5, [2.0] * 5)).low[0])


@pytest.mark.parametrize(("confidence", "horizon"), [(1.0, 50.0), (0.95, 0.0)])
def test_what_makes_no_sense_is_refused(confidence, horizon):
    with pytest.raises(ValueError, match="no sequence"):
        sequential_interval(welch([1.0, 2.0], [3.0, 5.0]), confidence=confidence, horizon=horizon)
