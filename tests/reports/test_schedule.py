"""Lines to paste: that a shell takes them apart as they are meant."""

import plistlib
import shlex
import subprocess
from pathlib import Path

import pytest

from workbench.reports.schedule import cron_line, schedules

PROGRAM, HOME = Path("/opt/my tools/workbench"), Path("/srv/ann's 100% home")


def pasted(text, tmp_path, **programs):
    """Run pasted text in a shell with programs that only note what they are given; returns the user's home."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name, body in programs.items():
        (binaries / name).write_text(f"#!/bin/sh\n{body}\n")
        (binaries / name).chmod(0o755)
    environment = {"HOME": str(tmp_path), "PATH": f"{binaries}:/usr/bin:/bin"}
    subprocess.run(["sh", "-c", text], env=environment, check=True, timeout=20)
    return tmp_path


def test_the_cron_line_adds_an_hourly_import_and_keeps_what_was_there(tmp_path):
    table = 'if [ "$1" = -l ]; then echo "0 1 * * * backup"; else cat > "$HOME/crontab"; fi'
    home = pasted(cron_line([str(PROGRAM), "--home", str(HOME), "ingest"]), tmp_path, crontab=table)
    kept, added = (home / "crontab").read_text().splitlines()
    assert kept == "0 1 * * * backup"
    minute, *rest = added.split(" ", 5)
    assert (minute, rest[:4]) == ("17", ["*"] * 4)
    command = rest[4].replace("\\%", "%")  # as cron does it
    assert "%" not in rest[4].replace("\\%", "")
    assert shlex.split(command) == [str(PROGRAM), "--home", str(HOME), "ingest", ">/dev/null"]


def test_systemd_gets_a_service_and_a_timer_that_catches_up(tmp_path):
    ways = schedules(PROGRAM, HOME, "linux", has_systemd=True)
    assert [way.name for way in ways] == ["systemd", "cron"]
    home = pasted(ways[0].paste, tmp_path, systemctl='echo "$@" > "$HOME/called"')
    units = home / ".config" / "systemd" / "user"
    start = (units / "workbench-ingest.service").read_text().splitlines()[2]
    assert shlex.split(start.removeprefix("ExecStart=").replace("%%", "%")) == [
        str(PROGRAM),
        "--home",
        str(HOME),
        "ingest",
    ]
    assert "Persistent=true" in (units / "workbench-ingest.timer").read_text()
    assert (home / "called").read_text() == "--user enable --now workbench-ingest.timer\n"


def test_macos_gets_an_agent_that_runs_every_hour(tmp_path):
    way, other = schedules(PROGRAM, HOME, "darwin", has_systemd=False)
    assert (way.name, other.name) == ("launchd", "cron")
    (tmp_path / "Library" / "LaunchAgents").mkdir(parents=True)
    home = pasted(way.paste, tmp_path, launchctl="true")
    told = plistlib.loads((home / "Library" / "LaunchAgents" / "workbench.ingest.plist").read_bytes())
    assert told == {
        "Label": "workbench.ingest",
        "ProgramArguments": [str(PROGRAM), "--home", str(HOME), "ingest"],
        "StartInterval": 3600,
    }


@pytest.mark.parametrize(("platform", "names"), [("linux", ["cron"]), ("freebsd14", ["cron"]), ("win32", ["tasks"])])
def test_each_system_gets_what_it_has(platform, names):
    assert [way.name for way in schedules(PROGRAM, HOME, platform, has_systemd=False)] == names
