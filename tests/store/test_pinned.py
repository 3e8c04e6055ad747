"""A home at exact versions of its tables."""

from datetime import timedelta

import pytest
from made_sessions import write_sessions

import workbench as wb
from workbench.errors import StoreError
from workbench.store.pinned import pinned_lake


@pytest.fixture
def bench(tmp_path):

    write_sessions(tmp_path / "first", 2, 2)
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "first")
    return bench


def versions(lake):
    return {name: store.version() if store.version() >= 0 else None for name, store in lake.stores.items()}


def count(lake, table="sessions"):
    return lake.sql(f"select count(*) from {table}").item()


def grow(bench, tmp_path):

    write_sessions(tmp_path / "second", 5, 2)
    bench.ingest(tmp_path / "second")


def test_what_landed_later_is_not_in_an_earlier_version(bench, tmp_path):
    then = versions(bench._lake)
    turns = count(bench._lake, "turns")
    grow(bench, tmp_path)
    past = pinned_lake(bench._lake, then)
    assert (count(past), count(past, "turns")) == (2, turns)
    assert count(bench._lake) > 2
    assert past.scan("sessions").collect().height == 2


def test_a_table_that_did_not_exist_is_empty_there(bench):
    before = versions(bench._lake)
    assert before["session_labels"] is None
    bench.label("last", arm="new")
    assert pinned_lake(bench._lake, before).sql("from session_labels").height == 0
    assert count(bench._lake, "session_labels") == 1


def test_recorded_tables_that_are_not_named_are_as_they_are_now_and_derived_ones_cannot_be_read(bench):
    past = pinned_lake(bench._lake, {"sessions": bench._lake.stores["sessions"].version()})
    bench.label("last", arm="new")
    assert past.sql("select arm from session_labels").item() == "new"
    with pytest.raises(StoreError, match="does not say which version of the table turns it read"):
        count(past, "turns")


def test_the_past_is_not_written_to(bench):
    past = pinned_lake(bench._lake, versions(bench._lake))
    store = past.stores["session_labels"]
    with pytest.raises(StoreError, match="is the past"):
        store.append(store.table.from_rows([]))


def test_a_version_whose_files_were_removed_is_told(bench, tmp_path):
    then = versions(bench._lake)
    store = bench._lake.stores["turns"]
    grow(bench, tmp_path)
    store.perform(lambda handle: handle.optimize.compact())
    store.vacuum(timedelta(0))
    with pytest.raises(StoreError, match=r"of the table turns cannot be read any more: .* `maintain`"):
        count(pinned_lake(bench._lake, then), "turns")


def test_a_version_that_never_was_is_told(bench):
    with pytest.raises(StoreError, match="version 99 of the table sessions"):
        count(pinned_lake(bench._lake, {"sessions": 99}))


def test_a_table_that_is_not_known_is_told(bench):
    with pytest.raises(StoreError, match="knows no tables dreams"):
        pinned_lake(bench._lake, {"dreams": 3})
