"""What becomes of an error: one line on the error stream and an exit code, never a traceback of a deliberate error.

Exit codes: 0 done; 1 done in part; 2 the command, its input or its configuration is wrong; 3 not found or ambiguous;
4 the store cannot be read or written; 130 interrupted; 141 nobody reads the output any more.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from workbench.errors import WorkbenchError


def exit_code_of(action: Callable[[], int | None]) -> int:
    """Run something for a person.

    Args:
        action: Returns an exit code; None is 0.

    Returns:
        The code to exit with.
    """
    try:
        code = action() or 0
        sys.stdout.flush()
    except WorkbenchError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("workbench: interrupted; what has landed stays, the same command goes on from there", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code
