from __future__ import annotations

import numpy as np
import pytest

from workbench.vault.note_vectors import NoteVectors


def test_rows_have_length_one_and_a_row_of_zeros_stays_zero():
    vectors = NoteVectors(("a.md", "b.md"), np.array([[3, 4], [0, 0]], dtype=np.float32), "m")
    assert vectors.matrix.tolist() == [pytest.approx([0.6, 0.8]), [0, 0]]
    assert vectors.matrix.dtype == np.float32


def test_a_note_is_found_by_its_path():
    vectors = NoteVectors(("a.md", "b.md"), np.eye(2, dtype=np.float32), "m")
    assert (vectors.place("b.md"), vectors.place("c.md")) == (1, None)
    assert NoteVectors.none().place("a.md") is None


@pytest.mark.parametrize(
    ("paths", "matrix", "told"),
    [
        (("a.md",), np.eye(2), "1 paths need a matrix of as many rows: found one of 2x2"),
        (("a.md", "a.md"), np.eye(2), "some path comes twice"),
        (("a.md", "b.md"), np.ones(2), "found one of 2"),
    ],
)
def test_paths_and_rows_that_do_not_fit_are_refused(paths, matrix, told):
    with pytest.raises(ValueError, match=told):
        NoteVectors(paths, matrix, "m")
