from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_frames import links_of, notes_of, vault_of, vectors_of

from workbench.text.similarity import jaccard
from workbench.vault.graph import NoteGraph
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.zettel.suggest import SuggestWeights, suggest, suggest_terms, wikilink

NONE = NoteVectors.none()


def test_each_term_and_its_weighted_part_are_columns_that_add_up():
    notes, _, graph = vault_of("A>B B>C B>D B>D", tags={"A.md": ["x", "y"], "C.md": ["y", "z"]})
    vectors = vectors_of({"A.md": [1, 0], "C.md": [0.6, 0.8], "D.md": [-1, 0]})
    found = suggest("A.md", notes, graph, vectors)
    first, second = found.links.iter_rows(named=True)
    assert (first["path"], first["semantic"], first["tag"], first["neighbor"]) == (
        "C.md",
        pytest.approx(0.6),
        1 / 3,
        0.5,
    )
    assert (first["shared_tags"], first["mutual_links"]) == (1, 1)
    parts = [first[f"{part}_part"] for part in ("semantic", "tag", "neighbor")]
    assert parts == pytest.approx([0.3, 0.2 / 3, 0.15])
    assert first["score"] == pytest.approx(sum(parts))
    assert (second["path"], second["semantic"], second["neighbor"], second["mutual_links"]) == ("D.md", 0, 1, 2)
    assert second["reason"] == "Linked by 2 mutual connections"
    assert found.lacks == ()


def test_the_reason_is_the_largest_weighted_part():
    notes, _, graph = vault_of("A>B B>C D E", tags={"A.md": ["x"], "D.md": ["x"]})
    found = suggest("A.md", notes, graph, vectors_of({"A.md": [1, 0], "E.md": [1, 0.01]}))
    assert dict(found.links.select("path", "reason").iter_rows()) == {
        "E.md": "Semantically similar (1.00)",
        "C.md": "Linked by 1 mutual connection",
        "D.md": "Shares 1 tag",
    }


def test_what_is_linked_already_is_left_out_unless_asked_for():
    notes, _, graph = vault_of("A>B B>A B>C C>B A>C A>A")
    assert suggest("A.md", notes, graph, NONE).links.height == 0
    found = suggest("A.md", notes, graph, NONE, exclude_linked=False)
    assert found.links["path"].to_list() == ["B.md", "C.md"]  # never the note itself
    assert found.links["mutual_links"].to_list() == [1, 1]


def test_the_largest_count_is_taken_over_linked_notes_too():
    notes, _, graph = vault_of("A>B A>C B>C B>C C>D")
    found = suggest("A.md", notes, graph, NONE)
    assert found.links.select("path", "mutual_links", "neighbor").rows() == [("D.md", 1, 0.5)]


def test_a_note_without_a_vector_says_so():
    notes, _, graph = vault_of("A>B B>C")
    found = suggest("A.md", notes, graph, NONE)
    assert found.links["path"].to_list() == ["C.md"]
    assert found.lacks == ("the note has no vector: links are judged by tags and links only",)
    assert suggest("gone.md", notes, graph, NONE).lacks == ("no such note",)


def test_weights_are_arguments():
    notes, _, graph = vault_of("A>B B>C", tags={"A.md": ["x"], "C.md": ["x"]})
    found = suggest("A.md", notes, graph, NONE, weights=SuggestWeights(0, 1, 0))
    assert found.links["score"].to_list() == [1.0]


def test_ties_go_by_path_and_the_limit_holds():
    notes, _, graph = vault_of("A Z C B", tags={path: ["t"] for path in ("A.md", "Z.md", "C.md", "B.md")})
    assert suggest("A.md", notes, graph, NONE, limit=2).links["path"].to_list() == ["B.md", "C.md"]


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("a/Log.md", "[[a/Log]]"),
        ("a/Only.md", "[[Only]]"),
        ("a/C# [x].md", "[C# \\[x\\]](/a/C%23%20%5Bx%5D.md)"),
        ("a/Release v1.2.md", "[[Release v1.2]]"),
    ],
)
def test_a_link_to_paste_means_one_note(path, link):
    assert wikilink(path, {"log": 2, "only": 1, "c# [x]": 1, "release v1.2": 1}) == link


TAGS = st.lists(st.lists(st.sampled_from("abcd"), max_size=4), min_size=2, max_size=8)


@settings(deadline=None)
@given(TAGS)
def test_the_tag_term_is_the_jaccard_of_the_sets(tags):
    paths = [f"{number}.md" for number in range(len(tags))]
    notes = notes_of(*paths, tags=dict(zip(paths, tags, strict=True)))
    graph = NoteGraph.from_frames(notes, links_of())
    terms = suggest_terms(0, notes, graph, NONE)
    assert terms["tag"].tolist() == pytest.approx([jaccard(tags[0], other) for other in tags])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30))
def test_the_neighbour_term_counts_ways_of_two_links(edges):
    paths = [f"{number}.md" for number in range(8)]
    notes = notes_of(*paths)
    graph = NoteGraph.from_frames(notes, links_of(*[(paths[a], paths[b]) for a, b in edges]))
    ways = [
        sum(1 for a, b in edges for c, d in edges if a == 0 and b == c and d == end and a != b and c != d and end)
        for end in range(8)
    ]
    found = suggest_terms(0, notes, graph, NONE)
    assert found["mutual_links"].tolist() == ways
    assert found["neighbor"].tolist() == pytest.approx([each / max(1, *ways) for each in ways])
    assert np.all(found["semantic"] == 0)
