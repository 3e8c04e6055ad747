"""`workbench zettel` and `workbench vault fix` over a small vault, by the real command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from in_process import runner

from workbench import open as open_bench
from workbench.vault.note_search import NoteSearch
from workbench.vault.note_vectors import NoteVectors

FILES = {
    "Home.md": "# Field Lab\n\n[[Tide Gauge]], [[Salinity]] and [[Tide Gage]].\n",
    "Water/Tide Gauge.md": "---\naliases: [Pegel]\ntags: [sensor, tide]\n---\n# Tide Gauge\n\nSee [[Salinity]].\n",
    "Water/Salinity.md": "---\ntags: [tide]\n---\n# Salinity\n\nBy the [[Drift Buoy]].\n",
    "Water/Drift Buoy.md": "It drifts.\n",
    "Lone.md": "# Lone\n\n![[plot.png]]\n",
}


def written(vault):
    for name, text in FILES.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(text)
    return vault


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An indexed vault beside its home; tests only read it."""
    vault = written(tmp_path_factory.mktemp("zettel") / "vault")
    open_bench(vault.parent / "home").vault(vault).index()
    return vault


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, folder):
    """The command, over the home in which the vault is indexed."""
    command = runner(capsys, monkeypatch, tmp_path)
    return lambda *arguments: command("--home", folder.parent / "home", *arguments)


@pytest.fixture
def given_vectors(monkeypatch):
    """Vectors that the test chooses, in place of the stored ones."""
    paths = tuple(sorted(FILES))
    angles = np.radians([0, 10, 20, 70, 30])
    vectors = NoteVectors(paths, np.column_stack([np.cos(angles), np.sin(angles)]), "given")
    monkeypatch.setattr(NoteSearch, "vectors", lambda _self: vectors)
    return vectors


def told(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_explore_walks_from_a_note_named_in_any_way(run, folder):
    for name in ("Water/Tide Gauge.md", "tide gauge", "Pegel"):
        found = told(run("zettel", "explore", name, "--vault", folder, "--depth", 1, "--json"))
        assert found["root"] == "Water/Tide Gauge.md"
        assert [(node["path"], node["link_class"]) for node in found["nodes"]] == [
            ("Water/Salinity.md", "sequential"),
            ("Home.md", "associative"),
        ]
    shown = run("zettel", "explore", "Pegel", "--vault", folder, "--direction", "forward").out
    assert shown.splitlines()[-1] == ("2 notes and 2 edges within 3 steps of Water/Tide Gauge.md; 0 branching points")


def test_an_unknown_note_is_told_with_what_comes_close(run, folder):
    done = run("zettel", "suggest", "Salinty", "--vault", folder)
    assert done.code == 3
    assert done.err == ("workbench: there is no note 'Salinty' in this vault; close to it: Water/Salinity.md\n")


def test_a_vault_that_was_never_indexed_is_told(run, tmp_path):
    (tmp_path / "other").mkdir()
    done = run("zettel", "health", "--vault", tmp_path / "other")
    assert done.code == 3
    assert "was not indexed yet" in done.err


@pytest.mark.usefixtures("given_vectors")
def test_suggest_gives_terms_and_reasons(run, folder):
    found = told(run("zettel", "suggest", "Home", "--vault", folder, "--json"))
    first = found["links"][0]
    assert (first["path"], first["mutual_links"], first["wikilink"]) == ("Water/Drift Buoy.md", 1, "[[Drift Buoy]]")
    assert first["score"] == pytest.approx(first["semantic_part"] + first["tag_part"] + first["neighbor_part"])
    assert "Semantically similar" in run("zettel", "suggest", "Home", "--vault", folder).out


def test_without_vectors_surprise_says_what_is_missing(run, folder):
    done = run("zettel", "surprise", "Home", "--vault", folder, "--json")
    assert json.loads(done.out)["notes"] == []
    assert "the note has no vector" in done.err


@pytest.mark.usefixtures("given_vectors")
def test_surprise_that_finds_nothing_says_what_asks_for_less(run, folder):
    done = run("zettel", "surprise", "Home", "--vault", folder, "--min-similarity", "1")
    assert (done.code, "--min-similarity and --min-distance ask for less" in done.err) == (0, True)


@pytest.mark.usefixtures("given_vectors")
def test_surprise_follows_the_reading_that_is_asked_for(run, folder):
    far = told(run("zettel", "surprise", "Home", "--vault", folder, "--json"))
    assert [row["path"] for row in far["notes"]] == ["Lone.md"]
    assert far["notes"][0]["distance"] is None
    assert " no way " in run("zettel", "surprise", "Home", "--vault", folder).out.splitlines()[1]
    near = told(run("zettel", "surprise", "Home", "--vault", folder, "--mode", "bridge", "--json"))
    assert near["notes"][0]["path"] == "Water/Salinity.md"


@pytest.mark.usefixtures("given_vectors")
def test_themes_list_their_notes(run, folder):
    found = told(run("zettel", "themes", "--vault", folder, "--threshold", 0.9, "--min-size", 2, "--json"))
    assert [len(theme["notes"]) for theme in found["themes"]] == [4]
    assert (found["analyzed"], found["linkage"], found["window"]) == (5, "single", None)
    assert (
        "1 theme by single linkage among 5 notes" in run("zettel", "themes", "--vault", folder, "--threshold", 0.9).out
    )


def test_health_lists_what_is_asked_for_and_keeps_its_score(run, folder):
    found = told(run("zettel", "health", "--vault", folder, "--json"))
    assert found["broken_links"] == [
        {"source_path": "Home.md", "line": 3, "syntax": "wikilink", "raw": "Tide Gage", "target": "Tide Gage"}
    ]
    assert [row["target"] for row in found["missing_attachments"]] == ["plot.png"]
    assert [row["path"] for row in found["orphans"]] == ["Lone.md"]
    part = told(run("zettel", "health", "--vault", folder, "--include", "orphans", "--json"))
    assert (part["score"], "broken_links" in part) == (found["score"], False)
    assert f"score {found['score']} of 100, over 5 notes and 5 links" in run("zettel", "health", "--vault", folder).out
    assert run("zettel", "health", "--vault", folder, "--recent", "--prefix", "x").code == 2


def test_a_name_of_several_notes_is_told_with_the_one_that_was_taken(run, tmp_path):
    vault = tmp_path / "twice"
    for path in ("A/Log.md", "Longer/log.md", "Longer/Catalog.md"):
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text("[[Log]]\n")
    run("vault", "index", vault)
    for command in ("explore", "surprise", "suggest"):
        done = run("zettel", command, "LOG", "--vault", vault)
        assert "2 notes are called 'LOG'; taken was A/Log.md, not Longer/log.md: give the path" in done.err, command
        assert "notes are called" not in run("zettel", command, "A/Log.md", "--vault", vault).err
    assert "notes are called" not in run("zettel", "explore", "Longer/log", "--vault", vault).err
    shown = run("zettel", "explore", "A/Log.md", "--vault", vault, "--depth", 1).out
    assert shown.splitlines()[-1].endswith("within 1 step of A/Log.md; 0 branching points")
    shown = run("zettel", "suggest", "A/Log.md", "--vault", vault).out
    assert shown.splitlines()[-1] == "0 links that A/Log.md could have"


def test_an_empty_vault_has_no_score(run, tmp_path):
    (tmp_path / "empty").mkdir()
    run("vault", "index", tmp_path / "empty")
    assert told(run("zettel", "health", "--vault", tmp_path / "empty", "--json"))["score"] is None
    shown = run("zettel", "health", "--vault", tmp_path / "empty").out
    assert shown.splitlines()[-1] == "no notes, so there is no score"
    done = run("report", "vault", tmp_path / "empty", "--out", tmp_path / "empty.html", "--json")
    assert told(done)["score"] is None


def test_notes_at_the_root_are_told_as_such(run, folder):
    rows = run("zettel", "converse", "salinity of the tide", "--vault", folder).out.splitlines()
    assert next(row.split()[3:5] for row in rows if "Home.md" in row) == ["(root)", "Home.md"]


def test_converse_finds_notes_and_says_that_meaning_was_not_judged(run, folder):
    done = run("zettel", "converse", "salinity of the tide", "--vault", folder, "--json")
    found = json.loads(done.out)
    assert "Water/Salinity.md" in [row["path"] for row in found["notes"] if row["origin"] == "search"]
    assert {"Home.md", "Water"} <= set(found["domains"])
    assert found["lacks"]
    assert done.err.startswith("workbench: ")
    prompt = run("zettel", "converse", "salinity", "--vault", folder, "--prompt").out
    assert prompt.startswith("Question: salinity\n")


def test_a_fix_is_shown_then_applied_then_taken_back(run, tmp_path):
    vault = written(tmp_path / "own")
    run("vault", "index", vault)
    (vault / "Water/Drift Buoy.md").rename(vault / "Water/Floating Platform.md")
    run("vault", "index", vault)
    before = (vault / "Home.md").read_bytes()
    left = told(run("vault", "fix", vault, "--json"))["proposals"]
    assert [(row["outcome"], row["path"], row["proposed_link"]) for row in left if row["kind"] == "broken_link"] == [
        ("proposed", "Water/Salinity.md", "Floating Platform"),  # it moved
        ("left", "Home.md", "Tide Gauge"),
    ]
    wanted = ("--kind", "broken_link", "--note", "Home", "--min-confidence", 0.85)
    assert (
        run("vault", "fix", vault, *wanted).out.splitlines()[-1]
        == "nothing was written: --apply writes what is proposed"
    )
    assert (vault / "Home.md").read_bytes() == before
    done = run("vault", "fix", vault, *wanted, "--apply")
    assert done.code == 0
    assert b"[[Salinity]] and [[Tide Gauge]]" in (vault / "Home.md").read_bytes()
    copies = done.out.splitlines()[-1].split("--restore ")[1]
    again = run("vault", "fix", vault, *wanted, "--apply")
    assert (again.code, "the file changed since it was indexed" in again.err) == (1, True)
    assert told(run("vault", "fix", vault, "--restore", copies, "--json")) == {"restored": ["Home.md"], "refused": {}}
    assert (vault / "Home.md").read_bytes() == before


def test_the_face_gives_graph_figures_and_says_that_there_is_no_history(folder):
    vault = open_bench(folder.parent / "home").vault(folder)
    assert len(vault.graph) == 5
    assert vault.figures().notes.height == 5
    assert vault.growth().lack.startswith("no history: ")
    assert vault.operations is vault.operations
