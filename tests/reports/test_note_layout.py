"""Places of notes: near what they link to, apart from each other, the same again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.reports.note_layout import note_layout


def places(*values):
    return np.array(values, dtype=np.intp)


def groups(number, size, seed=3):
    """Links of notes in groups, each well linked within and hardly to others."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(number), size)
    inside = rng.integers(0, size, (number * size * 3, 2))
    own = rng.integers(0, number, len(inside))[:, None] * size + inside
    across = rng.integers(0, number * size, (number * 2, 2))
    links = np.concatenate([own, across])
    return of, links[links[:, 0] != links[:, 1]].T


def test_groups_of_notes_stand_together():
    of, (sources, targets) = groups(6, 40)
    made = note_layout(sources, targets, len(of))
    middles = np.array([made[of == group].mean(axis=0) for group in range(6)])
    nearest = np.linalg.norm(made[:, None] - middles[None], axis=2).argmin(axis=1)
    assert (nearest == of).mean() > 0.95


def test_the_same_links_give_the_same_places():
    _, (sources, targets) = groups(4, 20)
    first, second = (note_layout(sources, targets, 80) for _ in range(2))
    assert first.dtype == np.float32
    assert np.array_equal(first, second)
    assert not np.array_equal(first, note_layout(sources, targets, 80, seed=1))


def test_notes_without_a_link_stand_around_the_others():
    _, (sources, targets) = groups(4, 20)
    radii = np.linalg.norm(note_layout(sources, targets, 100), axis=1)
    assert radii[80:].min() > radii[:80].max()


@pytest.mark.parametrize(("sources", "targets", "count"), [((), (), 0), ((), (), 1), ((), (), 7), ((0,), (1,), 2)])
def test_small_vaults_have_places(sources, targets, count):
    made = note_layout(places(*sources), places(*targets), count)
    assert made.shape == (count, 2)
    assert len({tuple(point) for point in made.tolist()}) == count


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 30).flatmap(lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))
)
def test_all_places_are_finite_apart_and_in_the_circle(links):
    count = 30
    ends = np.array(links, dtype=np.intp).reshape(-1, 2)
    made = note_layout(ends[:, 0], ends[:, 1], count)
    assert np.isfinite(made).all()
    assert np.linalg.norm(made, axis=1).max() <= 1 + 1e-5
    assert len(np.unique(made, axis=0)) == count
