"""Token caps of a prompt's parts, widened or narrowed by the kind of task.

cap = max(min_tokens, round(base * min(scale_max, share(task type) / share(general))))

Source: PRAANA, "Engine mode"; PRAANA src/context-engine/engine-compiler.ts; specification A, 9 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.config.context import Bands, ContextEngine, TaskType
    from workbench.context.records import TaskType as TaskTypeName

SHARES: Final = ("errors", "verbatim", "decisions", "artifacts", "narrative")
"""What the shares of `config.TaskType` are of, in their order."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Most tokens of each part; one object for every estimate and every rendering of a compile."""

    verbatim: int
    recent: int
    older: int
    narrative: int
    decisions: int
    errors: int


def scale(share: float, general: float, most: float) -> float:
    """How much wider a part is than in a general task: their ratio, at most `most`.

    Nothing of nothing is nothing; something of nothing stays as it is.

    Source: PRAANA src/context-engine/engine-compiler.ts.
    """
    if general == 0.0:
        return 0.0 if share == 0.0 else 1.0
    return min(share / general, most)


def caps_for(task_type: TaskTypeName, config: ContextEngine) -> Caps:
    """The caps that hold for a kind of task."""
    shares = dict(zip(SHARES, _shares(task_type, config.task_type), strict=True))
    general = dict(zip(SHARES, config.task_type.general, strict=True))
    bands = config.bands

    def cap(base: int, key: str) -> int:
        return _cap(base, scale(shares[key], general[key], bands.scale_max), bands)

    return Caps(
        verbatim=cap(bands.verbatim_tokens, "verbatim"),
        recent=cap(bands.recent_tokens, "artifacts"),
        older=cap(bands.older_tokens, "artifacts"),
        narrative=cap(config.checkpoint.narrative_tokens, "narrative"),
        decisions=cap(config.checkpoint.decisions_tokens, "decisions"),
        errors=cap(config.checkpoint.errors_tokens, "errors"),
    )


def _shares(task_type: TaskTypeName, config: TaskType) -> tuple[float, ...]:
    shares: tuple[float, ...] = getattr(config, task_type)
    return shares


def _cap(base: int, factor: float, bands: Bands) -> int:
    return max(bands.min_tokens, floor(base * factor + 0.5))  # halves go up, as in the original
