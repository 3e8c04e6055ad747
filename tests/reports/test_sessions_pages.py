"""A page for each session inside the report: what it shows and leaves out, and that all together keep to a budget."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from report_pages import Page

from workbench.reports.render.numbers import Clock
from workbench.reports.render.page import page
from workbench.reports.sessions_frames import SessionsFrames
from workbench.reports.sessions_pages import BUDGET, MOST_PAGES, PageFrames, page_id, paged, pages

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
CLOCK = Clock.of(UTC, [NINE])

ITEMS = {
    "session_id": pl.String, "event_id": pl.String, "seq": pl.Int64, "turn": pl.Int64, "chain": pl.String,
    "kind": pl.String, "began_at": pl.Datetime("us", "UTC"), "ended_at": pl.Datetime("us", "UTC"), "tokens": pl.Int64,
    "name": pl.String, "said": pl.String, "is_failed": pl.Boolean, "status": pl.String,
}  # fmt: skip
MESSAGES = {
    "session_id": pl.String, "seq": pl.Int64, "turn": pl.Int64, "agent_id": pl.String, "kind": pl.String,
    "name": pl.String, "occurred_at": pl.Datetime("us", "UTC"), "status": pl.String, "duration_ms": pl.Int64,
    "body": pl.String, "body_length": pl.Int64, "result": pl.String, "result_length": pl.Int64, "images": pl.Int64,
}  # fmt: skip
EXCHANGES = {
    "session_id": pl.String, "turn": pl.Int64, "started_at": pl.Datetime("us", "UTC"), "duration_ms": pl.Int64,
    "asked": pl.String, "asked_length": pl.Int64, "answered": pl.String, "answered_length": pl.Int64,
    "responses": pl.Int64, "tool_calls": pl.Int64, "tool_errors": pl.Int64, "output_tokens": pl.Int64,
    "is_interrupted": pl.Boolean, "is_compacted": pl.Boolean,
}  # fmt: skip


def frame(schema, rows):
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def message(session_id, seq, kind, body="", **more):
    return {
        "session_id": session_id, "seq": seq, "turn": 1, "kind": kind, "occurred_at": NINE + timedelta(seconds=seq),
        "status": "ok", "body": body, "body_length": len(body), "result_length": len(more.get("result") or ""),
        "images": 0, **more,
    }  # fmt: skip


def exchange(session_id, asked="Fix it", answered="Done."):
    return {
        "session_id": session_id, "turn": 1, "started_at": NINE, "duration_ms": 9000, "asked": asked,
        "asked_length": len(asked), "answered": answered, "answered_length": len(answered), "responses": 2,
        "tool_calls": 1, "tool_errors": 1, "is_interrupted": True, "is_compacted": False,
    }  # fmt: skip


def section(session_ids, messages=(), exchanges=None, characters=2000, budget=BUDGET):
    row = {"prompts": 1, "responses": 2, "tool_calls": 1, "tool_errors": 1, "agent": "claude-code", "started_at": NINE}
    frames = SessionsFrames.of(
        session_overview=[
            {**row, "session_id": session_id, "title": f"Title {session_id}"} for session_id in session_ids
        ],
        session_costs=[{"session_id": session_id, "cost_usd": 0.5} for session_id in session_ids],
    )
    told = [exchange(session_id) for session_id in session_ids] if exchanges is None else exchanges
    texts = PageFrames(frame(ITEMS, []), frame(MESSAGES, messages), frame(EXCHANGES, told), characters)
    return Page(page("Sessions", [pages(frames, texts, CLOCK, budget=budget)]))


def test_a_page_tells_the_whole_conversation():
    shown = section(
        ["s1"],
        [
            message("s1", 1, "prompt", "Fix the <build>"),
            message("s1", 2, "response", "", name="m-1"),
            message("s1", 3, "tool", "make", name="Bash", status="error", duration_ms=1500, result="Error 2"),
            message("s1", 4, "tool", "x", name="Grep", agent_id="agent-a", status="open"),
            message("s1", 5, "response", "Done.", name="m-1"),
        ],
    )
    assert shown.text("session-s1") == (
        "agent claude-code started (UTC) 2026-03-02 09:00 prompts 1 responses 2 calls 1, 1 failed cost $0.50 "
        "Prompt 1 09:00:01 Fix the <build> Bash 09:00:03 · failed, 1.5 s make Error 2 "
        "Grep 09:00:04 · sub-agent agent-a, no result x Response 09:00:05 · m-1 Done."
    )


def test_a_long_text_is_cut_and_says_by_how_much():
    shown = section(["s1"], [message("s1", 1, "prompt", "a" * 50, body_length=5050)], characters=20)
    assert shown.text("session-s1").endswith("Prompt 1 09:00:01 aaaaaaaaaaaaaaaaaaaa [5,030 more characters]")


def test_what_does_not_fit_the_budget_shows_its_exchanges():
    messages = [message(session_id, 1, "prompt", "b" * 1500) for session_id in ("new", "old")]
    shown = section(["new", "old"], messages, budget=3_600)
    assert "b" * 1500 in shown.text("session-new"), "the newest first"
    assert shown.text("session-old").endswith(
        "Its exchanges; the whole conversation is in the report of this session alone. "
        "Exchange 1 09:00:00 · 2 responses, 1 call, 1 failed, 9.0 s, interrupted Fix it Done."
    )


def test_pages_of_a_few_sessions_stand_open():
    open_ones = [section([str(n) for n in range(number)]).attributes.count(("open", None)) for number in (1, 3, 4)]
    assert open_ones == [1, 3, 0]


def test_of_very_many_sessions_the_newest_have_a_page():
    ids = [f"s{number}" for number in range(1000)]
    shown = section(ids)
    assert len([name for name in shown.ids() if name.startswith("session-")]) == MOST_PAGES == len(paged(ids))
    assert f"The newest {MOST_PAGES} of 1,000." in shown.text("sessions")


@pytest.mark.parametrize(
    ("session_id", "place"),
    [("0af-b_1", "session-0af-b_1"), ('a b"<#', "session-94cc2bce95150175"), ("x" * 81, "session-4d1f7bb876c6aae0")],
)
def test_a_page_has_a_place_that_can_be_an_address(session_id, place):
    assert page_id(session_id) == place
