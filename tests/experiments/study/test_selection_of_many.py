"""The walk over many moments and policies at once takes what the walk over one prompt takes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_frames import NEED, made_frames

from workbench.context.scoring import select_within
from workbench.errors import BadInputError
from workbench.experiments.frames import FEATURES, SessionFrame
from workbench.experiments.study import baselines
from workbench.experiments.study.measures import measure
from workbench.experiments.study.policies import places_of, ranked, taken
from workbench.experiments.study.steps import collect_steps

POOLS = st.lists(
    st.lists(
        st.tuples(
            st.floats(-5, 5, width=32).map(lambda value: round(value, 1)),
            st.one_of(st.integers(0, 900), st.just(70_000)),
        ),
        min_size=1,
        max_size=40,
    ),
    min_size=1,
    max_size=5,
)


def frame_of(pools):
    """A session with a moment for each pool; the score stands in the feature `recency`, oldest unit first."""
    scores = np.array([score for pool in pools for score, _ in pool], dtype=np.float32)
    sizes = np.array([tokens for pool in pools for _, tokens in pool], dtype=np.int32)
    features = np.zeros((len(scores), len(FEATURES)), dtype=np.float32)
    features[:, FEATURES.index("recency")] = scores
    counts = [len(pool) for pool in pools]
    return SessionFrame(
        turns=np.arange(1, len(pools) + 1, dtype=np.int32),
        steps=np.ones(len(pools), dtype=np.int32),
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        units=np.arange(len(scores), dtype=np.int32),
        features=features,
        labels=np.full(len(scores), NEED, dtype=np.uint16),
        unit_tokens=sizes,
        unit_classes=np.zeros(len(scores), dtype=np.int32),
    )


@settings(deadline=None)
@given(pools=POOLS, budget=st.integers(0, 4000), points=st.integers(1, 3))
def test_the_walk_over_many_moments_takes_what_the_walk_over_one_takes(pools, budget, points):
    steps = collect_steps({"s": frame_of(pools)}, need="b_ref", budget=budget)
    for block in steps.blocks:
        scores = np.stack([block.column("recency") * (1 - 2 * (point % 2)) for point in range(points)])
        many = taken(block, scores, budget)
        for row, moment in enumerate(block.moments):
            pool = pools[steps.turns[moment] - 1]
            sizes = np.array([tokens for _, tokens in pool])
            for point in range(points):
                given_scores = np.array([score for score, _ in pool], dtype=np.float32) * np.float32(
                    1 - 2 * (point % 2)
                )
                unpinned = np.zeros(len(pool), dtype=bool)
                one = select_within(budget, sizes, unpinned, given_scores.astype(float), np.arange(len(pool)))
                oldest_first = many[point, row, : len(pool)][::-1]
                assert np.flatnonzero(oldest_first).tolist() == sorted(one.tolist())
                assert not many[point, row, len(pool) :].any()


def test_equal_scores_are_ranked_newest_first_and_minus_zero_is_zero():
    steps = collect_steps({"s": frame_of([[(0.0, 10), (-0.0, 10), (1.0, 10)]])}, need="b_ref", budget=20)
    (block,) = steps.blocks
    assert places_of(ranked(block, block.column("recency"))).tolist() == [[0, 1, 2]]


def test_a_moment_is_scored_when_its_pool_exceeds_the_budget_and_holds_a_needed_unit():
    frame = frame_of([[(1.0, 100)], [(1.0, 100), (2.0, 150)], [(1.0, 100), (2.0, 150)]])
    frame.labels[3:] = 0
    steps = collect_steps({"s": frame}, need="b_ref", budget=200)
    assert steps.turns.tolist() == [2]
    told = steps.dropped
    assert (told.moments, told.moments_within_budget, told.moments_without_need, told.moments_scored) == (3, 1, 1, 1)
    assert (told.sessions, told.sessions_scored) == (1, 1)


def test_each_session_that_is_left_out_has_one_reason():
    rich = frame_of([[(1.0, 500), (1.0, 500)]])
    barren = frame_of([[(1.0, 500), (1.0, 500)]])
    barren.labels[:] = 0
    small = frame_of([[(1.0, 5)]])
    nothing = made_frames(1, moments=0)["s000"]
    told = collect_steps({"a": rich, "b": barren, "c": small, "d": nothing}, need="b_ref", budget=600).dropped
    reasons = (told.sessions_without_need, told.sessions_within_budget, told.sessions_without_moments)
    assert (told.sessions, told.sessions_scored, reasons) == (4, 1, (1, 1, 1))


def test_moments_of_a_session_are_thinned_evenly():
    steps = collect_steps(made_frames(1, moments=9), need="b_ref", budget=2000, most_per_session=3)
    assert steps.turns.tolist() == [1, 5, 9]


def test_a_window_leaves_younger_units_out():
    frame = frame_of([[(1.0, 500), (0.5, 500), (0.25, 500), (0.2, 500), (0.1, 500)]])
    (block,) = collect_steps({"s": frame}, need="b_ref", budget=600, min_age=3).blocks
    assert block.counts.tolist() == [3]


def test_measures_of_a_moment():
    """Four units of which two are needed, one by grade 3 and one by grade 1; two fit."""
    frame = frame_of([[(0.1, 100), (0.4, 100), (0.3, 100), (0.2, 100)]])
    frame.labels[:] = [NEED, 0, 0, 0]
    steps = collect_steps({"s": frame}, need="b_ref", budget=200)
    found = measure(steps, lambda block: block.column("recency"))
    assert {name: found[name].tolist() for name in ("recall", "share", "lift", "matched", "ndcg")} == {
        "recall": [0.0], "share": [0.5], "lift": [-0.5], "matched": [-0.5], "ndcg": [0.0],
    }  # fmt: skip
    best = measure(steps, baselines.oracle)
    assert {name: best[name].tolist() for name in ("recall", "share", "lift", "ndcg")} == {
        "recall": [1.0], "share": [0.5], "lift": [0.5], "ndcg": [1.0],
    }  # fmt: skip


def test_matched_recall_counts_only_what_beats_units_of_like_size():
    frame = frame_of([[(0.9, 100), (0.8, 100), (0.2, 100), (0.1, 100)]])
    frame.labels[:] = [NEED, 0, 0, 0]
    frame.unit_classes[:] = [7, 7, 1, 1]
    steps = collect_steps({"s": frame}, need="b_ref", budget=200)
    found = measure(steps, lambda block: block.column("recency"))  # takes the two units of class 7, whichever it is
    assert (found["lift"].tolist(), found["matched"].tolist()) == ([0.5], [0.0])


def test_everything_recalls_everything_at_no_lift_however_large_the_pool():
    frames = made_frames(3) | {"large": made_frames(1, units=28, tokens=20_000)["s000"]}
    found = baselines.measure_everything(collect_steps(frames, need="b_ref", budget=2000))
    assert {name: set(found[name].tolist()) for name in ("recall", "share", "lift", "matched")} == {
        "recall": {1.0}, "share": {1.0}, "lift": {0.0}, "matched": {0.0},
    }  # fmt: skip


def test_chance_has_no_lift():
    steps = collect_steps(made_frames(20, signal=0.5), need="b_ref", budget=2000)
    assert abs(baselines.measure_random(steps, seed=1)["lift"].mean()) < 0.02


def test_a_budget_beyond_sixteen_bits_is_refused():
    with pytest.raises(BadInputError, match="at most 65,000 tokens"):
        collect_steps(made_frames(1), need="b_ref", budget=70_000)


def test_a_label_that_nobody_knows_is_refused():
    with pytest.raises(BadInputError, match="no label 'x'; there are: vis, core"):
        collect_steps(made_frames(1), need="x", budget=10)
