"""The cost of a comparison: 20 metrics over 10,000 sessions, all statistics.

    python tests/benchmarks/bench_comparison.py

Bar (design 13): under 5 s. The baseline beside it is one metric at a time with scipy, bootstrap and permutation test
with as many draws, measured on one metric and multiplied.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats

from workbench.experiments.comparison import Measure, Sample, Settings, compare

SESSIONS, METRICS, RUNS = 10_000, 20, 3
BAR_SECONDS = 5.0
FEW = 30
"""Draws of the baseline, which takes minutes with all of them; its time grows with their number."""


def say(line):
    sys.stdout.write(line + "\n")


def samples(missing):
    """Two arms of skewed rates; some metrics are not known of every session."""
    random = np.random.default_rng(0)
    made = [random.gamma(0.8, 1.0, (SESSIONS // 2, METRICS)) for _ in range(2)]
    for place in range(missing):
        for values in made:
            values[random.random(len(values)) < 0.2, place] = np.nan
    return [Sample(name, values) for name, values in zip(("old", "new"), made, strict=True)]


def seconds_of(chosen):
    measures = [Measure(f"m{place}", f"m{place}", "count", "lower") for place in range(METRICS)]
    took = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        found = compare(chosen, measures)
        took.append(time.perf_counter() - begun)
        assert len(found.effects) == METRICS
    return sorted(took)[RUNS // 2]


def scipys_seconds(chosen):
    one, other = (sample.values[:, -1] for sample in chosen)

    def gap(first, second, axis=-1):
        return np.mean(second, axis=axis) - np.mean(first, axis=axis)

    begun = time.perf_counter()
    stats.bootstrap((one, other), gap, n_resamples=FEW, method="percentile", rng=np.random.default_rng(0))
    middle = time.perf_counter()
    stats.permutation_test((one, other), gap, n_resamples=FEW, rng=np.random.default_rng(0))
    ended = time.perf_counter()
    settings = Settings()
    a_metric = (middle - begun) * settings.resamples / FEW + (ended - middle) * settings.permutations / FEW
    return METRICS * a_metric


def main():
    stats.norm.cdf(0.0)
    whole = samples(0)
    ours, theirs = seconds_of(whole), scipys_seconds(whole)
    say(f"{METRICS} metrics over {SESSIONS:,} sessions: {ours:.2f} s (bar {BAR_SECONDS:g} s)")
    say(f"scipy, a metric at a time (extrapolated from {FEW} draws): {theirs:.0f} s, {theirs / ours:.0f} times as long")
    gaps = seconds_of(samples(3))
    say(f"three of them not known of every session: {gaps:.2f} s, {gaps / ours:.1f} times as long")
    say("bar met" if ours < BAR_SECONDS else "BAR MISSED")
    return 0 if ours < BAR_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
