"""Tokens of each model call, out of running totals and records of single calls.

In every record total = input + output: what was cached or written to a cache is a part of the input, reasoning one of
the output.
"""

from __future__ import annotations

from typing import Any, Final

from workbench.ingest.objects import Fields

_NAMES: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)

Figures = tuple[int | None, ...]
"""In the order of `_NAMES`; None where nothing is told."""


class RunningTotals:
    """Follows the totals of one file."""

    def __init__(self) -> None:
        self._total: Figures | None = None
        self._is_recorded = False

    def counted(self, info: Fields) -> dict[str, Any] | None:
        """What a `token_count` tells of one call: by how much the totals grew.

        Args:
            info: Its `info`; empty where it tells only of rate limits.

        Returns:
            Our payload; None where it repeats a state, mirrors a record of the call, or has no figures.
        """
        total, last = _figures(info.inner("total_token_usage")), _figures(info.inner("last_token_usage"))
        if total is None and last is None:
            return None
        before, self._total = self._total, total
        is_mirror, self._is_recorded = self._is_recorded, False
        if is_mirror or (total is not None and total == before):
            return None
        # at the first state and after a reset only the call's own figures tell what it took
        return _payload(_growth(before, total) or last or total)

    def recorded(self, record: Fields) -> dict[str, Any] | None:
        """What a `token_usage_record` tells of one call; the count that follows mirrors it."""
        figures = _figures(record.inner("usage"))
        self._is_recorded = self._is_recorded or figures is not None
        return _payload(figures)


def _figures(usage: Fields) -> Figures | None:
    found = tuple(usage.count(name) for name in _NAMES)
    return found if any(figure is not None for figure in found) else None


def _growth(before: Figures | None, after: Figures | None) -> Figures | None:
    """By how much totals grew; None where there is nothing to compare or some of them shrank."""
    if before is None or after is None:
        return None
    grown = tuple(None if new is None else new - (old or 0) for old, new in zip(before, after, strict=True))
    return None if any(figure is not None and figure < 0 for figure in grown) else grown


def _payload(figures: Figures | None) -> dict[str, Any] | None:
    if figures is None or not any(figures):
        return None
    taken, cached, written, output, reasoning = figures
    return {
        "input_tokens": None if taken is None else max(taken - (cached or 0) - (written or 0), 0),
        "output_tokens": output,
        "cache_read_tokens": cached,
        "cache_write_tokens": written,
        "reasoning_tokens": reasoning,
    }
