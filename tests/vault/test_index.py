import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import BadInputError, BusyError, NotFoundError
from workbench.store.tables import vault as tables
from workbench.vault import index as index_module
from workbench.vault import landing
from workbench.vault.rows import NOTE_ISSUES

DATA = Path(os.environ.get("WORKBENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
SHARED = DATA / "vaults"
OLD = 1_700_000_000


def written(root, **notes):
    """Notes, changed long ago, so that a run need not open them again."""
    for name, text in notes.items():
        file = root / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, (OLD, OLD))
    return root


@pytest.fixture
def bench(tmp_path):
    return wb.open(tmp_path / "home")


@pytest.fixture
def root(tmp_path):
    return written(
        tmp_path / "vault", A="---\ntags: [t]\naliases: [Other]\n---\n# A\n[[B]] [[Other]]", B="[[A#A]] [[Nope]] #t"
    )


def counts(run):
    return {name: getattr(run, name) for name in ("added", "changed", "renamed", "removed", "opened")}


def targets(vault):
    return [(link["source_path"], link["target"], link["target_path"]) for link in vault.links.to_dicts()]


def derived(bench):
    """Every derived row of the vaults, in order."""
    return {
        t.name: bench.sql(f"select * from {t.name} order by all").rows() for t in tables.TABLES if t.kind == "derived"
    }


def test_the_tables_say_what_the_notes_say(bench, root):
    (root / "img").mkdir()
    (root / "img/p.png").write_bytes(b"x")
    vault = bench.vault(root)
    run = vault.index()
    assert counts(run) == {"added": 2, "changed": 0, "renamed": 0, "removed": 0, "opened": 2}
    assert (run.notes, run.attachments, run.links, run.issues) == (2, 1, 4, 0)
    written_down = "source_path, place, line, target, heading"
    made_out = "target_path, target_kind, anchor_found, link_class, class_reason"
    assert bench.sql(f"select {written_down}, {made_out} from note_links order by all").rows() == [
        ("A.md", 0, 6, "B", None, "B.md", "note", None, "sequential", "tag"),
        ("A.md", 1, 6, "Other", None, "A.md", "self", None, None, None),
        ("B.md", 0, 1, "A", "A", "A.md", "note", True, "sequential", "tag"),
        ("B.md", 1, 1, "Nope", None, None, None, None, None, None),
    ]
    assert bench.sql("select path, title, words, folder, size_bytes from notes order by path").rows() == [
        ("A.md", "A", 4, None, 54),
        ("B.md", "B", 3, None, 19),
    ]
    assert bench.sql("select path, kind, note_path from vault_files order by path").rows() == [
        ("A.md", "note", "A.md"),
        ("B.md", "note", "B.md"),
        ("img", "folder", None),
        ("img/p.png", "attachment", None),
    ]
    assert vault.notes["tags"].to_list() == [["t"], ["t"]]
    assert bench.vaults["root"].to_list() == [str(root.resolve())]


def test_a_run_without_changes_opens_nothing_and_leaves_every_row(bench, root):
    vault = bench.vault(root)
    vault.index()
    before = derived(bench), bench.sql("select * from notes_history order by all").rows()
    again = vault.index()
    assert counts(again) == {"added": 0, "changed": 0, "renamed": 0, "removed": 0, "opened": 0}
    assert (derived(bench), bench.sql("select * from notes_history order by all").rows()) == before
    assert bench.sql("select count(*) from vault_runs").item() == 2


def test_what_changes_is_seen_and_other_notes_links_follow(bench, root):
    vault = bench.vault(root)
    vault.index()
    written(root, Nope="now there is one", **{"sub/B": "nearer"})
    (root / "A.md").write_text("changed [[B]]")
    assert counts(vault.index()) == {"added": 2, "changed": 1, "renamed": 0, "removed": 0, "opened": 3}
    assert targets(vault) == [("A.md", "B", "B.md"), ("B.md", "A", "A.md"), ("B.md", "Nope", "Nope.md")]
    (root / "B.md").unlink()
    run = vault.index()
    assert (run.removed, targets(vault)) == (1, [("A.md", "B", "sub/B.md")])
    versions = bench.sql(
        "select path, deleted, text from notes_history where path = 'B.md' order by recorded_at"
    ).rows()
    assert versions == [("B.md", False, "[[A#A]] [[Nope]] #t"), ("B.md", True, "")]


def test_a_renamed_note_stays_the_same_note(bench, root):
    vault = bench.vault(root)
    vault.index()
    ids = dict(bench.sql("select path, note_id from notes").rows())
    (root / "deep").mkdir()
    (root / "B.md").rename(root / "deep/C.md")
    run = vault.index()
    assert counts(run) == {"added": 0, "changed": 0, "renamed": 1, "removed": 0, "opened": 1}
    found = bench.sql("select path, note_id, renamed_from from notes order by path").rows()
    assert found == [("A.md", ids["A.md"], None), ("deep/C.md", ids["B.md"], "B.md")]


def test_a_note_that_was_only_touched_gets_no_version(bench, root):
    vault = bench.vault(root)
    vault.index()
    (root / "A.md").touch()
    run = vault.index()
    assert (run.opened, run.changed) == (1, 0)
    assert bench.sql("select count(*) from notes_history").item() == 2


def test_all_rows_made_anew_are_the_same(bench, root):
    written(root, Bad=b"---\nx: y: z\n---\n\xff [[A]]")
    vault = bench.vault(root)
    vault.index()
    before = derived(bench)
    run = vault.index(anew=True)
    assert (run.opened, run.changed, derived(bench)) == (3, 0, before)
    assert bench.sql("select count(*) from notes_history").item() == 3


def test_bad_notes_become_issues_and_hide_no_other(bench, root):
    written(
        root,
        Latin="Stra\xdfe [[A]]".encode("latin-1"),
        Zero=b"a\0b [[A]]",
        Wide="\ufeff[[A]]".encode("utf-16-le"),
        Empty="",
    )
    vault = bench.vault(root)
    assert vault.index().notes == 6
    asked = "select path, kind, line from note_issues order by path"
    issues = [("Latin.md", "encoding", 1), ("Wide.md", "encoding", 1), ("Zero.md", "zero_byte", 1)]
    assert bench.sql(asked).rows() == issues
    assert {kind for _, kind, _ in issues} <= NOTE_ISSUES
    linked = "select source_path from note_links where target_path = 'A.md' and source_path > 'C' order by 1"
    assert [path for (path,) in bench.sql(linked).rows()] == ["Latin.md", "Wide.md", "Zero.md"]
    vault.index()
    assert bench.sql(asked).rows() == issues


def test_credentials_never_reach_a_table(bench, root):
    secret = "sk-ant-api03-" + "Ab1" * 31 + "-AAAA"
    written(root, Keys=f"---\nkey: {secret}\n---\n# {secret}\n[[{secret}|x]] {secret}:: {secret}")
    vault = bench.vault(root)
    vault.index()
    assert "[REDACTED:" in vault.text("Keys.md")
    stored = b"".join(path.read_bytes() for path in bench.home.root.rglob("*") if path.is_file())
    assert secret.encode() not in stored
    told = [str(row) for rows in derived(bench).values() for row in rows]
    assert [row for row in told if secret in row] == []


def test_names_with_marks_of_links_and_odd_files_are_read(bench, root):
    written(root, **{"a#b": "1", "a|b": "2", "a[b]": "3", "a^b": "4"})
    written(root, Links="[x](a%23b.md) [y](a%7Cb.md) [z](a%5Bb%5D.md) [w](a%5Eb.md) ![[draw.canvas]] [[view.base]]")
    (root / "draw.canvas").write_text("{not json")
    (root / "view.base").write_text("views: []")
    vault = bench.vault(root)
    vault.index()
    found = [path for source, _, path in targets(vault) if source == "Links.md"]
    assert found == ["a#b.md", "a|b.md", "a[b].md", "a^b.md", "draw.canvas", "view.base"]


def test_a_note_of_twenty_megabytes_is_read_whole(bench, root):
    written(root, Big="# Big\n" + ("words that go on and on, " * 400 + "[[A]] in it\n") * 2000)
    assert bench.vault(root).index().links == 2_004


def test_an_empty_vault_and_one_in_a_git_repository(bench, tmp_path):
    (tmp_path / "empty").mkdir()
    assert bench.vault(tmp_path / "empty").index().notes == 0
    repository = written(tmp_path / "repo", N="text")
    written(repository / ".git", X="no note")
    assert bench.vault(repository).index().notes == 1
    assert set(bench.vaults["name"]) == {"empty", "repo"}


def test_a_note_that_cannot_be_read_keeps_what_was_known(bench, root, monkeypatch):
    vault = bench.vault(root)
    vault.index()
    real = index_module.read_note

    def refuse(file, *rest):
        if file.name in ("A.md", "New.md"):
            raise PermissionError(13, "Permission denied")
        return real(file, *rest)

    monkeypatch.setattr(index_module, "read_note", refuse)
    (root / "A.md").write_text("other")
    written(root, New="x")
    run = vault.index()
    assert (run.unread, run.notes, run.changed) == (2, 2, 0)
    assert vault.text("A.md").startswith("---")
    issues = bench.sql("select path, kind, detail from note_issues order by path").rows()
    assert [(path, kind) for path, kind, _ in issues] == [("A.md", "unreadable_file"), ("New.md", "unreadable_file")]


def test_a_vault_that_vanishes_while_the_run_goes_on_keeps_what_was_known(bench, root, monkeypatch):
    before = bench.vault(root).index().notes
    real = index_module.VaultIndexer._listed

    def vanish(indexer):
        listing = real(indexer)
        shutil.rmtree(root)
        return listing

    monkeypatch.setattr(index_module.VaultIndexer, "_listed", vanish)
    vault = bench.vault(root)
    with pytest.raises(NotFoundError, match="vanished while it was read"):
        vault.index(anew=True)
    assert (before > 0, vault.notes.height) == (True, before)


def test_a_note_that_vanishes_while_the_run_goes_on_is_gone(bench, root, monkeypatch):
    real = index_module.read_note

    def vanish(file, *rest):
        if file.name == "A.md":
            file.unlink()
        return real(file, *rest)

    monkeypatch.setattr(index_module, "read_note", vanish)
    vault = bench.vault(root)
    assert (vault.index().notes, vault.notes["path"].to_list()) == (1, ["B.md"])


def test_a_run_is_shown_as_a_whole_or_not_at_all(bench, root, monkeypatch):
    vault = bench.vault(root)
    vault.index()
    before = derived(bench), vault.notes.rows()
    written(root, C="[[A]]")

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(landing, "_commit", die)
        with pytest.raises(KeyboardInterrupt):
            vault.index()
    assert (derived(bench), vault.notes.rows()) == before
    assert bench.verify().ok
    vault.index()
    assert vault.notes["path"].to_list() == ["A.md", "B.md", "C.md"]
    assert bench.sql("select count(*) from notes_history").item() == 3
    marks = {
        name: len(set(store.read(["landing_id"])[1]["landing_id"].to_pylist()))
        for name, store in bench._lake.stores.items()
        if name.startswith("note_") or name == "vault_files"
    }
    assert max(marks.values()) == 1


def test_readers_see_one_run_while_runs_go_on(bench, root):
    vault = bench.vault(root)
    vault.index()
    stop, torn = threading.Event(), []

    def look():
        reader = wb.open(bench.home.root)
        asked = "select (select count(*) from notes) as n, (select count(*) from note_links where target = 'Mark') as m"
        while not stop.is_set():
            notes, marks = reader.sql(asked).row(0)
            if notes != marks + 2:
                torn.append((notes, marks))

    reading = threading.Thread(target=look)
    reading.start()
    for number in range(4):
        written(root, **{f"N{number}": "[[Mark]]"})
        vault.index()
    stop.set()
    reading.join()
    assert torn == []


def test_of_two_runs_at_once_one_waits_or_is_told(bench, root):
    vault = bench.vault(root)
    with bench.home.vault_lock(vault.vault_id):
        indexer = index_module.VaultIndexer(bench._lake, vault.root)
        with pytest.raises(BusyError, match="another run over this vault"):
            indexer.run(wait_seconds=0.1)
    code = "import sys, workbench as wb; print(wb.open(sys.argv[1]).vault(sys.argv[2]).index().added)"
    command = [sys.executable, "-c", code, str(bench.home.root), str(root)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(int(each.communicate(timeout=60)[0]) for each in both) == [0, 2]
    assert bench.sql("select count(*) from notes_history").item() == 2


def test_a_path_that_is_no_folder_is_told(bench, tmp_path):
    (tmp_path / "file.md").write_text("x")
    with pytest.raises(NotFoundError, match="there is no folder"):
        bench.vault(tmp_path / "nowhere")
    with pytest.raises(BadInputError, match="is a file"):
        bench.vault(tmp_path / "file.md")
    with pytest.raises(BadInputError, match=r"vault\.path"):
        bench.vault()


@pytest.mark.skipif(not SHARED.is_dir(), reason="not in this clone: the real data of WORKBENCH_DATA")
@pytest.mark.parametrize(
    ("name", "notes", "wikilinks", "embeds", "dangling"),
    [("small-templates", 103, 148, 61, 63), ("medium-zh-garden", 1729, 3722, 44, 1229)],
)
def test_real_vaults_have_the_notes_and_links_that_were_counted(bench, name, notes, wikilinks, embeds, dangling):
    vault = bench.vault(SHARED / name)
    assert vault.index().notes == notes
    found = dict(vault.sql("select syntax, count(*) from note_links group by all").rows())
    assert (found["wikilink"], found["embed"]) == (wikilinks, embeds)
    asked = "select count(*) from note_links where syntax = 'wikilink' and target_path is null"
    assert vault.sql(asked).item() == dangling
