"""The real command, as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

WORKBENCH = str(Path(sys.executable).with_name("workbench"))
TIMEOUT = 100


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output, parsed; an error is shown where there is none."""
        assert self.out, self.err
        return json.loads(self.out)


def environment(user_home: Path, **variables: str) -> dict[str, str]:
    """An environment in which nothing of the person who runs the tests is left."""
    base = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT") if name in os.environ}
    return base | {"HOME": str(user_home), "TZ": "UTC", "PYTHONUTF8": "1"} | variables


def workbench(*arguments: object, cwd: Path, stdin: str = "", **variables: str) -> Done:
    """Run the command in a folder that is also the user's home; a traceback fails the test, whatever the exit code."""
    done = subprocess.run(
        [WORKBENCH, *map(str, arguments)],
        cwd=cwd,
        env=environment(cwd, **variables),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=TIMEOUT,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)
