"""Scrubbing: what was deleted from a table is in none of its files, and the table goes on."""

import json
import os
import time

import pytest
from deltalake import DeltaTable
from raw_home import places_of
from small_lake import BLOBS, EVENTS

from workbench.store.delta import DeltaStore
from workbench.store.scrub import IN_FLIGHT_SECONDS, scrub


def events(*sessions):
    return EVENTS.from_rows([(session, seq, f"text of {session}", 7) for session in sessions for seq in range(3)])


@pytest.fixture
def store(tmp_path):
    """A table that was appended to, checkpointed, overwritten in part, and deleted from."""
    store = DeltaStore(tmp_path / "events", EVENTS)
    store.append(events("MARKone", "two"))
    store.append(events("MARKthree"))
    store.perform(DeltaTable.create_checkpoint)
    store.upsert(events("MARKfour").slice(0, 1), "session_id")
    store.delete_where("session_id", ["MARKone", "MARKthree", "MARKfour"])
    return store


MARKS = ("MARKone", "MARKthree", "MARKfour")


def test_deleted_rows_are_in_no_file_statistics_predicates_and_checkpoints_included(store):
    log = store.folder / "_delta_log"
    assert {mark for _, mark in places_of(log, *MARKS)} == {*MARKS}
    assert {mark for _, mark in places_of(store.folder, *MARKS)} == {*MARKS}
    assert scrub(store, is_locked=True) == []
    assert places_of(store.folder, *MARKS) == []
    assert [name for name, _ in places_of(log, "two")] != []  # statistics of files that are there stay


def test_the_table_keeps_its_rows_and_numbers_and_goes_on(store):
    version = store.version()
    scrub(store, is_locked=True)
    after = store.version()
    assert after >= version
    assert sorted(path.name for path in (store.folder / "_delta_log").glob("*.json")) == [
        f"{number:020}.json" for number in range(after + 1)
    ]
    fresh = DeltaStore(store.folder, EVENTS)
    assert fresh.append(events("five")) == after + 1
    assert sorted(set(fresh.read(["session_id"])[1]["session_id"].to_pylist())) == ["five", "two"]
    assert store.read(["seq"])[1].num_rows == 6
    with pytest.raises(OSError, match=r"No such file|not found"):
        DeltaTable(store.folder, version=1).to_pyarrow_table()


def test_a_second_scrub_writes_no_commit(store):
    scrub(store, is_locked=True)
    version = store.version()
    entries = {path: path.stat().st_mtime_ns for path in (store.folder / "_delta_log").glob("*.json")}
    scrub(store, is_locked=True)
    assert store.version() == version
    assert {path: path.stat().st_mtime_ns for path in (store.folder / "_delta_log").glob("*.json")} == entries


def test_log_entries_stay_what_delta_expects(store):
    scrub(store, is_locked=True)
    actions = [
        json.loads(line)
        for path in sorted((store.folder / "_delta_log").glob("*.json"))
        for line in path.read_bytes().splitlines()
    ]
    assert sum("metaData" in action for action in actions) == 1
    live = {os.path.basename(file) for file in store.snapshot().files}  # noqa: PTH119
    for action in actions:
        if "add" in action:
            assert (action["add"]["stats"] is not None) == (action["add"]["path"] in live)
        assert "predicate" not in action.get("commitInfo", {}).get("operationParameters", {})


def test_files_of_a_writer_at_work_are_left_where_others_may_write(tmp_path):
    store = DeltaStore(tmp_path / "blobs", BLOBS)
    store.append(BLOBS.from_rows([("a", "kept")]))
    young, old = (store.folder / f"part-{name}.parquet" for name in ("young", "old"))
    young.write_bytes(b"MARK")
    old.write_bytes(b"MARK")
    before = time.time() - IN_FLIGHT_SECONDS - 1
    os.utime(old, (before, before))
    assert scrub(store, is_locked=False) == [young]
    assert [young.exists(), old.exists()] == [True, False]
    assert scrub(store, is_locked=True) == []
    assert not young.exists()
    assert store.read(["text"])[1]["text"].to_pylist() == ["kept"]


def test_a_table_that_is_not_there_stays_away(tmp_path):
    assert scrub(DeltaStore(tmp_path / "events", EVENTS), is_locked=True) == []
    assert list(tmp_path.iterdir()) == []
