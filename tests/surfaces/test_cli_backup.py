"""`workbench backup` and `workbench restore`: what they print and exit with."""

import pytest
from in_process import runner
from transcripts import SESSION, jsonl, small_session

import workbench as wb


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    root = tmp_path_factory.mktemp("backup")
    (root / f"{SESSION}.jsonl").write_bytes(jsonl(*small_session()))
    wb.open(root / "home").ingest(root / f"{SESSION}.jsonl")
    return root / "home"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


def test_json_has_this_shape(run, home, tmp_path):
    done = run("backup", tmp_path / "b.zip", "--home", home, "--json")
    told = done.json
    assert (done.code, sorted(told)) == (
        0,
        ["dry_run", "files", "home_bytes", "left_out", "path", "size_bytes", "tables"],
    )
    assert (told["path"], told["dry_run"], told["left_out"]) == (str(tmp_path / "b.zip"), False, [])
    assert told["size_bytes"] == (tmp_path / "b.zip").stat().st_size
    back = run("restore", tmp_path / "b.zip", "--home", tmp_path / "again", "--json")
    again = back.json
    assert again.pop("created_at").endswith("Z")
    assert again == {
        "home": str(tmp_path / "again"),
        "dry_run": False,
        "workbench": wb.__version__,
        "tables": told["tables"],
        "files": told["files"],
        "bytes": told["home_bytes"],
        "has_vectors": True,
    }
    assert wb.open(tmp_path / "again").sessions["session_id"].to_list() == [SESSION]


def test_they_tell_a_person(run, home, tmp_path):
    dry = run("backup", tmp_path / "b.zip", "--home", home, "--dry-run")
    assert dry.out.endswith(f"would go into {tmp_path / 'b.zip'}\n")
    assert not (tmp_path / "b.zip").exists()
    done = run("backup", tmp_path / "b.zip", "--home", home)
    assert f"tables are in {tmp_path / 'b.zip'} (" in done.out
    sound = run("restore", tmp_path / "b.zip", "--dry-run", "--home", tmp_path / "again")
    assert ": sound, nothing was written; made on " in sound.out
    assert not (tmp_path / "again").exists()
    back = run("--home", tmp_path / "again", "restore", tmp_path / "b.zip")
    assert f": now in {tmp_path / 'again'}; made on " in back.out
    assert (done.err, sound.err, back.err) == ("", "", "")


def test_exit_codes(run, home, tmp_path):
    assert run("restore", tmp_path / "none.zip", "--home", tmp_path / "again").code == 3
    (tmp_path / "text.zip").write_text("hello")
    assert run("restore", tmp_path / "text.zip", "--home", tmp_path / "again").code == 2
    done = run("backup", tmp_path / "text.zip", "--home", home)
    assert (done.code, done.err.count("\n")) == (2, 1)
    run("backup", tmp_path, "--home", home)
    (file,) = tmp_path.glob("workbench-*.zip")
    done = run("restore", file, "--home", home)
    assert (done.code, "is not empty" in done.err) == (2, True)
