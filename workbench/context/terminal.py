"""What a terminal would show of a text: no colours, no overwritten progress, one kind of line end.

Source: specification A, 14 (nothing may look at a text before); ECMA-48 for the forms of control sequences.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPES: Final = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    "|\x1b\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?"  # titles, links
    "|\x1b[ -/]*[0-~]?"  # other sequences; a lone escape
)
_LINE_END: Final = re.compile(r"\r+\n")
_OVERWRITTEN: Final = re.compile(r"[^\n]*\r[^\n]*")
_TELLS_OF_FAILURE: Final = re.compile(r"fail|error|panic|fatal|exception|not ok|[✕✗\u00d7●]", re.IGNORECASE)


def plain_text(text: str) -> str:
    r"""A text as a person reads it in a terminal.

    Of a line that was written over again and again (`\r`), the last state stays, and every state that tells of a
    failure.

    Args:
        text: What a program wrote.

    Returns:
        The text without control sequences, its lines ended by `\n`.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" not in text:
        return text
    text = _LINE_END.sub("\n", text)
    return _OVERWRITTEN.sub(_last_state, text) if "\r" in text else text


def _last_state(line: re.Match[str]) -> str:
    *earlier, last = [state for state in line[0].split("\r") if state.strip()] or [""]
    return "\n".join([*(state for state in earlier if _TELLS_OF_FAILURE.search(state)), last])
