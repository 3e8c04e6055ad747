"""All checks over one home, and the repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.errors import StoreError
from workbench.store.lake import Lake
from workbench.store.landing_key import HEAD
from workbench.store.litter import abandoned
from workbench.store.schema import Table
from workbench.store.verify import references, rows
from workbench.store.verify.archive_contents import SOURCE_COLUMNS, check_archive
from workbench.store.verify.data_files import check_files
from workbench.store.verify.delta_logs import check_log
from workbench.store.verify.event_logs import check_logs
from workbench.store.verify.problem import REBUILD, Problem, below
from workbench.store.verify.search_index import check_search_index

if TYPE_CHECKING:
    import duckdb

ROUNDS: Final = 3
"""A repair can bring to light what stood behind the damage; twice is the most that was seen."""

UNFINISHED: Final = frozenset({"rows_without_session"})
"""Kinds of problems that are none while an import is at work or was interrupted."""

Progress = Callable[[int, int, str], None]
"""Called with checks done, checks in all, and what is looked at."""


@dataclass
class Verification:
    """What was found in a home.

    Attributes:
        problems: What is not as it should be; after a repair, what is left.
        repaired: What was repaired.
    """

    problems: list[Problem] = field(default_factory=list)
    repaired: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    @property
    def lacks_rows(self) -> bool:
        """Whether tables were set aside, so that a rebuild is due."""
        return any(problem.table is not None and REBUILD in problem.remedy for problem in self.repaired)


def look(lake: Lake, progress: Progress | None = None) -> list[Problem]:
    """Look once; what an importer changes meanwhile may look like a problem.

    Args:
        lake: The home's tables.
        progress: Told how far it is.

    Raises:
        StoreError: The home cannot be read.
    """
    told = _Told(progress, 2 * len(lake.tables) + 5)
    home, was_unfinished = lake.home, lake.home.unfinished.exists()
    problems = list(_tables(lake, told))
    damaged = {problem.table for problem in problems if problem.table is not None}
    sound = Lake(home, {name: table for name, table in lake.tables.items() if damaged.isdisjoint(_needed(table))})
    told.step("rows")
    problems += _rows(sound) if HEAD not in damaged else []
    told.step("event logs")
    problems += check_logs(home)
    told.step("archive")
    sources = None if damaged & {"sources", HEAD} else sound.derived_rows("sources", SOURCE_COLUMNS).to_pylist()
    is_unfinished = was_unfinished or home.unfinished.exists()
    problems += check_archive(home, sources, is_unfinished=is_unfinished)
    told.step("search index")
    problems += check_search_index(home)
    told.step("temporary files")
    problems += _temporary(lake)
    return [problem for problem in problems if not (is_unfinished and problem.what in UNFINISHED)]


def check(lake: Lake, *, progress: Progress | None = None) -> Verification:
    """Look through a home; nothing is changed.

    Importers may be at work: what is not found again at a second look was only on its way.

    Args:
        lake: The home's tables.
        progress: Told how far it is.

    Raises:
        StoreError: The home cannot be read.
    """
    found = look(lake, progress)
    if found:
        again = {(problem.what, problem.where) for problem in look(lake, progress)}
        found = [problem for problem in found if (problem.what, problem.where) in again]
    return Verification(found)


def repair(lake: Lake, *, progress: Progress | None = None, wait_seconds: float = 600) -> Verification:
    """Repair what can be repaired; what is in the way is moved to `.aside` in the home, and never deleted.

    Args:
        lake: The home's tables.
        progress: Told how far it is.
        wait_seconds: How long to wait for an import, which must not be at work.

    Returns:
        What was repaired, and what is left. Where tables were set aside a rebuild is due: `Verification.lacks_rows`.

    Raises:
        BusyError: An import, a backup or a `forget` is at work.
        StoreError: The home cannot be read or written.
    """
    home, done = lake.home, Verification()
    with home.copying_lock(wait_seconds=wait_seconds), home.landing_lock(wait_seconds=wait_seconds, is_import=False):
        for _ in range(ROUNDS):
            done.problems = look(lake, progress)
            mended = [problem for problem in done.problems if _is_mended(problem)]
            done.repaired += mended
            if not mended:
                return done
        done.problems = look(lake, progress)
    return done


def _is_mended(problem: Problem) -> bool:
    if problem.mend is None:
        return False
    try:
        problem.mend()
    except FileNotFoundError:  # what stood in the way went with what was repaired before
        return True
    except OSError as error:
        raise StoreError(f"{problem.where} cannot be repaired: {error.strerror or error}") from error
    return True


def _tables(lake: Lake, told: _Told) -> Iterator[Problem]:
    root = lake.home.root
    for name, table in lake.tables.items():
        folder = lake.home.tables / name
        told.step(f"log of {name}")
        of_log = list(check_log(root, folder, table))
        yield from of_log
        told.step(f"files of {name}")
        if not of_log and (folder / "_delta_log").is_dir():
            yield from check_files(root, folder, table)


def _needed(table: Table) -> set[str | None]:
    """The tables without which a table cannot be asked; where `sessions` is damaged no rows are asked about at all."""
    return {table.name} if table.head == HEAD else {table.name, table.head}


def _rows(lake: Lake) -> Iterator[Problem]:
    asked = [*rows.questions(lake.tables.values()), *references.questions()]
    connection = lake.connection()
    try:
        for question in asked:
            if lake.tables.keys() >= set(question.tables):
                yield from _answer(connection, question)
    finally:
        connection.close()


def _answer(connection: duckdb.DuckDBPyConnection, question: rows.Question) -> Iterable[Problem]:
    found = connection.execute(question.sql).fetchone()
    if found is not None and found[0]:
        detail = question.detail.format(n=f"{found[0]:,}", example=found[1])
        yield Problem(question.what, f"tables/{question.where}", detail, question.remedy)


def _temporary(lake: Lake) -> Iterator[Problem]:
    root = lake.home.root
    for litter in abandoned(lake.home, datetime.now(UTC)):
        detail = f"{litter.size_bytes:,} bytes that a writer left when it was killed"
        mend = partial(litter.path.unlink, missing_ok=True)
        remedy = "workbench verify --repair, or workbench maintain, removes it"
        yield Problem("temporary_file", below(root, litter.path), detail, remedy, mend)


class _Told:
    """Tells how far the checks are."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def step(self, name: str) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total, name)
        self._done += 1
