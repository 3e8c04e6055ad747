"""Field cases of statistics: the plan is what is tested against, p is never 0, and a test not made is no test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.experiments.statistics import benjamini_hochberg, permutation_test, sample_ratio_check

PROSE = {"reason", "judgement", "verified", "note", "say", "wrong_if"}
CLOSE = 1e-6


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Tell by what a case's files hold which statistic it is about."""
    del home
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    for path in sorted(folder.rglob("*.json")):
        given = json.loads(path.read_text(encoding="utf-8"))
        if "observed" in given:
            check_ratio(given, expected.pop(path.name))
        elif "metrics" in given:
            check_correction(given, expected)
            expected = {}
        else:
            check_permutation(given, expected)
            expected = {}
    assert expected == {}, f"not looked at: {sorted(expected)}"


def check_ratio(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Units per arm against the plan, and against nothing where there is none."""
    found = sample_ratio_check(given["observed"], given["planned"])
    assert found.alarm is expected["alarm"]
    for name in expected.keys() & {"chi2", "p"}:
        assert getattr(found, name) == pytest.approx(expected[name], abs=CLOSE)
    if expected["alarm"] is None:
        assert found.p is None
        assert found.note == expected["say"]


def check_correction(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Adjusted p values by metric; a test that was not made is none."""
    values = np.array([np.nan if p is None else p for p in given["p"]])
    found = benjamini_hochberg(values)
    adjusted = {name: None if np.isnan(p) else p for name, p in zip(given["metrics"], found, strict=True)}
    assert adjusted == {
        name: None if p is None else pytest.approx(p, abs=CLOSE) for name, p in expected["adjusted"].items()
    }
    assert int((~np.isnan(values)).sum()) == expected["m"]


def check_permutation(given: dict[str, list[float]], expected: dict[str, Any]) -> None:
    """All splits, then some; by the plain difference and, where it is the same question, by t."""
    first, second = given.values()
    exact = permutation_test(first, second, seed=0, exact=True)
    assert exact.is_exact
    assert exact.p[0] == pytest.approx(expected["exact_p_two_sided"], abs=CLOSE)
    assert exact.difference[0] == pytest.approx(expected["difference"], abs=CLOSE)
    for name in [key for key in expected if key.startswith("monte_carlo_")]:
        count = int(name.removeprefix("monte_carlo_"))
        for studentised in (False, True):
            found = permutation_test(first, second, seed=1, permutations=count, exact=False, studentised=studentised)
            assert found.permutations == count
            assert found.p[0] >= expected[name]["p_at_least"] - 1e-12
            assert (found.p[0] * (count + 1)) == pytest.approx(round(found.p[0] * (count + 1)), abs=1e-9)
