"""Search over the notes of a vault, and their vectors: what the vault's operations are handed."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.errors import EmbedderUnavailableError
from workbench.search.means import read_means, store_means
from workbench.search.query import Answer, Question, ask_chunks
from workbench.search.refresh import Embedded, Progress
from workbench.search.searching import CollectionSearch
from workbench.vault.note_chunks import NoteTexts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from workbench.config import Config
    from workbench.store.lake import Lake
    from workbench.vault.note_vectors import NoteVectors

NOTES_AT_ONCE: Final = 1_000
"""Notes put in with one commit: they are short, and a commit costs as much as cutting a hundred of them."""

SNIPPET: Final = 200
"""Characters of the piece that two notes share in meaning; PAI specification, 18.2."""

COLUMNS: Final = (
    "path",
    "title",
    "score",
    "keyword",
    "semantic",
    "recency",
    "rerank",
    "modified_at",
    "line",
    "snippet",
    "marks",
    "text",
    "chunk_id",
)
"""Columns of an answer's hits."""

_CONVERSE_WEIGHT: Final = 0.5
"""Of words, and of meaning, where notes are looked for that bear on a question; PAI src/zettelkasten/converse.ts."""

_TITLES: Final = "select path, title from notes where vault_id = $vault and path in (select unnest($paths))"


def collection_name(vault_id: str) -> str:
    """The collection of a vault's notes in the vector database: one a vault, so that scores do not tell of others."""
    return f"notes-{vault_id}"


class NoteSearch(CollectionSearch):
    """Search over the notes of one indexed vault.

    Args:
        lake: The home's tables.
        config: Its configuration.
        vault_id: Which vault.
        root: Its folder as a person names it, for messages.
    """

    def __init__(self, lake: Lake, config: Config, vault_id: str, root: str) -> None:
        self._lake = lake
        self._vault_id = vault_id
        name = collection_name(vault_id)
        super().__init__(
            lake.home,
            config,
            name,
            NoteTexts(lake, vault_id, config.search.chunk_tokens),
            fits=lake.home.vectors / name,
            embed_command=f"workbench embed --vault {root}",
            owners_at_once=NOTES_AT_ONCE,
        )

    def refresh(self, *, progress: Progress | None = None, wait_seconds: float = 0.0) -> bool:
        """Bring the index up to date with the last run over the vault; see `CollectionSearch.refresh`."""
        changed = super().refresh(progress=progress, wait_seconds=wait_seconds)
        for model_id in self.index.models() if changed else ():
            store_means(self.index, model_id)  # of notes that moved, whose vectors came along
        return changed

    def ask(
        self,
        text: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        now: datetime | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Look for notes.

        Args:
            text: What a person typed.
            mode: `keyword`, `semantic` or `hybrid`; as configured unless given.
            limit: Most notes; as configured unless given.
            now: The clock unless given.
            progress: Called while the index is brought up to date.

        Returns:
            One row a note with its best chunk (`COLUMNS`), best first, and what the answer lacks.

        Raises:
            BadInputError: There is no such mode or limit.
            StoreError: The index cannot be read.
        """
        answer = self.answer(text, mode=mode, limit=limit, now=now, progress=progress)
        answer.hits = self._as_notes(answer.hits)
        return answer

    def chunks_about(self, question: str, *, now: datetime | None = None) -> Answer:
        """The chunks that bear on a question, as `converse` takes them.

        Words and meaning count alike, whatever the configuration says of search; candidates and chunks are those of
        `vault.converse`. Several chunks of a note may be among them.

        Returns:
            Rows of `COLUMNS`, best first, and what the answer lacks: without vectors, words alone are looked for.

        Raises:
            StoreError: The index cannot be read.

        Source: PAI, 18.3 step 1.
        """
        converse = self._config.vault.converse
        settings = msgspec.structs.replace(
            self._config.search,
            fusion="minmax",
            keyword_weight=_CONVERSE_WEIGHT,
            semantic_weight=_CONVERSE_WEIGHT,
            candidates=converse.candidates,
            snippet_length=converse.snippet_chars,
        )
        lacks = self.refreshed()
        answer = ask_chunks(
            self.index,
            Question(question, "hybrid", converse.chunks, embed_command=self._embed_command),
            settings,
            embedder=lambda: self.embedder,
            now=now or datetime.now(UTC),
        )
        answer.lacks = lacks + answer.lacks
        answer.hits = self._as_notes(answer.hits)
        return answer

    def embed(self, *, progress: Progress | None = None) -> Embedded:
        """Give every chunk and every note a vector; interrupted, it goes on from there the next time.

        Raises:
            EmbedderUnavailableError: There is no embedder.
            BusyError: Another process embeds, or brings the index up to date.
            StoreError: The index cannot be read or written.
        """
        try:
            return super().embed(progress=progress)
        finally:
            for model_id in self.index.models():
                store_means(self.index, model_id)

    def vectors(self) -> NoteVectors:
        """The vectors of all notes that have one; none where nothing was embedded.

        Of several models in the index the configured one counts, and no other beside it.

        Raises:
            EmbedderUnavailableError: Several models have vectors here, and the configured one cannot be loaded.
            BusyError, StoreError: The index cannot be brought up to date.
        """
        from workbench.vault.note_vectors import NoteVectors  # noqa: PLC0415  (numpy: 100 ms)

        if not self.index.has_vectors():
            return NoteVectors.none()
        self.refresh(wait_seconds=60)
        model_id = self.model_id()
        if model_id is None:
            return NoteVectors.none()
        paths, matrix = read_means(self.index, model_id)
        return NoteVectors(tuple(paths), matrix, model_id) if paths else NoteVectors.none(model_id)

    def model_id(self) -> str | None:
        """Whose vectors count: those of the only model that has some, else of the configured one; None without any.

        Raises:
            EmbedderUnavailableError: Several models have vectors here, and the configured one cannot be loaded.
        """
        models = self.index.models()
        return models[0] if len(models) == 1 else self.embedder.model_id if models else None

    def closest_pieces(self, vector: NDArray[np.float32], paths: Sequence[str]) -> dict[str, str]:
        """What in some notes is closest to a vector: the closest chunk's first `SNIPPET` characters, in one line.

        Args:
            vector: Of the model whose vectors count.
            paths: The notes; those without a vector are left out.

        Raises:
            EmbedderUnavailableError: Several models have vectors here, and the configured one cannot be loaded.
            StoreError: The index cannot be read.
        """
        model_id = self.model_id()
        found = {} if model_id is None else self.index.closest(vector, model_id, paths)
        return {path: " ".join(text.split())[:SNIPPET] for path, text in found.items()}

    def without_vector(self) -> tuple[str | None, int]:
        """Whose vectors count, and how many notes have none of them or one of an earlier content; nothing is changed.

        The model is None where no note has a vector, and where several models have some and none of them can be loaded.
        """
        wanted = self.texts.states()
        try:
            model_id = self.model_id()
        except EmbedderUnavailableError:
            model_id = None
        if model_id is None:
            return None, len(wanted)
        known = self.index.states()
        owners, _ = read_means(self.index, model_id)
        return model_id, len(wanted) - sum(1 for path in owners if path in wanted and wanted[path] == known.get(path))

    def stored_chunks(self) -> int:
        """Pieces of notes in the index, whatever the tables say.

        Raises:
            StoreError: The index cannot be read.
        """
        return self.index.count()

    def forget(self) -> None:
        """Remove the index of this vault with all its texts and vectors.

        Raises:
            BusyError: Another process embeds, or brings an index up to date.
            StoreError: The folder cannot be written to.
        """
        database = self.index.database
        if database.tables_of(self.index.name):
            with database.lock("embed"), database.lock("refresh"):
                database.drop_collection(self.index.name)
        shutil.rmtree(self._fits, ignore_errors=True)

    def _as_notes(self, hits: pl.DataFrame) -> pl.DataFrame:
        """Hits under the names that notes have for their columns, with titles."""
        renamed = hits.rename({"id": "path", "occurred_at": "modified_at", "position": "line"})
        paths = renamed["path"].unique().to_list()
        titles = self._lake.sql(_TITLES, {"vault": self._vault_id, "paths": paths})
        return renamed.join(titles, on="path", how="left", maintain_order="left").select(COLUMNS)
