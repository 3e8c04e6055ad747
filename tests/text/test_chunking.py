import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.text.chunking import MOST_CHARS_A_TOKEN, Chunk, chunk_text

WORD = re.compile(r"\w|[^\w\s]")


def words(text):
    """A token a word, and two marks, as BERT's tokenizers count."""
    return len(text.split()) + 2


def texts(text, most, count=words):
    return [chunk.text for chunk in chunk_text(text, count, most)]


def test_a_text_that_fits_stays_whole():
    text = "# Head\n\nSome words.\n\n## Another\n\nMore."
    assert chunk_text(text, words, 20) == [Chunk(text, 0, len(text))]


def test_a_long_text_is_cut_at_headings_first():
    text = "# One\n\na b c d\n\n# Two\n\ne f g h\n"
    assert texts(text, 9) == ["# One\n\na b c d\n\n", "# Two\n\ne f g h\n"]


def test_sections_that_fit_together_are_joined():
    text = "# One\na b\n# Two\nc d\n# Three\ne f\n"
    assert texts(text, 10) == ["# One\na b\n# Two\nc d\n", "# Three\ne f\n"]


def test_a_section_that_is_too_long_is_cut_at_blank_lines_then_lines_then_sentences_then_words():
    assert texts("a b c\n\nd e f\n\n", 6) == ["a b c\n\n", "d e f\n\n"]
    assert texts("a b c\nd e f\n", 6) == ["a b c\n", "d e f\n"]
    assert texts("A b. C d! E f? G h.", 6) == ["A b. C d! ", "E f? G h."]
    assert texts("a b c d e", 5) == ["a b c ", "d e"]


def test_a_version_number_is_no_end_of_a_sentence():
    assert texts("use v1.2.3 now. then stop", 5) == ["use v1.2.3 now. ", "then stop"]


def test_sentences_of_chinese_end_without_a_space():
    assert texts("今天下雨。明天晴朗。", 7, count=lambda text: len(text) + 1) == ["今天下雨。", "明天晴朗。"]


def test_a_long_word_is_cut_between_characters():
    assert texts("abcdefgh", 5, count=lambda text: len(text) + 2) == ["abc", "def", "gh"]


def test_a_character_that_alone_is_too_much_is_a_part_of_its_own():
    assert texts("ab", 2, count=lambda text: 3 * len(text)) == ["a", "b"]


def test_a_hash_inside_a_fence_is_no_heading():
    text = "```sh\n# not a heading\nls\n```\n# Heading\nwords here\n"
    assert texts(text, 10) == ["```sh\n# not a heading\nls\n```\n", "# Heading\nwords here\n"]


def test_a_fence_ends_with_as_many_ticks_as_it_began():
    text = "````\n```\n# inside\n````\n# Heading\nand words\n"
    assert texts(text, 8)[-1] == "# Heading\nand words\n"


def test_white_space_alone_is_no_part():
    assert chunk_text("", words, 5) == []
    assert chunk_text(" \n\t\n", words, 5) == []
    assert [part.strip() for part in texts("a" + " " * 500 + "b", 3)] == ["a", "b"]


def test_a_text_without_tokens_is_still_cut_to_parts_of_bearable_length():
    parts = texts("x" * 10_000, 10, count=lambda _: 1)
    assert "".join(parts) == "x" * 10_000
    assert max(map(len, parts)) == 10 * MOST_CHARS_A_TOKEN


def test_a_part_has_a_token_at_least():
    with pytest.raises(ValueError, match="at least one token"):
        chunk_text("a", words, 0)


@settings(deadline=None)
@given(st.text(st.sampled_from("ab #\n.`。中\r\t-"), max_size=200), st.integers(1, 12))
def test_parts_cover_the_text_but_for_white_space_and_fit(text, most):
    def count(part):
        return len(WORD.findall(part)) + 1

    chunks = chunk_text(text, count, most)
    end = 0
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert not chunk.text.isspace()
        assert text[end : chunk.start].strip() == ""
        assert chunk.start >= end
        assert count(chunk.text) <= most or len(chunk.text) == 1
        end = chunk.end
    assert text[end:].strip() == ""


@settings(deadline=None)
@given(st.text(max_size=120), st.integers(1, 30), st.integers(0, 3))
def test_a_tokenizer_that_counts_a_whole_higher_than_its_parts_is_obeyed(text, most, excess):
    def count(part):
        return len(part) + (excess if len(part) > 4 else 0)

    for chunk in chunk_text(text, count, most):
        assert count(chunk.text) <= most or len(chunk.text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "## Heading\n\nSome words, and a sentence. Another one.\n\nline\nline\n" * 16_000,
        "word " * 200_000,
        "x" * 1_000_000,
        "今天天气很好。" * 140_000,
        "\n" * 1_000_000,
        "# a\n" * 250_000,
    ],
    ids=["markdown", "words", "one word", "chinese", "blank", "headings"],
)
def test_a_megabyte_is_cut_in_seconds(text):
    started = time.perf_counter()
    chunk_text(text, lambda part: len(part) // 4 + 2, 256)
    assert time.perf_counter() - started < 20  # some seconds on a busy machine; minutes if it were quadratic
