from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from vault_frames import links_of, notes_of, vectors_of

from workbench.config.vault import Vault
from workbench.experiments.link_holdout import METHODS, HoldoutSettings, link_holdout, note_embedder
from workbench.reports.links import holdout_markdown, holdout_numbers
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.operations import Operations

NO_ALIASES = pl.DataFrame(schema={"path": pl.String, "alias": pl.String, "kind": pl.String})


def vault(rows, vectors=None, tags=None, paths=None):
    paths = paths or sorted({path for row in rows for path in row})
    notes = notes_of(*paths, tags=tags)
    given = NoteVectors.none() if vectors is None else vectors_of(vectors)
    return Operations(notes, links_of(*rows), NO_ALIASES, Vault(), lambda: given)


def pairs_alike(count=12):
    """Notes that link in pairs, both ways, each pair with a direction of its own."""
    rows, vectors = [], {}
    for number in range(count):
        first, second = f"{number:02}a.md", f"{number:02}b.md"
        rows += [(first, second), (second, first)]
        vectors |= {first: np.eye(count)[number], second: np.eye(count)[number]}
    return rows, vectors


def test_a_ranking_that_knows_finds_all_and_one_that_does_not_finds_none():
    rows, vectors = pairs_alike()
    found = link_holdout(vault(rows, vectors), {}, None, HoldoutSettings(share=0.25, repeats=3, first=1))
    assert {name: figure.estimate for name, figure in found.recall.items()} == {
        "suggest": 1,
        "semantic": 1,
        "tag": 0,
        "neighbor": 0,
        "common_neighbours": 0,  # nor does the link back give one away: it is hidden with the pair
        "inbound": 0,
    }
    assert found.gain["tag"].estimate == 1
    assert (found.notes, found.pairs, found.hidden, found.are_texts_cut) == (24, 12, 18, False)
    assert found.per_note.group_by("repeat").agg(pl.col("path").n_unique()).height == 3


def test_equal_scores_are_drawn_fairly():
    rows = [(f"{number}.md", f"{number + 10}.md") for number in range(5)]
    paths = sorted({path for row in rows for path in row})
    read = vault(rows, tags=dict.fromkeys(paths, ("t",)), paths=paths)
    found = link_holdout(read, {}, None, HoldoutSettings(share=0.2, repeats=1, first=3))
    assert found.recall["tag"].estimate == pytest.approx(3 / 9)  # nine others share the tag, three are looked at


def test_the_same_seed_hides_the_same_links():
    rows, vectors = pairs_alike()
    one, same, other = (
        link_holdout(vault(rows, vectors), {}, None, HoldoutSettings(seed=seed, repeats=2)).per_note
        for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert not one["path"].equals(other["path"])


def test_hidden_links_are_cut_out_of_the_texts_before_these_are_embedded():
    rows, vectors = pairs_alike(4)
    read, seen = vault(rows, vectors), {}
    texts = {path: f"see [[{dict(rows)[path].removesuffix('.md')}]] here" for path in vectors}

    def embed(cut):
        seen.update(cut)
        return {path: np.ones(4, dtype=np.float32) for path in cut}

    found = link_holdout(read, texts, embed, HoldoutSettings(share=0.25, repeats=1))
    assert len(seen) == 2
    assert set(seen.values()) == {"see  here"}
    assert found.are_texts_cut
    assert read.vectors.matrix.tolist() == vectors_of(vectors).matrix.tolist()  # of this repeat only


def test_a_note_is_embedded_as_the_mean_of_its_chunks_under_its_names():
    asked = []

    class Counting:
        def embed(self, texts):
            asked.extend(texts)
            return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    embed = note_embedder(notes_of("A.md"), {"A.md": ["Alias"]}, Counting(), 12)
    (vector,) = embed({"A.md": "Some words of a text.\n\nAnd some more, so that it is cut in several."}).values()
    assert len(asked) > 1
    assert asked[0].startswith("A\nAlias\n")
    assert vector.tolist() == pytest.approx([np.mean([len(text) for text in asked]), 1])


def test_a_vault_without_links_has_nothing_to_hide():
    found = link_holdout(vault([], paths=["A.md"]), {}, None, HoldoutSettings())
    assert (found.pairs, found.hidden) == (0, 0)
    assert np.isnan(found.recall["suggest"].estimate)


def test_the_page_tells_every_figure_and_how_it_was_made():
    rows, vectors = pairs_alike()
    found = link_holdout(vault(rows, vectors), {}, None, HoldoutSettings(share=0.25, repeats=2))
    page = holdout_markdown(found, "lab", "workbench eval links --vault lab")
    assert page.startswith("# Does `suggest` find the links of lab?\n\n25% of the 12 linked pairs among 24 notes")
    assert "| tags alone | 0.000 [0.000, 0.000] | 0.000 to 0.000 | +1.000 [+1.000, +1.000] |" in page
    assert "still in the texts that the vectors were made of" in page
    assert page.endswith("Made by `workbench vault index lab --embed`, then `workbench eval links --vault lab`.\n")
    numbers = holdout_numbers(found, "lab", "c")
    assert list(numbers["recall"]) == list(METHODS)
    assert numbers["recall"]["semantic"]["estimate"] == 1
