"""Forgetting a vault: nothing of it is left in the home, and its folder is as it was."""

import shutil

import pytest
from made_vaults import embedded
from raw_home import places_of

import workbench as wb
from workbench.errors import NotFoundError

SECRET = "zanzibarine"
STALE = "quokkaesque"
OTHER = "marmaladish"


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A home with two vaults, of one an earlier version, copies of a fix and a report; and a backup's left-over."""
    root = tmp_path_factory.mktemp("forget-vault")
    (root / "one").mkdir()
    (root / "other").mkdir()
    (root / "one" / "A.md").write_text(f"---\naliases: [{SECRET} alias]\n---\n# {STALE}\n[[Compost heep]]\n")
    (root / "one" / "Compost heap.md").write_text(f"# {SECRET} title\n#tag-{SECRET} [[{SECRET} nowhere]]\n")
    (root / "other" / "B.md").write_text(f"# {OTHER}\n")
    bench = wb.open(root / "home")
    vault = embedded(bench.vault(root / "one"))
    embedded(bench.vault(root / "other"))
    (root / "one" / "A.md").write_text(f"# {SECRET}\n[[Compost heep]]\n")
    vault.index()
    assert vault.fix(apply=True).copies is not None
    vault.index()
    vault.report(root / "home" / "reports")
    return root


@pytest.fixture
def home(place, tmp_path):
    shutil.copytree(place / "home", tmp_path / "home")
    return tmp_path / "home"


def test_nothing_of_it_is_left_and_all_of_the_other(place, home):
    before = files_of(place / "one")
    assert len(places_of(home, SECRET, STALE)) > 10
    vault = wb.open(home).vault(place / "one")
    done = vault.forget()
    assert (done.dry_run, done.root, len(done.copies), len(done.reports)) == (False, str(place / "one"), 1, 2)
    assert (done.rows["vault_runs"], done.chunks, done.left) == (3, 2, [])
    assert places_of(home, SECRET, STALE, str(place / "one"), "Compost heap") == []
    assert files_of(place / "one") == before
    left = wb.open(home)
    assert left.vaults["name"].to_list() == ["other"]
    assert left.vault(place / "other").search(OTHER, mode="keyword")["path"].to_list() == ["B.md"]
    with pytest.raises(NotFoundError, match="not indexed yet"):
        left.vault(place / "one").status()


def test_a_dry_run_changes_nothing_and_tells_the_same(place, home):
    before = {path: data for path, data in files_of(home).items() if path.suffix != ".lock"}
    vault = wb.open(home).vault(place / "one")
    told = vault.forget(dry_run=True)
    assert {path: data for path, data in files_of(home).items() if path.suffix != ".lock"} == before
    assert {**vars(told), "dry_run": False} == vars(vault.forget())


def test_it_can_be_indexed_again(place, home):
    vault = wb.open(home).vault(place / "one")
    vault.forget()
    assert (vault.index().added, vault.notes.height) == (2, 2)


def test_one_whose_folder_is_gone_is_forgotten_too(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "A.md").write_text(SECRET)
    bench = wb.open(tmp_path / "home")
    bench.vault(folder).index()
    shutil.rmtree(folder)
    assert bench.vault(folder).status()["since"]["is_there"] is False
    with pytest.raises(NotFoundError, match="there is no folder"):
        bench.vault(folder).index()
    assert bench.vault(folder).forget().rows["notes"] == 1
    assert places_of(tmp_path / "home", SECRET) == []
    with pytest.raises(NotFoundError, match="there is no folder"):
        bench.vault(folder)


def test_one_that_was_killed_half_way_is_completed(place, home):
    vault = wb.open(home).vault(place / "one")

    def die(name):
        if name == "note_links":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vault.forget(step=die)
    again = wb.open(home).vault(place / "one")
    with pytest.raises(NotFoundError):
        again.check_indexed()
    assert "vault_runs" not in again.forget(dry_run=True).rows
    again.forget()
    assert places_of(home, SECRET, STALE) == []


def test_a_vault_of_which_nothing_is_known_is_told(tmp_path):
    (tmp_path / "notes").mkdir()
    with pytest.raises(NotFoundError, match="nothing is known of a vault"):
        wb.open(tmp_path / "home").vault(tmp_path / "notes").forget()
