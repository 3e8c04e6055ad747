"""Which files there are to import: nothing is opened, nothing is entered twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from credentials import fill

from workbench.ingest import discover
from workbench.ingest.discover import Found, Unreadable, agent_folders, told, walk


def found(*paths):
    return [item.path for item in walk(paths) if isinstance(item, Found)]


def unreadable(*paths):
    return [(Path(item.path).name, item.reason) for item in walk(paths) if isinstance(item, Unreadable)]


@pytest.fixture
def tree(tmp_path):
    for name in ("b.jsonl", "a/z.jsonl", "a/deep/er/x.md", "c/d.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_all_files_below_a_folder_by_path(tree):
    assert found(tree) == [str(tree / name) for name in ("a/deep/er/x.md", "a/z.jsonl", "b.jsonl", "c/d.jsonl")]


def test_a_file_is_told_with_size_time_and_inode(tree):
    about = (tree / "b.jsonl").stat()
    assert list(walk([tree / "b.jsonl"])) == [Found(str(tree / "b.jsonl"), 7, about.st_mtime_ns, about.st_ino)]


def test_what_is_named_twice_is_found_once(tree):
    assert found(tree / "a", tree, tree / "a/z.jsonl", tree / "c/../b.jsonl") == [
        str(tree / name) for name in ("a/deep/er/x.md", "a/z.jsonl", "b.jsonl", "c/d.jsonl")
    ]


def test_links_are_followed_and_loops_are_not(tree):
    (tree / "a/up").symlink_to(tree, target_is_directory=True)
    (tree / "a/self").symlink_to(tree / "a", target_is_directory=True)
    (tree / "c/linked.jsonl").symlink_to(tree / "b.jsonl")
    real = [os.path.realpath(path) for path in found(tree)]
    assert sorted(real) == [str(tree / name) for name in ("a/deep/er/x.md", "a/z.jsonl", "b.jsonl", "c/d.jsonl")]


def test_a_link_to_itself_and_one_to_nowhere_are_told_and_hide_nothing(tree):
    (tree / "a/round").symlink_to(tree / "a/round")
    (tree / "a/gone").symlink_to(tree / "nowhere")
    assert len(found(tree)) == 4
    assert unreadable(tree) == [("gone", "No such file or directory"), ("round", "Too many levels of symbolic links")]


def test_a_path_that_is_not_there_is_told(tree):
    assert unreadable(tree / "nowhere", tree / "b.jsonl/x") == [
        ("nowhere", "No such file or directory"),
        ("x", "Not a directory"),
    ]


def test_a_pipe_is_told_and_not_opened(tree, monkeypatch):
    os.mkfifo(tree / "a/pipe.jsonl")
    monkeypatch.setattr(discover, "open", None, raising=False)
    assert unreadable(tree) == [("pipe.jsonl", "neither a file nor a folder")]
    assert len(found(tree)) == 4


def test_a_folder_that_may_not_be_listed_is_told_and_hides_nothing(tree, monkeypatch):
    listdir = os.listdir

    def refuse(path):
        if Path(path).name == "deep":
            raise PermissionError(13, "Permission denied", path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", refuse)
    assert unreadable(tree) == [("deep", "Permission denied")]
    assert len(found(tree)) == 3


def test_the_users_home_may_be_written_short(tree, monkeypatch):
    monkeypatch.setenv("HOME", str(tree))
    assert found(Path("~/b.jsonl")) == [str(tree / "b.jsonl")]


def test_a_name_that_is_no_utf_8_is_a_name(tree):
    strange = os.fsencode(tree) + b"/c/\xff\xfe.jsonl"
    Path(os.fsdecode(strange)).write_bytes(b"x")
    assert os.fsencode(found(tree / "c")[-1]) == strange


def test_a_path_is_told_as_it_is():
    for path in ("/srv/work/demo/a.jsonl", "/home/u/.claude/projects/-srv-token-utils/0e7f3b6a.jsonl", "relative/x"):
        assert told(path) == path
    assert told(os.fsdecode(b"/srv/\xff.jsonl")) == "/srv/\\xff.jsonl"


def test_credentials_in_names_are_replaced_and_such_paths_stay_apart():
    one, other = (f"/srv/{fill('ghp_{36}', seed)[0]}" for seed in (1, 2))
    assert told(f"{one}/a.jsonl").startswith("/srv/[REDACTED:github-token]#")
    assert told(f"{one}/a.jsonl").endswith("/a.jsonl")
    assert told(f"{one}/a.jsonl") != told(f"{other}/a.jsonl")
    assert told(f"{one}/a.jsonl") == f"{told(one)}/a.jsonl"
    assert told(told(one)) == told(one)


USER = Path("/home/u")


@pytest.mark.parametrize(
    ("claude", "xdg", "folders"),
    [
        (None, None, ["/home/u/.claude/projects", "/home/u/.config/claude/projects"]),
        (None, Path("/x"), ["/home/u/.claude/projects", "/x/claude/projects"]),
        (Path("/c"), None, ["/c/projects"]),
        (Path("/c"), Path("/x"), ["/c/projects"]),
        (Path("/c, /d,/c"), None, ["/c/projects", "/d/projects"]),
        (None, Path("/home/u"), ["/home/u/.claude/projects", "/home/u/claude/projects"]),
    ],
)
def test_where_claude_code_keeps_its_sessions(claude, xdg, folders):
    found = agent_folders(claude, None, xdg, USER)
    assert [folder for folder in found if folder.name == "projects"] == [Path(folder) for folder in folders]


def test_where_other_agents_keep_theirs():
    found = agent_folders(None, None, None, USER)
    names = (".codex/sessions", ".codex/archived_sessions", ".pi/agent/sessions", ".gemini/tmp")
    assert {USER / name for name in names} <= set(found)
    assert {Path("/k/sessions"), Path("/k/archived_sessions")} <= set(agent_folders(None, Path("/k"), None, USER))
    assert len(found) == len(set(found))
