"""Rebuild: whatever was imported, in whatever order, the archive alone gives the same rows."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from command import workbench
from killing import digests
from made_sessions import write_sessions
from transcripts import OTHER, SESSION, call, jsonl, logged, prompt, response, result, sidechain, small_session, text
from views import views

import workbench as wb
from ingest.test_formats_contract import SAMPLES
from workbench.ingest import importer, prepare
from workbench.ingest.derive import session as derive_session
from workbench.ingest.rebuild import Rebuilder
from workbench.store.archive import Archive
from workbench.store.schema import LANDING_ID
from workbench.store.tables import DERIVED, TABLES
from workbench.text.redaction import RULES_VERSION, redact

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("WORKBENCH_DATA") or ROOT.parent / "shared" / "data")
REBUILT = [*(table.name for table in DERIVED), "blobs"]
SECRET = "ghp_" + "".join(random.Random(4).choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=36))
LARGE = "line of output\n" * 2000
"""Long enough to be an artifact."""


def all_rows(bench):
    """Every row of every view; when a source was first archived is among them."""
    times = bench._lake.sql("select source_id, imported_at from sources order by all").rows()
    return views(bench), times


def stored_rows(bench, table):
    """How many rows are stored, those that no view shows included."""
    return bench._lake.stores[table].read([TABLES[table].key[0]])[1].num_rows


def delete_tables(bench):
    for name in REBUILT:
        shutil.rmtree(bench.home.tables / name, ignore_errors=True)


def contents(bench):
    return sorted(path.stem for path in bench.home.archive.glob("*.zst"))


def damage(path):
    """Another content in the place of one."""
    path.write_bytes(zstandard.compress(zstandard.decompress(path.read_bytes()) + b"x"))


def sha256_of(bench, name):
    return bench._lake.sql("select sha256 from sources where path like ?", [f"%{name}"]).item()


def write_samples(folder):
    for sample in SAMPLES:
        path = folder / sample.module / sample.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sample.data)


def large(name, output):
    """A call and its large result."""
    run = response(f"{name}1", f"msg_{name}", call(f"toolu_{name}", command="make"), seconds=6)
    return [run, prompt(f"{name}2", [result(f"toolu_{name}", output)], seconds=7)]


def write_agents(folder):
    """A session with two sub-agents, one of which is told of in another file too, and one that resumes it."""
    lines = small_session()
    main = folder / f"projects/demo/{SESSION}.jsonl"
    (main.parent / SESSION / "subagents").mkdir(parents=True)
    main.write_bytes(jsonl(*lines, *large("big", LARGE), b"broken"))
    for agent in ("a1", "a2"):
        told = [sidechain(prompt(f"{agent}n", "Look.", seconds=1), agent)]
        (main.parent / SESSION / f"subagents/agent-{agent}.jsonl").write_bytes(jsonl(*told))
    (main.parent / f"{OTHER}.jsonl").write_bytes(jsonl(*lines, *small_session(OTHER, "b")))


# -- everything there is ----------------------------------------------------------------------------------------------


def rebuilt_in_two_orders(files, tmp_path):
    """Import files forwards and backwards, delete files and tables, rebuild; what was there must be there."""
    shown = []
    homes = [wb.open(tmp_path / "forwards"), wb.open(tmp_path / "backwards")]
    paths = sorted(path for path in files.rglob("*") if path.is_file())
    homes[0].ingest(files)
    size = -(-len(paths) // 5)
    for first in reversed(range(0, len(paths), size)):
        homes[1].ingest(*paths[first : first + size])
    shutil.rmtree(files)
    for bench in homes:
        before, rows = all_rows(bench), {name: stored_rows(bench, name) for name in REBUILT}
        assert rows["sessions"]
        delete_tables(bench)
        found = bench.rebuild()
        assert (found.errors, found.kept, found.redacted, found.older_rules) == ([], [], [], 0)
        assert (found.sessions, found.sources) == (rows["sessions"], rows["sources"])
        assert all_rows(bench) == before
        assert {name: stored_rows(bench, name) for name in REBUILT} == rows
        shown.append(before[0])
    assert shown[0] == shown[1]
    return homes[0]


def test_every_format_and_sub_agents_come_back(tmp_path):
    write_samples(tmp_path / "files")
    write_agents(tmp_path / "files")
    bench = rebuilt_in_two_orders(tmp_path / "files", tmp_path)
    formats = set(bench._lake.sql("select distinct format from sources")["format"])
    assert len(formats) == 9
    parents = bench._lake.sql(
        "select count(*) from sources s join sources p on p.source_id = s.parent_source_id where s.role = 'subagent'"
    )
    assert parents.item() >= 2
    assert stored_rows(bench, "blobs") >= 1


def test_the_samples_of_the_repository_come_back(tmp_path):
    for folder in ("claude-code/projects", "event-log/sessions"):
        shutil.copytree(ROOT / "datasets" / folder, tmp_path / "files" / folder)
    rebuilt_in_two_orders(tmp_path / "files", tmp_path)


@pytest.mark.skipif(not (DATA / "transcripts").is_dir(), reason="not in this clone: the real data of WORKBENCH_DATA")
def test_real_transcripts_come_back_and_are_redacted_for_good(tmp_path):
    shutil.copytree(DATA / "transcripts", tmp_path / "files", ignore=shutil.ignore_patterns("*.xz"))
    bench = rebuilt_in_two_orders(tmp_path / "files", tmp_path)
    archive = Archive(bench.home.archive)
    for sha256 in archive.names():
        content = archive.read(sha256)
        assert redact(content) is content
        assert archive.manifest(sha256).redaction == RULES_VERSION


# -- what is there stays ----------------------------------------------------------------------------------------------


@pytest.fixture
def imported(bench, tmp_path):
    """A home with the sessions of `write_agents`, its files gone."""
    write_agents(tmp_path / "files")
    bench.ingest(tmp_path / "files")
    shutil.rmtree(tmp_path / "files")
    return bench


def test_without_anything_deleted_all_lands_anew_and_no_row_is_there_twice(imported):
    before = all_rows(imported), {name: stored_rows(imported, name) for name in REBUILT}
    landings = imported._lake.stores["sessions"].read([LANDING_ID])[1]
    found = imported.rebuild()
    assert (found.sessions, found.errors) == (2, [])
    assert (all_rows(imported), {name: stored_rows(imported, name) for name in REBUILT}) == before
    assert imported._lake.stores["sessions"].read([LANDING_ID])[1] != landings


@pytest.mark.parametrize("table", ["sessions", "sources", "events", "artifacts", "blobs"])
def test_one_lost_table_comes_back(imported, table):
    before = all_rows(imported)
    shutil.rmtree(imported.home.tables / table)
    imported.rebuild()
    assert all_rows(imported) == before


def test_a_table_that_cannot_be_read_is_named_with_what_to_do(imported):
    before = all_rows(imported)
    folder = imported.home.tables / "events"
    for file in folder.glob("*.parquet"):
        file.unlink()
    with pytest.raises(wb.WorkbenchError, match=f"move {folder} away, and the same command makes it again"):
        imported.rebuild()
    folder.rename(imported.home.root / "events.away")
    imported.rebuild()
    assert all_rows(imported) == before


def test_what_people_said_is_not_touched(imported):
    imported.label(SESSION, title="Mine", tags=["x"])
    store = imported._lake.stores["session_labels"]
    version, before = store.version(), imported.sql("select * from session_labels").rows()
    delete_tables(imported)
    imported.rebuild()
    assert (store.version(), imported.sql("select * from session_labels").rows()) == (version, before)


def test_the_next_import_opens_no_file_again(bench, write):
    folder = write(f"{SESSION}.jsonl", *small_session()).parent
    bench.ingest(folder)
    delete_tables(bench)
    bench.rebuild()
    found = bench.ingest(folder)
    assert (found.sessions, found.unchanged) == (0, 1)


def test_an_empty_home_has_nothing_to_rebuild(bench):
    assert vars(bench.rebuild()) == vars(bench.rebuild(dry_run=True))
    assert bench.rebuild().sources == 0


def test_code_that_derives_otherwise_gives_other_rows(imported, monkeypatch):
    monkeypatch.setattr(prepare, "DERIVE_VERSION", derive_session.DERIVE_VERSION + 1)
    monkeypatch.setattr(derive_session, "TITLE_LENGTH", 5)
    before = imported.sql("select title from sessions order by session_id")["title"].to_list()
    imported.rebuild()
    after = imported.sql("select title from sessions order by session_id")["title"].to_list()
    assert before == ["Build a.", "Build b."]
    assert all(len(title) <= 5 for title in after)


def test_readers_never_see_half_a_session(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(importer, "LANDING_BYTES", 20_000)
    write_sessions(tmp_path / "files", 5, 6)
    bench.ingest(tmp_path / "files")
    before, looks = digests(bench.home.root), []

    def look(done, total, _):
        assert 0 <= done <= total
        looks.append(digests(bench.home.root))

    Rebuilder(bench._lake, progress=look, batch_bytes=10_000).rebuild()
    assert len(looks) > 8  # six contents read through, then the landings
    assert [each for each in looks if each != before] == []


# -- sources that changed ---------------------------------------------------------------------------------------------


def growing(write, bench):
    """A source that grew, then lost a record, then grew again; and what its session has been told in all."""
    lines = small_session()
    path = write(f"{SESSION}.jsonl", *lines[:2])
    bench.ingest(path)
    for version in (lines, [lines[0], *lines[2:]], [lines[0], *lines[2:], response("a9", "msg_9", text("Really."))]):
        path.write_bytes(jsonl(*version))
        bench.ingest(path)
    return path


def test_a_session_is_the_union_over_the_archived_versions_of_its_source(bench, write):
    path = growing(write, bench)
    before = all_rows(bench)
    assert bench._lake.sql("select len(older_sha256s) from sources").item() == 1
    assert bench._lake.sql("select count(*) from events where kind = 'tool_call'").item() == 1
    path.unlink()
    delete_tables(bench)
    assert bench.rebuild().sessions == 1
    assert all_rows(bench) == before


def test_an_import_that_died_before_it_numbered_the_versions_is_put_right(bench, write, tmp_path, monkeypatch):
    other = wb.open(tmp_path / "other")
    growing(write, other)
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "settle", lambda *_: None)
        growing(write, bench)
    assert len(contents(bench)) > len(contents(other))
    delete_tables(bench)
    bench.rebuild()
    leaving = ("sources.mtime_ns", "sources.inode")
    assert views(bench, *leaving) == views(other, *leaving)
    assert contents(bench) == contents(other)


def test_files_with_one_content_are_two_sources(bench, write):
    write("one/a.jsonl", *small_session())
    folder = write("two/a.jsonl", *small_session()).parents[1]
    bench.ingest(folder)
    before = all_rows(bench)
    delete_tables(bench)
    assert bench.rebuild().sources == 2
    assert all_rows(bench) == before


def test_several_processes_give_the_same(bench, tmp_path):
    write_sessions(tmp_path / "files", 3, 4)
    write_agents(tmp_path / "files")
    bench.ingest(tmp_path / "files")
    before = all_rows(bench)
    delete_tables(bench)
    found = Rebuilder(bench._lake, processes=2, batch_bytes=10_000).rebuild()
    assert (found.sessions, found.errors) == (5, [])
    assert all_rows(bench) == before


# -- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harm", [damage, Path.unlink], ids=["damaged", "missing"])
def test_a_damaged_source_keeps_its_rows_and_is_named_with_a_remedy(imported, harm):
    before = all_rows(imported)
    sha256 = sha256_of(imported, f"{OTHER}.jsonl")
    harm(imported.home.archive / f"{sha256}.zst")
    found = imported.rebuild()
    ((path, reason),) = found.errors
    assert path.endswith(f"{OTHER}.jsonl")
    assert sha256 in reason
    assert f"workbench ingest --rehash {path}" in reason
    assert (found.kept, found.sessions) == ([SESSION, OTHER], 0)  # it tells of both
    assert all_rows(imported) == before


def test_the_rest_is_rebuilt_where_the_rows_are_gone_too(imported):
    before = views(imported)
    (imported.home.archive / f"{sha256_of(imported, 'agent-a1.jsonl')}.zst").unlink()
    delete_tables(imported)
    found = imported.rebuild()
    assert (found.sessions, found.kept, len(found.errors)) == (2, [], 1)
    events = [row for row in views(imported)["turns"] if "Look." in row]
    assert len(events) == len([row for row in before["turns"] if "Look." in row]) - 1
    assert len(views(imported)["sources"]) == len(before["sources"]) - 1


@pytest.mark.parametrize("tables", ["there", "gone"])
def test_the_remedy_works(bench, write, tables):
    path = write(f"{SESSION}.jsonl", *small_session())
    bench.ingest(path)
    before = all_rows(bench)
    content = bench.home.archive / f"{sha256_of(bench, path.name)}.zst"
    damage(content)
    if tables == "gone":
        delete_tables(bench)
    assert len(bench.rebuild().errors) == 1
    assert not content.exists()
    assert [path.name for path in bench.home.root.glob(".aside/*/archive/*")] == [content.name]
    bench.ingest(path, rehash=True)
    assert all_rows(bench) == before
    assert bench.rebuild().errors == []
    assert all_rows(bench) == before


def test_a_damaged_entry_is_named_and_its_source_keeps_its_rows(bench, write):
    path = write(f"{SESSION}.jsonl", *small_session())
    write(f"{OTHER}.jsonl", *small_session(OTHER, "b"))
    bench.ingest(path.parent)
    before = all_rows(bench)
    sha256 = sha256_of(bench, path.name)
    (bench.home.archive / f"{sha256}.json").write_text("{")
    found = bench.rebuild()
    assert {item.path for item in found.errors} == {str(path), sha256}
    assert (found.kept, found.sessions) == ([SESSION], 1)
    assert all_rows(bench) == before
    bench.ingest(path, rehash=True)
    assert (bench.rebuild().errors, views(bench)) == ([], before[0])


def test_a_content_without_an_entry_is_told(imported):
    sha256 = sha256_of(imported, "agent-a1.jsonl")
    delete_tables(imported)
    (imported.home.archive / f"{sha256}.json").unlink()
    found = imported.rebuild()
    assert (found.strays, found.errors, found.sources) == ([sha256], [], 3)


def test_trying_it_out_changes_nothing(imported):
    damage(imported.home.archive / f"{sha256_of(imported, f'{OTHER}.jsonl')}.zst")
    before = {path: path.read_bytes() for path in imported.home.root.rglob("*") if path.is_file()}
    found = imported.rebuild(dry_run=True)
    assert (len(found.errors), found.sources, found.kept, found.sessions) == (1, 3, [SESSION, OTHER], 0)
    assert {path: path.read_bytes() for path in imported.home.root.rglob("*") if path.is_file()} == before


# -- our own logs -----------------------------------------------------------------------------------------------------


@pytest.fixture
def lived(bench):
    """A home with a log of its own, and one of a session that has just begun."""
    for name, lines in ((SESSION, [logged(1), logged(2, "agent_message")]), (OTHER, [])):
        folder = bench.home.sessions / name
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_bytes(jsonl(*lines))
    bench.land_logs()
    return bench


def test_our_own_logs_land_again(lived):
    before = all_rows(lived)
    assert len(before[0]["events"]) == 2
    delete_tables(lived)
    found = lived.rebuild()
    assert (found.sessions, found.errors) == (1, [])
    assert all_rows(lived) == before


def test_a_log_that_is_gone_is_named_and_its_rows_stay(lived):
    before = all_rows(lived)
    shutil.rmtree(lived.home.sessions / SESSION)
    found = lived.rebuild()
    assert [(Path(item.path).parent.name, item.reason.partition(";")[0]) for item in found.errors] == [
        (SESSION, "the log is gone")
    ]
    assert found.kept == [SESSION]
    assert all_rows(lived) == before


# -- redaction --------------------------------------------------------------------------------------------------------


@pytest.fixture
def unredacted(tmp_path):
    """A home into which a secret was imported while redaction was off; in two versions of its source."""
    bench = wb.open(tmp_path / "home", redaction={"enabled": False})
    output = f"export GITHUB_TOKEN={SECRET}\n{LARGE}"
    lines = small_session()
    told = [*large("b", output), prompt("b3", "Go on.", seconds=8)]
    path = tmp_path / f"{SESSION}.jsonl"
    for version in ([*lines, *told], [*lines[1:], *told], [*lines[1:], *told, prompt("b4", f"Use {SECRET}.")]):
        path.write_bytes(jsonl(*version))
        bench.ingest(path)
    path.unlink()
    return bench


def holds_secret(bench):
    """Where the secret is: contents of the archive, and tables."""
    archive = Archive(bench.home.archive)
    found = [sha256 for sha256 in contents(bench) if SECRET.encode() in archive.read(sha256)]
    return found, [name for name, rows in views(bench).items() if SECRET in repr(rows)]


def test_newer_rules_go_over_the_archive_too(unredacted, tmp_path):
    olds, tables = holds_secret(unredacted)
    assert (len(olds), {"events", "tool_calls", "blobs"} <= set(tables)) == (2, True)
    imported_at = all_rows(unredacted)[1]
    bench = wb.open(tmp_path / "home")
    found = bench.rebuild()
    assert (found.errors, found.older_rules, len(found.redacted), found.sessions) == ([], 2, 1, 1)
    assert holds_secret(bench) == ([], [])
    assert not set(olds) & set(contents(bench))
    assert all_rows(bench)[1] == imported_at
    (said,) = bench.sql("select text from turns where text like 'Use %'")["text"]
    assert said.startswith("Use [REDACTED:")
    before = all_rows(bench)
    again = bench.rebuild()
    assert (again.older_rules, again.redacted, all_rows(bench)) == (0, [], before)


def test_newer_rules_are_completed_after_a_kill(unredacted, monkeypatch):
    bench = wb.open(unredacted.home.root)
    with monkeypatch.context() as patch:
        patch.setattr(Rebuilder, "_finish", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            bench.rebuild()
    bench.rebuild()
    assert holds_secret(bench)[0] == []
    assert len(contents(bench)) == 2


def test_with_redaction_off_the_archive_stays_as_it_is(unredacted):
    before, rows = contents(unredacted), all_rows(unredacted)
    delete_tables(unredacted)
    found = unredacted.rebuild()
    assert (found.older_rules, found.redacted, contents(unredacted)) == (0, [], before)
    assert all_rows(unredacted) == rows


# -- kills and the command --------------------------------------------------------------------------------------------


def test_a_killed_rebuild_is_completed_by_the_next(bench, tmp_path):
    write_sessions(tmp_path / "files", 12, 6)
    bench.ingest(tmp_path / "files")
    truth = digests(bench.home.root)
    chance, codes = random.Random(5), Counter()
    for number in range(4):
        if number % 2:
            delete_tables(bench)
        command = [sys.executable, "-c", SMALL_LANDINGS, "ingest", "--rebuild", "--home", str(bench.home.root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(0.5 + chance.random() * 0.8)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        codes[process.returncode] += 1
        rows, errors = digests(bench.home.root)
        assert errors == []
        assert rows.items() <= truth[0].items()
        assert number % 2 or rows == truth[0]
        bench.rebuild()
        assert digests(bench.home.root) == truth
    assert codes[-signal.SIGKILL] >= 2


SMALL_LANDINGS = """
import sys
from workbench.ingest import importer
from workbench.surfaces.cli import main
importer.LANDING_BYTES = 20_000
importer.Importer.__init__.__kwdefaults__["batch_bytes"] = 10_000
sys.argv[0] = "workbench"
main()
"""


def test_the_command_tells_what_it_did(imported, tmp_path):
    damage(imported.home.archive / f"{sha256_of(imported, f'{OTHER}.jsonl')}.zst")
    delete_tables(imported)
    home = ("--home", imported.home.root)
    tried = workbench("ingest", "--rebuild", "--dry-run", *home, cwd=tmp_path)
    assert (tried.code, tried.out.startswith("3 sources can be read; nothing was written")) == (1, True)
    done = workbench("ingest", "--rebuild", "--json", *home, cwd=tmp_path)
    assert done.code == 1
    told = done.json
    assert list(told) == [
        "sources",
        "sessions",
        "events",
        "turns",
        "tool_calls",
        "issues",
        "older_rules",
        "redacted",
        "kept",
        "strays",
        "errors",
        "dry_run",
        "seconds",
    ]
    assert (told["sources"], told["sessions"], told["kept"], told["dry_run"]) == (3, 1, [], False)
    assert list(told["errors"][0]) == ["path", "reason"]
    person = workbench("ingest", "--rebuild", *home, cwd=tmp_path)
    assert person.out.startswith("landed 0 sessions anew from 3 sources")  # it is there now, and stays
    assert f"1 sessions keep the rows they had:\n  {SESSION}" in person.err
    assert "could not be read" in person.err


@pytest.mark.parametrize("arguments", [["somewhere"], ["--rehash"]])
def test_the_command_refuses_what_a_rebuild_does_not_take(tmp_path, arguments):
    done = workbench("ingest", "--rebuild", *arguments, "--home", tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "takes neither paths nor --rehash" in done.err
    assert workbench("ingest", "--dry-run", cwd=tmp_path).code == 2
