"""A vault as a picture: which notes and links are drawn, their groups and sizes, and what it says is missing."""

import json

import numpy as np
import polars as pl
import pytest

from workbench.errors import BadInputError
from workbench.reports import note_map as module
from workbench.reports.note_map import NoteText, note_map

NOTES = pl.DataFrame(
    {
        "path": ["A/one.md", "A/two.md", "B/three.md", "four.md"],
        "title": ["One", "Two", "Three\nlines", "  "],
        "folder": ["A", "A", "B", None],
        "theme": ["stones", None, "stones", None],
        "community": [0, 0, 1, None],
        "pagerank": [0.4, 0.2, 0.1, 0.3],
    }
)
LINKS = pl.DataFrame(
    {
        "source_path": ["A/one.md", "A/one.md", "A/two.md", "A/two.md", "A/one.md", "B/three.md"],
        "target_path": ["A/two.md", "A/two.md", "A/one.md", "A/two.md", None, "gone.md"],
        "link_class": ["associative", "sequential", "associative", "associative", None, None],
    }
)


@pytest.fixture(scope="module")
def made():
    return note_map(NOTES, LINKS, title="A vault")


def test_each_pair_of_notes_has_one_line_a_direction(made):
    assert made.links.tolist() == [[0, 1], [1, 0]]
    assert made.sequential.tolist() == [True, False]


def test_groups_are_named_with_the_largest_first(made):
    theme, folder, community = (made.groupings[name] for name in ("theme", "folder", "community"))
    assert (theme.names, theme.sizes, theme.of.tolist()) == (
        ("stones", "others (0 groups)", "in no theme"), (2, 0, 2), [0, 2, 0, 2],
    )  # fmt: skip
    assert (folder.names[0], folder.names[1], folder.names[-1]) == ("A", "B", "(top of the vault)")
    assert (community.names[0], community.of.tolist(), community.coloured) == ("One (0)", [0, 0, 2, 2], 1)


def test_sizes_are_parts_of_the_largest(made):
    assert made.sizes["links"].tolist() == [1, 1, 0, 0]
    assert made.sizes["pagerank"].tolist() == pytest.approx([1, 0.5, 0.25, 0.75])


def test_titles_are_one_line_and_never_empty(made):
    assert made.titles == ("One", "Two", "Three lines", "(no title)")


def test_it_is_plain_json(made):
    told = made.plain()
    assert json.loads(json.dumps(told)) == told
    assert (told["links"], len(told["x"])) == ([0, 1, 1, 0], 4)


def test_what_is_not_known_is_no_choice():
    made = note_map(NOTES.select("path", "title", "folder"), LINKS.drop("link_class"), title="x", remarks=["no themes"])
    assert list(made.groupings) == ["folder"]
    assert list(made.sizes) == ["links"]
    assert made.remarks == ("no themes",)


def test_an_empty_vault_is_a_picture_too():
    made = note_map(NOTES.clear(), LINKS.clear(), title="empty")
    assert (made.paths, made.links.shape, made.places.shape) == ((), (0, 2), (0, 2))
    json.dumps(made.plain())


def test_small_groups_share_one_colour():
    number = 14
    notes = pl.DataFrame(
        {
            "path": [f"{i}.md" for i in range(number)],
            "title": ["t"] * number,
            "folder": [f"F{i:02}" for i in range(number)],
        }
    )
    grouping = note_map(notes, LINKS, title="x").groupings["folder"]
    assert (grouping.coloured, grouping.names[10], grouping.sizes[10]) == (10, "others (4 groups)", 4)


def test_of_a_vault_that_is_too_large_the_best_linked_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "MOST_NOTES", 2)
    notes = pl.DataFrame({"path": list("abcd"), "title": list("ABCD"), "folder": [None] * 4})
    links = pl.DataFrame({"source_path": ["d", "d", "c", "a"], "target_path": ["b", "c", "b", "d"]})
    made = note_map(notes, links, title="x")
    assert (made.titles, made.links.tolist()) == (("B", "D"), [[1, 0]])
    assert made.remarks == ("The 2 best linked notes are drawn; the search finds no others.",)


def test_a_missing_column_is_named():
    with pytest.raises(BadInputError, match="notes lack folder; they have path, title"):
        note_map(NOTES.select("path", "title"), LINKS, title="x")


def test_a_long_note_is_cut_and_hidden_marks_are_shown():
    told = NoteText("a.md", (("tags", "a\u202eb"),), "x" * 20_010).plain()
    assert told["text"].endswith("x… (10 more characters)")
    assert told["facts"] == [["tags", "a[U+202E]b"]]
    assert np.isclose(len(told["text"]), 20_000, atol=40)
