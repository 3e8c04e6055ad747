"""What becomes of an error: one line on the error stream and an exit code, never a traceback of a deliberate error.

Exit codes: 0 done; 1 done in part; 2 the command, its input or its configuration is wrong; 3 not found or ambiguous;
4 the store cannot be read or written, is held by another process, or is not as it should be (`verify`, `doctor`);
130 interrupted; 141 nobody reads the output any more.
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
        say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        say("interrupted; what has landed stays, the same command goes on from there")
        return 128 + signal.SIGINT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code


def say(message: str) -> None:
    """Print one line on the error stream; credentials in it, of a path or of a line that was refused, are replaced."""
    from workbench.text.redaction import redact  # noqa: PLC0415  (most commands have nothing to say)

    print(f"workbench: {redact.text(message)}", file=sys.stderr)
