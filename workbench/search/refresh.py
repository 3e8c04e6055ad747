"""Bringing an index up to date with what landed since, and embedding what has no vector; both can be interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from workbench.search.nearest import Ann

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from workbench.search.index import ChunkIndex

Progress = Callable[[int, int, str], None]
"""Called with things done, things in all, and the name of the one at hand."""

OWNERS_AT_ONCE: Final = 16
"""Owners put in with one commit: what an interruption loses, some seconds of work at most."""

TEXTS_AT_ONCE: Final = 128
"""Texts embedded before their vectors are stored: what an interruption loses, two seconds of work."""


class Texts(Protocol):
    """Something whose texts are searched."""

    def states(self) -> dict[str, str]:
        """Owner to a name of its present content."""
        ...

    def chunks(self, owners: Sequence[str]) -> pl.DataFrame:
        """The chunks of some owners, as `ChunkIndex.upsert` takes them."""
        ...


class Embeds(Protocol):
    """What is asked of an embedder here; see `providers.embedding`."""

    @property
    def model_id(self) -> str:
        """Name of the vector space."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text."""
        ...


@dataclass(frozen=True)
class Embedded:
    """What an embedding run did.

    Attributes:
        model: Whose vectors.
        texts: Chunks in the index.
        embedded: Texts that went through the model now.
        shared: Chunks that took the vector of another one with the same text.
        vectors: Chunks that have a vector now.
        index: Of the vectors' index; None where all are compared.
    """

    model: str
    texts: int
    embedded: int
    shared: int
    vectors: int
    index: Ann | None


def refresh(
    index: ChunkIndex,
    texts: Texts,
    *,
    progress: Progress | None = None,
    wait_seconds: float = 0.0,
    at_once: int | None = None,
) -> bool:
    """Put in what is new or changed, then take out what is gone; a text that moved keeps its vector.

    Args:
        index: The index.
        texts: What it should hold.
        progress: Called for each batch.
        wait_seconds: How long to wait for another process that does the same.
        at_once: Owners put in with one commit; `OWNERS_AT_ONCE` unless given.

    Returns:
        Whether anything was to be done.

    Raises:
        BusyError: Another process is at it.
        StoreError: The index or the tables cannot be read or written.
    """
    if texts.states() == index.states():
        return False
    with index.database.lock("refresh", wait_seconds=wait_seconds):
        wanted, known = texts.states(), index.states()
        gone = known.keys() - wanted.keys()
        changed = [owner for owner, state in wanted.items() if known.get(owner) != state]
        step = at_once or OWNERS_AT_ONCE
        for first in range(0, len(changed), step):
            batch = changed[first : first + step]
            if progress is not None:
                progress(first, len(changed), batch[0])
            index.upsert(texts.chunks(batch), {owner: wanted[owner] for owner in batch})
        if gone:
            for model in index.models() if changed else ():
                share_known(index, model, index.missing_vectors(model))
            index.delete(gone)
        index.refresh_full_text()
    return True


def embed_missing(
    index: ChunkIndex, embedder: Embeds, *, progress: Progress | None = None, wait_seconds: float = 0.0
) -> Embedded:
    """Give every chunk a vector of the model; what is stored stays, whenever it is interrupted.

    Args:
        index: The index.
        embedder: The model.
        progress: Called for each batch.
        wait_seconds: How long to wait for another process that embeds.

    Raises:
        BusyError: Another process embeds.
        EmbedderUnavailableError: The model fails.
        StoreError: The index cannot be read or written.
    """
    model = embedder.model_id
    with index.database.lock("embed", wait_seconds=wait_seconds):
        missing = index.missing_vectors(model)
        known_hashes, shared = share_known(index, model, missing)
        missing = missing.filter(~missing["content_hash"].is_in(known_hashes))
        distinct = missing.unique("content_hash", keep="first", maintain_order=True)
        stored = 0
        for first in range(0, distinct.height, TEXTS_AT_ONCE):
            batch = distinct.slice(first, TEXTS_AT_ONCE)
            if progress is not None:
                progress(first, distinct.height, model)
            vectors = embedder.embed(batch["text"].to_list())
            stored += _share(index, model, missing, batch["content_hash"].to_list(), vectors)
        ann = index.index_vectors(model) if stored or shared else index.ann(model)
        have, total = index.coverage(model)
    return Embedded(model, total, distinct.height, shared + stored - distinct.height, have, ann)


def share_known(index: ChunkIndex, model: str, missing: pl.DataFrame) -> tuple[list[str], int]:
    """Give chunks the vectors of the same texts elsewhere.

    Args:
        index: The index.
        model: Whose vectors.
        missing: Chunks without one; see `ChunkIndex.missing_vectors`.

    Returns:
        The hashes of the texts that have a vector, and how many were stored.
    """
    hashes, vectors = index.known_vectors(model, missing["content_hash"].unique().to_list())
    return hashes, _share(index, model, missing, hashes, vectors)


def _share(
    index: ChunkIndex, model: str, missing: pl.DataFrame, hashes: Sequence[str], vectors: NDArray[np.float32]
) -> int:
    """Store the vector of each text for every chunk that has it."""
    import polars as pl  # noqa: PLC0415  (175 ms)

    if not hashes:
        return 0
    places = pl.DataFrame({"content_hash": list(hashes), "place": range(len(hashes))})
    chunks = missing.select("chunk_id", "content_hash").join(places, on="content_hash")
    rows = vectors[chunks["place"].to_numpy()]
    return index.add_vectors(model, chunks["chunk_id"].to_list(), rows, hashes=chunks["content_hash"].to_list())
