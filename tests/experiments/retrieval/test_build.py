"""Judged documents as chunks; those that are notes are cut as the index of vaults cuts them."""

from __future__ import annotations

import json

from search.word_embedder import WordEmbedder

from workbench.experiments.retrieval.build import build_index, chunk_documents, index_name
from workbench.ingest.retrieval import open_judged_set


def judged_vault(folder, most=256):
    """A query for an alias of a note of two sections."""
    (folder / "vault").mkdir(parents=True)
    (folder / "vault/Pump.md").write_text("---\naliases: [mover]\n---\n# One\nvalve\n\n# Two\nsocket\n")
    (folder / "queries.jsonl").write_text(json.dumps({"id": "q", "text": "mover"}) + "\n")
    (folder / "qrels.tsv").write_text("q\tPump.md\t1\n")
    embedder = WordEmbedder()
    embedder.max_tokens = most
    return open_judged_set(folder, folder / "vault"), embedder


def test_notes_are_cut_as_the_embedder_counts_and_never_hold_their_aliases(tmp_path):
    judged, embedder = judged_vault(tmp_path / "a", most=20)
    chunks = chunk_documents(judged, embedder)
    assert chunks.select("chunk_id", "document_id", "text").rows() == [
        ("Pump.md#0000", "Pump.md", "Pump\n\n# One\nvalve\n\n"),
        ("Pump.md#0001", "Pump.md", "# Two\nsocket\n"),
    ]
    assert "mover" not in "".join(judged.documents["text"])


def test_an_index_of_notes_is_searched_by_words_and_meaning_and_made_once(tmp_path):
    judged, embedder = judged_vault(tmp_path / "a")
    chunks = chunk_documents(judged, embedder)
    folder = tmp_path / index_name(judged, embedder)
    index = build_index(folder, chunks, embedder)
    assert index.keyword("socket", 5)["chunk_id"].to_list() == ["Pump.md#0000"]
    assert index.keyword("mover", 5).height == 0
    assert index.coverage("words") == (1, 1)
    embedder.texts.clear()
    build_index(folder, chunks, embedder)
    assert embedder.texts == []


def test_notes_can_be_cut_by_their_sections_which_is_another_index(tmp_path):
    judged, embedder = judged_vault(tmp_path / "a")
    chunks = chunk_documents(judged, embedder, "sections")
    assert chunks.select("text", "start", "end").rows() == [
        ("Pump", 0, 23),
        ("Pump\n# One\nvalve", 25, 36),
        ("# One\nvalve\n# Two\nsocket", 38, 50),
    ]
    assert index_name(judged, embedder, "sections") != index_name(judged, embedder)
    assert index_name(judged, embedder, "packed") == index_name(judged, embedder)


def test_a_section_and_what_it_repeats_are_never_more_than_the_model_reads(tmp_path):
    judged, embedder = judged_vault(tmp_path / "a", most=6)
    for text in chunk_documents(judged, embedder, "sections")["text"]:
        assert embedder.count_tokens(text) <= 6
