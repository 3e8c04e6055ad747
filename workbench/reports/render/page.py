"""The frame of a report: one file that opens anywhere, fetches nothing, runs nothing, in light and dark, and prints."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

from workbench.reports.render.html import Child, Html, el, fragment
from workbench.reports.render.text import one_line

STYLE: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")

POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'"
)
"""Nothing but our own style sheet, known by its hash; so not even a style could be slipped in."""


@dataclass(frozen=True)
class Section:
    """One part of a page.

    Attributes:
        id: Its element id; links and tests name it.
        title: Its heading.
        body: What stands in it.
        lead: The sentence under the heading.
        menu: Its name in the menu; the heading unless given, no entry when empty.
    """

    id: str
    title: str
    body: tuple[Child, ...]
    lead: Child = None
    menu: str | None = None

    @property
    def entry(self) -> str:
        """What the menu calls it."""
        return self.title if self.menu is None else self.menu


@dataclass(frozen=True)
class Figure:
    """A number that matters, with its name and what puts it into proportion."""

    label: str
    value: str
    note: str = ""


def figures(items: Sequence[Figure]) -> Html:
    """Numbers side by side."""
    return el(
        "dl",
        [el("div", el("dt", item.label), el("dd", item.value), el("dd", item.note, class_="note")) for item in items],
        class_="figures",
    )


def page(title: str, sections: Sequence[Section], *, lead: Child = None, about: Sequence[Child] = ()) -> str:
    """A whole page.

    Args:
        title: The heading, and the name of the window.
        sections: Its parts.
        lead: What stands under the heading.
        about: What stands at the foot, a paragraph each.

    Returns:
        An HTML document.
    """
    menu = [el("a", section.entry, href=f"#{section.id}") for section in sections if section.entry]
    body = fragment(
        el("header", el("h1", title), el("p", lead, class_="lead") if lead else None, id="top"),
        el("nav", menu, aria_label="Sections") if len(menu) > 1 else None,
        el("main", map(_section, sections)),
        el("footer", [el("p", line) for line in about], id="foot"),
    )
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(one_line(title), quote=False)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body.markup}\n</body>\n</html>\n"
    )


def _section(section: Section) -> Html:
    return el(
        "section",
        el("h2", section.title),
        el("p", section.lead, class_="lead") if section.lead else None,
        section.body,
        id=section.id,
    )
