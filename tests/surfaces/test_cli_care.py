"""`workbench maintain`, `verify` and `doctor`: what they print, with which exit code."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
import sound_home
from command import WORKBENCH, Done, environment, workbench

import workbench as wb
from workbench.store.home import Home
from workbench.store.lease import held
from workbench.surfaces.cli import main


@pytest.fixture
def here(capsys, monkeypatch, tmp_path):
    """Runs the command in this process: the same as the real one, without the second that a new process takes."""
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def here(*arguments, **variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return Done(stopped.value.code or 0, captured.out, captured.err)

    return here


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return sound_home.build(tmp_path_factory.mktemp("cared"))


@pytest.fixture
def home(template, tmp_path):
    return sound_home.copy(template, tmp_path)


def tear(home):
    """Damage a home in a way that can be repaired without help, and in one that cannot."""
    log = home / "tables" / "turns" / "_delta_log"
    torn = log / f"{len(list(log.glob('*.json'))):020}.json"
    torn.write_bytes(b'{"commit')
    labels = sound_home.newest_file(home, "session_labels")
    labels.unlink()
    return torn, labels


def test_a_sound_home_is_told_in_json_of_exactly_two_keys(home, tmp_path):
    done = workbench("verify", "--home", home, "--json", cwd=tmp_path)
    assert (done.code, done.json, done.err) == (0, {"ok": True, "problems": []}, "")
    done = workbench("verify", "--home", home, cwd=tmp_path)
    assert (done.code, done.out) == (0, "all is well\n")


def test_problems_are_told_repaired_and_told_again(here, home):
    torn, labels = tear(home)
    done = here("verify", "--home", home, "--repair", "--dry-run", "--json")
    assert done.code == 4
    assert set(done.json) == {"ok", "problems"}
    assert done.json["ok"] is False
    assert [set(problem) for problem in done.json["problems"]] == [
        {"what", "where", "detail", "remedy", "repairable"}
    ] * 2
    assert {(p["what"], p["where"], p["repairable"]) for p in done.json["problems"]} == {
        ("torn_commit", torn.relative_to(home).as_posix(), True),
        ("missing_file", labels.relative_to(home).as_posix(), False),
    }
    assert torn.exists()
    done = here("verify", "--home", home, "--repair", "--json")
    assert done.code == 4
    assert [problem["what"] for problem in done.json["repaired"]] == ["torn_commit"]
    assert [problem["what"] for problem in done.json["problems"]] == ["missing_file"]
    done = here("verify", "--home", home)
    assert done.code == 4
    assert done.out.splitlines()[-1] == "1 problems, of which workbench verify --repair repairs 0"
    assert "backup" in done.out


def test_a_dry_run_goes_with_a_repair_only(here, home):
    done = here("verify", "--home", home, "--dry-run")
    assert (done.code, done.out) == (2, "")
    assert "--dry-run goes with --repair" in done.err


def test_maintenance_tells_what_would_go_and_then_lets_it_go(here, home):
    litter = home / "archive" / ".aa.zst.abcdefgh"
    litter.write_bytes(b"1234")
    os.utime(litter, (time.time() - 100_000,) * 2)
    change = {
        "step": "temporary files",
        "where": "archive/.aa.zst.abcdefgh",
        "detail": "left by a killed writer",
        "files": 1,
        "bytes": 4,
    }
    for option, is_dry in (("--dry-run", True), ("--json", False)):
        done = here("maintain", "--home", home, "--json", option)
        assert done.code == 0
        told = done.json
        assert told.pop("seconds") > 0
        assert told == {"dry_run": is_dry, "retention_days": 7.0, "changes": [change], "bytes": 4, "left_out": []}
        assert litter.exists() is is_dry
    done = here("maintain", "--home", home)
    first, second = done.out.splitlines()
    assert first == "replaced files are kept for 7 days (store.file_retention_days)"
    assert second.startswith("there is nothing to do")


def test_the_retention_is_that_of_the_configuration(here, home):
    done = here("maintain", "--home", home, WORKBENCH_STORE__FILE_RETENTION_DAYS="0.5")
    assert done.out.startswith("replaced files are kept for 0.5 days")


def test_a_second_maintenance_is_busy_and_says_who_is_at_work(here, home):
    with held(home / "maintain.lease", "x"):
        done = here("maintain", "--home", home, "--json")
    assert (done.code, done.out) == (4, "")
    assert f"process {os.getpid()} on " in done.err


def test_a_killed_maintenance_keeps_the_next_one_from_nothing(home, tmp_path):
    process = subprocess.Popen(
        [WORKBENCH, "maintain", "--home", str(home)], env=environment(tmp_path), stdout=subprocess.DEVNULL
    )
    while not (home / "maintain.lease").exists() and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert wb.open(home).maintain().left_out == []


def test_a_step_that_fails_is_told_and_makes_the_exit_code_one(here, home):
    min((home / "tables" / "turns" / "_delta_log").glob("*.json")).unlink()
    done = here("maintain", "--home", home)
    assert done.code == 1
    assert "left out: compact: the table " in done.out


def test_the_doctor_tells_findings_of_one_shape(here, home):
    done = here("doctor", "--home", home, "--json")
    assert done.code == 0
    assert set(done.json) == {"ok", "findings"}
    assert done.json["ok"] is True
    assert {tuple(finding) for finding in done.json["findings"]} == {("level", "check", "found", "remedy")}
    assert {finding["level"] for finding in done.json["findings"]} <= {"ok", "note", "warning", "error"}


def test_the_doctor_fails_where_something_does_not_work(here, home):
    min((home / "tables" / "sources" / "_delta_log").glob("*.json")).write_bytes(b"{")
    done = here("doctor", "--home", home)
    assert done.code == 4
    assert "error    imports" in done.out


def test_the_python_api_gives_the_same(home):
    bench = wb.open(home)
    assert bench.verify().ok
    assert bench.maintain(dry_run=True).changes == []
    assert {finding.check for finding in bench.doctor()} >= {"sources", "clock", "disk"}
    assert Home.open(home).is_landing() is False
