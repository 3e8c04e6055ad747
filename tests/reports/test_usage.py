"""Usage and cost: on a corpus whose truth is known, and on real sessions."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pytest
import usage_corpus as corpus
from command import workbench

import workbench as wb
from workbench.errors import BadInputError
from workbench.reports.sessions_job import read_report
from workbench.reports.sessions_numbers import totals
from workbench.reports.usage import KEYS, TOKENS, WHOLES, read_usage, usage_frame
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.sql import query
from workbench.store.tables import VIEWS

DATA = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
MANY = DATA / "transcripts" / "claude-code-many.tar.xz"

BEGAN = {name: datetime(2026, 3, day, tzinfo=UTC) for name, day in (("first", 1), ("second", 2), ("third", 2))}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usage")
    corpus.write_corpus(folder / "files")
    bench = wb.open(folder / "home")
    assert bench.ingest(folder / "files").errors == []
    return Lake(bench.home)


def truth_of(found, by):
    place = 1 if by == "project" else 0  # the folder tells more than the hash
    return {row.key[place]: tuple(row.as_dict()[name] for name in corpus.COUNTERS) for row in found.rows}


def split(lake, by, **options):
    return truth_of(read_usage(lake, by, **options), by)


# -- the corpus --------------------------------------------------------------------------------------------------------


def test_every_call_counts_once_in_all(lake):
    found = read_usage(lake)
    assert tuple(found.total.as_dict()[name] for name in corpus.COUNTERS) == corpus.TOTAL
    assert found.total.tokens["cache_write_1h_tokens"] == corpus.HOUR_TOKENS
    assert found.total.tokens["reasoning_tokens"] == corpus.REASONING_TOKENS
    assert found.total.total_tokens == sum(corpus.TOTAL[1:5])
    assert found.unpriced_models == [corpus.GATEWAY_MODEL]


def test_by_model_the_dearest_comes_first_and_no_price_last(lake):
    found = split(lake, "model")
    assert found == corpus.BY_MODEL
    assert list(found) == list(corpus.BY_MODEL)


def test_by_project(lake):
    assert split(lake, "project") == corpus.BY_PROJECT


@pytest.mark.parametrize("zone", list(corpus.BY_DAY))
def test_days_are_those_of_the_zone_and_untimed_calls_come_last(lake, zone):
    found = read_usage(lake, "day", zone=ZoneInfo(zone))
    assert found.zone == zone
    assert truth_of(found, "day") == corpus.BY_DAY[zone]
    assert [row.key[0] for row in found.rows] == sorted(corpus.BY_DAY[zone])


def test_by_session_each_has_its_own_calls_so_the_rows_exceed_the_total(lake):
    found = read_usage(lake, "session")
    assert truth_of(found, "session") == corpus.BY_SESSION
    assert tuple(found.total.as_dict()[name] for name in corpus.COUNTERS) == corpus.TOTAL
    assert found.shared_calls == corpus.SHARED_CALLS
    assert read_usage(lake, "model").shared_calls == 0


def test_any_order_of_import_gives_the_same(lake, tmp_path):
    files = corpus.write_corpus(tmp_path / "files")
    backwards = wb.open(tmp_path / "home")
    for file in reversed(files):
        backwards.ingest(file)
    for by in KEYS:
        assert read_usage(Lake(backwards.home), by, zone=UTC) == read_usage(lake, by, zone=UTC)


# -- filters and labels ------------------------------------------------------------------------------------------------


def test_since_leaves_out_older_and_untimed_calls(lake):
    since = datetime(2026, 3, 3, 10, tzinfo=UTC)
    found = read_usage(lake, "day", zone=UTC, since=since)
    assert [(row.key[0], row.model_calls) for row in found.rows] == [("2026-03-03", 1), ("2026-03-04", 1)]
    assert found.total.model_calls == 2


def test_a_project_is_named_by_id_or_by_part_of_its_path(lake):
    (row,) = read_usage(lake, "project", project="work/oth").rows
    assert row.key[1] == corpus.OTHER_CWD
    assert read_usage(lake, "model", project=row.key[0]).total.model_calls == 3
    assert read_usage(lake, "session", project="work/oth").shared_calls == 2
    assert read_usage(lake, "model", project="nowhere").rows == []


def test_a_session_counts_for_the_project_and_title_of_its_label(tmp_path):
    corpus.write_corpus(tmp_path / "files")
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "files")
    bench.label(corpus.CODEX, project="Atlas", title="The first one")
    lake = Lake(bench.home)
    (row,) = read_usage(lake, "project", project="Atlas").rows
    assert (row.key, row.model_calls) == (("Atlas", None), 2)
    assert "The first one" in {row.key[1] for row in read_usage(lake, "session").rows}


def test_an_empty_home_has_used_nothing(tmp_path):
    lake = Lake(Home.open(tmp_path / "home"))
    found = read_usage(lake, "day")
    assert (found.rows, found.unpriced_models, found.total.model_calls, found.total.cost_usd) == ([], [], 0, 0.0)
    assert usage_frame(lake, "project").columns[:3] == ["project_id", "cwd", "model_calls"]


def test_what_cannot_be_asked_is_refused(lake):
    with pytest.raises(BadInputError, match="model, day, project, session, not by 'week'"):
        read_usage(lake, "week")
    with pytest.raises(BadInputError, match="zone"):
        read_usage(lake, since=datetime(2026, 3, 3))  # noqa: DTZ001  (the point of it)


def test_the_frame_has_the_rows(lake):
    frame = usage_frame(lake, "model")
    assert frame.columns == ["model", "model_calls", *TOKENS, "total_tokens", "cost_usd", "unpriced_calls"]
    assert frame.schema["cost_usd"] == pl.Float64
    assert frame.schema["cache_write_tokens"] == pl.Int64
    assert dict(frame.select("model", "cost_usd").rows()) == {key: row[5] for key, row in corpus.BY_MODEL.items()}


# -- which rows are one call -------------------------------------------------------------------------------------------


COLUMNS = {
    "session_id": "varchar",
    "call_id": "varchar",
    "turn": "bigint",
    "event_id": "varchar",
    "occurred_at": "timestamptz",
    "message_id": "varchar",
    "request_id": "varchar",
    "model": "varchar",
    **dict.fromkeys(TOKENS, "bigint"),
    "source_id": "varchar",
    "agent_id": "varchar",
    "is_sidechain": "boolean",
}


class Told(NamedTuple):
    """A row of `usage`, as far as it matters here."""

    session_id: str = "first"
    message_id: str | None = "m"
    request_id: str | None = "r"
    at: int | None = 0
    output_tokens: int | None = 5
    model: str = "some-model"
    call_id: str = "c"

    def row(self):
        moment = None if self.at is None else datetime(2026, 3, 2, second=self.at, tzinfo=UTC)
        given = self._asdict() | {"occurred_at": moment, "input_tokens": 1, "source_id": f"of {self.session_id}"}
        return [given.get(name) for name in COLUMNS]


def told(session="first", message="m", request="r", at=0, output=5, model="some-model", call="c"):
    return Told(session, message, request, at, output, model, call)


def once(*calls):
    """The calls that are left, the same ones in whatever order they come."""
    (result,) = {frozenset(ask_usage_once(order)) for order in permutations(calls)}
    return result


def ask_usage_once(calls):
    connection = duckdb.connect()
    connection.execute("set TimeZone='UTC'")
    connection.execute("create table sessions (session_id varchar, started_at timestamptz)")
    rows = [[name, BEGAN.get(name)] for name in {call.session_id for call in calls}]
    connection.executemany("insert into sessions values (?, ?)", rows)
    connection.execute(f"create table usage ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
    marks = ", ".join("?" * len(COLUMNS))
    connection.executemany(f"insert into usage values ({marks})", [call.row() for call in calls])
    found = connection.sql(query("usage_once")).pl()
    connection.close()
    assert found.columns == list(USAGE_ONCE_COLUMNS)
    assert found["tellings"].sum() == len(calls)
    for row in found.iter_rows(named=True):
        assert row["source_id"] == f"of {row['session_id']}"
        at = None if row["occurred_at"] is None else row["occurred_at"].second
        names = ("output_tokens", "model", "call_id")
        yield Told(row["session_id"], row["message_id"], row["request_id"], at, *(row[name] for name in names))


USAGE_ONCE_COLUMNS = [column.name for column in VIEWS["usage_once"].columns]


def test_ids_name_a_call_and_the_fullest_telling_counts_for_the_session_that_began_first():
    copies = (told("second", at=9, output=7), told("first", at=8, output=2), told("third", at=None, output=None))
    assert once(*copies) == {told("first", at=8, output=7)}


def test_sessions_that_began_together_are_ordered_by_id():
    assert once(told("third"), told("second")) == {told("second")}


def test_a_session_without_times_comes_after_those_with():
    assert once(told("none"), told("third")) == {told("third")}


def test_a_time_that_the_first_session_lacks_is_taken_from_the_next():
    assert once(told("first", at=None), told("second", at=9)) == {told("first", at=9)}


def test_other_request_ids_are_other_calls():
    assert len(once(told(request="r1"), told(request="r2"))) == 2


@pytest.mark.parametrize("changed", [{"at": 1}, {"at": None}, {"output": 6}, {"model": "other"}, {"message": "n"}])
def test_a_message_id_without_request_id_is_no_name_across_sessions(changed):
    assert len(once(told(request=None), told("second", request=None, **changed))) == 2


def test_a_copied_file_without_request_ids_is_known_by_time_and_figures():
    assert once(told(request=None), told("second", request=None)) == {told(request=None)}


def test_rows_without_message_id_never_merge():
    same = told(message=None, request=None)
    assert len(once(same, same._replace(session_id="second"), same._replace(call_id="d"))) == 3


def test_untimed_rows_without_request_id_never_merge():
    assert len(once(told(request=None, at=None), told("second", request=None, at=None))) == 2


# -- one rule everywhere ----------------------------------------------------------------------------------------------


def everywhere(bench):
    """Calls, tokens and cost as SQL, the frame, the sessions report and the command tell them."""
    lake = Lake(bench.home)
    sums = ", ".join(f"sum({name})" for name in WHOLES)
    (sql,) = bench.sql(f"select count(*), {sums} from usage_once").rows()
    scanned = bench.scan("usage_once").sort("session_id", "call_id").collect()
    assert scanned.equals(bench.sql("select * from usage_once order by session_id, call_id"))
    frame = bench.usage("model")
    report = totals(read_report(lake, with_texts=False).frames)
    command = workbench("usage", "--home", bench.home.root, "--json", cwd=bench.home.root).json["total"]
    return {
        "sql": sql,
        "bench": tuple(frame[name].sum() for name in ("model_calls", *WHOLES)),
        "report": (report.model_calls, *(getattr(report, name) for name in WHOLES)),
        "command": tuple(command[name] for name in ("model_calls", *WHOLES)),
    }, [round(sum(frame["cost_usd"].drop_nulls()), 9), round(report.cost_usd, 9), round(command["cost_usd"], 9)]


def test_sql_command_report_and_frame_agree(tmp_path):
    corpus.write_corpus(tmp_path / "files")
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "files")
    found, costs = everywhere(bench)
    assert found == dict.fromkeys(found, corpus.TOTAL[:5])
    assert costs == [corpus.TOTAL[5]] * 3


def test_a_report_of_one_session_counts_the_calls_that_another_told_first(lake):
    whole = totals(read_report(lake, [corpus.BETA], with_texts=False).frames)
    assert (whole.model_calls, whole.output_tokens) == (
        corpus.BY_SESSION[corpus.BETA][0],
        corpus.BY_SESSION[corpus.BETA][2],
    )


def test_rates_are_kept_and_give_the_same_cost_without_the_price_library(tmp_path):
    corpus.write_corpus(tmp_path / "files")
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "files")
    ask = "import sys; import workbench as wb; u = wb.open(sys.argv[1]).usage('day'); "
    ask += "print('genai_prices' in sys.modules, u['cost_usd'].to_list())"
    command = [sys.executable, "-c", ask, str(bench.home.root)]
    first, again = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first.startswith("True [")
    assert again == first.replace("True", "False", 1)
    (bench.home.root / "cache" / "prices.json").write_text("{")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == first


# -- real sessions -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not MANY.is_file(), reason="not in this clone: the real data of WORKBENCH_DATA")
def test_real_sessions_give_the_totals_of_the_data(tmp_path):
    with tarfile.open(MANY) as archive:
        archive.extractall(tmp_path / "files", filter="data")
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "files")
    lake = Lake(bench.home)
    read_usage(lake)
    started = time.process_time()
    found = read_usage(lake)
    assert time.process_time() - started < 2  # a tenth of it where nothing else runs
    assert found.total.model_calls == 8386
    assert [found.total.tokens[name] for name in TOKENS[:4]] == [223_119, 808_787, 733_193_463, 32_015_531]
    assert found.unpriced_models == []
    sums, costs = everywhere(bench)
    assert sums == dict.fromkeys(sums, (8386, 223_119, 808_787, 733_193_463, 32_015_531))
    assert len(set(costs)) == 1
