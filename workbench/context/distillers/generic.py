"""Texts of no known form: their two ends, or of JSON the first items of each list.

Source: PRAANA src/distillers/generic.ts, src/context-engine/summarize.ts; specification A, 14.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.context.distillers.distilled import by_intensity

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity

SUMMARY_KEY: Final = "__praana_summary"
"""Key under which an item says what was left out. Source: PRAANA src/distillers/generic.ts."""


def distil_generic(text: str, intensity: Intensity, settings: Distiller) -> str:
    """JSON with its first items, any other text with its two ends.

    Source: PRAANA src/distillers/generic.ts.
    """
    whole = text.strip()
    if whole[:1] in {"{", "["}:
        try:
            value = msgspec.json.decode(whole)
        except (msgspec.DecodeError, UnicodeEncodeError):
            return _ends(text, intensity, settings)
        items = by_intensity(settings.json_items, intensity)
        return msgspec.json.format(msgspec.json.encode(_first_items(value, items)), indent=2).decode()
    return _ends(text, intensity, settings)


def distil_fallback(text: str, intensity: Intensity, settings: Distiller) -> str:
    """Texts that no distiller is registered for: their two ends, short ones whole.

    Source: PRAANA src/context-engine/summarize.ts, `summarizeGeneric`.
    """
    del intensity
    if text.count("\n") < settings.short_text_lines and len(text) <= settings.short_text_chars:
        return text
    chars = settings.head_tail_chars[0]
    return head_tail(text, chars, chars, settings.head_tail_slack_chars)


def keep_whole(text: str, intensity: Intensity, settings: Distiller) -> str:
    """Texts of errors: nothing of them may go.

    Source: PRAANA src/context-engine/summarize.ts, `summarizeGeneric`.
    """
    del intensity, settings
    return text


def head_tail(text: str, head: int, tail: int, slack: int) -> str:
    """The first and last characters, and how many are gone between them.

    Args:
        text: Any text.
        head: Characters kept at the start.
        tail: Characters kept at the end.
        slack: A cut that saves no more than this is not made.

    Source: PRAANA src/context-engine/summarize.ts, `headTail`.
    """
    if len(text) <= head + tail + slack:
        return text
    start, end = text[:head].rstrip(), text[len(text) - tail :].lstrip()
    return f"{start}\n… [{len(text) - len(start) - len(end):,} chars omitted] …\n{end}"


def _ends(text: str, intensity: Intensity, settings: Distiller) -> str:
    chars = by_intensity(settings.head_tail_chars, intensity)
    return head_tail(text, chars, chars, settings.head_tail_slack_chars)


def _first_items(value: Any, most: int) -> Any:
    if isinstance(value, list):
        kept = [_first_items(item, most) for item in value[:most]]
        gone = len(value) - most
        return [*kept, {SUMMARY_KEY: f"{gone} array item(s) omitted"}] if gone > 0 else kept
    if isinstance(value, dict):
        shown = {key: _first_items(item, most) for key, item in list(value.items())[:most]}
        gone = len(value) - most
        return {**shown, SUMMARY_KEY: f"{gone} object field(s) omitted"} if gone > 0 else shown
    return value
