"""The interval of a share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from workbench.experiments.statistics.proportion import wilson


@pytest.mark.parametrize(
    ("hits", "trials", "interval"),
    [(0, 0, (0.0, 1.0)), (0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (81, 263, (0.2553, 0.3662))],
)
def test_intervals_are_those_of_the_literature(hits, trials, interval):
    assert wilson(hits, trials) == pytest.approx(interval, abs=1e-4)


@given(st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_it_agrees_with_statsmodels(drawn):
    assert wilson(*drawn) == pytest.approx(proportion_confint(*drawn, method="wilson"), abs=1e-9)
