"""Whatever is wrong with the files, the disk or the moment: the right records are in, the rest is told with its line.

Each reader has tests of its own for single lines; here whole imports into real homes are looked at.
"""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import pytest
from command import WORKBENCH, environment
from killing import clean_import, digests
from made_sessions import write_session
from transcripts import (
    OTHER,
    SESSION,
    call,
    jsonl,
    picture,
    prompt,
    response,
    result,
    small_session,
    tokens,
)

import workbench as wb
from workbench.errors import StoreError
from workbench.ingest import sources

FIRST, LAST = prompt("w1", "First."), prompt("w9", "Last.", seconds=9)
MEGABYTES = 1_000_000
NOBODY = 65534


def asked(bench: Any, session_id: str = SESSION) -> list[str]:
    """What the prompts of a session say, in order."""
    query = "select text from turns where session_id = ? and role = 'user' order by sequence_number"
    return bench.sql(query, [session_id])["text"].to_list()


def issues(bench: Any) -> list[tuple[int, str]]:
    """Line and kind of every issue."""
    return bench.sql("select line, issue from import_issues order by all").rows()


# -- what stands in a file --------------------------------------------------------------------------------------------

JUNK = bytes(random.Random(5).randrange(256) for _ in range(4000)).replace(b"\n", b"\x00")

FILES: dict[str, tuple[bytes, list[str], list[tuple[int, str]]]] = {
    "a truncated last line": (jsonl(FIRST, LAST)[:-30], ["First."], [(2, "unfinished_line")]),
    "broken JSON in the middle": (
        jsonl(FIRST, b'{"type": "user", "mess', LAST),
        ["First.", "Last."],
        [(2, "bad_json")],
    ),
    "zero bytes at the end": (jsonl(FIRST, LAST) + bytes(512), ["First.", "Last."], []),
    "zero bytes in the middle": (jsonl(FIRST, bytes(512), LAST), ["First.", "Last."], []),
    "zero bytes inside a record": (
        jsonl(FIRST, jsonl(LAST)[:40] + bytes(64), LAST),
        ["First.", "Last."],
        [(2, "bad_json")],
    ),
    "binary junk in the middle": (jsonl(FIRST, JUNK, LAST), ["First.", "Last."], [(2, "bad_json")]),
    "binary junk at the start": (jsonl(JUNK, FIRST, LAST), ["First.", "Last."], [(1, "bad_json")]),
    "Latin-1": (
        jsonl(FIRST, prompt("w2", "Straße.", seconds=1)).replace("ß".encode(), "ß".encode("latin-1")),
        ["First.", "Stra\N{REPLACEMENT CHARACTER}e."],
        [],
    ),
    "UTF-16 of little end": (b"\xff\xfe" + jsonl(FIRST, LAST).decode().encode("utf-16-le"), ["First.", "Last."], []),
    "UTF-16 of big end": (b"\xfe\xff" + jsonl(FIRST, LAST).decode().encode("utf-16-be"), ["First.", "Last."], []),
    "UTF-16 with CRLF": (
        jsonl(FIRST, LAST).decode().replace("\n", "\r\n").encode("utf-16"),
        ["First.", "Last."],
        [],
    ),
    "UTF-16 that breaks off": (
        jsonl(FIRST, LAST).decode().encode("utf-16")[:-61],
        ["First."],
        [(2, "unfinished_line")],
    ),
    "a byte order mark": (b"\xef\xbb\xbf" + jsonl(FIRST, LAST), ["First.", "Last."], []),
    "a byte order mark in the middle": (jsonl(FIRST) + b"\xef\xbb\xbf" + jsonl(LAST), ["First.", "Last."], []),
    "CRLF": (jsonl(FIRST, LAST).replace(b"\n", b"\r\n"), ["First.", "Last."], []),
    "lines of nothing": (b"\n\r\n \n" + jsonl(FIRST) + b"\n\n" + jsonl(LAST) + b"\n", ["First.", "Last."], []),
    "lists, numbers and texts for records": (
        jsonl(FIRST, b"[1]", b"7", b'"x"', b"null", LAST),
        ["First.", "Last."],
        [(line, "not_an_object") for line in (2, 3, 4, 5)],
    ),
    "unknown record types": (
        jsonl(FIRST, {"type": "hologram", "sessionId": SESSION, "beam": 1}, {"sessionId": SESSION}, LAST),
        ["First.", "Last."],
        [(2, "unknown_record"), (3, "unknown_record")],
    ),
    "a message that is nested, absent or of another type": (
        jsonl(
            FIRST,
            prompt("w2", {"type": "text", "text": "as an object"}, seconds=1),
            prompt("w3", "absent", seconds=2, message=...),
            prompt("w4", "a number", seconds=3, message=7),
            LAST,
        ),
        ["First.", "Last."],
        [(2, "odd_field"), (4, "odd_field")],
    ),
    "a clock that goes back": (
        jsonl(FIRST, prompt("w2", "Earlier.", seconds=-7200), LAST),
        ["First.", "Earlier.", "Last."],
        [],
    ),
    "missing times": (
        jsonl(FIRST, prompt("w2", "When?", seconds=None), prompt("w3", "Never.", timestamp="soon"), LAST),
        ["First.", "When?", "Never.", "Last."],
        [],
    ),
    "no time at all": (
        jsonl(prompt("w1", "First.", timestamp=...), prompt("w9", "Last.", timestamp=...)),
        ["First.", "Last."],
        [],
    ),
    "the same record twice": (jsonl(FIRST, FIRST, LAST, FIRST), ["First.", "Last."], []),
}


@pytest.mark.parametrize("case", FILES)
def test_the_right_records_are_in_and_the_rest_is_told(bench, write, case):
    data, texts, found = FILES[case]
    path = write(f"{SESSION}.jsonl")
    path.write_bytes(data)
    write(f"{OTHER}.jsonl", *small_session(OTHER, "b"))
    result_ = bench.ingest(path.parent)
    assert (result_.sessions, result_.skipped, result_.errors) == (2, [], [])
    assert asked(bench) == texts
    assert issues(bench) == found
    assert asked(bench, OTHER) == ["Build b."]
    started, ended, duration = bench.sql(
        "select started_at, ended_at, duration_ms from sessions where session_id = ?", [SESSION]
    ).row(0)
    assert (started is None) == (duration is None) == (case == "no time at all")
    assert started is None or (started <= ended and duration >= 0)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("junk.jsonl", JUNK, "not a transcript of a known format"),
        ("zeros.jsonl", bytes(5000), "not a transcript of a known format"),
        ("picture.jsonl", b"\x89PNG\r\n\x1a\n" + JUNK, "not a transcript of a known format"),
        ("empty.jsonl", b"", "empty file"),
        ("mark.jsonl", b"\xff\xfe", "not a transcript of a known format"),
        ("broken.json", b'{"sessionId": "', "not a transcript of a known format"),
        (
            "broken.traj",
            b'{"trajectory": [',
            (
                "no record names a session; not JSON (Expecting value: line 1 column 17 (char 16)); "
                '16 bytes left out: {"trajectory": ['
            ),
        ),
    ],
)
def test_what_is_no_transcript_is_skipped_by_name_and_hides_nothing(bench, write, name, data, reason):
    path = write(f"{SESSION}.jsonl", FIRST)
    path.with_name(name).write_bytes(data)
    found = bench.ingest(path.parent)
    assert [(Path(item.path).name, item.reason) for item in found.skipped] == [(name, reason)]
    assert (found.errors, asked(bench)) == ([], ["First."])


@pytest.mark.slow
def test_lines_of_fifty_megabytes_are_read_or_told(bench, write):
    block = base64.b64encode(random.Random(3).randbytes(3 * MEGABYTES)) * 13
    lines = jsonl(
        FIRST,
        response("w2", "msg_w", call("tw", "Read"), usage=tokens(5), seconds=1),
        prompt("w3", [result("tw", [picture("HERE")])], seconds=2),
        b'{"broken": "HERE',
        LAST,
    )
    path = write(f"{SESSION}.jsonl")
    path.write_bytes(lines.replace(b"HERE", block))
    assert path.stat().st_size > 2 * 50 * MEGABYTES
    bench.ingest(path)
    assert asked(bench) == ["First.", "Last."]
    assert issues(bench) == [(4, "bad_json")]
    assert bench.sql("select max(length(detail)) from import_issues").item() < 400
    assert bench.sql("select status from tool_calls").item() == "ok"


def test_a_file_that_is_there_twice_counts_once(bench, write):
    lines = [*small_session(), b"broken"]
    first, second = write(f"one/{SESSION}.jsonl", *lines), write(f"two/copy-of-{SESSION}.jsonl", *lines)
    linked = first.with_name("linked.jsonl")
    linked.hardlink_to(first)
    bench.ingest(first.parent.parent)
    assert bench.sql("select count(*) from turns").item() == 3
    assert bench.sql("select sum(output_tokens) from usage").item() == 28
    paths = bench.sql("select path from import_issues join sources using (source_id) order by path")["path"].to_list()
    assert paths == [str(first), str(second)]


def test_sessions_that_share_message_ids_keep_their_turns_and_count_each_call_once(bench, write):
    """A resumed session begins with a copy of the first one, under its own session id."""
    first = small_session()
    copied = [line | {"sessionId": OTHER} for line in first]
    write(f"{SESSION}.jsonl", *first)
    write(f"{OTHER}.jsonl", *copied, prompt("o9", "More.", session=OTHER, seconds=20))
    bench.ingest(write("empty.jsonl").parent)
    assert (asked(bench), asked(bench, OTHER)) == (["Build a."], ["Build a.", "More."])
    assert bench.sql("select count(*) from usage").item() == 4
    assert bench.usage("model")["output_tokens"].to_list() == [28]


# -- files that change while they are read ----------------------------------------------------------------------------

AGENT = """
    import sys, time
    path, *lines = sys.argv[1:]
    with open(path, "ab", buffering=0) as file:
        for line in lines:
            data = line.encode() + b"\\n"
            for part in (data[:37], data[37:]):
                file.write(part)
                time.sleep(0.004)
"""


def test_a_session_that_grows_all_the_while_is_whole_in_the_end(bench, write, tmp_path):
    """An agent writes each line in two parts, while one import follows the other."""
    path = write(f"{SESSION}.jsonl", FIRST)
    lines = [json.dumps(prompt(f"g{number}", f"Step {number}.", seconds=number)) for number in range(1, 150)]
    seen = []
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(AGENT), str(path), *lines]) as agent:
        while agent.poll() is None:
            bench.ingest(path)
            seen.append(len(asked(bench)))
            assert {issue for _, issue in issues(bench)} <= {"unfinished_line"}
    bench.ingest(path)
    assert agent.returncode == 0
    assert seen == sorted(seen)
    assert seen[0] < 150
    assert asked(bench) == ["First.", *(f"Step {number}." for number in range(1, 150))]
    assert issues(bench) == []
    assert digests(bench.home.root)[0] == clean_import(path, tmp_path / "clean")


def test_what_is_written_between_the_look_at_a_file_and_its_reading_is_found_next_time(bench, write, monkeypatch):
    path = write(f"{SESSION}.jsonl", FIRST)
    fstat = os.fstat

    def growing(descriptor):
        about = fstat(descriptor)
        if Path(f"/proc/self/fd/{descriptor}").readlink() == path:
            with path.open("ab") as file:
                file.write(jsonl(LAST))
        return about

    monkeypatch.setattr(sources.os, "fstat", growing)
    bench.ingest(path)
    monkeypatch.undo()
    assert asked(bench) == ["First.", "Last."]
    assert bench.ingest(path).unchanged == 0
    assert bench.ingest(path).unchanged == 1


def test_a_file_that_vanishes_before_it_is_read_is_told(bench, write):
    """The progress of the first batch removes what the next one would read."""
    first, second = write("a.jsonl", FIRST), write("b.jsonl", *small_session(OTHER, "b"))
    third = write("c.jsonl", prompt("c1", "Third.", session="c"))
    from workbench.ingest.importer import Importer

    found = Importer(bench._lake, batch_bytes=1, processes=0, progress=lambda *_: second.unlink(missing_ok=True)).run(
        [first.parent]
    )
    assert [(item.path, item.reason) for item in found.errors] == [(str(second), "No such file or directory")]
    assert (asked(bench), asked(bench, "c")) == (["First."], ["Third."])
    assert third.exists()


# -- what may not be read or written ----------------------------------------------------------------------------------


@pytest.fixture
def foreign():
    """A folder that belongs to somebody else; rights do not bind root, so that root becomes a nobody on request."""
    folder = Path(tempfile.mkdtemp(prefix="workbench-foreign-"))
    folder.chmod(0o755)
    is_root = os.geteuid() == 0

    def give_up():
        if is_root:
            os.seteuid(NOBODY)

    yield folder, give_up
    if is_root:
        os.seteuid(0)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_file_and_a_folder_that_may_not_be_read_are_told_and_the_rest_is_in(foreign):
    folder, give_up = foreign
    home, agent = folder / "home", folder / "agent"
    home.mkdir()
    home.chmod(0o777)
    (agent / "closed").mkdir(parents=True)
    for name, lines in {"a": [FIRST], "b": small_session(OTHER, "b"), "closed/c": [LAST]}.items():
        (agent / f"{name}.jsonl").write_bytes(jsonl(*lines))
    (agent / "x.jsonl").mkdir()
    (agent / "b.jsonl").chmod(0)
    (agent / "closed").chmod(0)
    give_up()
    bench = wb.open(home)
    found = bench.ingest(agent)
    assert [(Path(item.path).name, item.reason) for item in found.errors] == [
        ("closed", "Permission denied"),
        ("b.jsonl", "Permission denied"),
    ]
    assert asked(bench) == ["First."]


def test_a_home_that_may_only_be_read_refuses_the_import_and_answers_as_before(foreign):
    folder, give_up = foreign
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(jsonl(FIRST))
    wb.open(folder / "home").ingest(path)
    path.write_bytes(jsonl(FIRST, LAST))
    before = digests(folder / "home")
    for each in (folder / "home").rglob("*"):
        each.chmod(0o555 if each.is_dir() else 0o444)
    (folder / "home").chmod(0o555)
    give_up()
    with pytest.raises(StoreError, match="Permission denied"):
        wb.open(folder / "home").ingest(path)
    assert asked(wb.open(folder / "home")) == ["First."]
    assert digests(folder / "home") == before


def clean(files, tmp_path):
    return clean_import(files, tmp_path / "clean")


@pytest.fixture
def files(tmp_path):
    """Two sessions, one with a sub-agent's file."""
    folder = tmp_path / "transcripts"
    for number in (2, 3):
        write_session(folder, number, 2)
    return folder


@pytest.mark.parametrize("limit", [2_000, 40_000])
def test_a_full_disk_is_one_line_and_the_same_command_completes_the_import(tmp_path, files, limit):
    """The limit meets the archive, or a table."""
    noise = base64.b64encode(random.Random(1).randbytes(30_000)).decode()
    (files / f"{SESSION}.jsonl").write_bytes(jsonl(*(prompt(f"n{place}", noise[place:]) for place in range(3))))

    def fill_up():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [WORKBENCH, "ingest", str(files), "--home", str(tmp_path / "home")]
    variables = environment(tmp_path, PYTHONDONTWRITEBYTECODE="1")  # Python keeps what it could write of a module
    done = subprocess.run(command, env=variables, preexec_fn=fill_up, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done
    *others, ours = done.stderr.splitlines()
    assert ours.startswith("workbench: ")
    assert "File too large" in ours
    assert not any(line.startswith(("workbench", "Traceback")) for line in others)  # a thread of deltalake speaks too
    assert done.stdout == ""
    if (tmp_path / "home" / "home.json").exists():
        assert digests(tmp_path / "home")[1] == []
    wb.open(tmp_path / "home").ingest(files)
    assert digests(tmp_path / "home")[0] == clean(files, tmp_path)


# -- two at once, and death -------------------------------------------------------------------------------------------


def test_two_imports_at_once_give_what_one_gives(tmp_path, files):
    command = [WORKBENCH, "ingest", str(files), "--home", str(tmp_path / "home"), "--json"]
    options: dict[str, Any] = {"env": environment(tmp_path), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command, **options) for _ in range(2)]
    said = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    told = [json.loads(out) for out, _ in said]
    assert sorted((each["sessions"], each["unchanged"]) for each in told) == [(0, 3), (2, 0)]
    assert digests(tmp_path / "home") == (clean(files, tmp_path), [])


DYING = """
    import os, signal, sys, threading
    from deltalake import DeltaTable
    from workbench.store.delta import DeltaStore
    from workbench.surfaces.cli import main
    left, lock = int(sys.argv.pop(1)), threading.Lock()

    def counted(commit):
        def act(*arguments, **options):
            global left
            done = commit(*arguments, **options)
            with lock:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return done
        return act

    DeltaStore._write = counted(DeltaStore._write)
    DeltaTable.create = counted(DeltaTable.create)
    main()
"""
"""The command line, killed as soon as so many tables were made or commits were acknowledged."""


def killed_after(commits, home, files):
    """Whether an import was killed after so many commits; otherwise it came to its end."""
    command = [sys.executable, "-c", textwrap.dedent(DYING), str(commits), "ingest", str(files), "--home", str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done
    return done.returncode != 0


def check_completion(home, files, expected):
    """No session is there in part; the same command makes it what an import that nobody disturbed gives."""
    found, errors = digests(home)
    assert (errors, [session for session in found if found[session] != expected[session]]) == ([], [])
    wb.open(home).ingest(files)
    assert digests(home) == (expected, [])
    assert wb.open(home).ingest(files).unchanged == 3


@pytest.mark.parametrize("commits", [2, 9])
def test_an_import_killed_after_a_commit_is_completed_by_the_same_command(tmp_path, files, commits):
    expected = clean(files, tmp_path)
    assert killed_after(commits, tmp_path / "home", files)
    check_completion(tmp_path / "home", files, expected)


@pytest.mark.slow
def test_an_import_killed_after_any_commit_is_completed_by_the_same_command(tmp_path, files):
    expected = clean(files, tmp_path)
    commits = 1
    while killed_after(commits, tmp_path / f"home{commits}", files):
        check_completion(tmp_path / f"home{commits}", files, expected)
        commits += 1
    assert commits > 10
