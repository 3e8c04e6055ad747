import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lake import small_lake

from workbench.errors import NotFoundError, QueryError, SchemaError
from workbench.store.entities import record

HERE = Path(__file__).parent
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
def lake(tmp_path):
    return small_lake(tmp_path)


def say(lake, *titles, at=NOON, space="s", name="n", **more):
    """Record versions of one thing, one call a title; returns their row ids."""
    store = lake.stores["labels"]
    row = {"space": space, "name": name}
    return [record(store, [{**row, "title": title}], recorded_by="me", now=at, **more)[0] for title in titles]


def titles(lake, table="labels"):
    return [
        tuple(row) for row in lake.sql(f"select name, title from {table} order by name, recorded_at, row_id").rows()
    ]


def test_a_thing_is_its_newest_version(lake):
    say(lake, "old")
    say(lake, "new", at=NOON + SECOND)
    say(lake, "else", name="m")
    assert titles(lake) == [("m", "else"), ("n", "new")]


def test_the_history_has_all_versions(lake):
    say(lake, "old")
    say(lake, "new", at=NOON + SECOND)
    say(lake, None, at=NOON + SECOND, deleted=True)
    found = lake.sql("select title, recorded_at, recorded_by, deleted from labels_history order by recorded_at")
    assert found.rows() == [
        ("old", NOON, "me", False),
        ("new", NOON + SECOND, "me", False),
        (None, NOON + SECOND + MICROSECOND, "me", True),
    ]


def test_a_version_is_a_whole_row_and_says_who_recorded_it(lake):
    row = {"space": "s", "name": "n", "title": "t", "tags": ["a", "b"], "seen_at": NOON}
    (row_id,) = record(lake.stores["labels"], [row], recorded_by="them", now=NOON)
    assert lake.sql("select * from labels").to_dicts() == [
        {**row, "row_id": row_id, "recorded_at": NOON, "recorded_by": "them"}
    ]


def test_a_key_may_have_several_columns(lake):
    say(lake, "one", space="s", name="n")
    say(lake, "two", space="s", name="m")
    say(lake, "three", space="t", name="n")
    say(lake, "four", space="s", name="n")
    found = lake.sql("select space, name, title from labels order by all").rows()
    assert found == [("s", "m", "two"), ("s", "n", "four"), ("t", "n", "three")]


def test_the_same_microsecond_goes_to_the_later_row_id(lake):
    """Two machines may record in one microsecond; all readers must agree on one of the two."""
    rows = [
        {"space": "s", "name": "n", "title": title, "row_id": row_id, "recorded_at": NOON, "recorded_by": "me"}
        for title, row_id in (("first", "01A"), ("last", "01C"), ("middle", "01B"))
    ]
    store = lake.stores["labels"]
    for row in rows:
        store.append(store.table.from_dicts([{**row, "deleted": False}]))
    assert titles(lake) == [("n", "last")]
    assert lake.scan("labels").collect()["title"].to_list() == ["last"]


def test_a_clock_that_goes_back_loses_no_update(lake):
    say(lake, "one", at=NOON)
    say(lake, "two", at=NOON - timedelta(days=365))
    say(lake, "three", at=NOON)
    assert titles(lake) == [("n", "three")]
    times = lake.sql("select recorded_at from labels_history order by row_id")["recorded_at"].to_list()
    assert times == [NOON, NOON + MICROSECOND, NOON + 2 * MICROSECOND]


def test_the_clock_of_one_thing_does_not_move_another(lake):
    say(lake, "one", at=NOON)
    say(lake, "two", name="m", at=NOON - SECOND)
    assert lake.sql("select recorded_at from labels where name = 'm'").item() == NOON - SECOND


def test_a_thing_named_twice_in_one_call_has_two_versions(lake):
    row = {"space": "s", "name": "n"}
    ids = record(lake.stores["labels"], [{**row, "title": "a"}, {**row, "title": "b"}], recorded_by="me", now=NOON)
    assert ids == sorted(ids)
    assert titles(lake) == [("n", "b")]
    assert titles(lake, "labels_history") == [("n", "a"), ("n", "b")]


def test_a_deleted_thing_is_gone_until_it_is_recorded_again(lake):
    say(lake, "a")
    say(lake, None, deleted=True)
    assert titles(lake) == []
    say(lake, "b")
    assert titles(lake) == [("n", "b")]
    assert len(titles(lake, "labels_history")) == 3


def test_as_of_is_the_state_at_that_moment(lake):
    say(lake, "old", at=NOON)
    say(lake, "new", at=NOON + 2 * SECOND)
    say(lake, None, at=NOON + 4 * SECOND, deleted=True)
    seen = [lake.as_of("labels", NOON + step * SECOND)["title"].to_list() for step in (-1, 0, 1, 2, 3, 4, 5)]
    assert seen == [[], ["old"], ["old"], ["new"], ["new"], [], []]
    assert lake.as_of("labels", NOON - MICROSECOND)["title"].to_list() == []
    assert lake.as_of("labels", NOON + 2 * SECOND - MICROSECOND)["title"].to_list() == ["old"]


def test_as_of_takes_a_moment_in_any_zone_but_not_in_none(lake):
    say(lake, "old", at=NOON)
    assert lake.as_of("labels", datetime.fromisoformat("2026-03-02T13:00:00+01:00"))["title"].to_list() == ["old"]
    assert lake.as_of("labels", datetime.fromisoformat("2026-03-02T12:00:00+01:00"))["title"].to_list() == []
    with pytest.raises(QueryError, match="as_of needs a time with a zone"):
        lake.as_of("labels", NOON.replace(tzinfo=None))


def test_as_of_outlives_a_compaction(lake, monkeypatch):
    monkeypatch.setattr("workbench.store.delta.COMPACT_AT_FILES", 1)
    say(lake, "old", at=NOON)
    say(lake, "new", at=NOON + SECOND)
    assert lake.stores["labels"].compact_if_scattered()
    assert lake.as_of("labels", NOON)["title"].to_list() == ["old"]


def test_only_entity_tables_know_their_past(lake):
    for name in ("events", "nothing"):
        with pytest.raises(NotFoundError, match=f"'{name}' is no entity table; those that know their past are labels"):
            lake.as_of(name, NOON)


def test_recording_nothing_does_nothing(lake):
    assert record(lake.stores["labels"], [], recorded_by="me") == []
    assert lake.stores["labels"].version() == -1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"space": "s"}, r"labels needs \['space', 'name'\]"),
        ({"space": "s", "name": None}, r"labels needs \['space', 'name'\]"),
        ({"space": "s", "name": "n", "colour": "red"}, r"table labels has no columns \['colour'\]; it has \['space'"),
        ({"space": 1, "name": "n"}, "labels.space: "),
        ({"space": "s", "name": "n", "title": 1}, "labels.title: "),
        ({"space": "s", "name": "n", "title": "\ud800"}, "labels.title: "),
        ({"space": "s", "name": "n", "tags": "red"}, "labels.tags wants lists, got 'red'"),
        ({"space": "s", "name": "n", "seen_at": NOON.replace(tzinfo=None)}, "labels.seen_at wants times with a zone"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_all_that_came_with_it(lake, row, message):
    with pytest.raises(SchemaError, match=message):
        record(lake.stores["labels"], [{"space": "s", "name": "good"}, row], recorded_by="me")
    assert titles(lake) == []


def test_only_entity_tables_keep_versions(lake):
    with pytest.raises(SchemaError, match="blobs is a recorded table; only entity tables keep versions"):
        record(lake.stores["blobs"], [{"sha256": "x", "text": "y"}], recorded_by="me")


def test_a_clock_without_a_zone_is_refused(lake):
    with pytest.raises(SchemaError, match="labels wants a time with a zone"):
        say(lake, "a", at=NOON.replace(tzinfo=None))


RECORDER = """
    import sys
    from pathlib import Path
    from small_lake import small_lake
    from workbench.store.entities import record
    lake = small_lake(Path(sys.argv[1]))
    for number in range(10):
        row = {"space": "s", "name": "shared", "title": f"{sys.argv[2]} {number}"}
        record(lake.stores["labels"], [row, {**row, "name": sys.argv[2]}], recorded_by=sys.argv[2])
"""


def test_two_processes_record_at_once_and_each_thing_has_one_newest_version(lake, tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(RECORDER), str(tmp_path)]
    processes = [subprocess.Popen([*command, who], cwd=HERE, stderr=subprocess.PIPE, text=True) for who in ("a", "b")]
    assert [process.communicate(timeout=120)[1] for process in processes] == ["", ""]
    assert lake.sql("select count(*) from labels_history").item() == 40
    shared, *own = lake.sql("select name, title from labels order by name != 'shared', name").rows()
    assert own == [("a", "a 9"), ("b", "b 9")]
    assert shared[1] in ("a 9", "b 9")


VERSIONS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(-3, 3), st.none() | st.integers(0, 9), st.booleans()), max_size=8
)


@settings(max_examples=12, deadline=None)
@given(VERSIONS)
def test_whatever_was_recorded_the_last_word_on_each_thing_counts(tmp_path_factory, versions):
    lake = small_lake(tmp_path_factory.mktemp("home"))
    last = {}
    for name, seconds, number, deleted in versions:
        title = None if number is None else str(number)
        say(lake, title, name=name, at=NOON + seconds * SECOND, deleted=deleted)
        last[name] = None if deleted else (name, title)
    expected = sorted(thing for thing in last.values() if thing)
    assert titles(lake) == expected
    scanned = lake.scan("labels").select("name", "title").sort("name").collect()
    assert scanned.rows() == expected
    assert lake.scan("labels").collect_schema() == lake.sql("select * from labels").schema
    assert isinstance(scanned, pl.DataFrame)
