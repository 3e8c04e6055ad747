"""Preparing batches in several processes: reading and deriving hold the interpreter's lock, so threads gain nothing.

The process at hand prepares too: starting another one costs as much as reading 20 MB. Each of the others has a thread
here that hands it a batch, and takes what comes back, while the main thread is busy with a batch of its own.

Workers are plain `python -m workbench.ingest.worker` over a socket pair and not multiprocessing's: those run the user's
script again, which a script without a main guard does not survive. A worker ends when its end of the socket closes,
so none outlives a killed parent.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from multiprocessing.connection import Pipe
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final, cast

from workbench.errors import WorkbenchError
from workbench.ingest import discover

if TYPE_CHECKING:
    from workbench.ingest.prepare import Prepared, Preparer

MANY_BYTES: Final = 24_000_000
"""A worker takes 0.3 s to start and reads 50 MB in a second: below this, the process at hand is faster (measured)."""

Batch = Sequence[str]
Result = tuple[int, "Prepared"]


def in_process(preparer: Preparer, batches: Sequence[Batch]) -> Generator[Result]:
    """Prepare batches one after the other, here.

    Yields:
        Number and result of each batch.
    """
    for number, batch in enumerate(batches):
        yield number, preparer.prepare(batch)


def in_workers(
    make: Callable[[], Preparer], preparer: Preparer, batches: Sequence[Batch], count: int
) -> Generator[Result]:
    """Prepare batches here and in other processes.

    Args:
        make: Makes the preparer of each other process; is pickled.
        preparer: The one to use here.
        batches: The batches.
        count: How many processes, this one included.

    Yields:
        Number and result of each batch, as they come.

    Raises:
        WorkbenchError: What a worker raised, or that it died.
    """
    waiting = iter(range(len(batches)))
    results: SimpleQueue[Result | BaseException] = SimpleQueue()
    workers = [_Worker(make, batches, waiting, results) for _ in range(min(count, len(batches)) - 1)]
    try:
        missing = len(batches)
        for number in waiting:
            yield number, preparer.prepare(batches[number])
            missing -= 1
            while not results.empty():
                yield _unless_failed(results.get())
                missing -= 1
        for _ in range(missing):
            yield _unless_failed(results.get())
    finally:
        for worker in workers:
            worker.end()


def _unless_failed(result: Result | BaseException) -> Result:
    if isinstance(result, BaseException):
        raise result
    return result


class _Process:
    """Another process that loads what preparing needs and waits for work; it ends with this one at the latest."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        descriptor = theirs.fileno()
        command = [sys.executable, "-m", "workbench.ingest.worker", str(descriptor)]
        self.child = subprocess.Popen(  # noqa: S603
            command, pass_fds=[descriptor], stdin=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()


_ahead: Final[list[_Process]] = []
"""Processes that were started and have no work yet."""


def start_ahead(paths: Iterable[Path], tables: Path) -> None:
    """Start the other processes while this one still loads its libraries, which takes either of them 0.4 s.

    Args:
        paths: What will be imported.
        tables: The folder of the home's tables; where it is there, most files may have landed before, and nothing is
            started.
    """
    if not tables.exists():
        found = [item for item in discover.walk(paths) if isinstance(item, discover.Found)]
        if sum(item.size_bytes for item in found) >= MANY_BYTES:
            _ahead.extend(_Process() for _ in range(cores() - 1))


class _Worker:
    """Another process, and the thread here that feeds it for as long as batches are waiting."""

    def __init__(
        self,
        make: Callable[[], Preparer],
        batches: Sequence[Batch],
        waiting: Iterator[int],
        results: SimpleQueue[Result | BaseException],
    ) -> None:
        self._process = _ahead.pop() if _ahead else _Process()
        self._thread = Thread(target=self._feed, args=(make, batches, waiting, results), name="worker", daemon=True)
        self._thread.start()

    def _feed(
        self,
        make: Callable[[], Preparer],
        batches: Sequence[Batch],
        waiting: Iterator[int],
        results: SimpleQueue[Result | BaseException],
    ) -> None:
        try:
            self._process.connection.send(make)
            for number in waiting:
                self._process.connection.send(list(batches[number]))
                results.put((number, self._receive()))
        except (EOFError, OSError) as error:
            code = self._process.child.wait()
            told = f"a process that read transcripts died (exit code {code}); run the same command again"
            failure = WorkbenchError(told)
            failure.__cause__ = error
            results.put(failure)
        except BaseException as error:  # noqa: BLE001  (the main thread raises it)
            results.put(error)

    def _receive(self) -> Prepared:
        result = self._process.connection.recv()
        if isinstance(result, BaseException):
            raise result
        return cast("Prepared", result)

    def end(self) -> None:
        """Stop the process, whatever it does, and with it the thread."""
        self._process.child.terminate()
        self._process.child.wait()
        self._thread.join()
        self._process.connection.close()


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
