from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.vault.fix.closest import ClosestNames, edit_distance, loose


@pytest.mark.parametrize(
    ("first", "second", "steps"), [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("日记", "日志", 1)]
)
def test_edit_distance(first, second, steps):
    assert edit_distance(first, second) == steps


@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_edit_distance_is_a_distance(a, b, c):
    assert edit_distance(a, b) == edit_distance(b, a)
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_the_closest_name_is_found_with_its_note():
    names = ClosestNames(
        [("Median Filter", "m/Median Filter.md"), ("Sampling", "Sampling.md"), ("MF", "m/Median Filter.md")]
    )
    close, none = names.find(["Medain filter", "zzz"])
    assert (close.path, close.name, close.is_alone) == ("m/Median Filter.md", "Median Filter", True)
    assert close.similarity == pytest.approx(1 - 2 / 12)
    assert none is None


def test_a_name_of_another_number_is_another_thing():
    names = ClosestNames([("2026-03-01", "2026-03-01.md"), ("Release 1.2", "Release 1.2.md")])
    assert names.find(["2026-03-02", "Release 1.3"]) == [None, None]


def test_two_notes_as_close_are_told():
    names = ClosestNames([("Wave A", "a.md"), ("Wave B", "b.md")])
    (close,) = names.find(["Wave C"])
    assert (close.path, close.is_alone) == ("a.md", False)


def test_a_loose_name_has_no_case_blanks_or_marks():
    assert loose("Tide_Gauge (old)!") == loose("tide gauge-OLD") == "tidegaugeold"
    assert loose("Cafe\u0301") == loose("CAFÉ")


def test_nothing_to_compare_is_nothing_found():
    assert ClosestNames([]).find(["a"]) == [None]
    assert ClosestNames([("a", "a.md")]).find([]) == []
