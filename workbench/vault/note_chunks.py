"""What of a vault is searched: each note as chunks, under its names.

A note's text begins with the names it goes by: the file's name, its title where that stands nowhere else, its aliases.
The rest of its front matter is no prose and stays out; tags and fields are tables. The chunks are of PAI's content tier
`topic`, the one of all notes but memories and session notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from workbench.store.landing_key import VAULT_HEAD
from workbench.text.chunking import CountTokens, chunk_text
from workbench.text.private import hide_private
from workbench.text.tokens import estimate_tokens
from workbench.vault.front_matter import block_of

if TYPE_CHECKING:
    import polars as pl

    from workbench.store.lake import Lake

KIND: Final = "note"

LAYOUT: Final = 1
"""Raised when the same note becomes other chunks; every note is then indexed anew."""

_STATES: Final = "select path, content_hash from notes where vault_id = $vault order by path"

_NOTES: Final = """
select n.path, n.title, n.text, n.modified_at, (
    select list(alias order by alias) from note_aliases a
    where a.vault_id = n.vault_id and a.path = n.path and a.kind = 'front_matter') as aliases
from notes n where n.vault_id = $vault and n.path in (select unnest($paths)) order by n.path
"""


class Part(Protocol):
    """A part of a text, as `text.chunking` and `text.section_chunks` make them."""

    @property
    def text(self) -> str:
        """Its characters; what it repeats of the part before comes first."""
        ...

    @property
    def start(self) -> int:
        """Place of its own first character in the text."""
        ...

    @property
    def end(self) -> int:
        """Place behind its last one."""
        ...


Cut = Callable[[str, CountTokens, int], Sequence[Part]]
"""Cuts a text into parts of at most so many tokens."""

_NOT_BLANK: Final = re.compile(r"\S")


@dataclass(frozen=True)
class NoteTexts:
    """The notes of an indexed vault as chunks.

    Attributes:
        lake: Where they are read.
        vault_id: Which vault.
        chunk_tokens: Estimated tokens of a chunk.
    """

    lake: Lake
    vault_id: str
    chunk_tokens: int

    def states(self) -> dict[str, str]:
        """Path to a name of the note's present content, and of how chunks are made."""
        rows = self.lake.sql(_STATES, {"vault": self.vault_id}).rows()
        return {path: f"{LAYOUT}/{self.chunk_tokens}/{known}" for path, known in rows}

    def stamp(self) -> int | None:
        """When a run over a vault last ended; None where that cannot be told."""
        try:
            return (self.lake.home.tables / VAULT_HEAD / "_delta_log").stat().st_mtime_ns
        except OSError:
            return None

    def chunks(self, paths: Sequence[str]) -> pl.DataFrame:
        """The chunks of some notes, as `ChunkIndex.upsert` takes them; the note is the owner."""
        notes = self.lake.sql(_NOTES, {"vault": self.vault_id, "paths": list(paths)})
        return note_chunks(notes, estimate_tokens, self.chunk_tokens)


def note_chunks(notes: pl.DataFrame, count_tokens: CountTokens, max_tokens: int, cut: Cut = chunk_text) -> pl.DataFrame:
    """Cut notes into chunks.

    Args:
        notes: `path`, `title`, `text` String; `aliases` List(String), null for none; `modified_at` Datetime in UTC.
        count_tokens: Tokens of a text.
        max_tokens: Tokens of a chunk.
        cut: How; as the index does it unless given.

    Returns:
        One row a chunk, as `ChunkIndex.upsert` takes it: `position` is the line of the note where the chunk begins,
        from 1, `start` and `end` are its characters in the note. A note without text has its names as a chunk.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    rows = [row for note in notes.iter_rows(named=True) for row in _rows(note, cut, count_tokens, max_tokens)]
    texts = dict.fromkeys(("chunk_id", "owner", "kind", "id", "text"), pl.String)
    numbers = dict.fromkeys(("position", "start", "end"), pl.Int64)
    return pl.DataFrame(rows, schema={**texts, "occurred_at": pl.Datetime("us", "UTC"), **numbers})


def _rows(note: Mapping[str, Any], cut: Cut, count_tokens: CountTokens, max_tokens: int) -> Iterator[dict[str, Any]]:
    path, text = note["path"], note["text"]
    searched = searched_text(note)
    shift = searched.body_begin - searched.names
    for number, chunk in enumerate(cut(searched.text, count_tokens, max_tokens)):
        blanks = len(chunk.text) - len(chunk.text.lstrip())
        start = 0 if chunk.start < searched.names else chunk.start + blanks + shift
        yield {
            "chunk_id": f"{path}#{number:04d}",
            "owner": path,
            "kind": KIND,
            "id": path,
            "text": chunk.text,
            "occurred_at": note["modified_at"],
            "position": text.count("\n", 0, start) + 1,
            "start": start,
            "end": min(max(chunk.end + shift, start), len(text)),
        }


class SearchedText(NamedTuple):
    """What is searched of a note.

    Attributes:
        text: Its names, a blank line, its body, the end of a line.
        names: Characters of it before the body.
        body_begin: Place of the body's first character in the note.
    """

    text: str
    names: int
    body_begin: int


def searched_text(note: Mapping[str, Any]) -> SearchedText:
    """What is searched of a note with `path`, `title`, `text` and `aliases`; private passages are left blank."""
    text = hide_private(note["text"])
    begin = _body_begin(text)
    body = text[begin:].rstrip()
    names = _names(note, body)
    return SearchedText(f"{names}{body}\n", len(names), begin)


def _body_begin(text: str) -> int:
    """Where the first character below the front matter is that is not blank."""
    found = _NOT_BLANK.search(text, block_of(text).body)
    return found.start() if found else len(text)


def _names(note: Mapping[str, Any], body: str) -> str:
    """What a note is called, a line each, then a blank line."""
    stem = PurePosixPath(note["path"]).stem
    title = [note["title"]] if note["title"].casefold() != stem.casefold() and note["title"] not in body else []
    return "\n".join(dict.fromkeys([stem, *title, *(note["aliases"] or ())])) + "\n\n"
