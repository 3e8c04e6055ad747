from __future__ import annotations

import networkx as nx
import pytest
from vault_frames import links_of, notes_of, vault_of

from workbench.vault.graph import NoteGraph
from workbench.vault.zettel.explore import edges_of, explore


def shown(found):
    return found.nodes.select("path", "depth").rows()


def test_own_links_come_in_document_order_then_those_to_it_by_path():
    notes, links, graph = vault_of("M>Z M>B Y>M A>M B>C")
    found = explore("M.md", notes, links, graph, depth=2)
    assert shown(found) == [("Z.md", 1), ("B.md", 1), ("A.md", 1), ("Y.md", 1), ("C.md", 2)]
    assert found.edges.select("source_path", "target_path").rows() == [
        ("M.md", "Z.md"),
        ("M.md", "B.md"),
        ("A.md", "M.md"),
        ("Y.md", "M.md"),
        ("B.md", "C.md"),
    ]
    assert found.max_depth_reached


def test_an_edge_counts_its_links_and_is_sequential_when_one_is():
    notes = notes_of("A.md", "B.md", "C.md")
    links = links_of(
        ("A.md", "B.md"), ("A.md", "B.md", "sequential"), ("A.md", "A.md"), ("A.md", "?x"), ("A.md", "C.md")
    )
    graph = NoteGraph.from_frames(notes, links)
    assert edges_of(links, graph).rows() == [("A.md", "B.md", "sequential", 2), ("A.md", "C.md", "associative", 1)]
    found = explore("A.md", notes, links, graph)
    assert found.nodes.select("path", "link_class", "inbound", "outbound").rows() == [
        ("B.md", "sequential", 2, 0),
        ("C.md", "associative", 1, 0),
    ]
    assert explore("A.md", notes, links, graph, mode="sequential").nodes["path"].to_list() == ["B.md"]
    assert explore("A.md", notes, links, graph, mode="associative").nodes["path"].to_list() == ["C.md"]


def test_direction_follows_links_one_way():
    notes, links, graph = vault_of("A>B B>C Z>A")
    assert shown(explore("B.md", notes, links, graph, direction="forward")) == [("C.md", 1)]
    assert shown(explore("B.md", notes, links, graph, direction="backward")) == [("A.md", 1), ("Z.md", 2)]


def test_branching_points_are_live_links_beyond_the_limit_the_root_first():
    notes, links, graph = vault_of("R>A R>B R>C A>X A>Y A>Z B>?1 B>?2 B>?3")
    found = explore("R.md", notes, links, graph)
    assert found.branching_points == ("R.md", "A.md")
    assert explore("R.md", notes, links, graph, branching_above=3).branching_points == ()
    assert not found.max_depth_reached


@pytest.mark.parametrize(("asked", "taken"), [(0, 1), (1, 1), (10, 10), (99, 10)])
def test_depth_is_clamped(asked, taken):
    chain = " ".join(f"{number:02}>{number + 1:02}" for number in range(14))
    notes, links, graph = vault_of(chain)
    found = explore("00.md", notes, links, graph, depth=asked)
    assert (found.depth, found.nodes["depth"].max(), found.max_depth_reached) == (taken, taken, True)


def test_an_unknown_start_is_an_empty_walk():
    notes, links, graph = vault_of("A>B")
    found = explore("No Such.md", notes, links, graph)
    assert (found.root, found.nodes.height, found.edges.height, found.branching_points) == ("No Such.md", 0, 0, ())
    assert found.max_depth_reached is False


def test_a_lone_note_meets_none():
    notes, links, graph = vault_of("A>B Z>Z")
    found = explore("Z.md", notes, links, graph)
    assert (found.nodes.height, found.edges.height, found.max_depth_reached) == (0, 0, False)


def test_a_walk_of_a_circle_ends_and_depths_are_those_of_networkx():
    notes, links, graph = vault_of("A>B B>C C>D D>E E>F F>G G>A C>G")
    oracle = nx.Graph([(a, b) for a, b in links.select("source_path", "target_path").iter_rows()])
    wanted = nx.single_source_shortest_path_length(oracle, "A.md")
    found = explore("A.md", notes, links, graph, depth=10)
    assert dict(shown(found)) == {path: depth for path, depth in wanted.items() if depth}
    assert found.edges.height == 8
