"""All formats there are, and which of them a file is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final, cast

from workbench.ingest.records import Format

HEAD_BYTES: Final = (65_536, 1_000_000, 64_000_000)
"""How much of a file is looked at, step by step: a session may begin with a picture or a summary of megabytes."""

_MODULES: Final = {
    "claude-code": "claude_code",
    "praana": "praana_log",
    "workbench": "workbench_log",
    "codex": "codex",
    "pi": "pi",
    "gemini-cli": "gemini_cli",
    "swe-agent": "swe_agent",
    "aider": "aider",
    "specstory": "specstory",
}
"""Module by name, in the order in which they are asked: PRAANA's logs before ours, which are their heirs."""


class _Formats(Mapping[str, Format]):
    """Formats by name, each loaded when it is asked for: whoever reads one agent's files needs no other's reader."""

    def __getitem__(self, name: str) -> Format:
        """The module of a format."""
        return cast("Format", import_module(f"workbench.ingest.{_MODULES[name]}"))

    def __iter__(self) -> Iterator[str]:
        """Names, in the order in which they are asked."""
        return iter(_MODULES)

    def __len__(self) -> int:
        """How many there are."""
        return len(_MODULES)


FORMATS: Mapping[str, Format] = _Formats()
"""All of them, by name."""


def recognise(head: bytes, name: str) -> Format | None:
    """The format of a file, or None.

    Args:
        head: Its first bytes, see `HEAD_BYTES`.
        name: Its name.
    """
    return next((known for known in FORMATS.values() if known.sniff(head, name)), None)
