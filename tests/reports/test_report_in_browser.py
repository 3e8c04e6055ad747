"""The sessions report in a browser, opened from a file without a network: it shows all, runs and asks for nothing."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from report_pages import HOSTILE

from workbench.reports.render.text import one_line
from workbench.reports.sessions import sessions_report
from workbench.reports.sessions_frames import SessionsFrames

CHROMIUM = Path("/usr/bin/chromium")
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
TEXTS = [text.encode("utf-8", "replace").decode() for text in HOSTILE]

IDS = (
    "top", "overview", "activity", "sessions-over-time", "output-over-time", "calls-by-hour", "tokens",
    "tokens-by-model",
    "sessions-by-output", "cache-share", "tools", "tool-calls", "failures", "failing-tools", "longest",
    "longest-sessions", "most-tokens", "most-tokens-sessions", "projects", "projects-table", "subagents",
    "subagents-table", "issues", "issues-table", "counting", "foot",
)  # fmt: skip

LEAST_CONTRAST = 4.5
"""Of text on its ground: WCAG 2.2, level AA."""

CONTRASTS = """
() => {
  const channel = (value) => value <= 10.03 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const ratio = (ink) => Math.max(ink / paper, paper / ink);
  return [...document.querySelectorAll("svg.chart text")].map((text) => ratio(light(getComputedStyle(text).fill)));
}
"""
"""Of every label of every chart: the relative luminances of WCAG."""


def frames():
    session = {
        "project_id": "p", "started_at": NOW, "ended_at": NOW, "duration_ms": 9, "active_ms": 9, "prompts": 1,
        "responses": 3, "tool_calls": 9, "tool_errors": 1, "subagents": 1, "model_calls": 3, "input_tokens": 5,
        "cache_read_tokens": 50, "output_tokens": 70, "issues": 1,
    }  # fmt: skip
    return SessionsFrames.of(
        session_overview=[
            {**session, "session_id": f"{n}{text}", "agent": text, "title": text, "cwd": text}
            for n, text in enumerate(TEXTS)
        ],
        model_calls_by_quarter_hour=[
            {"quarter_at": NOW, "model": text, "calls": 1, "input_tokens": 5, "output_tokens": 10} for text in TEXTS
        ],
        tool_outcomes=[{"tool": text, "calls": 12, "failed": 2, "rejected": 1} for text in TEXTS],
        tool_failure_lines=[{"tool": text, "line": text, "calls": 2} for text in TEXTS],
        import_issue_kinds=[{"issue": text, "records": 1, "files": 1, "example": text, "path": text} for text in TEXTS],
    )


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        pytest.skip(f"chromium is not installed at {CHROMIUM}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "sessions.html"
    path.write_text(sessions_report(frames(), created_at=NOW, zone=UTC, title=TEXTS[0], about=TEXTS[:-1]), "utf-8")
    return path


class Visit:
    """A page that was opened, and everything it did."""

    def __init__(self, browser, path, scheme):
        self.requests, self.complaints = [], []
        self.context = browser.new_context(offline=True, color_scheme=scheme, viewport={"width": 1100, "height": 900})
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(path.as_uri())
        self.page.wait_for_load_state("networkidle")


@pytest.fixture(scope="module", params=["light", "dark"])
def visit(request, browser, report):
    visited = Visit(browser, report, request.param)
    yield visited
    visited.context.close()


def test_it_runs_nothing_and_asks_for_nothing(visit, report):
    visit.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert visit.page.evaluate("window.pwned") is None
    assert visit.requests == [report.as_uri()]
    assert visit.complaints == []


def test_every_part_is_there(visit):
    assert [name for name in IDS if visit.page.locator(f"[id='{name}']").count() != 1] == []
    assert visit.page.locator("script, iframe, img, link, object, embed, form").count() == 0
    assert visit.page.locator("svg.chart").count() == 6


def test_a_reader_sees_the_text_itself(visit):
    seen = " ".join(visit.page.locator("#longest-sessions").inner_text().split())
    assert [text for text in TEXTS if one_line(text)[:150] not in seen] == []
    assert visit.page.title() == one_line(TEXTS[0])


def test_charts_can_be_read_on_their_ground(visit):
    assert min(visit.page.evaluate(CONTRASTS)) >= LEAST_CONTRAST


def test_the_page_is_never_wider_than_the_window(visit):
    for width in (360, 800, 1600):
        visit.page.set_viewport_size({"width": width, "height": 900})
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_menu_leads_to_the_sections(visit):
    for link in visit.page.locator("nav a").all():
        link.click()
        assert visit.page.evaluate("document.querySelector(location.hash) !== null")
