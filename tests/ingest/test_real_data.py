"""The counts that real files must give. They are no part of a clone: `WORKBENCH_DATA` says where they lie."""

from __future__ import annotations

import json
import lzma
import os
import tarfile
from pathlib import Path

import pytest
from command import workbench

import workbench as wb

DATA = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
TRANSCRIPTS = DATA / "transcripts"

pytestmark = pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="not in this clone: the real data of WORKBENCH_DATA")

AGENTS = "project-with-subagents: six agent files together"
MAIN_FILE = "project-with-subagents: main file"
COUNTS = {
    "claude-code-interrupted.jsonl": (142, 40, 40, 29),
    "claude-code-long-compacted.jsonl": (902, 196, 218, 185),
    "claude-code-long-summaries.jsonl": (468, 138, 138, 118),
    "claude-code-python-to-rust.jsonl": (97, 39, 39, 39),
    "claude-code-small-errors.jsonl": (102, 20, 20, 22),
    MAIN_FILE: (180, 40, 40, 17),
    AGENTS: (193, 0, 77, 66),
}
"""Lines, main calls, all calls and responses, from the table of the data's README."""

OTHERS = {
    "aider.chat.history.md",
    "claude-code-many.tar.xz",
    "gemini-session.json",
    "pi-large-session.jsonl",
    "codex-cli-session.md",
    "marshmallow-1867.traj",
}
"""Files of other formats: those that can be read have tests of their own."""

MAIN_CALLS = (
    "select path, count(*) n from tool_calls join sources using (source_id) where not is_sidechain group by path"
)
ALL_CALLS = "select path, count(*) n from tool_calls join sources using (source_id) group by path"

ORIGIN = ("source_id", "agent_id", "is_sidechain")


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The transcripts, imported by the real command, and what it printed."""
    folder = tmp_path_factory.mktemp("real")
    done = workbench("ingest", TRANSCRIPTS, "--home", folder / "home", "--json", cwd=folder)
    return wb.open(folder / "home"), done


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The many sessions, in a home of their own."""
    folder = tmp_path_factory.mktemp("many")
    with lzma.open(TRANSCRIPTS / "claude-code-many.tar.xz") as packed, tarfile.open(fileobj=packed) as tar:
        tar.extractall(folder / "files", filter="data")
    bench = wb.open(folder / "home")
    return bench, bench.ingest(folder / "files"), folder / "files"


def name_of(path):
    """The row of the table that a file belongs to."""
    if "/subagents/" in path:
        return AGENTS
    return MAIN_FILE if "/project-with-subagents/" in path else path.rpartition("/")[2]


def by_file(rows):
    """Counts by row of the table."""
    counts = {}
    for path, count in rows:
        if path.rpartition("/")[2] in OTHERS:
            continue
        counts[name_of(path)] = counts.get(name_of(path), 0) + count
    return counts


def one(bench, query):
    return bench._lake.sql(query).item()


def test_the_command_tells_what_landed(imported):
    bench, done = imported
    assert (done.code, done.err) == (0, "")
    assert {"sessions", "events", "turns", "tool_calls", "skipped", "errors", "seconds"} <= done.json.keys()
    assert done.json["errors"] == []
    skipped = {item["path"].rpartition("/")[2] for item in done.json["skipped"]}
    assert {"claude-code-many.tar.xz"} <= skipped <= OTHERS
    assert one(bench, "select count(*) from sessions where agent = 'claude-code'") == 6
    claude = "select count(*) from tool_calls join sources using (source_id) where format = 'claude-code'"
    assert one(bench, claude) == 572
    for name in ("sessions", "events", "turns", "tool_calls"):
        assert done.json[name] == one(bench, f"select count(*) from {name}")


def test_a_second_import_lands_nothing_and_skips_the_same(imported):
    bench, done = imported
    again = workbench("ingest", TRANSCRIPTS, "--home", bench.home.root, "--json", cwd=bench.home.root.parent)
    assert [again.json[name] for name in ("sessions", "events", "turns", "tool_calls")] == [0, 0, 0, 0]
    assert again.json["skipped"] == done.json["skipped"]


def test_lines_of_each_file(imported):
    rows = imported[0]._lake.sql("select path, lines from sources").rows()
    assert by_file(rows) == {name: counts[0] for name, counts in COUNTS.items()}


def test_main_calls_of_each_file_by_the_command(imported):
    bench, _ = imported
    done = workbench("sql", MAIN_CALLS, "--home", bench.home.root, "--json", cwd=bench.home.root.parent)
    rows = [(row["path"], row["n"]) for row in done.json]
    assert by_file(rows) == {name: counts[1] for name, counts in COUNTS.items() if counts[1]}


def test_all_calls_of_each_file(imported):
    rows = imported[0]._lake.sql(ALL_CALLS).rows()
    assert by_file(rows) == {name: counts[2] for name, counts in COUNTS.items()}


def test_responses_of_each_session(imported):
    bench, _ = imported
    query = """
        select path, (select count(*) from turns t
                      where t.session_id = s.session_id and role = 'assistant' and not is_sidechain)
        from sources s where s.role = 'main' and format = 'claude-code'
    """
    expected = {name: counts[3] for name, counts in COUNTS.items() if name != AGENTS}
    assert by_file(bench._lake.sql(query).rows()) == expected
    agents = "select count(*) from turns t join sources s using (source_id) where t.role = 'assistant'"
    assert one(bench, f"{agents} and s.role = 'subagent' and format = 'claude-code'") == COUNTS[AGENTS][3]


def test_prompts_interrupts_compactions_and_errors_of_each_session(imported):
    """Interrupts, compactions and errors as the README tells them; prompts counted by hand."""
    columns = "s.prompts, s.interrupts, s.compactions, s.tool_errors"
    query = f"select path, {columns} from sessions s join sources using (session_id) where role = 'main'"
    found = {name_of(path): tuple(counts) for path, *counts in imported[0]._lake.sql(query).rows()}
    assert found["claude-code-interrupted.jsonl"] == (5, 3, 0, 3)
    assert found["claude-code-long-compacted.jsonl"][2:] == (1, 19)
    assert found["claude-code-small-errors.jsonl"] == (2, 0, 0, 4)
    assert found["claude-code-python-to-rust.jsonl"] == (1, 0, 0, 0)


def test_many_sessions_have_the_counts_of_the_table(many):
    bench, done, _ = many
    assert (done.sessions, done.skipped, done.errors) == (125, [], [])
    assert one(bench, "select sum(lines)::bigint from sources") == 41_609
    assert one(bench, "select count(*) from sources") == 124
    assert one(bench, f"select sum(n)::bigint from ({MAIN_CALLS})") == 8_165
    assert one(bench, f"select sum(n)::bigint from ({ALL_CALLS})") == 9_452
    assert one(bench, "select sum(responses)::bigint from sessions") == 7_620
    issues = bench._lake.sql("select issue, sum(count)::bigint from import_issues group by issue").rows()
    assert issues == [("bad_json", 2)]


def test_usage_of_many_sessions_is_exact(many):
    bench, _, _ = many
    totals = """
        with calls as (
            select distinct on (message_id, request_id) * from usage order by output_tokens desc
        )
        select count(*), sum(output_tokens)::bigint, sum(input_tokens)::bigint, sum(cache_read_tokens)::bigint,
               sum(cache_write_tokens)::bigint
        from calls
    """
    assert bench._lake.sql(totals).row(0) == (8_386, 808_787, 223_119, 733_193_463, 32_015_531)
    assert bench._lake.sql(f"{totals} where not is_sidechain").row(0) == (
        7_620,
        804_156,
        132_872,
        692_104_023,
        27_665_978,
    )


def test_many_sessions_again_open_nothing(many):
    bench, _, files = many
    again = bench.ingest(files)
    assert (again.sessions, again.events, again.unchanged) == (0, 0, 124)


@pytest.mark.parametrize("home", ["imported", "many"])
def test_what_must_hold_of_every_row(home, request):
    bench = request.getfixturevalue(home)[0]
    connection = bench._lake.connection()

    def none(query):
        assert connection.sql(query).fetchall() == [(0,)], query

    none("select count(*) from events where not json_valid(payload)")
    none("select count(*) from tool_calls where not json_valid(input)")
    none("select count(*) from (select max(seq) != count(*) gap from events group by session_id) where gap")
    none("select count(*) - count(distinct event_id) from events")
    none("select count(*) - count(distinct (session_id, tool_call_id)) from tool_calls")
    none(
        """
        select count(*) from events r join tool_calls t on t.result_event_id = r.event_id
        join events p on p.event_id = r.parent_event_id
        where p.kind != 'tool_call' or p.payload->>'tool_call_id' != r.payload->>'tool_call_id'
        """
    )
    none("select count(*) from events where kind = 'tool_result' and parent_event_id is null")
    none("select count(*) from tool_calls t anti join events e on t.call_event_id = e.event_id")
    none("select count(*) from turns anti join events using (event_id)")
    none("select count(*) from usage anti join events using (event_id)")
    none("select count(*) from artifacts a anti join blobs b on a.artifact_id = b.sha256")
    none("select count(*) from sessions where duration_ms < 0")
    none("select count(*) from tool_calls where duration_ms < 0")
    none("select count(*) from events where is_sidechain and agent_id is null")
    none("select count(*) from sessions where agent = 'claude-code' and (project_id is null or title is null)")
    for table in ("turns", "tool_calls", "events", "usage"):
        columns = [row[0] for row in connection.sql(f"describe {table}").fetchall()]
        assert set(ORIGIN) <= set(columns)
        none(f"select count(*) from {table} where source_id is null or is_sidechain is null")
        none(f"select count(*) from {table} anti join sources using (source_id)")
    connection.close()


def test_every_payload_is_what_python_reads_too(imported):
    payloads = imported[0]._lake.sql("select payload from events")["payload"]
    assert all(isinstance(json.loads(payload), dict) for payload in payloads)
