"""Forgetting: nothing of a session is found in any byte of the home, and nothing of any other session changes."""

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from made_sessions import grow_session, session_id, write_sessions
from raw_home import places_of
from transcripts import OTHER, SESSION, call, jsonl, prompt, response, result, small_session, text, tokens

import workbench as wb
from workbench.errors import BadInputError, BusyError, NotFoundError
from workbench.ingest.forgotten import InseparableError
from workbench.ingest.importer import Importer
from workbench.reports.render.manifest import Manifest, write_report
from workbench.store.archive import Archive
from workbench.store.eventlog import EventLog, session_folder
from workbench.store.lake import Lake
from workbench.store.tombstones import read_tombstones

MARKS = ("MARKprompt", "MARKcommand", "MARKresult", "MARKerror", "MARKpath", "MARKtitle", "MARKlabel", "MARKbroken")
SHARED = "the same long result " * 400
OWN_LOG = "01M8Q000000000000000000000"


def secret_lines():
    """A session that says a mark in every place where a text may stand."""
    return [
        prompt("a1", "MARKtitle: MARKprompt", cwd="/srv/MARKpath"),
        response("a2", "msg_a", call("toolu_a", command="MARKcommand"), text("MARKprompt"), usage=tokens(5)),
        prompt("a3", [result("toolu_a", "MARKerror\n" + "MARKresult " * 1000, is_error=True)], seconds=2),
        response("a4", "msg_b", call("toolu_b", "Read", file_path="/srv/MARKpath/x.py"), usage=tokens(6), seconds=3),
        prompt("a5", [result("toolu_b", SHARED)], seconds=4),
        {"type": "MARKprompt-of-no-known-type", "sessionId": SESSION},
    ]


def other_lines():
    """A session that goes on from the first one, repeats it, and holds one long result of it too."""
    own = [
        prompt("b1", "go on, please", session=OTHER, seconds=90),
        response("b2", "msg_c", call("toolu_c", command="make"), usage=tokens(7), session=OTHER, seconds=91),
        prompt("b3", [result("toolu_c", SHARED)], session=OTHER, seconds=92),
    ]
    return [*secret_lines(), b'{"MARKbroken', *own]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A home with both sessions, labels, a report, and what others left behind; copied for each test."""
    root = tmp_path_factory.mktemp("forget")
    files = root / "agent"
    files.mkdir()
    first = files / f"{SESSION}.jsonl"
    first.write_bytes(jsonl(*secret_lines()[:3]))
    bench = wb.open(root / "home")
    bench.ingest(files)
    first.write_bytes(jsonl(*secret_lines()[3:], b'{"MARKbroken'))  # rewritten: the archive keeps both contents
    (files / f"{OTHER}.jsonl").write_bytes(jsonl(*other_lines()))
    bench.ingest(files)
    bench.label(SESSION, title="MARKlabel", tags=["MARKlabel"])
    bench.label(SESSION, title="another")
    bench.label(OTHER, title="stays")
    write_page(root / "home" / "reports" / "sessions.html", None)
    return root


def write_page(path, session_ids):
    """A report, as far as it matters here."""
    about = Manifest("sessions", datetime.now(UTC), {}, {"session_ids": session_ids})
    write_report(path, f"<p>{' '.join(MARKS)}", about)


@pytest.fixture
def place(filled, tmp_path):
    shutil.copytree(filled / "home", tmp_path / "home")
    (tmp_path / "agent").symlink_to(filled / "agent")
    return tmp_path


def told(bench, session):
    """All rows of a session in every table.

    Left out is what a new content of a source changes, and what is told of lines that no session can be credited with.
    """
    sources = "select * exclude (sha256, older_sha256s, session_ids, lines, records, imported_at) from sources"
    sessions = "select * exclude (issues) from sessions"
    tables = ("session_labels", "events", "turns", "turn_records", "tool_calls", "usage", "artifacts")
    queries = {name: f"from {name}" for name in tables} | {"sources": sources, "sessions": sessions}
    connection = bench._lake.connection()
    return {
        name: connection.sql(f"select * from ({query}) where session_id = ? order by all", params=[session]).fetchall()
        for name, query in queries.items()
    }


def test_nothing_of_a_forgotten_session_is_found_in_any_byte_of_the_home(place):
    bench = wb.open(place / "home")
    before = told(bench, OTHER)
    home = bench.home
    (home.archive / ".0123.zst.abcdefgh").write_bytes(b"MARKprompt")
    (home.archive / ("0" * 64 + ".zst")).write_bytes(b"MARKprompt")
    (home.tables / "turns" / "part-of-a-killed-writer.parquet").write_bytes(b"MARKprompt")
    (home.tables / "turns" / "_torn-00000000000000000009.json").write_bytes(b"MARKprompt")
    (home.tables / "turns" / "_delta_log" / "_commit_1.json.tmp").write_bytes(b"MARKprompt")
    aside = home.root / ".aside" / "20260101T000000Z" / "tables" / "turns"
    aside.mkdir(parents=True)
    (aside / "x.json").write_bytes(b"MARKprompt")
    assert {mark for _, mark in places_of(home.root, *MARKS, SESSION)} == {*MARKS, SESSION}

    done = bench.forget(SESSION)

    assert places_of(home.root, *MARKS, SESSION) == []
    assert done.left == []
    assert told(bench, OTHER) == before
    assert bench.sessions["session_id"].to_list() == [OTHER]
    assert bench.sql("select text from blobs")["text"].to_list() == [SHARED]
    assert not (home.root / "forgetting.json").exists()
    assert bench.verify().problems == []


def test_a_dry_run_tells_what_would_go_and_changes_no_byte(place):
    bench = wb.open(place / "home")
    files = {path: path.read_bytes() for path in (place / "home").rglob("*") if path.is_file()}
    found = bench.forget(SESSION, dry_run=True)
    after = {path: path.read_bytes() for path in (place / "home").rglob("*") if path.is_file()}
    assert {path: data for path, data in after.items() if path.suffix != ".lock"} == {
        path: data for path, data in files.items() if path.suffix != ".lock"
    }
    assert found.dry_run
    assert [(s["session_id"], s["title"]) for s in found.sessions] == [(SESSION, "MARKtitle: MARKprompt")]
    assert found.rows == {
        "sessions": 1,
        "session_labels": 2,
        "sources": 1,
        "import_issues": 2,
        "events": 11,
        "turns": 3,
        "turn_records": 1,
        "tool_calls": 2,
        "usage": 2,
        "artifacts": 2,
        "blobs": 1,
    }
    assert found.files == 4  # two contents, a report and its manifest
    agent = (place / "agent").resolve()
    assert found.originals == [str(agent / f"{SESSION}.jsonl"), str(agent / f"{OTHER}.jsonl")]
    assert found.separated == [str(agent / f"{OTHER}.jsonl")]
    assert [Path(path).name for path in found.reports] == ["sessions.html", "sessions.manifest.json"]


def test_a_forgotten_session_stays_away_until_it_is_asked_for(place):
    bench = wb.open(place / "home")
    before = told(bench, SESSION)
    bench.forget(SESSION)
    (stone,) = bench.sql("from forgotten_sessions").to_dicts()
    assert sorted(stone) == ["recorded_at", "recorded_by", "row_id", "session_hash"]
    assert (len(stone["session_hash"]), stone["recorded_by"]) == (64, "user")
    again = bench.ingest(place / "agent")
    assert (again.sessions, again.unchanged, again.forgotten, again.errors, again.skipped) == (0, 1, 1, [], [])
    assert places_of(place / "home", *MARKS, SESSION) == []

    back = bench.ingest(place / "agent", again=True)

    assert (back.sessions, back.forgotten) == (2, 1)
    after = told(bench, SESSION)
    assert after["turns"][-1] == before["turns"][-1]
    assert len(after["tool_calls"]) == 2
    assert after["session_labels"] == []  # of these there is no source
    assert bench.ingest(place / "agent").forgotten == 0
    assert read_tombstones(Lake(bench.home)).hashes == frozenset()


def test_a_shared_source_that_grows_after_a_forget_is_taken_without_the_forgotten_session(tmp_path):
    agent = tmp_path / "grown"
    agent.mkdir()
    shared = agent / f"{OTHER}.jsonl"
    shared.write_bytes(jsonl(*other_lines()))
    bench = wb.open(tmp_path / "h")
    bench.ingest(agent)
    bench.forget(SESSION)
    with shared.open("ab") as file:
        file.write(jsonl(prompt("b9", "and more", session=OTHER, seconds=200)))
    done = bench.ingest(agent)
    assert (done.sessions, done.forgotten, done.errors) == (1, 1, [])
    assert bench.sql("select text from turns where role = 'user' order by seq")["text"].to_list() == [
        "go on, please",
        "and more",
    ]
    assert places_of(tmp_path / "h", *MARKS, SESSION) == []
    assert len(Archive(bench.home.archive).names()) == 1  # the content before is a beginning of the new one
    fresh = wb.open(tmp_path / "fresh")
    fresh.ingest(agent)
    assert told(bench, OTHER)["events"] == told(fresh, OTHER)["events"]


def test_a_rebuild_from_the_archive_brings_nothing_back(place):
    bench = wb.open(place / "home")
    bench.forget(SESSION)
    before = told(bench, OTHER)
    assert bench.rebuild().sessions == 1
    assert told(bench, OTHER) == before
    assert places_of(place / "home", *MARKS, SESSION) == []


def test_a_chat_is_taken_out_of_an_aider_history_and_the_others_stay(tmp_path):
    start = "# aider chat started at 2025-03-0{} 10:00:00\n\n> Aider v0.80.0\n\n#### {}\n\n{}\n\n"
    words = [("first", "one\ntwo"), ("MARKprompt", "MARKresult\n\nMARKresult"), ("third", "three")]
    (tmp_path / "a").mkdir()
    history = tmp_path / "a" / ".aider.chat.history.md"
    history.write_text("".join(start.format(day, *said) for day, said in enumerate(words, 1)))
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "a")
    first, second, third = (f"aider-2025030{day}-100000" for day in (1, 2, 3))
    before = told(bench, first), told(bench, third)["events"]
    done = bench.forget(second)
    assert done.separated == [str(history)]
    assert places_of(tmp_path / "home", "MARKprompt", "MARKresult", second) == []
    assert (told(bench, first), told(bench, third)["events"]) == before
    assert bench.ingest(tmp_path / "a").unchanged == 1
    history.write_text(history.read_text() + start.format(4, "fourth", "four"))
    assert bench.ingest(tmp_path / "a").forgotten == 1
    assert bench.sql("from sessions").height == 3
    assert places_of(tmp_path / "home", "MARKprompt", "MARKresult", second) == []


def test_what_cannot_be_taken_apart_is_refused_before_anything_is_changed(tmp_path):
    """Two chats of one second are told apart by their number, which the second would lose."""
    start = "# aider chat started at 2025-03-01 10:00:00\n\n#### {}\n\nanswer\n\n"
    (tmp_path / ".aider.chat.history.md").write_text(start.format("one") + start.format("two"))
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / ".aider.chat.history.md")
    versions = {name: store.version() for name, store in bench._lake.stores.items()}
    with pytest.raises(InseparableError, match=r"aider-20250301-100000-2.*forget these as well, or none"):
        bench.forget("aider-20250301-100000")
    assert {name: store.version() for name, store in bench._lake.stores.items()} == versions
    assert not (tmp_path / "home" / "forgetting.json").exists()
    bench.forget("aider-20250301-100000", "aider-20250301-100000-2")
    assert places_of(tmp_path / "home", "answer", "aider-2025") == []


def test_a_session_run_here_goes_with_its_folder_and_is_not_touched_while_it_runs(tmp_path):
    bench = wb.open(tmp_path / "home")
    folder = session_folder(bench.home.root, OWN_LOG)
    with EventLog(folder, OWN_LOG) as log:
        log.append("user_message", "user", {"text": "MARKprompt"}, turn=1)
        (folder / "state.json").write_text('{"text": "MARKprompt"}')
        assert bench.sessions["session_id"].to_list() == [OWN_LOG]
        with pytest.raises(BusyError, match="is its writer"):
            bench.forget(OWN_LOG)
        assert bench.sessions.height == 1
    assert bench.forget(OWN_LOG).files == 1
    assert not folder.exists()
    assert places_of(tmp_path / "home", "MARKprompt", OWN_LOG) == []
    assert bench.sessions.height == 0


def test_sessions_are_chosen_by_name_project_and_text_and_all_must_hold(tmp_path):
    (tmp_path / "a").mkdir()
    for name, session, cwd in (("one", SESSION, "/srv/app"), ("two", OTHER, "/srv/app2")):
        lines = [line | {"cwd": cwd} for line in small_session(session, name)]
        (tmp_path / "a" / f"{session}.jsonl").write_bytes(jsonl(*lines))
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "a")

    def chosen(*names, **conditions):
        found = bench.forget(*names, dry_run=True, **conditions)
        return [session["session_id"] for session in found.sessions]

    project = bench.sql("select project_id from sessions where session_id = ?", [OTHER])["project_id"][0]
    assert chosen("last") in ([SESSION], [OTHER])
    assert chosen(SESSION, OTHER) == [SESSION, OTHER]
    assert chosen(project="/srv/app") == [SESSION]  # not the folder whose name begins the same
    assert chosen(project="/srv/") == [SESSION, OTHER]
    assert chosen(project=project) == [OTHER]
    assert chosen(matching="make") == [SESSION, OTHER]
    assert chosen(matching="make", project=project) == [OTHER]
    with pytest.raises(NotFoundError, match="no session fits"):
        bench.forget(SESSION, project=project)
    with pytest.raises(NotFoundError, match="no session fits"):
        bench.forget(matching="nobody says this")
    with pytest.raises(BadInputError, match="name the sessions"):
        bench.forget()


DYING = """
import os, signal, sys
import workbench as wb
from workbench.ingest import forget
from workbench.store import forget as store_forget

name, count, home, session = sys.argv[1:]
module = forget if hasattr(forget, name) else store_forget
real, left = getattr(module, name), int(count)

def dying(*given, **named):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return real(*given, **named)

setattr(module, name, dying)
wb.open(home).forget(session)
"""


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("_delete_rows", 5),
        pytest.param("bury", 0, marks=pytest.mark.slow),
        pytest.param("land", 0, marks=pytest.mark.slow),
        pytest.param("_delete_rows", 0, marks=pytest.mark.slow),
        pytest.param("scrub", 0, marks=pytest.mark.slow),
        pytest.param("scrub", 7, marks=pytest.mark.slow),
    ],
)
def test_a_forget_that_is_killed_is_completed_by_the_next_one(place, function, calls):
    bench = wb.open(place / "home")
    before = told(bench, OTHER)
    code = [sys.executable, "-c", DYING, function, str(calls), str(place / "home"), SESSION]
    assert subprocess.run(code, check=False, timeout=60).returncode == -signal.SIGKILL
    if function != "bury":
        bench.ingest(place / "agent")
    done = bench.forget(SESSION) if calls else bench.forget()
    assert done.completed == [SESSION]
    assert places_of(place / "home", *MARKS, SESSION) == []
    assert told(bench, OTHER) == before
    with pytest.raises(NotFoundError, match="no session begins with"):
        bench.forget(SESSION)


def test_readers_and_importers_go_on_while_sessions_are_forgotten(tmp_path):
    write_sessions(tmp_path / "agent", 7, 3)
    wb.open(tmp_path / "home").ingest(tmp_path / "agent")
    stop, errors, asked = threading.Event(), [], []

    def repeat(act):
        bench = wb.open(tmp_path / "home")
        number = 3
        while not stop.is_set():
            try:
                act(bench, number)
            except Exception as error:  # noqa: BLE001
                errors.append(error)
            number += 1

    def read(bench, _):
        counted = """
            select any_value(s.events) - count(e.seq) as lost
            from sessions s left join events e using (session_id) group by session_id
        """
        asked.append(bench.sql(counted)["lost"].unique().to_list() == [0])

    def grow(bench, number):
        grow_session(tmp_path / "agent", 6, number, number + 1)
        bench.ingest(tmp_path / "agent")
        time.sleep(0.1)  # or the lock is hardly ever free

    threads = [threading.Thread(target=repeat, args=(act,)) for act in (read, grow)]
    for thread in threads:
        thread.start()
    bench = wb.open(tmp_path / "home")
    for number in range(2):
        bench.forget(session_id(number))
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(asked) > 3
    assert all(asked)
    assert set(bench.sessions["session_id"]) == {session_id(number) for number in range(2, 7)}


def test_a_report_about_other_sessions_stays(place):
    bench = wb.open(place / "home")
    write_page(place / "home" / "reports" / "other.html", [OTHER])
    bench.forget(SESSION)
    assert sorted(path.name for path in (place / "home" / "reports").iterdir()) == ["other.html", "other.manifest.json"]


def test_rows_recorded_for_other_keys_by_a_writer_without_the_lock_survive(place):
    """Labels are appended without the landing lock; a number that is taken in the log is not taken twice."""
    stale = wb.open(place / "home")
    stale.label(OTHER, title="one")
    wb.open(place / "home").forget(SESSION)
    stale.label(OTHER, title="two")
    stale.label(OTHER, title="three")
    titles = wb.open(place / "home").sql("select title from session_labels_history order by recorded_at")
    assert titles["title"].to_list() == ["stays", "one", "two", "three"]


def test_an_interrupted_forget_is_known_by_its_journal_and_damage_to_that_is_told(place):
    journal = place / "home" / "forgetting.json"
    journal.write_text("{")
    with pytest.raises(wb.WorkbenchError, match=r"forgetting\.json is damaged"):
        wb.open(place / "home").forget(SESSION)
    journal.write_text(json.dumps({"session_ids": [SESSION]}))
    assert wb.open(place / "home").forget().completed == [SESSION]
    assert not journal.exists()


def test_the_search_index_forgets_too(place):
    bench = wb.open(place / "home")
    vectors = place / "home" / "vectors"
    assert SESSION in set(bench.search("MARKprompt", mode="keyword")["session_id"])
    assert {SESSION, "MARKprompt"} <= {mark for _, mark in places_of(vectors, SESSION, "MARKprompt")}
    bench.forget(SESSION)
    assert places_of(vectors, *MARKS, SESSION) == []
    assert set(bench.search("please", mode="keyword")["session_id"]) == {OTHER}


@pytest.mark.slow
def test_processes_that_read_files_leave_forgotten_sessions_out_as_well(place):
    bench = wb.open(place / "home")
    bench.forget(SESSION)
    done = Importer(Lake(bench.home), processes=2, batch_bytes=1).run([place / "agent"], rehash=True)
    assert (done.forgotten, done.errors, done.skipped) == (1, [], [])
    assert places_of(place / "home", *MARKS, SESSION) == []
