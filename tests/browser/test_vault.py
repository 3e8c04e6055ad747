"""The vault report opened from a file, and notebooks/zettelkasten.py served as `workbench lab` serves it."""

import tomllib
from pathlib import Path

import made_vaults
import pytest
from browsing import SCREENSHOTS, Visit

from workbench.surfaces import lab
from workbench.surfaces.shipped import notebooks_folder

HERE = Path(__file__).parent
EXPECTED = tomllib.loads((HERE / "expected.toml").read_text("utf-8"))
SIMILARITY = 0.36
"""From which the sample notes fall into a few themes by shared words, as the tests' embedder judges them."""


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vault")
    return made_vaults.sample(folder / "home", folder / "notes")


@pytest.fixture(scope="module")
def report(vault, tmp_path_factory):
    return vault.report(tmp_path_factory.mktemp("report"), similarity=SIMILARITY).path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_shows_everything(browser, report, scheme):
    visit = Visit(browser, report.as_uri(), scheme=scheme)
    assert visit.missing(EXPECTED["vault"]) == []
    assert visit.page.locator("svg.chart").count() == 4
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (visit.strangers, visit.complaints) == ([], [])
    visit.page.screenshot(path=SCREENSHOTS / f"vault-{scheme}.png", full_page=True)
    visit.close()


def test_hostile_notes_are_only_text_in_the_report(browser, tmp_path):
    made = made_vaults.hostile(tmp_path / "home", tmp_path / "vault").report(tmp_path, similarity=0.1)
    visit = Visit(browser, made.path.as_uri())
    assert (visit.pwned, visit.strangers, visit.complaints) == (None, [], [])
    assert visit.page.locator("script, iframe, img, object, embed, form, [onerror], [onload]").count() == 0
    visit.close()


@pytest.fixture(scope="module")
def opened(vault, browser):
    """The notebook on the home of the sample notes."""
    with lab.scratch_folder() as scratch:
        port = lab.free_port(None)
        home = vault._lake.home.root
        plan = lab.marimo_plan([notebooks_folder() / "zettelkasten.py"], home, port, lab.new_token())
        plan.command.extend(["--vault", str(vault.root), "--similarity", str(SIMILARITY)])
        with lab.serving(plan, port, scratch):
            visit = Visit(browser, plan.url, height=1100)
            visit.page.locator(".wbg-stage").wait_for()
            visit.page.locator("#converse").wait_for()
            visit.page.locator("#themes").first.wait_for(state="attached")
            yield visit
            visit.close()


def test_the_notebook_shows_the_sample_notes(opened):
    page = opened.page
    assert opened.missing(EXPECTED["zettelkasten"]) == []
    page.screenshot(path=SCREENSHOTS / "zettelkasten-top.png")
    page.locator(".wbg").evaluate("(node) => node.scrollIntoView()")
    page.wait_for_timeout(400)
    page.screenshot(path=SCREENSHOTS / "zettelkasten-graph.png")
    assert (opened.strangers, opened.complaints) == ([], [])


def test_the_note_that_is_found_and_read_is_the_one_that_is_asked_about(opened):
    page = opened.page
    page.locator("[data-act=colour-community]").click()
    page.locator(".wbg-input").fill("log is the truth")
    page.keyboard.press("Enter")
    page.locator(".wbg-text").get_by_text("Append what happened and never change it").wait_for()
    answer = page.get_by_role("tabpanel", name="Suggested links")
    answer.get_by_text("Links that Zettel/3 A log is the truth.md does not have yet.").wait_for()
    page.locator(".wbg").evaluate("(node) => node.scrollIntoView()")
    page.wait_for_timeout(400)
    page.screenshot(path=SCREENSHOTS / "zettelkasten-read.png")
    answer.screenshot(path=SCREENSHOTS / "zettelkasten-suggest.png")
    assert (opened.strangers, opened.complaints) == ([], [])


def test_the_graph_is_dark_where_the_notebook_is(opened):
    page = opened.page
    page.evaluate("""() => { for (const node of [document.body, document.documentElement]) {
        node.classList.remove("light"); node.classList.add("dark"); } }""")
    page.locator(".wbg[data-theme='dark']").wait_for()
    page.locator(".wbg-stage").focus()
    for key in ("Home", "Enter", "s"):
        page.keyboard.press(key)
    page.locator(".wbg").evaluate("(node) => node.scrollIntoView()")
    page.wait_for_timeout(400)
    page.screenshot(path=SCREENSHOTS / "zettelkasten-dark.png")
    assert (opened.strangers, opened.complaints) == ([], [])
