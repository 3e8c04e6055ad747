"""The command in the process of the test: the same as the real one, without the second that a new process takes."""

import os
import sys

import pytest
from command import Done

from workbench.surfaces.cli import main


def runner(capsys, monkeypatch, folder):
    """A function that runs the command in a folder that is also the user's home."""
    monkeypatch.chdir(folder)
    for name in [*os.environ]:
        if name.startswith(("WORKBENCH_", "CLAUDE_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return Done(stopped.value.code or 0, captured.out, captured.err)

    return run
