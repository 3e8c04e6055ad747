"""`workbench usage`: the shape of its JSON, and what a person reads."""

from __future__ import annotations

import json
import sys
import time

import pytest
import usage_corpus as corpus

import workbench as wb
from workbench.surfaces.cli import main, usage

assert usage  # importing it adds the command

TOTALS = {
    "model_calls": 11,
    "input_tokens": 1646,
    "output_tokens": 775,
    "cache_read_tokens": 297_900,
    "cache_write_tokens": 2300,
    "cache_write_1h_tokens": 2000,
    "reasoning_tokens": 60,
    "total_tokens": 302_621,
    "cost_usd": 0.1880105,
    "unpriced_calls": 3,
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usage")
    corpus.write_corpus(folder / "files")
    wb.open(folder / "home").ingest(folder / "files")
    return folder / "home"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, home):
    """Runs the command over the corpus, days in Berlin's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["workbench", "usage", "--home", str(home), *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        assert (stopped.value.code or 0, captured.err) == (0, "")
        return captured.out

    yield run
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("by", "key", "truth"),
    [
        ("model", "model", corpus.BY_MODEL),
        ("project", "cwd", corpus.BY_PROJECT),
        ("day", "day", corpus.BY_DAY["Europe/Berlin"]),
        ("session", "session_id", corpus.BY_SESSION),
    ],
)
def test_json_has_this_shape_and_the_truth_in_every_split(run, by, key, truth):
    told = json.loads(run("--by", by, "--json"))
    assert list(told) == ["by", "zone", "rows", "total", "unpriced_models"]
    assert (told["by"], told["zone"], told["total"]) == (by, "CET", TOTALS)
    assert told["unpriced_models"] == [corpus.GATEWAY_MODEL]
    assert {row[key]: tuple(row[name] for name in corpus.COUNTERS) for row in told["rows"]} == truth


def test_models_are_shown_unless_another_split_is_asked_for(run):
    assert json.loads(run("--json"))["by"] == "model"


def test_a_person_reads_cents_dashes_and_the_models_without_a_price(run):
    out = run()
    lines = {line.split()[-1]: line.split() for line in out.splitlines()}
    assert lines[corpus.MODEL] == ["6", "36", "539", "296,000", "2,300", "0.19", corpus.MODEL]
    assert lines[corpus.GATEWAY_MODEL][-2] == "–"  # noqa: RUF001  (an en dash)
    assert "no price is known for 3 calls of other-model-1; cost leaves them out" in out
    assert "all projects" in out


def test_a_person_reads_the_zone_of_the_days(run):
    assert "day (CET)" in run("--by", "day")


def test_a_person_is_told_that_sessions_share_calls(run):
    assert "4 calls told again by copied or resumed sessions" in run("--by", "session")
    assert "told again" not in run("--by", "model")


def test_filters_are_told(run):
    out = run("--project", "other", "--since", "2026-03-03T00:30")
    assert "only project other, since 2026-03-03 00:30:00" in out
    assert json.loads(run("--project", "other", "--since", "2026-03-04", "--json"))["total"]["model_calls"] == 1
