"""The samples, imported, have the counts that their recorders kept."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import workbench as wb

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
TRUTH = tomllib.loads((DATASETS / "expected.toml").read_text(encoding="utf-8"))

COUNTS = """
    select s.session_id, s.cwd as project, prompts, responses, models, interrupts, compactions, subagents,
           tool_errors as errors, s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens,
           s.tool_calls as tool_calls_all, s.tool_calls - sidechain_tool_calls as tool_calls_main,
           (select count(*) from tool_calls c where c.session_id = s.session_id and status = 'rejected') as rejected,
           (select count(*) from turns t where t.session_id = s.session_id and role = 'assistant') as responses_all,
           (select coalesce(sum(images), 0)::bigint from turns t
            where t.session_id = s.session_id and role = 'user') as images,
           (select count(*) from events e
            where e.session_id = s.session_id and kind = 'context_action') as context_actions,
           (select count(distinct (source_id, source_line)) from events e where e.session_id = s.session_id) as records,
           (select list(path order by path) from sources f where f.session_id = s.session_id) as files
    from sessions s order by s.session_id
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("samples") / "home")
    found = bench.ingest(DATASETS / "claude-code", DATASETS / "event-log")
    assert (found.skipped, found.errors) == ([], [])
    return bench


def test_every_line_of_every_file_is_read(imported):
    rows = imported._lake.sql("select path, lines from sources").rows()
    assert {Path(path).relative_to(DATASETS).as_posix(): lines for path, lines in rows} == TRUTH["lines"]


def test_nothing_in_the_samples_is_odd(imported):
    assert imported._lake.sql("select source_id, line, issue, detail from import_issues").rows() == []


@pytest.mark.parametrize("truth", TRUTH["sessions"], ids=lambda truth: truth["scenario"])
def test_a_session_has_the_counts_of_its_recorder(imported, truth):
    found = {row["session_id"]: row for row in imported._lake.sql(COUNTS).to_dicts()}[truth["session_id"]]
    found["files"] = [Path(path).relative_to(DATASETS).as_posix() for path in found["files"]]
    known = {name: value for name, value in truth.items() if name not in ("scenario", "format")}
    known["files"] = sorted(known["files"])
    assert {name: found[name] for name in known} == known


def test_the_totals_are_those_of_the_recorders(imported):
    rows = imported._lake.sql(COUNTS).to_dicts()
    counted = [name for name in TRUTH["totals"] if name != "sessions"]
    sums = {name: sum(row[name] or 0 for row in rows) for name in counted}
    assert {"sessions": len(rows), **sums} == TRUTH["totals"]
