import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest
from deltalake import write_deltalake
from polars.testing import assert_frame_equal
from small_lake import EVENTS, filled, land_all, shown, small_lake, state
from small_lake import TABLES as SMALL_TABLES

from workbench.errors import NotFoundError, QueryError, StoreError
from workbench.store import lake as lake_module
from workbench.store.entities import record
from workbench.store.home import Home
from workbench.store.lake import Lake, identifier, view_sql
from workbench.store.landing_key import OWNERS
from workbench.store.schema import LANDING_ID, STRING, Column
from workbench.store.tables import TABLES

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def full_home(tmp_path_factory):
    """A home in which every table has rows, and every derived one rows of a landing that was given up too."""
    lake = Lake(Home.open(tmp_path_factory.mktemp("full")))
    for name, store in lake.stores.items():
        numbers = (1, 2) if name in OWNERS else (1, 2, 3)
        told = {"deleted": False} if store.table.kind == "entity" else {}
        store.append(store.table.from_dicts([filled(store.table, number, **told) for number in numbers]))
    return lake.home


@pytest.fixture
def lake(tmp_path):
    """A small lake with a session in it."""
    land_all(tmp_path, {"s1": "abc"})
    return small_lake(tmp_path)


# -- views -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_every_view_of_an_empty_home_can_be_asked_and_is_empty(tmp_path, name):
    lake = Lake(Home.open(tmp_path))
    found = lake.sql(f"select * from {name}")
    assert found.height == 0
    assert found.schema == lake.scan(name).collect().schema
    assert [path.name for path in tmp_path.iterdir()] == ["home.json"]


def test_every_view_of_an_absent_home_is_empty_too(tmp_path):
    lake = Lake(Home.open(tmp_path / "none", create=False))
    assert [lake.sql(f"select count(*) from {name}").item() for name in TABLES] == [0] * len(TABLES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", TABLES)
def test_sql_and_scan_show_the_same_rows_and_types(full_home, name):
    lake = Lake(full_home)
    by_sql, by_scan = lake.sql(f"select * from {name} order by all"), lake.scan(name).collect()
    assert_frame_equal(by_sql, by_scan, check_row_order=False)
    assert by_sql.height == (2 if LANDING_ID in TABLES[name].schema.names else 3)
    hidden = {"landing_id"} | ({"deleted"} if TABLES[name].kind == "entity" else set())
    assert by_sql.columns == [column for column in TABLES[name].schema.names if column not in hidden]


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if table.key])
def test_keys_are_unique_in_the_views(full_home, name):
    keys = ", ".join(TABLES[name].key)
    assert Lake(full_home).sql(f"select {keys} from {name} group by all having count(*) > 1").height == 0


def test_a_text_recorded_twice_is_shown_once(tmp_path):
    lake = small_lake(tmp_path)
    for text in ("x", "y"):
        lake.stores["blobs"].append(lake.tables["blobs"].from_rows([("1", text), ("2", "z")]))
    assert lake.sql("select sha256 from blobs order by all")["sha256"].to_list() == ["1", "2"]
    assert lake.scan("blobs").collect()["sha256"].sort().to_list() == ["1", "2"]


def test_times_are_utc_whatever_the_machine_says(full_home, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        lake = Lake(full_home)
        assert lake.sql("select started_at from sessions").dtypes == [pl.Datetime("us", "UTC")]
        assert lake.sql("select max(started_at)::varchar as t from sessions").item() == "2026-03-02 00:00:00+00"
        assert lake.sql("select hour(timestamptz '2026-03-02 12:00:00+00') as h").item() == 12
    finally:
        monkeypatch.undo()
        time.tzset()


def test_texts_of_rewritten_files_can_be_compared(tmp_path):
    """deltalake writes string_view when it rewrites, which pyarrow's own filters refuse."""
    land_all(tmp_path, {"s1": "abc", "s2": "c"})
    land_all(tmp_path, {"s1": "abcc"})
    lake = small_lake(tmp_path)
    assert lake.sql("select text from events where session_id = 's2' and text = 'c'").rows() == [("c",)]
    assert lake.sql("select events from sessions where session_id = 's1'").item() == 4
    assert lake.scan("events").filter(pl.col("session_id") == "s2").collect()["text"].to_list() == ["c"]
    assert lake.scan("sessions").filter(pl.col("session_id") == "s1").collect()["events"].to_list() == [4]


def test_a_column_that_older_files_have_not_is_null_there(tmp_path):
    """A later version of workbench declared one more column, and merged it into the table."""
    new = replace(EVENTS, declared=(*EVENTS.declared, Column("mood", STRING, "How it felt.")))
    land_all(tmp_path, {"s1": "ab"})
    landing_id = int(small_lake(tmp_path).stores["sessions"].read(["landing_id"])[1]["landing_id"][0].as_py())
    rows = new.from_rows([("s1", 3, "ab", "good", landing_id)])
    write_deltalake(tmp_path / "tables" / "events", rows, mode="append", schema_mode="merge")
    lake = Lake(Home.open(tmp_path), {**SMALL_TABLES, "events": new})
    expected = [(1, None), (2, None), (3, "good")]
    assert lake.sql("select seq, mood from events order by seq").rows() == expected
    assert lake.scan("events").select("seq", "mood").sort("seq").collect().rows() == expected
    assert lake.derived_rows("events", ["seq", "mood"]).sort_by("seq")["mood"].to_pylist() == [None, None, "good"]


@pytest.mark.parametrize("name", ["sp ace", "é日本", "100%", "a*b", "a?b", "x=1", "it's", "{a,b}", "~"])
def test_homes_with_odd_names_are_read(tmp_path, name):
    """A path must be no pattern, no partition and no part of a query; `axb` is what a pattern would find as well."""
    for home in (name, "axb"):
        land_all(tmp_path / home, {"s1": "abc"})
    assert shown(tmp_path / name) == {"s1": state("abc")}
    assert small_lake(tmp_path / name).scan("events").collect().columns == ["session_id", "seq", "text"]
    assert small_lake(tmp_path / name).sql("select * from events").columns == ["session_id", "seq", "text"]


def test_views_quote_names():
    assert identifier('a"b') == '"a""b"'
    assert 'semi join "_raw_sessions" using (landing_id)' in view_sql(TABLES["turns"])


# -- asking ------------------------------------------------------------------------------------------------------------


def test_parameters_go_by_place_or_by_name(lake):
    assert lake.sql("select ? + ? as n", [1, 2]).item() == 3
    assert lake.sql("select $a || $b as t", {"a": "x'", "b": "y"}).item() == "x'y"
    assert lake.sql("select count(*) from sessions where session_id = ?", ["s1' or true"]).item() == 0


def test_several_statements_give_the_last_result(lake):
    assert lake.sql("create temp table t as select 1 as a; insert into t values (2); select sum(a) from t").item() == 3


def test_a_statement_without_a_result_gives_an_empty_frame(lake):
    assert lake.sql("create temp table t (a int)").height == 0


def test_what_a_query_makes_is_gone_with_it(lake):
    lake.sql("create temp table t as select 1")
    with pytest.raises(QueryError, match="t does not exist"):
        lake.sql("select * from t")


@pytest.mark.parametrize(
    "query", ["selec 1", "select * from nowhere", "select nothing from sessions", "select 1/0::uuid", ""]
)
def test_a_bad_query_is_told_with_the_tables_there_are(lake, query):
    if query:
        with pytest.raises(QueryError, match=r"(?s).+\nTables: blobs, calls, events, issues, labels, sessions$"):
            lake.sql(query)
    else:
        assert lake.sql(query).shape == (0, 0)


def test_a_name_that_is_nearly_that_of_a_table_is_told_with_the_one_that_was_meant(lake):
    with pytest.raises(QueryError, match='evnts does not exist!\nDid you mean "events"'):
        lake.sql("select * from evnts")


@pytest.mark.parametrize(
    "query",
    [
        "select count(*) from EVENTS",
        'select count(*) from "Events"',
        "select count(*) from query('from ev' || 'ents')",
        "from query_table('ev' || 'ents') select count(*)",
        "set variable t = 'x'; select count(*) from events",
    ],
)
def test_a_table_is_found_however_a_query_names_it(lake, query):
    assert lake.sql(query).item() == 3


def test_statements_before_one_that_is_refused_run_once(lake, tmp_path):
    with pytest.raises(QueryError, match="nowhere does not exist"):
        lake.sql(f"copy (select 1 as a) to '{tmp_path}/a.csv'; create table made (a int); select * from nowhere")
    assert lake.sql("select count(*) from made").item() == 0


def test_a_bad_parameter_is_a_query_error(lake):
    for query, parameters in (("select ?", []), ("select 1", [1]), ("select $a", {"b": 1})):
        with pytest.raises(QueryError):
            lake.sql(query, parameters)


def test_names_of_python_variables_are_no_tables(lake):
    for name in ("connection", "query", "relation", "pl", "lake", "frame"):
        frame = pl.DataFrame({"a": [1]})
        with pytest.raises(QueryError, match=f"{name} does not exist"):
            lake.sql(f"select * from {name}")
        assert frame.height == 1


def test_sums_are_whole_numbers_where_they_fit(lake):
    found = lake.sql(
        "select sum(events) as n, sum(events) / 2 as half, 9223372036854775807::hugeint + 1 as huge from sessions"
    )
    assert found.row(0) == (3, 1.5, Decimal(9223372036854775808))
    assert found.dtypes[0] == pl.Int64
    assert lake.sql("select sum(events) as n from sessions where false").row(0) == (None,)


def test_intervals_are_durations(lake):
    found = lake.sql(
        "select interval 1 second as a, 2 as b, timestamptz '2026-03-02 12:00:00Z' - timestamptz '2026-03-02' as c"
    )
    assert found.rows() == [(timedelta(seconds=1), 2, timedelta(hours=12))]
    assert found.dtypes == [pl.Duration("us"), pl.Int32, pl.Duration("us")]


def test_scanning_a_table_that_is_not_there_names_those_that_are(lake):
    with pytest.raises(
        NotFoundError, match="there is no table 'turns'; there are blobs, calls, events, issues, labels, sess"
    ):
        lake.scan("turns")


def test_rows_of_a_derived_table_can_be_had_without_duckdb_and_polars(lake, tmp_path):
    land_all(tmp_path, {"s1": "xyz", "s2": "a"})
    assert lake.derived_rows("events", ["session_id", "seq"]).sort_by(
        [("seq", "ascending"), ("session_id", "ascending")]
    ).to_pylist() == [
        {"session_id": "s1", "seq": 1},
        {"session_id": "s2", "seq": 1},
        {"session_id": "s1", "seq": 2},
        {"session_id": "s1", "seq": 3},
    ]
    assert sorted(lake.derived_rows("sessions", ["session_id"])["session_id"].to_pylist()) == ["s1", "s2"]
    assert lake.derived_rows("issues", ["detail"]).num_rows == 0
    with pytest.raises(NotFoundError, match="there is no table 'turns'"):
        lake.derived_rows("turns", [])
    code = (
        "import sys; from pathlib import Path; from small_lake import small_lake;"
        f"small_lake(Path({str(tmp_path)!r})).derived_rows('events', ['seq']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=True)
    assert {"duckdb", "polars"} & set(done.stdout.split()) == set()


def test_a_connection_is_the_callers_own(lake):
    one, two = lake.connection(), lake.connection()
    one.execute("create temp table mine as select 1")
    with pytest.raises(duckdb.CatalogException):
        two.sql("select * from mine")
    one.close()
    assert two.sql("select count(*) as n from events").pl().item() == 3
    two.close()


def test_threads_share_one_lake(lake, tmp_path):
    errors = []

    def work():
        try:
            for _ in range(5):
                told, counted, *_ = shown(lake)["s1"]
                assert told == counted
                assert lake.scan("events").collect().height > 0
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(5):
        land_all(tmp_path, {"s1": "c" * (number + 1)})
    for thread in threads:
        thread.join()
    assert errors == []


# -- snapshots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["events", "calls", "issues"])
def test_a_landing_in_the_middle_of_opening_is_seen_wholly(lake, tmp_path, name):
    """The landing replaces the session and deletes its old rows while half of the tables are open already."""
    real, landings = lake.stores[name].snapshot, ["abccc!"]

    def snapshot():
        if landings:
            land_all(tmp_path, {"s1": landings.pop()})
        return real()

    lake.stores[name].snapshot = snapshot
    assert shown(lake) == {"s1": state("abccc!")}


def test_a_reader_that_landings_never_let_through_says_so(lake, tmp_path, monkeypatch):
    monkeypatch.setattr(lake_module, "PATIENCE_SECONDS", 0.2)
    real, numbers = lake.stores["events"].snapshot, iter(range(1, 1000))

    def snapshot():
        land_all(tmp_path, {"s1": "c" * next(numbers)})
        return real()

    lake.stores["events"].snapshot = snapshot
    with pytest.raises(StoreError, match="imports finish faster than the tables can be opened; try again in a moment"):
        lake.sql("select count(*) from events")


def test_a_frame_that_was_scanned_before_a_landing_shows_the_old_rows(lake, tmp_path):
    frame = lake.scan("events")
    land_all(tmp_path, {"s1": "x"})
    assert frame.collect()["text"].to_list() == ["abc", "abc", "abc"]
    assert lake.scan("events").collect()["text"].to_list() == ["x"]


def test_a_reader_follows_tables_that_are_deleted_and_made_anew(lake, tmp_path):
    assert shown(lake) == {"s1": state("abc")}
    shutil.rmtree(tmp_path / "tables")
    assert shown(lake) == {}
    land_all(tmp_path, {"s2": "c"})
    assert shown(lake) == {"s2": state("c")}


@pytest.mark.parametrize("name", ["events", "sessions"])
def test_a_broken_table_is_named(tmp_path, name):
    land_all(tmp_path, {"s1": "abc"})
    log = tmp_path / "tables" / name / "_delta_log"
    (log / f"{1:020}.json").unlink()
    (log / f"{2:020}.json").write_text((log / f"{0:020}.json").read_text())
    with pytest.raises(StoreError, match=f"the table .*/tables/{name} cannot be read: "):
        small_lake(tmp_path).sql(f"select * from {name}")
    if name != "sessions":
        assert small_lake(tmp_path).sql("select session_id from sessions").rows() == [("s1",)]


def test_data_that_is_gone_is_a_matter_of_the_store_and_a_users_file_one_of_the_query(lake, tmp_path):
    land_all(tmp_path, {"s2": "abc"})
    with pytest.raises(QueryError, match=r"nothing\.csv"):
        lake.sql("select * from 'nothing.csv'")
    for path in sorted((tmp_path / "tables" / "events").glob("*.parquet")):
        path.unlink()
        with pytest.raises(StoreError, match=f"(?s)the tables? .*{tmp_path}/tables.* cannot be read: .*events"):
            lake.sql("select * from events")


# -- a home that may only be read --------------------------------------------------------------------------------------


@pytest.fixture
def read_only_home():
    """A home of somebody else's, as it is read by a user who may not write; where root runs, by another user."""
    folder = Path(tempfile.mkdtemp(prefix="workbench-read-only-"))
    land_all(folder / "home", {"s1": "abc"})
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    yield folder / "home"
    if is_root:
        os.seteuid(0)
    for path in paths:
        path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_home_can_be_read(read_only_home):
    assert shown(read_only_home) == {"s1": state("abc")}
    assert small_lake(read_only_home).scan("events").collect().height == 3


def test_writing_to_a_read_only_home_is_a_clear_message(read_only_home):
    for act in (
        lambda: land_all(read_only_home, {"s1": "abcd"}),
        lambda: record(small_lake(read_only_home).stores["labels"], [{"space": "s", "name": "n"}], recorded_by="me"),
    ):
        with pytest.raises(StoreError, match=r"the table .* cannot be (written|created): .*Permission denied"):
            act()
    assert shown(read_only_home) == {"s1": state("abc")}


def test_a_view_that_another_one_is_made_of_is_there_when_only_that_one_is_named(tmp_path):
    lake = Lake(Home.open(tmp_path / "home"))
    assert lake.sql('select count(*) from "Scorecards"').item() == 0
    assert lake.sql("select count(*) from workflow_patterns").item() == 0
    assert {"scorecards", "session_states", "usage_once"} <= {row[0] for row in lake.sql("show tables").rows()}
    named = lake.sql("select view_name from duckdb_views() where view_name = 'scorecards'")
    assert named.rows() == [("scorecards",)]
