"""Tombstones: set once, lifted on purpose, and the newest word counts."""

import pickle
from datetime import UTC, datetime

import pytest

from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.tombstones import Tombstones, bury, read_tombstones, revive
from workbench.text.ids import content_hash

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path):
    return Lake(Home.open(tmp_path / "home"))


def test_a_buried_session_is_known_by_its_hash_alone(lake):
    bury(lake, ["one", "two"], recorded_by="me", now=NOW)
    stones = read_tombstones(lake)
    assert stones.hashes == {content_hash("one"), content_hash("two")}
    assert stones.among(["one", "three"]) == {"one"}
    assert lake.sql("select distinct recorded_by, recorded_at from forgotten_sessions").rows() == [("me", NOW)]


def test_one_that_stands_is_not_set_again_and_one_that_is_lifted_can_be(lake):
    bury(lake, ["one"], recorded_by="me", now=NOW)
    bury(lake, ["one"], recorded_by="me", now=NOW)
    assert lake.sql("from forgotten_sessions_history").height == 1
    revive(lake, ["one", "never buried"], recorded_by="me", now=NOW)
    assert read_tombstones(lake).among(["one", "never buried"]) == set()
    bury(lake, ["one"], recorded_by="me", now=NOW)  # at the same time by the clock
    assert read_tombstones(lake).among(["one"]) == {"one"}
    assert lake.sql("select deleted from forgotten_sessions_history order by recorded_at").rows() == [
        (False,),
        (True,),
        (False,),
    ]


def test_they_travel_to_other_processes(lake):
    bury(lake, ["one"], recorded_by="me")
    again = pickle.loads(pickle.dumps(read_tombstones(lake, lifted=True)))
    assert (again.lifted, again.among(["one", "two"])) == (True, {"one"})


def test_an_empty_home_has_none(lake):
    assert read_tombstones(lake).hashes == frozenset()
    assert Tombstones().among(["one"]) == set()
    assert not (lake.home.tables / "forgotten_sessions").exists()
