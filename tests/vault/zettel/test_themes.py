from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from vault_frames import NOW, links_of, notes_of, vectors_of

from workbench.vault.graph import NoteGraph
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.zettel.themes import domain, label_of, themes

SEA, AIR = [1, 0, 0], [0, 1, 0]


def made(vectors, links=(), **more):
    notes = notes_of(*vectors, **more)
    return notes, NoteGraph.from_frames(notes, links_of(*links)), vectors_of(vectors)


def test_a_theme_has_every_term_of_its_rank_and_its_quality():
    old = NOW - timedelta(days=10)
    found = themes(
        *made(
            {"Sea/Tide.md": SEA, "Sea/Tide Table.md": [1, 0.1, 0], "Plan.md": [1, 0, 0.1], "Air/Wind.md": AIR},
            [("Plan.md", "Sea/Tide.md"), ("Sea/Tide.md", "Plan.md"), ("Air/Wind.md", "Sea/Tide.md")],
            at={"Plan.md": old},
        ),
        now=NOW,
    )
    (row,) = found.themes.iter_rows(named=True)
    seconds = (2 * NOW.timestamp() + old.timestamp()) / 3
    assert (row["theme"], row["label"], row["size"]) == (0, "tide / table / plan", 3)
    assert row["folder_diversity"] == pytest.approx(2 / 3)
    assert row["recency_share"] == pytest.approx(seconds / NOW.timestamp())
    assert row["rank_score"] == pytest.approx(3 * (2 / 3) * seconds / NOW.timestamp())
    assert row["linked_ratio"] == pytest.approx(1 / 3)  # one pair of three, however many links and either way
    assert row["suggest_index_note"] is False  # too few notes
    assert 0.98 < row["cohesion"] < 1
    assert (row["silhouette"], found.silhouette) == (None, None)  # a single theme
    assert (found.analyzed, found.without_vector, found.found, found.window) == (4, 0, 1, None)
    assert found.notes["path"].to_list() == ["Sea/Tide.md", "Plan.md", "Sea/Tide Table.md"]


def test_themes_are_ranked_by_size_spread_and_recency_and_cut():
    vectors = (
        {f"Sea/{n}.md": SEA for n in range(5)}
        | {f"{n}/a.md": AIR for n in range(4)}
        | {f"x/{n}.md": [0, 0, 1] for n in range(3)}
    )
    found = themes(*made(vectors), now=NOW, max_themes=2)
    assert found.themes.select("theme", "size", "folder_diversity").rows() == [(0, 4, 1.0), (1, 5, 0.2)]
    assert found.found == 3
    assert set(found.notes["theme"]) == {0, 1}
    assert found.themes["suggest_index_note"].to_list() == [False, True]
    assert found.silhouette == pytest.approx(1.0)


def test_the_window_takes_later_notes_by_the_clock_that_is_named():
    at = {"b.md": NOW - timedelta(days=29), "c.md": NOW - timedelta(days=30), "d.md": NOW - timedelta(days=31)}
    frames = made({f"{name}.md": SEA for name in "abcd"}, at=at)
    found = themes(*frames, now=NOW, lookback_days=30, min_cluster_size=2)
    assert sorted(found.notes["path"]) == ["a.md", "b.md"]  # later than the start of the window
    assert found.window == (NOW - timedelta(days=30), NOW)
    assert themes(*frames, now=NOW, clock="modified_at").analyzed == 4


def test_notes_without_a_vector_are_counted():
    notes = notes_of("a.md", "b.md")
    graph = NoteGraph.from_frames(notes, links_of())
    found = themes(notes, graph, vectors_of({"a.md": SEA, "gone.md": SEA}), now=NOW, min_cluster_size=1)
    assert (found.analyzed, found.without_vector, found.notes["path"].to_list()) == (1, 1, ["a.md"])
    empty = themes(notes, graph, NoteVectors.none(), now=NOW)
    assert (empty.themes.height, empty.notes.height, empty.analyzed, empty.without_vector) == (0, 0, 0, 2)


@pytest.mark.parametrize("linkage", ["single", "centroid", "hdbscan"])
def test_every_linkage_finds_two_plain_themes(linkage):
    chance = np.random.default_rng(1)
    rows = {f"sea/{n}.md": np.array([5, 0, 0]) + chance.normal(size=3) / 5 for n in range(8)}
    rows |= {f"air/{n}.md": np.array([0, 5, 0]) + chance.normal(size=3) / 5 for n in range(6)}
    found = themes(*made(rows), now=NOW, linkage=linkage, min_cluster_size=4)
    groups = found.notes.group_by("theme", maintain_order=True).agg("path")
    assert [{path.split("/")[0] for path in paths} for paths in groups["path"]] == [{"sea"}, {"air"}]
    assert (found.linkage, found.found) == (linkage, 2)


@pytest.mark.parametrize(
    ("titles", "label"),
    [
        (["The Tide Gauge", "Tide and Salinity"], "tide / gauge / salinity"),
        (["Évaporation", "北京气象站"], "évaporation / 北京气象站"),
        (["One", "Two", "Untitled", "a b"], None),
        ([], None),
    ],
)
def test_a_label_is_the_most_frequent_words_of_the_titles(titles, label):
    assert label_of(titles) == label


def test_a_theme_without_words_gets_a_number():
    found = themes(*made({"One.md": SEA, "Two.md": SEA}), now=NOW, min_cluster_size=1)
    assert found.themes["label"].to_list() == ["Theme 1"]


def test_the_domain_is_the_top_folder_and_a_root_note_is_its_own():
    assert [domain(path) for path in ("a/b/c.md", "Home.md")] == ["a", "Home.md"]
