import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command import WORKBENCH, environment
from in_process import runner


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "A.md").write_text("---\nx: y: z\n---\n[[B]] [[Nope]]")
    (folder / "B.md").write_text("# B")
    return folder


def test_index_status_and_what_changed_since(run, vault):
    done = run("vault", "index", vault, "--json")
    keys = [
        "vault_id",
        "root",
        "run_id",
        "notes",
        "attachments",
        "links",
        "added",
        "changed",
        "renamed",
        "removed",
        "opened",
        "unread",
        "issues",
        "seconds",
    ]
    assert (done.code, list(done.json)) == (0, keys)
    assert [done.json[key] for key in ("notes", "links", "added", "issues")] == [2, 2, 2, 1]
    again = run("vault", "index", vault)
    assert again.out.startswith("2 notes, 2 links: nothing changed")
    (vault / "C.md").write_text("new")
    told = run("vault", "status", vault, "--json").json
    assert told["since"] == {"is_there": True, "new": 1, "changed": 0, "gone": 0}
    assert (told["links_that_lead_somewhere"], told["links_to_nothing"]) == (1, 1)
    assert told["issue_kinds"] == {"front_matter": 1}
    human = run("vault", "status", vault).out
    assert "2 notes, 0 other files" in human
    assert "since then 1 new" in human
    assert [each["name"] for each in run("vault", "status", "--json").json] == ["notes"]
    assert "notes" in run("vault", "status").out


def test_a_folder_without_notes_is_told(run, tmp_path):
    (tmp_path / "empty").mkdir()
    done = run("vault", "index", tmp_path / "empty")
    assert (done.code, f"there is no note (*.md) in {tmp_path / 'empty'}" in done.err) == (0, True)


def test_what_is_missing_is_told(run, vault, tmp_path):
    assert run("vault", "index", tmp_path / "nowhere").code == 3
    assert run("vault", "index").code == 2
    never = run("vault", "status", vault)
    assert (never.code, "was not indexed yet: workbench vault index" in never.err) == (3, True)


def test_a_file_that_cannot_be_opened_is_an_exit_code(run, vault, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("workbench.vault.index.read_note", refuse)
    done = run("vault", "index", vault)
    assert (done.code, "2 files could not be opened" in done.err) == (1, True)


def test_forget_tells_what_would_go_asks_and_leaves_the_notes(run, vault):
    assert run("vault", "forget", vault, "--yes").code == 3
    run("vault", "index", vault)
    would = run("vault", "forget", vault, "--dry-run")
    assert (would.code, "rows would go (vault_runs 1," in would.out) == (0, True)
    refused = run("vault", "forget", vault)
    assert (refused.code, "add --yes" in refused.err) == (2, True)
    assert run("vault", "status", vault).code == 0
    done = run("vault", "forget", vault, "--yes", "--json")
    keys = ["dry_run", "vault_id", "root", "rows", "chunks", "copies", "reports", "bytes", "left"]
    assert (done.code, list(done.json)) == (0, keys)
    assert (done.json["dry_run"], done.json["rows"]["notes"], done.json["left"]) == (False, 2, [])
    assert run("vault", "status", "--json").json == []
    assert "no vault was indexed yet: workbench vault index FOLDER" in run("vault", "status").err
    assert sorted(path.name for path in vault.iterdir()) == ["A.md", "B.md"]


def test_watch_follows_changes_until_it_is_interrupted(vault, tmp_path):
    command = [WORKBENCH, "vault", "watch", str(vault), "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as watching:
        assert json.loads(watching.stdout.readline())["added"] == 2
        time.sleep(0.5)
        (vault / "C.md").write_text("[[A]]")
        assert json.loads(watching.stdout.readline())["added"] == 1
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=20) == 130


def test_the_commands_of_the_page_run(run, vault):
    page = (Path(__file__).resolve().parents[2] / "docs/vault.md").read_text("utf-8")
    lines = [shlex.split(line, comments=True)[1:] for line in page.splitlines() if line.startswith("workbench vault ")]
    asked = [words for words in lines if words[1] in ("index", "status")]
    assert [run(*(str(vault) if word == "~/notes" else word for word in words)).code for words in asked] == [0, 0, 0]


def test_the_page_names_every_kind_of_issue():
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs/vault.md").read_text("utf-8")
    said = "".join(path.read_text("utf-8") for path in (root / "workbench/vault").glob("*.py"))
    kinds = set(re.findall(r'NoteIssue\(\s*"(\w+)"|_note\([^,\n]+, "(\w+)"|_issue\("(\w+)"', said))
    named = {kind for found in kinds for kind in found if kind}
    assert len(named) >= 9
    assert {kind for kind in named if f"`{kind}`" not in page} == set()
