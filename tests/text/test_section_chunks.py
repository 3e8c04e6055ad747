import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.text.chunking import MOST_CHARS_A_TOKEN
from workbench.text.section_chunks import SectionChunk, chunk_sections


def words(text):
    return len(text.split())


def texts(text, most, overlap=0, **others):
    return [chunk.text for chunk in chunk_sections(text, words, most, overlap, **others)]


def own_text(chunk):
    return chunk.text[chunk.repeated :]


def test_every_section_is_a_part_however_short():
    assert texts("before\n\n# One\na b\n\n## Two\nc\n", 50) == ["before", "# One\na b", "## Two\nc"]


def test_headings_below_the_third_level_and_hashes_without_a_space_cut_nothing():
    text = "# One\n\n#### Four\n\n##no\n\n    # indented"
    assert texts(text, 50) == [text]


def test_a_part_tells_its_place_and_lines():
    text = "# One\na\n\n## Two\nb\n"
    assert chunk_sections(text, words, 50, 0) == [
        SectionChunk("# One\na", 0, 0, 7, 1, 3),
        SectionChunk("## Two\nb", 0, 9, 17, 4, 6),
    ]


def test_a_section_that_is_too_long_falls_into_paragraphs():
    assert texts("# One\n\na b c\nd\n\n\ne f g\n", 5) == ["# One", "a b c\nd", "e f g"]


def test_a_paragraph_that_is_too_long_falls_into_sentences_at_their_lines():
    text = "Aa b.\nCc d? Ee f.\nGg h! no end here"
    found = chunk_sections(text, words, 5, 0)
    assert [chunk.text for chunk in found] == ["Aa b. Cc d?", "Ee f.", "Gg h! no end here"]
    assert [(chunk.first_line, chunk.last_line) for chunk in found] == [(1, 2), (2, 2), (3, 3)]
    assert [text[chunk.start : chunk.end] for chunk in found] == ["Aa b.\nCc d?", "Ee f.", "Gg h! no end here"]


def test_a_sentence_that_is_too_long_is_cut_between_words_and_a_word_between_characters():
    assert texts("a b c d e", 2) == ["a b", "c d", "e"]
    assert texts("x" * 40, 1) == ["x" * 16, "x" * 16, "x" * 8]


def test_a_text_without_spaces_is_cut_at_the_stops_of_its_script():
    found = chunk_sections("今天下雨。明天晴朗。后天有风。", len, 10, 0)
    assert [chunk.text for chunk in found] == ["今天下雨。明天晴朗。", "后天有风。"]


def test_whole_lines_of_the_part_before_are_repeated_until_they_have_enough_tokens():
    text = "# A\none two three\nfour\nfive six\n# B\nseven\n# C\neight"
    assert texts(text, 50, 3) == [
        "# A\none two three\nfour\nfive six",
        "four\nfive six\n# B\nseven",
        "# B\nseven\n# C\neight",
    ]


def test_what_was_repeated_is_not_repeated_again():
    assert texts("# A\none\n# B\ntwo\n# C\nthree", 50, 40)[2] == "# B\ntwo\n# C\nthree"


def test_what_is_repeated_gives_way_where_a_model_reads_no_more():
    text = "# A\none two\nthree four\n# B\nfive six"
    assert texts(text, 50, 40, most_tokens=6) == ["# A\none two\nthree four", "three four\n# B\nfive six"]
    assert texts(text, 50, 40, most_tokens=5)[1] == "# B\nfive six"


def test_a_comment_and_a_blank_line_in_a_fence_cut_nothing():
    fence = "```sh\n# a comment\n\necho. A b\n```"
    assert texts(f"# One\n\nword word word\n\n{fence}\n\nafter", 9) == ["# One", "word word word", fence, "after"]


def test_a_fence_inside_a_paragraph_that_is_too_long_keeps_its_lines():
    fence = "~~~\nx = 1. Y\n\n# no heading\n~~~"
    assert texts(f"Aa b c.\nDd e f.\n{fence}\nGg h.", 11) == ["Aa b c. Dd e f.", f"{fence}\nGg h."]


def test_a_fence_is_repeated_whole():
    fence = "```\na b c\nd e f\n```"
    assert texts(f"# One\nword\n{fence}\n# Two\nnext", 50, 2)[1] == f"{fence}\n# Two\nnext"


def test_a_fence_that_is_too_long_is_cut_at_its_lines():
    assert texts("```\na b c\n  d e f\ng\n```", 4) == ["```\na b c", "d e f\ng", "```"]


def test_a_fence_that_never_ends_reaches_the_end():
    assert texts("```\n# a\n\n# b", 50) == ["```\n# a\n\n# b"]


def test_a_longer_fence_is_not_closed_by_a_shorter_one():
    text = "````\n```\n# a\n```\n# b\n````"
    assert texts(text, 50) == [text]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\r\n\r\n"])
def test_a_blank_text_has_no_parts(text):
    assert chunk_sections(text, words) == []


@pytest.mark.parametrize(("most", "overlap"), [(0, 0), (10, -1)])
def test_numbers_out_of_range_are_refused(most, overlap):
    with pytest.raises(ValueError, match="at least one token"):
        chunk_sections("a", words, most, overlap)


LINES = st.one_of(
    st.sampled_from(["", " ", "# Head", "## Zwei", "### 三", "#### Four", "```", "~~~", "```py", "  x", "A b. C d."]),
    st.text(st.characters(exclude_characters="`~", exclude_categories=["Cs"]), max_size=30),
)
NOTES = st.lists(LINES, max_size=25).map("\n".join)
COUNTS = st.sampled_from([words, len, lambda text: math.ceil(len(text) / 4), lambda text: words(text) + 2])


def solid(text):
    return "".join(text.split())


@settings(deadline=None)
@given(NOTES, COUNTS, st.integers(3, 40), st.integers(0, 20))
def test_nothing_is_lost_or_told_twice_but_by_the_overlap(text, count, most, overlap):
    chunks = chunk_sections(text, count, most, overlap)
    assert solid("".join(map(own_text, chunks))) == solid(text)
    assert [solid(text[chunk.start : chunk.end]) for chunk in chunks] == [solid(own_text(chunk)) for chunk in chunks]
    assert all(one.end <= other.start for one, other in pairwise(chunks))


@settings(deadline=None)
@given(NOTES, COUNTS, st.integers(3, 40), st.integers(0, 20))
def test_no_part_is_longer_than_allowed(text, count, most, overlap):
    for chunk in chunk_sections(text, count, most, overlap, most_tokens=most + 5):
        own = own_text(chunk)
        assert count(own) <= most or len(own) == 1
        assert len(own) <= most * MOST_CHARS_A_TOKEN
        assert count(chunk.text) <= most + 5 or not chunk.repeated


@settings(deadline=None)
@given(NOTES, COUNTS, st.integers(3, 40), st.integers(1, 20))
def test_what_is_repeated_is_the_end_of_the_part_before(text, count, most, overlap):
    chunks = chunk_sections(text, count, most, overlap)
    for one, other in pairwise(chunks):
        assert other.text[: other.repeated].endswith("\n")
        assert own_text(one).endswith(other.text[: other.repeated - 1])


@settings(deadline=None)
@given(NOTES, st.integers(10, 60))
def test_no_fence_that_fits_is_torn(text, most):
    for fence in closed_fences(text):
        if words(fence) <= most:
            assert any(fence.strip() in chunk.text for chunk in chunk_sections(text, words, most, 0)), fence


@settings(deadline=None)
@given(NOTES, COUNTS, st.integers(3, 40))
def test_a_part_is_at_the_lines_that_it_names(text, count, most):
    lines = text.split("\n")
    for chunk in chunk_sections(text, count, most, 0):
        named = "\n".join(lines[chunk.first_line - 1 : chunk.last_line])
        assert text[chunk.start : chunk.end] in named


def closed_fences(text):
    """Fences as the simplest reading of the rule has them: a mark of three, up to the next line that is just it."""
    lines, first, mark = text.split("\n"), None, ""
    for number, line in enumerate(lines):
        if first is None and line.strip()[:3] in ("```", "~~~"):
            first, mark = number, line.strip()[:3]
        elif first is not None and line.strip() == mark:
            yield "\n".join(lines[first : number + 1])
            first = None
