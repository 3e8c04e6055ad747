"""What is remembered of usage is the answer of now, or it is not used."""

import subprocess
import sys

import pytest
from in_process import runner
from made_sessions import grow_session, write_session

import workbench as wb
from workbench.reports.usage_memory import remember, remembered, state


@pytest.fixture
def bench(tmp_path):
    write_session(tmp_path / "files", 1, 3)
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "files")
    return bench


def kept(bench, by="model"):
    remember(bench.home, by, "the answer", state(bench.home))
    return remembered(bench.home, by)


def test_an_answer_is_remembered_as_it_was(bench):
    assert remembered(bench.home, "model") is None
    assert kept(bench) == "the answer"
    assert remembered(bench.home, "day") is None


@pytest.mark.parametrize("by", ["session", "project"])
def test_what_names_sessions_is_not_kept(bench, by):
    assert kept(bench, by) is None
    assert not (bench.home.root / "cache" / f"usage-{by}").exists()


def test_it_is_forgotten_when_a_session_grew(bench, tmp_path):
    assert kept(bench)
    grow_session(tmp_path / "files", 1, 3, 5)
    bench.ingest(tmp_path / "files")
    assert remembered(bench.home, "model") is None


def test_it_is_forgotten_when_a_label_gives_a_session_another_project(bench):
    assert kept(bench)
    bench.label("last", project="another")
    assert remembered(bench.home, "model") is None


def test_it_is_forgotten_when_a_log_of_our_own_grew(bench):
    log = bench.home.sessions / "01KMK45E000000000000000000" / "events.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("", "utf-8")
    assert kept(bench)
    log.write_text("{}\n", "utf-8")
    assert remembered(bench.home, "model") is None


def test_it_is_forgotten_in_another_zone(bench, monkeypatch):
    assert kept(bench)
    monkeypatch.setattr("time.tzname", ("NZST", "NZDT"))
    assert remembered(bench.home, "model") is None


def test_what_landed_meanwhile_is_not_answered_for(bench, tmp_path):
    before = state(bench.home)
    grow_session(tmp_path / "files", 1, 3, 5)
    bench.ingest(tmp_path / "files")
    remember(bench.home, "model", "an old answer", before)
    assert remembered(bench.home, "model") is None


def test_the_command_gives_the_same_again_and_loads_no_table(bench, tmp_path):
    program = (
        "import sys\n"
        "from workbench.surfaces.cli import main\n"
        "sys.argv = ['workbench', '--home', sys.argv[1], 'usage', '--json']\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'duckdb', 'pyarrow', 'polars'} & set(sys.modules)), file=sys.stderr)\n"
    )

    def asked():
        command = [sys.executable, "-c", program, str(bench.home.root)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout, done.stderr

    first, loaded = asked()
    assert "duckdb" in loaded
    assert asked() == (first, "[]\n")


def test_an_import_leaves_the_answer_ready(tmp_path, capsys, monkeypatch):
    write_session(tmp_path / "files", 1, 3)
    home = wb.open(tmp_path / "home").home
    run = runner(capsys, monkeypatch, tmp_path)
    assert run("ingest", tmp_path / "files", "--home", home.root, "--json").code == 0
    ready = remembered(home, "model")
    assert ready is not None
    assert run("usage", "--home", home.root, "--json").out == ready + "\n"
