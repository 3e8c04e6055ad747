import pytest
from scorecards import cards

from workbench.errors import BadInputError
from workbench.experiments.arms import arms_by, arms_where, check_arms, parse_arms, parse_plan

CARDS = cards(
    [
        {"version": "1", "arm": "old"},
        {"version": "1", "arm": "old", "final": False},
        {"version": "2", "arm": "new"},
        {"version": "2", "arm": "new", "total_turns": 0},
        {"version": None, "arm": None},
    ]
)


def test_arms_are_chosen_by_conditions_over_the_columns():
    old, new = arms_where(CARDS, {"old": "version = '1'", "new": "version = '2' and total_turns < 10"})
    assert (old.name, old.session_ids, old.not_final, old.without_turns) == ("old", ("s000",), 1, 0)
    assert (new.session_ids, new.not_final, new.without_turns) == (("s002",), 0, 1)


def test_a_session_of_which_a_condition_is_null_is_in_no_arm():
    (arm,) = arms_where(CARDS, {"not one": "version != '1'"})
    assert arm.session_ids == ("s002",)


def test_a_condition_may_ask_the_scorecards_again():
    (arm,) = arms_where(CARDS, {"first": "started_at = (select min(started_at) from scorecards)"})
    assert arm.session_ids == ("s000",)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("true; drop table scorecards", "more than one statement"),
        ("true) from scorecards where (true", "syntax error"),
        ("true, false", "found 2 expressions"),
        ("verson = '1'", 'Referenced column "verson" not found'),
        ("version", "of type VARCHAR"),
        ("total_turns", "of type BIGINT"),
        ("*", "no condition but 16 columns"),
        ("count(*) > 1", "aggregates"),
        ("exists (from read_csv('/etc/passwd'))", "disabled by configuration"),
        ("exists (from read_text('arms.py'))", "disabled by configuration"),
        ("session_id in (select session_id from turns)", "turns does not exist"),
    ],
)
def test_what_is_no_single_condition_is_refused_with_what_duckdb_says(condition, said):
    with pytest.raises(BadInputError) as refused:
        arms_where(CARDS, {"it": condition})
    assert "the filter of the arm 'it'" in str(refused.value)
    assert said in str(refused.value)
    assert condition in str(refused.value)


def test_no_file_is_written_by_a_condition(tmp_path):
    target = tmp_path / "x.csv"
    with pytest.raises(BadInputError):
        arms_where(CARDS, {"it": f"(copy scorecards to '{target}')"})
    assert not target.exists()


def test_labels_make_arms_the_baseline_first():
    assert [arm.name for arm in arms_by(CARDS, "arm")] == ["new", "old"]
    assert [arm.name for arm in arms_by(CARDS, "arm", "old")] == ["old", "new"]
    assert arms_by(CARDS, "arm")[0].session_ids == ("s002",)


def test_the_value_of_most_sessions_that_can_be_compared_is_the_baseline():
    often = cards([{"model": name, "final": name != "z"} for name in ("a", "b", "b", "c", "z", "z", "z")])
    assert [arm.name for arm in arms_by(often, "model")] == ["b", "a", "c", "z"]
    assert [arm.name for arm in arms_by(often, "model", "c")] == ["c", "a", "b", "z"]


@pytest.mark.parametrize(
    ("column", "baseline", "said"),
    [
        ("title", None, "cannot be told by 'title'"),
        ("arm", "older", "no session has arm 'older'; there are new, old"),
        ("model", None, "model has 1 values"),
        ("config_hash", None, "config_hash has 0 values"),
        ("config_hash", "any", "config_hash has 0 values"),
    ],
)
def test_a_column_that_makes_no_arms_is_refused(column, baseline, said):
    with pytest.raises(BadInputError, match=said):
        arms_by(CARDS, column, baseline)


def test_a_value_without_a_session_to_compare_is_refused_with_a_way_out():
    unended = cards([{"agent": "a"}, {"agent": "b"}, {"agent": "c", "final": False}])
    with pytest.raises(
        BadInputError, match=r"in the arm 'c': 1 that fit did not .*; to leave it out, .* --arm NAME=FILTER"
    ):
        check_arms(arms_by(unended, "agent"))


def test_versions_are_compared_as_numbers_made_of_their_parts():
    """As texts, 10.0 comes before 2.1."""
    versions = cards([{"version": each} for each in ("1.9", "2.1", "10.0", "nightly", None)])
    part = "try_cast(split_part(version, '.', 1) as int)"
    old, new = arms_where(versions, {"old": f"{part} < 2", "new": f"{part} >= 2"})
    assert (old.session_ids, new.session_ids) == (("s000",), ("s001", "s002"))
    assert arms_where(versions, {"text": "version < '2'"})[0].session_ids == ("s000", "s002")


def test_more_arms_than_can_be_told_apart_are_refused():
    many = cards([{"version": str(number)} for number in range(9)])
    with pytest.raises(BadInputError, match="version has 9 values"):
        arms_by(many, "version")
    often = cards([{"version": str(number)} for number in (*range(9), 8, 8, 7)])
    with pytest.raises(
        BadInputError,
        match=r"frequent: 8: 3, 7: 2, 0: 1, 1: 1, 2: 1 \.\.\.; .* \"one=version = '8'\" --arm \"other=version = '7'\"",
    ):
        arms_by(often, "version")
    quoted = cards([{"version": f"it's {number}"} for number in range(7)])
    with pytest.raises(BadInputError, match="one=version = 'it''s 0'"):
        arms_by(quoted, "version")
    with pytest.raises(BadInputError, match="7 arms are more"):
        check_arms(arms_where(many, {str(number): f"version = '{number}'" for number in range(7)}))


def test_overlapping_arms_are_refused_with_the_sessions():
    with pytest.raises(BadInputError, match="2 sessions are in both 'all' and 'some': s000, s002;"):
        check_arms(arms_where(CARDS, {"all": "true", "some": "version <= '2'"}))


def test_an_empty_arm_is_refused_with_the_reason():
    with pytest.raises(BadInputError, match="'none': none fits version = '7'"):
        check_arms(arms_where(CARDS, {"all": "version = '1'", "none": "version = '7'"}))
    with pytest.raises(BadInputError, match="1 that fit did not come to their end, 1 have no exchange"):
        check_arms(arms_where(CARDS, {"ok": "session_id = 's000'", "open": "not final or total_turns = 0"}))


def test_one_arm_is_no_comparison():
    with pytest.raises(BadInputError, match="two arms at least"):
        check_arms(arms_where(CARDS, {"all": "true"}))


def test_arms_are_parsed_at_the_first_equals_sign():
    assert parse_arms(["a=x = 'y=z'", "b = n >= 2"]) == {"a": "x = 'y=z'", "b": "n >= 2"}


@pytest.mark.parametrize("given", [["a"], ["=x"], ["a="], ["a=1", "a=2"]])
def test_an_arm_without_a_name_or_condition_is_refused(given):
    with pytest.raises(BadInputError):
        parse_arms(given)


def test_a_plan_is_parsed_and_a_share_that_is_none_is_refused():
    assert parse_plan(["a=2", "b = 0.5"]) == {"a": 2.0, "b": 0.5}
    for odd in ("a", "a=x", "a=0", "a=-1", "a=inf", "=1"):
        with pytest.raises(BadInputError, match="NAME=SHARE"):
            parse_plan([odd])
    with pytest.raises(BadInputError, match="the arm 'a' twice"):
        parse_plan(["a=1", "a=2", "b=1"])
