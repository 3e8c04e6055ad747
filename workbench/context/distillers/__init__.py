"""Tool output made short without losing what an agent needs of it: one module a kind of output, chosen by content type.

A distiller sees what the tool said, never the envelope it came in.

Source: PRAANA, "Artifacts and distillers"; PRAANA src/distillers; specification A, 14, W15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.context.distillers.distilled import Distil, Distilled, select_intensity
from workbench.context.distillers.generic import distil_fallback, distil_generic
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import ContentType, Intensity

FALLBACK: Final = "generic-fallback"

DISTILLERS: Final[dict[ContentType, tuple[str, Distil]]] = {
    "other": ("generic", distil_generic),
    "code": ("generic", distil_generic),
    "prose": ("generic", distil_generic),
    "json": ("generic", distil_generic),
}
"""Name and function by content type; a type that is not here goes to `distil_fallback`."""


def distil(
    text: str, content_type: ContentType, settings: Distiller, *, intensity: Intensity | None = None
) -> Distilled:
    """Make a tool's output short.

    Args:
        text: What the tool said.
        content_type: What kind of output it is.
        settings: How much is kept.
        intensity: How hard; by size unless given.

    Source: PRAANA src/context-engine/distiller.ts, `distillForIngestion`.
    """
    tokens = estimate_tokens(text)
    how = intensity or select_intensity(tokens, settings)
    name, function = DISTILLERS.get(content_type, (FALLBACK, distil_fallback))
    short = function(text, how, settings)
    return Distilled(short, name, how, tokens, estimate_tokens(short))


__all__ = ["DISTILLERS", "Distilled", "distil", "select_intensity"]
