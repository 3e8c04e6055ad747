"""Appending to an event log: what is acknowledged is there, whatever happens to the process or the disk."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum, StrEnum
from pathlib import Path

import pytest
from credentials import fill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.errors import BadInputError, EventLogError
from workbench.store.eventlog import EventLog, EventLogReader, NewEvent, session_folder

SESSION = "00000000-0000-4000-8000-000000000061"
TIME = datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC)


def line(seq: int, text: str, *, session_id: str = SESSION, event_id: str | None = None, at: datetime = TIME) -> bytes:
    event = {
        "event_id": event_id or f"01KJQ00000000000000000000{seq}",
        "session_id": session_id,
        "seq": seq,
        "occurred_at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "kind": "user_message",
        "actor": "user",
        "turn": seq,
        "parent_event_id": None,
        "payload": {"text": text},
    }
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def write_log(folder: Path, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events.jsonl").write_bytes(data)
    return folder


def say(log: EventLog, text: str, **fields):
    return log.append("user_message", "user", {"text": text}, turn=1, **fields)


def texts(log: EventLogReader) -> list[str]:
    return [event.payload["text"] for event in log.read_all()]


def seqs(log: EventLogReader) -> list[int]:
    return [event.seq for event in log.read_all()]


# What is written


def test_an_appended_event_is_one_line_and_reads_back_the_same(tmp_path):
    folder = session_folder(tmp_path, SESSION)
    with EventLog(folder, SESSION, now=lambda: TIME) as log:
        first = say(log, "one")
        second = log.append(
            "tool_call",
            "agent",
            {"tool": "shell", "args": {"command": "ls"}, "tool_call_id": "t1"},
            turn=1,
            occurred_at=datetime(2026, 3, 2, 11, 0, 2, 250, tzinfo=timezone(timedelta(hours=2))),
            event_id="01KJQ000000000000000000009",
            parent_event_id=first.event_id,
            agent_id="a1",
            is_sidechain=True,
        )
    assert (first.seq, second.seq) == (1, 2)
    assert first.occurred_at == TIME
    assert second.occurred_at == datetime(2026, 3, 2, 9, 0, 2, 250, tzinfo=UTC)
    assert EventLogReader(folder, SESSION).read_all() == [first, second]
    lines = (tmp_path / "sessions" / SESSION / "events.jsonl").read_bytes().split(b"\n")
    assert [json.loads(each)["event_id"] for each in lines[:-1]] == [first.event_id, "01KJQ000000000000000000009"]
    assert lines[-1] == b""


def test_ids_that_the_log_makes_ascend(tmp_path):
    with EventLog(tmp_path / "s", "s") as log:
        ids = [say(log, str(number)).event_id for number in range(50)]
    assert ids == sorted(set(ids))
    assert {len(each) for each in ids} == {26}


def test_many_events_are_appended_with_one_write_and_one_sync(tmp_path, monkeypatch):
    calls = []
    write, fsync = os.write, os.fsync
    with EventLog(tmp_path / "s", "s") as log:
        say(log, "first")
        monkeypatch.setattr(os, "write", lambda fd, data: calls.append("write") or write(fd, data))
        monkeypatch.setattr(os, "fsync", lambda fd: calls.append("fsync") or fsync(fd))
        new = [NewEvent(kind="user_message", actor="user", payload={"text": str(n)}, turn=n) for n in range(3)]
        events = log.append_many(new)
        assert log.append_many([]) == []
        assert calls == ["write", "fsync"]
    assert [event.seq for event in events] == [2, 3, 4]
    assert EventLogReader(tmp_path / "s", "s").read_all()[1:] == events


def test_a_new_file_and_its_folders_are_synced_too(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").readlink()) or fsync(fd))
    folder = session_folder(tmp_path / "home", "s")
    with EventLog(folder, "s") as log:
        say(log, "one")
    assert {tmp_path, tmp_path / "home", tmp_path / "home/sessions", folder, folder / "events.jsonl"} <= set(synced)
    assert synced[-1] == folder / "events.jsonl"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "message"}, "no event kind 'message'"),
        ({"actor": "robot"}, "no actor 'robot'"),
        ({"turn": -1}, "turn is -1"),
        ({"payload": ["text"]}, "a payload is a dict, not a list"),
        ({"payload": {"text": object()}}, "holds a object"),
        ({"payload": {("a", "b"): 1}}, "key of type tuple"),
        ({"occurred_at": datetime(2026, 3, 2, 9)}, "without a zone"),  # noqa: DTZ001
        ({"occurred_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2)))}, "UTC cannot express"),
        ({"agent_id": 7}, "an id is a string, not 7"),
        ({"turn": True}, "turn is True"),
        ({"turn": "1"}, "turn is '1'"),
        ({"event_id": "half \ud800"}, "cannot be written as JSON"),
    ],
)
def test_what_is_no_event_is_refused_and_the_log_stays_usable(tmp_path, fields, message):
    new = {"kind": "user_message", "actor": "user", "payload": {"text": "x"}, "turn": 1} | fields
    with EventLog(tmp_path / "s", "s") as log:
        with pytest.raises(BadInputError, match=message):
            log.append(new.pop("kind"), new.pop("actor"), new.pop("payload"), **new)
        assert say(log, "next").seq == 1
    assert texts(EventLogReader(tmp_path / "s", "s")) == ["next"]


def test_a_payload_nested_too_deeply_is_refused(tmp_path):
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    with EventLog(tmp_path / "s", "s") as log, pytest.raises(BadInputError, match="nested too deeply"):
        log.append("system_note", "kernel", {"deep": deep}, turn=0)


class Colour(StrEnum):
    RED = "red"


class Size(str, Enum):  # noqa: UP042  the older way
    BIG = "big"


def test_payloads_become_plain_json_values(tmp_path):
    payload = {
        "pair": (1, 2.5),
        "at": TIME,
        "colour": Colour.RED,
        Size.BIG: OrderedDict(size=Size.BIG, half="\udc00"),
        "huge": 2**70,
        "none": float("nan"),
        "far": float("inf"),
        "half": "a\ud800b",
        "whole": "\ud83d\ude00",
        "ends": "a\u2028b\u0085c\r\nd\x00",
        3: True,
    }
    with EventLog(tmp_path / "s", "s") as log:
        event = log.append("system_note", "kernel", payload, turn=0)
    expected = {
        "pair": [1, 2.5],
        "at": "2026-03-02T09:00:01Z",
        "colour": "red",
        "big": {"size": "big", "half": "\ufffd"},
        "huge": 2**70,
        "none": None,
        "far": None,
        "half": "a\ufffdb",
        "whole": "\U0001f600",
        "ends": "a\u2028b\u0085c\r\nd\x00",
        "3": True,
    }
    assert event.payload == expected
    assert EventLogReader(tmp_path / "s", "s").read_all() == [event]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(st.dictionaries(st.text(), JSON_VALUES, max_size=4), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_payload_reads_back_as_append_returned_it(tmp_path_factory, payloads):
    folder = tmp_path_factory.mktemp("log")
    with EventLog(folder, "s") as log:
        events = [log.append("system_note", "kernel", payload, turn=0) for payload in payloads]
        assert log.read_all() == events
    reader = EventLogReader(folder, "s")
    assert reader.read_all() == events
    assert reader.issues == []


# Redaction


def test_every_string_and_key_is_redacted_before_it_is_written(tmp_path):
    seen = []

    def redact(text: str) -> str:
        seen.append(text)
        return text.replace("secret", "***")

    payload = {"text": "a secret", "more": [{"secret": ("secret\n", 1)}, {"secret": 1, "***": 2}]}
    with EventLog(tmp_path / "s", "s", redact=redact) as log:
        event = log.append("user_message", "user", payload, turn=1)
    assert event.payload == {"text": "a ***", "more": [{"***": ["***\n", 1]}, {"***": 1, "***#2": 2}]}
    assert payload["text"] == "a secret"
    assert "secret\n" in seen  # decoded, not as it stands in JSON
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_without_a_word_the_rules_of_redaction_apply_to_payload_and_ids(tmp_path):
    token = fill("ghp_{36}")[0]
    with EventLog(tmp_path / "s", "s") as log:
        event = log.append("user_message", "user", {token: [token]}, turn=1, agent_id=token, parent_event_id=token)
    assert event.payload == {"[REDACTED:github-token]": ["[REDACTED:github-token]"]}
    assert event.agent_id == event.parent_event_id == "[REDACTED:github-token]"
    assert token not in log.path.read_text()


def test_a_failing_redactor_stops_the_append_before_anything_is_made(tmp_path):
    def redact(text: str) -> str:
        raise LookupError(text)

    with (
        EventLog(tmp_path / "s", "s", redact=redact) as log,
        pytest.raises(EventLogError, match=r"redactor failed with LookupError; nothing was appended") as caught,
    ):
        say(log, "a secret")
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


# The end of the file


def test_a_torn_last_line_is_set_aside_and_costs_nothing_else(tmp_path):
    torn = line(3, "three")[:90]
    folder = write_log(tmp_path / SESSION, line(1, "one") + line(2, "two") + torn)
    before = (folder / "events.jsonl").read_bytes()
    with EventLog(folder, SESSION, now=lambda: TIME) as log:
        assert texts(log) == ["one", "two"]
        assert [(issue.line, issue.reason.split(";")[0]) for issue in log.issues] == [(3, "torn last line")]
        assert (folder / "events.jsonl").read_bytes() == before
        assert sorted(path.name for path in folder.iterdir()) == ["events.jsonl"]
        assert say(log, "next").seq == 3
        assert log.issues == []
    reader = EventLogReader(folder, SESSION)
    assert texts(reader) == ["one", "two", "next"]
    assert seqs(reader) == [1, 2, 3]
    (aside,) = reader.quarantined()
    assert (aside.line, aside.text, aside.recorded_at) == (3, torn.decode(), TIME)
    assert aside.reason.startswith("torn last line; not JSON")


def test_a_whole_last_record_without_its_newline_is_a_record(tmp_path):
    folder = write_log(tmp_path / SESSION, line(1, "one") + line(2, "two").rstrip())
    with EventLog(folder, SESSION) as log:
        assert texts(log) == ["one", "two"]
        assert log.issues == []
        assert say(log, "next").seq == 3
        assert say(log, "and on").seq == 4
        assert texts(log) == ["one", "two", "next", "and on"]
        assert log.quarantined() == []
    assert seqs(EventLogReader(folder, SESSION)) == [1, 2, 3, 4]


def test_a_last_line_cut_at_any_byte_costs_at_most_that_record(tmp_path):
    whole = line(2, "two \u00e9")
    for cut in range(len(whole) + 1):
        folder = write_log(tmp_path / str(cut), line(1, "one") + whole[:cut])
        with EventLog(folder, SESSION) as log:
            say(log, "next")
        kept = cut >= len(whole) - 1
        assert texts(EventLogReader(folder, SESSION)) == (["one", "two \u00e9", "next"] if kept else ["one", "next"])
        assert seqs(log) == list(range(1, 4 if kept else 3))
        assert len(log.quarantined()) == (0 < cut < len(whole) - 1)


@pytest.mark.parametrize(
    ("tail", "as_text"),
    [
        (b"\0" * 4096, "\0" * 4096),  # what a power loss leaves of a record whose length reached the disk
        (b'{"event_id":"\xff\xfe', None),
        (b'{"some":"other record"}', '{"some":"other record"}'),
        (b'{"event_id":"secr', '{"event_id":"secr'),
        (b'{"payload":"secret', '{"payload":"***'),
        (b'{"\xff":"secret', '{"\ufffd":"***'),
    ],
)
def test_what_is_set_aside_is_kept_whole_but_redacted(tmp_path, tail, as_text):
    folder = write_log(tmp_path / SESSION, line(1, "one") + tail)
    with EventLog(folder, SESSION, redact=lambda text: text.replace("secret", "***")) as log:
        assert say(log, "next").seq == 2
    (aside,) = log.quarantined()
    assert aside.text == as_text
    assert (aside.base64 is None) == (as_text is not None)
    assert (folder / "events.jsonl").read_bytes().startswith(line(1, "one") + b'{"event_id"')


def test_a_second_torn_line_goes_below_the_first(tmp_path):
    folder = write_log(tmp_path / SESSION, line(1, "one") + b'{"torn')
    for number in (2, 3):
        with EventLog(folder, SESSION) as log:
            assert say(log, "next").seq == number
        with (folder / "events.jsonl").open("ab") as file:
            file.write(b'{"torn again')
    with EventLog(folder, SESSION) as log:
        say(log, "last")
    assert [aside.line for aside in log.quarantined()] == [2, 3, 4]


def test_a_bad_line_in_the_middle_stays_and_numbering_goes_on(tmp_path):
    folder = write_log(tmp_path / SESSION, line(1, "one") + b"not json\n" + line(2, "two"))
    with EventLog(folder, SESSION) as log:
        assert say(log, "next").seq == 3
    assert texts(log) == ["one", "two", "next"]
    assert [(issue.line, issue.kept) for issue in log.issues] == [(2, False)]
    assert b"not json\n" in (folder / "events.jsonl").read_bytes()


def test_a_log_of_another_session_is_not_appended_to(tmp_path):
    folder = write_log(tmp_path / "s", line(1, "one", session_id="S"))
    with EventLog(folder, "s") as log:
        with pytest.raises(EventLogError, match="is the log of session 'S', not of 's'"):
            say(log, "next")
        with EventLog(folder, "S") as theirs:  # the lock is free again
            assert say(theirs, "next").seq == 2


def test_order_is_that_of_the_lines_when_the_clock_goes_back(tmp_path):
    times = [10, 12, 5, 5, 13]
    ids = [None, None, "01KJPZZZZZZZZZZZZZZZZZZZZZ", None, None]
    words = ["one", "two", "three", "four", "five"]
    data = b"".join(
        line(seq, word, event_id=event_id, at=TIME.replace(second=second))
        for seq, (word, event_id, second) in enumerate(zip(words, ids, times, strict=True), start=1)
    )
    folder = write_log(tmp_path / SESSION, data)
    hour_back = TIME - timedelta(hours=1)
    with EventLog(folder, SESSION, now=lambda: hour_back) as log:
        assert log.last_event().payload == {"text": "five"}
        appended = say(log, "six")
    assert (appended.seq, appended.occurred_at) == (6, hour_back)
    assert texts(log) == [*words, "six"]
    assert [event.occurred_at.second for event in log.read_last(6)[:5]] == times
    assert log.last_event() == appended
    assert log.issues == []


# A disk that fails


def test_a_full_disk_loses_only_the_event_that_was_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python keeps what it could write of a module
    with EventLog(tmp_path / "s", "s") as log:
        say(log, "one")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = log.path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, limits[1]))  # a part of the record fits
        try:
            with pytest.raises(EventLogError, match=r"File too large\. The event is not in the log"):
                say(log, "two")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert log.path.stat().st_size == size
        assert texts(log) == texts(EventLogReader(tmp_path / "s", "s")) == ["one"]
        assert say(log, "three").seq == 2
    reader = EventLogReader(tmp_path / "s", "s")
    assert (texts(reader), seqs(reader), reader.issues, reader.quarantined()) == (["one", "three"], [1, 2], [], [])


@pytest.mark.parametrize("also_truncate", [False, True])
def test_a_failed_sync_is_no_acknowledgement(tmp_path, monkeypatch, also_truncate):
    def fail(*_):
        raise OSError(5, "Input/output error")

    with EventLog(tmp_path / "s", "s") as log:
        say(log, "one")
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            if also_truncate:
                patch.setattr(os, "ftruncate", fail)
            with pytest.raises(EventLogError, match="Input/output error"):
                say(log, "two")
        assert say(log, "three").seq == (3 if also_truncate else 2)
    # Where the record could not be taken back either it stays, whole: never acknowledged, yet never doubled.
    assert texts(log) == (["one", "two", "three"] if also_truncate else ["one", "three"])
    assert texts(EventLogReader(tmp_path / "s", "s")) == texts(log)


def test_an_interrupt_in_the_middle_of_a_write_is_taken_back(tmp_path, monkeypatch):
    write = os.write

    def interrupted(fd, data):
        write(fd, data[:20])
        raise KeyboardInterrupt

    with EventLog(tmp_path / "s", "s") as log:
        say(log, "one")
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                say(log, "two")
        say(log, "three")
    assert (texts(log), log.quarantined()) == (["one", "three"], [])


def test_when_nothing_can_be_set_aside_the_torn_line_stays(tmp_path):
    folder = write_log(tmp_path / SESSION, line(1, "one") + b'{"torn')
    before = (folder / "events.jsonl").read_bytes()
    (folder / "quarantine.jsonl").mkdir()
    with EventLog(folder, SESSION) as log:
        with pytest.raises(EventLogError, match="cannot set the torn last line"):
            say(log, "next")
        assert (folder / "events.jsonl").read_bytes() == before
        (folder / "quarantine.jsonl").rmdir()
        assert say(log, "next").seq == 2


def test_a_log_that_cannot_be_opened_leaves_no_lock(tmp_path):
    folder = tmp_path / "s"
    (folder / "events.jsonl").mkdir(parents=True)
    with EventLog(folder, "s") as log:
        with pytest.raises(EventLogError, match=r"cannot open .*events.jsonl for appending: Is a directory"):
            say(log, "one")
        (folder / "events.jsonl").rmdir()
        with EventLog(folder, "s") as other:
            assert say(other, "one").seq == 1
    (tmp_path / "file").touch()
    with EventLog(tmp_path / "file" / "s", "s") as log, pytest.raises(EventLogError, match="cannot open"):
        say(log, "one")


def test_a_log_removed_while_open_is_not_written_to_unseen(tmp_path):
    with EventLog(tmp_path / "s", "s") as log:
        say(log, "one")
        log.path.unlink()
        with pytest.raises(EventLogError, match="removed or replaced while open"):
            say(log, "two")
        log.close()
        assert say(log, "anew").seq == 1


def test_bytes_that_another_program_adds_are_seen_before_the_next_append(tmp_path):
    with EventLog(tmp_path / SESSION, SESSION) as log:
        say(log, "one")
        with log.path.open("ab") as file:
            file.write(line(2, "two") + b'{"torn')
        assert say(log, "three").seq == 3
    assert (texts(log), len(log.quarantined())) == (["one", "two", "three"], 1)


# One writer


def test_a_second_writer_is_refused_by_name_and_readers_are_not(tmp_path):
    with EventLog(tmp_path / "s", "s") as first, EventLog(tmp_path / "s", "s") as second:
        say(first, "one")
        with pytest.raises(EventLogError, match=f"cannot append .* process {os.getpid()} is its writer"):
            say(second, "two")
        assert texts(second) == ["one"]
        first.close()
        assert say(second, "two").seq == 2
        assert texts(first) == ["one", "two"]


def test_a_writer_that_was_never_closed_frees_the_log_when_forgotten(tmp_path):
    say(EventLog(tmp_path / "s", "s"), "one")
    with EventLog(tmp_path / "s", "s") as log:
        assert say(log, "two").seq == 2


def test_threads_may_share_a_log(tmp_path):
    with EventLog(tmp_path / "s", "s") as log:
        threads = [
            threading.Thread(target=lambda name=name: [say(log, f"{name}-{n}") for n in range(20)]) for name in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seqs(EventLogReader(tmp_path / "s", "s")) == list(range(1, 81))
    assert len(set(texts(log))) == 80


APPEND_UNTIL_KILLED = """
import sys
from pathlib import Path
from workbench.store.eventlog import EventLog
log = EventLog(Path(sys.argv[1]), "s")
while True:
    event = log.append("system_note", "kernel", {"type": "tick", "text": "x" * 3000}, turn=0)
    print(event.seq, flush=True)
"""


def start_appending(folder: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", APPEND_UNTIL_KILLED, str(folder)], stdout=subprocess.PIPE)


def kill(process: subprocess.Popen) -> bytes:
    process.send_signal(signal.SIGKILL)
    return process.communicate()[0]


def kill_rounds(folder: Path, rounds: int) -> None:
    chance = random.Random(7)
    acknowledged = 0
    for _ in range(rounds):
        process = start_appending(folder)
        first = process.stdout.readline()
        time.sleep(chance.uniform(0, 0.06))
        printed = (first + kill(process)).split(b"\n")[:-1]
        assert int(printed[0]) > acknowledged
        acknowledged = int(printed[-1])
        found = [event.seq for event in EventLogReader(folder, "s").read_all()]
        assert found == list(range(1, len(found) + 1))
        assert acknowledged <= len(found) <= acknowledged + 1
    assert EventLogReader(folder, "s").issues == []


def test_twenty_kills_lose_no_acknowledged_event(tmp_path):
    kill_rounds(tmp_path / "s", 20)


@pytest.mark.slow
def test_two_hundred_kills_lose_no_acknowledged_event(tmp_path):
    kill_rounds(tmp_path / "s", 200)


def test_a_killed_writer_frees_the_log(tmp_path):
    process = start_appending(tmp_path / "s")
    try:
        process.stdout.readline()
        with (
            EventLog(tmp_path / "s", "s") as log,
            pytest.raises(EventLogError, match=f"process {process.pid} is its writer"),
        ):
            say(log, "too early")
    finally:
        kill(process)
    with EventLog(tmp_path / "s", "s") as log:
        seq = say(log, "now").seq
        assert seqs(log) == list(range(1, seq + 1))


def test_a_fork_cannot_append_through_its_parents_log(tmp_path):
    code = """
import os, sys
from pathlib import Path
from workbench.errors import EventLogError
from workbench.store.eventlog import EventLog
log = EventLog(Path(sys.argv[1]), "s")
log.append("system_note", "kernel", {"n": 1}, turn=0)
child = os.fork()
if child == 0:
    try:
        log.append("system_note", "kernel", {"n": 2}, turn=0)
    except EventLogError as error:
        log.close()
        os._exit(0 if "a fork of it must open its own log" in str(error) else 2)
    os._exit(1)
status = os.waitpid(child, 0)[1]
log.append("system_note", "kernel", {"n": 3}, turn=0)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True)
    assert [event.payload["n"] for event in EventLogReader(tmp_path / "s", "s").read_all()] == [1, 3]
