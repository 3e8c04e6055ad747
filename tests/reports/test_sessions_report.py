"""The page of the sessions report: what stands in it, and what never does."""

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from report_pages import FRAME, HOSTILE, Page

from workbench import __version__
from workbench.reports.render.html import ELEMENTS
from workbench.reports.render.text import one_line
from workbench.reports.sessions import sessions_report
from workbench.reports.sessions_frames import SessionsFrames

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
NINE = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)

SECTIONS = [
    "overview", "activity", "tokens", "tools", "failures", "files", "longest", "most-tokens", "most-expensive",
    "projects", "subagents", "issues", "counting",
]  # fmt: skip
CHARTS = ["sessions-over-time", "output-over-time", "calls-by-hour", "sessions-by-output", "cache-share", "tool-calls"]
TABLES = [
    "tokens-by-model", "failing-tools", "longest-sessions", "most-tokens-sessions", "projects-table", "subagents-table",
    "issues-table",
]  # fmt: skip

SESSION = {
    "session_id": "0123456789abcdef", "project_id": "p1", "agent": "claude-code", "title": "Fix the build",
    "cwd": "/srv/demo", "started_at": NINE, "ended_at": NINE + timedelta(hours=3), "duration_ms": 10_800_000,
    "active_ms": 65_000, "prompts": 3, "responses": 12, "tool_calls": 9, "sidechain_tool_calls": 2, "tool_errors": 3,
    "subagents": 1, "interrupts": 1, "compactions": 2, "model_calls": 14, "input_tokens": 100, "output_tokens": 2500,
    "cache_read_tokens": 800, "cache_write_tokens": 100, "issues": 1,
}  # fmt: skip

FRAMES = SessionsFrames.of(
    session_overview=[SESSION],
    model_calls_by_quarter_hour=[
        {
            "quarter_at": NINE, "model": "some-model-1", "calls": 14, "input_tokens": 100, "output_tokens": 2500,
            "cache_read_tokens": 800, "cache_write_tokens": 100, "cost_usd": 1.23, "unpriced_calls": 1,
        }
    ],
    session_costs=[{"session_id": "0123456789abcdef", "cost_usd": 2.0, "unpriced_calls": 1}],
    tool_retries=[{"tool": "Bash", "failed": 2, "retried": 2, "unchanged": 1, "recovered": 1}],
    files_touched=[
        {"file": "src/app.py", "cwd": "/srv/demo", "exchanges_wrote": 2, "exchanges_read": 3, "sessions": 1},
        {"file": "README.md", "cwd": "/srv/demo", "exchanges_wrote": 0, "exchanges_read": 1, "sessions": 1},
    ],
    subagent_runs=[
        {
            "session_id": "0123456789abcdef", "agent_id": "a1", "task": "Look around", "answer": "It is small.",
            "started_at": NINE, "duration_ms": 9000, "responses": 2, "tool_calls": 4, "tool_errors": 1,
            "output_tokens": 77,
        }
    ],
    tool_outcomes=[
        {"tool": "Bash", "calls": 7, "sessions": 1, "sidechain_calls": 2, "failed": 2, "rejected": 1, "median_ms": 430},
        {"tool": "Read", "calls": 2, "sessions": 1, "failed": 0, "rejected": 0},
    ],
    tool_failure_lines=[{"tool": "Bash", "line": "make: *** [all] Error 2", "calls": 2, "sessions": 1}],
    import_issue_kinds=[
        {"issue": "bad_json", "records": 1, "files": 1, "example": "not JSON: {", "path": "/a.jsonl", "line": 7}
    ],
)  # fmt: skip


def report(frames, **options):
    return sessions_report(frames, created_at=NOW, **{"zone": UTC, **options})


def test_the_page_tells_the_numbers():
    page = Page(report(FRAMES))
    assert page.ids() >= {*SECTIONS, *CHARTS, *TABLES}
    assert page.text("top") == "Sessions 1 session in 1 project by claude-code, 2\N{EN DASH}3 Mar 2026"
    assert page.text("overview").startswith(
        "Overview sessions 1 in 1 project span 2 days 1 min 05 s active prompts 3 median 3 a session "
        "model responses 12 14 calls with sub-agents tool calls 9 2 by sub-agents "
        "failed tool calls 3 33.3 %; 1 rejected by a person output tokens 2.50 k 2.50 k a session "
        "input tokens 1.00 k 80.0 % read from the cache cost $1.23 without 1 call of no known price "
        "sub-agents 1 in 1 session interrupts 1 in 1 session "
        "compactions 2 in 1 session"
    )
    assert "1 thing was not as it should be in the imported files: import issues ." in page.text("overview")
    assert "Bash failed most often: 2 of 7 calls (28.6 %)." in page.text("overview")
    assert page.text("failing-tools").endswith("Bash 2 28.6 % 1 2 × make: *** [all] Error 2")  # noqa: RUF001
    assert page.text("retries").endswith("Bash 2 2 1 1 50.0 %")
    assert page.text("tokens-by-model").endswith("some-model-1 14 100 100 800 80.0 % 2.50 k $1.23")
    assert page.text("most-expensive-sessions").endswith("2026-03-02 23:30 3 12 1.00 k 80.0 % 2.50 k $2.00")
    assert page.text("most-expensive").startswith("Sessions that cost the most In US dollars")
    assert "1 call without a known price left out." in page.text("most-expensive")
    assert page.text("files-table").endswith("src/app.py 2 3 1 /srv/demo README.md 0 1 1 /srv/demo")
    assert page.text("files").startswith("Files 2 files touched by file tools, 1 of them written")
    assert "Look around It is small. 2026-03-02 23:30 9.0 s 2 4 1 77" in page.text("subagent-runs")
    assert "2 Mar 2026: $1.23 cost in US dollars" in page.text("cost-over-time")
    assert "Fix the build 01234567 2026-03-02 23:30 1 min 05 s 3 h 00 min 3 12 9" in page.text("longest-sessions")
    assert page.text("issues-table").endswith("bad_json 1 1 not JSON: { /a.jsonl, line 7")
    assert page.text("foot") == f"Made 2026-04-01 12:00 by workbench {__version__}. All times are in UTC."


def test_times_and_days_are_local_and_the_zone_is_named():
    page = Page(report(FRAMES, zone=ZoneInfo("Europe/Berlin")))
    assert "started (Europe/Berlin)" in page.text("longest-sessions")
    assert "2026-03-03 00:30" in page.text("longest-sessions")
    assert page.text("activity").startswith("Activity Days and hours of Europe/Berlin.")
    assert "3 Mar 2026: 1 session " in page.text("sessions-over-time")


def test_an_empty_home_says_what_to_do():
    page = Page(report(SessionsFrames.of()))
    assert page.ids() == {"top", "empty", "foot"}
    assert "There are no sessions yet" in page.text("empty")
    assert "workbench ingest" in page.text("empty")


def test_sessions_without_times_usage_and_tools_are_told():
    bare = {"session_id": "s", "agent": "pi", "prompts": 1, "responses": 1}
    page = Page(report(SessionsFrames.of(session_overview=[bare, {**bare, "session_id": "t"}])))
    assert page.ids() >= set(SECTIONS)
    assert "No session recorded its times" in page.text("activity")
    assert "No session recorded how many tokens" in page.text("tokens")
    assert page.text("tools") == "Tools No session called a tool."
    assert page.text("failures") == "Failures No tool call failed."
    assert "as it should be" in page.text("issues")
    assert "output tokens \N{EN DASH} not recorded" in page.text("overview")


def test_some_sessions_without_times_are_counted_beside_the_chart():
    bare = {"session_id": "s", "agent": "pi", "prompts": 1}
    page = Page(report(SessionsFrames.of(session_overview=[SESSION, bare])))
    assert "1 session without times cannot be shown here." in page.text("activity")


@pytest.mark.parametrize("moment", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)])
def test_times_from_the_ends_of_the_calendar_do_not_stop_it(moment):
    odd = {**SESSION, "session_id": "odd", "started_at": moment, "ended_at": moment}
    page = Page(report(SessionsFrames.of(session_overview=[SESSION, odd]), zone=ZoneInfo("Asia/Kolkata")))
    assert "sessions-over-time" in page.ids()


TEXTS = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
"""As a frame can hold it."""


def hostile_frames():
    rows = list(enumerate(TEXTS))
    return SessionsFrames.of(
        session_overview=[
            {**SESSION, "session_id": f"{n}{text}", "project_id": str(n), "agent": text, "title": text, "cwd": text}
            for n, text in rows
        ],
        model_calls_by_quarter_hour=[
            {"quarter_at": NINE, "model": text, "calls": 1, "output_tokens": 10, "cache_read_tokens": 3}
            for _, text in rows
        ],
        tool_outcomes=[{"tool": text, "calls": 12, "failed": 2, "rejected": 1, "median_ms": 5} for _, text in rows],
        tool_failure_lines=[{"tool": text, "line": text, "calls": 2, "session_id": text} for _, text in rows],
        session_costs=[{"session_id": f"{n}{text}", "cost_usd": 1.0 + n} for n, text in rows],
        tool_retries=[{"tool": text, "failed": 2, "retried": 1, "unchanged": 1, "recovered": 0} for _, text in rows],
        files_touched=[
            {"file": text, "cwd": text, "exchanges_wrote": 1, "exchanges_read": 1, "sessions": 1} for _, text in rows
        ],
        subagent_runs=[{"session_id": text, "agent_id": text, "task": text, "answer": text} for _, text in rows],
        import_issue_kinds=[
            {"issue": text, "records": 1, "files": 1, "example": text, "path": text, "line": 3} for _, text in rows
        ],
    )


@pytest.fixture(scope="module")
def hostile_page():
    return report(hostile_frames(), title=HOSTILE[6] + HOSTILE[0], about=HOSTILE[:-1])


def test_hostile_text_in_every_field_is_only_text(hostile_page):
    page = Page(hostile_page)
    assert page.tags <= {tag.lower() for tag in ELEMENTS} | FRAME
    assert not page.tags & {"script", "iframe", "img", "link", "object", "embed", "base", "form"}
    names = {name for name, _ in page.attributes}
    assert not [name for name in names if name.startswith("on")]
    assert not names & {"src", "srcset", "style", "action", "background", "data"}
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert not [value for name, value in page.attributes if "url(" in (value or "") and name in ("fill", "stroke", "d")]
    assert len(hostile_page) < 1_000_000


@pytest.mark.parametrize(
    "place", ["failing-tools", "longest-sessions", "projects-table", "issues-table", "tokens-by-model"]
)
def test_hostile_text_is_shown_whole_or_cut_with_a_note(place, hostile_page):
    shown = Page(hostile_page).text(place)
    for text in TEXTS:
        assert one_line(text)[:150] in shown
    assert "more characters)" in shown


def test_no_control_character_reaches_the_page(hostile_page):
    assert not {c for c in hostile_page if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0}
    assert not {c for c in hostile_page if c in "\u202e\u2066\u200b" or 0xD800 <= ord(c) < 0xE000}


def test_a_thousand_sessions_stay_small_and_quick():
    sessions = [
        {
            **SESSION, "session_id": f"{n:032x}", "project_id": f"p{n % 40}", "cwd": f"/srv/{n % 40}",
            "title": f"Task {n} " + "x" * 90, "started_at": NINE + timedelta(hours=n),
            "ended_at": NINE + timedelta(hours=n + 2), "output_tokens": n * n,
        }
        for n in range(1000)
    ]  # fmt: skip
    calls = [
        {
            "quarter_at": NINE + timedelta(minutes=15 * n),
            "model": f"model-{n % 8}",
            "calls": 3,
            "output_tokens": n,
            "input_tokens": 5,
        }
        for n in range(4000)
    ]
    tools = [{"tool": f"tool_{n}", "calls": 1000 - n, "failed": n % 7, "rejected": n % 3} for n in range(200)]
    frames = SessionsFrames.of(session_overview=sessions, model_calls_by_quarter_hour=calls, tool_outcomes=tools)
    started = time.process_time()
    html = report(frames)
    assert time.process_time() - started < 5
    assert len(html.encode()) < 1_000_000
    assert "The newest 500 of 1,000 sessions." in Page(html).text("cache-share")
