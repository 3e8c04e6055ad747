"""notebooks/zettelkasten.py on a vault of one's own."""

import importlib.util
import sys

import pytest

from workbench.surfaces.shipped import notebooks_folder

NOTEBOOK = notebooks_folder() / "zettelkasten.py"


@pytest.fixture(scope="module")
def notebook():
    spec = importlib.util.spec_from_file_location("zettelkasten_notebook", NOTEBOOK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def names(notebook, tmp_path_factory):
    folder = tmp_path_factory.mktemp("zettelkasten")
    (folder / "vault").mkdir()
    (folder / "home").mkdir()
    for name, text in {"one": "# First\n\n[[two]] [[gone]]", "two": "# Second\n\nwater", "three": "# Third"}.items():
        (folder / "vault" / f"{name}.md").write_text(text, "utf-8")
    chosen = notebook.Params(
        vault=str(folder / "vault"), home=str(folder / "home"), note="second", question="water", similarity=0.4
    )
    return notebook.app.run(defs={"params": chosen})[1]


def test_its_parameters_choose_what_it_shows(names):
    assert names["note"] == "two.md"
    assert names["graph"].widget.data["titles"] == ["First", "Third", "Second"]
    assert names["walked"].nodes["path"].to_list() == ["one.md"]
    assert names["answer"].notes["path"][0] == "two.md"
    assert names["frames"].health.broken_links["target"].to_list() == ["gone"]


def test_the_chosen_note_is_read_in_the_graph(names):
    widget = names["graph"].widget
    widget.chosen = "three.md"
    assert widget.detail["text"] == "# Third"


def test_the_vault_is_left_as_it_was(names):
    assert sorted(path.name for path in names["vault"].root.iterdir()) == ["one.md", "three.md", "two.md"]


def test_the_name_that_is_given_to_it_is_one_that_it_defines(notebook, names):
    """`app.run` takes any name without a word; a renamed one would leave the defaults in place."""
    assert isinstance(names["params"], notebook.Params)
    defined = {name for cell in notebook.app._cell_manager.cells() if cell is not None for name in cell.defs}
    assert {"params", "vault", "frames", "graph", "note", "suggested", "answer"} <= defined
