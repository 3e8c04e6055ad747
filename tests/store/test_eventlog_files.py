"""The folder of a session: no id leaves it, and what an older version left is merged without loss."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.store.eventlog import EventLog, EventLogReader
from workbench.store.eventlog_files import (
    SessionMeta,
    WriterLock,
    migrate_legacy,
    read_meta,
    session_folder,
    session_of,
    write_meta,
    writer_of,
)
from workbench.store.files import write_atomic

HOME = Path("/home/someone/workbench")


@pytest.mark.parametrize(
    "session_id",
    [
        "s",
        "S1",
        "00000000-0000-4000-8000-000000000061",
        "01KJQ000000000000000000001",
        "ses_a.b-c",
        "x" * 120,
        "console",
    ],
)
def test_a_safe_id_is_its_own_folder_name(session_id):
    assert session_folder(HOME, session_id) == HOME / "sessions" / session_id


@pytest.mark.parametrize(
    "session_id",
    [
        "",
        ".",
        "..",
        "../../etc/passwd",
        "/etc",
        "a/b",
        "a\\b",
        "C:evil",
        "a\0b",
        ".hidden",
        "-rf",
        "~s",
        "ends.",
        "ends ",
        "line\n",
        "CON",
        "nul.txt",
        "com1",
        "LPT9.log",
        "x" * 121,
        "é",
        "half\ud800",
    ],
)
def test_any_other_id_gets_a_safe_name_inside_the_sessions_folder(session_id):
    folder = session_folder(HOME, session_id)
    assert folder.parent == HOME / "sessions"
    assert folder.name.startswith("~")
    assert folder.name.isascii()
    assert len(folder.name) <= 120
    assert not set(folder.name) & set('/\\:*?"<>|\0\n ')


IDS = st.text(st.sampled_from("aA.~/\\-_\0 é"), max_size=6) | st.text()


@given(IDS, IDS)
def test_two_ids_never_share_a_folder(one, other):
    assert (session_folder(HOME, one) == session_folder(HOME, other)) == (one == other)
    assert session_folder(HOME, session_folder(HOME, one).name).parent == HOME / "sessions"


def test_a_hostile_id_is_logged_like_any_other(tmp_path):
    hostile = "../../escape"
    with EventLog(session_folder(tmp_path / "home", hostile), hostile) as log:
        event = log.append("user_message", "user", {"text": "x"}, turn=1)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    assert EventLogReader(session_folder(tmp_path / "home", hostile), hostile).read_all() == [event]


@pytest.mark.parametrize(
    ("log", "legacy", "expected"),
    [
        (None, b"L1\n", b"L1\n"),
        (None, b"", b""),
        (b"", b"L1", b"L1"),
        (b"", b"", b""),
        (b"J1\n", b"", b"J1\n"),
        (b"J1\n", b" \n", b"J1\n"),
        (b"J1\n", b"L1\n", b"J1\nL1\n"),
        (b"J1", b"L1", b"J1\nL1\n"),
        (b"1L1\n", b"L1\n", b"1L1\nL1\n"),
        (b"J1\nL1\n", b"L1\n", b"J1\nL1\n"),  # a crash came between the merge and the deletion
        (b"L1\n", b"L1", b"L1\n"),
    ],
)
def test_a_legacy_log_is_merged_once(tmp_path, log, legacy, expected):
    if log is not None:
        (tmp_path / "events.jsonl").write_bytes(log)
    (tmp_path / "events.log").write_bytes(legacy)
    assert migrate_legacy(tmp_path)
    assert not migrate_legacy(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"events.jsonl": expected}


def test_a_crash_in_the_middle_of_a_merge_loses_nothing(tmp_path, monkeypatch):
    (tmp_path / "events.jsonl").write_bytes(b"J1")
    (tmp_path / "events.log").write_bytes(b"L1\nL2")

    def crash(*_, **__):
        raise KeyboardInterrupt

    for step in ("replace", "unlink"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, step, crash)
            with pytest.raises(KeyboardInterrupt):
                migrate_legacy(tmp_path)
        assert (tmp_path / "events.log").read_bytes() == b"L1\nL2"
        for left in tmp_path.glob(".*.tmp"):
            left.unlink()
    assert migrate_legacy(tmp_path)
    assert (tmp_path / "events.jsonl").read_bytes() == b"J1\nL1\nL2\n"


def test_a_reader_names_a_legacy_log_and_the_first_append_merges_it(tmp_path):
    with EventLog(tmp_path, "s") as log:
        first = log.append("user_message", "user", {"text": "x"}, turn=1)
    (tmp_path / "events.jsonl").rename(tmp_path / "events.log")
    with EventLog(tmp_path, "s") as log:
        assert log.read_all() == []
        assert [(issue.file, issue.reason) for issue in log.issues] == [
            ("events.log", "not merged yet; the next append does it")
        ]
        second = log.append("user_message", "user", {"text": "y"}, turn=2)
        assert log.read_all() == [first, second]
        assert (second.seq, log.issues) == (2, [])


def test_meta_is_written_with_an_indent_and_read_back(tmp_path):
    meta = SessionMeta("s", datetime(2026, 3, 2, 9, tzinfo=UTC), "/home/someone/project")
    write_meta(tmp_path / "s", meta)
    assert (tmp_path / "s" / "meta.json").read_text() == (
        '{\n  "session_id": "s",\n  "started_at": "2026-03-02T09:00:00Z",\n'
        '  "cwd": "/home/someone/project",\n  "agent": "workbench"\n}\n'
    )
    assert read_meta(tmp_path / "s") == meta
    with pytest.raises(BadInputError, match="without a zone"):
        write_meta(tmp_path / "s", SessionMeta("s", datetime(2026, 3, 2), "/"))  # noqa: DTZ001


@pytest.mark.parametrize("text", [None, b"", b"{", b"[]", b'{"session_id":1}', b"\xff"])
def test_meta_that_is_missing_or_bad_is_none(tmp_path, text):
    if text is not None:
        (tmp_path / "meta.json").write_bytes(text)
    assert read_meta(tmp_path) is None


def test_an_atomic_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "meta.json"
    write_atomic(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        with pytest.raises(OSError, match="No space"):
            write_atomic(path, b"new")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"meta.json": b"old"}


# -- who writes, and whose folder it is -------------------------------------------------------------------------------


def test_the_writer_of_a_log_is_known_while_it_writes(tmp_path):
    assert writer_of(tmp_path) is None
    lock = WriterLock.acquire(tmp_path, "s")
    assert writer_of(tmp_path) == str(os.getpid())
    lock.release()
    assert writer_of(tmp_path) is None
    (tmp_path / "events.lock").write_text("123\n")  # of a process that died
    assert writer_of(tmp_path) is None
    assert (tmp_path / "events.lock").read_text() == "123\n"


@pytest.mark.parametrize("session_id", ["plain", "../odd", "x" * 200])
def test_the_session_of_a_folder_is_told_by_meta_else_by_its_events_else_by_its_name(tmp_path, session_id):
    folder = session_folder(tmp_path, session_id)
    folder.mkdir(parents=True)
    assert session_of(folder) == folder.name
    lines = [b"garbage", b'{"session_id": "of another one"}', json.dumps({"session_id": session_id}).encode()]
    (folder / "events.jsonl").write_bytes(b"\n".join(lines))
    assert session_of(folder) == session_id
    write_meta(folder, SessionMeta("told", datetime(2026, 3, 2, tzinfo=UTC), "/srv"))
    assert session_of(folder) == "told"
