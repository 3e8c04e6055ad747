"""What libraries are told through variables before they are loaded."""

from __future__ import annotations

import os


def quieten_lance() -> None:
    """LanceDB's Rust part warns on the error stream of what is as it should be; only errors are let through."""
    os.environ.setdefault("LANCE_LOG", "error")
