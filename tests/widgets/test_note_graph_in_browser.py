"""The note graph in a browser, with a stand-in for the notebook's model: mouse, keyboard, search, focus, themes."""

import json

import numpy as np
import polars as pl
import pytest
from browsing import Visit
from hostile_sessions import HOSTILE
from test_timeline_in_browser import CONTRASTS, LEAST_CONTRAST, MODEL

from workbench.reports.note_map import NoteText, note_map
from workbench.reports.render.text import one_line
from workbench.widgets import VaultGraph
from workbench.widgets.scripts import script, style

TRAITS = ("data", "chosen", "query", "colour", "size", "steps", "detail")

TITLES = ("Hub", "Stone age", "Stone wall", "Möwe", "River", "Delta", "Alone", "Island one", "Island two", "Far end")
FOLDERS = ("A", "A", "A", "A", "B", "B", None, "C", "C", "B")
LINKED = ((0, 1), (0, 2), (3, 0), (1, 2), (0, 4), (4, 5), (7, 8), (5, 9))

FRAME_MS = 33
"""The longest that half of all drawings of 5,000 notes may take while the picture moves."""


def paths():
    return [f"{folder}/{title}.md" if folder else f"{title}.md" for folder, title in zip(FOLDERS, TITLES, strict=True)]


def picture():
    notes = pl.DataFrame(
        {
            "path": paths(),
            "title": TITLES,
            "folder": FOLDERS,
            "community": [0, 0, 0, 0, 1, 1, None, 2, 2, 1],
            "pagerank": np.linspace(0.1, 1, len(TITLES)),
        }
    )
    ends = [(paths()[a], paths()[b]) for a, b in LINKED]
    classes = ["sequential" if pair == (4, 5) else "associative" for pair in LINKED]
    links = pl.DataFrame([(*pair, kind) for pair, kind in zip(ends, classes, strict=True)],
                         schema=["source_path", "target_path", "link_class"], orient="row")  # fmt: skip
    return note_map(notes, links, title="Stones & rivers", remarks=["There are no themes: no embedder."])


def read(path):
    return NoteText(path, (("words", "7"),), f"# {path}\n\nThe text of the note.")


def show(browser, widget, scheme="light", width=1200):
    """The widget on a page of its own; `answer` brings choices to Python and back."""
    state = json.dumps({name: getattr(widget, name) for name in TRAITS})
    visit = Visit(browser, "about:blank", scheme=scheme, width=width, height=900)
    visit.page.set_content(f"<style>{style('note_graph')}</style><body><div id=widget></div></body>")
    visit.page.evaluate(MODEL.replace("STATE", state))
    code = script("note_canvas", "note_graph").replace("export default rendered(View);", "")
    visit.page.add_script_tag(content=code)
    visit.page.evaluate("() => { window.view = new View(model, document.querySelector('#widget')); }")
    visit.widget = widget
    settle(visit)
    return visit


def settle(visit):
    """Two frames, so that what was asked for is drawn."""
    visit.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def answer(visit):
    visit.widget.chosen = visit.page.evaluate("model.get('chosen')")
    visit.page.evaluate("(detail) => { model.set('detail', detail); model.save_changes(); }", visit.widget.detail)
    settle(visit)


def place(visit, title):
    """Where a note is in the window."""
    number = list(visit.widget.data["titles"]).index(title)
    left, top = visit.page.evaluate("() => { const b = view.stage.getBoundingClientRect(); return [b.left, b.top]; }")
    x, y = visit.page.evaluate("(note) => view.picture.at(note)", number)
    return left + x, top + y


def chosen(visit):
    return visit.page.evaluate("model.get('chosen')")


def current(visit):
    return visit.page.evaluate("view.data.titles[view.current]")


def pixel(visit, x, y):
    """Red, green and blue of the drawing at a place."""
    data = "(place) => [...view.picture.image.data.slice(4 * place, 4 * place + 3)]"
    return visit.page.evaluate(data, x + y * visit.page.evaluate("view.picture.wide"))


def in_focus(visit):
    """Titles of the notes in focus."""
    levels = visit.page.evaluate("[...view.picture.level]")
    return {title for title, level in zip(visit.widget.data["titles"], levels, strict=True) if level}


@pytest.fixture(scope="module")
def opened(browser):
    visit = show(browser, VaultGraph(picture(), read))
    yield visit
    assert (visit.strangers, visit.complaints) == ([], [])
    visit.close()


@pytest.fixture
def shown(opened):
    opened.page.evaluate(
        "view.letGo(); view.been = []; model.set('steps', 1); model.set('colour', 'folder'); model.save_changes()"
    )
    settle(opened)
    return opened


def test_a_click_on_a_note_reads_it(shown):
    shown.page.mouse.click(*place(shown, "Hub"))
    answer(shown)
    assert chosen(shown) == "A/Hub.md"
    assert shown.page.locator(".wbg-detail").inner_text() == "Hub"
    assert shown.page.locator(".wbg-text").inner_text() == "# A/Hub.md\n\nThe text of the note."
    assert shown.page.locator(".wbg-part").all_inner_texts() == ["links to 3", "linked from 1"]
    assert shown.page.locator(".wbg-links button").all_inner_texts() == ["Stone age", "Stone wall", "River", "Möwe"]


def test_a_note_is_drawn_in_the_colour_of_its_group(shown):
    page = shown.page
    colours = {}
    for title in ("Hub", "River", "Alone", "Island one"):
        x, y = page.evaluate("(note) => view.picture.at(note)", TITLES.index(title))
        colours[title] = "#" + "".join(f"{value:02x}" for value in pixel(shown, round(x), round(y)))
    assert colours == {"Hub": "#2f6db5", "River": "#d9822b", "Alone": "#b3bac1", "Island one": "#2f9474"}


def test_a_link_in_the_panel_leads_on_and_back(shown):
    shown.page.mouse.click(*place(shown, "River"))
    answer(shown)
    button = shown.page.get_by_role("button", name="Delta, continues")
    assert button.inner_text() == "⇢ Delta"
    button.click()
    assert chosen(shown) == "B/Delta.md"
    shown.page.locator(".wbg-stage").focus()
    shown.page.keyboard.press("b")
    assert chosen(shown) == "B/River.md"


def test_steps_around_the_chosen_note_are_in_focus(shown):
    shown.page.mouse.click(*place(shown, "River"))
    seen = {}
    for steps in (1, 2, 3, 0):
        shown.page.locator(f"[data-act=steps-{steps}]").click()
        assert shown.page.evaluate("model.get('steps')") == steps
        seen[steps] = in_focus(shown)
    assert seen[1] == {"River", "Hub", "Delta"}
    assert seen[2] == seen[1] | {"Stone age", "Stone wall", "Möwe", "Far end"}
    assert seen[3] == seen[2]
    assert seen[0] == set(TITLES)


def test_only_these_hides_the_rest(shown):
    page = shown.page
    assert page.locator("[data-act=only]").is_disabled()
    page.mouse.click(*place(shown, "River"))
    page.locator("[data-act=only]").click()
    settle(shown)
    assert page.get_by_role("status").inner_text() == "3 in focus, 10 notes, 8 links"
    x, y = place(shown, "Alone")
    page.mouse.move(x, y)
    assert page.locator(".wbg-stage").get_attribute("data-hovered") in ("", None)
    page.locator("[data-act=only]").click()


def test_the_search_finds_words_in_titles_and_paths(shown):
    page = shown.page
    page.locator(".wbg-input").fill("stone")
    assert page.get_by_role("option").all_inner_texts() == ["Stone age\nA/Stone age.md", "Stone wall\nA/Stone wall.md"]
    assert page.evaluate("model.get('query')") == "stone"
    assert in_focus(shown) == {"Stone age", "Stone wall"}
    page.keyboard.press("ArrowDown")
    active = page.locator(".wbg-input").get_attribute("aria-activedescendant")
    assert page.locator(f"[id='{active}']").inner_text().startswith("Stone wall")
    page.keyboard.press("Enter")
    assert chosen(shown) == "A/Stone wall.md"
    assert page.locator(".wbg-results").is_hidden()


def test_the_search_folds_case_and_accents_and_says_when_nothing_fits(shown):
    page = shown.page
    page.locator(".wbg-input").fill("MOWE")
    assert page.get_by_role("option").all_inner_texts() == ["Möwe\nA/Möwe.md"]
    page.locator(".wbg-input").fill("nowhere")
    assert page.locator(".wbg-results").inner_text() == "no note has these words in its title or path"


def test_a_query_from_python_is_searched_too(shown):
    shown.page.evaluate("model.set('query', 'island'); model.save_changes()")
    assert in_focus(shown) == {"Island one", "Island two"}
    assert shown.page.locator(".wbg-input").input_value() == "island"


def test_a_key_of_the_legend_shows_where_its_group_is(shown):
    page = shown.page
    assert [each.split("\n") for each in page.locator(".wbg-key").all_inner_texts()] == [
        ["A", "4"], ["B", "3"], ["C", "2"], ["(top of the vault)", "1"],
    ]  # fmt: skip
    page.locator(".wbg-key").nth(1).click()
    assert in_focus(shown) == {"River", "Delta", "Far end"}
    page.locator(".wbg-key").nth(1).click()
    assert in_focus(shown) == set(TITLES)


def test_colour_and_size_follow_their_buttons(shown):
    page = shown.page
    page.locator("[data-act=colour-community]").click()
    assert page.locator(".wbg-key").first.inner_text().split("\n") == ["Möwe (0)", "4"]
    before = page.evaluate("view.picture.sizes[0]")
    page.locator("[data-act=size-pagerank]").click()
    assert page.evaluate("view.picture.sizes[0]") < before
    page.locator("[data-act=size-links]").click()
    assert page.locator("[data-act=colour-theme]").is_disabled()
    assert page.get_by_text("There are no themes: no embedder.").is_visible()


def test_it_can_be_used_by_keyboard_alone(shown):
    page = shown.page
    page.locator(".wbg-stage").focus()
    page.keyboard.press("Home")
    assert current(shown) == "Hub"
    page.keyboard.press("Enter")
    assert chosen(shown) == "A/Hub.md"
    walked = set()
    for _ in range(4):
        page.keyboard.press("n")
        walked.add(current(shown))
    assert walked == {"Stone age", "Stone wall", "River", "Möwe"}
    here = page.evaluate("view.current")
    page.keyboard.press("ArrowRight")
    there = page.evaluate("view.current")
    x = page.evaluate("[...view.picture.x]")
    assert there != here
    assert x[there] > x[here]
    assert page.locator(".wbg-said").inner_text().startswith(current(shown))
    page.keyboard.press("s")
    assert page.evaluate("model.get('steps')") == 2
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.className") == "wbg-input"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "2px", "focus is seen"
    page.locator(".wbg-stage").focus()
    page.keyboard.press("Escape")
    assert (chosen(shown), in_focus(shown)) == ("", set(TITLES))


def test_dragging_moves_and_zooming_keeps_the_place_under_the_pointer(shown):
    page = shown.page
    x, y = place(shown, "Hub")
    page.mouse.move(x + 60, y + 60)
    page.mouse.down()
    page.mouse.move(x + 110, y + 90, steps=5)
    page.mouse.up()
    moved = place(shown, "Hub")
    assert moved == pytest.approx((x + 50, y + 30), abs=1)
    assert chosen(shown) == "", "a drag is no click"
    page.mouse.move(*moved)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -60)
    page.wait_for_function("view.picture.view.zoom > view.picture.whole * 1.2")
    page.keyboard.up("Control")
    assert place(shown, "Hub") == pytest.approx(moved, abs=1)
    page.locator("[data-act=zoom-all]").click()
    assert place(shown, "Hub") == pytest.approx((x, y), abs=1)


def test_roles_tell_what_it_is(shown):
    page = shown.page
    assert page.get_by_role("application", name="10 notes and 8 links").count() == 1
    assert page.get_by_role("combobox", name="Search notes").count() == 1
    assert page.get_by_role("region", name="The chosen note").count() == 1
    assert page.get_by_role("group", name="colour by").get_by_role("button").count() == 3


def test_it_can_be_read_in_light_and_dark(browser):
    texts = ".wbg-soft, .wbg-name, .wbg-button, .wbg-text, .wbg-title, .wbg-detail, .wbg-hit span, dt, dd"
    contrasts = CONTRASTS.replace(".wbt-label, .wbt-name, .wbt-tick, .wbt-button, .wbt-text, dt, dd, .wbt-hint", texts)
    assert texts in contrasts
    for scheme, paper in (("light", [255, 255, 255]), ("dark", [20, 23, 26])):
        visit = show(browser, VaultGraph(picture(), read), scheme)
        visit.page.mouse.click(*place(visit, "Hub"))
        answer(visit)
        visit.page.locator(".wbg-key").first.click()
        visit.page.locator(".wbg-input").fill("o")
        settle(visit)
        assert pixel(visit, 2, 2) == paper
        assert visit.page.evaluate(contrasts) >= LEAST_CONTRAST, scheme
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        visit.close()


def test_a_change_of_theme_draws_it_anew(shown):
    page = shown.page
    for change, paper in (("add", 20), ("remove", 255)):
        page.evaluate(f"document.body.classList.{change}('dark')")
        page.wait_for_function("(paper) => view.picture.image.data[0] === paper", arg=paper)


def test_in_a_narrow_place_the_note_stands_below(browser):
    visit = show(browser, VaultGraph(picture(), read), width=420)
    stage, panel = (visit.page.locator(each).bounding_box() for each in (".wbg-stage", ".wbg-panel"))
    assert panel["y"] >= stage["y"] + stage["height"]
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visit.close()


def test_hostile_titles_and_texts_are_only_text(browser):
    texts = [*HOSTILE, "مرحبا بالعالم", "\U0001f9e0\U0001f468\u200d\U0001f469\u200d\U0001f467 family", "x" * 500]
    notes = pl.DataFrame(
        {"path": [f"{n} {text}.md" for n, text in enumerate(texts)], "title": texts, "folder": texts, "theme": texts}
    )
    links = pl.DataFrame({"source_path": notes["path"][:-1], "target_path": notes["path"][1:]})
    made = note_map(notes, links, title=texts[0], remarks=[texts[1]])
    visit = show(browser, VaultGraph(made, lambda path: NoteText(path, (("tags", texts[2]),), "\n".join(texts))))
    page = visit.page
    for number, text in enumerate(texts[:-1]):
        page.evaluate("(note) => view.choose(note)", number)
        answer(visit)
        assert " ".join(page.locator(".wbg-detail").inner_text().split()) == one_line(text)
    page.locator(".wbg-input").fill("e")
    settle(visit)
    page.mouse.move(*place(visit, made.titles[0]))
    assert texts[3] in page.locator(".wbg-text").inner_text()
    assert (visit.pwned, visit.strangers, visit.complaints) == (None, [], [])
    assert page.locator("#widget :is(script, img, iframe, svg, a, style)").count() == 0
    visit.close()


def test_an_empty_vault_is_shown(browser):
    empty = note_map(
        pl.DataFrame(schema={"path": pl.String, "title": pl.String, "folder": pl.String}),
        pl.DataFrame(schema={"source_path": pl.String, "target_path": pl.String}),
        title="nothing",
    )
    visit = show(browser, VaultGraph(empty))
    visit.page.locator(".wbg-stage").focus()
    for key in ("Home", "ArrowLeft", "Enter", "n", "b", "o", "+", "0", "f", "s", "Escape"):
        visit.page.keyboard.press(key)
    settle(visit)
    assert visit.page.get_by_role("status").inner_text() == "0 notes, 0 links"
    assert visit.complaints == []
    visit.close()


def test_five_thousand_notes_stay_fluid(browser):
    rng = np.random.default_rng(7)
    ends = np.stack([rng.integers(0, 5000, 21_000), (5000 * rng.random(21_000) ** 3).astype(int)])
    notes = pl.DataFrame(
        {
            "path": [f"{n}.md" for n in range(5000)],
            "title": [f"Note {n}" for n in range(5000)],
            "folder": [f"F{n % 8}" for n in range(5000)],
        }
    )
    links = pl.DataFrame({"source_path": [f"{n}.md" for n in ends[0]], "target_path": [f"{n}.md" for n in ends[1]]})
    visit = show(browser, VaultGraph(note_map(notes, links, title="large")))
    assert len(visit.widget.data["links"]) >= 2 * 20_000
    page = visit.page
    x, y = place(visit, "Note 0")
    page.mouse.move(x + 150, y)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(x + 150 + 3 * step, y + step)
    page.mouse.up()
    costs = sorted(page.evaluate("view.picture.costs"))
    assert len(costs) > 10
    assert costs[len(costs) // 2] < FRAME_MS
    visit.close()


def test_closing_it_leaves_no_listener(browser):
    visit = show(browser, VaultGraph(picture(), read))
    before = visit.page.evaluate("Object.values(heard).flat().length")
    visit.page.evaluate("view.close()")
    assert (before, visit.page.evaluate("Object.values(heard).flat().length")) == (7, 0)
    visit.close()
