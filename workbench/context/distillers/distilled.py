"""What distilling gives, and how hard it is done.

Source: PRAANA src/context-engine/distiller.ts; specification A, 14.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from workbench.context.records import Intensity

if TYPE_CHECKING:
    from workbench.config.context import Distiller


class Distilled(msgspec.Struct, frozen=True):
    """A shortened text, by whom, and what it cost before and after in estimated tokens."""

    text: str
    distiller: str
    intensity: Intensity
    input_tokens: int
    output_tokens: int

    @property
    def savings(self) -> float:
        """Share of the tokens that are gone, 0 where it grew."""
        return max(0.0, 1.0 - self.output_tokens / self.input_tokens) if self.input_tokens else 0.0


Distil = Callable[[str, Intensity, "Distiller"], str]
"""A distiller: text, intensity and settings to a shorter text."""


def select_intensity(raw_tokens: int, settings: Distiller) -> Intensity:
    """How hard a text is shortened: by its size, and as configured only where it is small.

    Source: PRAANA src/context-engine/distiller.ts, `selectIntensity`.
    """
    if raw_tokens > settings.full_above_tokens:
        return "full"
    return "lite" if raw_tokens > settings.lite_above_tokens else settings.default_intensity


def by_intensity(pair: tuple[int, int], intensity: Intensity) -> int:
    """The figure of a setting for `lite`, or for `full`."""
    return pair[0] if intensity == "lite" else pair[1]
