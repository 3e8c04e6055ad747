"""What the notebooks show: picking sessions by day, naming them, and frames as tables that run nothing."""

from datetime import UTC, date, datetime

import polars as pl
import pytest
from hostile_sessions import HOSTILE
from report_pages import Page

from workbench.reports.event_text import EventText, Part
from workbench.reports.looking import ROWS, event_html, frame_html, pick, session_names
from workbench.reports.render.embedded import SCOPE, embedded, section
from workbench.reports.render.page import Section

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
SESSIONS = pl.DataFrame(
    {
        "session_id": ["aaaaaaaa-1", "bbbbbbbb-2", "bbbbbbbb-3"],
        "started_at": [NINE, None, NINE.replace(day=9)],
        "title": ["Fix\nthe build", None, "Fix the build"],
    },
    schema_overrides={"started_at": pl.Datetime("us", "UTC")},
)


def shown(html):
    return Page(f"<body>{html}</body>")


def test_sessions_are_picked_by_day_and_those_without_times_stay():
    assert pick(SESSIONS, date(2026, 3, 3), date(2026, 3, 9))["session_id"].to_list() == ["bbbbbbbb-2", "bbbbbbbb-3"]
    assert pick(SESSIONS.clear(), date(2026, 3, 3), date(2026, 3, 9)).is_empty()


@pytest.mark.usefixtures("_in_utc")
def test_names_of_sessions_are_told_apart():
    same = SESSIONS.with_columns(started_at=pl.lit(None, pl.Datetime("us", "UTC")), title=pl.lit("x"))
    assert session_names(SESSIONS) == {
        "2026-03-02 09:00  Fix the build  (aaaaaaaa)": "aaaaaaaa-1",
        "\N{EN DASH}  no prompt  (bbbbbbbb)": "bbbbbbbb-2",
        "2026-03-09 09:00  Fix the build  (bbbbbbbb)": "bbbbbbbb-3",
    }
    assert list(session_names(same).values()) == ["aaaaaaaa-1", "bbbbbbbb-2", "bbbbbbbb-3"]


@pytest.fixture
def _in_utc(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_a_frame_is_a_table_of_readable_values():
    frame = pl.DataFrame(
        {"n": [1234567], "x": [0.25], "yes": [True], "when": [NINE], "what": [["a", "b"]], "none": [None]}
    )
    page = shown(frame_html(frame, id="t", none=""))
    assert page.text("t") == "n x yes when what none 1,234,567 0.25 yes 2026-03-02 09:00:00 a, b"


def test_a_long_frame_says_how_much_of_it_is_shown():
    html = frame_html(pl.DataFrame({"n": range(ROWS + 5)}), id="t", none="")
    assert f"{ROWS + 5} rows; the first {ROWS} are shown." in html
    assert html.count("<tr>") == ROWS + 1


def test_an_empty_frame_and_a_problem_say_so():
    assert shown(frame_html(pl.DataFrame({"n": []}), id="t", none="Nothing.")).text("t-none") == "Nothing."
    assert shown(frame_html(None, id="t", none="", problem="no such <column>")).text("t-problem") == "no such <column>"


def test_hostile_text_is_only_text_in_tables_and_events():
    frame = pl.DataFrame({text: [text] for text in HOSTILE})
    event = EventText("e", HOSTILE[0], ((HOSTILE[1], HOSTILE[2]),), tuple(Part(text, text) for text in HOSTILE))
    for page in (shown(frame_html(frame, id="t", none="")), shown(event_html(event))):
        assert page.tags & {"script", "img", "iframe", "a", "svg"} == set()
        assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]


def test_an_embedded_part_brings_its_style_and_keeps_it_to_itself():
    html = section(Section("overview", "Overview", ("text",), lead="A sentence."))
    assert shown(html).text("overview") == "Overview A sentence. text"
    style = html[html.index("<style>") : html.index("</style>")]
    assert f"@scope (.{SCOPE})" in style
    assert ":root" not in style
    assert embedded("1 < 2").endswith("1 &lt; 2</div>")
