"""Leases: one owner, known by name, taken over when it is gone."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from workbench.errors import BusyError
from workbench.store import lease
from workbench.store.lease import Lease, held, is_running, read_lease

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def written(path, **changed):
    now = datetime.now(UTC)
    known = {
        "holder": "ann",
        "host": platform.node(),
        "pid": os.getpid(),
        "taken_at": now,
        "expires_at": now + timedelta(minutes=5),
    }
    path.write_bytes(msgspec.json.encode(Lease(**(known | changed))))


def test_a_lease_names_its_owner_and_is_given_back(tmp_path):
    path = tmp_path / "a.lease"
    with held(path, "the work") as mine:
        assert read_lease(path) == mine
        assert (mine.pid, mine.host) == (os.getpid(), platform.node())
        assert mine.expires_at - mine.taken_at == lease.LASTS
    assert read_lease(path) is None


def test_a_second_owner_is_told_who_has_it(tmp_path):
    path = tmp_path / "a.lease"
    with held(path, "the work"), pytest.raises(BusyError) as told, held(path, "the work"):
        pass
    assert str(told.value).startswith("the work is being done by ")
    assert f"process {os.getpid()} on {platform.node()}" in str(told.value)
    assert told.value.exit_code == 4


@pytest.mark.parametrize("left", [b"", b"garbage", b'{"holder": 3}'])
def test_a_file_that_is_no_lease_keeps_nobody_out(tmp_path, left):
    path = tmp_path / "a.lease"
    path.write_bytes(left)
    with held(path, "the work") as mine:
        assert read_lease(path) == mine


def test_a_lease_is_taken_over_when_its_process_is_gone_or_its_time_is_over(tmp_path):
    path = tmp_path / "a.lease"
    for changed in ({"pid": dead_pid()}, {"host": "elsewhere", "expires_at": datetime.now(UTC)}):
        written(path, **changed)
        with held(path, "the work") as mine:
            assert mine.pid == os.getpid()


def test_a_process_on_another_host_is_not_looked_for_here(tmp_path):
    path = tmp_path / "a.lease"
    written(path, host="elsewhere", pid=dead_pid())
    with pytest.raises(BusyError, match=r"ann, process \d+ on elsewhere"), held(path, "the work"):
        pass


def test_a_lease_is_extended_while_its_owner_works(tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "LASTS", timedelta(seconds=0.3))
    path = tmp_path / "a.lease"
    with held(path, "the work") as mine:
        deadline = datetime.now(UTC) + timedelta(seconds=20)
        while (read_lease(path) or mine).expires_at == mine.expires_at and datetime.now(UTC) < deadline:
            pass
        assert read_lease(path).expires_at > mine.expires_at
        assert read_lease(path).taken_at == mine.taken_at
    assert not path.exists()


def test_a_lease_that_another_one_took_over_is_not_given_back(tmp_path):
    path = tmp_path / "a.lease"
    with held(path, "the work"):
        written(path, host="elsewhere")
    assert read_lease(path).host == "elsewhere"


def test_a_running_process_is_told_from_one_that_ended():
    assert (is_running(os.getpid()), is_running(dead_pid())) == (True, False)
