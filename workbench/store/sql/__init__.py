"""Questions of the lake, a file each, named for its answer.

Each runs by itself: `workbench sql -f workbench/store/sql/tool_outcomes.sql`.
"""

from __future__ import annotations

from pathlib import Path


def query(name: str) -> str:
    """The SQL of one file here.

    Args:
        name: Its name without ending.
    """
    return Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")
