from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config.context import Bands, Compiler, ContextEngine, Pressure
from workbench.context.compile import Moment, RenderedCheckpoint, compile_prompt
from workbench.context.frame import Frame
from workbench.context.pool import UnitPool
from workbench.context.records import ContextUnit, ToolCallRecord, TurnRecord
from workbench.context.units import units_of_turn
from workbench.text.tokens import estimate_tokens

ENGINE = ContextEngine()
TEXTS = st.text(st.sampled_from("ab 漢🙂\n#"), max_size=2_000)


def record(turn, *, asks="load the parquet files", says="done", result="ok", artifact=None):
    call = ToolCallRecord(tool="shell", args={"command": "ls"}, result_text=result, artifact_id=artifact)
    return TurnRecord(
        turn=turn,
        user_message=asks,
        assistant_message=says,
        tool_calls=(call,),
        artifact_ids=(artifact,) if artifact else (),
    )


def moment(turns=12, *, asks="show the parquet files", **given):
    records = [record(turn, artifact=f"art_{turn:012d}" if turn % 2 else None) for turn in range(1, turns)]
    pool = UnitPool()
    for each in records[:-2]:
        pool.extend(units_of_turn(each, ENGINE.bands, order=len(pool)))
    return Moment(**{"current_turn": turns, "user_input": asks, "pool": pool, "verbatim": records[-2:], **given})


def compiled(at, budget=100_000, *, window=128_000, engine=ENGINE):
    return compile_prompt(at, Compiler(token_budget=max(budget, 1_001)), engine, window=min(window, budget))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 4_000), TEXTS, TEXTS, TEXTS, TEXTS, TEXTS)
def test_what_is_sent_never_costs_more_than_the_budget(budget, asks, answer, state, memory, checkpoint):
    records = [record(turn, asks=asks, says=answer, result=state) for turn in range(3)]
    pool = UnitPool(units_of_turn(records[0], ENGINE.bands))
    at = Moment(
        current_turn=3,
        user_input=asks,
        pool=pool,
        verbatim=records[1:],
        frame=Frame(memory=memory, skills=state, project_context=memory),
        active_state=state,
        peripheral_state=memory,
        checkpoint=lambda _mode, _caps: RenderedCheckpoint(checkpoint, float(estimate_tokens(checkpoint))),
        now=datetime(2026, 3, 1, tzinfo=UTC),
    )
    made = compiled(at, budget)
    assert made.raw_tokens == estimate_tokens(made.text) <= made.usable == budget
    for cut in made.cuts:
        assert cut.kept_tokens <= cut.tokens


def test_a_user_turn_larger_than_the_window_is_cut_and_named():
    made = compiled(moment(asks="why " * 20_000), 5_000)
    assert made.raw_tokens <= 5_000
    assert "input" in [cut.section for cut in made.cuts]
    assert made.mode == "emergency"


def test_a_budget_of_nothing_sends_nothing_and_names_what_is_gone():
    made = compiled(moment(), 0)
    assert (made.text, made.raw_tokens, made.usable) == ("", 0, 0)
    assert {cut.kept_tokens for cut in made.cuts} == {0}
    assert {"frame", "verbatim", "input"} <= {cut.section for cut in made.cuts}


def test_the_beginning_of_a_prompt_does_not_change_with_the_time():
    early, late = (compiled(moment(now=datetime(2026, 3, day, tzinfo=UTC))).text for day in (1, 2))
    assert early != late
    assert early[: early.index("## Current Input")] == late[: late.index("## Current Input")]
    assert late.endswith("Now: 2026-03-02T00:00+00:00")


def test_every_live_unit_is_scored_and_has_a_reason():
    at = moment()
    scores = compiled(at).scores
    assert [unit.id for unit in scores.units] == [unit.id for unit in at.pool.units]
    assert set(scores.why) == {"included"}
    added = scores.terms.pin + scores.terms.recency + scores.terms.relevance + scores.terms.hydrate_boost
    assert scores.terms.score == pytest.approx(added, abs=1e-12)


def test_scores_asked_for_later_are_those_of_the_prompt_though_the_pool_has_grown():
    at = moment()
    early, late = compiled(at), compiled(at)
    before = early.scores
    at.pool.extend(units_of_turn(record(10), ENGINE.bands, order=len(at.pool)))
    at.pool.retire(["turn_3"])
    after = late.scores
    assert list(after.units) == list(before.units)
    assert (after.rank.tolist(), after.why) == (before.rank.tolist(), before.why)
    assert after.terms.score.tolist() == before.terms.score.tolist()


def test_exchanges_more_than_six_turns_old_are_on_offer_in_the_older_band():
    scores = compiled(moment()).scores
    bands = {unit.id: int(band) for unit, band in zip(scores.units, scores.band, strict=True)}
    assert bands["turn_9"] == bands["turn_6"] == 4
    assert bands["turn_5"] == bands["turn_1"] == 5


def test_compact_pressure_drops_older_digests_and_keeps_older_cards():
    tight = ContextEngine(pressure=Pressure(compact_at=0.0, emergency_at=0.99))
    scores = compiled(moment(), engine=tight).scores
    why = {unit.id: reason for unit, reason in zip(scores.units, scores.why, strict=True)}
    assert (why["turn_1"], why["art_000000000001"], why["turn_9"]) == ("compact", "included", "included")


def test_an_emergency_shows_the_cards_of_the_last_exchanges_and_no_other_unit():
    urgent = ContextEngine(pressure=Pressure(compact_at=0.0, emergency_at=1e-9))
    card = ContextUnit(id="art_now", type="artifact_card", content="THE CARD", tokens=2, source_turn=11)
    made = compiled(moment(current_cards=[card]), engine=urgent)
    assert made.mode == "emergency"
    assert "THE CARD" in made.text
    assert set(made.scores.why) == {"emergency"}


def test_raw_size_forces_an_emergency_where_the_weight_does_not():
    light = "x" * 4 * 1_000  # 1,000 tokens in a section of weight 0.6
    made = compiled(moment(turns=1, peripheral_state=light, verbatim=[]), 1_300)
    assert made.pressure < ENGINE.pressure.emergency_at
    assert made.mode == "emergency"


def test_a_verbatim_exchange_over_its_cap_is_cut_at_its_end():
    huge = record(5, says="word " * 20_000)
    made = compiled(moment(verbatim=[record(4), huge]))
    verbatim = next(section for section in made.sections if section.name == "verbatim")
    assert verbatim.tokens <= made.caps.verbatim == ENGINE.bands.verbatim_tokens
    assert "### Turn 5" in verbatim.text
    assert "### Turn 4" not in verbatim.text


def test_a_small_unit_further_down_fits_where_a_big_one_does_not():
    small = ContextEngine(bands=Bands(recent_tokens=60, older_tokens=60))
    units = [
        ContextUnit(id="big", type="turn_digest", content="parquet " * 40, tokens=80, source_turn=1, order=0),
        ContextUnit(id="small", type="turn_digest", content="other", tokens=2, source_turn=1, order=1),
    ]
    made = compiled(moment(turns=5, pool=UnitPool(units)), engine=small)
    assert dict(zip(("big", "small"), made.scores.why, strict=True)) == {"big": "over_budget", "small": "included"}


def test_an_artifact_that_comes_up_again_is_offered_once_from_its_newest_exchange():
    pool = UnitPool()
    for turn in (1, 4):
        pool.extend(units_of_turn(record(turn, artifact="art_same"), ENGINE.bands, order=len(pool)))
    scores = compiled(moment(turns=9, pool=pool)).scores
    assert [(unit.id, unit.source_turn) for unit in scores.units] == [("turn_1", 1), ("turn_4", 4), ("art_same", 4)]


def test_a_pinned_unit_is_in_the_prompt_whatever_its_score():
    pinned = ContextUnit(id="pin", type="turn_digest", content="zzz", tokens=1, source_turn=0, pinned=True)
    tight = ContextEngine(pressure=Pressure(compact_at=0.0, emergency_at=0.99))
    made = compiled(moment(turns=30, pool=UnitPool([pinned])), engine=tight)
    assert made.scores.why == ["included"]
    assert float(made.scores.terms.pin[0]) == 1000.0
