"""A throw-away repository in which the tools of a sample session really run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

HOME: Final = "/home/sam"
"""Where the sessions say they happened; the real place is a temporary folder."""

_PERSON: Final = {
    "GIT_AUTHOR_NAME": "Sam Rivers",
    "GIT_AUTHOR_EMAIL": "sam@example.org",
    "GIT_COMMITTER_NAME": "Sam Rivers",
    "GIT_COMMITTER_EMAIL": "sam@example.org",
}

_VARYING: Final = (
    (re.compile(r"\bin \d+\.\d\ds\b"), "in 0.03s"),
    (re.compile(r"\bat 0x[0-9a-f]{8,}"), "at 0x7f52e0a1c2d0"),
    (
        re.compile(r"\bplatform \S+ -- Python \S+, pytest-\S+, pluggy-\S+"),
        "platform linux -- Python 3.11, pytest-9, pluggy-1",
    ),
)
"""What differs from run to run or from machine to machine, and what is written in its place."""


@dataclass(frozen=True)
class Commit:
    """One commit of a project's past.

    Attributes:
        message: Its message.
        date: When it was made, an ISO time in UTC.
        files: Paths and new contents; the others stay.
    """

    message: str
    date: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class Output:
    """What a command left behind."""

    stdout: str
    stderr: str
    exit_code: int

    @property
    def text(self) -> str:
        """Both streams, as an agent shows them to its model."""
        return "\n".join(part for part in (self.stdout, self.stderr) if part)


class Workshop:
    """One project in a home of its own; paths and times that vary are replaced in everything that comes out."""

    def __init__(self, root: Path, name: str, history: Sequence[Commit]) -> None:
        """Make the repository `name` below `root` and commit its `history`."""
        self._root = root.resolve()
        self._home = self._root / name / "home" / "sam"
        self.cwd = f"{HOME}/projects/{name}"
        self.folder = self.real(self.cwd)
        self.folder.mkdir(parents=True)
        (self._home / "tmp").mkdir()
        self._git("init -q -b main", history[0].date)
        for commit in history:
            for path, text in commit.files.items():
                self.write(path, text)
            self._git("add -A", commit.date)
            self._git(f'commit -q -m "{commit.message}"', commit.date)

    def _git(self, arguments: str, date: str) -> None:
        done = self._start(f"git {arguments}", date)
        if done.returncode:
            raise RuntimeError(f"git {arguments}: {done.stderr}")

    def real(self, path: str) -> Path:
        """The file in the temporary folder that the session calls `path`, absolute or from the project."""
        return self._home / path.removeprefix(f"{HOME}/") if path.startswith(HOME) else self.folder / path

    def shown(self, path: str) -> str:
        """The absolute path that the session calls `path`."""
        return path if path.startswith("/") else f"{self.cwd}/{path}"

    def run(self, command: str, at: datetime) -> Output:
        """Run `command` in bash in the project, with `at` as the time of any commit."""
        done = self._start(command.replace(HOME, str(self._home)), at.isoformat())
        return Output(self._settle(done.stdout), self._settle(done.stderr), done.returncode)

    def read(self, path: str) -> str:
        """The text of a file."""
        return self.real(path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file and the folders above it."""
        target = self.real(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    @property
    def branch(self) -> str:
        """The branch that is checked out."""
        head = (self.folder / ".git" / "HEAD").read_text(encoding="utf-8")
        return head.strip().removeprefix("ref: refs/heads/")

    def _start(self, command: str, date: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment(date),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def _environment(self, date: str) -> dict[str, str]:
        """Nothing of the caller's own settings, so that the output depends on the tools alone."""
        return {
            **_PERSON,
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_PAGER": "cat",
            "HOME": str(self._home),
            "TMPDIR": str(self._home / "tmp"),
            "LOGNAME": "sam",
            "USER": "sam",
            "PATH": _search_path(),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "100",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "-p no:cacheprovider",
        }

    def _settle(self, text: str) -> str:
        text = text.replace(str(self._home), HOME).replace(str(Path(sys.executable).parent), "/usr/bin")
        for pattern, constant in _VARYING:
            text = pattern.sub(constant, text)
        if self._root.name in text:
            raise RuntimeError(f"a temporary path is left, perhaps cut in the middle, in:\n{text}")
        return text.rstrip("\n")


def _search_path() -> str:
    """The tools of this environment first: `python` is the one that runs the script."""
    return os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))


def tool_versions() -> dict[str, str]:
    """Which tools the samples are made with: other ones may word their output differently."""
    commands = {"git": "git --version", "make": "make --version | head -1", "pytest": "python -m pytest --version"}
    environment = {"PATH": _search_path(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    versions = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name, command in commands.items():
        done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=True)
        versions[name] = done.stdout.split()[-1]
    return versions
