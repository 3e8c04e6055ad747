"""Import into a real home: what lands, what stays, and that order, batches and interrupts change nothing."""

from __future__ import annotations

import builtins
import json
import os
import shutil
from itertools import permutations
from pathlib import Path

import pytest
from transcripts import (
    OTHER,
    SESSION,
    call,
    jsonl,
    logged,
    moment,
    nested,
    prompt,
    response,
    result,
    sidechain,
    small_session,
    text,
    tokens,
)
from views import views

import workbench as wb
from workbench.errors import StoreError
from workbench.ingest.importer import Importer
from workbench.store.archive import Archive
from workbench.store.tables import DERIVED
from workbench.text.redaction import redact


def value(bench, query, *parameters):
    """The one value of a query."""
    return bench._lake.sql(query, parameters).item()


def texts(bench, session_id=SESSION):
    query = "select text from turns where session_id = ? and text != '' order by sequence_number"
    return bench._lake.sql(query, [session_id])["text"].to_list()


def archived(bench):
    """Every archived content."""
    archive = Archive(bench.home.archive)
    return {sha256: archive.read(sha256) for sha256, _ in archive.entries()}


def repeated_keys(bench):
    """Tables of which a key occurs twice."""
    counted = [
        f"select '{table.name}', count(*) - count(distinct ({', '.join(table.key)})) as twice from {table.name}"
        for table in DERIVED
    ]
    return dict(bench._lake.sql(f"from ({' union all '.join(counted)}) where twice != 0").rows())


def half_landed(bench):
    """Sessions whose row counts other rows than there are."""
    counts = " or ".join(
        f"{name} != (select count(*) from {name} x where x.session_id = s.session_id)"
        for name in ("events", "turns", "tool_calls")
    )
    return bench._lake.sql(f"select session_id from sessions s where {counts}").rows()


def home(tmp_path, name):
    return wb.open(tmp_path / name)


# -- what an import says and does -------------------------------------------------------------------------------------


def test_an_import_tells_what_landed(bench, write):
    write(f"{SESSION}.jsonl", *small_session(), b"broken")
    write(f"{OTHER}.jsonl", *small_session(OTHER, "b"))
    write("README.md", b"# Notes")
    write("empty.jsonl")
    found = bench.ingest(write("nothing.jsonl", {"type": "user", "text": "no session"}).parent)
    assert (found.sessions, found.turns, found.tool_calls, found.issues, found.unchanged) == (2, 6, 2, 1, 0)
    assert found.events == value(bench, "select count(*) from events")
    assert [(Path(item.path).name, item.reason) for item in found.skipped] == [
        ("README.md", "not a transcript of a known format"),
        ("empty.jsonl", "empty file"),
        ("nothing.jsonl", "not a transcript of a known format"),
    ]
    assert found.errors == []
    assert repeated_keys(bench) == {}


def test_an_import_of_the_same_files_opens_none_and_lands_nothing(bench, write, monkeypatch):
    folder = write(f"{SESSION}.jsonl", *small_session()).parent
    write("README.md", b"# Notes")
    first = bench.ingest(folder)
    before = views(bench)
    opened = []
    real = builtins.open
    monkeypatch.setattr(builtins, "open", lambda path, *rest, **more: opened.append(path) or real(path, *rest, **more))
    again = bench.ingest(folder)
    assert (again.sessions, again.events, again.turns, again.tool_calls, again.issues) == (0, 0, 0, 0, 0)
    assert (again.unchanged, again.skipped) == (1, first.skipped)
    assert [path for path in opened if str(path).endswith(f"{SESSION}.jsonl")] == []
    assert views(bench) == before


def test_a_source_is_described(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session(), b"broken")
    write(f"{SESSION}/subagents/agent-a1.jsonl", sidechain(prompt("n1", "Look.", seconds=1)))
    bench.ingest(path.parent)
    rows = bench._lake.sql("select * from sources order by role").to_dicts()
    main, agent = rows
    about = path.stat()
    assert (main["path"], main["format"], main["role"]) == (str(path), "claude-code", "main")
    assert (main["size_bytes"], main["mtime_ns"], main["inode"]) == (about.st_size, about.st_mtime_ns, about.st_ino)
    assert (main["lines"], main["records"], main["session_ids"]) == (5, 4, [SESSION])
    assert (agent["role"], agent["parent_source_id"], agent["session_id"]) == ("subagent", main["source_id"], SESSION)
    assert archived(bench) == {row["sha256"]: Path(row["path"]).read_bytes() for row in rows}


# -- files that change ------------------------------------------------------------------------------------------------


def test_a_session_that_grows_keeps_its_ids_and_lands_wholly_again(bench, write):
    lines = small_session()
    path = write(f"{SESSION}.jsonl", *lines[:2])
    bench.ingest(path)
    before = bench._lake.sql("select event_id, seq, payload from events order by seq").rows()
    write(f"{SESSION}.jsonl", *lines)
    found = bench.ingest(path)
    after = bench._lake.sql("select event_id, seq, payload from events order by seq").rows()
    assert after[: len(before)] == before
    assert (found.sessions, found.events) == (1, len(after))
    assert value(bench, "select status from tool_calls") == "ok"
    assert list(archived(bench).values()) == [path.read_bytes()]
    assert repeated_keys(bench) == {}


def test_a_line_that_was_being_written_is_read_when_it_is_whole(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session())
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    bench.ingest(path)
    assert bench._lake.sql("select line, issue from import_issues").rows() == [(4, "unfinished_line")]
    path.write_bytes(whole)
    bench.ingest(path)
    assert value(bench, "select count(*) from import_issues") == 0
    assert texts(bench) == ["Build a.", "Done."]


def test_a_rewritten_file_keeps_what_it_lost(bench, write):
    first, *rest = small_session()
    path = write(f"{SESSION}.jsonl", first, *rest)
    bench.ingest(path)
    write(f"{SESSION}.jsonl", *rest, prompt("a9", "And now?", seconds=9))
    bench.ingest(path)
    assert texts(bench) == ["Build a.", "Done.", "And now?"]
    assert value(bench, "select count(*) from sources") == 1
    assert len(archived(bench)) == 2
    before = views(bench)
    assert bench.ingest(path).unchanged == 1
    bench.ingest(path, rehash=True)
    assert views(bench) == before


def test_a_rewritten_file_that_has_all_again_needs_no_older_content(bench, write):
    lines = small_session()
    path = write(f"{SESSION}.jsonl", *lines)
    bench.ingest(path)
    write(f"{SESSION}.jsonl", *lines[2:])
    bench.ingest(path)
    write(f"{SESSION}.jsonl", *lines, prompt("a9", "And now?", seconds=9))
    bench.ingest(path)
    assert texts(bench) == ["Build a.", "Done.", "And now?"]
    assert path.read_bytes() in archived(bench).values()
    assert repeated_keys(bench) == {}


def test_a_touched_file_changes_no_row_but_its_own(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session())
    bench.ingest(path)
    imported_at = value(bench, "select imported_at from sources")
    before = views(bench, "sources.mtime_ns")
    os.utime(path, ns=(1, 1_700_000_000_000_000_001))
    bench.ingest(path)
    assert views(bench, "sources.mtime_ns") == before
    assert value(bench, "select mtime_ns from sources") == 1_700_000_000_000_000_001
    assert value(bench, "select imported_at from sources") == imported_at
    assert bench.ingest(path).unchanged == 1


def test_only_a_rehash_finds_a_change_that_left_size_time_and_inode_alone(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session())
    about = path.stat()
    bench.ingest(path)
    path.write_bytes(path.read_bytes().replace(b"Build a.", b"Build b."))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert bench.ingest(path).unchanged == 1
    assert bench.ingest(path, rehash=True).sessions == 1
    assert texts(bench)[0] == "Build b."


def test_a_source_that_vanished_keeps_its_rows(bench, write):
    main = write(f"{SESSION}.jsonl", *small_session())
    agent = write(f"{SESSION}/subagents/agent-a1.jsonl", sidechain(prompt("n1", "Look.", seconds=1)))
    bench.ingest(main.parent)
    before = views(bench)
    shutil.rmtree(agent.parent.parent)
    bench.ingest(main.parent)
    assert views(bench) == before
    write(f"{SESSION}.jsonl", *small_session(), prompt("a9", "And now?", seconds=9))
    bench.ingest(main.parent)
    assert texts(bench) == ["Build a.", "Look.", "Done.", "And now?"]
    assert value(bench, "select count(*) from sources") == 2


def test_a_file_emptied_by_its_agent_keeps_its_rows(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session())
    bench.ingest(path)
    before = views(bench)
    write(f"{SESSION}.jsonl")
    assert [item.reason for item in bench.ingest(path).skipped] == ["empty file"]
    assert views(bench) == before


def test_a_file_that_now_tells_of_another_session_keeps_the_first_one(bench, write):
    path = write("current.jsonl", *small_session())
    bench.ingest(path)
    write("current.jsonl", *small_session(OTHER, "b"))
    bench.ingest(path)
    assert (texts(bench), texts(bench, OTHER)) == (["Build a.", "Done."], ["Build b.", "Done."])
    assert repeated_keys(bench) == {}
    assert bench.ingest(path).unchanged == 1
    more = write("more.jsonl", prompt("a9", "And now?", seconds=9))
    bench.ingest(more)
    assert texts(bench) == ["Build a.", "Done.", "And now?"]


@pytest.mark.parametrize("grown", [0, 1, 2])
def test_every_session_is_found_by_its_id_after_one_of_them_grew(bench, write, grown):
    ids = ["a", "m", "z"]
    paths = [write(f"{session_id}.jsonl", *small_session(session_id, session_id)) for session_id in ids]
    bench.ingest(*paths)
    write(f"{ids[grown]}.jsonl", *small_session(ids[grown], ids[grown]), prompt("x9", "More.", session=ids[grown]))
    bench.ingest(*paths)
    assert [len(texts(bench, session_id)) for session_id in ids] == [2 + (each == ids[grown]) for each in ids]


# -- several files of one session -------------------------------------------------------------------------------------


def resumed(folder):
    """A session, one that resumes it and begins with a copy, a sub-agent of the first, and a fourth file."""
    inner = [
        prompt("n1", "Look.", seconds=2),
        response("n2", "msg_n", call("toolu_n", "Read"), usage=tokens(3), seconds=2.5),
        prompt("n3", [result("toolu_n", "seen")], seconds=2.7),
    ]
    main = small_session()
    main[2:2] = [nested(f"p{number}", each, seconds=2.8) for number, each in enumerate(inner[1:])]
    contents = {
        f"{SESSION}.jsonl": main,
        f"{OTHER}.jsonl": [*main[:3], *small_session(OTHER, "b")],
        f"{SESSION}/subagents/agent-a1.jsonl": [*map(sidechain, inner)],
        "z/export.jsonl": small_session("00000000-0000-4000-8000-000000000003", "c"),
    }
    for name, lines in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(jsonl(*lines))
    return [folder / name for name in contents]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Files, and what one import of them all shows."""
    folder = tmp_path_factory.mktemp("resumed")
    files = resumed(folder / "agent")
    bench = home(folder, "expected")
    bench.ingest(files[0].parent)
    assert repeated_keys(bench) == {}
    return files, views(bench)


def test_a_record_belongs_to_the_session_it_names_wherever_it_lies(bench, expected):
    files, _ = expected
    bench.ingest(files[0].parent)
    names = "prompts, responses, tool_calls, sidechain_tool_calls"
    counts = bench._lake.sql(f"select {names} from sessions order by session_id").rows()
    assert counts == [(1, 2, 2, 1), (1, 2, 1, 0), (1, 2, 1, 0)]
    credited = "select role from tool_calls join sources using (source_id) where tool_call_id = 'toolu_n'"
    assert value(bench, credited) == "subagent"


@pytest.mark.parametrize("order", list(permutations(range(4)))[4::9])
def test_files_one_by_one_in_any_order_give_the_same_rows(bench, expected, order):
    files, rows = expected
    for number in order:
        bench.ingest(files[number])
    assert views(bench) == rows


@pytest.mark.parametrize(("batch_bytes", "processes"), [(1, 1), (1, 2)])
def test_any_batches_in_any_number_of_processes_give_the_same_rows(bench, expected, batch_bytes, processes):
    files, rows = expected
    Importer(bench._lake, batch_bytes=batch_bytes, processes=processes).run([files[0].parent])
    assert views(bench) == rows


def test_a_file_at_two_paths_is_two_sources_of_the_same_facts(bench, tmp_path, write):
    one = write(f"one/{SESSION}.jsonl", *small_session())
    two = write(f"two/{SESSION}.jsonl", *small_session())
    bench.ingest(two)
    bench.ingest(one)
    assert texts(bench) == ["Build a.", "Done."]
    assert value(bench, "select count(*) from sources") == 2
    assert len(archived(bench)) == 1
    other = home(tmp_path, "other")
    other.ingest(one.parent.parent)
    assert views(other) == views(bench)


def test_a_subset_that_comes_later_adds_nothing(bench, write):
    origins = [f"{table}.source_id" for table in ("events", "turns", "tool_calls", "usage")]
    facts = ("sessions", "events", "turns", "turn_records", "tool_calls", "usage")
    bench.ingest(write(f"one/{SESSION}.jsonl", *small_session()))
    before = views(bench, "events.source_line", *origins)
    for number in range(1, 4):
        bench.ingest(write(f"{number}/{SESSION}.jsonl", *small_session()[number:]))
    after = views(bench, "events.source_line", *origins)
    assert {name: after[name] for name in facts} == {name: before[name] for name in facts}


# -- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupted_import_leaves_whole_sessions_and_the_same_command_completes_it(
    bench, expected, monkeypatch, processes
):
    files, rows = expected
    monkeypatch.setattr("workbench.ingest.importer.LANDING_BYTES", 1, raising=False)

    def interrupt(done, total, _):
        if done < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Importer(bench._lake, batch_bytes=1, processes=processes, progress=interrupt).run([files[0].parent])
    assert half_landed(bench) == []
    bench.ingest(files[0].parent)
    assert views(bench) == rows


def test_a_progress_callback_is_told_all_bytes(bench, expected):
    files, _ = expected
    told = []
    Importer(bench._lake, batch_bytes=1, progress=lambda *now: told.append(now)).run([files[0].parent])
    total = sum(file.stat().st_size for file in files)
    assert [now[1] for now in told] == [total] * len(told)
    assert [now[0] for now in told] == sorted(now[0] for now in told)
    assert told[-1][0] == total
    assert {Path(now[2]) for now in told} <= set(files)


def test_a_file_that_vanishes_or_may_not_be_read_is_told_and_the_rest_is_in(bench, write, monkeypatch):
    folder = write(f"{SESSION}.jsonl", *small_session()).parent
    gone, closed = write("gone.jsonl", *small_session()), write("closed.jsonl", *small_session())
    real = builtins.open

    def refuse(path, *rest, **more):
        if path == str(closed):
            raise PermissionError(13, "Permission denied", path)
        if path == str(gone):
            gone.unlink()
        return real(path, *rest, **more)

    monkeypatch.setattr(builtins, "open", refuse)
    found = bench.ingest(folder, folder / "nowhere")
    assert [(Path(item.path).name, item.reason) for item in found.errors] == [
        ("nowhere", "No such file or directory"),
        ("closed.jsonl", "Permission denied"),
        ("gone.jsonl", "No such file or directory"),
    ]
    assert texts(bench) == ["Build a.", "Done."]


HARD = b'"x \xff y"'


def test_one_damaged_file_keeps_no_other_out(bench, write):
    damaged = write("damaged.jsonl", *small_session(OTHER, "b"))
    damaged.write_bytes(damaged.read_bytes().replace(b'"make"', HARD).replace(b'"built"', HARD))
    write(f"{SESSION}.jsonl", *small_session())
    bench.ingest(damaged.parent)
    assert (texts(bench), texts(bench, OTHER)) == (["Build a.", "Done."], ["Build b.", "Done."])


@pytest.mark.parametrize(
    "before",
    [
        [prompt("a0", "x" * 100_000)],
        [{"type": "summary", "summary": f"Session {number}", "leafUuid": "z"} for number in range(200)],
        [{"type": "file-history-snapshot", "messageId": "z", "snapshot": {"x": "y" * 200_000}}],
        [b"broken" * 20_000],
    ],
    ids=["a long prompt", "many summaries", "a large snapshot", "a long broken line"],
)
def test_a_session_is_recognised_however_it_begins(bench, write, before):
    found = bench.ingest(write(f"{SESSION}.jsonl", *before, *small_session()))
    assert (found.skipped, found.sessions) == ([], 1)


@pytest.mark.parametrize("first", [logged(1, payload={"text": "x" * 100_000}), b"torn"], ids=["long", "torn"])
def test_a_log_of_our_own_is_recognised_however_it_begins(bench, first):
    folder = bench.home.sessions / SESSION
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(jsonl(first, logged(2), logged(3)))
    assert bench.sql("select count(*) from events").item() >= 2


ODD_IDS = [
    "../../x",
    "/etc/passwd",
    "..",
    ".",
    "a/b\\c",
    "it's; drop table sessions --",
    'say "hi"',
    "%2e%2e",
    "new\nline\ttab",
    "nul\0byte",
    "con",
    "\N{RIGHT-TO-LEFT OVERRIDE}live",
    "会話🙂",
    "x" * 5_000,
    " ",
]


def test_a_session_may_have_any_id(bench, write, tmp_path):
    for number, session_id in enumerate(ODD_IDS):
        write(f"{number}.jsonl", *small_session(session_id, f"n{number}"))
    folder = write(f"{SESSION}.jsonl", *small_session()).parent
    outside = sorted(path for path in tmp_path.rglob("*") if not path.is_relative_to(bench.home.root))
    found = bench.ingest(folder)
    assert (found.sessions, found.skipped, found.errors) == (len(ODD_IDS) + 1, [], [])
    counts = dict(bench._lake.sql("select session_id, count(*) from events group by session_id").rows())
    assert counts == dict.fromkeys([*ODD_IDS, SESSION], 7)
    assert outside == sorted(path for path in tmp_path.rglob("*") if not path.is_relative_to(bench.home.root))
    (folder / "0.jsonl").write_bytes((folder / "0.jsonl").read_bytes() + jsonl(prompt("q", "More.", session="../../x")))
    bench.ingest(folder)
    assert len(texts(bench, "../../x")) == 3
    assert bench.session("../../x")["session"]["prompts"] == 2


def test_a_file_may_have_any_name(bench, write):
    folder = write(f"{SESSION}.jsonl", *small_session()).parent
    strange = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.jsonl"))
    strange.write_bytes(jsonl(*small_session(OTHER, "b")))
    bench.ingest(folder)
    assert (texts(bench), texts(bench, OTHER)) == (["Build a.", "Done."], ["Build b.", "Done."])
    assert bench.ingest(folder).unchanged == 2


def test_a_lost_log_of_our_own_stops_no_import_of_a_copy(bench, write):
    folder = bench.home.sessions / SESSION
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(jsonl(logged(1), logged(2)))
    bench.land_logs()
    shutil.rmtree(folder)
    bench.ingest(write("copy/events.jsonl", logged(1), logged(2), logged(3)))
    assert texts(bench) == ["event 1", "event 2", "event 3"]


# -- the redactor -----------------------------------------------------------------------------------------------------

SECRET = b"hunter2-correct-horse"


@pytest.fixture
def _found_by_workers(monkeypatch):
    """Another process finds the redactors of this file as this one does."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def without_secret(data):
    return data.replace(SECRET, b"REDACTED")


@pytest.mark.usefixtures("_found_by_workers")
@pytest.mark.parametrize("processes", [1, 2])
def test_only_what_comes_out_of_the_redactor_is_written_anywhere(bench, write, processes):
    lines = small_session()
    secret = SECRET.decode()
    path = write(
        f"{SESSION}.jsonl",
        prompt("a0", f"Log in with {secret}"),
        *lines,
        response("a8", "msg_8", call("t8", command=f"login {secret}"), text(secret), seconds=6),
        prompt("a9", [result("t8", f"{secret} is wrong")], toolUseResult={"stdout": secret}, seconds=7),
        {"type": "hologram", "beam": secret, "sessionId": SESSION},
        b'{"broken ' + SECRET,
    )
    Importer(bench._lake, redactor=without_secret, batch_bytes=1, processes=processes).run([path])
    assert [content.count(SECRET) for content in archived(bench).values()] == [0]
    assert secret not in repr(views(bench))
    assert "REDACTED" in repr(views(bench))
    for file in bench.home.root.rglob("*"):
        assert file.is_dir() or SECRET not in file.read_bytes()


def refusing(_):
    raise RuntimeError("a rule is broken")


@pytest.mark.usefixtures("_found_by_workers")
@pytest.mark.parametrize("processes", [1, 2])
def test_a_failing_redactor_stops_the_import_and_nothing_of_the_file_is_written(bench, write, processes):
    path = write(f"{SESSION}.jsonl", *small_session())
    with pytest.raises(Exception, match="a rule is broken"):
        Importer(bench._lake, redactor=refusing, batch_bytes=1, processes=processes).run([path])
    assert archived(bench) == {}
    assert not any(rows for rows in views(bench).values())
    bench.ingest(path)
    assert texts(bench) == ["Build a.", "Done."]


def test_the_redactor_sees_whole_files_once(bench, write):
    seen = []
    path = write(f"{SESSION}.jsonl", *small_session())
    Importer(bench._lake, redactor=lambda data: seen.append(data) or redact(data), processes=1).run([path])
    assert seen == [path.read_bytes()]


# -- the home ---------------------------------------------------------------------------------------------------------


def test_a_second_import_waits_and_says_whom_it_waited_for(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session())
    with bench.home.landing_lock(), pytest.raises(StoreError, match="another import"):
        wb.open(bench.home.root).ingest(path, wait_seconds=0.05)


def test_an_import_looks_the_same_whatever_the_clock_says(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session())
    Importer(bench._lake, now=moment(0)).run([path])
    assert value(bench, "select imported_at from sources") == moment(0)
    assert json.loads(value(bench, "select payload from events where kind = 'tool_call'"))["args"] == {
        "command": "make"
    }
