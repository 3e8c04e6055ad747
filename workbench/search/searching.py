"""Search over one collection of texts: its index, the models it needs, and how a question to it is put."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol, get_args

from workbench.errors import BadInputError, BusyError, StoreError
from workbench.search.index import ChunkIndex
from workbench.search.query import Answer, Question, Rerank, ask
from workbench.search.rank import Mode
from workbench.search.refresh import Embedded, Progress, Texts, embed_missing, refresh
from workbench.store.files import make_folder, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from workbench.config import Config
    from workbench.providers.embedding import Embedder
    from workbench.providers.rerank import CrossEncoder
    from workbench.store.filters import Where
    from workbench.store.home import Home

MODES: tuple[Mode, ...] = get_args(Mode)

LANGUAGE_SAMPLE: Final = 400
"""Texts that are looked at to tell whether they are largely not English: some hundred suffice."""


class Stamped(Texts, Protocol):
    """Texts that can tell in no time whether anything changed."""

    def stamp(self) -> int | None:
        """A number that is another one after any change; None where that cannot be told."""
        ...


class CollectionSearch:
    """Search over one collection.

    Args:
        home: Where its index lies.
        config: The home's configuration.
        name: Of the collection.
        texts: What is searched.
        fits: Where an embedder that learns from texts keeps what it learned from these.
        embed_command: What gives these texts their vectors, for messages.
        owners_at_once: Owners put in with one commit.
    """

    def __init__(
        self,
        home: Home,
        config: Config,
        name: str,
        texts: Stamped,
        *,
        fits: Path,
        embed_command: str = "workbench embed",
        owners_at_once: int | None = None,
    ) -> None:
        self._config = config
        self._embed_command = embed_command
        self._fits = fits
        self._owners_at_once = owners_at_once
        self.texts = texts
        self.index = ChunkIndex(home.vectors, name, config.store.vectors)
        self._seen_stamp: int | None = None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that is configured, loaded.

        Raises:
            EmbedderUnavailableError: It is not there; the message says what is missing and what helps.
        """
        from workbench.providers.embedding import load_embedder  # noqa: PLC0415  (onnxruntime: 180 ms)

        return load_embedder(self._config.embedding, self._fits)

    def refresh(self, *, progress: Progress | None = None, wait_seconds: float = 0.0) -> bool:
        """Bring the index up to date with what landed.

        Returns:
            Whether anything was to be done.

        Raises:
            BusyError: Another process is at it.
            StoreError: The index or the tables cannot be read or written.
        """
        stamp = self.texts.stamp()
        if stamp is not None and stamp == self._seen_stamp and self.index.is_there():
            return False
        changed = refresh(
            self.index, self.texts, progress=progress, wait_seconds=wait_seconds, at_once=self._owners_at_once
        )
        self._seen_stamp = stamp
        return changed

    def answer(
        self,
        text: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        where: Where | None = None,
        now: datetime | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Answer a question.

        Args:
            text: What a person typed.
            mode: `keyword`, `semantic` or `hybrid`; as configured unless given.
            limit: Most hits; as configured unless given.
            where: Only chunks that fit.
            now: The clock unless given.
            progress: Called while the index is brought up to date.

        Returns:
            The hits, and what the answer lacks.

        Raises:
            BadInputError: There is no such mode or limit.
            StoreError: The index cannot be read.
        """
        question = Question(text, self._mode(mode), self._limit(limit), where, self._embed_command)
        notices = self.refreshed(progress)
        answer = ask(
            self.index,
            question,
            self._config.search,
            embedder=lambda: self.embedder,
            rerank=self._rerank,
            now=now or datetime.now(UTC),
        )
        answer.lacks = notices + answer.lacks
        return answer

    def embed(self, *, progress: Progress | None = None) -> Embedded:
        """Give every text a vector; interrupted, it goes on from there the next time.

        Raises:
            EmbedderUnavailableError: There is no embedder.
            BusyError: Another process embeds, or brings the index up to date.
            StoreError: The index cannot be read or written.
        """
        self.refresh(progress=progress, wait_seconds=600)
        self._fit()
        return embed_missing(self.index, self.embedder, progress=progress)

    def advice(self) -> str | None:
        """What would serve these texts better than the configured model; None where it fits them."""
        from workbench.providers.embedding import better_model  # noqa: PLC0415
        from workbench.text.language import judge_language  # noqa: PLC0415

        texts = self.index.missing_vectors("")["text"]  # no model is called so: all texts
        step = max(1, len(texts) // LANGUAGE_SAMPLE)
        return better_model(self._config.embedding, judge_language(texts.gather_every(step).to_list()))

    def refreshed(self, progress: Progress | None = None) -> list[str]:
        """Bring the index up to date, if nobody else is just doing that; what an answer lacks otherwise."""
        try:
            self.refresh(progress=progress)
        except BusyError:
            return ["another process is bringing the index up to date; this answer is from what was there before"]
        except StoreError as error:
            return [f"the index could not be brought up to date, this answer is from what was there before: {error}"]
        return []

    def _fit(self) -> None:
        """Fit an embedder that learns from the texts themselves and has not done so yet."""
        from workbench.providers.embedding.lsa import LSA, fit_lsa, is_fitted  # noqa: PLC0415

        if self._config.embedding.model != LSA or self._config.embedding.model_path or is_fitted(self._fits):
            return
        make_folder(self._fits, mode=0o700)
        for name, content in fit_lsa(self.index.missing_vectors("")["text"].to_list()).files().items():
            write_atomic(self._fits / name, content)

    @property
    def _rerank(self) -> Rerank | None:
        """The cross-encoder, which is loaded by its first use; None where none is configured."""
        if self._config.rerank.model_path is None:
            return None
        return self._score

    def _score(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        return self._cross_encoder.score(query, texts)

    @cached_property
    def _cross_encoder(self) -> CrossEncoder:
        from workbench.providers.rerank import load_cross_encoder  # noqa: PLC0415  (onnxruntime: 180 ms)

        assert self._config.rerank.model_path is not None  # noqa: S101  (asked by `_rerank`)
        return load_cross_encoder(self._config.rerank.model_path)

    def _mode(self, mode: str | None) -> Mode:
        wanted = self._config.search.mode if mode is None else mode
        if wanted not in MODES:
            raise BadInputError(f"there is no search mode {wanted!r}; there are {', '.join(MODES)}")
        return wanted

    def _limit(self, limit: int | None) -> int:
        wanted = self._config.search.default_limit if limit is None else limit
        if wanted < 1:
            raise BadInputError(f"the limit is at least 1, not {wanted}")
        return wanted
