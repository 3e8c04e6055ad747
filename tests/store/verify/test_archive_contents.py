"""The archive: contents and entries that are gone, garbled or strange, and what brings them back."""

import json
import shutil
from pathlib import Path

import pytest
from sound_home import LIVE, REWRITTEN, append

import workbench as wb
from workbench.store.archive import Archive, Arrival
from workbench.store.aside import ASIDE
from workbench.store.eventlog import session_folder
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.verify.archive_contents import SOURCE_COLUMNS, check_archive
from workbench.text.ids import content_hash


@pytest.fixture
def archive(home):
    return Archive(home / "archive")


@pytest.fixture
def sources(home):
    return Lake(Home.open(home)).derived_rows("sources", SOURCE_COLUMNS).to_pylist()


@pytest.fixture
def look(home, sources):
    def look(*, is_unfinished=False, rows=sources):
        return list(check_archive(Home.open(home), rows, is_unfinished=is_unfinished))

    return look


def told(problems):
    return [(problem.what, problem.where, problem.repairable) for problem in problems]


def of(sources, name):
    return next(row for row in sources if row["path"].endswith(name))


def test_a_sound_archive_has_no_problem_with_or_without_the_table_of_sources(look):
    assert look() == look(rows=None) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no zstandard"),
        lambda path: path.write_bytes(path.read_bytes()[:-9]),
        lambda path: shutil.copy(next(p for p in path.parent.glob("*.zst") if p != path), path),
    ],
    ids=["garbage", "cut", "another's"],
)
def test_a_damaged_content_is_moved_aside_and_its_file_read_again(home, look, sources, damage):
    row = of(sources, "big.jsonl")
    content = home / "archive" / f"{row['sha256']}.zst"
    damage(content)
    (problem,) = look()
    assert told([problem]) == [("damaged_content", f"archive/{content.name}", True)]
    assert problem.remedy.endswith(f"workbench ingest --rehash {row['path']}")
    problem.mend()
    assert len(list((home / ASIDE).rglob(content.name))) == 1
    (problem,) = look()
    assert told([problem]) == [("missing_content", f"archive/{content.name}", False)]
    assert problem.remedy == f"workbench ingest --rehash {row['path']}"
    wb.open(home).ingest(row["path"], rehash=True)
    assert look() == []


def test_a_missing_content_whose_file_the_agent_has_deleted_is_asked_of_a_backup(home, look, sources):
    row = of(sources, "rewritten.jsonl")
    (older,) = row["older_sha256s"]
    (home / "archive" / f"{older}.zst").unlink()
    (home / "archive" / f"{older}.json").unlink()
    Path(row["path"]).rename(row["path"] + ".away")
    try:
        (problem,) = look()
    finally:
        Path(row["path"] + ".away").rename(row["path"])
    assert told([problem]) == [("missing_content", f"archive/{older}.zst", False)]
    assert "backup" in problem.remedy


@pytest.mark.parametrize("damage", ["lost", "garbage", "another source", "wrong length"])
def test_an_entry_is_written_anew_from_what_the_tables_know(home, archive, look, sources, damage):
    row = of(sources, "rewritten.jsonl")
    (older,) = row["older_sha256s"]
    entry = home / "archive" / f"{older}.json"
    before = archive.manifest(older)
    document = json.loads(entry.read_bytes())
    if damage == "lost":
        entry.unlink()
    elif damage == "garbage":
        entry.write_bytes(b'{"size_bytes":')
    elif damage == "another source":
        entry.write_text(json.dumps(document | {"sources": []}))
    else:
        entry.write_text(json.dumps(document | {"size_bytes": 1}))
    (problem,) = look()
    what = "missing_entry" if damage in ("lost", "another source") else "damaged_entry"
    assert told([problem]) == [(what, f"archive/{entry.name}", True)]
    problem.mend()
    assert look() == []
    after = archive.manifest(older)
    assert after.size_bytes == before.size_bytes
    assert [(s.path, s.age, s.session_ids) for s in after.sources] == [(row["path"], 1, [REWRITTEN])]


def test_a_content_that_nothing_tells_of_is_moved_aside_unless_an_import_is_at_work(home, archive, look, sources):
    sha256 = content_hash(b"stray")
    entry = archive.manifest(sources[0]["sha256"]).sources[0]
    archive.put([Arrival(sha256, b"stray", 1, entry)])
    (home / "archive" / f"{sha256}.json").unlink()
    assert look(is_unfinished=True) == []
    (problem,) = look()
    assert told([problem]) == [("content_without_entry", f"archive/{sha256}.zst", True)]
    problem.mend()
    assert look() == []


def test_an_archived_source_without_a_row_is_told_unless_an_import_is_at_work(look, sources):
    lost = of(sources, "big.jsonl")
    rest = [row for row in sources if row is not lost]
    assert told(look(rows=rest)) == [("source_not_landed", f"archive/{lost['sha256']}.json", False)]
    assert look(rows=rest, is_unfinished=True) == []


def test_a_log_that_is_gone_is_told_and_its_rows_stay(tmp_path):
    home = tmp_path / "home"
    bench = wb.open(home)
    append(home, 2)
    assert bench.sql("select events from sessions")["events"].to_list() == [2]
    assert bench.verify().problems == []
    shutil.rmtree(session_folder(home, LIVE))
    (problem,) = bench.verify().problems
    assert told([problem]) == [("missing_source_log", f"sessions/{LIVE}/events.jsonl", False)]
    assert bench.sql("select events from sessions")["events"].to_list() == [2]
