import os

import pytest

from workbench.vault.walk import list_files, one_path_each


def written(root, *paths):
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    return root


def kinds(listing):
    return {file.path: file.kind for file in listing.files}


def test_files_are_told_by_their_endings_and_hidden_ones_are_none(tmp_path):
    names = [
        "A.MD",
        "b.canvas",
        "c.base",
        "d/e.png",
        ".obsidian/app.json",
        ".trash/x.md",
        ".git/y.md",
        "node_modules/z.md",
    ]
    listing = list_files(written(tmp_path, *names))
    assert kinds(listing) == {
        "A.MD": "note",
        "b.canvas": "canvas",
        "c.base": "base",
        "d": "folder",
        "d/e.png": "attachment",
    }
    assert [(path, issue.kind) for path, issue in listing.issues] == [("node_modules", "skipped_folder")]


def test_circles_of_links_end_and_are_told(tmp_path):
    root = written(tmp_path / "vault", "a/n.md")
    (root / "a" / "up").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "gone").symlink_to(tmp_path / "nowhere")
    listing = list_files(root)
    assert kinds(listing) == {"a": "folder", "a/n.md": "note"}
    assert {path: issue.kind for path, issue in listing.issues} == {
        "a/up": "symlink_circle",
        "self": "broken_symlink",
        "gone": "broken_symlink",
    }


def test_two_folders_that_lead_to_each_other_end_too(tmp_path):
    root = written(tmp_path, "a/n.md", "b/m.md")
    for n in range(12):
        (root / "a" / f"to{n}").symlink_to(root / "b")
        (root / "b" / f"to{n}").symlink_to(root / "a")
    assert len(list_files(root).files) < 1000


def test_links_out_of_the_vault_are_followed_and_their_target_noted(tmp_path):
    written(tmp_path / "elsewhere", "notes/n.md")
    root = written(tmp_path / "vault", "own.md")
    (root / "project").symlink_to(tmp_path / "elsewhere" / "notes")
    (root / "z.md").symlink_to(root / "own.md")
    os.link(root / "own.md", root / "hard.md")
    listing = list_files(root)
    targets = {file.path: file.link_target for file in listing.files}
    assert targets == {
        "own.md": None,
        "hard.md": None,
        "z.md": str(root / "own.md"),
        "project": str(tmp_path / "elsewhere/notes"),
        "project/n.md": str(tmp_path / "elsewhere/notes/n.md"),
    }
    assert one_path_each(listing.files) == {"own.md": "z.md", "hard.md": "z.md"}


def test_a_name_that_is_no_utf8_is_told_and_costs_no_other(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    listing = list_files(written(tmp_path, "good.md"))
    assert kinds(listing) == {"good.md": "note"}
    assert [(path, issue.kind) for path, issue in listing.issues] == [("bad\\udcff.md", "file_name")]


def test_limits_are_named_where_they_leave_something_out(tmp_path):
    written(tmp_path, *(f"{n}.md" for n in range(5)), "a/b/deep.md")
    listing = list_files(tmp_path, max_files=3, max_depth=1)
    assert sum(file.kind == "note" for file in listing.files) == 3
    assert {issue.kind for _, issue in listing.issues} == {"left_out"}
    assert len(list_files(tmp_path).issues) == 0


def test_pipes_and_sockets_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    assert list_files(tmp_path).files == []
