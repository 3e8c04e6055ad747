"""How many sets of weights a study judges a second.

    python tests/benchmarks/bench_study.py

Bar (design 13): 200 evaluations a second on 100 sessions, bulk trials, step level, at most 10 moments a session.
Sessions are made: pools of 40 to 240 units as long as those of real sessions (median 69), cards of 178 tokens in the
median. The baseline beside it is the plain loop: each moment scored, ranked and walked by itself, by the function of a
live prompt.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import numpy as np

from workbench.config.context import Scoring
from workbench.context.scoring import select_within
from workbench.experiments.frames import FEATURES, SessionFrame
from workbench.experiments.labels.rules import RULES
from workbench.experiments.study.scoring import PREFIX, LiftObjective, Weigher, scoring_space
from workbench.experiments.study.steps import collect_steps

SESSIONS, MOMENTS, BUDGET, TRIALS, ROUNDS = 100, 10, 3_000, 512, 3


def say(line):
    sys.stdout.write(line + "\n")


def made_session(random):
    counts = np.clip(random.lognormal(np.log(69), 0.5, MOMENTS), 40, 240).astype(int)
    pairs, units = int(counts.sum()), int(counts.max())
    features = random.random((pairs, len(FEATURES)), dtype=np.float32)
    for name in ("pinned", "hydrate", "seed_hydrate"):
        features[:, FEATURES.index(name)] = 0
    features[:, FEATURES.index("semantic")] = np.nan
    starts = np.concatenate([[0], np.cumsum(counts)])
    labels = np.zeros(pairs, dtype=np.uint16)
    labels[starts[:-1] + random.integers(0, 40, MOMENTS)] = 1 << RULES.index("b_ref")
    return SessionFrame(
        turns=np.arange(1, MOMENTS + 1, dtype=np.int32),
        steps=np.ones(MOMENTS, dtype=np.int32),
        starts=starts.astype(np.int64),
        units=np.concatenate([np.arange(count, dtype=np.int32) for count in counts]),
        features=features,
        labels=labels,
        unit_tokens=np.clip(random.lognormal(np.log(178), 0.6, units), 76, 900).astype(np.int32),
        unit_classes=np.zeros(units, dtype=np.int32),
    )


def plain_lift(steps, weights):
    """The same figure by a loop over moments."""
    lifts = []
    for block in steps.blocks:
        for row in range(len(block.moments)):
            count = int(block.counts[row])
            # oldest first, as a live prompt has them
            features = block.flat.reshape(len(FEATURES), *block.tokens.shape)[:, row, :count][:, ::-1]
            scores = (weights @ features).astype(np.float64)
            tokens, needed = block.tokens[row, :count][::-1].astype(np.int64), block.grades[row, :count][::-1] > 1
            took = select_within(BUDGET, tokens, np.zeros(count, dtype=bool), scores, np.arange(count))
            lifts.append(needed[took].sum() / needed.sum() - len(took) / count)
    return float(np.mean(lifts))


def timed(action):
    """What it gives, wall time, and processor time, which hangs less on what else the machine does."""
    started, worked = time.perf_counter(), time.process_time()
    found = action()
    return found, time.perf_counter() - started, time.process_time() - worked


def main():
    random = np.random.default_rng(0)
    frames = {f"s{number:03}": made_session(random) for number in range(SESSIONS)}
    steps = collect_steps(frames, need="b_ref", budget=BUDGET, most_per_session=MOMENTS)
    space = scoring_space(Scoring(), semantic=False, extras=True)
    names = [name.removeprefix(PREFIX) for name in space.names]
    pairs = sum(int(block.counts.sum()) for block in steps.blocks)
    say(f"{len(steps.session_ids)} sessions, {len(steps.sessions)} moments, {pairs:,} pairs, {TRIALS} trials")
    rates, worked_rates = [], []
    for round_number in range(ROUNDS):
        points = space.quasi_random(TRIALS, seed=round_number)
        objective = LiftObjective(steps, steps, Weigher(names, Scoring()))
        values, seconds, worked = timed(lambda objective=objective, points=points: objective.search_values(points))
        rates.append(TRIALS / seconds)
        worked_rates.append(TRIALS / worked)
    plain, loop_seconds = [], 0.0
    terms = {"w_recency": "recency", "w_relevance": "relevance", "w_unit_order": "order", "w_last_step": "last_step"}
    for point in points[:8]:
        weights = np.zeros(len(FEATURES), dtype=np.float32)
        for name, value in zip(names, point, strict=True):
            weights[FEATURES.index(terms[name])] = value
        lift, seconds, _ = timed(lambda weights=weights: plain_lift(steps, weights))
        plain.append(lift)
        loop_seconds += seconds
    rate, loop_rate = statistics.median(rates), len(plain) / loop_seconds
    worst = max(abs(one - other) for one, other in zip(plain, values.mean(axis=1), strict=False))
    say(f"bulk trials: {rate:,.0f} evaluations a second, median of {ROUNDS} (bar 200); plain loop {loop_rate:,.1f}")
    say(f"{statistics.median(worked_rates):,.0f} a second of processor time")
    say(f"ratio {rate / loop_rate:,.0f}; the largest difference of a lift between both ways is {worst:.1e}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        raise SystemExit(f"{Path(sys.argv[0]).name} takes no arguments")
    main()
