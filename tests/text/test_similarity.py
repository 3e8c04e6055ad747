from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.similarity import cosine, cosine_matrix, jaccard

VECTORS = st.lists(
    st.floats(-1e6, 1e6).map(lambda value: value if abs(value) > 1e-300 else 0.0), min_size=3, max_size=3
)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], 1.0),
        ([1, 1], [-1, -1], -1.0),
        ([1, 0], [0, 1], 0.0),
        ([1, 2], [2, 1], 0.8),
        ([1e300, 0], [1e300, 1e300], 0.5**0.5),
        ([1e-300, 0], [1e-300, 1e-300], 0.5**0.5),
    ],
)
def test_cosine(a, b, expected):
    assert cosine(a, b) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b"),
    [([], []), ([1], [1, 2]), ([0, 0], [1, 2]), ([float("nan"), 1], [1, 1]), ([float("inf"), 1], [1, 1])],
)
def test_cosine_is_zero_where_it_has_no_meaning(a, b):
    assert cosine(a, b) == 0.0


def test_cosine_of_single_precision_embeddings_is_taken_as_they_are():
    a, b = np.array([0.3, -0.7, 0.2], dtype=np.float32), np.array([0.5, 0.1, -0.9], dtype=np.float32)
    assert cosine(a, b) == pytest.approx(-0.12277565009352627, abs=1e-12)


def test_cosine_of_every_query_with_every_row():
    result = cosine_matrix([[1, 0], [0, 0]], [[2, 0], [0, 3], [1, 1]])
    assert result == pytest.approx(np.array([[1.0, 0.0, 0.5**0.5], [0.0, 0.0, 0.0]]))


def test_cosine_matrix_of_no_rows_is_empty():
    assert cosine_matrix(np.ones((2, 4)), np.empty((0, 4))).shape == (2, 0)


def test_cosine_matrix_refuses_other_dimensions():
    with pytest.raises(ValueError, match="mismatch"):
        cosine_matrix([[1, 0]], [[1, 0, 0]])


@given(VECTORS, VECTORS)
def test_cosine_is_symmetric_and_bounded(a, b):
    assert -1.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == pytest.approx(cosine(b, a), abs=1e-12)


@given(VECTORS, st.floats(1e-3, 1e3))
def test_cosine_ignores_scale(a, factor):
    expected = 1.0 if any(a) else 0.0
    assert cosine(a, [value * factor for value in a]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [("ab", "bc", 1 / 3), ("aab", "ba", 1.0), ("a", "b", 0.0), ("", "", 0.0), ("", "a", 0.0)],
)
def test_jaccard(a, b, expected):
    assert jaccard(a, b) == expected
