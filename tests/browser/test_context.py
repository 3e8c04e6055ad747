"""The context report opened from a file, and notebooks/agent.py served as `workbench lab` serves it."""

import tomllib
from pathlib import Path

import pytest
from browsing import SCREENSHOTS, Visit
from hostile_sessions import HOSTILE_SESSION, write_hostile_sessions

import workbench as wb
from workbench.surfaces import lab
from workbench.surfaces.shipped import notebooks_folder, sample_sessions

HERE = Path(__file__).parent
EXPECTED = tomllib.loads((HERE / "expected.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("context") / "home")
    bench.ingest(*sample_sessions())
    return bench


@pytest.fixture(scope="module")
def report(bench, tmp_path_factory):
    return bench.report("context", tmp_path_factory.mktemp("report")).path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_shows_everything(browser, report, scheme):
    visit = Visit(browser, report.as_uri(), scheme=scheme)
    assert visit.missing(EXPECTED["context"]) == []
    assert visit.page.locator("svg.chart").count() == 6
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (visit.strangers, visit.complaints) == ([], [])
    visit.page.screenshot(path=SCREENSHOTS / f"context-{scheme}.png", full_page=True)
    visit.close()


@pytest.fixture(scope="module")
def opened(bench, browser, tmp_path_factory):
    """The notebook on a home with the samples and hostile sessions."""
    folder = tmp_path_factory.mktemp("hostile")
    bench.ingest(write_hostile_sessions(folder))
    with lab.scratch_folder() as scratch:
        port = lab.free_port(None)
        plan = lab.marimo_plan([notebooks_folder() / "agent.py"], bench.home.root, port, lab.new_token())
        plan.command.extend(["--session", "895dc31c"])
        with lab.serving(plan, port, scratch):
            visit = Visit(browser, plan.url, height=1100)
            visit.page.locator(".wba-unit").first.wait_for()
            visit.page.locator("#kept").wait_for()
            yield visit
            visit.close()


def to_heading(page, name):
    page.get_by_role("heading", name=name, exact=True).evaluate("(node) => node.scrollIntoView()")
    page.wait_for_timeout(300)


def test_the_notebook_shows_the_samples(opened):
    page = opened.page
    assert opened.missing(EXPECTED["agent"]) == []
    page.screenshot(path=SCREENSHOTS / "agent-top.png")
    to_heading(page, "Weights and budgets")
    page.screenshot(path=SCREENSHOTS / "agent-weights.png")
    page.locator(".wba-unit").nth(2).click()
    page.locator(".wba-detail").wait_for()
    assert page.locator(".wba-sum td").inner_text().startswith("0.5")
    page.locator(".wba").evaluate("(node) => node.scrollIntoView()")
    page.screenshot(path=SCREENSHOTS / "agent-anatomy.png")
    to_heading(page, "What the engine keeps in mind here")
    page.screenshot(path=SCREENSHOTS / "agent-state.png")
    assert (opened.strangers, opened.complaints) == ([], [])


def test_a_slider_moves_units(opened):
    """The third budget is that of the recent band: at nothing, it keeps its least."""
    page = opened.page
    to_heading(page, "Weights and budgets")
    thumb = page.get_by_role("slider").nth(1 + 7 + 2)
    thumb.focus()
    page.keyboard.press("Home")
    page.wait_for_function("/units? go out/.test(document.querySelector('#moves')?.innerText)")
    page.locator("#moves-table").wait_for()
    page.locator(".wba-moved").first.wait_for()
    assert "No units come in;" in page.locator("#moves").inner_text()
    page.screenshot(path=SCREENSHOTS / "agent-moves.png")


def test_the_notebook_runs_nothing_of_hostile_sessions(opened):
    page = opened.page
    choice = page.locator("marimo-dropdown select").first
    names = choice.locator("option").all_inner_texts()
    choice.select_option(label=next(name for name in names if "00000000" in name and "script" in name))
    page.locator(f".wba-title[title='{HOSTILE_SESSION}']").wait_for()
    page.locator(".wba-part").first.click()
    page.locator(".wba-detail").wait_for()
    assert (opened.pwned, opened.strangers, opened.complaints) == (None, [], [])
    assert page.locator(".wba :is(img, script, iframe, a, svg)").count() == 0
