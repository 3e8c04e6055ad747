"""Widgets for notebooks: frames in, pixels out (design, section 9).

Each is an anywidget class, so that one works in marimo and in JupyterLab; its JavaScript and its style sheet lie in
`static/` and ask for nothing. What a transcript says enters a page as text content only.

>>> from workbench.widgets import SessionTimeline
>>> SessionTimeline.of(bench, "last")  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.widgets.anatomy import PromptAnatomy
    from workbench.widgets.note_graph import VaultGraph
    from workbench.widgets.timeline import SessionTimeline

__all__ = ["PromptAnatomy", "SessionTimeline", "VaultGraph"]

_MODULES = {"PromptAnatomy": "anatomy", "SessionTimeline": "timeline", "VaultGraph": "note_graph"}


def __getattr__(name: str) -> Any:
    """Load a widget when it is first used: anywidget takes 150 ms."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"workbench.widgets.{_MODULES[name]}"), name)
