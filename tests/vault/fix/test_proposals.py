from __future__ import annotations

import polars as pl
import pytest
from vault_frames import links_of, notes_of

from workbench.vault.fix.proposals import VaultNames, propose
from workbench.vault.graph import NoteGraph


def proposed(paths, rows, *, titles=None, aliases=None, other_paths=None, moved=None, **options):
    links = links_of(*rows).with_columns(pl.col("raw").str.split("#").list.first().alias("target"))
    graph = NoteGraph.from_frames(notes_of(*paths), links)
    names = VaultNames(titles or {}, aliases or {}, other_paths or {}, moved or {})
    return propose(links, graph, names, **options)


def short(frame):
    return frame.select("kind", "path", "found", "proposed_link", "confidence").rows()


def test_a_broken_link_gets_the_note_that_moved_before_one_that_is_merely_close():
    found = proposed(
        ["A.md", "new/Tides.md", "Tide.md"], [("A.md", "?Tide Old")], moved={"Tide Old.md": "new/Tides.md"}
    )
    assert short(found) == [("broken_link", "A.md", "Tide Old", "Tides", 0.98)]
    assert found["rule"].to_list() == ["the note moved"]


@pytest.mark.parametrize(
    ("target", "link", "confidence"),
    [
        ("tide_gauge", "Tide Gauge", 0.95),
        ("Tide Gage", "Tide Gauge", 1 - 1 / 9),
        ("Pegl stand", "Tide Gauge", 1 - 1 / 10),
        ("Something else", None, None),
    ],
)
def test_a_broken_link_gets_the_closest_name_title_or_alias(target, link, confidence):
    found = proposed(
        ["A.md", "Water/Tide Gauge.md"], [("A.md", f"?{target}")], aliases={"Water/Tide Gauge.md": ["Pegelstand"]}
    )
    rows = found.select("proposed_link", "confidence").rows()
    assert rows == ([] if link is None else [(link, pytest.approx(confidence))])


def test_two_notes_as_close_halve_the_confidence_and_a_shared_name_is_told_by_its_path():
    found = proposed(["A.md", "x/Wave.md", "y/Wave.md"], [("A.md", "?Wafe")])
    assert found.select("proposed_link", "confidence").rows() == [("x/Wave", 0.375)]


def test_missing_attachments_get_no_note():
    assert proposed(["A.md", "plot.md"], [("A.md", "?plot.png")]).height == 0


def test_a_link_to_another_path_of_a_note_gets_its_own_path():
    rows = [("A.md", "Water/Tide.md"), ("A.md", "Water/Tide.md")]
    links = links_of(*rows).with_columns(pl.Series("target", ["Shared/Copy", "Tide"]))
    graph = NoteGraph.from_frames(notes_of("A.md", "Water/Tide.md"), links)
    found = propose(links, graph, VaultNames({}, {}, {"Shared/Copy.md": "Water/Tide.md"}, {}))
    assert found.select("kind", "place", "proposed_link", "confidence").rows() == [("path_alias", 0, "Tide", 1.0)]


def test_a_folder_note_without_a_link_to_the_one_above_gets_it():
    paths = ["01 - A/01.md", "01 - A/02 - X/02.md", "01 - A/03 - Y/03 - Y.md", "01 - A/plain.md"]
    found = proposed(paths, [("01 - A/03 - Y/03 - Y.md", "01 - A/01.md")], kinds=["missing_parent"])
    assert short(found) == [("missing_parent", "01 - A/02 - X/02.md", None, "[[01]]", 1.0)]


def test_an_orphan_gets_the_best_suggested_parent_unless_it_needs_none():
    paths = ["Alone.md", "x/_index.md", "MEMORY.md", "2026-03-01.md", "A.md", "B.md"]
    asked = []

    def parent(path):
        asked.append(path)
        return "A.md", 0.4

    found = proposed(paths, [("A.md", "B.md")], suggest_parent=parent)
    assert short(found) == [("orphan", "Alone.md", None, "[[A]]", 0.4)]
    assert asked == ["Alone.md"]
    assert proposed(paths, [("A.md", "B.md")]).height == 0


def test_nothing_under_the_archive_is_writable_and_rows_are_cut_by_kind():
    rows = [("_archive/Old.md", "?Tide_"), ("x/_archive/Old.md", "?Tide_"), ("A.md", "?Tide_")]
    found = proposed(["Tide.md", "A.md", "_archive/Old.md", "x/_archive/Old.md"], rows)
    assert dict(found.select("path", "is_writable").iter_rows()) == {
        "A.md": True,
        "_archive/Old.md": False,
        "x/_archive/Old.md": False,
    }
    assert proposed(["Tide.md", "A.md", "_archive/Old.md"], rows[:1] + rows[2:], most=1).height == 1
