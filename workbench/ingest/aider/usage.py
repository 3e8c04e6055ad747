"""What Aider prints of a model call: tokens, rounded from a thousand on, and what they cost."""

from __future__ import annotations

import re
from typing import Any, Final

_FIGURE: Final = r"(\d[\d,]*(?:\.\d+)?[kM]?)"
_TOKENS: Final = re.compile(
    rf"Tokens: {_FIGURE} sent(?:, {_FIGURE} cache write)?(?:, {_FIGURE} cache hit)?, {_FIGURE} received\."
)
_COST: Final = re.compile(r"Cost: \$(\d[\d,]*(?:\.\d+)?) (?:message|request)")
_SCALE: Final = {"k": 1_000, "M": 1_000_000}


def usage_payload(text: str) -> dict[str, Any] | None:
    """Tokens of a model call under our names, from a message such as `Tokens: 1.2k sent, 300 received`.

    What was sent includes what was written to the cache and what came from it, except where it is less than those
    two: then the older library left hits out. Figures that Aider rounded are marked as approximate.

    Args:
        text: A message of the tool.

    Returns:
        The payload of a usage event without model and message; None where the message is another.
    """
    found = _TOKENS.match(text)
    if found is None:
        return None
    sent, written, hit, received = (None if figure is None else _number(figure) for figure in found.groups())
    fresh = (sent or 0) - (written or 0) - (hit or 0)
    if fresh < 0:
        fresh = max(fresh + (hit or 0), 0)
    payload: dict[str, Any] = {
        "input_tokens": fresh,
        "output_tokens": received,
        "cache_read_tokens": hit,
        "cache_write_tokens": written,
        "text": text,
    }
    if any(figure and figure[-1] in _SCALE for figure in found.groups()):
        payload["approximate"] = True
    add_cost(payload, text)
    return payload


def add_cost(payload: dict[str, Any], text: str) -> None:
    """Note what the call cost, where a message says so; with caching it comes in a message of its own."""
    found = _COST.search(text)
    if found is not None and "reported_cost_usd" not in payload:
        payload["reported_cost_usd"] = float(found[1].replace(",", ""))


def _number(figure: str) -> int:
    scale = _SCALE.get(figure[-1], 1)
    return round(float(figure.rstrip("kM").replace(",", "")) * scale)
