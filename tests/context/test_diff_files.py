from __future__ import annotations

import pytest

from workbench.context.distillers.diff_files import FileChange, names_of, summarise_diff


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("diff --git a/x.py b/x.py", ("x.py", "x.py")),
        ("diff --git a/my file.txt b/my file.txt", ("my file.txt", "my file.txt")),
        ("diff --git a/old.py b/new.py", ("old.py", "new.py")),
        ('diff --git "a/\\303\\251.md" "b/\\303\\251.md"', ("é.md", "é.md")),
        ("diff --cc merged.py", ("merged.py", "merged.py")),
    ],
)
def test_names_are_read_from_the_header(header, names):
    assert names_of(header) == names


def test_added_deleted_and_removed_lines_that_look_like_names_are_told_apart():
    added = "new file mode 100644\n--- /dev/null\n+++ b/new.sql\n@@ -0,0 +1 @@\n+x\n"
    deleted = "deleted file mode 100644\n--- a/old.sql\n+++ /dev/null\n@@ -1 +0,0 @@\n--- note\n"
    text = f"diff --git a/new.sql b/new.sql\n{added}diff --git a/old.sql b/old.sql\n{deleted}"
    assert summarise_diff(text) == (
        FileChange(None, "new.sql", "added", 1, 0),
        FileChange("old.sql", None, "deleted", 0, 1),
    )


def test_a_diff_without_git_headers_is_read_too():
    first = "--- a.txt\t2026-03-02\n+++ a.txt\t2026-03-03\n@@ -1,2 +1,2 @@\n-one\n+two\n same\n"
    text = f"{first}--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-x\n+y\n"
    assert summarise_diff(text) == (
        FileChange("a.txt", "a.txt", "modified", 1, 1),
        FileChange("b.txt", "b.txt", "modified", 1, 1),
    )
