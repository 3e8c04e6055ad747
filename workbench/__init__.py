"""workbench: a notebook-and-dataframe workbench for people who work with LLM agents.

>>> import workbench as wb
>>> bench = wb.open("some/folder")  # doctest: +SKIP
>>> bench.ingest()  # doctest: +SKIP
>>> bench.sql("select agent, count(*) from sessions group by agent")  # doctest: +SKIP

Importing this costs nothing: names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.bench import Workbench, open  # noqa: A004
    from workbench.errors import WorkbenchError
    from workbench.ingest.importer import ImportResult
    from workbench.keeping import restore

__all__ = ["ImportResult", "Workbench", "WorkbenchError", "__version__", "open", "restore"]

__version__ = "0.1.0"

_HOMES = {
    "ImportResult": "workbench.ingest.importer",
    "Workbench": "workbench.bench",
    "WorkbenchError": "workbench.errors",
    "open": "workbench.bench",
    "restore": "workbench.keeping",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
