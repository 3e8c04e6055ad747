"""Tool output made short without losing what an agent needs of it: one module a kind of output, chosen by content type.

A distiller sees what the tool said as a terminal shows it: never the envelope it came in, no colours. Whatever the
size, the names of failing tests and packages and the errors of a build stay, with their messages.

Source: PRAANA, "Artifacts and distillers"; PRAANA src/distillers; specification A, 14, W15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from workbench.context.distillers.build_output import distil_build
from workbench.context.distillers.distilled import HEADER_CHARS, Distil, Distilled, Registered, select_intensity
from workbench.context.distillers.generic import distil_fallback, distil_generic, keep_whole
from workbench.context.distillers.git_diff import distil_diff
from workbench.context.distillers.log import distil_log
from workbench.context.distillers.search_results import distil_search
from workbench.context.distillers.test_output import distil_tests
from workbench.context.terminal import plain_text
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import ContentType, Intensity

Registry = Mapping["ContentType", Registered]

_GENERIC: Final = Registered("generic", distil_generic)

FALLBACK: Final = Registered("generic-fallback", distil_fallback)
"""For a type that nothing is registered for."""

DISTILLERS: Final[Registry] = {
    "diff": Registered("git-diff", distil_diff),
    "test_output": Registered("npm-test", distil_tests),
    "build_output": Registered("tsc-errors", distil_build),
    "search_results": Registered("rg-search", distil_search),
    "log": Registered("log", distil_log),
    "error": Registered(FALLBACK.name, keep_whole),
    "other": _GENERIC,
    "code": _GENERIC,
    "prose": _GENERIC,
    "json": _GENERIC,
}
"""By content type. The names are the original's, though the second and third know more than one tool."""


def distil(
    text: str,
    content_type: ContentType,
    settings: Distiller,
    *,
    intensity: Intensity | None = None,
    registry: Registry = DISTILLERS,
) -> Distilled:
    """Make a tool's output short.

    Args:
        text: What the tool said.
        content_type: What kind of output it is.
        settings: How much is kept.
        intensity: How hard; by size unless given.
        registry: Distillers by content type.

    Returns:
        A text that is longer than what came in by a header at most; JSON may grow by its line breaks.

    Source: PRAANA src/context-engine/distiller.ts, `distillForIngestion`.
    """
    tokens = estimate_tokens(text)
    how = intensity or select_intensity(tokens, settings)
    chosen = registry.get(content_type, FALLBACK)
    whole = plain_text(text)
    short = chosen.distil(whole, how, settings)
    if len(short) > len(whole) + HEADER_CHARS and chosen is not _GENERIC:
        short = whole
    return Distilled(short, chosen.name, how, tokens, estimate_tokens(short))


__all__ = ["DISTILLERS", "Distil", "Distilled", "Registered", "Registry", "distil", "select_intensity"]
