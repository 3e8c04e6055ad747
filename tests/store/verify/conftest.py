"""One sound home, made once; each test damages a copy."""

import pytest
import sound_home

import workbench as wb
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.verify.run import look


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    return sound_home.build(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def home(template, tmp_path):
    return sound_home.copy(template, tmp_path)


@pytest.fixture
def problems(home):
    """What is wrong with the home, as (what, where) pairs; `whole` gives all of each problem."""

    def found():
        return [(problem.what, problem.where) for problem in found.whole()]

    found.whole = lambda: look(Lake(Home.open(home)))
    return found


@pytest.fixture
def repair(home):
    """Repairs the home as `bench.verify(repair=True)` does."""
    return lambda: wb.open(home).verify(repair=True)


@pytest.fixture
def rows(home):
    """All rows of all views, by table, without what depends on the clock."""
    from views import views

    return lambda: views(wb.open(home), "imported_at", "row_id")
