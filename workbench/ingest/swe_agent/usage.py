"""What a run used as a whole; no step tells of its own tokens."""

from __future__ import annotations

from typing import Any, Final

from workbench.ingest.swe_agent.document import Json

_MOST: Final = 2**63


def usage_payload(stats: Any) -> Json | None:
    """Tokens of a whole run, as SWE-agent counted them; what it sent includes what came from a cache.

    Where it did not count (a replay, a model without a tokenizer) it writes zeros; that is unknown, and no usage.
    """
    if not isinstance(stats, dict):
        return None
    sent, received, times = (_count(stats.get(name)) for name in ("tokens_sent", "tokens_received", "api_calls"))
    if not sent and not received:
        return None
    cost = stats.get("instance_cost")
    return {
        "input_tokens": sent,
        "output_tokens": received,
        "cache_read_tokens": None,
        "cache_write_tokens": None,
        "approximate": True,
        "api_calls": times,
        "reported_cost_usd": cost if isinstance(cost, int | float) else None,
    }


def _count(value: Any) -> int | None:
    """A count that a table can hold."""
    is_count = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST
    return int(value) if is_count else None
