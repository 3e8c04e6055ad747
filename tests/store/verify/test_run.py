"""The whole verification: what is no problem, what is seen twice, and repairs."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import sound_home
from killing import command
from made_sessions import grow_session, session_id, write_sessions

import workbench as wb
from workbench.reports import doctor
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.vectors import VectorDatabase, vector_schema, vector_table_name
from workbench.store.verify import run
from workbench.store.verify.problem import Problem


def test_a_home_that_was_used_in_every_way_has_no_problem(tmp_path):
    """Growing sessions, a rewritten source, a bad line, labels, our own log, compaction, maintenance."""
    home = sound_home.build(tmp_path)
    sound_home.append(home, 3)
    bench = wb.open(home, store={"compact_above_files": 1, "file_retention_days": 0.0})
    bench.land_logs(wait_seconds=60)
    assert bench.verify().ok
    bench.maintain()
    grow_session(tmp_path / "agent", 1, 2, 4)
    bench.ingest(tmp_path / "agent")
    bench.label(session_id(1), arm="b")
    found = bench.verify()
    assert (found.ok, found.problems, found.repaired) == (True, [], [])


def test_an_empty_home_has_no_problem(tmp_path):
    assert wb.open(tmp_path / "home").verify().problems == []


def test_an_import_that_is_killed_and_not_completed_is_no_problem_nor_is_what_maintenance_leaves_of_it(tmp_path):
    files, home = tmp_path / "files", tmp_path / "home"
    write_sessions(files, 12, 4)
    wb.open(home).ingest(files / "projects" / "-home-dev-project0")
    before = len(list((home / "archive").iterdir()))
    process = subprocess.Popen(command(files, home, small_landings=True), stdout=subprocess.DEVNULL)
    while len(list((home / "archive").iterdir())) == before and process.poll() is None:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert (home / "landing.unfinished").exists()
    bench = wb.open(home)
    assert bench.verify().problems == []
    bench.maintain()
    assert bench.verify().problems == []
    bench.ingest(files)
    bench.maintain()
    assert not (home / "landing.unfinished").exists()
    assert bench.verify().problems == []
    assert bench.sql("select count(*) n from sessions")["n"].item() == 12


def test_what_is_not_there_at_a_second_look_was_on_its_way(tmp_path, monkeypatch):
    both, once = Problem("a", "x", "first", "r"), Problem("b", "y", "", "r")
    looks = iter([[both, once], [Problem("a", "x", "second", "r"), Problem("c", "z", "", "r")]])
    monkeypatch.setattr(run, "look", lambda *_: next(looks))
    assert run.check(Lake(Home.open(tmp_path))).problems == [both]


def test_verify_finds_nothing_while_imports_land(tmp_path):
    """Sessions grow and land in another process, over and over, while this one verifies."""
    home = tmp_path / "home"
    write_sessions(tmp_path / "files", 3, 2)
    wb.open(home).ingest(tmp_path / "files")
    code = f"""
import sys, time
sys.path.insert(0, {str(Path(sound_home.__file__).parent)!r})
from pathlib import Path
from made_sessions import grow_session
import workbench as wb
from workbench.reports import doctor
bench, files = wb.open({str(home)!r}), Path({str(tmp_path / "files")!r})
for exchange in range(6, 12):
    for number in range(3):
        grow_session(files, number, exchange, exchange + 1)
    bench.ingest(files)
"""
    importer = subprocess.Popen([sys.executable, "-c", code])
    rounds = 0
    while importer.poll() is None or rounds == 0:
        assert wb.open(home).verify().problems == []
        rounds += 1
    assert importer.returncode == 0


def test_a_temporary_file_is_told_after_a_day_and_removed(home, problems, repair):
    young, old = home / "archive" / ".aa.json.abcd1234", home / "archive" / ".bb.zst.abcd_234"
    for path in (young, old):
        path.write_bytes(b"half")
    day = 86_400
    os.utime(old, (time.time() - day - 60,) * 2)
    assert problems() == [("temporary_file", "archive/.bb.zst.abcd_234")]
    done = repair()
    assert ([p.what for p in done.repaired], done.problems) == (["temporary_file"], [])
    assert (young.exists(), old.exists()) == (True, False)


def test_a_vector_without_its_text_is_told_and_maintenance_optimises_the_index(tmp_path):
    bench = wb.open(tmp_path / "home")
    database = VectorDatabase(bench.home.vectors)
    columns = [pa.field("chunk_id", pa.string()), pa.field("content_hash", pa.string())]
    chunks = database.create("texts", pa.schema(columns))
    vectors = database.create(vector_table_name("texts", "m"), vector_schema(columns, "m", 2))
    for number in range(4):
        row = {"chunk_id": f"c{number}", "content_hash": f"h{number}"}
        chunks.add([row])
        vectors.add([{**row, "vector": [1.0, float(number)]}])
    assert bench.verify().problems == []
    chunks.delete("chunk_id in ('c0', 'c1')")
    (problem,) = bench.verify().problems
    assert (problem.what, problem.where) == ("search_index", f"vectors/{vector_table_name('texts', 'm')}")
    assert problem.detail.startswith("text_gone, 2 rows")
    vectors.delete("chunk_id in ('c0', 'c1')")
    dry = bench.maintain(dry_run=True)
    assert (dry.changes, [item.step for item in dry.left_out]) == ([], ["search index"])
    (change,) = wb.open(bench.home.root, store={"file_retention_days": 0.0}).maintain().changes
    assert (change.step, change.where, change.files > 0) == ("search index", "vectors", True)
    assert bench.verify().problems == []


def test_every_kind_of_problem_and_every_check_is_documented():
    root = Path(run.__file__).parents[3]
    sources = "".join(path.read_text() for path in (root / "workbench" / "store" / "verify").glob("*.py"))
    kinds = set(re.findall(r'(?:Problem|Question)\(\s*"(\w+)"', sources))
    kinds |= set(re.findall(r'return "(\w+)", f?"', sources))
    documented = set(re.findall(r"`(\w+)`", (root / "docs" / "care.md").read_text()))
    assert len(kinds) > 25
    assert kinds - documented == set()
    assert {check.__name__.removeprefix("_check_") for check in doctor.CHECKS} - documented == set()
