"""The other end of `workers`: prepares the batches that come over a socket until it closes."""

from __future__ import annotations

import contextlib
import gc
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from workbench.config.quiet import leave_out_pandas

if TYPE_CHECKING:
    from workbench.ingest.prepare import Preparer


def serve(connection: Connection) -> None:
    """Answer every batch with what was prepared of it, or with the exception that stopped it."""
    preparer: Preparer = connection.recv()()
    while True:
        paths = connection.recv()
        try:
            connection.send(preparer.prepare(paths))
        except Exception as error:  # noqa: BLE001  (it is raised again on the other side)
            connection.send(error)


if __name__ == "__main__":
    gc.disable()  # for good, and before the libraries load: see `cycles`
    leave_out_pandas()
    import workbench.ingest.prepare  # noqa: F401  (while the other side still finds out what there is to do)

    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        serve(Connection(int(sys.argv[1])))
