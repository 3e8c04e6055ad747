"""`workbench forget` and `ingest --again`: what they ask, print and exit with."""

import io
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import pytest
from command import WORKBENCH, environment
from in_process import runner
from transcripts import OTHER, SESSION, jsonl, small_session

import workbench as wb

ESCAPES = "\x1b]0;owned\x07 title"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    root = tmp_path_factory.mktemp("forget")
    (root / "agent").mkdir()
    for session, name in ((SESSION, "a"), (OTHER, "b")):
        (root / "agent" / f"{session}.jsonl").write_bytes(jsonl(*small_session(session, name)))
    bench = wb.open(root / "home")
    bench.ingest(root / "agent")
    return root


@pytest.fixture
def home(filled, tmp_path):
    shutil.copytree(filled / "home", tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    return runner(capsys, monkeypatch, tmp_path)


def sessions(home):
    return sorted(wb.open(home).sessions["session_id"])


def test_json_has_this_shape(run, home, filled):
    expected = {
        "dry_run": True,
        "rows": {
            "sessions": 1,
            "sources": 1,
            "events": 7,
            "turns": 3,
            "turn_records": 1,
            "tool_calls": 1,
            "usage": 2,
        },
        "files": 1,
        "separated": [],
        "reports": [],
        "originals": [str(filled / "agent" / f"{SESSION}.jsonl")],
        "left": [],
        "completed": [],
    }
    found = run("forget", SESSION, "--dry-run", "--json", "--home", home)
    assert found.code == 0
    told = found.json
    (session,) = told.pop("sessions")
    assert told.pop("bytes") > 100
    assert told == expected
    assert sorted(session) == ["agent", "cwd", "session_id", "started_at", "title"]
    assert session["session_id"] == SESSION
    done = run("forget", SESSION, "--yes", "--json", "--home", home).json
    assert (done["dry_run"], done["rows"], sessions(home)) == (False, expected["rows"], [OTHER])


def test_without_a_terminal_it_needs_yes(run, home):
    done = run("forget", SESSION, "--home", home)
    assert (done.code, done.out) == (2, "")
    assert "add --yes" in done.err
    assert sessions(home) == [SESSION, OTHER]


def test_it_tells_a_person_what_went_and_what_stays(run, home, filled):
    done = run("forget", SESSION, "--home", home, "--yes")
    assert (done.code, done.err) == (0, "")
    assert f"{SESSION}  2026-03-02 " in done.out
    assert "1 session with 16 rows are gone (sessions 1, sources 1, events 7," in done.out
    assert "1 file, are not ours, and stay where they are:\n  " + str(filled / "agent" / f"{SESSION}.jsonl") in done.out
    assert "exact snapshots of the tables from before are gone" in done.out


def test_what_is_not_there_and_what_is_not_named(run, home):
    assert run("forget", "zzz", "--yes", "--home", home).code == 3
    assert run("forget", "--matching", "nobody says this", "--yes", "--home", home).code == 3
    done = run("forget", "--yes", "--home", home)
    assert (done.code, "name the sessions" in done.err) == (2, True)
    assert sessions(home) == [SESSION, OTHER]


def test_an_import_tells_of_forgotten_sessions_and_brings_them_back_when_asked(run, home, filled):
    run("forget", SESSION, "--yes", "--home", home)
    done = run("ingest", filled / "agent", "--home", home)
    assert "1 session that had been forgotten left out; --again brings back those under the given paths" in done.out
    assert run("ingest", filled / "agent", "--home", home, "--json").json["forgotten"] == 1
    assert sessions(home) == [OTHER]
    done = run("ingest", filled / "agent", "--again", "--home", home)
    assert "1 session that had been forgotten came back" in done.out
    assert sessions(home) == [SESSION, OTHER]


def on_a_terminal(arguments, answer, folder):
    """Run the command on a pseudo-terminal, answer its question, and return code and all it printed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [WORKBENCH, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment(folder, TERM="dumb"),
    )
    os.close(theirs)
    said, deadline = b"", time.monotonic() + 60
    answered = False
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                said += os.read(ours, 65536)
            except OSError:
                break
        if not answered and b"[y/N]" in said:
            os.write(ours, answer)
            answered = True
        if process.poll() is not None and not select.select([ours], [], [], 0.2)[0]:
            break
    os.close(ours)
    return process.wait(timeout=60), said.decode()


def test_on_a_terminal_it_shows_what_would_go_and_asks(home, tmp_path):
    code, said = on_a_terminal(["forget", SESSION, "--home", home], b"n\n", tmp_path)
    assert code == 1
    assert re.search(r"1 session with 16 rows would go .*Forget 1 session for good\? \[y/N\]", said, re.DOTALL)
    assert "nothing was changed" in said
    assert sessions(home) == [SESSION, OTHER]
    code, said = on_a_terminal(["forget", SESSION, "--home", home], b"y\n", tmp_path)
    assert (code, "are gone" in said) == (0, True)
    assert sessions(home) == [OTHER]


def test_titles_cannot_steer_the_terminal(run, home):
    wb.open(home).label(SESSION, title=ESCAPES)
    for done in (run("forget", SESSION, "--dry-run", "--home", home), run("forget", SESSION, "--yes", "--home", home)):
        assert "\x1b" not in done.out + done.err
