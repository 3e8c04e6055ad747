"""A prompt as a list of named sections: what is sent is their texts joined, and that is what is measured.

Source: PRAANA, "Engine mode"; PRAANA src/context-engine/engine-compiler.ts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from workbench.context.trim import shorten
from workbench.text.tokens import estimate_tokens

JOINT: Final = "\n\n"
CUT: Final = "… [cut to fit the budget]"


class Section(msgspec.Struct, frozen=True):
    """One part of a prompt.

    Attributes:
        name: Such as `frame`, `verbatim` or `scored`.
        text: What is sent.
        tokens: Estimated tokens of the text.
        weighted: What they weigh when the fill is measured.
    """

    name: str
    text: str
    tokens: int
    weighted: float


def make_section(name: str, text: str, weight: float) -> Section:
    """A section whose tokens all weigh the same."""
    tokens = estimate_tokens(text)
    return Section(name, text, tokens, tokens * weight)


class Cut(msgspec.Struct, frozen=True):
    """A section that was shortened or left out to fit the budget: tokens before and after."""

    section: str
    tokens: int
    kept_tokens: int


def join(sections: Iterable[Section]) -> str:
    """What is sent: the texts of the sections that have one, a blank line between."""
    return JOINT.join(section.text for section in sections if section.text)


def fit(sections: Sequence[Section], budget: int, order: Sequence[str]) -> tuple[list[Section], list[Cut]]:
    """Cut sections, the least needed first, until what is sent costs at most `budget`.

    Args:
        sections: In the order of the prompt.
        budget: Tokens allowed, at least 0.
        order: Names of sections, the least needed first; those not named come last, from the end.

    Returns:
        The sections, and what was cut. With a budget of 0 nothing is left.
    """
    kept = {section.name: section for section in sections}
    named = [name for name in order if name in kept]
    rest = [section.name for section in reversed(sections) if section.name not in named]
    cuts: list[Cut] = []
    for name in [*named, *rest]:
        total = estimate_tokens(join(kept.values()))
        if total <= budget:
            break
        section = kept[name]
        if section.text:
            kept[name] = _shortened(kept, name, budget)
            cuts.append(Cut(name, section.tokens, kept[name].tokens))
    return list(kept.values()), cuts


def _shortened(sections: dict[str, Section], name: str, budget: int) -> Section:
    section = sections[name]
    others = [other for other in sections.values() if other.name != name and other.text]
    allowed = budget - estimate_tokens(join(others) + JOINT) if others else budget
    text = shorten(section.text, allowed, CUT) if allowed > 0 else ""
    tokens = estimate_tokens(text)
    return Section(name, text, tokens, section.weighted * tokens / max(1, section.tokens))
