"""From a home to the files of a report, over real tables."""

import json
from datetime import UTC, datetime
from hashlib import sha256

import polars as pl
import pytest
from report_pages import HOSTILE, Page

from workbench.bench import Workbench
from workbench.errors import StoreError
from workbench.reports.sessions_frames import QUERIES, SCHEMAS
from workbench.reports.sessions_job import read_report, table_versions, write_sessions_report
from workbench.store.lake import Lake
from workbench.store.sql import query

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)


def record(session_id, number, seconds, kind, content, **message):
    time = f"2026-03-02T09:{seconds // 60:02}:{seconds % 60:02}.000Z"
    about = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/srv/demo",
        "sessionId": session_id,
    }
    about |= {
        "version": "2.1.40",
        "gitBranch": "main",
        "type": kind,
        "uuid": f"{session_id}-{number}",
        "timestamp": time,
    }
    return json.dumps({**about, "message": {"role": kind, "content": content, **message}})


def asked(session_id, number, seconds, content):
    return record(session_id, number, seconds, "user", content)


def answered(session_id, number, seconds, content, message_id, output):
    usage = {
        "input_tokens": 10,
        "output_tokens": output,
        "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": 0,
    }
    rest = {"id": message_id, "type": "message", "model": "some-model-1", "stop_reason": "end_turn", "usage": usage}
    line = json.loads(record(session_id, number, seconds, "assistant", content, **rest))
    return json.dumps({**line, "requestId": f"req-{message_id}"})


def tool(number, name, **arguments):
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def result(number, text, *, is_error=False):
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text, "is_error": is_error}


FIRST = [
    asked("s-first", 1, 0, "Fix the build"),
    answered("s-first", 2, 10, [tool(1, "Bash", command="make"), tool(2, "Bash", command="make")], "msg_1", 20),
    asked("s-first", 3, 20, [result(1, "Exit code 2\nmake: *** Error 2", is_error=True)]),
    asked("s-first", 4, 21, [result(2, "<tool_use_error>No such file</tool_use_error>", is_error=True)]),
    answered("s-first", 5, 30, [tool(3, "Read", file_path="/srv/demo/a.py")], "msg_2", 30),
    asked("s-first", 6, 40, [result(3, "text")]),
    answered("s-first", 7, 41, [{"type": "text", "text": "Done."}], "msg_3", 5),
    "{not json",
    asked("s-first", 8, 41 + 600, "Thanks"),
]

SECOND = [
    asked("s-second", 1, 100, HOSTILE[0]),
    answered("s-second", 2, 110, [tool(9, "Ba</script>sh", command="x")], "msg_1", 25),
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    for name, lines in (("s-first", FIRST), ("s-second", SECOND)):
        path = folder / "projects" / "-srv-demo" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")
    bench = Workbench(folder / "home")
    assert bench.ingest(folder / "projects").sessions == 2
    return bench


@pytest.fixture(scope="module")
def lake(bench):
    return Lake(bench.home)


@pytest.fixture(scope="module")
def frames(lake):
    return read_report(lake).frames


@pytest.mark.parametrize("name", QUERIES)
def test_each_query_runs_by_itself_and_fits_its_frame(name, bench, frames):
    alone = bench.sql(query(name))
    assert alone.columns == list(SCHEMAS[name])
    assert alone.schema == pl.Schema(SCHEMAS[name])
    assert getattr(frames, name).schema == pl.Schema(SCHEMAS[name])


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_query_has_its_columns_in_an_empty_home(name, tmp_path):
    frame = getattr(read_report(Lake(Workbench(tmp_path).home)).frames, name)
    assert frame.schema == pl.Schema(SCHEMAS[name])
    assert frame.is_empty()


def test_long_pauses_are_not_activity(frames):
    rows = {row["session_id"]: row for row in frames.session_overview.to_dicts()}
    assert (rows["s-first"]["duration_ms"], rows["s-first"]["active_ms"]) == (641_000, 41_000)
    assert rows["s-second"]["active_ms"] == 10_000


def test_a_call_that_two_sessions_tell_of_counts_once(frames):
    calls = frames.model_calls_by_quarter_hour.select(
        "quarter_at", "model", "calls", "output_tokens", "cache_read_tokens"
    )
    assert calls.rows() == [(datetime(2026, 3, 2, 9, tzinfo=UTC), "some-model-1", 3, 25 + 30 + 5, 270)]


def test_outcomes_are_counted_by_tool(frames):
    outcomes = frames.tool_outcomes.select("tool", "calls", "sessions", "failed", "rejected", "unanswered", "median_ms")
    assert outcomes.rows() == [
        ("Bash", 2, 1, 2, 0, 0, 10_000),
        ("Ba</script>sh", 1, 1, 0, 0, 1, None),
        ("Read", 1, 1, 0, 0, 0, 10_000),
    ]


def test_the_line_after_an_exit_code_stands_for_the_failure(frames):
    lines = frames.tool_failure_lines.select("tool", "line", "calls", "sessions")
    assert lines.rows() == [("Bash", "No such file", 1, 1), ("Bash", "make: *** Error 2", 1, 1)]


def test_issues_come_with_an_example(frames):
    (row,) = frames.import_issue_kinds.to_dicts()
    assert (row["issue"], row["records"], row["files"], row["sessions"], row["line"]) == ("bad_json", 1, 1, 1, 8)
    assert row["path"].endswith("s-first.jsonl")


def test_titles_that_people_gave_come_first(tmp_path, bench):
    again = Workbench(tmp_path)
    again.ingest(bench.home.root.parent / "projects")
    again.label("s-first", title="A better title")
    (row,) = read_report(Lake(again.home), ["s-first"]).frames.session_overview.to_dicts()
    assert row["title"] == "A better title"


def test_the_report_and_its_manifest_are_written(bench, lake, tmp_path):
    written = write_sessions_report(lake, tmp_path / "out", created_at=NOW, zone=UTC, about=["Asked for by a test."])
    assert (written.path, written.sessions) == (tmp_path / "out" / "sessions.html", 2)
    content = written.path.read_bytes()
    assert len(content) == written.size_bytes
    page = Page(content.decode())
    assert "script" not in page.tags
    assert "Fix the build" in page.text("longest-sessions")
    assert "</script><script>window.pwned=1</script>" in page.text("longest-sessions")
    assert "Asked for by a test." in page.text("foot")
    told = json.loads(written.manifest.read_text("utf-8"))
    assert told["sha256"] == sha256(content).hexdigest()
    assert told["tables"] == table_versions(lake)
    assert told["tables"]["sessions"] == bench._lake.stores["sessions"].handle().version()
    assert told["parameters"] == {"session_ids": None, "title": "Sessions", "zone": "UTC"}


def test_a_report_can_be_of_some_sessions_only(lake, tmp_path):
    written = write_sessions_report(lake, tmp_path / "one.html", session_ids=["s-second"], created_at=NOW, zone=UTC)
    page = Page(written.path.read_text("utf-8"))
    assert (written.path.name, written.manifest.name, written.sessions) == ("one.html", "one.manifest.json", 1)
    assert "Fix the build" not in written.path.read_text("utf-8")
    assert page.text("tools").startswith("Tools 1 call of 1 tool.")
    assert page.text("issues").endswith("as it should be.")


def test_the_same_tables_give_the_same_page(lake, tmp_path):
    first, second = (
        write_sessions_report(lake, tmp_path / name, created_at=NOW, zone=UTC).path.read_bytes() for name in ("a", "b")
    )
    assert first == second


def test_a_place_that_cannot_be_written_is_named(lake, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file/sessions\.html cannot be written .*name another place"):
        write_sessions_report(lake, tmp_path / "file", created_at=NOW)
