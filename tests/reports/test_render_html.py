"""Text stays text, whatever it is given as."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import characters, text
from report_pages import HOSTILE, Page

from workbench.reports.render.html import ELEMENTS, Html, el, fragment
from workbench.reports.render.text import visible

REPORTS = Path(__file__).resolve().parents[2] / "workbench" / "reports"


def test_text_is_escaped_and_markup_stays():
    made = el("p", "1 < 2 & 'x'", el("b", "!"), 3, None, [" ", el("i", "i")], class_="note")
    assert made.markup == "<p class=\"note\">1 &lt; 2 &amp; 'x'<b>!</b>3 <i>i</i></p>"


def test_text_is_escaped_once():
    assert el("p", "&amp;").markup == "<p>&amp;amp;</p>"


def test_attributes_are_escaped():
    assert el("p", title="\"><script>'").markup == '<p title="&quot;&gt;&lt;script&gt;&#x27;"></p>'


def test_attributes_that_are_none_or_false_are_left_out():
    assert (
        el("details", open=True, id=None, hidden=False, aria_label="x").markup
        == '<details open aria-label="x"></details>'
    )


def test_joined_markup_is_text_again():
    joined = f"{el('b', 'x')}"
    assert el("p", joined).markup.startswith("<p>Html(")


@pytest.mark.parametrize("tag", ["script", "iframe", "style", "img", "link", "object", "form", "SCRIPT", "a b"])
def test_elements_that_run_or_fetch_do_not_exist(tag):
    with pytest.raises(ValueError, match="a report has no"):
        el(tag)


@pytest.mark.parametrize("name", ["onclick", "style", "src", "xlink:href", "srcdoc", "x y", "formaction"])
def test_attributes_that_run_or_fetch_do_not_exist(name):
    with pytest.raises(ValueError, match="no attribute"):
        el("p", **{name: "x"})


@pytest.mark.parametrize(
    "address", ["https://example.com", "javascript:alert(1)", "//x", "data:text/html,x", " #x", ""]
)
def test_an_address_leads_nowhere_else(address):
    with pytest.raises(ValueError, match="leads nowhere but to itself"):
        el("a", "x", href=address)


def test_a_place_on_the_page_is_an_address():
    assert el("a", "x", href="#tools").markup == '<a href="#tools">x</a>'


@pytest.mark.parametrize("written", HOSTILE)
def test_hostile_text_is_one_text(written):
    page = Page(el("div", el("p", written, title=written, id="p"), fragment(written)).markup)
    assert page.tags == {"div", "p"}
    assert {name for name, _ in page.attributes} == {"title", "id"}


@given(text(characters(exclude_categories=[])))
def test_any_text_is_one_text(written):
    page = Page(el("div", written, title=written, id="p").markup)
    assert page.tags == {"div"}
    assert "".join(page.texts["p"]) == dict(page.attributes)["title"] == visible(written)


def test_only_these_two_functions_make_markup():
    """`Html(...)` vouches for its text; so it is called in one module only, and the page's frame is the only other."""
    makers = {
        path.name
        for path in REPORTS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == Html.__name__
    }
    assert makers == {"html.py"}
    assert ELEMENTS.isdisjoint(
        {"script", "style", "img", "iframe", "object", "embed", "link", "meta", "base", "form", "use"}
    )
