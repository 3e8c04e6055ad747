"""`workbench search` and `workbench embed` as commands."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import WORKBENCH, Done, environment
from transcripts import OTHER, SESSION, jsonl, prompt, small_session

import workbench as wb
from workbench.search.query import COLUMNS
from workbench.surfaces.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs/search.md"

EVIL = "\x1b]0;owned\x07 find the \x1b[31mmarmot"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a home of two small sessions."""
    folder = tmp_path_factory.mktemp("cli-search")
    (folder / "agent").mkdir()
    (folder / "agent/one.jsonl").write_bytes(jsonl(*small_session(), prompt("a9", EVIL, seconds=99)))
    (folder / "agent/two.jsonl").write_bytes(jsonl(*small_session(OTHER, "b")))
    wb.open(folder / "home").ingest(folder / "agent")
    return folder


@pytest.fixture
def run(capsys, monkeypatch, place):
    """Runs the command on the home in this process: the same as the real one, without the seconds it takes to load."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("TZ", "UTC")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments), "--home", str(place / "home")])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return Done(stopped.value.code or 0, captured.out, captured.err)

    return run


def test_from_words_alone_to_both_lists(run):
    """One home on its way: searched, embedded, searched again, asked by a person."""
    first = run("search", "build a", "--mode", "hybrid", "--json")
    assert first.code == 0
    assert list(first.json) == ["mode", "degraded", "notices", "hits"]
    assert (first.json["mode"], first.json["degraded"]) == (
        "hybrid",
        "no vectors for 9 of 9 texts; run workbench embed",
    )
    assert list(first.json["hits"][0]) == list(COLUMNS)
    done = run("embed", "--json")
    assert done.code == 0
    assert {name: value for name, value in done.json.items() if name != "seconds"} == {
        "model": "all-MiniLM-L6-v2-int8",
        "texts": 9,
        "embedded": 7,
        "shared": 2,
        "vectors": 9,
        "index": None,
    }
    assert "embedded 0 texts" in run("embed").out
    whole = run("search", "compile it", "--mode", "semantic", "--limit", "3", "--json").json
    assert (whole["degraded"], len(whole["hits"])) == (None, 3)
    assert whole["hits"][0]["semantic"] >= whole["hits"][1]["semantic"] >= whole["hits"][2]["semantic"]
    shown = run("search", "marmot", "--project", "demo", "--since", "2026-03-02")
    assert shown.out.splitlines()[-1] == "2 hits by keyword; only project demo, since 2026-03-02 00:00:00; UTC"
    assert SESSION in shown.out
    assert "find the" in shown.out
    assert not {"\x1b", "\x07"} & {*shown.out}
    empty = run("search", "***", "--json")
    assert (empty.code, empty.json["hits"], empty.json["degraded"]) == (0, [], None)
    assert empty.json["notices"] == ["'***' has no words; type the words that are to be found"]
    assert "has no words" in run("search", "***").err
    assert run("search", "build", "--mode", "graph").code == 2


def commands():
    """The commands of the page about search, as a shell splits them."""
    block = PAGE.read_text("utf-8").split("```sh\n")[1].split("```")[0]
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


def test_the_commands_of_the_page_run_as_they_stand_there(run):
    assert [command[0] for command in commands()] == ["search", "embed", "search", "search", "search"]
    for command in commands():
        done = run(*command)
        assert (done.code, done.err) == (0, ""), command
    hybrid, *_, as_json = (run(*command) for command in commands() if "--mode" in command or "--json" in command)
    assert "hits by hybrid; all projects; UTC" in hybrid.out
    assert as_json.json["hits"] == []


def test_the_page_names_every_mode_filter_and_term(run):
    page = PAGE.read_text("utf-8")
    shown = run("search", "--help").out
    filters = ("--project", "--since", "--until", "--tool", "--role", "--agent", "--session", "--kind")
    assert [name for name in filters if f"`{name}`" not in page or name not in shown] == []
    assert [mode for mode in ("keyword", "semantic", "hybrid") if f"| `{mode}` |" not in page] == []


@pytest.mark.slow
def test_ctrl_c_ends_an_embedding_and_the_next_one_goes_on(tmp_path):
    lines = [prompt(f"p{number:04}", f"prompt {number} about things", seconds=number) for number in range(1500)]
    (tmp_path / "one.jsonl").write_bytes(jsonl(*lines))
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "one.jsonl")
    bench.search("things")
    index, model = bench._search.index, "all-MiniLM-L6-v2-int8"
    command = [WORKBENCH, "embed", "--home", str(tmp_path / "home"), "--json"]
    with subprocess.Popen(
        command, env=environment(tmp_path), stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 60
        while not index.coverage(model)[0] and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"workbench: interrupted; what has landed stays")
    have, total = index.coverage(model)
    assert 0 < have < total
    done = json.loads(subprocess.check_output(command, env=environment(tmp_path)))
    assert (done["vectors"], done["embedded"]) == (total, total - have - done["shared"])
