"""What killed writers leave, and what is moved aside."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from workbench.store.aside import ASIDE, move_aside
from workbench.store.files import write_atomic
from workbench.store.home import Home
from workbench.store.litter import ABANDONED_AFTER, abandoned

NOW = datetime(2026, 3, 2, tzinfo=UTC)
LITTER = (
    ".home.json.ab12cd_9",
    "archive/.00ff.zst.abcdefgh",
    "sessions/s1/.meta.json.abcdefgh",
    "tables/turns/part-1.zstd.parquet#1",
    "tables/turns/_delta_log/_commit_0f-1.json.tmp",
    "tables/turns/_delta_log/00000000000000000001.json#12",
)
OURS = (
    "home.json",
    ".hidden",
    "archive/00ff.zst",
    "sessions/s1/events.jsonl",
    "tables/turns/part-1.zstd.parquet",
    "tables/turns/_delta_log/00000000000000000001.json",
    "vectors/.x.abcdefgh",
    f"{ASIDE}/1/.a.abcdefgh",
)


@pytest.fixture
def home(tmp_path):
    root = tmp_path / "home"
    for name in (*LITTER, *OURS):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1234")
    return Home(root)


def age(home, by):
    for path in home.root.rglob("*"):
        os.utime(path, ((NOW - by).timestamp(),) * 2)


def test_temporary_files_count_after_a_day_and_nothing_else_does(home):
    age(home, ABANDONED_AFTER - timedelta(seconds=1))
    assert list(abandoned(home, NOW)) == []
    age(home, ABANDONED_AFTER + timedelta(seconds=1))
    found = list(abandoned(home, NOW))
    assert {item.path.relative_to(home.root).as_posix() for item in found} == set(LITTER)
    assert {item.size_bytes for item in found} == {4}


def test_the_names_are_those_that_an_atomic_write_gives_before_it_is_done(tmp_path, monkeypatch):
    """A writer killed before it renames leaves what `abandoned` looks for."""
    home = Home.open(tmp_path / "home")

    def die(*_):
        raise SystemExit

    monkeypatch.setattr("pathlib.Path.replace", die)
    monkeypatch.setattr("pathlib.Path.unlink", lambda *_, **__: None)
    with pytest.raises(SystemExit):
        write_atomic(home.root / "config.json", b"{}")
    monkeypatch.undo()
    age(home, 2 * ABANDONED_AFTER)
    (left,) = abandoned(home, NOW)
    assert left.path.name.startswith(".config.json.")


def test_a_home_without_folders_has_no_litter(tmp_path):
    assert list(abandoned(Home(tmp_path / "none"), NOW)) == []


def test_what_is_moved_aside_keeps_its_place_and_its_bytes(home):
    first = move_aside(home.root, home.root / "archive" / "00ff.zst")
    (home.root / "archive" / "00ff.zst").write_bytes(b"second")
    second = move_aside(home.root, home.root / "archive" / "00ff.zst")
    assert (first.read_bytes(), second.read_bytes()) == (b"1234", b"second")
    assert first.relative_to(home.root / ASIDE).parts[1:] == ("archive", "00ff.zst")
    assert move_aside(home.root, home.root / "tables" / "turns").is_dir()
    assert not (home.root / "tables" / "turns").exists()


def test_nothing_is_made_for_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        move_aside(tmp_path, tmp_path / "gone")
    assert not (tmp_path / ASIDE).exists()
