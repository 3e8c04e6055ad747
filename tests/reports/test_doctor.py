"""What the doctor finds, check by check."""

import os
import time
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import sound_home
from made_sessions import START, grow_session, session_path, write_sessions

import workbench as wb
from workbench.config import load_config
from workbench.reports import doctor as module
from workbench.reports.doctor import CHECKS, Patient, doctor
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.lease import Lease


@pytest.fixture
def agent(tmp_path):
    """An agent's folder with two transcripts, changed just now."""
    folder = tmp_path / ".claude"
    write_sessions(folder, 2, 1)
    return folder / "projects"


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home").root


@pytest.fixture
def examine(home, agent, tmp_path):
    def examine(check, *, now=None, folders=(agent,), **settings):
        config = load_config(home, project_dir=tmp_path, overrides=settings, environ={})
        patient = Patient(Lake(Home.open(home)), config, folders, now or datetime.now(UTC))
        return [finding for finding in doctor(patient) if finding.check == check]

    return examine


def levels(findings):
    return [finding.level for finding in findings]


def age(folder, days):
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (time.time() - days * 86_400,) * 2)


def test_files_that_are_not_imported_are_told_with_a_line_to_paste(examine, agent, home):
    age(agent, 0.5)
    (finding,) = examine("sources")
    assert finding.level == "note"
    assert finding.found == (
        f"claude-code, {agent}: 2 files not imported, 0 changed since; the agent deletes them 30 days after their last "
        "change (default); the first one in 29 days"
    )
    assert f"--home {home} ingest" in finding.remedy
    assert "crontab -" in finding.remedy


def test_files_that_the_agent_will_delete_within_a_week_are_warned_of(examine, agent, home):
    age(agent, 5)
    assert levels(examine("sources")) == ["note"]
    age(agent, 24)
    (finding,) = examine("sources")
    assert finding.level == "warning"
    assert "; 2 within 7 days, first " in finding.found
    wb.open(home).ingest(agent)
    (finding,) = examine("sources")
    assert (finding.level, finding.remedy) == ("ok", "")
    assert "all 2 files are in the tables" in finding.found
    grow_session(agent.parent, 1, 4, 5)
    age(agent, 24)
    (finding,) = examine("sources")
    assert (finding.level, "0 files not imported, 2 changed since" in finding.found) == ("warning", True)


def test_the_agents_own_setting_decides(examine, agent):
    (agent.parent / "settings.json").write_text('{"cleanupPeriodDays": 3650}')
    age(agent, 24)
    (finding,) = examine("sources")
    assert (
        finding.level,
        f"3650 days after their last change ({agent.parent / 'settings.json'})" in finding.found,
    ) == (
        "note",
        True,
    )


def test_a_machine_without_agents_is_told_how_to_name_files(examine):
    (finding,) = examine("sources", folders=())
    assert (finding.level, finding.remedy) == ("note", "workbench ingest PATH")


def test_the_newest_import_is_told_and_asked_to_be_scheduled_after_a_week(examine, agent, home):
    assert [(f.level, f.found) for f in examine("imports")] == [("note", "nothing was imported yet")]
    wb.open(home).ingest(agent)
    assert levels(examine("imports", now=datetime.now(UTC))) == ["ok"]
    (finding,) = examine("imports", now=datetime.now(UTC) + timedelta(days=9))
    assert (finding.level, finding.found) == ("note", "the newest import of something new was 9 days ago")
    assert "ingest" in finding.remedy


def test_an_import_that_did_not_end_is_told_unless_it_is_still_at_work(examine, home):
    def interrupted():
        with Home.open(home).landing_lock():
            assert len(examine("imports")) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    found = examine("imports")
    assert [f.level for f in found] == ["note", "note"]
    assert "did not end" in found[1].found
    assert found[1].remedy == "run the same import again, then workbench maintain"


def test_leases_and_locks_of_processes_that_are_gone_are_told(examine, home):
    assert [f.found for f in examine("locks")] == ["no lease or lock is left over"]
    now = datetime.now(UTC)
    over = Lease("ann", "elsewhere", 1, now - timedelta(days=2), now - timedelta(days=1))
    (home / "maintain.lease").write_bytes(msgspec.json.encode(over))
    log = sound_home.append(home, 1)
    log.with_name("events.lock").write_text("4194000\n")
    lease, lock = examine("locks")
    assert (lease.level, lease.remedy) == ("note", "workbench maintain takes it over")
    assert "ann, process 1 on elsewhere" in lease.found
    assert (lock.level, sound_home.LIVE in lock.found) == ("note", True)


def test_a_clock_behind_what_was_recorded_is_warned_of(examine, agent, home):
    assert levels(examine("clock")) == ["ok"]
    wb.open(home).ingest(agent)
    found = examine("clock", now=START - timedelta(days=1))
    assert levels(found) == ["warning", "warning"]
    assert [f.found.split(" is of ")[0] for f in found] == ["the newest event", "the newest file of the home"]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_home_that_others_can_look_into_is_warned_of(examine, home):
    assert levels(examine("permissions")) == ["ok"]
    home.chmod(0o755)
    (finding,) = examine("permissions")
    assert (finding.level, finding.remedy) == ("warning", f"chmod 700 {home}")


def test_a_file_that_cannot_be_written_to_is_an_error(examine, home, monkeypatch):
    """The check is asked through the system; whoever runs the tests may be allowed everything."""
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith("home.json"))
    (finding,) = examine("permissions")
    assert (finding.level, finding.found) == ("error", f"{home / 'home.json'} cannot be written to")
    assert "chmod" in finding.remedy


@pytest.mark.parametrize(
    ("free", "level"), [(10**12, "ok"), (module.LEAST_FREE_BYTES + 100, "warning"), (1000, "error")]
)
def test_a_disk_that_fills_up_is_told_in_time(examine, home, monkeypatch, free, level):
    (home / "tables").mkdir()
    (home / "tables" / "large").write_bytes(bytes(2_000_000))
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free}))
    (finding,) = examine("disk")
    assert finding.level == level
    assert finding.found.startswith("home 2.0 MB (tables 2.0 MB); ")
    assert bool(finding.remedy) == (level != "ok")


def test_the_embedder_is_told_and_warned_of_where_it_is_missing(examine):
    (finding,) = examine("embedder")
    assert (finding.level, finding.found) == ("ok", "all-MiniLM-L6-v2, on this machine")
    (finding,) = examine("embedder", embedding={"model": "nothing-like-this"})
    assert finding.level == "warning"
    assert finding.remedy


def test_settings_that_are_not_taken_as_written_are_told(examine):
    assert levels(examine("config")) == ["ok"]
    (finding,) = examine("config", nonsense=1)
    assert (finding.level, "nonsense" in finding.found) == ("note", True)


def test_versions_are_told_and_a_missing_library_is_warned_of(examine, monkeypatch):
    (finding,) = examine("versions")
    assert finding.level == "ok"
    assert f"workbench {wb.__version__}, home format 1, Python " in finding.found
    monkeypatch.setattr(module, "LIBRARIES", ("duckdb", "no-such-library"))
    (finding,) = examine("versions")
    assert (finding.level, finding.remedy) == ("warning", "install the package again: it lacks no-such-library")


def test_a_home_that_cannot_be_read_hides_no_other_check(examine, agent, home):
    wb.open(home).ingest(agent)
    min((home / "tables" / "sources" / "_delta_log").glob("*.json")).write_bytes(b"{")
    (finding,) = examine("imports")
    assert (finding.level, finding.remedy) == ("error", "workbench verify")
    assert levels(examine("config")) == ["ok"]


def test_every_finding_names_its_check(examine, home, agent, tmp_path):
    config = load_config(home, project_dir=tmp_path, environ={})
    findings = doctor(Patient(Lake(Home.open(home)), config, [agent], datetime.now(UTC)))
    assert {finding.check for finding in findings} == {check.__name__.removeprefix("_check_") for check in CHECKS}
    del examine


def test_the_newest_transcript_decides_nothing_but_the_oldest_does(examine, agent):
    os.utime(session_path(agent.parent, 0), (time.time() - 29.5 * 86_400,) * 2)
    (finding,) = examine("sources")
    assert finding.level == "warning"
    assert f"; 1 within 7 days, first {session_path(agent.parent, 0)}" in finding.found
