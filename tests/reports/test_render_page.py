"""The frame of a page, and its tables."""

import re
from base64 import b64encode
from hashlib import sha256

from report_pages import HOSTILE, Page

from workbench.reports.render.html import el
from workbench.reports.render.page import Figure, Section, figures, page
from workbench.reports.render.tables import Column, table
from workbench.reports.render.text import one_line


def made(**changes):
    sections = [Section("one", "First", (el("p", "text"),), lead="lead"), Section("two", "Second", (), menu="2nd")]
    return page("Title", **{"sections": sections, "lead": "what it is", "about": ["made today"], **changes})


def test_every_section_has_its_id_and_its_place_in_the_menu():
    html = Page(made())
    assert html.ids() == {"top", "one", "two", "foot"}
    assert html.text("one") == "First lead text"
    assert [value for name, value in html.attributes if name == "href"] == ["#one", "#two"]
    assert html.text("foot") == "made today"


def test_a_page_of_one_section_has_no_menu():
    assert "<nav" not in made(sections=[Section("one", "First", ())])


def test_nothing_but_our_own_style_sheet_is_allowed():
    html = made()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in style
    assert "@import" not in style


def test_it_knows_dark_and_paper():
    html = made()
    assert "--paper: light-dark(#ffffff, #14171a)" in html
    assert "@media print" in html
    assert '<meta name="color-scheme" content="light dark">' in html


def test_a_hostile_title_is_a_title():
    for text in HOSTILE:
        html = Page(page(text, [Section("one", text, (text,), lead=text)], lead=text, about=[text]))
        assert html.tags == {
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "header",
            "h1",
            "p",
            "main",
            "section",
            "h2",
            "footer",
        }
        assert html.text("one") == " ".join([one_line(text)] * 3)


def test_numbers_side_by_side():
    html = Page(el("div", figures([Figure("sessions", "12", "in 3 projects"), Figure("span", "–")]), id="x").markup)  # noqa: RUF001
    assert html.text("x") == "sessions 12 in 3 projects span –"  # noqa: RUF001


COLUMNS = [Column("tool", "tool", kind="code"), Column("calls", "calls", str, "number", bar=True, title="how often")]


def test_a_table_has_a_row_a_row_and_a_sum():
    rows = [{"tool": "Bash", "calls": 4}, {"tool": "Read", "calls": 1}]
    html = Page(table(rows, COLUMNS, total={"tool": "all", "calls": 5}, id="t", label="Tools").markup)
    assert html.text("t") == "tool calls Bash 4 Read 1 all 5"
    assert [value for name, value in html.attributes if name == "width"] == ["100.0", "25.0"]
    assert ("title", "how often") in html.attributes


def test_a_missing_value_is_an_empty_cell_and_none_is_paler():
    columns = [
        Column("tool", "tool"),
        Column("calls", "calls", lambda value: "-" if value is None else str(value), "number"),
    ]
    made = table([{}, {"calls": 0}, {"calls": 1}], columns).markup
    assert made.count('<td class="number none">') == 2
    assert made.count('<td class="text"></td>') == 3


def test_a_table_without_rows_is_only_its_head():
    assert Page(table([], COLUMNS, id="t").markup).text("t") == "tool calls"


def test_a_long_cell_is_cut_and_says_so():
    html = Page(table([{"tool": "x" * 1_000_000, "calls": 1}], COLUMNS, id="t").markup)
    assert html.text("t") == f"tool calls {'x' * 160}… (999,840 more characters) 1"
