"""A chart can hold no more than any other part of a page."""

import pytest
from hypothesis import given, settings
from hypothesis.strategies import characters, text
from report_pages import HOSTILE, Page

from workbench.reports.render.charts import chart, svg
from workbench.reports.render.tables import Column
from workbench.reports.render.text import one_line, visible

ROWS = [{"tool": "Bash", "calls": 4, "says": "Bash: 4 calls"}, {"tool": "Read", "calls": 1, "says": "Read: 1 call"}]


def spec(rows):
    return {
        "width": 200,
        "height": {"step": 20},
        "data": {"values": rows},
        "mark": {"type": "bar", "clip": True},
        "encoding": {
            "y": {"field": "tool", "type": "nominal", "title": None},
            "x": {"field": "calls", "type": "quantitative", "title": "calls"},
            "color": {"field": "tool", "type": "nominal", "scale": {"range": ["var(--c1)"]}, "legend": None},
            "description": {"field": "says"},
        },
    }


def test_marks_say_what_they_are_when_the_pointer_rests_on_them():
    page = Page(svg(spec(ROWS), id="c", label="Calls by tool").markup)
    assert {"svg", "g", "path", "text", "title"} <= page.tags
    assert ("role", "img") in page.attributes
    assert ("aria-label", "Calls by tool") in page.attributes
    assert ("fill", "var(--c1)") in page.attributes
    markup = svg(spec(ROWS), id="c", label="x").markup
    assert "<title>Bash: 4 calls</title>" in markup


def test_every_colour_comes_from_the_style_sheet():
    page = Page(svg(spec(ROWS), id="c", label="x").markup)
    colours = {value for name, value in page.attributes if name in ("fill", "stroke")}
    assert {colour for colour in colours if not colour.startswith("var(--")} <= {"none"}


def test_two_charts_on_a_page_do_not_share_ids():
    ids = [
        {value for name, value in Page(svg(spec(ROWS), id=n, label="x").markup).attributes if name == "id"}
        for n in "ab"
    ]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])
    places = {
        value for name, value in Page(svg(spec(ROWS), id="a", label="x").markup).attributes if name == "clip-path"
    }
    assert places == {f"url(#{place})" for place in ids[0]}


def test_the_same_numbers_give_the_same_drawing():
    assert svg(spec(ROWS), id="c", label="x") == svg(spec(ROWS), id="c", label="x")


def test_hostile_labels_are_labels():
    rows = [{"tool": written[:200], "calls": 1, "says": written[:200]} for written in HOSTILE]
    markup = svg(spec(rows), id="c", label=HOSTILE[0]).markup
    page = Page(markup)
    assert page.tags <= {"svg", "g", "path", "line", "rect", "text", "title", "defs", "clippath"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not {"href", "style", "src"} & {name for name, _ in page.attributes}
    assert not [value for _, value in page.attributes if "url(" in value and not value.startswith("url(#c-")]


@pytest.mark.parametrize("written", [written for written in HOSTILE if len(written) < 200])
def test_what_the_pointer_shows_is_the_text(written):
    markup = svg(spec([{"tool": "x", "calls": 1, "says": written}]), id="c", label="x").markup
    page = Page(f'<div id="d">{markup}</div>')
    assert one_line(visible(written)) in page.text("d")


@given(text(characters(exclude_categories=[]), min_size=1))
@settings(max_examples=30, deadline=None)
def test_any_text_can_be_drawn(written):
    page = Page(svg(spec([{"tool": written, "calls": 1, "says": written}]), id="c", label=written).markup)
    assert page.tags <= {"svg", "g", "path", "line", "rect", "text", "title", "defs", "clippath"}


def test_nothing_is_fetched_for_a_chart():
    with pytest.raises(ValueError, match=r"(?i)url|load|allowed"):
        svg({**spec([]), "data": {"url": "https://example.com/data.json"}}, id="c", label="x")


def test_a_figure_unfolds_its_numbers():
    columns = [Column("tool", "tool"), Column("calls", "calls", str, "number")]
    page = Page(chart(spec(ROWS), id="c", title="Calls", label="x", note="a note", numbers=(ROWS, columns)).markup)
    assert page.text("c").startswith("Calls")
    assert page.text("c").endswith("a note The numbers tool calls Bash 4 Read 1")
