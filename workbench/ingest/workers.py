"""Preparing batches in several processes: reading and deriving hold the interpreter's lock, so threads gain nothing.

Workers are plain `python -m workbench.ingest.worker` over a socket pair and not multiprocessing's: those run the user's
script again, which a script without a main guard does not survive. A worker ends when its end of the socket closes,
so none outlives a killed parent.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Final, cast

from workbench.errors import WorkbenchError
from workbench.ingest.prepare import Prepared, Preparer

MANY_BYTES: Final = 24_000_000
"""A worker takes 0.3 s to start and reads 50 MB in a second: below this, the process at hand is faster (measured)."""

Batch = Sequence[str]
Setup = tuple[object, ...]


def in_process(preparer: Preparer, batches: Sequence[Batch]) -> Generator[tuple[int, Prepared]]:
    """Prepare batches one after the other, here.

    Yields:
        Number and result of each batch.
    """
    for number, batch in enumerate(batches):
        yield number, preparer.prepare(batch)


def in_workers(make: Callable[[], Preparer], batches: Sequence[Batch], count: int) -> Generator[tuple[int, Prepared]]:
    """Prepare batches in several processes.

    Args:
        make: Makes the preparer of each process; is pickled.
        batches: The batches.
        count: How many processes.

    Yields:
        Number and result of each batch, as they come.

    Raises:
        WorkbenchError: What a worker raised, or that it died.
    """
    workers = [_start(make) for _ in range(min(count, len(batches)))]
    try:
        yield from _serve(dict(workers), batches)
    finally:
        for connection, _ in workers:
            connection.close()
        for _, process in workers:
            process.terminate()
            process.wait()


def _start(make: Callable[[], Preparer]) -> tuple[Connection, subprocess.Popen[bytes]]:
    ours, theirs = Pipe()
    descriptor = theirs.fileno()
    command = [sys.executable, "-m", "workbench.ingest.worker", str(descriptor)]
    process = subprocess.Popen(command, pass_fds=[descriptor], stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    theirs.close()
    ours.send(make)
    return ours, process


def _serve(
    workers: dict[Connection, subprocess.Popen[bytes]], batches: Sequence[Batch]
) -> Generator[tuple[int, Prepared]]:
    waiting = list(enumerate(batches))[::-1]
    busy: dict[Connection, int] = {}
    for connection in workers:
        _give(connection, waiting, busy)
    while busy:
        for connection in cast("list[Connection]", wait(list(busy))):
            number = busy.pop(connection)
            prepared = _take(connection, workers[connection])
            _give(connection, waiting, busy)
            yield number, prepared


def _give(connection: Connection, waiting: list[tuple[int, Batch]], busy: dict[Connection, int]) -> None:
    if waiting:
        number, batch = waiting.pop()
        connection.send(list(batch))
        busy[connection] = number


def _take(connection: Connection, process: subprocess.Popen[bytes]) -> Prepared:
    try:
        result = connection.recv()
    except (EOFError, OSError) as error:
        code = process.wait()
        raise WorkbenchError(
            f"a process that read transcripts died (exit code {code}); run the same command again"
        ) from error
    if isinstance(result, BaseException):
        raise result
    return cast("Prepared", result)


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
