"""`workbench search --vault`, `embed --vault` and `vault index --embed`, and that the page about search runs."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from command import Done
from search.word_embedder import WordEmbedder

import workbench.providers.embedding as providers
from workbench.surfaces.cli import main
from workbench.vault.note_search import COLUMNS

PAGE = Path(__file__).resolve().parents[2] / "docs/search.md"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs the command in a home of its own, beside a vault `~/notes`, with a small embedder."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Pump.md").write_text("---\naliases: [Mover of water]\n---\nIt overheats \x1b[31mwhen dry.\n")
    (notes / "Garden.md").write_text("Tulips.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr(providers, "load_embedder", lambda *_: WordEmbedder())

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments), "--home", str(tmp_path / "home")])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return Done(stopped.value.code or 0, captured.out, captured.err)

    return run


def test_from_a_folder_to_hits(run):
    refused = run("search", "pump", "--vault", "notes")
    assert refused.code == 3
    assert "was not indexed yet" in refused.err
    done = run("vault", "index", "notes", "--embed", "--json").json
    assert (done["notes"], done["embedding"]["embedded"], done["embedding"]["vectors"]) == (2, 2, 2)
    assert run("vault", "status", "notes", "--json").json["notes_without_vector"] == 0
    found = run("search", "mover of water", "--vault", "notes", "--mode", "hybrid", "--json").json
    assert list(found) == ["mode", "degraded", "notices", "hits"]
    assert list(found["hits"][0]) == list(COLUMNS)
    assert (found["degraded"], found["hits"][0]["path"]) == (None, "Pump.md")
    shown = run("search", "overheats", "--vault", "notes").out
    assert re.search(r"^\d+\.\d{3}  Pump  \d{4}-.*  Pump\.md:1$", shown, re.MULTILINE)
    assert shown.splitlines()[-1] == "1 hits by keyword; all notes; UTC"
    assert "\x1b" not in shown
    Path("notes/Garden.md").write_text("Roses.\n")
    run("vault", "index", "notes")
    lacking = run("search", "roses", "--vault", "notes", "--mode", "hybrid", "--json").json["degraded"]
    assert lacking == f"no vectors for 1 of 2 texts; run workbench embed --vault {Path('notes').resolve()}"
    assert "embedded 1 texts with words" in run("embed", "--vault", "notes").out


def test_filters_of_sessions_are_refused_for_notes(run):
    done = run("search", "pump", "--vault", "notes", "--tool", "Bash", "--role", "user")
    assert done.code == 2
    assert "notes have no tool, role; leave out --tool and --role, or --vault" in done.err


def test_the_commands_of_the_page_run_as_they_stand_there(run):
    block = PAGE.read_text("utf-8").split("## Notes")[1].split("```sh\n")[1].split("```")[0]
    for line in block.splitlines():
        words = [str(Path(word).expanduser()) for word in shlex.split(line, comments=True)[1:]]
        assert run(*words).code == 0, line
