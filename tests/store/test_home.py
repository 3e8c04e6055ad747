import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from workbench.errors import NewerHomeError, StoreError
from workbench.store import files as files_module
from workbench.store.files import make_folder, write_atomic
from workbench.store.home import Home

WORKBENCH = Path(sys.executable).with_name("workbench")


def run(*arguments):
    done = subprocess.run([WORKBENCH, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def syncs(monkeypatch):
    """Paths in the order in which they were synced."""
    synced = []
    real = files_module._sync

    def recorded(path, flags):
        synced.append(Path(path))
        real(path, flags)

    monkeypatch.setattr(files_module, "_sync", recorded)
    return synced


# -- opening -----------------------------------------------------------------------------------------------------------


def test_a_new_home_has_a_marker_and_is_its_owners_only(tmp_path):
    home = Home.open(tmp_path / "deep" / "home")
    assert json.loads((home.root / "home.json").read_text()) == {"format": 1}
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    assert [path.name for path in home.root.iterdir()] == ["home.json"]


def test_its_parts_lie_under_its_root(tmp_path):
    home = Home.open(tmp_path)
    assert (home.tables, home.archive, home.sessions) == (
        tmp_path / "tables",
        tmp_path / "archive",
        tmp_path / "sessions",
    )


def test_opening_again_changes_nothing(tmp_path):
    Home.open(tmp_path)
    before = (tmp_path / "home.json").stat().st_mtime_ns
    assert Home.open(tmp_path) == Home(tmp_path)
    assert (tmp_path / "home.json").stat().st_mtime_ns == before


def test_a_reader_of_an_absent_home_makes_none(tmp_path):
    assert Home.open(tmp_path / "home", create=False).root == tmp_path / "home"
    assert list(tmp_path.iterdir()) == []


def test_the_tilde_is_the_users_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Home.open(Path("~/bench")).root == tmp_path / "bench"


def test_a_path_from_here_stays_the_same_when_the_process_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = Home.open(Path("bench"))
    monkeypatch.chdir("/")
    assert home.root == tmp_path / "bench"


def test_a_newer_home_is_refused(tmp_path):
    (tmp_path / "home.json").write_text('{"format": 2, "more": true}')
    with pytest.raises(NewerHomeError, match=r"has format 2, this workbench knows up to 1: upgrade workbench, or use"):
        Home.open(tmp_path)


@pytest.mark.parametrize("command", [["sessions"], ["sql", "select 1"], ["ingest", "."]])
def test_a_newer_home_is_refused_by_every_command(tmp_path, command):
    (tmp_path / "home.json").write_text('{"format": 99}')
    code, out, err = run(*command, "--home", tmp_path)
    assert (code, out) == (4, "")
    assert err == (
        f"workbench: the home {tmp_path} has format 99, this workbench knows up to 1: "
        "upgrade workbench, or use another home with --home\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["home.json"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"{}", b'{"format": "1"}', b'{"format": null}', b'{"format": true}', b"\xff\xfe", b"1"],
)
def test_a_marker_that_is_none_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "home.json").write_bytes(content)
    with pytest.raises(
        StoreError, match=r'home.json is not a home marker; if this .* write {"format": 1} into it'
    ) as told:
        Home.open(tmp_path)
    assert not isinstance(told.value, NewerHomeError)
    assert (tmp_path / "home.json").read_bytes() == content


def test_a_file_where_the_home_should_be_is_refused(tmp_path):
    (tmp_path / "home").write_text("mine")
    for root in (tmp_path / "home", tmp_path / "home" / "in it"):
        with pytest.raises(StoreError, match=r"cannot be opened: (File exists|Not a directory)"):
            Home.open(root)
    assert (tmp_path / "home").read_text() == "mine"


@pytest.mark.parametrize("name", ["a[b", "a]b", "a^b", "a|b", "a%41b", "a\nb", "a\x7fb", "a\\b"])
def test_a_path_that_deltalake_cannot_use_is_refused_at_once(tmp_path, name):
    with pytest.raises(StoreError, match="in its path, where deltalake cannot keep tables: use another folder"):
        Home.open(tmp_path / name / "home")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def locked_folder(tmp_path):
    """`tmp_path`, where nothing may be written; rights do not bind root, so that root becomes somebody else."""
    tmp_path.chmod(0o500)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    yield tmp_path
    if is_root:
        os.seteuid(0)
    tmp_path.chmod(0o700)


def test_a_home_that_may_not_be_made_is_a_clear_message(locked_folder):
    with pytest.raises(StoreError, match=r"the home .* cannot be opened: Permission denied"):
        Home.open(locked_folder / "home")


# -- two at once -------------------------------------------------------------------------------------------------------


def test_several_may_make_the_same_home_at_once(tmp_path):
    script = (
        f"from pathlib import Path; from workbench.store.home import Home; Home.open(Path({str(tmp_path / 'h')!r}))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    assert json.loads((tmp_path / "h" / "home.json").read_text()) == {"format": 1}
    assert [path.name for path in (tmp_path / "h").iterdir()] == ["home.json"]


HOLDER = """
    import sys, time
    from pathlib import Path
    from workbench.store.home import Home
    with Home.open(Path(sys.argv[1])).landing_lock(wait_seconds=30):
        print("held", flush=True)
        time.sleep(float(sys.argv[2]))
"""


def holder(root, seconds):
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), str(root), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_the_lock_is_held_by_one_process_at_a_time(tmp_path):
    with holder(tmp_path, 60) as process:
        with (
            pytest.raises(
                StoreError, match=r"another import has been writing to .* for over 0 s; wait for it or end it"
            ),
            Home.open(tmp_path).landing_lock(wait_seconds=0.1),
        ):
            pass
        process.kill()


def test_the_lock_is_waited_for(tmp_path):
    with holder(tmp_path, 0.3), Home.open(tmp_path).landing_lock(wait_seconds=60):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    with holder(tmp_path, 60) as process:
        process.send_signal(signal.SIGKILL)
    with Home.open(tmp_path).landing_lock(wait_seconds=10):
        pass


def test_the_lock_is_held_by_one_thread_at_a_time(tmp_path):
    inside, most = [], []

    def work():
        with Home.open(tmp_path).landing_lock(wait_seconds=60):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def test_an_error_under_the_lock_frees_it(tmp_path):
    home = Home.open(tmp_path)
    with pytest.raises(ZeroDivisionError), home.landing_lock():
        raise ZeroDivisionError
    with home.landing_lock(wait_seconds=0.1):
        pass


def test_a_home_that_cannot_be_written_to_cannot_be_locked(locked_folder):
    with (
        pytest.raises(StoreError, match=r"the home .* cannot be written to: Permission denied"),
        Home(locked_folder).landing_lock(),
    ):
        pass


# -- durability --------------------------------------------------------------------------------------------------------


def test_a_new_folder_is_durable_with_all_that_lead_to_it(tmp_path, syncs):
    make_folder(tmp_path / "a" / "b" / "c")
    assert syncs == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    make_folder(tmp_path / "a" / "b" / "c")
    assert len(syncs) == 3


def test_a_new_home_is_durable(tmp_path, syncs):
    Home.open(tmp_path / "above" / "home")
    assert syncs == [tmp_path, tmp_path / "above", tmp_path / "above" / "home"]


def test_a_file_is_replaced_wholly(tmp_path, syncs):
    path = tmp_path / "file"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert syncs == [tmp_path, tmp_path]
    write_atomic(path, b"three", sync_entry=False)
    assert (path.read_bytes(), len(syncs)) == (b"three", 2)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_whose_bytes_cannot_be_synced_keeps_the_old_ones(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomic(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_bytes_are_synced_before_the_name_shows_them(tmp_path, monkeypatch):
    path, seen = tmp_path / "file", []
    real = os.fsync

    def watched(descriptor):
        seen.append((stat.S_ISREG(os.fstat(descriptor).st_mode), path.exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    write_atomic(path, b"new")
    assert seen == [(True, False), (False, True)]  # the file before it has its name, the folder after


# -- what an import leaves behind -------------------------------------------------------------------------------------


def test_an_import_that_ends_well_leaves_no_sign_and_one_that_does_not_leaves_who_it_was(tmp_path):
    home = Home.open(tmp_path / "home")
    with home.landing_lock():
        assert json.loads(home.unfinished.read_bytes())["pid"] == os.getpid()
    assert not home.unfinished.exists()

    def interrupted():
        with home.landing_lock():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    first = home.unfinished.read_bytes()
    with home.landing_lock():
        pass
    assert home.unfinished.read_bytes() == first  # what it left may still be there


def test_what_is_no_import_leaves_no_sign(tmp_path):
    home = Home.open(tmp_path / "home")
    with home.landing_lock(is_import=False):
        assert not home.unfinished.exists()
        assert home.is_landing()
    assert not home.is_landing()
