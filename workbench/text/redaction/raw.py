"""What follows a mark in raw bytes: parts of expressions in Rust's syntax, in which escapes may be of any depth."""

from __future__ import annotations

from typing import Final

QUOTE: Final = r"[bfru]?\\*[\"'`]"
SPACE: Final = r"[ \t]*"
GAP: Final = r"(?:[ \t\n]|\\+[nrt])"
IN_VALUE: Final = r"(?:[^ \t\r\n\"'`<>\\]|\\+[u/])*"
MIXED: Final = rf"{IN_VALUE}(?:[A-Za-z]{IN_VALUE}[0-9]|[0-9]{IN_VALUE}[A-Za-z])"
KIND: Final = r"(?::[ \t]*&?[A-Za-z][A-Za-z.\[\]|*?<>']*(?: [A-Za-z]+)?|[ \t][A-Za-z.\[\]*]+)[ \t]*="
SIGN: Final = (
    r"s?(?:[0-9A-Z_-][A-Za-z0-9_-]*)?"
    rf"(?:{QUOTE}\]?{SPACE}(?:[:=,|?]+>?{SPACE}{QUOTE}|,?{SPACE}\\*[\"']?value\\*[\"']?{SPACE}[:=]{SPACE}{QUOTE})"
    rf"|{SPACE}(?:[:=>|?]+|(?:is|was)[ \t]|{KIND}){SPACE}(?:{QUOTE})?"
    r")"
)
