"""What comes with the package: notebooks and samples are found in a clone and in a wheel, and never written to."""

import pytest

from workbench.bench import Workbench
from workbench.errors import NotFoundError
from workbench.surfaces import shipped
from workbench.surfaces.shipped import (
    copy_notebooks,
    find_notebook,
    notebooks,
    open_home,
    open_vault,
    sample_sessions,
    sample_vault,
)


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A package that was installed from a wheel: notebooks and samples lie inside it, and there is no clone."""
    package = tmp_path / "site-packages" / "workbench"
    (package / "notebooks").mkdir(parents=True)
    (package / "notebooks" / "one.py").write_text("# one\n")
    (package / "notebooks" / "two.ipynb").write_text("{}")
    (package / "samples").mkdir()
    nowhere = tmp_path / "site-packages"
    monkeypatch.setattr(shipped, "NOTEBOOKS", (package / "notebooks", nowhere / "notebooks"))
    monkeypatch.setattr(shipped, "SAMPLES", (package / "samples", nowhere / "datasets"))
    monkeypatch.setattr(shipped, "CLONE", nowhere)
    return package


def test_a_clone_has_its_notebooks_at_the_top():
    assert {"quickstart.ipynb", "sessions.py"} <= {path.name for path in notebooks()}
    assert all(path.is_dir() for path in sample_sessions())
    assert (sample_vault() / "Home.md").is_file()


def test_a_wheel_has_them_inside_the_package(wheel):
    assert [path.name for path in notebooks()] == ["one.py", "two.ipynb"]
    assert find_notebook("one") == find_notebook("one.py") == wheel / "notebooks" / "one.py"
    assert sample_sessions()[0] == wheel / "samples" / "claude-code" / "projects"


def test_where_there_are_none_it_says_where_it_looked(wheel, monkeypatch):
    monkeypatch.setattr(shipped, "NOTEBOOKS", (wheel / "nothing",))
    with pytest.raises(NotFoundError, match=r"not installed \(looked in .*nothing\); reinstall it"):
        notebooks()


@pytest.mark.usefixtures("wheel")
def test_an_unknown_notebook_names_those_there_are():
    with pytest.raises(NotFoundError, match=r"no notebook 'three'; there are one.py, two.ipynb"):
        find_notebook("three")


def test_a_notebook_of_ones_own_is_found_by_its_path(tmp_path):
    (tmp_path / "mine.py").write_text("")
    assert find_notebook(str(tmp_path / "mine.py")) == tmp_path / "mine.py"


def test_copies_follow_the_package_unless_a_person_changed_them(wheel, tmp_path):
    place = tmp_path / "home" / "notebooks"
    assert copy_notebooks(place) == []
    assert (place / "one.py").read_text() == "# one\n"
    (place / "two.ipynb").write_text('{"mine": 1}')
    (wheel / "notebooks" / "one.py").write_text("# one, newer\n")
    assert copy_notebooks(place) == [], "two.ipynb did not change in the package"
    assert (place / "one.py").read_text() == "# one, newer\n"
    (wheel / "notebooks" / "two.ipynb").write_text('{"newer": 1}')
    assert copy_notebooks(place) == [place / "two.ipynb"]
    assert (place / "two.ipynb").read_text() == '{"mine": 1}'
    assert copy_notebooks(place) == [place / "two.ipynb"]


def test_a_home_is_the_one_that_is_named(tmp_path):
    Workbench(tmp_path / "home")
    assert open_home(tmp_path / "home").home.root == tmp_path / "home"
    with pytest.raises(NotFoundError, match="no home"):
        open_home(tmp_path / "mistyped")


def test_a_notebook_in_a_home_opens_that_home(tmp_path):
    Workbench(tmp_path / "home")
    (tmp_path / "home" / "notebooks").mkdir()
    assert open_home(place=tmp_path / "home" / "notebooks").home.root == tmp_path / "home"


def test_elsewhere_it_opens_the_samples_and_never_the_users_home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "mine"))
    monkeypatch.setattr(shipped, "_samples_home", lambda: tmp_path / "samples")
    bench = open_home(place=tmp_path)
    assert (bench.home.root, bench.sessions.height) == (tmp_path / "samples", 13)
    assert not (tmp_path / "mine").exists()


def test_the_vault_that_is_named_is_indexed_once(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A", "utf-8")
    first = open_vault(tmp_path / "notes", tmp_path / "home")
    assert first.notes["title"].to_list() == ["A"]
    again = open_vault(None, tmp_path / "home")
    assert (again.root, again.status()["run_id"]) == (first.root, first.status()["run_id"])


def test_a_home_without_a_vault_says_so_and_gets_no_samples(tmp_path):
    (tmp_path / "home").mkdir()
    with pytest.raises(NotFoundError, match="no vault was indexed in this home yet"):
        open_vault(None, tmp_path / "home")
    with pytest.raises(NotFoundError, match="there is no home"):
        open_vault(None, tmp_path / "nowhere")


def test_without_a_home_the_sample_notes_are_opened(wheel, tmp_path, monkeypatch):
    (wheel / "samples" / "vault").mkdir()
    (wheel / "samples" / "vault" / "a.md").write_text("# A", "utf-8")
    monkeypatch.setattr(shipped, "_samples_home", lambda: tmp_path / "home")
    vault = open_vault(place=tmp_path / "elsewhere" / "notebooks")
    assert (vault.root, vault.notes.height) == (wheel / "samples" / "vault", 1)
    assert vault.status()["notes_without_vector"] == 0
