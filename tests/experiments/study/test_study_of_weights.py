"""A whole study on made sessions: with a planted effect, without one, and with too little to say."""

import json
import re

import msgspec
import numpy as np
import pytest
from made_frames import made_frames, made_settings

import workbench as wb
from workbench.config import load_config
from workbench.config.context import Scoring
from workbench.config.study import Study as StudyConfig
from workbench.config.write import write_settings
from workbench.context.scoring import Features, score_terms
from workbench.errors import BadInputError, ConfigError
from workbench.experiments.frames import FEATURES, SessionFrame
from workbench.experiments.study import baselines
from workbench.experiments.study.apply import weights_to_apply
from workbench.experiments.study.memory import Memory
from workbench.experiments.study.nested import HeldOut
from workbench.experiments.study.result import StudyResult
from workbench.experiments.study.run import TUNED, TUNED_SEED, Study, _Scored
from workbench.experiments.study.scoring import PREFIX, LiftObjective, Weigher, scoring_space
from workbench.experiments.study.search import Found
from workbench.experiments.study.settings import Grouping, settings_of
from workbench.experiments.study.steps import collect_steps


def study(frames, *, memory=None, grouping=None, **changes):
    settings = made_settings(**changes)
    return Study("id", settings, {"step": frames}, grouping or Grouping(), None, memory or Memory())


@pytest.fixture(scope="module")
def planted():
    """Needed units are told by last-step relevance, which weighs nothing by default."""
    return study(made_frames(60, signal=0.9)).run()


@pytest.fixture(scope="module")
def barren():
    """Needed units are needed by chance."""
    return study(made_frames(60, signal=0.0)).run()


def test_a_planted_effect_is_found_and_may_be_applied(planted):
    assert planted.verdict == "better"
    assert planted.may_apply
    assert planted.gain.low > 0.2
    assert planted.null.holds
    weights = weights_to_apply(planted)
    assert weights[PREFIX + "w_last_step"] == max(weights.values())
    assert sum(weights.values()) == pytest.approx(0.8, abs=1e-5)


def test_applied_weights_are_in_force_afterwards(planted, tmp_path):
    bench = wb.open(tmp_path / "home")
    bench.apply_weights(planted, dry_run=True)
    assert not (tmp_path / "home" / "config.json").exists()
    assert bench.apply_weights(planted) == tmp_path / "home" / "config.json"
    scoring = wb.open(tmp_path / "home").config.context_engine.scoring
    assert scoring.w_last_step == weights_to_apply(planted)[PREFIX + "w_last_step"] > 0


def test_terms_of_the_original_alone_do_not_see_it(planted):
    gains = {each.name: each.lift_over_best for each in planted.policies}
    assert gains[TUNED_SEED].high < gains[TUNED].low


def test_where_labels_mean_nothing_there_is_no_gain_and_nothing_is_applied(barren):
    assert barren.verdict in ("no difference", "worse")
    assert abs(barren.gain.estimate) < 0.03
    with pytest.raises(BadInputError, match="nothing was applied"):
        weights_to_apply(barren)


def test_on_permuted_labels_the_gain_is_nothing(planted, barren):
    for result in (planted, barren):
        assert result.null.permutations >= 20
        assert result.null.is_precise
        assert abs(result.null.mean) <= 0.01


def test_a_search_that_loses_or_gains_nothing_held_out_is_told(planted, barren):
    assert not [told for told in planted.warnings if told.startswith("the search")]
    told = [each for each in barren.warnings if each.startswith("the search")]
    assert len(told) == 1
    assert re.search(
        r"the search (gained nothing on sessions it did not see|found weights that do worse) .*held out", told[0]
    )


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ([-0.2, -0.1, -0.15, -0.2], "worse on sessions it did not see: overfit (+0.050 where it searched, -0.163 held"),
        ([-0.2, 0.1, 0.15, -0.2], "the search gained nothing on sessions it did not see (+0.050 where it searched"),
        ([0.2, 0.1, -0.05, 0.2], None),
    ],
)
def test_what_became_of_the_gain_of_a_search_is_told(differences, said):
    scored = _Scored.__new__(_Scored)
    scored.settings, scored.space = made_settings(), scoring_space(Scoring(), semantic=False, extras=True)
    other = scored.space.default[::-1].copy()
    held = HeldOut(np.zeros(4), 0.0, (Found(other, 0.0, 0.0, np.empty((0, 4)), np.empty(0)),), np.zeros(4, np.int64))
    lifts = {TUNED: np.array(differences), baselines.REPAIRED: np.zeros(4)}
    told = scored._search_warnings(held, lifts, 0.05)
    assert [said in each for each in told] == ([True] if said else [])


def test_a_search_that_stays_where_it_began_is_told():
    scored = _Scored.__new__(_Scored)
    scored.space = scoring_space(Scoring(), semantic=False, extras=True)
    stayed = Found(scored.space.default, 0.0, 0.0, np.empty((0, 4)), np.empty(0))
    held = HeldOut(np.zeros(4), 0.0, (stayed, stayed), np.zeros(4, np.int64))
    assert scored._search_warnings(held, {}, 0.0) == ["the search found nothing better than the weights in use"]


def test_bounds_are_where_they_belong(planted):
    policies = {each.name: each for each in planted.policies}
    assert policies[baselines.EVERYTHING].lift == 0
    assert abs(policies[baselines.RANDOM].lift) < 0.03
    assert policies[baselines.ORACLE].recall == 1
    assert policies[baselines.SEED].lift_over_seed.estimate == 0
    assert policies[planted.best_hand_set].lift_over_best.estimate == 0


def test_under_thirty_sessions_there_is_no_verdict_and_nothing_is_applied():
    result = study(made_frames(12, signal=0.9), null=settings_of(StudyConfig(), Scoring(), permutations=2).null).run()
    assert result.verdict == "no verdict"
    assert "12 scored sessions, at least 30 are needed" in result.why
    assert result.gain.low > 0
    assert result.null.permutations == 2
    assert not result.may_apply


@pytest.mark.parametrize("sessions", [0, 1, 3])
def test_of_hardly_any_session_nothing_is_held_out(sessions):
    result = study(made_frames(sessions)).run()
    assert (result.verdict, result.gain, result.policies) == ("no verdict", None, [])
    assert result.dropped["sessions_scored"] == sessions


def test_where_no_label_fires_it_is_said_what_became_of_the_sessions():
    result = study(made_frames(5), need="c_vis").run()
    assert result.verdict == "no verdict"
    assert result.dropped["sessions_without_need"] == 5


def test_one_developer_and_one_project_are_named_and_not_held_out():
    frames = made_frames(8)
    known = dict.fromkeys(frames, "ann")
    grouping = Grouping(developers=known, projects=dict.fromkeys(frames, "p"))
    result = study(frames, grouping=grouping, null=settings_of(StudyConfig(), Scoring(), permutations=1).null).run()
    assert result.groups == []
    assert "100% of the scored sessions are by one developer (ann)" in result.warnings


def test_a_study_that_was_broken_off_goes_on_and_says_the_same():
    frames, batches, more, nothing = made_frames(12, signal=0.5), [], [], []
    null = settings_of(StudyConfig(), Scoring(), permutations=3).null
    whole = study(frames, memory=Memory((), batches.append), null=null).run()
    known = [row for batch in batches[: len(batches) // 2] for row in batch]
    again = study(frames, memory=Memory(known, more.append), null=null).run()
    assert len(more) == len(batches) - len(batches) // 2
    assert without_speed(again) == without_speed(whole)
    everything = [row for batch in batches for row in batch]
    third = study(frames, memory=Memory(everything, nothing.append), null=null).run()
    assert without_speed(third) == without_speed(whole)
    assert nothing == []


def without_speed(result):
    return msgspec.structs.replace(result, evaluations_per_second=None)


def test_a_result_survives_being_written(planted):
    assert msgspec.json.decode(msgspec.json.encode(planted), type=StudyResult) == planted


def test_a_frame_survives_being_written():
    frame = made_frames(1)["s000"]
    again = SessionFrame.from_bytes(frame.to_bytes())
    assert all(np.array_equal(getattr(frame, name), getattr(again, name), equal_nan=name == "features")
               for name in SessionFrame.__dataclass_fields__)  # fmt: skip
    with pytest.raises(ValueError, match="no frame of a session"):
        SessionFrame.from_bytes(frame.to_bytes()[:-40])


def test_scores_of_many_points_are_those_of_the_prompt():
    frame = made_frames(1)["s000"]
    frame.features[:, FEATURES.index("semantic")] = np.linspace(-1, 1, len(frame.features))
    steps = collect_steps({"s": frame}, need="b_ref", budget=2000)
    (block,) = steps.blocks
    space = scoring_space(Scoring(), semantic=True, extras=True)
    weigher = Weigher([name.removeprefix(PREFIX) for name in space.names], Scoring())
    points = space.quasi_random(8, seed=1)
    made = weigher.scores(block, points)
    column = {name: block.column(name)[0].astype(float) for name in FEATURES}
    features = Features(
        pinned=column["pinned"], age_turns=1 / column["recency"] - 1, relevance=column["relevance"],
        semantic=column["semantic"], hydrate=column["hydrate"], order=column["order"], last_step=column["last_step"],
    )  # fmt: skip
    for point, scores in zip(points, made, strict=True):
        weights = {name.removeprefix(PREFIX): value for name, value in zip(space.names, point.tolist(), strict=True)}
        expected = score_terms(features, msgspec.structs.replace(Scoring(), **weights)).score
        assert scores[0] == pytest.approx(expected, abs=1e-5)


def test_permuted_labels_keep_their_number_and_lose_their_place():
    steps = collect_steps(made_frames(10), need="b_ref", budget=2000)
    objective = LiftObjective(steps, steps, Weigher(["w_recency"], Scoring()))
    dealt = objective.permuted(3).reported
    for before, after in zip(steps.blocks, dealt.blocks, strict=True):
        assert np.array_equal(np.sort(before.grades, axis=1), np.sort(after.grades, axis=1))
        assert not np.array_equal(before.grades, after.grades)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"level": "turn"}, "level is step or exchange"),
        ({"need": "x"}, "no label 'x'"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"learning_trials": 301}, "0 to 300"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, message):
    with pytest.raises(BadInputError, match=message):
        settings_of(StudyConfig(), Scoring(), **asked)


def test_weights_are_written_beside_what_is_there(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"llm": {"model": "m"}, "context_engine": {"scoring": {"w_pin": 2.0}}}', encoding="utf-8")
    write_settings(tmp_path, {PREFIX + "w_recency": 0.25}, dry_run=True)
    assert "w_recency" not in path.read_text("utf-8")
    assert write_settings(tmp_path, {PREFIX + "w_recency": 0.25}) == path
    assert json.loads(path.read_text("utf-8")) == {
        "llm": {"model": "m"},
        "context_engine": {"scoring": {"w_pin": 2.0, "w_recency": 0.25}},
    }
    assert load_config(tmp_path, tmp_path, environ={}).context_engine.scoring.w_recency == 0.25


def test_weights_are_not_written_where_another_file_would_win(tmp_path):
    (tmp_path / "config.toml").write_text("[context_engine.scoring]\nw_recency = 1.0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.toml sets context_engine\.scoring\.w_recency, and wins"):
        write_settings(tmp_path, {PREFIX + "w_recency": 0.25})
    assert not (tmp_path / "config.json").exists()


def test_a_configuration_that_cannot_be_read_stays_as_it_is(tmp_path):
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match="nothing was written"):
        write_settings(tmp_path, {PREFIX + "w_recency": 0.25})
    assert (tmp_path / "config.json").read_text("utf-8") == "{"
