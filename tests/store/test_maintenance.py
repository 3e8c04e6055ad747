"""Maintenance: what goes, what stays, that a second run does nothing, and that nobody else notices."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
import sound_home
from made_sessions import session_id, write_sessions
from views import views

import workbench as wb
from workbench.errors import BusyError
from workbench.store import maintenance
from workbench.store.archive import Archive, Arrival
from workbench.store.delta import DeltaStore
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.lease import held
from workbench.store.maintenance import STEPS, Change, Step, maintain
from workbench.store.tables import TABLES
from workbench.text.ids import content_hash

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return sound_home.build(tmp_path_factory.mktemp("maintained"))


@pytest.fixture
def home(template, tmp_path):
    return sound_home.copy(template, tmp_path)


def run(home, **settings):
    """Maintenance with everything that a year has made old; returns its changes as (step, where, files)."""
    known = {"retention": 7 * DAY, "compact_above_files": 100, "now": datetime.now(UTC), "wait_seconds": 5}
    return maintain(Lake(Home.open(home)), **known | settings)


def told(result):
    return [(change.step, change.where, change.files) for change in result.changes]


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def make_old(path, by=30 * DAY):
    os.utime(path, ((datetime.now(UTC) - by).timestamp(),) * 2)


def scattered(home, count):
    store = DeltaStore(home / "tables" / "blobs", TABLES["blobs"])
    for number in range(count):
        text = f"text {number}"
        store.append(pa.table({"sha256": [content_hash(text)], "text": [text], "size_bytes": [len(text)]}))
    return store


def test_a_home_at_rest_gives_nothing_to_do(home):
    before = files(home)
    result = run(home)
    assert (result.changes, result.left_out, result.bytes) == ([], [], 0)
    after = files(home)
    assert {name: after[name] for name in before} == before
    assert {name for name in after.keys() ^ before.keys() if not name.endswith(".lock")} == set()


def test_scattered_tables_are_compacted_and_their_old_files_go_after_the_retention(home):
    store = scattered(home, 6)
    before, stored = views(wb.open(home)), {Path(file).name for file in store.snapshot().files}
    assert told(run(home, compact_above_files=5)) == [("compact", "tables/blobs", len(stored))]
    assert len(store.snapshot().files) == 1
    assert stored <= {path.name for path in store.folder.iterdir()}  # a reader may still have them open
    assert run(home).changes == []
    assert told(run(home, retention=timedelta(0), compact_above_files=5))[-1] == ("vacuum", "tables/blobs", len(stored))
    assert {path.name for path in store.folder.glob("*.parquet")} == {Path(f).name for f in store.snapshot().files}
    assert run(home, retention=timedelta(0), compact_above_files=5).changes == []
    assert views(wb.open(home)) == before


def test_a_dry_run_tells_the_same_and_changes_nothing(home):
    store = scattered(home, 6)
    orphan = store.folder / "part-00000-orphan-c000.zstd.parquet"
    orphan.write_bytes(b"x" * 1000)
    temporary = home / "archive" / ".aa.zst.abcdefgh"
    temporary.write_bytes(b"y" * 10)
    for path in (orphan, temporary):
        make_old(path)
    before = files(home)
    dry = run(home, compact_above_files=5, dry_run=True)
    after = files(home)
    assert {name: after[name] for name in before} == before
    wet = run(home, compact_above_files=5)
    assert dry.changes == wet.changes
    assert [(change.step, change.files, change.bytes) for change in wet.changes] == [
        ("compact", 7, 0),
        ("vacuum", 1, 1000),
        ("temporary files", 1, 10),
    ]
    assert (dry.bytes, dry.dry_run, wet.bytes, wet.dry_run) == (1010, True, 1010, False)


@pytest.mark.parametrize("retention", [timedelta(0), 7 * DAY])
def test_files_of_a_writer_that_may_be_at_work_stay_for_a_day_whatever_the_retention(home, retention):
    young, old = (home / "tables" / "turns" / f"part-0000{n}-orphan-c000.zstd.parquet" for n in (1, 2))
    for path in (young, old):
        path.write_bytes(b"x")
    make_old(young, timedelta(hours=20))
    make_old(old)
    run(home, retention=retention)
    assert (young.exists(), old.exists()) == (True, False)


def hidden_rows(home):
    """Append rows of a landing that never came to be shown."""
    store = DeltaStore(home / "tables" / "turns", TABLES["turns"])
    rows = store.read(TABLES["turns"].schema.names)[1].slice(0, 3)
    place = rows.schema.get_field_index("landing_id")
    store.append(rows.set_column(place, "landing_id", pa.array([12345] * 3, pa.int64())))
    return lambda: store.read(["landing_id"])[1].num_rows


def test_rows_that_an_interrupted_import_left_go_and_the_import_is_forgotten(home):
    before, stored = views(wb.open(home)), hidden_rows(home)
    (home / "landing.unfinished").write_text("{}")
    count = stored()
    result = run(home)
    assert [change[:3] for change in result.changes] == [
        ("hidden rows", "tables/turns", "3 rows of 1 landings that an interrupted import left"),
        ("interrupted import", "landing.unfinished", "nothing is left of it"),
    ]
    assert stored() == count - 3
    assert not (home / "landing.unfinished").exists()
    assert views(wb.open(home)) == before


def test_hidden_rows_without_an_interrupted_import_are_damage_and_stay(home):
    stored = hidden_rows(home)
    count = stored()
    assert (run(home).changes, stored()) == ([], count)


def test_an_interrupted_import_is_remembered_while_something_of_it_waits_to_be_completed(home):
    (home / "landing.unfinished").write_text("{}")
    entry = next(Archive(home / "archive").entries())[1]
    waiting = msgspec.structs.replace(entry, source_id="never landed", path="/srv/gone.jsonl")
    Archive(home / "archive").put([Arrival(content_hash(b"waiting"), b"waiting", 1, waiting)])
    assert run(home).changes == []
    assert (home / "landing.unfinished").exists()
    assert Archive(home / "archive").read(content_hash(b"waiting")) == b"waiting"


def test_archived_contents_that_nothing_needs_go_after_the_retention(home):
    """A content without an entry; one that was archived, never landed, and is the beginning of what landed later."""
    archive = Archive(home / "archive")
    sha256, entry = next(item for item in archive.entries() if item[1].path.endswith("big.jsonl"))
    beginning, stray, other = archive.read(sha256)[:-50], b"stray", b"tells something else"
    archive.put([Arrival(content_hash(data), data, 1, entry) for data in (beginning, stray, other)])
    (archive.folder / f"{content_hash(stray)}.json").unlink()
    assert run(home).changes == []
    for path in archive.folder.iterdir():
        make_old(path)
    assert told(run(home)) == [
        ("archive", f"archive/{content_hash(stray)}.zst", 1),
        ("archive", f"archive/{content_hash(beginning)}.zst", 1),
    ]
    assert content_hash(other) in archive.names()
    assert run(home).changes == []
    assert wb.open(home).verify().problems == []


def test_a_resume_snapshot_older_than_its_log_goes_after_the_retention(home):
    log = sound_home.append(home, 1)
    snapshot = log.with_name("state.json")
    snapshot.write_text("{}")
    make_old(snapshot)
    fresh = sound_home.append(home, 1, session="fresh").with_name("state.json")
    fresh.write_text("{}")
    assert told(run(home, retention=60 * DAY)) == []
    assert told(run(home)) == [("snapshots", f"sessions/{sound_home.LIVE}/state.json", 1)]
    assert (snapshot.exists(), fresh.exists()) == (False, True)


def test_a_second_maintenance_is_told_who_is_at_work(home):
    with held(home / "maintain.lease", "x"), pytest.raises(BusyError, match=f"done by .*process {os.getpid()} on"):
        run(home)
    assert run(home).changes == []


def test_a_backup_keeps_maintenance_out(home):
    with Home.open(home).copying_lock(), pytest.raises(BusyError, match="a backup or a forget"):
        run(home, wait_seconds=0.1)


def test_what_needs_imports_at_rest_is_left_for_next_time_while_one_is_at_work(home):
    store = scattered(home, 6)
    with Home.open(home).landing_lock():
        result = run(home, compact_above_files=5, wait_seconds=0.1)
    assert [change.step for change in result.changes] == ["compact"]
    assert {(item.step, item.is_error) for item in result.left_out} == {
        (step.name, False) for step in STEPS if step.alone
    }
    assert len(store.snapshot().files) == 1


def test_a_table_that_cannot_be_read_hides_no_other(home):
    scattered(home, 6)
    min((home / "tables" / "turns" / "_delta_log").glob("*.json")).unlink()
    result = run(home, compact_above_files=5)
    assert ("compact", "tables/blobs") in {change[:2] for change in result.changes}
    assert all(
        item.is_error and "turns" in item.reason and "workbench verify" in item.reason for item in result.left_out
    )
    assert {item.step for item in result.left_out} == {"compact", "vacuum"}


def test_a_step_that_is_added_is_done_and_told(home, monkeypatch):
    def optimise(work):
        yield Change("vectors", "vectors", f"dry run: {work.dry_run}", 0, 7)

    monkeypatch.setattr(maintenance, "STEPS", (*STEPS, Step("vectors", optimise)))
    seen = []
    result = run(home, progress=lambda *far: seen.append(far))
    assert result.changes == [("vectors", "vectors", "dry run: False", 0, 7)]
    assert seen[-2:] == [(len(STEPS), len(STEPS) + 1, "vectors"), (len(STEPS) + 1, len(STEPS) + 1, "done")]


def test_imports_and_queries_meet_no_error_while_maintenance_runs_over_and_over(tmp_path):
    """Sessions grow and land, and are counted, in two other processes; files are few and go after an hour."""
    home, agent = tmp_path / "home", tmp_path / "files"
    write_sessions(agent, 3, 2)
    wb.open(home).ingest(agent)
    folder = str(Path(sound_home.__file__).parent)
    start = (
        f"import sys, time; sys.path.insert(0, {folder!r})\nimport workbench as wb; bench = wb.open({str(home)!r})\n"
    )
    importer = f"""
from pathlib import Path
from made_sessions import grow_session
for exchange in range(6, 10):
    for number in range(3):
        grow_session(Path({str(agent)!r}), number, exchange, exchange + 1)
        bench.ingest({str(agent)!r}, wait_seconds=100)
"""
    reader = """
from crowd import WHOLE
while time.time() < float(sys.argv[1]):
    for _, told, found, apart, last in bench.sql(WHOLE).rows():
        assert told == found == apart == last, (told, found, apart, last)
"""
    importing = subprocess.Popen([sys.executable, "-c", start + importer], stderr=subprocess.PIPE, text=True)
    reading = subprocess.Popen(
        [sys.executable, "-c", start + reader, str(time.time() + 8)], stderr=subprocess.PIPE, text=True
    )
    compacted = 0
    while importing.poll() is None:
        result = run(home, compact_above_files=2, retention=timedelta(hours=1), wait_seconds=0.2)
        assert [item for item in result.left_out if item.is_error] == []
        compacted += sum(change.step == "compact" for change in result.changes)
    assert importing.communicate()[1] == ""
    assert reading.communicate()[1] == ""
    assert (importing.returncode, reading.returncode) == (0, 0)
    assert compacted > 0
    bench = wb.open(home)
    assert bench.verify().problems == []
    prompts = dict(bench.sql("select session_id, prompts from sessions").rows())
    assert prompts == {session_id(number): 4 + 1 + number % 2 for number in range(3)}
