"""The prompt anatomy on the side of Python: what it is given, and what a choice brings."""

import json

import pytest
from traitlets import TraitError

import workbench as wb
from workbench.errors import NotFoundError
from workbench.experiments.recorded import read_recorded
from workbench.experiments.replay import replay_until
from workbench.experiments.replay_job import policy_of
from workbench.experiments.what_if import recompile
from workbench.surfaces.shipped import sample_sessions
from workbench.widgets import PromptAnatomy

CURRENCIES = "895dc31c-6255-4222-94eb-1eb6c03087e3"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("widget"))
    bench.ingest(*sample_sessions())
    return bench


def test_it_is_given_the_prompt_that_a_replay_records(bench):
    widget = PromptAnatomy.of(bench, "895dc31c", 4, 13)
    assert widget.data == json.loads(json.dumps(widget.data))
    assert (widget.data["session_id"], widget.data["where"]) == (CURRENCIES, "exchange 4, model call 13")
    bench.replay(CURRENCIES, level="step")
    rows = bench.sql(
        "select 'unit:' || unit_id, score, included from unit_scores where turn = 4 and step = 13 order by band, rank"
    ).rows()
    assert [(each["id"], each["score"], each["is_in"]) for each in widget.data["units"]] == rows
    assert (widget.chosen, widget.show, widget.detail) == ("", "all", {})


def test_the_last_exchange_is_shown_unless_another_is_named(bench):
    assert PromptAnatomy.of(bench, CURRENCIES).data["where"] == "exchange 4"
    assert PromptAnatomy.of(bench, CURRENCIES, 2).data["where"] == "exchange 2"


def test_a_choice_brings_terms_and_text(bench):
    widget = PromptAnatomy.of(bench, CURRENCIES)
    widget.chosen = "unit:turn_1"
    assert widget.detail["id"] == "unit:turn_1"
    assert widget.detail["text"].startswith("### Turn 1 digest\nUser: Expenses can be in other currencies.")
    *terms, (name, score) = widget.detail["terms"]
    assert (name, sum(value for _, value in terms)) == ("score", pytest.approx(score))
    widget.chosen = "section:frame"
    assert widget.detail["title"] == "fixed beginning"
    widget.chosen = "unit:nothing"
    assert widget.detail == {}


def test_a_prompt_made_again_marks_what_moved(bench):
    halted = replay_until(read_recorded(bench, CURRENCIES), policy_of(bench.config, "step"), 4, 13)
    first, other = PromptAnatomy.at(halted), PromptAnatomy.at(halted, recompile(halted, budgets={"recent_tokens": 0}))
    assert {unit["moved"] for unit in first.data["units"]} == {""}
    assert "out" in {unit["moved"] for unit in other.data["units"]}


def test_it_refuses_what_it_does_not_know(bench):
    with pytest.raises(TraitError):
        PromptAnatomy.of(bench, CURRENCIES).show = "some"
    with pytest.raises(NotFoundError, match="has no prompt 99 by exchange"):
        PromptAnatomy.of(bench, CURRENCIES, 99)
    with pytest.raises(NotFoundError, match="no session begins with"):
        PromptAnatomy.of(bench, "ffff")
