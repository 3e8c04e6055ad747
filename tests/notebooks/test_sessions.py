"""notebooks/sessions.py as a script, as a test, under marimo's own check, and run with other parameters."""

import importlib.util
import subprocess
import sys

import pytest
from command import environment

from workbench.surfaces.shipped import notebooks_folder

NOTEBOOK = notebooks_folder() / "sessions.py"


@pytest.fixture(scope="module")
def notebook():
    spec = importlib.util.spec_from_file_location("sessions_notebook", NOTEBOOK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def names(notebook):
    chosen = notebook.Params(
        project="tally", since="2026-03-03", until="2026-03-20", session="895dc31c", words="currency"
    )
    return notebook.app.run(defs={"params": chosen})[1]


def test_its_parameters_choose_what_it_shows(names):
    assert names["look"].total.sessions == names["chosen"].height == 4
    assert names["timeline"].widget.data["session_id"].startswith("895dc31c")
    assert set(names["hits"]["session_id"]) == {"895dc31c-6255-4222-94eb-1eb6c03087e3"}
    assert all("currenc" in text.lower() for text in names["hits"]["excerpt"])


def test_the_name_that_is_given_to_it_is_one_that_it_defines(notebook, names):
    """`app.run` takes any name without a word; a renamed one would leave the defaults in place."""
    assert isinstance(names["params"], notebook.Params)
    defined = {name for cell in notebook.app._cell_manager.cells() if cell is not None for name in cell.defs}
    assert {"params", "bench", "chosen", "look", "timeline", "hits", "answer"} <= defined


@pytest.mark.parametrize(
    "command",
    [
        [str(NOTEBOOK)],
        ["-m", "marimo", "check", "--strict", str(NOTEBOOK)],
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(NOTEBOOK)],
    ],
    ids=["script", "check", "test"],
)
def test_it_runs_in_every_way(command, tmp_path):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=NOTEBOOK.parent.parent,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert list(tmp_path.iterdir()) == [] or not (tmp_path / ".local" / "share" / "workbench").exists()
