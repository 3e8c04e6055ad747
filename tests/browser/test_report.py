"""The report, opened from a file without a network: all is there, nothing runs, links unfold, it prints."""

import re
import tomllib
from pathlib import Path

import pytest
from browsing import SCREENSHOTS, Visit
from hostile_sessions import HOSTILE, HOSTILE_SESSION, write_hostile_sessions

import workbench as wb
from workbench.reports.render.text import one_line
from workbench.surfaces.shipped import sample_sessions

HERE = Path(__file__).parent
EXPECTED = tomllib.loads((HERE / "expected.toml").read_text("utf-8"))["report"]

SHOWN = [one_line(text) for text in HOSTILE]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    bench = wb.open(folder / "home")
    bench.ingest(*sample_sessions())
    return bench.report("sessions", folder).path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    bench = wb.open(folder / "home")
    bench.ingest(write_hostile_sessions(folder))
    return bench.report("sessions", folder, session_ids=[HOSTILE_SESSION]).path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_samples_report_shows_everything(browser, samples, scheme):
    visit = Visit(browser, samples.as_uri(), scheme=scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert visit.missing(EXPECTED) == []
    assert visit.page.locator("svg.chart").count() == 7 + 13
    assert (visit.strangers, visit.complaints) == ([], [])
    visit.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = false; })")
    visit.page.screenshot(path=SCREENSHOTS / f"report-{scheme}.png")
    visit.close()


def test_a_link_of_a_table_unfolds_the_sessions_page(browser, samples):
    visit = Visit(browser, samples.as_uri())
    link = visit.page.locator("#most-expensive-sessions a").first
    place = visit.page.locator(f"[id='{link.get_attribute('href')[1:]}']")
    assert not place.is_visible()
    link.click()
    visit.page.wait_for_function("document.querySelectorAll('details.session[open]').length === 1")
    assert place.is_visible()
    assert "Prompt 1" in place.inner_text()
    assert place.locator("svg").count() == 1
    visit.page.screenshot(path=SCREENSHOTS / "report-session.png")
    visit.close()


def test_it_prints_on_paper_in_black_on_white(browser, samples, tmp_path):
    visit = Visit(browser, samples.as_uri(), scheme="dark")
    paper = visit.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert 5 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", paper)) <= 15
    visit.page.emulate_media(media="print", color_scheme="light")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert visit.page.locator("nav").first.is_hidden()
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visit.page.locator("#overview").screenshot(path=SCREENSHOTS / "report-print.png")
    visit.close()


def test_hostile_text_is_only_text_on_a_sessions_page(browser, hostile):
    visit = Visit(browser, hostile.as_uri())
    visit.page.wait_for_load_state("networkidle")
    assert (visit.pwned, visit.strangers, visit.complaints) == (None, [], [])
    assert visit.page.locator("script, iframe, img, object, embed, form, [onerror], [onload]").count() == 0
    seen = " ".join(visit.page.locator("#sessions").inner_text().split())
    assert [text for text in SHOWN if text not in seen] == []
    assert "more characters]" in seen
    visit.close()
