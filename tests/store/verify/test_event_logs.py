"""Event logs: torn ends, bad lines, lines that are missing."""

import pytest
from sound_home import LIVE, append

from workbench.store.eventlog import EventLog, EventLogReader
from workbench.store.home import Home
from workbench.store.verify.event_logs import check_logs

WHERE = f"sessions/{LIVE}/events.jsonl"


@pytest.fixture
def log(tmp_path):
    return append(Home.open(tmp_path / "home").root, 4)


def look(log):
    return list(check_logs(Home.open(log.parents[2])))


def told(problems):
    return [(problem.what, problem.where, problem.detail.split(";")[0], problem.repairable) for problem in problems]


def events(log):
    return [event.seq for event in EventLogReader(log.parent, LIVE).read_all()]


def test_whole_logs_have_no_problem(log):
    append(log.parents[2], 2, session="../odd\n")
    assert look(log) == []


def test_a_last_line_without_its_end_that_is_whole_is_no_problem(log):
    log.write_bytes(log.read_bytes()[:-1])
    assert look(log) == []


def test_a_torn_last_line_is_told_and_set_aside(log):
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"event_id":"01')
    (problem,) = look(log)
    assert told([problem]) == [("torn_line", WHERE, "line 5: torn last line", True)]
    problem.mend()
    assert look(log) == []
    assert log.read_bytes() == whole
    assert [each.text for each in EventLogReader(log.parent, LIVE).quarantined()] == ['{"event_id":"01']


def test_a_line_that_is_being_written_is_not_taken_for_a_torn_one(log):
    with EventLog(log.parent, LIVE) as writer:
        writer.append("user_message", "user", {"text": "one more"}, turn=9)
        with log.open("ab") as file:
            file.write(b'{"event_id":"01')
        assert look(log) == []
    assert [problem.what for problem in look(log)] == ["torn_line"]


@pytest.mark.parametrize("bad", [b"garbage", b'{"no": "event"}', b"\x00\x00\x00", b"\xff\xfe"])
def test_bad_lines_are_told_and_set_aside_and_all_others_stay(log, bad):
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], bad + b"\n", lines[1], bad + b"\n", *lines[2:]]))
    (problem,) = look(log)
    assert (problem.what, problem.where, problem.repairable) == ("bad_line", WHERE, True)
    assert problem.detail.startswith("line 2: ")
    assert problem.detail.endswith("; 1 more such lines")
    problem.mend()
    assert look(log) == []
    assert log.read_bytes() == b"".join(lines)
    assert [each.line for each in EventLogReader(log.parent, LIVE).quarantined()] == [2, 4]


def test_a_bad_line_in_the_place_of_an_event_is_told_once_and_then_known(log):
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], b"overwritten\n", *lines[2:]]))
    (problem,) = look(log)
    problem.mend()
    assert look(log) == []
    assert events(log) == [1, 3, 4]


def test_a_line_that_is_missing_is_told(log):
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], *lines[2:]]))
    assert told(look(log)) == [("sequence_gap", WHERE, "line 2: seq 3 follows seq 1", False)]


def test_a_repair_goes_on_where_the_writer_left_off(log):
    log.write_bytes(b"garbage\n" + log.read_bytes() + b"{torn")
    for problem in look(log):
        problem.mend()
    append(log.parents[2], 1)
    assert events(log) == [1, 2, 3, 4, 5]
    assert look(log) == []
