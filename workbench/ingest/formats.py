"""All formats there are, and which of them a file is in."""

from __future__ import annotations

from typing import Final

from workbench.ingest import claude_code, workbench_log
from workbench.ingest.records import Format

HEAD_BYTES: Final = (65_536, 1_000_000, 64_000_000)
"""How much of a file is looked at, step by step: a session may begin with a picture or a summary of megabytes."""

FORMATS: Final[dict[str, Format]] = {module.NAME: module for module in (workbench_log, claude_code)}


def recognise(head: bytes, name: str) -> Format | None:
    """The format of a file, or None.

    Args:
        head: Its first bytes, see `HEAD_BYTES`.
        name: Its name.
    """
    return next((known for known in FORMATS.values() if known.sniff(head, name)), None)
