"""Sessions in `folio`: a failing build, a stopped agent, a picture, and a conversation that grew too long."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from sample_maker.claude_chain import NEWER, Say, Think
from sample_maker.claude_code import OPUS, SONNET, Session
from sample_maker.claude_tools import Bash, Edit, Glob, Grep, Read, Write
from sample_maker.picture import bar_chart
from sample_maker.projects.folio import STOCK

if TYPE_CHECKING:
    from sample_maker.shelf import Shelf
    from sample_maker.workshop import Workshop

_WATER: Final = "# 水\n\n泉水比自来水好。参看 [[茶]]。\n\n🫖 水温: 八十度、九十五度。\n"

_CHART: Final = '''\
"""Bars as SVG: how many links each note has."""

from folio.pages import Note

BAR = 8


def bars(notes: list[Note]) -> str:
    tallest = max((len(note.links()) for note in notes), default=0) or 1
    parts = []
    for position, note in enumerate(notes):
        height = 32 * len(note.links()) / tallest
        parts.append(f'<rect x="{position * BAR}" y="{height:.0f}" width="{BAR - 2}" height="{height:.0f}"/>')
    return f'<svg viewBox="0 0 {len(notes) * BAR} 32">' + "".join(parts) + "</svg>"
'''


def broken_build(shop: Workshop, shelf: Shelf) -> None:
    """`make` fails on a file that does not compile; then notes in Chinese."""
    session = Session(shop, "broken_build", "2026-03-11T07:48:00", SONNET)
    session.ask("`make` has been failing since last night, please repair it.")
    session.answer(Bash("make", "Run the build"))
    session.answer(Read("folio/feed.py"), Bash("git log --oneline -2 -- folio/feed.py", "See where it came from"))
    session.answer(
        Say('In `feed` a bracket is missing after `.html"`.'),
        Edit("folio/feed.py", '{base}/{title}.html" for title', '{base}/{title}.html") for title'),
    )
    session.answer(Bash("make check", "Check that it compiles"))
    session.answer(Bash("make", "Run the whole build", seconds=2))
    session.answer(
        Say("The build runs. It names two dangling links: `harbour market -> ferry` and `茶 -> 水`."),
    )
    session.ask("茶 needs 水. Write that note, in Chinese, two short paragraphs.")
    session.answer(Glob("content/*.md"))
    session.answer(Read("content/茶.md"))
    session.answer(Write("content/水.md", _WATER))
    session.answer(Bash("make site && ls build", "Build the pages"), Grep("水|茶", "content"))
    session.answer(Bash("git add -A && git status --short", "See what is new"))
    session.answer(
        Say("git shows the name in octal; with `core.quotepath` off it is readable."),
        Bash("git -c core.quotepath=false status --short && git commit -qm 'Repair the feed, add 水'", "Commit"),
    )
    session.answer(Say("`content/水.md` is written and committed. Only the link to `ferry` is left without a target."))
    session.close(shelf)


def stopped(shop: Workshop, shelf: Shelf) -> None:
    """The person rejects an edit, says what they want instead, and later stops an answer."""
    session = Session(shop, "stopped", "2026-03-13T19:20:00", OPUS)
    session.ask("Links to notes that do not exist should look different on the page.")
    session.answer(Grep("dangling|LINK"), Read("folio/render.py"))
    session.reject(
        Think("inline needs to know the titles. A module global would be the smallest change."),
        Say("I'll keep the known titles in a module-level set."),
        Edit(
            "folio/render.py",
            "def inline(text: str) -> str:\n",
            "KNOWN: set[str] = set()\n\n\ndef inline(text: str) -> str:\n",
        ),
    )
    session.ask("No globals please. Pass the titles in as an argument, with a default of None meaning all are known.")
    session.answer(
        Edit(
            "folio/render.py",
            "def inline(text: str) -> str:\n",
            "def inline(text: str, known: set[str] | None = None) -> str:\n",
        ),
        Edit(
            "folio/render.py",
            "        parts.append(f'<a href=",
            "        missing = known is not None and target not in known\n"
            '        mark = \' class="missing"\' if missing else ""\n'
            "        parts.append(f'<a{mark} href=",
        ),
    )
    session.answer(Bash("python -m pytest -q", "Run the tests"))
    session.cut_short(Say("The tests pass. While I am here I could also rewrite the heading parser, the feed and the"))
    session.ask("Stop, only the links. Commit what you have.")
    session.answer(Bash("git commit -qam 'Mark links without a target' && git show --stat --oneline", "Commit"))
    session.answer(
        Say("Committed. `page` does not pass the titles yet, so nothing changes on the pages until it does.")
    )
    session.close(shelf)


def crooked_chart(shop: Workshop, shelf: Shelf) -> None:
    """A pasted picture, and a picture that the agent reads itself."""
    session = Session(shop, "crooked_chart", "2026-03-16T12:10:00", OPUS, release=NEWER)
    shop.write("folio/chart.py", _CHART)
    session.ask(
        "I began a chart of links a note (folio/chart.py), but the bars hang from the ceiling. See the screenshot.",
        image=bar_chart((4, 28, 12, 20, 8, 16)),
    )
    session.answer(
        Think("Bars drawn at y = height grow downwards from there. SVG's y runs down: y must be 32 - height."),
        Read("folio/chart.py"),
        Grep("svg|SVG"),
    )
    session.answer(
        Say("SVG counts y from the top, so a bar has to begin at `32 - height`."),
        Edit("folio/chart.py", 'y="{height:.0f}"', 'y="{32 - height:.0f}"'),
    )
    shop.real("chart.png").write_bytes(base64.b64decode(bar_chart((28, 24, 20, 12, 8, 4))))
    session.answer(
        Bash(
            'python -c "from pathlib import Path; from folio.chart import bars; from folio.pages import load; '
            "print(bars(load(Path('content'))))\"",
            "Draw it for the real notes",
        )
    )
    session.ask("I rendered it to chart.png. Is that right?")
    session.answer(Read("chart.png"))
    session.answer(
        Say("Yes: the bars stand on the base line, the tallest note is on the left."),
        Bash(
            "rm chart.png && git add -A && git commit -qm 'Draw links a note' && git log --oneline -1",
            "Commit the chart",
        ),
    )
    session.answer(Say("Committed, without the picture."))
    session.close(shelf)


def many_pages(shop: Workshop, shelf: Shelf) -> None:
    """Very long outputs, then a full context: the second half works from a summary."""
    session = Session(shop, "many_pages", "2026-03-18T20:15:00", SONNET)
    for path, text in STOCK.items():
        shop.write(path, text)
    session.ask(
        "I added a page for each shelf of the stock room. Commit them, build, and check that every link resolves."
    )
    session.answer(Bash("git add -A && git commit -qm 'Add the stock pages' && git show --stat", "Commit the pages"))
    session.answer(Bash("git log -p", "Look through everything that was committed"))
    session.answer(Bash("make all", "Build", seconds=3), Grep("tea", "content"))
    session.answer(
        Think("Each of the 24 pages links to tea 24 times, and tea is there. ferry is still dangling."),
        Say("Every link of the stock pages resolves. `ferry` is the only one that does not."),
        Bash("cat build/stock-*.html | head -c 9000", "Look at the pages as built"),
    )
    session.answer(Say("The rows of a list run together: a page has one paragraph where the note has 24 list items."))
    session.ask("Right, lists were never done. Add them.")
    session.answer(Read("folio/render.py"))
    session.compact(_SUMMARY)
    session.answer(Read("folio/render.py", offset=26, limit=14))
    session.answer(
        Edit(
            "folio/render.py",
            '        else:\n            body.append(f"<p>{inline(block)}</p>")',
            '        elif block.startswith("- "):\n'
            '            items = "".join(f"<li>{inline(line[2:])}</li>" for line in block.splitlines())\n'
            '            body.append(f"<ul>{items}</ul>")\n'
            '        else:\n            body.append(f"<p>{inline(block)}</p>")',
        ),
        Edit(
            "tests/test_render.py",
            "def test_dangling_links_are_named():",
            'def test_a_list():\n    assert "<ul><li>a</li><li>b</li></ul>" in page("x", "- a\\n- b")\n\n\n'
            "def test_dangling_links_are_named():",
        ),
    )
    session.answer(
        Bash("make all", "Build and test", seconds=3), Bash("head -c 700 build/stock-03.html", "See one page")
    )
    session.answer(Bash("git commit -qam 'Render lists' && git log --oneline -3", "Commit"))
    session.answer(Say("Lists are rendered, with a test. All pages are built anew."))
    session.close(shelf)


_SUMMARY: Final = """\
1. **Request**: Sam added 24 pages `content/stock-01.md` to `stock-24.md`; commit, build, check links.
2. **Done**: committed as `Add the stock pages`; `make all` passes; the only dangling link is `harbour market -> ferry`.
3. **Found**: `page` in `folio/render.py` knows headings and paragraphs only, so the 24 list items of a stock page run \
together in one paragraph.
4. **Current request**: add lists to `folio/render.py`, with a test in `tests/test_render.py`.
5. **Constraints**: no module-level state (Sam said so in an earlier session)."""
