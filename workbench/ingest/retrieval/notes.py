"""A vault as the documents of a judged set: indexed as every vault is, then without what would give answers away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import polars as pl

from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.vault.index import VaultIndexer, vault_root
from workbench.vault.note_chunks import searched_text

_SHOWN: Final = re.compile(r"\[\[[^\[\]|]*\\?\|([^\[\]]*)\]\]")

_NOTES: Final = "select path, title, text, modified_at from notes order by path"
_ALIASED: Final = "select count(distinct path) from note_aliases where kind = 'front_matter'"


def read_notes(folder: Path, anchors: set[str], left_out: list[str]) -> pl.DataFrame:
    """Index a vault in a home of its own, which goes again, and read its notes.

    Args:
        folder: The vault.
        anchors: Texts of links; a line with a link that shows one is left out.
        left_out: What is not in the notes is appended, in words.

    Returns:
        `path`, `title`, `text`, `modified_at`, and `aliases`, which are all null; by path.

    Raises:
        NotFoundError, StoreError: The vault cannot be read.
    """
    with TemporaryDirectory(prefix="workbench-notes-") as scratch:
        lake = Lake(Home.open(Path(scratch) / "home"))
        run = VaultIndexer(lake, vault_root(folder)).run()
        notes, aliased = lake.sql(_NOTES), int(lake.sql(_ALIASED).item())
    kept = [without_answers(text, anchors) for text in notes["text"]]
    lines = sum(text.count("\n") - less.count("\n") for text, less in zip(notes["text"], kept, strict=True))
    left_out += [f"{run.unread} notes cannot be read"] if run.unread else []
    left_out += [f"the aliases of {aliased:,} notes, which are asked for"] if aliased else []
    left_out += [f"{lines:,} lines of notes, whose links show what is asked for"] if lines else []
    return notes.with_columns(text=pl.Series(kept, dtype=pl.String), aliases=pl.lit(None, pl.List(pl.String)))


def searched_texts(notes: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Path of each note, and what is searched of it."""
    return ((note["path"], searched_text(note).text) for note in notes.iter_rows(named=True))


def without_answers(text: str, anchors: set[str]) -> str:
    """A note without the lines that have a link which shows one of these texts."""
    if not anchors:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not _gives_away(line, anchors))


def _gives_away(line: str, anchors: set[str]) -> bool:
    return any(shown.strip() in anchors for shown in _SHOWN.findall(line))
