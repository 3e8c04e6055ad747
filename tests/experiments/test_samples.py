import numpy as np
import polars as pl
import pytest
from scorecards import cards

from workbench.errors import BadInputError
from workbench.experiments.arms import arms_by
from workbench.experiments.replay_samples import sample_replays
from workbench.experiments.samples import sample_arms, sample_cells


def row(arm, **more):
    return {"arm": arm, "tool_calls_per_turn": 1.0, "tool_error_rate": 0.1, **more}


def sampled(rows):
    frame = cards(rows)
    return sample_arms(frame, arms_by(frame, "arm"))


def test_sessions_are_rows_and_rates_are_columns():
    found = sampled([row("a", tool_calls_per_turn=3.0), row("b"), row("a", tool_error_rate=None)])
    assert [each.column for each in found.measures] == ["total_turns", "tool_calls_per_turn", "tool_error_rate"]
    first, second = found.samples
    assert (first.arm, second.arm) == ("a", "b")
    np.testing.assert_array_equal(first.values, [[2.0, 3.0, 0.1], [2.0, 1.0, np.nan]])
    np.testing.assert_array_equal(second.values, [[2.0, 1.0, 0.1]])


def test_a_metric_that_an_arms_records_cannot_show_is_dropped_with_the_reason():
    aider = {"format": "aider", "tool_error_rate": None, "not_applicable": ["failed_calls"]}
    found = sampled([row("a"), row("b", **aider)])
    assert [(each.metric, each.arm, each.why) for each in found.dropped] == [
        ("failed_calls", "b", "records of aider cannot show it, and b has no others")
    ]
    assert any("differ in format (a: claude-code, b: aider)" in note for note in found.notes)


def test_a_metric_that_no_session_of_an_arm_knows_is_dropped():
    found = sampled([row("a"), row("b", tool_error_rate=None)])
    assert [each.why for each in found.dropped] == ["no session of b shows it"]


def test_a_metric_whose_definition_differs_between_the_arms_is_dropped_and_named():
    prompts = {"compiled_prompts": 4, "pressure_events_per_prompt": 0.5}
    found = sampled([row("a", compile_level="step", **prompts), row("b", compile_level="exchange", **prompts)])
    assert {each.metric for each in found.dropped} == {"compiled_prompts", "pressure_events"}
    assert "prompts are counted by step in a, by exchange in b" in found.dropped[0].why
    same = sampled([row("a", compile_level="step", **prompts), row("b", compile_level="step", **prompts)])
    assert same.dropped == []


def test_what_is_left_out_of_an_arm_is_counted():
    found = sampled([row("a"), row("a", final=False), row("b"), row("b", total_turns=0)])
    assert found.notes == [
        "left out of a: 1 that did not come to their end, 0 without an exchange",
        "left out of b: 0 that did not come to their end, 1 without an exchange",
    ]


def test_the_pre_period_is_what_the_project_did_before_any_arm_began():
    rows = [
        row(None, project_id="p1", tool_calls_per_turn=2.0),
        row(None, project_id="p1", tool_calls_per_turn=4.0),
        row(None, project_id="p2", tool_calls_per_turn=9.0),
        row(None, project_id="p2", tool_calls_per_turn=99.0, final=False),
        row("a", project_id="p1"),
        row("b", project_id="p2"),
        row("b", project_id="p3"),
        row(None, project_id="p3", tool_calls_per_turn=50.0),
    ]
    found = sampled(rows)
    place = [each.column for each in found.measures].index("tool_calls_per_turn")
    before = {each.arm: each.before[:, place] for each in found.samples}
    assert before["a"].tolist() == [3.0]
    np.testing.assert_array_equal(before["b"], [9.0, np.nan])


def test_a_single_project_has_no_pre_period_that_tells_units_apart():
    assert sampled([row(None), row("a"), row("b")]).samples[0].before is None


def test_cells_of_both_arms_are_pairs_of_means():
    frame = cards(
        [
            row("a", project_id="p1", tool_calls_per_turn=1.0),
            row("a", project_id="p1", tool_calls_per_turn=3.0),
            row("b", project_id="p1", tool_calls_per_turn=5.0),
            row("a", project_id="p2", tool_calls_per_turn=7.0),
            row("b", project_id="p2", tool_calls_per_turn=8.0),
            row("b", project_id="p3", tool_calls_per_turn=100.0),
        ]
    )
    found = sample_cells(frame, arms_by(frame, "arm"), ["project_id"])
    place = [each.column for each in found.measures].index("tool_calls_per_turn")
    assert found.samples[0].values[:, place].tolist() == [2.0, 7.0]
    assert found.samples[1].values[:, place].tolist() == [5.0, 8.0]
    assert found.notes[0] == "2 pairs by project_id, of 3 of 3 sessions of a and 2 of 3 sessions of b"


@pytest.mark.parametrize(
    ("by", "rows", "said"),
    [
        (["title"], [row("a"), row("b")], "cannot be paired by title"),
        (["project_id"], [row("a"), row("b", project_id="p2")], "no project_id has sessions of both a and b"),
        (["project_id"], [row("a"), row("b"), row("c")], "between two arms, not 3"),
    ],
)
def test_what_cannot_be_paired_is_refused(by, rows, said):
    frame = cards(rows)
    with pytest.raises(BadInputError, match=said):
        sample_cells(frame, arms_by(frame, "arm"), by)


def replays(*rows):
    shared = {"level": "exchange", "policy_id": "p", "embedder": "none", "prompts": 3}
    columns = (
        "raw_tokens_per_prompt", "pressure_per_prompt", "over_full_per_prompt", "part_of_classic", "tight_per_prompt",
        "units_included_per_prompt", "inclusion_rate", "hydrated_per_prompt",
    )  # fmt: skip
    figures = dict.fromkeys(columns, 1.0)
    made = [{"session_id": session, "mode": mode, **shared, **figures, **more} for session, mode, more in rows]
    return pl.DataFrame(made, schema_overrides=dict.fromkeys(columns, pl.Float64))


NOTHING = {"units_included_per_prompt": None, "inclusion_rate": None, "tight_per_prompt": None}


def test_replays_of_one_session_are_a_pair():
    found = sample_replays(
        replays(
            ("s1", "engine", {"raw_tokens_per_prompt": 10.0}),
            ("s1", "classic", {"raw_tokens_per_prompt": 30.0, **NOTHING}),
            ("s2", "engine", {"raw_tokens_per_prompt": 20.0}),
            ("s3", "engine", {}),
            ("s2", "classic", {"raw_tokens_per_prompt": 40.0, **NOTHING}),
        ),
        "mode",
        "classic",
    )
    assert [each.arm for each in found.samples] == ["classic", "engine"]
    assert found.samples[0].values[:, 0].tolist() == [30.0, 40.0]
    assert found.samples[1].values[:, 0].tolist() == [10.0, 20.0]
    assert {(each.metric, each.why) for each in found.dropped} == {
        (name, "replays of classic do not have it") for name in ("units_included", "inclusion", "tight_prompts")
    }
    assert found.notes == ["2 sessions replayed under both, 1 under one alone"]


@pytest.mark.parametrize(
    ("figures", "by", "baseline", "said"),
    [
        (replays(("s1", "engine", {})), "mode", None, "have 1 values of mode"),
        (replays(("s1", "engine", {}), ("s2", "classic", {})), "mode", None, "no session was replayed under both"),
        (replays(("s1", "engine", {})), "prompts", None, "cannot be told apart by 'prompts'"),
        (replays(("s1", "engine", {})), "mode", "plain", "no replay has mode 'plain'"),
    ],
)
def test_replays_that_make_no_pairs_are_refused(figures, by, baseline, said):
    with pytest.raises(BadInputError, match=said):
        sample_replays(figures, by, baseline)
