"""The timeline widget in a browser, with a stand-in for the notebook's model: mouse, keyboard, zoom, light and dark."""

import json

import pytest
from browsing import Visit
from hostile_sessions import HOSTILE, HOSTILE_SESSION, write_hostile_sessions

import workbench as wb
from workbench.reports.render.text import one_line
from workbench.surfaces.shipped import sample_sessions
from workbench.widgets import SessionTimeline
from workbench.widgets.scripts import script, style

LEAST_CONTRAST = 4.5
"""Of text on its ground: WCAG 2.2, level AA."""

MODEL = """
window.heard = {};
window.model = {
  state: STATE, changed: new Set(),
  on(name, act) { (heard[name] ??= []).push(act); },
  off(name, act) { heard[name] = (heard[name] || []).filter((each) => each !== act); },
  get(name) { return this.state[name]; },
  set(name, value) { this.state[name] = value; this.changed.add(name); },
  save_changes() {
    const names = [...this.changed];
    this.changed.clear();
    for (const name of names) for (const act of heard[`change:${name}`] || []) act();
  },
};
"""
"""What anywidget hands to `render`, as far as the script uses it."""

CONTRASTS = """
() => {
  const channel = (value) => value <= 10.03 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return light(colour);
    }
    return light("rgb(255, 255, 255)");
  };
  const named = ".wbt-label, .wbt-name, .wbt-tick, .wbt-button, .wbt-text, dt, dd, .wbt-hint";
  const texts = [...document.querySelectorAll(named)];
  return Math.min(...texts.filter((node) => node.offsetWidth && !node.disabled).map((node) => {
    const ink = light(getComputedStyle(node).color), paper = ground(node);
    return Math.max(ink / paper, paper / ink);
  }));
}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("widget")
    bench = wb.open(folder / "home")
    bench.ingest(*sample_sessions(), write_hostile_sessions(folder))
    return bench


def show(browser, bench, session, scheme="light"):
    """The widget on a page of its own."""
    widget = SessionTimeline.of(bench, session)
    names = ("data", "chosen", "scale", "zoom", "detail")
    state = json.dumps({name: getattr(widget, name) for name in names})
    visit = Visit(browser, "about:blank", scheme=scheme, width=1000, height=900)

    visit.page.set_content(f"<style>{style('timeline')}</style><body><div id=widget></div></body>")
    visit.page.evaluate(MODEL.replace("STATE", state))
    visit.page.add_script_tag(content=script("timeline").replace("export default", "window.widget ="))
    visit.page.evaluate("() => { window.close_it = widget.render({model, el: document.querySelector('#widget')}); }")
    visit.widget = widget
    return visit


@pytest.fixture(scope="module")
def shown(browser, bench):
    visit = show(browser, bench, "895dc31c")
    yield visit
    assert (visit.strangers, visit.complaints) == ([], [])
    visit.close()


def answer(visit):
    """Bring the choice to Python and its answer back, as a notebook does."""
    visit.widget.chosen = visit.page.evaluate("model.get('chosen')")
    visit.page.evaluate("(detail) => { model.set('detail', detail); model.save_changes(); }", visit.widget.detail)


def focused(visit):
    return visit.page.evaluate("document.activeElement.dataset.id")


def test_a_click_shows_the_text(shown):
    page = shown.page
    page.locator(".wbt-tool").nth(5).click()
    answer(shown)
    assert page.locator(".wbt-detail").inner_text().endswith(" call")
    assert page.evaluate("model.get('chosen')") == page.locator(".wbt-item[aria-selected=true]").get_attribute(
        "data-id"
    )
    assert len(page.locator(".wbt-text").last.inner_text()) > 20


def test_it_can_be_used_by_keyboard_alone(shown):
    page = shown.page
    assert page.locator(".wbt-item[tabindex='0']").count() == 1, "one tab stop for all items"
    page.locator(".wbt-item[tabindex='0']").focus()
    lanes = []
    for key in ("Home", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowDown", "End"):
        page.keyboard.press(key)
        lanes.append(page.evaluate("document.activeElement.parentElement.getAttribute('aria-label')"))
    assert lanes == ["Tools", "Tools", "Model", "Exchanges", "Model", "Model"]
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px", "focus is seen"
    here = focused(shown)
    page.keyboard.press("Enter")
    answer(shown)
    assert page.evaluate("model.get('detail').id") == here
    assert page.locator(".wbt-detail").inner_text() == "response"
    page.keyboard.press("e")
    assert "wbt-failed" in page.evaluate("document.activeElement.className")


def test_zoom_widens_the_sheet_and_keeps_the_item_in_view(shown):
    page = shown.page
    page.locator(".wbt-tool").nth(20).focus()
    before = page.evaluate("document.querySelector('.wbt-sheet').offsetWidth")
    for _ in range(4):
        page.keyboard.press("+")
    after = page.evaluate("document.querySelector('.wbt-sheet').offsetWidth")
    assert after == pytest.approx(before * 1.5**4, rel=0.01)
    item, frame = page.locator(".wbt-item:focus").bounding_box(), page.locator(".wbt-scroller").bounding_box()
    assert frame["x"] <= item["x"] + 1 <= frame["x"] + frame["width"]
    page.keyboard.press("-")
    assert page.evaluate("document.querySelector('.wbt-sheet').offsetWidth") < after
    page.keyboard.press("0")
    assert page.evaluate("document.querySelector('.wbt-sheet').offsetWidth") == before


def test_length_is_by_time_or_by_tokens(shown):
    page = shown.page
    widths = {}
    for scale in ("tokens", "time"):
        page.locator(f"[data-act=scale-{scale}]").click()
        assert page.locator("[aria-pressed=true]").get_attribute("data-act") == f"scale-{scale}"
        widths[scale] = page.evaluate("[...document.querySelectorAll('.wbt-tool')].map((node) => node.style.width)")
    assert widths["tokens"] != widths["time"]


def test_roles_tell_what_it_is(shown):
    page = shown.page
    assert page.get_by_role("listbox").count() == 1
    assert page.get_by_role("option").count() == 88
    assert page.get_by_role("group", name="Tools").get_by_role("option").count() == 44
    assert page.get_by_role("option", name="Bash, failed").count() == 2
    assert page.get_by_role("region", name="The chosen item").count() == 1


def test_it_can_be_read_in_light_and_dark(browser, bench):
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 26)")):
        visit = show(browser, bench, "895dc31c", scheme)
        visit.page.locator(".wbt-tool").nth(2).click()
        answer(visit)
        visit.page.mouse.move(1, 1)
        visit.page.wait_for_timeout(200)
        assert visit.page.evaluate("getComputedStyle(document.querySelector('.wbt')).backgroundColor") == paper
        assert visit.page.evaluate(CONTRASTS) >= LEAST_CONTRAST, scheme
        visit.close()


def test_a_theme_of_the_notebook_comes_before_the_systems(shown):
    page = shown.page
    for change, theme in (
        ("document.body.dataset.jpThemeLight = 'false'", "dark"),
        ("document.body.dataset.jpThemeLight = 'true'", "light"),
        ("delete document.body.dataset.jpThemeLight; document.body.classList.add('dark')", "dark"),
        ("document.body.classList.remove('dark')", "light"),
    ):
        page.evaluate(change)
        page.wait_for_function("(theme) => document.querySelector('.wbt').dataset.theme === theme", arg=theme)


def test_hostile_text_is_only_text(browser, bench):
    visit = show(browser, bench, HOSTILE_SESSION)
    page = visit.page
    for number, text in enumerate(HOSTILE):
        page.locator(".wbt-tool").nth(number).dispatch_event("click")
        answer(visit)
        assert " ".join(page.locator(".wbt-text").last.inner_text().split()) == one_line(text)
    page.locator(".wbt-tool").nth(len(HOSTILE)).dispatch_event("click")
    answer(visit)
    page.get_by_text("more characters: they are in the tables").first.wait_for()
    assert (visit.pwned, visit.strangers, visit.complaints) == (None, [], [])
    assert page.locator("#widget :is(script, img, iframe, svg, a, style)").count() == 0
    visit.close()


def test_closing_it_leaves_no_listener(browser, bench):
    visit = show(browser, bench, "ad6614d2")
    before = visit.page.evaluate("Object.values(heard).flat().length")
    visit.page.evaluate("close_it()")
    assert (before, visit.page.evaluate("Object.values(heard).flat().length")) == (5, 0)
    visit.close()
