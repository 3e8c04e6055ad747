"""Reading an event log: one bad line hides no other, no byte changes, nothing is parsed twice."""

import json
import os

import pytest

from workbench.store import eventlog_lines
from workbench.store.eventlog import EventLog, EventLogReader


def line(seq: int, *, session_id: str = "s", text: str = "", **fields) -> bytes:
    event = {
        "event_id": f"e{seq}",
        "session_id": session_id,
        "seq": seq,
        "occurred_at": "2026-03-02T09:00:01.5Z",
        "kind": "user_message",
        "actor": "user",
        "turn": 1,
        "parent_event_id": None,
        "payload": {"text": text or str(seq)},
    }
    return json.dumps(event | fields, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


@pytest.fixture
def read(tmp_path):
    def read(data: bytes, **options) -> EventLogReader:
        (tmp_path / "events.jsonl").write_bytes(data)
        return EventLogReader(tmp_path, "s", **options)

    return read


def ids(log: EventLogReader) -> list[str]:
    return [event.event_id for event in log.read_all()]


def issues(log: EventLogReader) -> list[tuple[int, str, bool]]:
    return [(issue.line, issue.reason, issue.kept) for issue in log.issues]


def test_a_log_that_does_not_exist_is_empty_and_stays_so(tmp_path):
    log = EventLogReader(tmp_path / "s", "s")
    assert (log.read_all(), log.last_event(), log.issues, log.quarantined()) == ([], None, [], [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"not json\n", "not JSON: "),
        (b'{"event_id":"e2"\n', "not JSON: "),
        (b"[1]\n", "not an event: Expected `object`, got `array`"),
        (b'{"event_id":"e2"}\n', "not an event: Object missing required field `session_id`"),
        (line("2"), "not an event: Expected `int`, got `str` - at `$.seq`"),
        (line(2, session_id="other"), "an event of session 'other'"),
        (b"\0" * 512 + b"\n", "zero bytes"),
        (b"[" * 5000 + b"]" * 5000 + b"\n", "not JSON: "),
    ],
)
def test_a_bad_line_is_reported_and_hides_no_other(read, bad, reason):
    log = read(line(1) + bad + line(2))
    assert ids(log) == ["e1", "e2"]
    (issue,) = log.issues
    assert (issue.line, issue.kept, issue.file) == (2, False, "events.jsonl")
    assert issue.reason.startswith(reason)
    assert issue.excerpt == bad.decode()[:-1][:120]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + line(1) + line(2),
        line(1) + line(2) + b"\0" * 100,
        line(1) + b"\0" * 100 + line(2),
        line(1).replace(b"\n", b"\r\n") + line(2).replace(b"\n", b"\r\n"),
        line(1) + b"\n  \n\r\n" + line(2),
        line(1) + line(2).rstrip(),
        line(1) + line(2).rstrip() + b"\0" * 8,
        line(1, more=float("nan")) + line(2),
        line(1) + line(2, text="a\u2028b\u0085c"),
        line(1) + line(2, text="\ud800"),
    ],
    ids=["bom", "zero tail", "zero gap", "crlf", "blank", "no lf", "zeros for lf", "nan", "separators", "surrogate"],
)
def test_oddities_cost_no_record(read, data):
    log = read(data)
    assert ids(log) == ["e1", "e2"]
    assert all(reason.startswith("torn last line; zero bytes") for _, reason, _ in issues(log))


def test_what_json_in_utf8_cannot_hold_is_replaced(read):
    odd = line(1).replace(b'"1"', b'"\\ud800 \\ud83d\\ude00 \xed\xa0\x80 \xff","n":[NaN,1e400,-Infinity,2.5,9]')
    assert read(odd).read_all()[0].payload == {
        "text": "\ufffd \U0001f600 \ufffd\ufffd\ufffd \ufffd",
        "n": [None, None, None, 2.5, 9],
    }
    assert read(line(1, text="\ud800")).read_all()[0].payload == {"text": "\ufffd"}
    digits = b"9" * 5000
    assert read(line(1).replace(b'"1"', digits)).read_all()[0].payload == {"text": None}


@pytest.mark.parametrize(
    ("text", "expected", "reasons"),
    [
        ("2026-03-02T11:00:01+02:00", "2026-03-02T09:00:01+00:00", []),
        (None, None, []),
        ("2026-03-02T09:00:01", None, ["time without usable zone"]),
        ("0001-01-01T00:00:00+02:00", None, ["time without usable zone"]),
        ("yesterday", None, ["unreadable time"]),
        (1772442001000, None, ["unreadable time"]),
    ],
)
def test_a_time_that_is_none_costs_the_time_and_not_the_event(read, text, expected, reasons):
    log = read(line(1, occurred_at=text))
    (event,) = log.read_all()
    assert (event.occurred_at and event.occurred_at.isoformat()) == expected
    assert issues(log) == [(1, reason, True) for reason in reasons]
    assert event.time_source == ("unreadable" if reasons else "recorded")


def test_gaps_and_repeats_of_seq_are_reported_and_the_order_is_that_of_the_lines(read):
    log = read(line(1) + line(2) + line(5) + line(5) + line(3) + line(4))
    assert ids(log) == ["e1", "e2", "e5", "e5", "e3", "e4"]
    assert issues(log) == [
        (3, "seq 5 follows seq 2", True),
        (4, "seq 5 follows seq 5", True),
        (5, "seq 3 follows seq 5", True),
    ]
    with EventLog(log.folder, "s") as writer:
        assert writer.append("user_message", "user", {"text": "next"}, turn=1).seq == 6


def test_an_issue_shows_a_line_only_as_redacted(read):
    def fail(text):
        raise ValueError(text)

    (issue,) = read(b"a secret\n", redact=lambda text: text.replace("secret", "***")).issues
    assert issue.excerpt == "a ***"
    (issue,) = read(b"a secret\n", redact=fail).issues
    assert issue.excerpt == "(not shown: the redactor failed)"


@pytest.fixture
def parsed_lines(monkeypatch):
    lines: list[bytes] = []
    parse = eventlog_lines.parse_line
    monkeypatch.setattr(eventlog_lines, "parse_line", lambda line: lines.append(line) or parse(line))
    return lines


def test_each_byte_is_parsed_once(read, parsed_lines):
    log = read(line(1) + line(2))
    assert ids(log) == ["e1", "e2"]
    parsed_lines.clear()
    assert ids(log) == ["e1", "e2"]
    assert parsed_lines == []
    with log.path.open("ab") as file:
        file.write(line(3) + line(4))
    assert ids(log) == ["e1", "e2", "e3", "e4"]
    assert parsed_lines == [line(3)[:-1], line(4)[:-1], b""]


def test_a_writer_does_not_parse_what_it_wrote(tmp_path, parsed_lines):
    with EventLog(tmp_path, "s") as log:
        for number in range(3):
            log.append("user_message", "user", {"text": str(number)}, turn=1)
            assert len(log.read_all()) == number + 1
    assert parsed_lines in ([], [b""])


def test_a_torn_end_that_is_completed_later_becomes_a_record(read):
    log = read(line(1) + line(2)[:40])
    assert ids(log) == ["e1"]
    with log.path.open("ab") as file:
        file.write(line(2)[40:-1])
    assert (ids(log), log.issues) == (["e1", "e2"], [])
    with log.path.open("ab") as file:
        file.write(b"\n" + line(3))
    assert (ids(log), log.issues) == (["e1", "e2", "e3"], [])


@pytest.mark.parametrize(
    "new",
    [line(1), line(2) + line(1), b"", line(2) + line(1) + line(3) * 3],
    ids=["shorter", "as long", "empty", "longer"],
)
@pytest.mark.parametrize("replace", [False, True])
def test_a_file_that_was_rewritten_is_parsed_anew(read, new, replace):
    log = read(line(1) + line(2))
    log.read_all()
    if replace:
        other = log.path.with_suffix(".new")
        other.write_bytes(new)
        other.replace(log.path)
    else:
        log.path.write_bytes(new)
        os.utime(log.path, ns=(1, 1))
    assert ids(log) == ids(EventLogReader(log.folder, "s"))


def test_readers_get_lists_of_their_own(read):
    log = read(line(1) + line(2))
    log.read_all().clear()
    assert ids(log) == ["e1", "e2"]


def test_the_last_events_and_those_of_a_kind(read):
    log = read(line(1) + line(2, kind="context_action", payload={"action": "create", "id": "A"}) + line(3))
    assert [event.seq for event in log.read_last(2)] == [2, 3]
    assert [event.seq for event in log.read_last(9)] == [1, 2, 3]
    assert log.read_last(0) == log.read_last(-1) == []
    assert [event.seq for event in log.replay()] == [2]
    assert [event.seq for event in log.replay({"user_message"})] == [1, 3]
    assert log.last_event().seq == 3


def test_compressed_events_stay_in_the_log_and_leave_the_prompt(read):
    log = read(line(1) + line(2) + line(3))
    (log.folder / "compression_checkpoint.json").write_text('{"compressed_ids":["e2","gone"],"timestamp":1}')
    assert [event.seq for event in log.read_uncompressed()] == [1, 3]
    assert [event.seq for event in log.read_last_uncompressed(1)] == [3]
    assert ids(log) == ["e1", "e2", "e3"]
    assert log.issues == []


@pytest.mark.parametrize("marks", [b"", b"{", b"[]", b'{"compressed_ids":7}', b'{"timestamp":1}', b"\xff"])
def test_corrupt_compression_marks_mark_nothing_and_are_reported(read, marks):
    log = read(line(1) + line(2))
    (log.folder / "compression_checkpoint.json").write_bytes(marks)
    assert [event.seq for event in log.read_uncompressed()] == [1, 2]
    (issue,) = log.issues
    assert (issue.file, issue.line) == ("compression_checkpoint.json", 0)
    assert issue.reason.startswith("ignored, it marks nothing: ")


def test_a_torn_quarantine_hides_no_other_entry(read):
    log = read(line(1))
    entry = b'{"line":4,"reason":"torn","recorded_at":"2026-03-02T09:00:01Z","text":"x"}\n'
    (log.folder / "quarantine.jsonl").write_bytes(entry + b'{"line":5,\n' + entry + b'{"li')
    assert [aside.line for aside in log.quarantined()] == [4, 4]
