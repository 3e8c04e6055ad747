import unicodedata

import pytest

from workbench.vault.names import NamedFiles, NameIndex

FILES = NamedFiles(
    notes=[
        "Home.md",
        "a/Log.md",
        "b/Log.md",
        "b/c/Log.md",
        "b/c/log.md",
        "v1.2 plan.md",
        "pic.png.md",
        "Titled.md",
        "Café.md",
    ],
    attachments=["img/pic.png", "img/only.pdf", "plan", "b/chart.canvas"],
    folders=["a", "b", "b/c", "img"],
    titles={"Titled.md": "Home", "a/Log.md": "A day"},
    aliases={"Home.md": ["Start", "A day"], "Titled.md": ["Start"]},
    other_paths={"mirror/Elsewhere.md": "Titled.md"},
)


@pytest.mark.parametrize(
    ("target", "source", "path", "kind"),
    [
        ("Log", "a/x.md", "a/Log.md", "note"),
        ("Log", "b/c/x.md", "b/c/Log.md", "note"),
        ("log", "b/c/x.md", "b/c/log.md", "note"),
        ("Log", "z/x.md", "a/Log.md", "note"),
        ("c/Log", "Home.md", "b/c/Log.md", "note"),
        ("b/log.md", "Home.md", "b/Log.md", "note"),
        ("../Log", "b/c/x.md", "b/Log.md", "note"),
        ("./Log.md", "b/x.md", "b/Log.md", "note"),
        ("/a/Log", "b/x.md", "a/Log.md", "note"),
        ("../../../etc/passwd", "a/x.md", None, None),
        ("v1.2 plan", "Home.md", "v1.2 plan.md", "note"),
        ("pic.png", "Home.md", "img/pic.png", "attachment"),
        ("plan", "Home.md", "plan", "attachment"),
        ("only", "Home.md", None, None),
        ("only.PDF", "Home.md", "img/only.pdf", "attachment"),
        ("chart.canvas", "Home.md", "b/chart.canvas", "attachment"),
        ("Home", "a/Log.md", "Home.md", "note"),  # the file's name goes before another note's title
        ("A day", "Home.md", "a/Log.md", "note"),  # a title before an alias
        ("start", "Titled.md", "Home.md", "note"),
        ("mirror/Elsewhere", "Home.md", "Titled.md", "note"),
        ("Elsewhere", "Home.md", "Titled.md", "note"),
        ("b/", "Home.md", "b", "folder"),
        ("img", "Home.md", "img", "folder"),
        ("Home", "Home.md", "Home.md", "self"),
        (unicodedata.normalize("NFD", "CAFÉ"), "Home.md", "Café.md", "note"),
        ("", "Home.md", None, None),
        ("..", "Home.md", None, None),
    ],
)
def test_a_name_means_what_obsidian_would_open(target, source, path, kind):
    found = NameIndex(FILES).find(target, source)
    assert (found and found.path, found and found.kind) == (path, kind)


def test_a_destination_of_markdown_starts_from_the_folder_of_its_note():
    index = NameIndex(NamedFiles(["x/y.md", "a/x/y.md", "a/n.md"]))
    assert index.find("x/y.md", "a/n.md", is_markdown=True).path == "a/x/y.md"
    assert index.find("x/y", "a/n.md").path == "x/y.md"


def test_ten_thousand_notes_of_one_name_are_told_apart_at_once():
    paths = [f"f{n % 100}/g{n}/index.md" for n in range(10_000)]
    index = NameIndex(NamedFiles(paths))
    assert [index.find("index", f"f{n % 100}/g{n}/x.md").path for n in range(10_000)] == paths
