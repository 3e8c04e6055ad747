"""The prompt anatomy in a browser, with a stand-in for the notebook's model: mouse, keyboard, filters, both themes."""

import json

import pytest
from browsing import Visit
from hostile_sessions import HOSTILE, HOSTILE_SESSION, write_hostile_sessions
from test_timeline_in_browser import CONTRASTS, LEAST_CONTRAST, MODEL

import workbench as wb
from workbench.experiments.recorded import read_recorded
from workbench.experiments.replay import replay_until
from workbench.experiments.replay_job import policy_of
from workbench.experiments.what_if import recompile
from workbench.reports.render.text import one_line
from workbench.surfaces.shipped import sample_sessions
from workbench.widgets import PromptAnatomy
from workbench.widgets.scripts import script, style

CURRENCIES = "895dc31c-6255-4222-94eb-1eb6c03087e3"
TEXTS = (
    ".wba-name, .wba-number, .wba-label, .wba-kind, .wba-in, .wba-out, .wba-button, .wba-soft, .wba-text, dt, dd, td"
)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("widget")
    bench = wb.open(folder / "home")
    bench.ingest(*sample_sessions(), write_hostile_sessions(folder))
    return bench


@pytest.fixture(scope="module")
def moved(bench):
    """A prompt made again under other weights, in which units came in and went out."""
    halted = replay_until(read_recorded(bench, CURRENCIES), policy_of(bench.config, "step"), 4, 13)
    changed = {"weights": {"w_recency": 0.0, "w_relevance": 1.0}, "budgets": {"older_tokens": 400}}
    return PromptAnatomy.at(halted, recompile(halted, **changed), title="Currencies")


def show(browser, widget, scheme="light"):
    """The widget on a page of its own."""
    widget.chosen, widget.show = "", "all"
    state = json.dumps({name: getattr(widget, name) for name in ("data", "chosen", "show", "detail")})
    visit = Visit(browser, "about:blank", scheme=scheme, width=1000, height=1000)
    visit.page.set_content(f"<style>{style('anatomy')}</style><body><div id=widget></div></body>")
    visit.page.evaluate(MODEL.replace("STATE", state))
    visit.page.add_script_tag(content=script("anatomy").replace("export default", "window.widget ="))
    visit.page.evaluate("() => { window.close_it = widget.render({model, el: document.querySelector('#widget')}); }")
    visit.widget = widget
    return visit


def answer(visit):
    """Bring the choice to Python and its answer back, as a notebook does."""
    visit.widget.chosen = visit.page.evaluate("model.get('chosen')")
    visit.page.evaluate("(detail) => { model.set('detail', detail); model.save_changes(); }", visit.widget.detail)


@pytest.fixture(scope="module")
def shown(browser, moved):
    visit = show(browser, moved)
    yield visit
    assert (visit.strangers, visit.complaints) == ([], [])
    visit.close()


def focused(visit):
    return visit.page.evaluate("document.activeElement.dataset.id")


def test_a_click_shows_terms_and_text(shown):
    page = shown.page
    page.locator(".wba-unit").nth(3).click()
    answer(shown)
    unit = shown.widget.data["units"][3]
    assert page.evaluate("model.get('chosen')") == unit["id"]
    assert page.locator(".wba-row[aria-selected=true]").get_attribute("data-id") == unit["id"]
    assert page.locator(".wba-sum td").inner_text() == f"{unit['score']:.6f}"
    assert len(page.locator(".wba-text").inner_text()) > 20
    page.locator(".wba-segment").first.click()
    answer(shown)
    assert page.locator(".wba-detail").inner_text() == "fixed beginning"
    assert page.locator(".wba-terms").count() == 0


def test_bars_are_as_long_as_terms_and_tokens(shown):
    page, data = shown.page, shown.widget.data
    longest = max(sum(unit["terms"]) for unit in data["units"])
    drawn = page.evaluate(
        "[...document.querySelectorAll('.wba-unit')].map((row) =>"
        " [...row.querySelectorAll('.wba-term')].reduce((sum, bar) => sum + parseFloat(bar.style.width), 0))"
    )
    assert drawn == pytest.approx([100 * sum(unit["terms"]) / longest for unit in data["units"]], abs=0.01)
    for against, room in (("budget", data["usable"]), ("prompt", sum(part["tokens"] for part in data["parts"]))):
        page.locator(f"[data-act=against-{against}]").click()
        widths = page.evaluate("[...document.querySelectorAll('.wba-segment')].map((s) => parseFloat(s.style.width))")
        assert widths == pytest.approx([100 * part["tokens"] / room for part in data["parts"]], abs=0.01)


def test_filters_show_some_of_the_units(shown):
    page, units = shown.page, shown.widget.data["units"]
    counts = {
        "in": sum(unit["is_in"] for unit in units),
        "out": sum(not unit["is_in"] for unit in units),
        "moved": sum(bool(unit["moved"]) for unit in units),
        "all": len(units),
    }
    assert 0 < counts["moved"] < counts["all"]
    for name, number in counts.items():
        page.locator(f"[data-act=show-{name}]").click()
        assert page.locator(".wba-unit:visible").count() == number
        assert page.get_by_role("status").inner_text() == f"{number} of {counts['all']} shown"
    assert page.locator(".wba-moved").count() == counts["moved"]


def test_it_can_be_used_by_keyboard_alone(shown):
    page, units, parts = shown.page, shown.widget.data["units"], shown.widget.data["parts"]
    assert page.locator(".wba-row[tabindex='0']").count() == 2, "one tab stop for each list"
    page.locator(".wba-unit").first.focus()
    walked = []
    for key in ("End", "Home", "ArrowDown", "PageDown", "ArrowUp", "ArrowLeft", "Home", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
        walked.append(focused(shown))
    ids = [unit["id"] for unit in units]
    assert walked == [
        ids[-1], ids[0], ids[1], ids[11], ids[10], walked[5], parts[0]["id"], parts[1]["id"], ids[10],
    ]  # fmt: skip
    assert walked[5] in {part["id"] for part in parts}
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px", "focus is seen"
    page.keyboard.press("Enter")
    answer(shown)
    assert page.evaluate("model.get('detail').id") == ids[10]
    shows = []
    for _ in range(4):
        page.keyboard.press("f")
        shows.append(page.evaluate("model.get('show')"))
        assert focused(shown) in {*ids, *(part["id"] for part in parts)}, "focus stays in the widget"
    assert shows == ["in", "out", "moved", "all"]


def test_roles_tell_what_it_is(shown):
    page, data = shown.page, shown.widget.data
    assert page.get_by_role("listbox", name="Parts of the prompt").get_by_role("option").count() == len(data["parts"])
    assert page.get_by_role("listbox", name="Units on offer").get_by_role("option").count() == len(data["units"])
    assert page.get_by_role("region", name="What is chosen").count() == 1


def test_it_can_be_read_in_light_and_dark(browser, moved):
    contrasts = CONTRASTS.replace(".wbt-label, .wbt-name, .wbt-tick, .wbt-button, .wbt-text, dt, dd, .wbt-hint", TEXTS)
    assert TEXTS in contrasts
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 26)")):
        visit = show(browser, moved, scheme)
        visit.page.locator(".wba-unit").nth(2).click()
        answer(visit)
        visit.page.mouse.move(1, 1)
        assert visit.page.evaluate("getComputedStyle(document.querySelector('.wba')).backgroundColor") == paper
        assert visit.page.evaluate(contrasts) >= LEAST_CONTRAST, scheme
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        visit.close()


def test_hostile_text_is_only_text(browser, bench):
    visit = show(browser, PromptAnatomy.of(bench, HOSTILE_SESSION))
    page = visit.page
    seen = []
    for number in range(page.locator(".wba-row").count()):
        page.locator(".wba-row").nth(number).click()
        answer(visit)
        seen.append(" ".join(page.locator(".wba-text").inner_text().split()))
    for text in HOSTILE[:6]:
        assert any(one_line(text) in each for each in seen), text
    assert (visit.pwned, visit.strangers, visit.complaints) == (None, [], [])
    assert page.locator("#widget :is(script, img, iframe, svg, a, style)").count() == 0
    visit.close()


def test_closing_it_leaves_no_listener(browser, moved):
    visit = show(browser, moved)
    before = visit.page.evaluate("Object.values(heard).flat().length")
    visit.page.evaluate("close_it()")
    assert (before, visit.page.evaluate("Object.values(heard).flat().length")) == (4, 0)
    visit.close()
