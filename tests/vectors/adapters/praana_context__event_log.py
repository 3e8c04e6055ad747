"""The event log: search, reading a file, merging a legacy one. The peer's lines become ours where they are JSON."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from workbench.context.classic import classic_history
from workbench.events import Event
from workbench.store.eventlog import EventLogReader
from workbench.store.eventlog_files import migrate_legacy
from workbench.store.eventlog_search import search_events

SESSION = "s"


def run(case_input):
    match case_input["op"]:
        case "search":
            return search(case_input)
        case "readFile":
            return read_file(case_input["fileText"])
        case "migrateLegacy":
            return migrate(case_input["events_jsonl"], case_input["events_log"])
        case "classicHistory":
            events = [Event(**ours(event, seq)) for seq, event in enumerate(case_input["events"], start=1)]
            return classic_history(events, case_input["userInput"], agent="PRAANA")
        case other:
            raise NotImplementedError(other)


def search(case_input):
    events = [Event(**ours(event, seq)) for seq, event in enumerate(case_input["events"], start=1)]
    hits = search_events(events, case_input["query"], **case_input["options"])
    return [[hit.event.event_id, hit.excerpt] for hit in hits]


def read_file(text):
    lines = text.split("\n")
    data = "\n".join(translated(line, seq) for seq, line in enumerate(lines, start=1))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "events.jsonl").write_text(data, encoding="utf-8", newline="")
        return [event.event_id for event in EventLogReader(Path(folder), SESSION).read_all()]


def migrate(log, legacy):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in (("events.jsonl", log), ("events.log", legacy)):
            if text is not None:
                (folder / file).write_bytes(text.encode())
        migrate_legacy(folder)
        assert not (folder / "events.log").exists()
        return (folder / "events.jsonl").read_bytes().decode() if (folder / "events.jsonl").exists() else None


def translated(line, seq):
    """A line of the peer in our shape; what is no event of it stays as it is."""
    record = parsed(line)
    if not isinstance(record, dict) or "timestamp" not in record:
        return line
    event = ours(record, seq) | {"session_id": SESSION}
    return json.dumps(event | {"occurred_at": event["occurred_at"].isoformat()}, ensure_ascii=False)


def ours(event, seq):
    at = datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
    fields = {key: value for key, value in event.items() if key != "timestamp"}
    return fields | {"seq": seq, "occurred_at": at, "turn": 0, "parent_event_id": None}


def parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


# For the deviation rules


def has_unreadable_line(case_input):
    return case_input["op"] == "readFile" and any(
        line.strip() and parsed(line) is None for line in case_input["fileText"].split("\n")
    )


def readable_ids(case_input):
    records = [parsed(line) for line in case_input["fileText"].split("\n")]
    return [record["event_id"] for record in records if isinstance(record, dict)]


def asks_for_no_hit(case_input):
    return case_input["op"] == "search" and case_input["options"].get("limit", 20) <= 0


def nothing(_):
    return []
