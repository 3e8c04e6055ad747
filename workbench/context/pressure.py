"""How full a prompt is, by what its tokens are worth, and how tight it must get.

    weighted = sum over sections of tokens * density of the section's kind
    ratio    = weighted / usable budget

Source: PRAANA, "Pressure"; PRAANA src/context-engine/density.ts; specification A, D3 (the divisor).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.config.context import Density, Pressure
    from workbench.context.records import PressureMode

MODES: Final[tuple[PressureMode, ...]] = ("normal", "compact", "emergency")
"""From loose to tight."""

KIND_OF_UNIT: Final = {"checkpoint_section": "pinned_infra"}
"""Unit types whose density goes by another name than their own. Source: PRAANA src/context-engine/density.ts."""


def usable_budget(token_budget: int, window: int, reserved: int) -> int:
    """Tokens a prompt may have: max(0, min(token budget, context window) - reserved for the answer).

    Source: specification A, 9 and 33.
    """
    return max(0, min(token_budget, window) - reserved)


def effective(tokens: int, kind: str, density: Density) -> float:
    """What tokens of one kind weigh.

    Args:
        tokens: How many.
        kind: A field of `Density`, or a unit type.
        density: Weights by kind.

    Raises:
        AttributeError: There is no such kind.
    """
    weight: float = getattr(density, KIND_OF_UNIT.get(kind, kind))
    return tokens * weight


def weighted_tokens(sections: Iterable[tuple[int, str]], density: Density) -> float:
    """What sections weigh together, each given as tokens and kind."""
    return sum((effective(tokens, kind, density) for tokens, kind in sections), start=0.0)


def pressure_ratio(weighted: float, usable: int) -> float:
    """Weighted tokens over the usable budget; a budget of nothing counts as one token.

    Source: PRAANA, "Pressure" (specification A, D3: the original divides by the window).
    """
    return weighted / max(1, usable)


def mode_of(ratio: float, pressure: Pressure) -> PressureMode:
    """`emergency` strictly above its threshold, else `compact` strictly above its own, else `normal`.

    Source: PRAANA, "Pressure".
    """
    if ratio > pressure.emergency_at:
        return "emergency"
    return "compact" if ratio > pressure.compact_at else "normal"


def tightest(*modes: PressureMode) -> PressureMode:
    """The tightest of some modes."""
    return max(modes, key=MODES.index)


class AutoCompaction:
    """When classic mode folds its oldest history, with hysteresis.

    It arms at `at` and disarms below `clear_at`; it fires whenever it is armed and the fill is at `at` or above.

    Source: PRAANA src/compile-classic.ts.
    """

    def __init__(self, at: float, clear_at: float, *, verbatim_only: bool = False, armed: bool = False) -> None:
        self.armed = armed
        self._at, self._clear_at, self._never = at, clear_at, verbatim_only

    def fires(self, ratio: float) -> bool:
        """Take note of the fill, and say whether history is to be folded now."""
        if self._never:
            return False
        if ratio >= self._at:
            self.armed = True
        elif ratio < self._clear_at:
            self.armed = False
        return self.armed and ratio >= self._at
