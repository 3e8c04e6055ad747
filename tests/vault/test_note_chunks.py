"""Notes as chunks: under their names, without their front matter, each with its place in the file."""

from __future__ import annotations

import polars as pl
import pytest

from workbench.text.tokens import estimate_tokens
from workbench.vault.note_chunks import note_chunks

TIMES = pl.Series("modified_at", [None], dtype=pl.Datetime("us", "UTC"))


def cut(text, path="dir/A note.md", title="A note", aliases=None, most=100):
    notes = pl.DataFrame({"path": [path], "title": [title], "text": [text]}).with_columns(
        pl.Series("aliases", [aliases], dtype=pl.List(pl.String)), TIMES
    )
    return note_chunks(notes, estimate_tokens, most)


def test_a_short_note_is_one_chunk_under_its_names_and_without_front_matter():
    text = "---\naliases: [Other, A note]\nsecret: x\n---\n\n# Heading\nbody\n\n"
    (row,) = cut(text, title="Heading", aliases=["Other", "A note"]).to_dicts()
    assert row["text"] == "A note\nOther\n\n# Heading\nbody\n"
    assert (row["chunk_id"], row["owner"], row["id"], row["kind"]) == (
        "dir/A note.md#0000",
        *["dir/A note.md"] * 2,
        "note",
    )
    assert (row["position"], row["start"]) == (1, 0)
    assert text[row["start"] : row["end"]].rstrip() == text.rstrip()


def test_a_title_that_stands_nowhere_else_is_searched_too():
    assert cut("body", title="Of the front matter")["text"].to_list() == ["A note\nOf the front matter\n\nbody\n"]


@pytest.mark.parametrize("text", ["", " \n\n", "---\ntags: a\n---\n"])
def test_a_note_without_text_has_its_name(text):
    assert [found.strip() for found in cut(text)["text"]] == ["A note"]


def test_chunks_of_a_long_note_name_their_lines_and_characters_in_the_file():
    text = "---\nx: 1\n---\n" + "\n\n".join(f"## Part {number}\n{'word ' * 40}".rstrip() for number in range(3)) + "\n"
    rows = cut(text, most=60).to_dicts()
    assert [row["position"] for row in rows] == [1, 7, 10]
    assert [text.splitlines()[row["position"] - 1] for row in rows[1:]] == ["## Part 1", "## Part 2"]
    for row in rows[1:]:
        assert text[row["start"] : row["end"]].strip() == row["text"].strip()
    assert [row["chunk_id"][-4:] for row in rows] == ["0000", "0001", "0002"]


def test_no_notes_have_no_chunks_of_the_same_columns():
    some = cut("body")
    none = note_chunks(pl.DataFrame(schema={"path": pl.String, "title": pl.String, "text": pl.String}), len, 10)
    assert none.height == 0
    assert none.schema == some.schema
