"""Event logs of sessions run here: every line is an event of the session, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from workbench.errors import EventLogError
from workbench.store.eventlog import EventLog, EventLogReader
from workbench.store.eventlog_files import LOG_NAME, session_of, writer_of
from workbench.store.eventlog_lines import LogIssue
from workbench.store.home import Home
from workbench.store.verify.problem import Problem, below

SET_ASIDE = "workbench verify --repair sets it aside in quarantine.jsonl; no other line is touched"


def check_logs(home: Home) -> Iterator[Problem]:
    """Read every log.

    Yields:
        `torn_line`, `bad_line`, `sequence_gap` and `unreadable_event_log`, at most one of a kind for a log.
    """
    for path in sorted(home.sessions.glob(f"*/{LOG_NAME}")):
        yield from _check(home.root, path)


def _check(root: Path, path: Path) -> Iterator[Problem]:
    folder, where = path.parent, below(root, path)
    session_id = session_of(folder)
    log = EventLogReader(folder, session_id)
    try:
        issues = [issue for issue in log.issues if issue.file == LOG_NAME]
    except EventLogError as error:
        yield Problem("unreadable_event_log", where, str(error), "make the file readable, or bring it from a backup")
        return
    mend = partial(_set_aside, folder, session_id)
    torn = [issue for issue in issues if not issue.kept and issue.reason.startswith("torn")]
    bad = [issue for issue in issues if not issue.kept and issue not in torn]
    gaps = [issue for issue in issues if issue.kept and issue.reason.startswith("seq ")]
    if torn and writer_of(folder) is None:  # else it is being written
        yield Problem("torn_line", where, _detail(torn), SET_ASIDE, mend)
    if bad:
        yield Problem("bad_line", where, _detail(bad), SET_ASIDE, mend)
    if gaps and not bad and not log.quarantined():  # else what is missing is known
        remedy = "bring the file back from a backup, if the lines matter; the rest is read as it is"
        yield Problem("sequence_gap", where, _detail(gaps), remedy)


def _detail(issues: Sequence[LogIssue]) -> str:
    first = issues[0]
    more = f"; {len(issues) - 1:,} more such lines" if len(issues) > 1 else ""
    return f"line {first.line}: {first.reason}{more}"


def _set_aside(folder: Path, session_id: str) -> None:
    with EventLog(folder, session_id) as log:
        log.repair()
