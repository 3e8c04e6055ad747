"""All formats there are, and which of them a file is in."""

from __future__ import annotations

from typing import Final

from workbench.ingest import (
    aider,
    claude_code,
    codex,
    gemini_cli,
    pi,
    praana_log,
    specstory,
    swe_agent,
    workbench_log,
)
from workbench.ingest.records import Format

HEAD_BYTES: Final = (65_536, 1_000_000, 64_000_000)
"""How much of a file is looked at, step by step: a session may begin with a picture or a summary of megabytes."""

_MODULES: Final[tuple[Format, ...]] = (
    claude_code,
    praana_log,
    workbench_log,
    codex,
    pi,
    gemini_cli,
    swe_agent,
    aider,
    specstory,
)

FORMATS: Final[dict[str, Format]] = {module.NAME: module for module in _MODULES}
"""By name, in the order in which they are asked: PRAANA's logs before ours, which are their heirs."""


def recognise(head: bytes, name: str) -> Format | None:
    """The format of a file, or None.

    Args:
        head: Its first bytes, see `HEAD_BYTES`.
        name: Its name.
    """
    return next((known for known in FORMATS.values() if known.sniff(head, name)), None)
