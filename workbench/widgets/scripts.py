"""The widgets' scripts: each is one module without imports, since a notebook hands it to the browser as one text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).with_name("static")

SHARED: Final = "frame"
"""What stands before each widget's own script."""


def script(*names: str) -> str:
    """The text of a widget's script: what all share, then its own parts in order."""
    return "".join((STATIC / f"{name}.js").read_text("utf-8") for name in (SHARED, *names))


def style(name: str) -> str:
    """The text of a widget's style sheet."""
    return (STATIC / f"{name}.css").read_text("utf-8")
