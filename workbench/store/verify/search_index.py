"""The search index: each vector belongs to a text as it is now, and every table can be read."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.store.home import Home
from workbench.store.vectors import VectorDatabase, problems
from workbench.store.verify.problem import Problem


def check_search_index(home: Home) -> Iterator[Problem]:
    """Look at every collection; nothing is loaded where there is none.

    Yields:
        `search_index`, one for each thing that is wrong with a collection.
    """
    database = VectorDatabase(home.vectors)
    if not database.names():
        return
    for found in problems(database):
        detail = f"{found.problem}, {found.rows:,} rows: {found.detail}"
        yield Problem("search_index", f"vectors/{found.collection}", detail, found.repair)
