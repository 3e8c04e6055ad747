"""`folio`: notes to web pages, with a Makefile, Chinese notes and a file that does not compile."""

from __future__ import annotations

from typing import Final

from sample_maker.workshop import Commit

RENDER: Final = '''\
"""One page as HTML."""

import html
import re

LINK = re.compile(r"\\[\\[([^\\]|]+)(?:\\|([^\\]]+))?\\]\\]")
HEADING = re.compile(r"^(#{1,6}) (.+)$")


def inline(text: str) -> str:
    """Escape the text and turn [[links]] into anchors."""
    parts, end = [], 0
    for match in LINK.finditer(text):
        parts.append(html.escape(text[end : match.start()]))
        target, label = match.group(1), match.group(2) or match.group(1)
        parts.append(f'<a href="{html.escape(target)}.html">{html.escape(label)}</a>')
        end = match.end()
    parts.append(html.escape(text[end:]))
    return "".join(parts)


def page(title: str, text: str) -> str:
    """The whole page."""
    body = []
    for block in text.strip().split("\\n\\n"):
        heading = HEADING.match(block)
        if heading:
            level = len(heading.group(1))
            body.append(f"<h{level}>{inline(heading.group(2))}</h{level}>")
        else:
            body.append(f"<p>{inline(block)}</p>")
    return f"<!doctype html>\\n<meta charset=utf-8>\\n<title>{html.escape(title)}</title>\\n" + "\\n".join(body) + "\\n"
'''

PAGES: Final = '''\
"""Notes in a folder."""

from dataclasses import dataclass
from pathlib import Path

from folio.render import LINK, page


@dataclass(frozen=True)
class Note:
    title: str
    text: str

    def links(self) -> list[str]:
        return [match.group(1) for match in LINK.finditer(self.text)]


def load(folder: Path) -> list[Note]:
    return [Note(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))]


def dangling(notes: list[Note]) -> list[tuple[str, str]]:
    """Links whose target is not there: (note, target)."""
    titles = {note.title for note in notes}
    return [(note.title, target) for note in notes for target in note.links() if target not in titles]


def build(source: Path, target: Path) -> int:
    target.mkdir(parents=True, exist_ok=True)
    notes = load(source)
    for note in notes:
        (target / f"{note.title}.html").write_text(page(note.title, note.text), encoding="utf-8")
    return len(notes)
'''

MAIN: Final = '''\
"""``python -m folio SOURCE TARGET``."""

import sys
from pathlib import Path

from folio.pages import build, dangling, load

source, target = (Path(argument) for argument in sys.argv[1:3])
print(f"{build(source, target)} pages")
for title, link in dangling(load(source)):
    print(f"dangling: {title} -> {link}")
'''

FEED_BROKEN: Final = '''\
"""The newest notes as an Atom feed."""

from xml.sax.saxutils import escape


def entry(title: str, address: str) -> str:
    return f"<entry><title>{escape(title)}</title><link href='{address}'/></entry>"


def feed(titles: list[str], base: str) -> str:
    entries = "".join(entry(title, f"{base}/{title}.html" for title in titles)
    return f"<feed xmlns='http://www.w3.org/2005/Atom'>{entries}</feed>"
'''

TEST_RENDER: Final = """\
from folio.pages import Note, dangling
from folio.render import inline, page


def test_a_link_becomes_an_anchor():
    assert inline("see [[tea|the tea]]") == 'see <a href="tea.html">the tea</a>'


def test_markup_is_escaped():
    assert inline("<b> & [[a<b]]") == '&lt;b&gt; &amp; <a href="a&lt;b.html">a&lt;b</a>'


def test_a_heading():
    assert "<h2>Two</h2>" in page("x", "## Two\\n\\ntext")


def test_dangling_links_are_named():
    assert dangling([Note("a", "[[b]] [[a]]")]) == [("a", "b")]
"""

MAKEFILE: Final = """\
.PHONY: all check test site
all: check test site

check:
\tpython -m compileall -q folio

test:
\tpython -m pytest -q

site:
\tpython -m folio content build
"""

TEA: Final = """\
# Tea

Water at 80 degrees for the green ones, see [[茶]].

Bought at [[harbour market]] on Saturdays.
"""

CHA: Final = """\
# 茶

绿茶用八十度的水、泡两分钟。

红茶用开水、泡四分钟。参看 [[tea|英文的笔记]] 和 [[水]]。
"""

MARKET: Final = """\
# Harbour market

Open on Saturdays from eight. Bring coins for the [[ferry]].
"""


def _stock(number: int) -> str:
    lines = (f"- shelf {number}.{row}: jar {(number * 37 + row * 11) % 97:02d}, [[tea]]" for row in range(1, 25))
    return f"# Stock {number:02d}\n\n" + "\n".join(lines) + "\n"


STOCK: Final = {f"content/stock-{number:02d}.md": _stock(number) for number in range(1, 25)}
"""Dull pages, so that a listing or a diff of them is long."""

HISTORY: Final = (
    Commit(
        "Render pages",
        "2026-02-20T08:00:00Z",
        {"folio/__init__.py": "", "folio/render.py": RENDER, ".gitignore": "__pycache__/\nbuild/\n"},
    ),
    Commit(
        "Build a folder of notes",
        "2026-02-21T08:30:00Z",
        {"folio/pages.py": PAGES, "folio/__main__.py": MAIN, "content/tea.md": TEA},
    ),
    Commit("Add the Chinese tea note", "2026-02-22T09:10:00Z", {"content/茶.md": CHA}),
    Commit("Test rendering", "2026-02-24T21:15:00Z", {"tests/test_render.py": TEST_RENDER, "Makefile": MAKEFILE}),
    Commit("Begin a feed", "2026-03-10T22:40:00Z", {"folio/feed.py": FEED_BROKEN, "content/harbour market.md": MARKET}),
)
