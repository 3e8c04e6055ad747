"""The numbers of the sessions report, from literal rows to literal rows."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from workbench.reports.render.numbers import Clock
from workbench.reports.sessions_frames import SessionsFrames
from workbench.reports.sessions_numbers import (
    Bin,
    Span,
    begin,
    by_hour,
    by_model,
    by_project,
    by_size,
    failing_tools,
    following,
    largest_series,
    over_time,
    share_of_top,
    top,
    totals,
    unit_of,
    with_sum,
)

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)

FRAMES = SessionsFrames.of(
    session_overview=[
        {
            "session_id": "s1", "project_id": "p1", "agent": "claude-code", "cwd": "/a", "started_at": NINE,
            "ended_at": TEN, "active_ms": 1000, "prompts": 2, "responses": 5, "tool_calls": 4,
            "sidechain_tool_calls": 1, "tool_errors": 2, "subagents": 1, "interrupts": 0, "compactions": 1,
            "model_calls": 6, "output_tokens": 300, "issues": 1,
        },
        {
            "session_id": "s2", "project_id": "p1", "agent": "pi", "cwd": "/a", "prompts": 1, "responses": 1,
            "tool_calls": 0, "tool_errors": 0, "model_calls": 2, "output_tokens": 100,
        },
        {"session_id": "s3", "agent": "pi", "prompts": 1},
    ],
    model_calls_by_quarter_hour=[
        {
            "quarter_at": NINE, "model": "m", "calls": 5, "input_tokens": 10, "output_tokens": 300,
            "cache_read_tokens": 80,
        },
        {"quarter_at": None, "model": "m", "calls": 1, "output_tokens": 50, "cache_write_tokens": 10},
        {"quarter_at": TEN, "model": "n", "calls": 1},
    ],
    tool_outcomes=[
        {"tool": "Bash", "calls": 3, "failed": 1, "rejected": 1},
        {"tool": "Read", "calls": 1, "failed": 0, "rejected": 0},
        {"tool": "Plan", "calls": 1, "failed": None, "rejected": 1},
    ],
    tool_failure_lines=[{"tool": "Bash", "line": "make: *** Error", "calls": 1, "sessions": 1, "session_id": "s1"}],
)  # fmt: skip


def test_sums_count_each_call_once_and_leave_open_what_is_not_known():
    total = totals(FRAMES)
    assert (total.sessions, total.projects, total.agents) == (3, 1, ["claude-code", "pi"])
    assert (total.prompts, total.responses, total.tool_calls, total.sidechain_tool_calls) == (4, 6, 4, 1)
    assert (total.tool_errors, total.rejected) == (2, 2)
    assert (total.subagents, total.interrupts, total.compactions, total.issues) == (1, 0, 1, 1)
    assert (total.first_at, total.last_at, total.active_ms) == (NINE, TEN, 1000)
    assert (total.model_calls, total.repeated_calls) == (7, 1)
    assert (total.input_tokens, total.cache_read_tokens, total.cache_write_tokens, total.output_tokens) == (
        10,
        80,
        10,
        350,
    )
    assert total.all_input == 100


def test_nothing_gives_nothing():
    total = totals(SessionsFrames.of())
    assert (total.sessions, total.prompts, total.output_tokens, total.all_input, total.active_ms, total.first_at) == (
        (0, 0, None, None, None, None)
    )
    assert by_model(SessionsFrames.of()) == []
    assert by_project(SessionsFrames.of().session_overview) == []
    assert failing_tools(SessionsFrames.of()) == []
    assert by_size([]) == []
    assert unit_of([]) == "day"


@pytest.mark.parametrize(
    ("unit", "first", "after"),
    [
        ("day", date(2026, 3, 4), date(2026, 3, 5)),
        ("week", date(2026, 3, 2), date(2026, 3, 9)),
        ("month", date(2026, 3, 1), date(2026, 4, 1)),
        ("year", date(2026, 1, 1), date(2027, 1, 1)),
    ],
)
def test_a_wednesday_lies_in_its_unit(unit, first, after):
    assert (begin(date(2026, 3, 4), unit), following(first, unit)) == (first, after)


@pytest.mark.parametrize("unit", ["day", "week", "month", "year"])
def test_the_end_of_time_follows_itself(unit):
    assert following(date.max, unit) == date.max


@pytest.mark.parametrize(
    ("first", "last", "unit"),
    [
        (date(2026, 1, 1), date(2026, 1, 1), "day"),
        (date(2026, 1, 1), date(2026, 4, 10), "day"),
        (date(2026, 1, 1), date(2026, 4, 11), "week"),
        (date(2020, 1, 1), date(2026, 1, 1), "month"),
        (date(1970, 1, 1), date(2026, 1, 1), "year"),
    ],
)
def test_the_unit_is_the_smallest_that_fits(first, last, unit):
    assert unit_of([last, first]) == unit


def test_values_are_summed_by_unit_and_series():
    entries = [
        (date(2026, 3, 4), "m", 5),
        (date(2026, 3, 2), "m", 1),
        (date(2026, 3, 3), "tiny", 2),
        (date(2026, 3, 9), "n", 3),
        (date(2026, 3, 9), "m", 0),
    ]
    assert over_time(entries, "week", ["n", "m", "others"]) == [
        Span(date(2026, 3, 2), date(2026, 3, 9), "m", 6),
        Span(date(2026, 3, 2), date(2026, 3, 9), "others", 2),
        Span(date(2026, 3, 9), date(2026, 3, 16), "n", 3),
    ]


def test_small_series_are_summed_into_one():
    assert largest_series([("a", 1), ("b", 3), ("a", 1), ("none", 0)], "others") == ["b", "a"]
    seven = [(name, number) for number, name in enumerate("gfedcba", start=1)]
    assert largest_series(seven, "others") == ["a", "b", "c", "d", "e", "others"]


def test_hours_are_those_of_the_clock():
    clock = Clock.of(ZoneInfo("America/Los_Angeles"), [NINE])
    assert by_hour(FRAMES, clock) == {(0, 1): 5, (0, 2): 1}


def test_tokens_by_model_leave_open_what_is_not_known():
    assert by_model(FRAMES) == [
        {
            "model": "m", "calls": 6, "input_tokens": 10, "output_tokens": 350, "cache_read_tokens": 80,
            "cache_write_tokens": 10, "all_input": 100, "cost_usd": None, "unpriced_calls": 0,
        },
        {
            "model": "n", "calls": 1, "input_tokens": None, "output_tokens": None, "cache_read_tokens": None,
            "cache_write_tokens": None, "all_input": None, "cost_usd": None, "unpriced_calls": 0,
        },
    ]  # fmt: skip


def test_projects_come_by_last_use():
    rows = by_project(FRAMES.session_overview)
    assert rows == [
        {
            "project_id": "p1", "cwd": "/a", "agent": "claude-code, pi", "sessions": 2, "prompts": 3, "responses": 6,
            "tool_calls": 4, "tool_errors": 2, "output_tokens": 400, "ended_at": TEN,
        },
        {
            "project_id": None, "cwd": None, "agent": "pi", "sessions": 1, "prompts": 1, "responses": 0,
            "tool_calls": 0,
            "tool_errors": 0, "output_tokens": None, "ended_at": None,
        },
    ]  # fmt: skip


def test_sizes_grow_by_one_two_five():
    assert by_size([3, 4, 9, 60]) == [Bin(2, 5, 2), Bin(5, 10, 1), Bin(10, 20, 0), Bin(20, 50, 0), Bin(50, 100, 1)]
    assert by_size([0, 0, 1, -5]) == [Bin(0, 1, 2), Bin(1, 2, 1)]
    assert by_size([100]) == [Bin(100, 200, 1)]


def test_the_top_leaves_out_those_without():
    sessions = FRAMES.session_overview
    assert [row["session_id"] for row in top(sessions, "output_tokens", 5)] == ["s1", "s2"]
    assert [row["session_id"] for row in top(sessions, "output_tokens", 1)] == ["s1"]
    assert share_of_top(sessions, "output_tokens", 1) == 0.75
    assert share_of_top(sessions, "input_tokens", 1) is None


def test_a_sum_of_columns_takes_the_unknown_for_none():
    summed = with_sum(FRAMES.session_overview, "sum", ("subagents", "compactions"))
    assert summed["sum"].to_list() == [2, 0, 0]
    assert isinstance(summed, pl.DataFrame)


def test_failing_tools_come_with_what_they_said():
    assert [
        (row["tool"], row["failed"], row["rejected"], [line["line"] for line in row["lines"]])
        for row in failing_tools(FRAMES)
    ] == [
        ("Bash", 1, 1, ["make: *** Error"]),
        ("Plan", 0, 1, []),
    ]
