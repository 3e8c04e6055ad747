import pytest

from workbench.vault.link_class import LinkClasses, folgezettel

PATHS = [
    "Ch 1.md", "Ch 2.md", "Ch 4.md", "other/Ch 3.md", "01 Aim.md", "02 Method.md", "2024-01-05.md", "2024-01-08.md",
    "2024-W52.md", "2025-W01.md", "1a Root.md", "1a1 Leaf.md", "1a1b Deep.md", "1b Next.md", "2024 Plan.md", "Plain.md",
    "202401011200 A.md", "202401011201 B.md",
]  # fmt: skip
TAGS = {"Plain.md": {"x"}, "Ch 1.md": {"x", "y"}}


@pytest.mark.parametrize(
    ("source", "target", "key", "reason"),
    [
        ("Ch 1.md", "Ch 2.md", None, "number"),
        ("Ch 2.md", "Ch 4.md", None, "number"),  # the next one there is
        ("Ch 2.md", "Ch 1.md", None, None),
        ("Ch 2.md", "other/Ch 3.md", None, None),
        ("01 Aim.md", "02 Method.md", None, "number"),
        ("2024-01-05.md", "2024-01-08.md", None, "date"),
        ("2024-W52.md", "2025-W01.md", None, "date"),
        ("1a Root.md", "1a1 Leaf.md", None, "folgezettel"),
        ("1a Root.md", "1a1b Deep.md", None, "folgezettel"),
        ("1a Root.md", "1b Next.md", None, "folgezettel"),
        ("1a1 Leaf.md", "1a Root.md", None, None),
        ("202401011200 A.md", "202401011201 B.md", None, None),  # times of making follow by chance
        ("Ch 2.md", "Plain.md", "Next", "field"),
        ("Ch 2.md", "Plain.md", "related", None),
        ("Plain.md", "Ch 1.md", None, "tag"),
    ],
)
def test_a_link_is_sequential_where_its_target_continues_its_source(source, target, key, reason):
    found = LinkClasses(PATHS, TAGS).classed(source, target, key)
    assert found == ("sequential" if reason else "associative", reason)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a/12c3 X.md", ("12", "c", "3")),
        ("21.3d X.md", ("21", "3", "d")),
        ("2024-01-05.md", ()),
        ("3D print.md", ("3", "d")),
        ("X 1.md", ()),
    ],
)
def test_folgezettel_ids(path, parts):
    assert folgezettel(path) == parts
