import polars as pl

from workbench.experiments.retrieval.grep import grep, grep_words, matching_lines

DOCUMENTS = pl.DataFrame(
    {"document_id": ["a", "b", "c", "d"], "text": ["cat dog", "cat cat cat", "concatenate", "nothing.* here"]}
)


def test_documents_rank_by_different_words_then_by_places_then_by_id():
    found = grep(DOCUMENTS, "Dog CAT", 10)
    assert found.rows() == [("a", 2, 2), ("b", 1, 3), ("c", 1, 1)]


def test_a_word_of_the_query_is_no_pattern():
    assert grep(DOCUMENTS, "n.*g", 10).rows() == [("d", 2, 3), ("c", 1, 2), ("a", 1, 1)]
    assert grep(DOCUMENTS, "?!", 10).height == 0


def test_words_are_different_ones_in_small_letters():
    assert grep_words("How to: check, how 知识 管理") == ["how", "to", "check", "知识", "管理"]


def test_matching_lines_are_those_that_hold_a_word():
    assert matching_lines("One\ntwo\nthree one", "ONE") == "One\nthree one"
