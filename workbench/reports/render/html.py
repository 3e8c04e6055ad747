"""Markup that text cannot slip into.

`el` and `fragment` are the only ways to it: what they are given as text is made visible (see `text`) and escaped, what
they are given as `Html` stays. Elements and attributes that could run or fetch something do not exist here: no script,
no handler, no address but a place on the same page.

>>> el("p", "1 < 2", el("b", "!"), class_="note").markup
'<p class="note">1 &lt; 2<b>!</b></p>'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias

from workbench.reports.render.text import visible

_WRITING = (
    "a article aside b br code dd details div dl dt em figcaption figure footer h1 h2 h3 header hr i kbd li main mark"
)
_MORE = "nav ol p pre section small span strong sub summary sup table tbody td tfoot th thead time tr ul"
_DRAWING = "svg g path rect line circle text tspan title defs clipPath"

ELEMENTS: Final = frozenset(f"{_WRITING} {_MORE} {_DRAWING}".split())
"""All that a report may be made of."""

EMPTY: Final = frozenset({"br", "hr"})
"""Elements without an end."""

_SAYING = "aria-hidden aria-label class colspan datetime dir hidden href id lang open role scope tabindex title"
_PLACING = "clip-path cx cy d dx dy height preserveAspectRatio r rx ry transform viewBox width x x1 x2 y y1 y2"
_LOOKING = "clip-rule fill fill-opacity font-size font-style font-weight opacity text-anchor"
_STROKES = "stroke stroke-dasharray stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width"

ATTRIBUTES: Final = frozenset(f"{_SAYING} {_PLACING} {_LOOKING} {_STROKES}".split())
"""All attributes they may have; of style there is none: the page's style sheet says how things look."""


@dataclass(frozen=True, slots=True)
class Html:
    """Finished markup. Made by `el` and `fragment`; whoever calls the class itself vouches for every character."""

    markup: str

    def _repr_html_(self) -> str:
        return self.markup


Child: TypeAlias = "Html | str | int | Iterable[Child] | None"
"""What can stand inside an element; None is nothing."""


def el(tag: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """An element.

    Args:
        tag: One of `ELEMENTS`.
        children: Markup, or text that is made visible and escaped.
        attributes: Of `ATTRIBUTES`; `class_` is `class`, `text_anchor` is `text-anchor`. None and False leave one out.

    Raises:
        ValueError: The element or attribute is not allowed, or an address leads off the page.
    """
    if tag not in ELEMENTS:
        raise ValueError(f"a report has no <{tag}>; it has {', '.join(sorted(ELEMENTS))}")
    head = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    if tag in EMPTY:
        return Html(head)
    return Html(f"{head}{fragment(*children).markup}</{tag}>")


def fragment(*children: Child) -> Html:
    """Several children without an element around them."""
    return Html("".join(map(_markup, children)))


def _markup(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child.markup
    if isinstance(child, str):
        return escape(visible(child), quote=False)
    if isinstance(child, int | float):
        return str(child)
    return "".join(map(_markup, child))


def _attribute(name: str, value: str | float | bool | None) -> str:
    name = name.rstrip("_").replace("_", "-")
    if name not in ATTRIBUTES:
        raise ValueError(f"an element of a report has no attribute {name!r}")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = visible(str(value))
    if name == "href" and not text.startswith("#"):
        raise ValueError(f"a report leads nowhere but to itself: {text[:100]!r} is no place on the page")
    return f' {name}="{escape(text)}"'
