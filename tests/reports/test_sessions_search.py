"""Finding words in sessions, asking of some sessions only, and the questions to begin with, over real tables."""

import polars as pl
import pytest

import workbench as wb
from workbench.reports.asking import answer
from workbench.reports.sessions_questions import QUESTIONS
from workbench.reports.sessions_search import SCHEMA, find
from workbench.surfaces.shipped import sample_sessions

CURRENCIES = "895dc31c-6255-4222-94eb-1eb6c03087e3"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("search"))
    bench.ingest(*sample_sessions())
    return bench


def test_all_words_are_found_whatever_their_case(bench):
    found = find(bench.sql, "CHF RATES", [CURRENCIES])
    assert found.schema == pl.Schema(SCHEMA)
    assert found.height > 1
    assert set(found["kind"]) <= {"prompt", "response", "tool"}
    assert all("chf" in excerpt.lower() for excerpt in found["excerpt"])
    assert found["occurred_at"].is_sorted(descending=True)


def test_a_sign_of_a_pattern_is_a_letter_like_any_other(bench):
    assert find(bench.sql, "%", limit=1000).height < find(bench.sql, "e", limit=1000).height
    assert find(bench.sql, "no-such-word-anywhere").is_empty()


def test_no_words_find_nothing(bench):
    assert find(bench.sql, "  ").schema == pl.Schema(SCHEMA)
    assert find(bench.sql, "  ").is_empty()


def test_only_in_the_sessions_that_are_named(bench):
    assert set(find(bench.sql, "the", [CURRENCIES], limit=500)["session_id"]) == {CURRENCIES}
    assert find(bench.sql, "the", []).is_empty()
    assert find(bench.sql, "the", limit=3).height == 3


def test_an_answer_of_some_sessions_keeps_its_order(bench):
    everything, some = (answer(bench.sql, "tool_outcomes", ids) for ids in (None, [CURRENCIES]))
    assert everything["calls"].sum() == 182
    assert some["calls"].sum() == 44
    assert some["calls"].to_list() == sorted(some["calls"], reverse=True)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_an_answer(bench, question):
    assert bench.sql(QUESTIONS[question]).width >= 3


def test_questions_find_what_is_in_the_samples(bench):
    failed = bench.sql(QUESTIONS["Which prompts led to the most failed calls?"])
    assert failed["tool_errors"].sum() == 15
    assert bench.sql(QUESTIONS["Which sessions were compacted, and in which exchange first?"]).height == 2
