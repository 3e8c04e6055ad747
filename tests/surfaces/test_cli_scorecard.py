"""`workbench scorecard`, `workbench patterns`, `workbench sessions label`: their JSON, and what a person reads."""

from __future__ import annotations

import json

import pytest
from in_process import runner
from scored_sessions import AIDER, BUSY, CUT, OWN, write_sessions

import workbench as wb
from workbench.surfaces.cli import scorecard, sessions
from workbench.telemetry.scorecard import METRICS, NOT_SHOWN

assert scorecard
assert sessions  # importing them adds the commands

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scorecard")
    write_sessions(folder / "files")
    wb.open(folder / "home").ingest(folder / "files")
    return folder / "home"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, home):
    """Runs the command over the four sessions."""
    run = runner(capsys, monkeypatch, tmp_path)
    return lambda *arguments: run(*arguments, "--home", home)


def lines(done):
    return [" ".join(line.split()) for line in done.out.splitlines()]


def test_one_session_as_json_has_each_metric_with_its_meaning_and_standing(run):
    done = run("scorecard", BUSY, "--json")
    told = json.loads(done.out)
    assert (done.code, set(told)) == (0, {"session", "metrics", "not_shown"})
    assert [each["name"] for each in told["metrics"]] == [each.name for each in METRICS]
    assert told["not_shown"] == NOT_SHOWN
    by_name = {each["name"]: each for each in told["metrics"]}
    assert by_name["failed_calls"] == {
        "name": "failed_calls",
        "value": 3,
        "rate_name": "tool_error_rate",
        "rate": 0.230769,
        "standing": "known",
        "unit": "count",
        "better": "lower",
        "version": 1,
        "meaning": "Tool calls that failed; what a person refused is not among them.",
    }
    assert (by_name["recall_calls"]["value"], by_name["recall_calls"]["standing"]) == (None, "not_applicable")
    assert told["session"]["session_id"] == BUSY
    assert told["session"]["final"] is True


def test_one_session_for_a_person_names_what_its_records_cannot_show(run):
    told = lines(run("scorecard", BUSY))
    assert "Skills unique: 1 load_events: 2 reloads: 1 underloads: - tokens: -" in told
    assert "repeat_file_reads 1 0.25 repeat_read_rate lower" in told
    assert "unknown of this session: compiled_prompts, pressure_events, compaction_triggers" in told
    assert told[-1].startswith("not in claude-code records: artifact_retrieve_calls, ")


def test_the_list_shows_rates_and_their_medians(run):
    told = lines(run("scorecard"))
    assert told[0] == "session arm task turns calls/turn failed re-read tests failed output/turn USD title"
    (busy,) = [line for line in told if line.startswith(BUSY)]
    assert "debugging 2 6.5 23.1% 25% 67% 82" in busy
    assert [line for line in told if line.startswith("median")]
    assert told[-1] == "4 of 4 sessions; all projects"


def test_the_list_as_json_has_a_row_a_session_and_filters_by_arm(run):
    rows = json.loads(run("scorecard", "--json").out)
    assert {row["session_id"] for row in rows} == {BUSY, CUT, OWN, AIDER}
    assert {"tool_error_rate", "not_applicable", "arm", "task_type", "cost_usd"} <= rows[0].keys()
    assert json.loads(run("scorecard", "--arm", "nobody", "--json").out) == []
    assert lines(run("scorecard", "--arm", "nobody"))[-1] == "0 of 0 sessions; only arm nobody"


def test_an_unknown_session_is_named(run):
    done = run("scorecard", "nobody")
    assert (done.code, "no session begins with 'nobody'" in done.err) == (3, True)


def test_patterns_say_how_work_of_a_kind_went_and_what_a_prompt_would_tell(run):
    done = run("patterns", "--task", "debugging")
    told = lines(done)
    assert told[0] == "task sessions last seen tools outputs"
    assert "1 of 1 pattern; as of the newest session's end" in told
    assert "- Tools typically used: read_file, edit_file, shell, Skill, Task" in told
    (row,) = json.loads(run("patterns", "--task", "debugging", "--json").out)
    assert set(row) == {
        "pattern_id",
        "task_type",
        "tool_sequence",
        "artifact_types",
        "hit_count",
        "last_seen_at",
        "created_at",
    }
    assert row["last_seen_at"] == "2026-03-02T09:01:51Z"
    assert json.loads(run("patterns", "--as-of", "2020-01-01", "--json").out) == []


def test_labels_are_set_shown_and_taken_away_and_sessions_still_lists(run):
    done = run("sessions", "label", CUT, "--arm", "new", "--tag", "a", "--tag", SECRET, "--title", "Mine", "--json")
    told = json.loads(done.out)
    assert (told["session_id"], told["arm"], told["title"], told["project"]) == (CUT, "new", "Mine", None)
    assert SECRET not in done.out
    assert told["tags"][0] == "a"
    told = json.loads(run("sessions", "label", CUT, "--untag", "a", "--arm", "", "--json").out)
    assert (told["arm"], told["title"], len(told["tags"])) == (None, "Mine", 1)
    assert "title Mine" in lines(run("sessions", "label", CUT))
    assert run("show", CUT).out.startswith("Mine\n")
    listed = json.loads(run("sessions", "--json").out)
    assert {row["session_id"] for row in listed} == {BUSY, CUT, OWN, AIDER}
    assert next(row["title"] for row in listed if row["session_id"] == CUT) == "Mine"


def test_the_home_may_stand_before_the_sub_command(capsys, monkeypatch, tmp_path, home):
    run = runner(capsys, monkeypatch, tmp_path)
    done = run("sessions", "--home", home, "label", BUSY, "--json")
    assert (done.code, json.loads(done.out)["session_id"]) == (0, BUSY)


def test_a_session_that_is_not_there_cannot_be_labelled(run):
    done = run("sessions", "label", "nobody", "--arm", "x")
    assert (done.code, "no session begins with 'nobody'" in done.err) == (3, True)
