"""One prompt made again under other weights and budgets."""

import pytest

import workbench as wb
from workbench.errors import NotFoundError
from workbench.experiments.recorded import read_recorded
from workbench.experiments.replay import replay, replay_until
from workbench.experiments.replay_job import policy_of
from workbench.experiments.what_if import BUDGETS, CHANGES, WEIGHTS, recompile, unit_changes
from workbench.surfaces.shipped import sample_sessions

CURRENCIES = "895dc31c-6255-4222-94eb-1eb6c03087e3"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("what-if"))
    bench.ingest(*sample_sessions())
    return bench


@pytest.fixture(scope="module")
def recorded(bench):
    return read_recorded(bench, CURRENCIES)


@pytest.fixture
def halted(bench, recorded):
    return replay_until(recorded, policy_of(bench.config, "step"), 4, 13)


@pytest.mark.parametrize("level", ["exchange", "step"])
def test_a_halted_replay_has_the_prompt_that_a_whole_one_makes_there(bench, recorded, level):
    policy = policy_of(bench.config, level)
    for prompt in replay(recorded, policy).prompts[::7]:
        halted = replay_until(recorded, policy, prompt.turn, prompt.step)
        assert halted.compiled.text == prompt.compiled.text
        assert halted.compiled.scores.terms.score.tolist() == prompt.compiled.scores.terms.score.tolist()
        assert halted.prompt.classic_tokens == prompt.classic_tokens


def test_a_prompt_that_there_is_not_is_named(bench, recorded):
    with pytest.raises(NotFoundError, match=rf"session {CURRENCIES} has no prompt 4\.99 by step"):
        replay_until(recorded, policy_of(bench.config, "step"), 4, 99)
    with pytest.raises(NotFoundError, match=r"has no prompt 4\.1 by exchange"):
        replay_until(recorded, policy_of(bench.config, "exchange"), 4, 1)


def test_the_same_figures_make_the_same_prompt(halted):
    scoring, bands = halted.policy.engine.scoring, halted.policy.engine.bands
    same = {name: getattr(scoring, name) for name in WEIGHTS}
    budgets = {name: getattr(halted.policy.compiler if name == "token_budget" else bands, name) for name in BUDGETS}
    for again in (recompile(halted), recompile(halted, weights=same, budgets=budgets)):
        assert again.text == halted.compiled.text
        assert unit_changes(halted.compiled.scores, again.scores).height == 0


def test_other_weights_move_units_in_and_out(halted):
    before = halted.compiled.scores
    after = recompile(halted, weights={"w_recency": 0.0, "w_relevance": 1.0}, budgets={"older_tokens": 400}).scores
    changes = unit_changes(before, after)
    was = {unit.id for unit, is_in in zip(before.units, before.included, strict=True) if is_in}
    now = {unit.id for unit, is_in in zip(after.units, after.included, strict=True) if is_in}
    assert set(changes.filter(changes["moved"] == "in")["unit_id"]) == now - was != set()
    assert set(changes.filter(changes["moved"] == "out")["unit_id"]) == was - now != set()
    ranks = dict(zip((unit.id for unit in after.units), after.rank.tolist(), strict=True))
    assert all(ranks[name] == rank for name, rank in changes.select("unit_id", "rank_after").iter_rows())
    moved = changes["moved"].to_list()
    assert moved == sorted(moved, key=["in", "out", None].index), "what moved stands first"
    assert dict(changes.schema) == CHANGES


def test_a_budget_of_nothing_leaves_no_unit_in(halted):
    tight = recompile(halted, budgets={"recent_tokens": 0, "older_tokens": 0})
    assert max(tight.caps.recent, tight.caps.older) == halted.policy.engine.bands.min_tokens, "a band keeps its least"
    assert tight.scores.included.sum() < halted.compiled.scores.included.sum()


def test_the_token_budget_bounds_the_prompt(halted):
    small = recompile(halted, budgets={"token_budget": 1500})
    assert small.raw_tokens <= small.usable == 1500
    assert small.mode == "emergency"


def test_nothing_that_halted_holds_is_changed(halted):
    before = halted.compiled.scores.terms.score.copy()
    recompile(halted, weights={"w_relevance": 5.0})
    assert halted.compiled.scores.terms.score.tolist() == before.tolist()
    assert recompile(halted).text == halted.compiled.text


def test_an_unknown_weight_is_refused(halted):
    with pytest.raises(TypeError, match="w_beauty"):
        recompile(halted, weights={"w_beauty": 1.0})
