"""`workbench report vault`: what it writes, prints and refuses."""

import pytest
from in_process import runner

import workbench as wb


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A home with an indexed vault, and the vault."""
    folder = tmp_path_factory.mktemp("report-vault")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.md").write_text("# A\n\n[[b]] [[gone]]", "utf-8")
    (folder / "notes" / "b.md").write_text("# B", "utf-8")
    wb.open(folder / "home").vault(folder / "notes").index()
    return folder / "home", folder / "notes"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, places):
    inside = runner(capsys, monkeypatch, tmp_path)
    return lambda *arguments: inside("report", "vault", *arguments, "--home", places[0])


def test_the_report_is_written_and_told(run, places, tmp_path):
    told = run(places[1], "--out", tmp_path / "x.html", "--json").json
    assert list(told) == ["path", "manifest", "notes", "score", "size_bytes"]
    assert (told["path"], told["notes"]) == (str(tmp_path / "x.html"), 2)
    assert (tmp_path / "x.html").stat().st_size == told["size_bytes"]
    assert (tmp_path / "x.manifest.json").is_file()
    done = run(places[1], "--out", tmp_path)
    assert done.code == 0
    assert f"vault.html: 2 notes, health {told['score']} of 100" in done.out
    assert (tmp_path / "vault.html").as_uri() in done.out


def test_what_it_cannot_do_has_its_exit_code(run, places, tmp_path):
    (tmp_path / "other").mkdir()
    assert run(tmp_path / "other").code == 3
    assert run(tmp_path / "nowhere").code == 3
    assert run().code == 2
    assert run(places[1], "--similarity", "2").code == 2
    (tmp_path / "bad.json").write_text("{}", "utf-8")
    assert run(places[1], "--holdout", tmp_path / "bad.json").code == 2
