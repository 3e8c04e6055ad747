from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from .harness import (
    ADAPTERS,
    DATA,
    DEVIATIONS,
    HarnessError,
    Rule,
    Topic,
    assert_equal,
    check,
    compare_recommended,
    read_rules,
    read_topics,
    unique,
)

TOPIC = Topic("peer-system", "double", [])
ADAPTER = SimpleNamespace(
    run=lambda case_input: case_input["n"] * 2,
    is_negative=lambda case_input: case_input["n"] < 0,
    doubled=lambda case_input: case_input["n"] * 2,
    tripled=lambda case_input: case_input["n"] * 3,
)


def case(n, expected, **more):
    return {"name": f"n-{n}", "input": {"n": n, "mode": ["x"]}, "expected": expected, **more}


def rule(**conditions):
    return Rule(topic="peer-system/double", reason="design 8", function="doubled", **conditions)


def test_a_right_answer_passes():
    assert check(TOPIC, case(2, 4), ADAPTER) is None


def test_a_wrong_answer_fails():
    with pytest.raises(AssertionError, match="got 4, expected 5"):
        check(TOPIC, case(2, 5), ADAPTER)


@pytest.mark.parametrize(
    "conditions",
    [
        {"name": "n-2"},
        {"name": "n*"},
        {"input": {"n": 2}},
        {"input": {"mode.0": "x"}},
        {"name": "n*", "input": {"n": 2}},
    ],
)
def test_a_rule_that_fits_makes_the_case_deviate(conditions):
    fitting = rule(**conditions)
    assert check(TOPIC, case(2, 5), ADAPTER, [fitting]) is fitting


@pytest.mark.parametrize(
    "conditions",
    [
        {"name": "m*"},
        {"input": {"n": 3}},
        {"input": {"mode.1": "x"}},
        {"when": "is_negative"},
        {"name": "n*", "input": {"m": 2}},
    ],
)
def test_a_rule_that_does_not_fit_changes_nothing(conditions):
    with pytest.raises(AssertionError):
        check(TOPIC, case(2, 5), ADAPTER, [rule(**conditions)])


def test_a_rule_of_another_topic_changes_nothing():
    other = Rule(topic="peer-system/triple", reason="design 8", name="*", function="doubled")
    with pytest.raises(AssertionError):
        check(TOPIC, case(2, 5), ADAPTER, [other])


def test_a_rule_may_ask_the_adapter_whether_it_fits():
    fitting = rule(when="is_negative")
    assert check(TOPIC, case(-2, 5), ADAPTER, [fitting]) is fitting


def test_a_rule_that_agrees_with_the_recording_is_no_deviation():
    assert check(TOPIC, case(2, 4), ADAPTER, [rule(name="*")]) is None


def test_an_answer_other_than_the_rule_s_fails_even_if_it_was_recorded():
    wrong = Rule(topic="peer-system/double", reason="design 8", name="*", function="tripled")
    with pytest.raises(AssertionError, match="got 4, expected 6"):
        check(TOPIC, case(2, 4), ADAPTER, [wrong])


def test_the_first_fitting_rule_counts():
    first = Rule(topic="peer-system/double", reason="one", name="n-2", value=(4,))
    assert check(TOPIC, case(2, 5), ADAPTER, [first, rule(name="*")]) is first


def test_what_is_recommended_stands_above_what_was_recorded():
    assert check(TOPIC, case(2, 5, recommended=4), ADAPTER) is None
    with pytest.raises(AssertionError):
        check(TOPIC, case(2, 4, recommended=5), ADAPTER)


def test_a_rule_stands_above_what_is_recommended():
    fitting = rule(name="*")
    assert check(TOPIC, case(2, 5, recommended=6), ADAPTER, [fitting]) is fitting


def test_an_adapter_may_compare_in_its_own_way():
    def run(case_input):
        return [case_input["n"], 1]

    def compare(actual, expected):
        assert sorted(actual) == sorted(expected)

    assert check(TOPIC, case(2, [1, 2]), SimpleNamespace(run=run, compare=compare)) is None


@pytest.mark.parametrize(
    ("actual", "recommended"),
    [
        (4, 4),
        ([], {"value": [], "why": "w"}),
        ("29% completion", {"contains": ["29%"], "why": "w"}),
        ({"title": "", "tasks": [1]}, {"field": {"title": ""}, "why": "w"}),
        ({"title": "", "tasks": [1]}, {"title": "", "why": "w"}),
    ],
)
def test_a_partial_recommendation_is_met(actual, recommended):
    compare_recommended(actual, recommended, assert_equal)
    with pytest.raises(AssertionError):
        compare_recommended({"other": 1}, recommended, assert_equal)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1, 1.0),
        (0.1 + 0.2, 0.3),
        (1e300 * (1 + 1e-12), 1e300),
        ((1, 2), [1, 2]),
        (float("nan"), float("nan")),
        (None, None),
    ],
)
def test_equal_values(actual, expected):
    assert_equal({"a": [actual]}, {"a": [expected]})


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        *((True, 1), (1, True), (1, "1"), (None, 0), (10**12, 10**12 + 1), (0.3, 0.300001), (float("nan"), 1.0)),
        *(([1], [1, 2]), ([1, 2], [1]), ({"a": 1}, {}), ({}, {"a": 1}), ([], {}), ("\ud83d", "x")),
    ],
)
def test_unequal_values(actual, expected):
    with pytest.raises(AssertionError, match=r"^\$\.a\[0\]"):
        assert_equal({"a": [actual]}, {"a": [expected]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('topic = "s/t"\nname = "n"\nvalue = 1', "reason is missing"),
        ('topic = "s/t"\nname = "n"\nvalue = 1\nreason = " "', "reason is missing"),
        ('reason = "r"\nname = "n"\nvalue = 1', "topic is missing"),
        ('topic = "s/t"\nreason = "r"\nfunction = "f"', "no condition"),
        ('topic = "s/t"\nreason = "r"\nname = "n"', "either value or function"),
        ('topic = "s/t"\nreason = "r"\nname = "n"\nvalue = 1\nfunction = "f"', "either value or function"),
        ('topic = "s/t"\nreason = "r"\nwhen = "w"\nvalue = 1', "needs the name"),
        ('topic = "s/t"\nreason = "r"\nname = "n"\nvalue = 1\nreasons = "r"', "unknown keys"),
    ],
)
def test_an_incomplete_rule_is_refused(tmp_path, text, message):
    file = tmp_path / "deviations.toml"
    file.write_text(f"[[deviation]]\n{text}\n", encoding="utf-8")
    with pytest.raises(HarnessError, match=message):
        read_rules(file)


def test_the_rules_of_this_folder_are_complete_and_name_known_functions():
    adapters = {file.stem for file in ADAPTERS.glob("[!_]*.py")}
    for known in read_rules(DEVIATIONS):
        system, _, name = known.topic.partition("/")
        assert Topic(system, name, []).slug in adapters, known


def test_every_adapter_has_its_vectors_in_the_data_folder():
    adapters = {file.stem for file in ADAPTERS.glob("[!_]*.py")}
    assert adapters <= {topic.slug for topic in read_topics(DATA)}


def test_ids_are_made_of_letters_digits_and_underscores_and_are_unique():
    topic = Topic("praana-memory", "cli-scope", [{"name": "a b"}, {"name": "a-b"}, {"name": "a_b_2"}, {"name": "é"}])
    assert topic.ids() == [f"praana_memory__cli_scope__{name}" for name in ("a_b", "a_b_2", "a_b_2_2", "_")]
    assert unique(["x", "x", "x"]) == ["x", "x_2", "x_3"]


@pytest.fixture
def run_vectors():
    """Run the vectors of a folder in a pytest of their own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    root = Path(__file__).parents[2]

    def run(folder, *arguments):
        command = [sys.executable, "-m", "pytest", "tests/vectors/test_vectors.py", "-v", "-p", "no:cacheprovider"]
        command += ["--vectors", str(folder), *arguments]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def made_folder(tmp_path):
    cases = [
        {"name": "right one", "input": {"text": "data"}, "expected": 1},
        {"name": "wrong-one", "input": {"text": "data"}, "expected": 99},
    ]
    for topic in ("praana-context/estimate_tokens", "nobody/unknown-topic"):
        file = tmp_path / f"made/{topic}.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"source": "made", "cases": cases}), encoding="utf-8")
    return tmp_path / "made"


def test_a_wrong_vector_fails_the_run_and_an_unknown_topic_is_skipped(run_vectors, made_folder):
    result = run_vectors(made_folder)
    rows = [line.split() for line in result.stdout.splitlines()]
    assert result.returncode == 1
    assert "[praana_context__estimate_tokens__wrong_one] FAILED" in result.stdout
    assert "no adapter for nobody/unknown-topic" in result.stdout
    assert ["praana-context/estimate_tokens", "1", "-", "1", "-"] in rows
    assert ["nobody/unknown-topic", "-", "-", "-", "2"] in rows


def test_a_rule_turns_it_into_a_deviation(run_vectors, made_folder, tmp_path):
    rules = tmp_path / "rules.toml"
    condition = 'topic = "praana-context/estimate_tokens"\nname = "wrong*"\nvalue = 1\nreason = "spec 5, four letters"'
    rules.write_text(f"[[deviation]]\n{condition}\n", encoding="utf-8")
    result = run_vectors(made_folder, "--deviations", str(rules))
    rows = [line.split() for line in result.stdout.splitlines()]
    assert result.returncode == 0
    assert ["praana-context/estimate_tokens", "1", "1", "-", "-"] in rows
    assert "praana-context/estimate_tokens, wrong-one: spec 5, four letters" in result.stdout


def test_a_folder_without_vectors_is_an_error(run_vectors, tmp_path):
    result = run_vectors(tmp_path)
    assert result.returncode not in {0, 1, 5}
    assert "no vectors in" in result.stdout + result.stderr
