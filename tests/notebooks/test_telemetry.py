"""notebooks/telemetry.py on other parameters."""

import importlib.util
import sys

import pytest

from workbench.surfaces.shipped import notebooks_folder

NOTEBOOK = notebooks_folder() / "telemetry.py"


@pytest.fixture(scope="module")
def notebook():
    spec = importlib.util.spec_from_file_location("telemetry_notebook", NOTEBOOK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ran(notebook):
    return notebook.app.run(
        defs={"params": notebook.Params(arms="ours = agent = 'workbench'\ntheirs = agent = 'claude-code'\n", seed=5)}
    )


def test_its_parameters_choose_what_is_compared(ran):
    comparison = ran[1]["compared"].comparison
    assert (comparison.units, comparison.seed) == ({"ours": 3, "theirs": 10}, 5)


def test_it_shows_the_sections_of_the_report(ran):
    shown = " ".join(output.text for output in ran[0] if hasattr(output, "text"))
    assert all(f'id="{name}"' in shown for name in ("overview", "effects-table", "forest-plot", "distribution-plot"))


def test_an_arm_that_cannot_be_is_told_in_the_place_of_the_comparison(notebook):
    outputs, names = notebook.app.run(defs={"params": notebook.Params(arms="a = true\nb = agent = 'workbench'")})
    assert names["compared"] is None
    shown = " ".join(output.text for output in outputs if hasattr(output, "text"))
    assert "3 sessions are in both" in shown


def test_the_name_that_is_given_to_it_is_one_that_it_defines(notebook, ran):
    """`app.run` takes any name without a word; a renamed one would leave the defaults in place."""
    assert isinstance(ran[1]["params"], notebook.Params)
    defined = {name for cell in notebook.app._cell_manager.cells() if cell is not None for name in cell.defs}
    assert {"params", "bench", "cards", "compared", "parts"} <= defined
