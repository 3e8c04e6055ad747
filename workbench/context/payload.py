"""What a tool said, taken out of the envelope it came in.

Distillers and classification see the payload: in the envelope a whole log is one line, and its failures are lost.

Source: specification A, 14 ("Measured fault") and W15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

TEXTS: Final = ("stdout", "stderr", "content", "output", "error")
"""Names of an envelope's texts, in the order in which they are joined. Source: PRAANA src/tools."""
ABOUT: Final = frozenset({
    *TEXTS, "ok", "exitCode", "exit_code", "command", "cwd", "path", "truncated", "durationMs", "duration_ms",
    "timedOut", "timed_out", "signal",
})  # fmt: skip
"""Names that an envelope has besides; an object with any other name is data and stays JSON."""


def payload_text(result: Any) -> str:
    """The text that a tool's result carries.

    Args:
        result: A text, an envelope such as `{"ok": ..., "stdout": ..., "stderr": ..., "exitCode": ...}`, the JSON text
            of one, or any other JSON value.

    Returns:
        Of an envelope its texts, then a line `exit code N` unless N is 0; of anything else the text itself, or its
        JSON.
    """
    if isinstance(result, str):
        envelope = _envelope(result)
        return result if envelope is None else _carried(envelope)
    if result is None:
        return ""
    if isinstance(result, Mapping) and _is_envelope(result):
        return _carried(result)
    return msgspec.json.encode(result).decode()


def _envelope(text: str) -> Mapping[str, Any] | None:
    whole = text.strip()
    if not (whole.startswith("{") and whole.endswith("}") and '"ok"' in whole):
        return None
    try:
        value = msgspec.json.decode(whole)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return value if isinstance(value, dict) and _is_envelope(value) else None


def _is_envelope(value: Mapping[str, Any]) -> bool:
    return "ok" in value and value.keys() <= ABOUT and any(isinstance(value.get(name), str) for name in TEXTS)


def _carried(envelope: Mapping[str, Any]) -> str:
    texts = [text for name in TEXTS if isinstance(text := envelope.get(name), str) and text.strip()]
    code = envelope.get("exitCode", envelope.get("exit_code"))
    if code not in (0, None):
        texts.append(f"exit code {code}")
    return "\n".join([*(text.removesuffix("\n") for text in texts[:-1]), *texts[-1:]])
