"""notebooks/scoring.py on other parameters."""

import importlib.util
import sys

import pytest
from reading_sessions import write_telling_sessions

import workbench as wb
from workbench.surfaces.shipped import notebooks_folder

NOTEBOOK = notebooks_folder() / "scoring.py"


@pytest.fixture(scope="module")
def notebook():
    spec = importlib.util.spec_from_file_location("scoring_notebook", NOTEBOOK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scoring")
    bench = wb.open(folder / "home", study={"seeds": 1, "bootstrap_draws": 100})
    bench.ingest(write_telling_sessions(folder / "sessions", 5))
    bench.tune(trials=4, learning_trials=1, permutations=1, budget=500)
    return folder / "home"


@pytest.fixture(scope="module")
def ran(notebook, home):
    weights = {"w_recency": 0.0, "w_last_step": 1.0}
    chosen = notebook.Params(home=str(home), session="last", place="1.9", budget=500, weights=weights)
    return notebook.app.run(defs={"params": chosen})


def shown(outputs):
    texts = (getattr(output, "text", "") for output in outputs)
    return " ".join(text for text in texts if isinstance(text, str))


def test_its_parameters_choose_what_it_shows(ran):
    names = ran[1]
    assert (names["chosen"]["name"], names["chosen"]["is_scored"]) == ("1.9", True)
    assert set(names["after"]["recency"]) == {0.0}
    assert names["after"]["last_step"].max() > 0
    assert names["before"]["last_step"].max() == 0
    assert names["weights"].value["w_last_step"] == 1.0


def test_it_shows_the_ranking_the_search_and_the_sections_of_the_report(ran):
    text = shown(ran[0])
    wanted = ("ranking-table", "judged-table", "progress-plot", "overview", "null-plot", "sensitivity-plot")
    assert [name for name in wanted if f'id="{name}"' not in text] == []
    assert {"overview", "policies", "weights", "dropped"} <= ran[1]["parts"].keys()


def test_it_offers_a_study_where_there_is_none(notebook, tmp_path):
    bench = wb.open(tmp_path / "home")
    bench.ingest(write_telling_sessions(tmp_path / "sessions", 1))
    outputs, names = notebook.app.run(defs={"params": notebook.Params(home=str(tmp_path / "home"))})
    text = shown(outputs)
    assert "No study was made in this home yet. The button above makes one" in text
    assert "Make a study" in text
    assert (names["result"], names["parts"], names["ask"].value) == (None, {}, False)


def test_a_moment_that_is_not_there_is_told(notebook, home):
    outputs, _ = notebook.app.run(defs={"params": notebook.Params(home=str(home), place="99.9")})
    assert "There is no moment" in shown(outputs)


def test_the_name_that_is_given_to_it_is_one_that_it_defines(notebook, ran):
    """`app.run` takes any name without a word; a renamed one would leave the defaults in place."""
    assert isinstance(ran[1]["params"], notebook.Params)
    defined = {name for cell in notebook.app._cell_manager.cells() if cell is not None for name in cell.defs}
    assert {"params", "bench", "result", "parts", "chosen", "before", "after"} <= defined
