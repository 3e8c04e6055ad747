"""Field cases of our own event log.

The logs become the home's own. They are read once, landed, and compared; then `next` is appended to each with the clock
set an hour back, and they are read again. Keys of one session stand under its id, or at the top for all.
"""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import workbench as wb
from cases.landed import PROSE, Landed
from workbench.store.eventlog import EventLog, EventLogReader

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.bench import Workbench
    from workbench.events import Event

Answers = dict[str, Any]


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Read, land, append and read the case's logs, and compare all that it expects."""
    bench = wb.open(home)
    shutil.copytree(folder / "sessions", bench.home.sessions)
    session_ids = sorted(path.name for path in bench.home.sessions.iterdir())
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    found = answers(bench, session_ids, expected)
    wrong = {key: f"expected {value!r}, found {found[key]!r}" for key, value in expected.items() if found[key] != value}
    assert not wrong, "\n".join(f"{key}: {what}" for key, what in wrong.items())


def answers(bench: Workbench, session_ids: list[str], expected: Answers) -> Answers:
    """What reading, landing and appending give, under the keys that are expected."""
    before = contents(bench.home.sessions)
    bench.land_logs()
    landed = Landed.now(bench)
    of_each = {each: before_append(bench, landed, each) for each in session_ids}
    unchanged = contents(bench.home.sessions) == before
    appended = {each: after_append(bench, each) for each in session_ids}
    bench.land_logs()
    now = Landed.now(bench)
    for each in session_ids:
        of_each[each] |= again(bench, now, each, appended[each])
    result: Answers = {}
    for key, wanted in expected.items():
        if key == "read_only_open_changes_no_byte":
            result[key] = unchanged
        elif key in of_each:
            result[key] = {
                inner: looked_up(of_each[key], landed.session(key), inner, wanted[inner]) for inner in wanted
            }
        else:
            told = [looked_up(of_each[each], landed.session(each), key, wanted) for each in session_ids]
            result[key] = told[0] if all(each == told[0] for each in told) else told
    return result


def looked_up(found: Answers, landed: Landed, key: str, wanted: Any) -> Any:
    """An answer of the log, else of the rows that landed before the append.

    Raises:
        UnknownKeyError: Neither knows the key.
    """
    return wanted if key in PROSE else found[key] if key in found else landed.answer(key, wanted)


def before_append(bench: Workbench, landed: Landed, session_id: str) -> Answers:
    """Read the log as it is: what it says and what landed must agree."""
    events = EventLogReader(bench.home.sessions / session_id, session_id).read_all()
    rows = landed.session(session_id).events("seq, event_id, payload, occurred_at, turn")
    assert [row[0] for row in rows] == list(range(1, len(events) + 1))
    assert [(row[1], json.loads(row[2])) for row in rows] == [(event.event_id, event.payload) for event in events]
    return {
        "texts_in_order": texts(events),
        "last_event": texts(events)[-1],
        "times_as_recorded": [row[3:] for row in rows] == [(event.occurred_at, event.turn) for event in events],
    }


def after_append(bench: Workbench, session_id: str) -> Event:
    """Append `next` an hour before the last event."""
    folder = bench.home.sessions / session_id
    last = EventLogReader(folder, session_id).read_all()[-1]
    back = last.occurred_at - timedelta(hours=1)
    with EventLog(folder, session_id, now=lambda: back) as log:
        return log.append("user_message", "user", {"text": "next"}, turn=last.turn + 1)


def again(bench: Workbench, landed: Landed, session_id: str, appended: Event) -> Answers:
    """Read with eyes that saw nothing before."""
    log = EventLogReader(bench.home.sessions / session_id, session_id)
    events = log.read_all()
    assert landed.session(session_id).events("event_id") == [(event.event_id,) for event in events]
    assert log.last_event() == appended
    return {
        "texts": texts(events),
        "seq": [event.seq for event in events],
        "appended_seq": appended.seq,
        "set_aside": len(log.quarantined()),
        "issues": len(log.issues),
    }


def texts(events: list[Event]) -> list[str]:
    """What the events say."""
    return [event.payload["text"] for event in events if "text" in event.payload]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
