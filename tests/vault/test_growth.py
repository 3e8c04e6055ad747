from __future__ import annotations

import subprocess

import pytest

from workbench.errors import BadInputError
from workbench.vault.growth import growth


@pytest.fixture
def repository(tmp_path):
    """A repository whose vault is the folder `notes`."""
    folder = tmp_path / "repository"
    (folder / "notes").mkdir(parents=True)
    run(folder, "init", "-q", "-b", "main")
    return folder


def run(folder, *arguments, day=1):
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    moment = f"2026-01-{day:02}T12:00:00+00:00"
    environment = {
        "GIT_COMMITTER_DATE": moment,
        "GIT_AUTHOR_DATE": moment,
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
    }
    subprocess.run(["git", "-C", folder, *settings, *arguments], check=True, capture_output=True, env=environment)


def commit(folder, day):
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "--allow-empty", "-m", "x", day=day)


def test_notes_and_links_are_counted_commit_by_commit(repository):
    vault = repository / "notes"
    (vault / "A.md").write_text("[[B]] and [[C|c]] ![[p.png]]\n[x](y.md) [web](https://example.org)\n")
    commit(repository, 1)
    (vault / "日记 B.md").write_text("[[A]]\n")
    (vault / "A.md").write_text("[[B]]\n")
    commit(repository, 2)
    (repository / "elsewhere.md").write_text("[[not of the vault]]\n")
    commit(repository, 3)
    (vault / "A.md").rename(vault / "Z.md")
    commit(repository, 4)
    (vault / "日记 B.md").unlink()
    commit(repository, 5)
    found = growth(vault)
    assert found.lack is None
    columns = found.commits.select("notes_added", "notes_removed", "links_added", "links_removed", "notes", "links")
    assert columns.rows() == [
        (1, 0, 4, 0, 1, 4),
        (1, 0, 2, 4, 2, 2),
        (0, 0, 0, 0, 2, 2),
        (0, 1, 0, 1, 1, 1),
    ]
    assert [moment.day for moment in found.commits["committed_at"]] == [1, 2, 4, 5]


def test_lines_that_look_like_the_head_of_a_diff_are_lines(repository):
    (repository / "A.md").write_text("new file mode\n-- a/[[x]]\n")
    commit(repository, 1)
    (repository / "A.md").write_text("")
    commit(repository, 2)
    assert growth(repository).commits.select("notes", "links").rows() == [(1, 1), (1, 0)]


def test_a_merge_is_one_step_of_its_branch(repository):
    (repository / "A.md").write_text("a\n")
    commit(repository, 1)
    run(repository, "checkout", "-q", "-b", "side")
    (repository / "B.md").write_text("[[A]]\n")
    commit(repository, 2)
    run(repository, "checkout", "-q", "main")
    run(repository, "merge", "-q", "--no-ff", "-m", "m", "side", day=3)
    assert growth(repository).commits.select("notes", "links").rows() == [(1, 0), (2, 1)]


def test_a_folder_in_no_repository_has_no_history(tmp_path):
    found = growth(tmp_path, run=lambda _: None)
    assert found.commits.height == 0
    assert found.lack == f"no history: {tmp_path} is in no git repository, or there is no git"


def test_a_repository_without_notes_has_no_history(repository):
    assert growth(repository).lack == "no history: the repository has no commit that touches a note"


def test_output_of_another_form_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="where a commit and its time belong"):
        growth(tmp_path, run=lambda _: "\x1eabc not a time\n")
