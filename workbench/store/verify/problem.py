"""What a check reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from workbench.store.landing_key import HEAD
from workbench.store.schema import Table

REBUILD: Final = "workbench ingest --rebuild"
"""Makes derived tables and blobs again from the archive and our own logs."""

REINDEX: Final = "workbench vault index PATH --anew"
"""Makes the derived tables of a vault again from its files."""


@dataclass(frozen=True)
class Problem:
    """Something in a home that is not as it should be.

    Attributes:
        what: Kind of the problem, of a fixed set: see `docs/care.md`.
        where: Path in the home, or table.
        detail: What was found, with numbers and an example.
        remedy: What repairs it; a command where there is one.
        mend: Repairs it, losing nothing; None where that takes something from outside. Raises StoreError, OSError.
        table: Set where the table cannot be relied upon, so that checks of rows leave it out.
    """

    what: str
    where: str
    detail: str
    remedy: str
    mend: Callable[[], object] | None = field(default=None, repr=False, compare=False)
    table: str | None = field(default=None, repr=False, compare=False)

    @property
    def repairable(self) -> bool:
        """Whether `verify --repair` repairs it."""
        return self.mend is not None

    def told(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "what": self.what,
            "where": self.where,
            "detail": self.detail,
            "remedy": self.remedy,
            "repairable": self.repairable,
        }


def is_rebuilt(table: Table) -> bool:
    """Whether the rows of a table come back by a rebuild or a run over the vault, and those of `blobs` with them."""
    return table.kind == "derived" or table.name == "blobs"


def remake(table: Table) -> str:
    """The command that makes the rows of such a table again."""
    return REBUILD if table.head in (None, HEAD) else REINDEX


def remedy_for(table: Table) -> str:
    """What brings back the rows of a table that cannot be read."""
    if is_rebuilt(table):
        return f"workbench verify --repair sets the table aside, then {remake(table)} makes it again"
    return "bring the folder back from a backup: its rows are nowhere else (workbench restore)"


def below(root: Path, path: Path) -> str:
    """A path as it is told: below the home."""
    return path.relative_to(root).as_posix()
