"""What libraries are told before they are loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


def quieten_lance() -> None:
    """LanceDB's Rust part warns on the error stream of what is as it should be; only errors are let through."""
    os.environ.setdefault("LANCE_LOG", "error")


class _NoPandas:
    """Tells whoever looks for pandas that it is not installed."""

    @staticmethod
    def find_spec(name: str, *_: Sequence[str] | ModuleType | None) -> ModuleSpec | None:
        """None, for others to find, of every module but pandas."""
        if name == "pandas":
            raise ModuleNotFoundError("a process of the command line does without pandas", name=name)
        return None


def leave_out_pandas() -> None:
    """Let this process do without pandas, which nothing of ours uses.

    PyArrow imports it wherever it is installed, to see whether a value is one of its frames: half a second of every
    command (measured). For processes that are ours alone; a notebook's may want it.
    """
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
