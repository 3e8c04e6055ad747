"""Parts of a report inside a notebook: the page's own markup and style, which reach nothing else of the notebook."""

from __future__ import annotations

from typing import Final

from workbench.reports.render.html import Child, el, fragment
from workbench.reports.render.page import STYLE, Section

SCOPE: Final = "workbench-part"

_STYLE: Final = (
    f"@scope (.{SCOPE}) {{\n{STYLE.replace(':root', ':scope')}\n"
    ":scope { max-width: 62rem; color: var(--ink); font-size: 15px; line-height: 1.5; }\n"
    ":scope { font-variant-numeric: tabular-nums; }\n"
    "section { padding-top: 0.5rem; }\n}\n"
    f"div.{SCOPE} {{ color-scheme: light; }}\n"
    f'.dark .{SCOPE}, body[data-jp-theme-light="false"] .{SCOPE} {{ color-scheme: dark; }}\n'
)
"""The page's style sheet within the part alone; marimo says by a class that it is dark, JupyterLab by an attribute."""


def embedded(*children: Child) -> str:
    """Markup for `mo.Html` and for `IPython.display.HTML`, safe as everything that `el` makes."""
    return f'<div class="{SCOPE}"><style>{_STYLE}</style>{fragment(*children).markup}</div>'


def section(part: Section) -> str:
    """A section of a report with its heading and its sentence."""
    lead = el("p", part.lead, class_="lead") if part.lead else None
    return embedded(el("section", el("h2", part.title), lead, part.body, id=part.id))
