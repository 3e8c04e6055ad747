"""A person judges labels: what is drawn, what a verdict counts for, and the precision of each rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from in_process import runner

import workbench as wb
from workbench.errors import BadInputError, NotFoundError
from workbench.experiments.inspection import UNFIRED
from workbench.experiments.labels.rules import RULES
from workbench.surfaces.cli import labels

assert labels  # importing it adds the command

SAMPLES = Path(__file__).parents[2] / "datasets"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("inspection") / "home")
    bench.ingest(SAMPLES / "claude-code")
    return bench


@pytest.fixture(scope="module")
def drawn(bench):
    return bench.inspect_labels("a", count=9)


def precision(bench, rule):
    return next(row for row in bench.label_precision().iter_rows(named=True) if row["rule"] == rule)


def test_pairs_are_drawn_one_a_session_and_the_rule_fires_on_each(bench, drawn):
    assert len({pair.session_id for pair in drawn}) == len(drawn) == 2
    assert all("a" in pair.rules and pair.drawn_for == "a" and pair.step for pair in drawn)
    assert bench.inspect_labels("a", count=9) == drawn
    assert bench.inspect_labels("a", count=1) == drawn[:1]
    assert bench.inspect_labels("a", count=9, seed=1) != drawn


def test_a_pair_shows_the_unit_what_was_asked_and_what_the_agent_did_there(bench, drawn):
    pair = drawn[0]
    assert pair.unit
    said = bench.sql(
        "select user_text from turn_records where session_id = ? and turn = ?", [pair.session_id, pair.turn]
    )
    assert said.item().startswith(pair.asked)
    assert pair.did


def test_pairs_without_a_label_can_be_looked_at_too(bench):
    (pair,) = bench.inspect_labels(UNFIRED, count=1)
    assert (pair.rules, pair.drawn_for) == ((), UNFIRED)


def test_precision_counts_only_pairs_drawn_for_the_rule_and_the_newest_verdict_on_each(bench, drawn):
    first, second = drawn
    for pair, opinion in ((first, "not_needed"), (second, "unclear")):
        bench.judge_label(pair.session_id, pair.turn, pair.unit_id, "a", opinion, step=pair.step)
    assert precision(bench, "a") == {
        "rule": "a",
        "judged": 2,
        "needed": 0,
        "not_needed": 1,
        "unclear": 1,
        "precision": 0.0,
        "low": 0.0,
        "high": pytest.approx(0.7935, abs=1e-4),
    }
    judged = bench.judge_label(first.session_id, first.turn, first.unit_id, "a", "needed", step=first.step)
    assert judged == first
    found = precision(bench, "a")
    assert (found["judged"], found["needed"], found["not_needed"], found["precision"]) == (2, 1, 0, 1.0)
    others = [row for row in bench.label_precision().iter_rows(named=True) if row["rule"] != "a"]
    assert {row["judged"] for row in others} == {0}
    assert {row["precision"] for row in others} == {None}
    assert [row["rule"] for row in bench.label_precision().iter_rows(named=True)] == [*RULES, UNFIRED]
    again = bench.inspect_labels("a", count=9)
    assert again
    assert not {pair.unit_id + str(pair.step) for pair in again} & {pair.unit_id + str(pair.step) for pair in drawn}


def test_what_cannot_be_judged_is_refused_and_nothing_is_kept(bench, drawn):
    before, pair = bench.sql("select count(*) from verdicts").item(), drawn[0]
    (missing,) = [rule for rule in RULES if rule not in pair.rules][:1]
    for error, turn, unit, rule, opinion in (
        (BadInputError, pair.turn, pair.unit_id, missing, "needed"),
        (BadInputError, pair.turn, pair.unit_id, "no_rule", "needed"),
        (BadInputError, pair.turn, pair.unit_id, "a", "perhaps"),
        (NotFoundError, pair.turn, "no_unit", "a", "needed"),
    ):
        with pytest.raises(error):
            bench.judge_label(pair.session_id, turn, unit, rule, opinion, step=pair.step)
    assert bench.sql("select count(*) from verdicts").item() == before
    with pytest.raises(BadInputError, match="there is no rule 'x'"):
        bench.inspect_labels("x")


def test_no_session_has_nothing_to_inspect(tmp_path):
    bench = wb.open(tmp_path / "home")
    assert bench.inspect_labels("b_ref") == []
    assert bench.label_precision()["judged"].sum() == 0


def test_the_commands_show_judge_and_tell_precision(bench, capsys, monkeypatch, tmp_path):
    run = runner(capsys, monkeypatch, tmp_path)
    home = ("--home", bench.home.root)
    (pair,) = run("labels", "inspect", "c", "-n", 1, "--json", *home).json
    shown = run("labels", "inspect", "c", "-n", 1, *home)
    assert f"{pair['session_id']} {pair['turn']}.{pair['step']} {pair['unit_id']}" in shown.out
    moment = f"{pair['turn']}.{pair['step']}"
    told = run("labels", "judge", pair["session_id"], moment, pair["unit_id"], "c", "needed", "--json", *home).json
    assert told == {**pair, "opinion": "needed"}
    rows = {row["rule"]: row for row in run("labels", "precision", "--json", *home).json}
    assert (rows["c"]["judged"], rows["c"]["precision"]) == (1, 1.0)
    assert "1.00  [0.21, 1.00]" in run("labels", "precision", *home).out
    assert run("labels", "judge", pair["session_id"], "x", "u", "c", "needed", *home).code == 2
