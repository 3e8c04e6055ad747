"""notebooks/agent.py on other parameters."""

import importlib.util
import sys

import pytest

from workbench.surfaces.shipped import notebooks_folder

NOTEBOOK = notebooks_folder() / "agent.py"


@pytest.fixture(scope="module")
def notebook():
    spec = importlib.util.spec_from_file_location("agent_notebook", NOTEBOOK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def names(notebook):
    chosen = notebook.Params(
        session="01KMK45E20P962VEASSMQ0FGDJ", level="exchange", place="9", weights={"w_recency": 0}
    )
    return notebook.app.run(defs={"params": chosen})[1]


def test_its_parameters_choose_what_it_shows(names):
    assert [row["name"] for row in names["prompts"]] == [str(turn) for turn in range(1, 11)]
    assert (names["chosen"]["where"], names["halted"].prompt.turn) == ("exchange 9", 9)
    assert names["anatomy"].widget.data["where"] == "exchange 9"
    assert set(names["compiled"].scores.terms.recency.tolist()) == {0.0}
    assert set(names["halted"].compiled.scores.terms.recency.tolist()) != {0.0}


def test_it_writes_nothing(names):
    tables = ("replays", "compiles", "unit_scores")
    assert [names["bench"].sql(f"select count(*) from {table}").item() for table in tables] == [0, 0, 0]


def test_the_name_that_is_given_to_it_is_one_that_it_defines(notebook, names):
    """`app.run` takes any name without a word; a renamed one would leave the defaults in place."""
    assert isinstance(names["params"], notebook.Params)
    defined = {name for cell in notebook.app._cell_manager.cells() if cell is not None for name in cell.defs}
    assert {"params", "bench", "prompts", "halted", "compiled", "changes", "anatomy"} <= defined
