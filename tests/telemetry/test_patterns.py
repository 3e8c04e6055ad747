"""Patterns of work: extraction, key, fold with expiry, rendering."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config.study import Workflow
from workbench.store.sql import query
from workbench.store.tables.telemetry import workflow_patterns_sql
from workbench.telemetry.patterns import (
    Pattern,
    artifact_types,
    pattern_id,
    pattern_key,
    render_patterns,
    rules_of,
    tool_sequence,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS = {
    "session_id": pl.String,
    "state": pl.String,
    "rules": pl.String,
    "task_type": pl.String,
    "tool_sequence": pl.List(pl.String),
    "artifact_types": pl.List(pl.String),
    "pattern_id": pl.String,
    "seen_at": pl.Datetime("us", "UTC"),
    "recorded_at": pl.Datetime("us", "UTC"),
}


def fold(sessions, *, sql=None, as_of=None, keep_days=30.0):
    """Hits and days of first and last sight by tools; sessions are (day, tools, artifact types)."""
    rows = [
        (
            str(place),
            "s",
            "r",
            "testing",
            [*tools],
            [*kinds],
            pattern_id("testing", [*tools], [*kinds]),
            START + timedelta(days=day),
            START,
        )
        for place, (day, tools, *kinds) in enumerate(sessions)
    ]
    with duckdb.connect() as connection:
        connection.execute("set TimeZone='UTC'")
        connection.register("session_patterns", pl.DataFrame(rows, schema=COLUMNS, orient="row").to_arrow())
        connection.execute("create temp view session_states as select distinct session_id, state from session_patterns")
        moment = None if as_of is None else START + timedelta(days=as_of)
        asked = None if sql else {"keep_days": keep_days, "as_of": moment}
        frame = connection.sql(sql or workflow_patterns_sql(), params=asked).pl()
    return [
        (
            "".join(row["tool_sequence"]),
            row["hit_count"],
            (row["created_at"] - START) / timedelta(days=1),
            (row["last_seen_at"] - START) / timedelta(days=1),
        )
        for row in frame.iter_rows(named=True)
    ]


def by_hand(sessions, keep_days=30):
    """The seed's table: pruned whenever a session ends, then that session's pattern is stored."""
    rows = {}
    for day, tools in sorted(sessions):
        rows = {name: row for name, row in rows.items() if row[2] >= day - keep_days}
        hits, created, _ = rows.get(tools, (0, day, day))
        rows[tools] = (hits + 1, created, day)
    return sorted((name, *row) for name, row in rows.items())


def test_failed_tools_are_no_part_of_a_sequence_until_they_succeed():
    calls = [("shell", True), ("read_file", False), ("shell", False), ("read_file", False)]
    assert tool_sequence(calls, 20) == ["read_file", "shell"]
    assert tool_sequence(calls, 1) == ["read_file"]


def test_kinds_of_output_go_by_count_and_ties_by_first_use():
    assert artifact_types(["2", "log", "diff", "diff", "1"], 3) == ["diff", "2", "log"]


def test_the_key_has_the_kinds_of_output_and_without_them_is_that_of_the_source():
    assert pattern_key("testing", ["read_file", "shell"]) == "testing-45fc37f0"
    assert (
        len(
            {
                pattern_key("testing", ["a"]),
                pattern_key("testing", ["a"], ["log"]),
                pattern_key("testing", ["log", "a"]),
            }
        )
        == 3
    )


@pytest.mark.parametrize(("task_type", "tools"), [("general", ["shell"]), ("testing", [])])
def test_a_task_of_no_kind_and_one_without_a_tool_have_no_pattern(task_type, tools):
    assert pattern_id(task_type, tools) is None


def test_patterns_with_other_outputs_are_others():
    assert fold([(0, "a", "log"), (1, "a", "log"), (2, "a", "diff"), (3, "a")]) == [
        ("a", 2, 0, 1),
        ("a", 1, 3, 3),
        ("a", 1, 2, 2),
    ]


def test_a_pattern_of_thirty_days_ago_is_kept_and_one_a_moment_older_is_gone():
    assert fold([(0, "a"), (30, "b")]) == [("b", 1, 30, 30), ("a", 1, 0, 0)]
    assert fold([(0, "a"), (30.001, "b")]) == [("b", 1, pytest.approx(30.001), pytest.approx(30.001))]


def test_a_pattern_that_comes_back_after_it_was_forgotten_counts_from_one():
    assert fold([(0, "a"), (1, "a"), (40, "a"), (50, "a")]) == [("a", 2, 40, 50)]


def test_the_past_is_told_as_it_was_then():
    sessions = [(0, "a"), (10, "a"), (60, "b")]
    assert fold(sessions, as_of=5) == [("a", 1, 0, 0)]
    assert fold(sessions, as_of=20) == [("a", 2, 0, 10)]
    assert fold(sessions, as_of=70) == [("b", 1, 60, 60)]
    assert fold(sessions, as_of=70, keep_days=90) == [("a", 2, 0, 10), ("b", 1, 60, 60)]


def test_the_file_is_the_fold_at_the_end_of_the_newest_session():
    sessions = [(0, "a"), (10, "a"), (35, "b")]
    assert fold(sessions, sql=query("workflow_patterns")) == fold(sessions) == [("a", 2, 0, 10), ("b", 1, 35, 35)]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 120), st.sampled_from("abc")), min_size=1, max_size=12, unique_by=lambda one: one[0]
    )
)
def test_the_fold_is_the_seeds_table_pruned_at_every_session(sessions):
    assert sorted(fold(sessions)) == by_hand(sessions)


def test_rendering_weighs_tools_by_hits_and_stops_at_the_configured_numbers():
    patterns = [
        Pattern("testing", ("a", "b"), ("x",), 5),
        Pattern("testing", ("b", "c"), ("y", "x"), 4),
        Pattern("testing", ("d",), (), 1),
    ]
    few = Workflow(patterns_shown=2, tools_shown=2, artifact_types_shown=1)
    assert render_patterns("testing", patterns, few) == (
        "## Workflow Context\n\nBased on 9 past testing sessions:\n"
        "- Tools typically used: b, a\n- Artifact types typically relevant: x"
    )
    assert render_patterns("testing", patterns[2:], few) == (
        "## Workflow Context\n\nBased on 1 past testing session:\n- Tools typically used: d"
    )
    assert render_patterns("testing", [], few) == ""


def test_other_settings_are_other_rules():
    assert rules_of(Workflow()) == rules_of(Workflow(patterns_shown=1)) != rules_of(Workflow(max_tools=3))
