"""Notebook servers: marimo for apps, JupyterLab for editing; on loopback, behind a token, gone when the command ends.

The token never stands on a command line, where other users see it: marimo reads it from its standard input, Jupyter
from a configuration file that is readable by its owner alone.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple
from urllib.parse import quote

from workbench.errors import BadInputError, WorkbenchError

HOST: Final = "127.0.0.1"

READY_SECONDS: Final = 120
"""A server that does not answer by then never will; a cold start of JupyterLab took 20 s on two busy cores."""

LOOK_SECONDS: Final = 0.1

STOP_SECONDS: Final = 10
"""A server has so long to end its kernels; then it is killed."""

TOLD_LINES: Final = 12
"""Last lines of a server's own output, shown when it failed."""


QUIET: Final = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
"""JupyterLab's settings: no news and no updates from the network, and no question about them."""


class Plan(NamedTuple):
    """How to start a server.

    Attributes:
        command: What to run.
        stdin: What it is told there.
        url: Where a browser goes, the token included.
    """

    command: list[str]
    stdin: str
    url: str


def free_port(wanted: int | None) -> int:
    """A port on loopback that nobody listens on.

    Args:
        wanted: This one; any unless given.

    Raises:
        BadInputError: Somebody listens on it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted or 0))
        except (OSError, OverflowError) as error:
            raise BadInputError(f"port {wanted} cannot be used ({error}); name another with --port") from error
        return int(probe.getsockname()[1])


def marimo_plan(notebooks: Sequence[Path], home: Path, port: int, token: str) -> Plan:
    """Apps of marimo notebooks on a home; of several there is a page to choose from.

    Args:
        notebooks: The files; nothing is written to them.
        home: Which they are told of, as `--home`.
        port: On loopback.
        token: What a browser must know.
    """
    command = [sys.executable, "-m", "marimo", "run", *map(str, notebooks), "--headless", "--no-sandbox"]
    command += ["--host", HOST, "--port", str(port), "--token", "--token-password-file", "-", "--", "--home", str(home)]
    return Plan(command, token, f"http://{HOST}:{port}/?access_token={quote(token)}")


def jupyter_plan(folder: Path, notebook: str | None, port: int, token: str, scratch: Path) -> Plan:
    """JupyterLab on a folder of notebooks.

    Args:
        folder: Its root; a notebook in it finds the home above it (`shipped.open_home`).
        notebook: The file in it to open.
        port: On loopback.
        token: What a browser must know.
        scratch: A folder for its configuration.
    """
    settings: dict[str, Any] = {
        "IdentityProvider": {"token": token},
        "LabApp": {
            "app_settings_dir": str(scratch / "settings"),
            "news_url": None,
            "check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
            "extension_manager": "readonly",
        },
        "ServerApp": {
            "ip": HOST,
            "port": port,
            "port_retries": 0,
            "open_browser": False,
            "root_dir": str(folder),
            "allow_root": hasattr(os, "geteuid") and os.geteuid() == 0,
        },
    }
    overrides = scratch / "settings" / "overrides.json"
    overrides.parent.mkdir()
    overrides.write_text(json.dumps(QUIET), "utf-8")
    config = scratch / "jupyter_server_config.json"
    config.touch(mode=0o600)
    config.write_text(json.dumps(settings), "utf-8")
    command = [sys.executable, "-m", "jupyterlab", f"--config={config}"]
    where = f"lab/tree/{quote(notebook)}" if notebook else "lab"
    return Plan(command, "", f"http://{HOST}:{port}/{where}?token={quote(token)}")


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder of the command's own, readable by its user alone."""
    with tempfile.TemporaryDirectory(prefix="workbench-lab-") as name:
        yield Path(name)


@contextmanager
def serving(plan: Plan, port: int, scratch: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a server while the block runs; it and all that it started are gone afterwards.

    Args:
        plan: How to start it.
        port: Where it will answer.
        scratch: A folder for its output.

    Yields:
        Its process, answering.

    Raises:
        WorkbenchError: It ended, or never answered; the message has what it said.
    """
    log = scratch / "server.log"
    with log.open("w+", encoding="utf-8", errors="replace") as output:
        server = subprocess.Popen(  # noqa: S603  (our own interpreter, arguments of ours)
            plan.command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            cwd=scratch,
        )
        try:
            _tell(server.stdin, plan.stdin)
            _await(server, port, log)
            yield server
        finally:
            _stop(server)


def _tell(stdin: IO[str] | None, text: str) -> None:
    if stdin is not None:
        with suppress(BrokenPipeError):
            stdin.write(text)
        with suppress(BrokenPipeError):
            stdin.close()


def _await(server: subprocess.Popen[str], port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise WorkbenchError(f"the notebook server ended with code {server.returncode}: {_last_lines(log)}")
        with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(LOOK_SECONDS)
    raise WorkbenchError(f"the notebook server did not answer in {READY_SECONDS} s: {_last_lines(log)}")


def _last_lines(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").strip().splitlines()[-TOLD_LINES:]
    return "\n".join(lines) or "it said nothing"


def _stop(server: subprocess.Popen[str]) -> None:
    """End the server, which ends its kernels; what is left of its group after a while is killed."""
    with suppress(ProcessLookupError):
        server.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        server.wait(STOP_SECONDS)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


class EndedBySignals:
    """Takes Ctrl-C and SIGTERM as the way to end the block, as one does with a server."""

    def __enter__(self) -> None:
        """Listen for both."""
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in self._before:
            signal.signal(number, self._end)

    def _end(self, number: int, frame: object) -> None:
        del number, frame
        for each in self._before:
            signal.signal(each, signal.SIG_IGN)  # a second one while things are put away changes nothing
        raise _EndedError

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        """Listen as before; what a signal began ends here."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return kind is _EndedError


class _EndedError(BaseException):
    """A signal asked for the end; no `except Exception` on the way may swallow it."""
