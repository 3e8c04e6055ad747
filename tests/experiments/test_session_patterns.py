"""Patterns of recorded sessions: what is told of each, what is told anew, and what a forgotten session leaves."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from scored_sessions import BUSY, CUT, OWN, write_sessions
from transcripts import jsonl, prompt, response, text

import workbench as wb
from workbench.errors import BadInputError
from workbench.experiments.session_patterns import learn, top_patterns
from workbench.experiments.task_types import TABLES, task_types


@pytest.fixture
def files(tmp_path):
    write_sessions(tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def bench(tmp_path, files):
    bench = wb.open(tmp_path / "home")
    bench.ingest(files)
    return bench


def told(bench):
    names = ("session_id", "task_type", "tool_sequence", "artifact_types")
    return {row[0]: row[1:] for row in bench.sql(f"select {', '.join(names)} from session_patterns").rows()}


def test_each_session_is_told_once_by_our_own_names_of_its_tools(bench):
    found = bench.patterns()
    assert told(bench)[OWN] == (
        "reviewing",
        ["read_file", "shell", "retrieve_artifact", "search_turn_events", "recall", "load_skill"],
        ["diff"],
    )
    assert told(bench)[BUSY][1] == ["read_file", "edit_file", "shell", "Skill", "Task"]
    assert found["task_type"].to_list().count("reviewing") == 1
    heard = []
    assert bench.patterns(progress=lambda *done: heard.append(done)).equals(found)
    assert heard == []


def test_a_session_that_grew_is_told_anew_and_the_old_telling_no_longer_counts(bench, files):
    before = bench.patterns("implementing")
    path = files / f"projects/-srv-work-demo/{CUT}.jsonl"
    more = [
        prompt("x2", [{"type": "tool_result", "tool_use_id": "tx1", "content": "made"}], session=CUT, seconds=202),
        response("x3", "msg_x3", text("Made."), session=CUT, seconds=203),
        prompt("x4", "Please implement it.", session=CUT, seconds=204),
    ]
    path.write_bytes(path.read_bytes() + jsonl(*more))
    bench.ingest(files)
    heard = []
    after = bench.patterns("implementing", progress=lambda *done: heard.append(done[1]))
    assert set(heard) == {1}
    assert bench.sql("select count(*) from session_patterns where session_id = ?", [CUT]).item() == 2
    assert after.filter(pl.col("tool_sequence") == ["shell"]).height == 1
    assert before.filter(pl.col("tool_sequence") == ["shell"]).height == 0


def test_other_settings_tell_every_session_anew(tmp_path, bench):
    assert learn(bench._lake, bench.config) == 4
    assert learn(bench._lake, bench.config) == 0
    other = wb.open(tmp_path / "home", workflow={"max_tools": 1})
    assert learn(other._lake, other.config) == 4
    assert all(len(row["tool_sequence"]) == 1 for row in other.patterns().iter_rows(named=True))


def test_patterns_of_a_moment_are_those_of_the_sessions_that_had_ended(bench):
    ends = dict(bench.sql("select session_id, ended_at from sessions").rows())
    first = min(ends[BUSY], ends[OWN])
    assert bench.patterns(as_of=first - timedelta(seconds=1)).height == 0
    assert bench.patterns(as_of=first).height <= bench.patterns().height
    with pytest.raises(BadInputError, match="with a zone"):
        bench.patterns(as_of=first.replace(tzinfo=None))


def test_a_forgotten_session_leaves_no_pattern(bench):
    bench.patterns()
    bench.forget(OWN)
    assert OWN not in told(bench)
    assert bench.patterns("reviewing").height == 0


def test_the_task_is_that_of_the_last_message_and_the_tools_before_it(bench):
    connection = bench._lake.connection(TABLES)
    kinds = task_types(connection, bench.config.context_engine)
    connection.close()
    assert kinds[OWN] == "reviewing"
    assert set(kinds) == {BUSY, CUT, OWN, "aider-20260302-100000"}
    assert dict(bench.scorecards().select("session_id", "task_type").rows()) == kinds


def test_the_patterns_of_a_kind_can_be_rendered(bench):
    (pattern,) = top_patterns(bench.patterns(), "reviewing")
    assert (pattern.task_type, pattern.hit_count, pattern.tool_sequence[0]) == ("reviewing", 1, "read_file")
    assert top_patterns(bench.patterns(), "testing") == []
