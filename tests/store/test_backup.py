"""Backups: one moment of the home in one file, whatever goes on meanwhile."""

import hashlib
import json
import shutil
import stat
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from backed_up import DYING, NOW, OWN, files, hashes, make_place
from deltalake import DeltaTable
from made_sessions import grow_session, session_id, write_sessions

import workbench as wb
from workbench.errors import BadInputError, StoreError
from workbench.store.backup import backup
from workbench.store.eventlog import EventLog, session_folder
from workbench.store.home import Home
from workbench.store.lake import Lake


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """See `make_place`; read only."""
    return make_place(tmp_path_factory.mktemp("backup"))


def test_vectors_are_left_out_when_asked(place, tmp_path):
    done = wb.open(place / "home").backup(tmp_path / "b.zip", vectors=False)
    assert done.left_out == ["vectors/: left out as asked"]
    restored = wb.restore(tmp_path / "b.zip", tmp_path / "home")
    assert not restored.has_vectors
    assert not (tmp_path / "home" / "vectors").exists()
    assert wb.restore(place / "b.zip", tmp_path / "other").has_vectors
    assert (tmp_path / "other" / "vectors" / "turns.lance" / "data.lance").read_bytes() == b"vectors"


def test_equal_homes_make_equal_files(place, tmp_path):
    home = Home.open(place / "home")
    first, second = (backup(home, tmp_path / name, now=NOW) for name in ("a.zip", "b.zip"))
    assert Path(first.path).read_bytes() == Path(second.path).read_bytes()
    assert first.size_bytes == Path(first.path).stat().st_size
    assert stat.S_IMODE(Path(first.path).stat().st_mode) == 0o600
    names = zipfile.ZipFile(first.path).namelist()
    assert names == [*sorted(names[:-1]), "manifest.json"]


def test_any_zip_program_can_read_it(place):
    with zipfile.ZipFile(place / "b.zip") as source:
        manifest = json.loads(source.read("manifest.json"))
        assert source.testzip() is None
        for file in manifest["files"]:
            data = source.read("home/" + file["path"])
            assert (len(data), hashlib.sha256(data).hexdigest()) == (file["size_bytes"], file["sha256"])
    assert (manifest["format"], manifest["home_format"], manifest["workbench"]) == (1, 1, wb.__version__)


def test_into_a_folder_it_goes_under_a_name_with_the_time(place, tmp_path):
    done = backup(Home.open(place / "home"), tmp_path, now=NOW)
    assert done.path == str(tmp_path / "workbench-20260302T090000Z.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["workbench-20260302T090000Z.zip"]


def test_a_dry_run_writes_nothing_and_tells_what_would_go_in(place, tmp_path):
    before = files(place / "home")
    done = wb.open(place / "home").backup(tmp_path / "b.zip", dry_run=True)
    assert (done.dry_run, done.size_bytes) == (True, 0)
    with zipfile.ZipFile(place / "b.zip") as source:
        assert done.files == len(source.namelist()) - 1
    assert list(tmp_path.iterdir()) == []
    assert files(place / "home") == before
    assert wb.restore(place / "b.zip", tmp_path / "home", dry_run=True).files == done.files
    assert list(tmp_path.iterdir()) == []


def test_progress_ends_at_the_whole(place, tmp_path):
    calls = []
    done = wb.open(place / "home").backup(tmp_path / "b.zip", progress=lambda *call: calls.append(call))
    assert [call[0] for call in calls] == sorted(call[0] for call in calls)
    assert calls[-1][:2] == (done.home_bytes, done.home_bytes)
    calls.clear()
    wb.restore(tmp_path / "b.zip", tmp_path / "home", progress=lambda *call: calls.append(call))
    assert calls[-1][0] <= calls[-1][1] == 3 * done.home_bytes


def test_links_and_odd_names_are_left_out_and_named(place, tmp_path):
    shutil.copytree(place / "home", tmp_path / "home")
    (tmp_path / "home" / "link").symlink_to("/etc")
    (tmp_path / "home" / "reports").mkdir()
    (tmp_path / "home" / "reports" / "link").symlink_to("/etc/passwd")
    (tmp_path / "home" / "reports" / "a:b").write_text("")
    done = wb.open(tmp_path / "home").backup(tmp_path / "b.zip")
    assert sorted(done.left_out) == [
        "'reports/a:b': a name that not every system can have",
        "link: no regular file",
        "reports/link: no regular file",
    ]
    wb.restore(tmp_path / "b.zip", tmp_path / "again")
    assert not any(path.is_symlink() for path in (tmp_path / "again").rglob("*"))


def test_a_backup_while_imports_and_sessions_run_is_one_moment(tmp_path):
    """Every copy is whole: each session has the events it says it has, whole lines, and every table opens."""
    write_sessions(tmp_path / "agent", 3, 3)
    wb.open(tmp_path / "home").ingest(tmp_path / "agent")
    stop = threading.Event()

    def grow():
        bench, number = wb.open(tmp_path / "home"), 3
        while not stop.is_set():
            grow_session(tmp_path / "agent", number % 3, number, number + 1)
            bench.ingest(tmp_path / "agent")
            number += 1

    def talk():
        with EventLog(session_folder(tmp_path / "home", OWN), OWN) as log:
            while not stop.is_set():
                log.append("user_message", "user", {"text": "x" * 50_000}, turn=1)
                time.sleep(0.001)

    threads = [threading.Thread(target=act) for act in (grow, talk)]
    for thread in threads:
        thread.start()
    bench = wb.open(tmp_path / "home")
    results = [bench.backup(tmp_path / f"{number}.zip") for number in range(2)]
    stop.set()
    for thread in threads:
        thread.join()
    seen = []
    for number, done in enumerate(results):
        wb.restore(done.path, tmp_path / f"home{number}")
        lake = Lake(Home.open(tmp_path / f"home{number}"))
        rows = lake.sql(
            "select s.session_id, any_value(s.events) as told, count(e.seq) as events "
            "from sessions s left join events e using (session_id) group by all order by all"
        ).rows()
        assert [told for _, told, _ in rows] == [events for _, _, events in rows]
        seen.append(sum(told for _, told, _ in rows))
        archived = lake.sql("select sha256 from sources where sha256 is not null")["sha256"]
        assert all((lake.home.archive / f"{sha256}.zst").exists() for sha256 in archived)
        log = session_folder(lake.home.root, OWN) / "events.jsonl"
        assert all(json.loads(line)["seq"] == n for n, line in enumerate(log.read_bytes().splitlines(), 1))
        assert log.read_bytes()[-1:] == b"\n"
    assert seen == sorted(seen)
    assert [path.name for path in (tmp_path / "home").iterdir() if path.name.startswith(".backup")] == []


def test_checkpoints_of_a_log_are_in_and_the_table_goes_on(place, tmp_path):
    shutil.copytree(place / "home", tmp_path / "home")
    bench = wb.open(tmp_path / "home")
    bench._lake.stores["session_labels"].perform(DeltaTable.create_checkpoint)
    bench.label(session_id(0), title="after a checkpoint of the log")
    done = bench.backup(tmp_path / "b.zip")
    assert done.tables["session_labels"] == 3
    wb.restore(tmp_path / "b.zip", tmp_path / "again")
    assert hashes(tmp_path / "again") == hashes(tmp_path / "home")
    wb.open(tmp_path / "again").label(session_id(0), title="goes on")
    assert wb.open(tmp_path / "again").list_sessions()["title"].to_list().count("goes on") == 1


def test_where_a_backup_may_not_be_written(place, tmp_path):
    bench = wb.open(place / "home")
    with pytest.raises(BadInputError, match="is there already"):
        bench.backup(place / "b.zip")
    with pytest.raises(BadInputError, match="lies in the home"):
        bench.backup(place / "home" / "b.zip")
    with pytest.raises(BadInputError, match="there is no folder"):
        bench.backup(tmp_path / "no" / "b.zip")


def test_a_table_that_cannot_be_read_makes_no_backup(place, tmp_path):
    shutil.copytree(place / "home", tmp_path / "home")
    next((tmp_path / "home" / "tables" / "turns").glob("*.parquet")).unlink()
    with pytest.raises(StoreError, match=r"tables/turns/.*are missing: `workbench verify`"):
        wb.open(tmp_path / "home").backup(tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_an_interrupted_backup_leaves_no_file_of_its_name_and_no_links(place, tmp_path):
    shutil.copytree(place / "home", tmp_path / "home")
    code = DYING.replace("wb.restore(sys.argv[1], sys.argv[2]", "wb.open(sys.argv[1]).backup(sys.argv[2]")
    arguments = [str(tmp_path / "home"), str(tmp_path / "b.zip"), "50"]
    assert subprocess.run([sys.executable, "-c", code, *arguments], check=False, timeout=60).returncode == -9
    assert not (tmp_path / "b.zip").exists()
    wb.open(tmp_path / "home").backup(tmp_path / "b.zip")
    assert not list((tmp_path / "home").glob(".backup-*"))
    wb.restore(tmp_path / "b.zip", tmp_path / "again")
    assert hashes(tmp_path / "again") == hashes(place / "home")
