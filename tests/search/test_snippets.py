"""Which part of a text is shown, and what in it is marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.search.snippets import snippet
from workbench.text.parts import query_terms


def marked(text, query, length=200):
    part = snippet(text, query_terms(query).words, length)
    return [part.text[first:last] for first, last in part.marks]


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("The test failed: 3 tests failing", "failing test", ["test", "failed", "tests", "failing"]),
        ("def getUserProfile(uid)", "user profile", ["UserProfile"]),
        ("def getUserProfile(uid)", "getUserProfile", ["getUserProfile"]),
        ("in the interval", "in", ["in"]),
        ("restart the cart", "art", []),
        ("我们的数据库连接失败", "数据库", ["数据库"]),
        ("emoji 🚀 here", "🚀", ["🚀"]),
        ("a (b) [c] a+b", "b c", ["b", "c", "b"]),
        ("nothing", "something", []),
    ],
)
def test_what_was_found_is_marked(text, query, found):
    assert marked(text, query) == found


def test_of_a_long_text_the_part_with_most_of_the_words_is_shown():
    text = "pump " * 50 + "x " * 300 + "the pump ran dry in March " + "y " * 300
    part = snippet(text, ("pump", "dry"), 60)
    assert len(part.text) == 60
    assert "pump ran dry" in part.text
    assert text[part.start : part.start + 60] == part.text


def test_without_a_word_of_the_query_the_beginning_is_shown():
    assert snippet("abc " * 100, ("zebra",), 7) == ("abc abc", 0, [])


@given(st.text(max_size=300), st.text(max_size=20), st.integers(1, 50))
def test_marks_lie_apart_within_a_part_of_the_text(text, query, length):
    part = snippet(text, query_terms(query).words, length)
    assert text[part.start : part.start + len(part.text)] == part.text
    assert len(part.text) == min(len(text), length)
    flat = [place for mark in part.marks for place in mark]
    assert flat == sorted(set(flat))
    assert all(0 <= place <= len(part.text) for place in flat)
