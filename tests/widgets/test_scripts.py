"""The files of all widgets: each script is whole by itself, asks for nothing and writes no markup."""

import re

import pytest

from workbench.widgets.scripts import SHARED, STATIC, script, style

OWN = sorted(path.stem for path in STATIC.glob("*.css"))


def test_every_style_sheet_has_its_script():
    assert OWN == ["anatomy", "note_graph", "timeline"]
    assert all((STATIC / f"{name}.js").is_file() for name in OWN)


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_script_writes_markup_or_asks_for_anything(path):
    text = path.read_text("utf-8")
    words = (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "fetch(",
        "XMLHttp",
        "eval(",
        "Function(",
        "http",
    )
    assert [word for word in words if word in text] == []
    assert not re.search(r"\bimport\b[\s(]*[\"'{*]", text)


@pytest.mark.parametrize("name", OWN)
def test_no_style_sheet_asks_for_anything(name):
    assert not any(word in style(name) for word in ("url(", "@import"))


def test_a_script_is_what_all_share_and_then_its_own():
    shared, own = ((STATIC / f"{name}.js").read_text("utf-8") for name in (SHARED, "anatomy"))
    assert script("anatomy") == shared + own
    assert script("anatomy").count("export default") == 1
