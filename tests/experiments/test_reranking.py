"""One moment of a session ranked under weights: as a study and a prompt do it."""

import msgspec
import numpy as np
import polars as pl
import pytest
from reading_sessions import write_telling_sessions

import workbench as wb
from workbench.config.context import Scoring
from workbench.context.scoring import ADDED
from workbench.errors import NotFoundError
from workbench.experiments.recorded import read_recorded
from workbench.experiments.replay_job import policy_of
from workbench.experiments.reranking import judge_ranking, lay_out, moment_rows, rank_changes, rank_moment
from workbench.experiments.study.measures import measure
from workbench.experiments.study.scoring import Weigher
from workbench.experiments.study.steps import collect_steps
from workbench.reports.scoring_looking import progress_html, ranking_html
from workbench.reports.tuning_numbers import progress_rows

BUDGET = 500
LAST_STEP = msgspec.structs.replace(Scoring(), w_recency=0.0, w_relevance=0.0, w_last_step=1.0)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reranking")
    bench = wb.open(folder / "home")
    bench.ingest(write_telling_sessions(folder / "sessions", 3))
    return bench


@pytest.fixture(scope="module")
def laid(bench):
    session = read_recorded(bench, bench.resolve_session("last"))
    return lay_out(session, policy_of(bench.config, "step"), steps_max=60)


@pytest.mark.parametrize("scoring", [Scoring(), LAST_STEP], ids=["default", "last step"])
def test_every_scored_moment_is_judged_as_in_a_study(laid, scoring):
    steps = collect_steps({"s": laid.frame}, need="vis", budget=BUDGET)
    names = ("w_recency", "w_relevance", "w_unit_order", "w_last_step")
    policy = Weigher(names, scoring).policy(np.array([getattr(scoring, name) for name in names]))
    study = measure(steps, policy)
    scored = moment_rows(laid.frame, need="vis", budget=BUDGET).filter("is_scored")["moment"].to_list()
    assert len(scored) == len(steps.turns) > 1
    for place, moment in enumerate(scored):
        found = judge_ranking(rank_moment(laid, moment, scoring, budget=BUDGET, need="vis"))
        assert (found.recall, found.share) == pytest.approx((study["recall"][place], study["share"][place]))
        assert found.lift == pytest.approx(study["lift"][place])
        assert found.tokens <= BUDGET


def test_terms_add_up_and_ranks_follow_the_score(laid):
    ranked = rank_moment(laid, 8, Scoring(), budget=BUDGET, need="vis")
    assert ranked.select(ADDED).sum_horizontal().to_list() == pytest.approx(ranked["score"].to_list())
    assert ranked["score"].is_sorted(descending=True)
    assert ranked["rank"].to_list() == list(range(1, ranked.height + 1))


def test_what_moves_is_told_with_its_earlier_rank(laid):
    before = rank_moment(laid, 8, Scoring(), budget=BUDGET, need="vis")
    after = rank_moment(laid, 8, LAST_STEP, budget=BUDGET, need="vis")
    changes = rank_changes(before, after)
    ranks = dict(before.select("unit", "rank").iter_rows())
    assert [ranks[unit] for unit in changes["unit"]] == changes["rank_before"].to_list()
    taken = set(before.filter("is_taken")["unit"]), set(after.filter("is_taken")["unit"])
    assert set(changes.filter(moved="in")["unit"]) == taken[1] - taken[0] != set()
    assert set(changes.filter(moved="out")["unit"]) == taken[0] - taken[1] != set()
    assert rank_changes(before, before)["moved"].null_count() == before.height


def test_the_markup_tells_tokens_and_recall(laid):
    before = rank_moment(laid, 8, Scoring(), budget=BUDGET, need="vis")
    after = rank_moment(laid, 8, LAST_STEP, budget=BUDGET, need="vis")
    html = ranking_html(before, after)
    assert "▲ in" in html
    assert "▼ out" in html
    assert "/p/" in html
    tokens = rank_changes(before, after).filter(moved="in")["tokens"].sum()
    assert f"in ({tokens} tokens)" in html
    same = ranking_html(before, before)
    assert "0 units come in (0 tokens); 0 units go out (0 tokens)." in same
    assert "▲" not in same


def test_a_moment_that_is_not_there_is_refused(laid):
    with pytest.raises(NotFoundError, match=r"the session has \d+ moments, and none at place 999"):
        rank_moment(laid, 999, Scoring(), budget=BUDGET, need="vis")


def test_progress_is_the_best_so_far_over_all_sessions():
    rows = [
        ("bulk", "main", -1, 0, 0.1), ("bulk", "main", -1, 1, 0.3), ("bulk", "main", -1, 2, 0.2),
        ("learnt", "main", -1, 0, 0.25), ("learnt", "main", -1, 1, 0.4),
        ("learnt", "main", 0, 0, 0.9), ("chosen", "main", -1, 0, 0.9), ("permutation", "null", -1, 0, 0.9),
    ]  # fmt: skip
    trials = pl.DataFrame(rows[::-1], schema=["stage", "run", "part", "number", "value"], orient="row")
    told = progress_rows(trials)
    assert [row["best"] for row in told] == [0.1, 0.3, 0.3, 0.3, 0.3, 0.4]
    assert [row["trial"] for row in told] == [1, 2, 3, 3, 4, 5]
    assert [row["run"] for row in told] == 3 * ["evenly spread"] + 3 * ["learning"]
    assert "progress-plot" in progress_html(trials)
    assert "No trial was made" in progress_html(trials.clear())
