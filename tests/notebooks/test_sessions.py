"""notebooks/sessions.py on other parameters."""

import importlib.util
import sys

import pytest

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
