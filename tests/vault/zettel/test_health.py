from __future__ import annotations

from datetime import timedelta

import networkx as nx
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vault_frames import NOW, links_of, notes_of, vault_of, vectors_of

from workbench.vault.graph import NoteGraph
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.zettel.health import CHECKS, health, is_attachment

NONE = NoteVectors.none()


def paths(frame):
    return frame["path"].to_list()


def test_the_score_is_the_product_of_its_terms_over_one_count_of_links():
    notes, links, graph = vault_of("Star>Sink Star>Mid Mid>Sink Alone Ghost>?Never")
    found = health(notes, links, graph, NONE, now=NOW)
    assert found.terms.select("term", "count", "of", "weight").rows() == [
        ("broken_links", 1, 4, 1.0),
        ("orphans", 2, 5, 0.5),
        ("low_connectivity", 2, 5, 0.3),
    ]
    assert found.terms["factor"].to_list() == pytest.approx([0.75, 0.8, 0.88])
    assert found.score == 53
    assert (found.counts.notes, found.counts.links, found.counts.broken) == (5, 4, 1)


def test_an_orphan_is_linked_by_none_and_links_to_none():
    notes, links, graph = vault_of("Star>Sink Loop>Loop Alone Ghost>?Never")
    found = health(notes, links, graph, NONE, now=NOW)
    assert paths(found.orphans) == ["Alone.md", "Ghost.md", "Loop.md"]
    assert paths(found.dead_ends) == ["Alone.md", "Ghost.md", "Loop.md", "Sink.md"]
    assert found.counts.no_inbound == 4
    assert found.counts.links == 3  # the link to itself is alive, though it joins the note to nothing


def test_missing_attachments_are_apart_from_broken_links():
    notes, _, _ = vault_of("A")
    links = links_of(("A.md", "?gone.PNG"), ("A.md", "?Gone v1.3"), ("A.md", "?plan.2024"), ("A.md", "?deck.pdf"))
    found = health(notes, links, NoteGraph.from_frames(notes, links), NONE, now=NOW)
    assert found.broken_links["target"].to_list() == ["Gone v1.3", "plan.2024"]
    assert found.missing_attachments["target"].to_list() == ["gone.PNG", "deck.pdf"]
    assert found.counts.links == 2


def test_the_name_that_the_index_found_counts_more_than_the_raw_text():
    notes, _, _ = vault_of("A")
    links = links_of(("A.md", "?gone.png#x|300")).with_columns(pl.lit("gone.png").alias("target"))
    found = health(notes, links, NoteGraph.from_frames(notes, links), NONE, now=NOW)
    assert found.missing_attachments.select("raw", "target").rows() == [("gone.png#x|300", "gone.png")]


def test_living_links_to_attachments_and_folders_are_not_counted():
    notes, links, _ = vault_of("A>B")
    others = links.with_columns(pl.lit("p.png").alias("target_path"), pl.lit("attachment").alias("target_kind"))
    every = pl.concat([links, others, others.with_columns(pl.lit("folder").alias("target_kind"))])
    assert health(notes, every, NoteGraph.from_frames(notes, every), NONE, now=NOW).counts.links == 1


def test_islands_are_components_of_two_or_more_beside_the_largest():
    notes, links, graph = vault_of("A>B B>C X>Y P>Q P>R P>S O")
    found = health(notes, links, graph, NONE, now=NOW)
    assert found.isolated_clusters.rows() == [(1, 3, ["A.md", "B.md", "C.md"]), (2, 2, ["X.md", "Y.md"])]
    assert (found.counts.clusters, found.counts.isolated_clusters) == (4, 2)


def test_notes_without_a_vector_are_listed():
    notes, links, graph = vault_of("A>B")
    found = health(notes, links, graph, vectors_of({"B.md": [1]}), now=NOW)
    assert paths(found.no_embedding) == ["A.md"]


def test_a_part_is_audited_by_its_own_links_and_the_whole_vaults_connections():
    notes = notes_of("in/A.md", "in/B.md", "out/C.md", "out/D.md", at={"out/D.md": NOW - timedelta(days=31)})
    links = links_of(("in/A.md", "out/C.md"), ("out/C.md", "in/B.md"), ("out/C.md", "?gone"), ("out/D.md", "?gone"))
    graph = NoteGraph.from_frames(notes, links)
    part = health(notes, links, graph, NONE, now=NOW, scope="project", prefix="in/")
    assert (part.counts.notes, part.counts.links, part.counts.broken, part.counts.orphans) == (2, 1, 0, 0)
    assert part.counts.clusters == 2  # what joins them lies outside
    recent = health(notes, links, graph, NONE, now=NOW, scope="recent", recent_days=30)
    assert (recent.counts.notes, recent.counts.broken, recent.scope) == (3, 1, "recent")


def test_leaving_a_list_out_changes_neither_score_nor_counts():
    notes, links, graph = vault_of("A>B C>?x D")
    whole, part = (health(notes, links, graph, NONE, now=NOW, include=wanted) for wanted in (CHECKS, ["orphans"]))
    assert (part.score, part.counts) == (whole.score, whole.counts)
    assert (part.included, paths(part.orphans), part.broken_links.height) == (("orphans",), ["C.md", "D.md"], 0)


@pytest.mark.parametrize(("text", "score"), [("", None), ("A>?x", 0), ("A", 35), ("A>B B>A", 100)])
def test_shares_of_nothing_are_nothing(text, score):
    notes, links, graph = vault_of(text)
    assert health(notes, links, graph, NONE, now=NOW).score == score


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=25))
def test_the_score_stays_in_range_and_counts_are_those_of_networkx(edges):
    names = [f"{number}.md" for number in range(10)]
    notes = notes_of(*names)
    links = links_of(*[(names[a], names[b] if b < 10 else "?gone") for a, b in edges])
    found = health(notes, links, NoteGraph.from_frames(notes, links), NONE, now=NOW)
    oracle = nx.MultiDiGraph([(a, b) for a, b in edges if b < 10 and a != b])
    oracle.add_nodes_from(range(10))
    assert 0 <= found.score <= 100
    assert found.counts.links == len(edges)
    assert found.counts.orphans == sum(1 for node in oracle if oracle.degree(node) == 0)
    assert found.counts.low_connectivity == sum(1 for node in oracle if oracle.degree(node) <= 1)
    assert found.counts.clusters == nx.number_weakly_connected_components(oracle)


@pytest.mark.parametrize(
    ("name", "answer"), [("a.png", True), ("A.PDF", True), ("Release v1.2", False), ("png", False), ("x.md", False)]
)
def test_an_attachment_is_told_by_its_ending(name, answer):
    assert is_attachment(name) is answer
