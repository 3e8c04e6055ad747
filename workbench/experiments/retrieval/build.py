"""Making a judged set searchable: chunks, words and vectors in an index of its own, as of all that is searched."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from workbench.ingest.retrieval import JudgedSet
from workbench.search.index import ChunkIndex
from workbench.search.refresh import Progress, embed_missing
from workbench.text.chunking import CountTokens, chunk_text
from workbench.text.section_chunks import MAX_TOKENS, OVERLAP_TOKENS, SectionChunk, chunk_sections
from workbench.vault.note_chunks import Cut, note_chunks

if TYPE_CHECKING:
    from workbench.providers.embedding import Embedder

KIND: Final = "document"
PACKED: Final = "packed"
SECTIONS: Final = "sections"


def _by_sections(text: str, count_tokens: CountTokens, most: int) -> list[SectionChunk]:
    """With its overlap a part is never longer than the model reads; the overlap keeps its share of a shorter part."""
    longest = min(MAX_TOKENS, most)
    return chunk_sections(text, count_tokens, longest, longest * OVERLAP_TOKENS // MAX_TOKENS, most)


CHUNKINGS: Final[Mapping[str, Cut]] = {PACKED: chunk_text, SECTIONS: _by_sections}
"""How documents are cut. `packed` is how all that is searched is cut; `sections` is PAI's way."""


def chunk_documents(judged: JudgedSet, embedder: Embedder, chunking: str = PACKED) -> pl.DataFrame:
    """Cut the documents as the embedder wants them; notes of a vault get their names as in the index of vaults.

    Args:
        judged: The set.
        embedder: Counts tokens and says how many it reads.
        chunking: A name of `CHUNKINGS`.

    Returns:
        `chunk_id`, `document_id`, `text`, `start`, `end`, by `chunk_id`; a blank document has one chunk all the same.
    """
    cut = CHUNKINGS[chunking]
    if judged.notes is not None:
        chunks_of_notes = note_chunks(judged.notes, embedder.count_tokens, embedder.max_tokens, cut)
        columns = ("chunk_id", pl.col("owner").alias("document_id"), "text", "start", "end")
        return chunks_of_notes.select(columns).sort("chunk_id")
    rows = []
    for document_id, text in judged.documents.select("document_id", "text").iter_rows():
        chunks = cut(text, embedder.count_tokens, embedder.max_tokens)
        spans = [(chunk.text, chunk.start, chunk.end) for chunk in chunks] or [(text, 0, len(text))]
        rows += [(f"{document_id}#{place:04d}", document_id, *span) for place, span in enumerate(spans)]
    schema = {"chunk_id": pl.String, "document_id": pl.String, "text": pl.String, "start": pl.Int64, "end": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("chunk_id")


def index_name(judged: JudgedSet, embedder: Embedder, chunking: str = PACKED) -> str:
    """Name of the folder for a set under an embedder: another one when the documents or the cutting change."""
    way = "" if chunking == PACKED else f"{chunking}\0"
    hashed = sha256(f"{embedder.model_id}\0{embedder.max_tokens}\0{way}".encode())
    for row in judged.documents.select("document_id", "text").iter_rows():
        hashed.update("\0".join(row).encode("utf-8", "surrogatepass") + b"\0\0")
    return hashed.hexdigest()[:16]


def build_index(folder: Path, chunks: pl.DataFrame, embedder: Embedder, progress: Progress | None = None) -> ChunkIndex:
    """Put chunks and their vectors into an index; what is there already is not made again.

    Args:
        folder: Of the index; a run that was interrupted goes on from what is in it.
        chunks: See `chunk_documents`.
        embedder: Makes the vectors.
        progress: Told about every batch.

    Returns:
        The index, ready to be searched.

    Raises:
        EmbedderUnavailableError: The embedder failed.
        StoreError: The index cannot be written.
    """
    index = ChunkIndex(folder)
    _, stored = index.coverage(embedder.model_id)
    if stored != chunks.height:
        # a document can be the only thing that a query is searched in, and that is what this column filters by
        filtered_by = pl.col("document_id").alias("session_id")
        owned = [pl.lit(KIND).alias("kind"), pl.col("document_id").alias("id"), filtered_by]
        index.upsert(chunks.select("chunk_id", "text", "start", "end", *owned))
        index.refresh_full_text()
    embed_missing(index, embedder, progress=progress)
    return index
