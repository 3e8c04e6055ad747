"""Lines to paste so that imports happen by themselves: cron, systemd, launchd."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape


class Schedule(NamedTuple):
    """One way to run an import every hour.

    Attributes:
        name: `cron`, `systemd` or `launchd`.
        paste: Text to paste into a shell.
    """

    name: str
    paste: str


def schedules(program: Path, home: Path, platform: str, *, has_systemd: bool) -> list[Schedule]:
    """Ways to import every hour that this machine has.

    Args:
        program: The `workbench` command.
        home: The home to import into.
        platform: As `sys.platform` has it.
        has_systemd: Whether systemd runs here.
    """
    command = [str(program), "--home", str(home), "ingest"]
    if platform == "darwin":
        return [Schedule("launchd", _launchd(command)), Schedule("cron", cron_line(command))]
    if platform == "win32":
        quoted = " ".join(f'\\"{part}\\"' if " " in part else part for part in command)
        return [Schedule("tasks", f'schtasks /Create /SC HOURLY /TN "workbench ingest" /TR "{quoted}"')]
    both = [Schedule("systemd", _systemd(command)), Schedule("cron", cron_line(command))]
    return both if has_systemd else both[1:]


def cron_line(command: list[str]) -> str:
    """A command that adds an hourly line to the crontab; `%` ends a command there unless it is escaped."""
    line = f"17 * * * * {shlex.join(command).replace('%', chr(92) + '%')} >/dev/null"
    return f"(crontab -l 2>/dev/null; echo {shlex.quote(line)}) | crontab -"


def _systemd(command: list[str]) -> str:
    """A timer of the user's own; it also runs, once, what a machine that was off has missed."""
    start = shlex.join(command).replace("%", "%%").replace("$", "$$")
    units = {
        "service": f"[Service]\nType=oneshot\nExecStart={start}",
        "timer": "[Timer]\nOnCalendar=hourly\nPersistent=true\n[Install]\nWantedBy=timers.target",
    }
    place = "~/.config/systemd/user"
    files = [f"echo {shlex.quote(text)} > {place}/workbench-ingest.{kind}" for kind, text in units.items()]
    return " && ".join([f"mkdir -p {place}", *files, "systemctl --user enable --now workbench-ingest.timer"])


def _launchd(command: list[str]) -> str:
    arguments = "".join(f"<string>{escape(part)}</string>" for part in command)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>'
        "<key>Label</key><string>workbench.ingest</string>"
        f"<key>ProgramArguments</key><array>{arguments}</array>"
        "<key>StartInterval</key><integer>3600</integer></dict></plist>"
    )
    place = "~/Library/LaunchAgents/workbench.ingest.plist"
    return f"echo {shlex.quote(text)} > {place} && launchctl load {place}"
