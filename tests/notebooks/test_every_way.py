"""Every marimo notebook as a script, as a test of its own, and under marimo's check, on what is shipped."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import environment

from workbench.surfaces.shipped import notebooks_folder

NOTEBOOKS = sorted(notebooks_folder().glob("*.py"))
AS_SCRIPT, AS_TEST = [], ["-m", "pytest", "-v", "-p", "no:cacheprovider"]


def run(command, home):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=NOTEBOOKS[0].parent.parent,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert not (home / ".local" / "share" / "workbench").exists()
    return done.stdout


def test_there_are_notebooks():
    assert {"agent", "scoring", "sessions", "telemetry", "zettelkasten"} <= {path.stem for path in NOTEBOOKS}


def test_marimo_has_no_complaint(tmp_path):
    run(["-m", "marimo", "check", "--strict", *NOTEBOOKS], tmp_path)


def test_they_run_as_tests(tmp_path):
    """In one process, since to load what they all need takes seconds."""
    told = [line for line in run([*AS_TEST, *NOTEBOOKS], tmp_path).splitlines() if " PASSED" in line]
    assert {path.name for path in NOTEBOOKS} == {Path(line.partition("::")[0]).name for line in told}


@pytest.mark.parametrize(
    "notebook",
    [pytest.param(path, marks=[] if path.stem == "sessions" else pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_it_runs_as_a_script(notebook, tmp_path):
    """What a script runs are the cells that its test ran as well; of one of them this is tried every time."""
    run([*AS_SCRIPT, notebook], tmp_path)
