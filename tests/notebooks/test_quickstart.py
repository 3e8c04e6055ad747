"""notebooks/quickstart.ipynb: every cell runs, and it is saved without what it showed."""

import pytest

from workbench.surfaces.shipped import notebooks_folder

NOTEBOOK = notebooks_folder() / "quickstart.ipynb"


@pytest.fixture(scope="module")
def saved():
    import nbformat  # seconds to load, which no other test of a worker should wait for

    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def ran(saved, tmp_path_factory):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.from_dict(saved)
    place = {"metadata": {"path": str(tmp_path_factory.mktemp("quickstart"))}}
    NotebookClient(notebook, timeout=200, kernel_name="python3", resources=place).execute()
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def test_it_is_saved_without_outputs(saved):
    import nbformat

    cells = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)
    nbformat.validate(saved)


def test_every_cell_shows_what_it_says(ran):
    texts = {
        name: "".join(each.get("data", {}).get("text/plain", "") for each in outputs) for name, outputs in ran.items()
    }
    assert texts["open"] == "'samples'"
    assert texts["choose"].endswith("'Bash call')")
    assert texts["report"] == "('sessions.html', 1, True)"
    assert "2026-03-" in texts["cost"]
    assert texts["sessions"].startswith("shape: (8, 8)")


def test_chart_timeline_and_anatomy_are_widgets_that_need_no_network(ran):
    for name in ("chart", "timeline", "anatomy"):
        (shown,) = (each for each in ran[name] if "application/vnd.jupyter.widget-view+json" in each.get("data", {}))
        assert "cdn" not in str(shown)
