"""Restores: the same home again, or no home, whatever was done to the file."""

import hashlib
import json
import shutil
import stat
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from backed_up import DYING, OWN, files, hashes, make_place

import workbench as wb
from workbench.errors import BadInputError, NewerHomeError, NotFoundError
from workbench.store.eventlog import EventLog, session_folder


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """See `make_place`; read only."""
    return make_place(tmp_path_factory.mktemp("backup"))


def test_a_restored_home_has_the_same_rows_in_every_table_and_knows_its_sources(place, tmp_path):
    done = wb.restore(place / "b.zip", tmp_path / "home")
    before = hashes(place / "home")
    assert hashes(tmp_path / "home") == before
    assert {name for name, (_, rows) in before.items() if rows} >= {"sessions", "events", "turns", "session_labels"}
    assert set(done.tables) == {path.name for path in (place / "home" / "tables").iterdir()}
    again = wb.open(tmp_path / "home").ingest(place / "agent")
    assert (again.sessions, again.unchanged) == (0, 6)


def test_every_file_comes_back_with_its_bytes_and_time_and_for_its_owner_alone(place, tmp_path):
    wb.restore(place / "b.zip", tmp_path / "home")
    lost = files(place / "home").keys() - files(tmp_path / "home").keys()
    assert all(name.endswith("_last_checkpoint") for name in lost)
    expected = files(place / "home")
    assert files(tmp_path / "home") == {name: expected[name] for name in files(tmp_path / "home")}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "home").rglob("*")}
    assert modes == {0o600, 0o700}


def test_sessions_run_here_are_in_and_go_on(place, tmp_path):
    wb.restore(place / "b.zip", tmp_path / "home")
    bench = wb.open(tmp_path / "home")
    with EventLog(session_folder(bench.home.root, OWN), OWN) as log:
        log.append("agent_message", "agent", {"text": "hello again"}, turn=1)
    found = bench.sql("select seq, kind from events where session_id = ? order by seq", [OWN])
    assert found.rows() == [(1, "user_message"), (2, "agent_message")]
    assert bench.sql("select count(*) from sources where session_id = ?", [OWN]).item() == 1


def remade(source, target, *, change=lambda manifest: manifest, more=(), without=(), replaced=None):
    """A copy of a backup with another manifest, more entries, fewer, or other bytes in one."""
    replaced = replaced or {}
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            if info.filename not in without:
                data = replaced.get(info.filename, old.read(info))
                if info.filename == "manifest.json":
                    data = json.dumps(change(json.loads(data))).encode()
                new.writestr(info, data)
        for info, data in more:
            new.writestr(info, data)
    return target


def listed(name, data=b"x"):
    """A change of the manifest that names one more file."""
    entry = {"path": name, "size_bytes": len(data), "mtime_ns": 0, "sha256": hashlib.sha256(data).hexdigest()}
    return lambda manifest: manifest | {"files": [*manifest["files"], entry]}


def refused(file, home, match, kind=BadInputError):
    before = sorted(home.parent.iterdir())
    with pytest.raises(kind, match=match):
        wb.restore(file, home)
    assert sorted(home.parent.iterdir()) == before
    assert not home.exists() or not list(home.iterdir())


@pytest.mark.parametrize(
    "name", ["../evil", "/tmp/evil", "a/../../evil", "a//b", "./a", "C:/evil", "..\\evil", "a/..", "", ".."]
)
def test_names_that_lead_out_of_the_home_are_refused(place, tmp_path, name):
    more = [(zipfile.ZipInfo("home/" + name), b"x")]
    file = remade(place / "b.zip", tmp_path / "evil.zip", change=listed(name), more=more)
    refused(file, tmp_path / "home", "is no name of a file in a home|is in the file or its manifest alone|no regular")
    assert not (tmp_path.parent / "evil").exists()
    assert not Path("/tmp/evil").exists()


def test_links_in_a_backup_are_refused(place, tmp_path):
    link = zipfile.ZipInfo("home/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file = remade(place / "b.zip", tmp_path / "evil.zip", change=listed("link", b"/etc"), more=[(link, b"/etc")])
    refused(file, tmp_path / "home", "'home/link' is no regular file")


def test_files_that_the_manifest_does_not_name_are_refused(place, tmp_path):
    file = remade(place / "b.zip", tmp_path / "evil.zip", more=[(zipfile.ZipInfo("home/more"), b"x")])
    refused(file, tmp_path / "home", "'home/more' is in the file or its manifest alone")
    file = remade(place / "b.zip", tmp_path / "less.zip", without=["home/home.json"])
    refused(file, tmp_path / "home", "'home/home.json' is in the file or its manifest alone")


def test_a_newer_backup_is_refused_politely(place, tmp_path):
    for change in ({"format": 2}, {"home_format": 99}, {"format": 2, "files": "of another shape"}):
        file = remade(place / "b.zip", tmp_path / "new.zip", change=lambda manifest, change=change: manifest | change)
        refused(file, tmp_path / "home", "upgrade workbench", NewerHomeError)


def test_damage_of_the_directory_is_told_as_such(place, tmp_path):
    """Every byte that zip files keep version, flags, method and places in, of the last entry and of the end."""
    whole = (place / "b.zip").read_bytes()
    damaged = tmp_path / "damaged.zip"
    for at in range(whole.rindex(b"PK\x01\x02"), len(whole)):
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with suppress(BadInputError, NewerHomeError):
            wb.restore(damaged, tmp_path / "home", dry_run=True)
    assert [path.name for path in tmp_path.iterdir()] == ["damaged.zip"]


def test_damage_anywhere_in_the_file_is_found_and_nothing_is_written(place, tmp_path):
    whole = (place / "b.zip").read_bytes()
    step = len(whole) // 23
    for at in range(step, len(whole), step):
        damaged = tmp_path / "damaged.zip"
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            wb.restore(damaged, tmp_path / "home")
        except (BadInputError, NewerHomeError):
            assert [path.name for path in tmp_path.iterdir()] == ["damaged.zip"]
        else:  # a byte that no reader looks at, such as a time in the zip's directory
            assert hashes(tmp_path / "home") == hashes(place / "home")
            shutil.rmtree(tmp_path / "home")
    (tmp_path / "damaged.zip").write_bytes(whole[: len(whole) // 2])
    refused(tmp_path / "damaged.zip", tmp_path / "home", "is no backup of workbench, or damaged")


def test_other_bytes_under_a_right_zip_checksum_are_found(place, tmp_path):
    file = remade(place / "b.zip", tmp_path / "evil.zip", replaced={"home/config.toml": b"[store]\n"})
    refused(file, tmp_path / "home", "config.toml is not what the manifest says")


def test_a_manifest_that_lies_about_a_table_is_found(place, tmp_path):
    file = remade(place / "b.zip", tmp_path / "evil.zip", change=lambda m: m | {"tables": m["tables"] | {"turns": 99}})
    refused(file, tmp_path / "home", "table turns is at version .* manifest says version 99")


def test_what_is_no_backup_is_refused(tmp_path):
    (tmp_path / "text.zip").write_text("hello")
    refused(tmp_path / "text.zip", tmp_path / "home", "is no backup of workbench, or damaged")
    with zipfile.ZipFile(tmp_path / "zip.zip", "w") as other:
        other.writestr("hello", "hello")
    refused(tmp_path / "zip.zip", tmp_path / "home", "it has no manifest.json")
    refused(tmp_path / "none.zip", tmp_path / "home", "there is no backup", NotFoundError)


def test_a_place_that_is_not_empty_is_refused_and_an_empty_one_is_taken(place, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "note.txt").write_text("mine")
    with pytest.raises(BadInputError, match="is not empty"):
        wb.restore(place / "b.zip", home)
    assert [path.name for path in home.iterdir()] == ["note.txt"]
    (home / "note.txt").unlink()
    assert wb.restore(place / "b.zip", home).files > 10
    with pytest.raises(BadInputError, match="is not empty"):
        wb.restore(place / "b.zip", home)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInputError, match="is no folder"):
        wb.restore(place / "b.zip", tmp_path / "link")


@pytest.mark.parametrize("percent", [50, 99])
def test_an_interrupted_restore_leaves_no_home_and_can_be_run_again(place, tmp_path, percent):
    code = [sys.executable, "-c", DYING, str(place / "b.zip"), str(tmp_path / "home"), str(percent)]
    assert subprocess.run(code, check=False, timeout=60).returncode == -9
    assert not (tmp_path / "home").exists()
    assert list(tmp_path.rglob("home.json")) == []
    wb.restore(place / "b.zip", tmp_path / "home")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    assert hashes(tmp_path / "home") == hashes(place / "home")
