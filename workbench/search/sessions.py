"""Search over the sessions of a home: what `bench.search` and `bench.embed` do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, get_args

from workbench.errors import BadInputError, BusyError, StoreError
from workbench.search.collections import KINDS, NAME, SessionTexts
from workbench.search.index import ChunkIndex
from workbench.search.query import Answer, Question, Rerank, ask
from workbench.search.rank import Mode
from workbench.search.refresh import Embedded, Progress, embed_missing, refresh
from workbench.store.files import make_folder, write_atomic
from workbench.store.filters import Where
from workbench.store.landing_key import HEAD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.config import Config
    from workbench.providers.embedding import Embedder
    from workbench.providers.rerank import CrossEncoder
    from workbench.store.lake import Lake

MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class Filters:
    """What a search over sessions is confined to.

    Attributes:
        project: A project id, or part of the project's path.
        since: That time or later, with a zone.
        until: Before that time, with a zone.
        tool: A tool's name.
        role: `user` or `assistant`.
        agent: An agent's name.
        session_id: A session's whole id.
        kind: `turn`, `tool_result` or `session`.
    """

    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool: str | None = None
    role: str | None = None
    agent: str | None = None
    session_id: str | None = None
    kind: str | None = None


LANGUAGE_SAMPLE: Final = 400
"""Texts that are looked at to tell whether they are largely not English: some hundred suffice."""


class SessionSearch:
    """Search over the sessions of one home.

    Args:
        lake: The home's tables.
        config: Its configuration.
    """

    def __init__(self, lake: Lake, config: Config) -> None:
        self._lake = lake
        self._config = config
        self._texts = SessionTexts(lake, config.search.chunk_tokens)
        self.index = ChunkIndex(lake.home.vectors, NAME, config.store.vectors)
        self._seen_stamp: int | None = None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that is configured, loaded.

        Raises:
            EmbedderUnavailableError: It is not there; the message says what is missing and what helps.
        """
        from workbench.providers.embedding import load_embedder  # noqa: PLC0415  (onnxruntime: 180 ms)

        return load_embedder(self._config.embedding, self._lake.home.vectors)

    def refresh(self, *, progress: Progress | None = None, wait_seconds: float = 0.0) -> bool:
        """Bring the index up to date with what landed.

        Returns:
            Whether anything was to be done.

        Raises:
            BusyError: Another process is at it.
            StoreError: The index or the tables cannot be read or written.
        """
        stamp = self._commits_stamp()
        if stamp is not None and stamp == self._seen_stamp and self.index.is_there():
            return False
        changed = refresh(self.index, self._texts, progress=progress, wait_seconds=wait_seconds)
        self._seen_stamp = stamp
        return changed

    def _commits_stamp(self) -> int | None:
        """When the log of `sessions` last got an entry, which is known in no time; None where that cannot be told."""
        try:
            return (self._lake.home.tables / HEAD / "_delta_log").stat().st_mtime_ns
        except OSError:
            return None

    def ask(
        self,
        text: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        filters: Filters | None = None,
        now: datetime | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Answer a question.

        Args:
            text: What a person typed.
            mode: `keyword`, `semantic` or `hybrid`; as configured unless given.
            limit: Most hits; as configured unless given.
            filters: What it is confined to.
            now: The clock unless given.
            progress: Called while the index is brought up to date.

        Returns:
            The hits, and what the answer lacks.

        Raises:
            BadInputError: There is no such mode, kind or limit.
            StoreError: The index cannot be read.
        """
        question = Question(text, self._mode(mode), self._limit(limit), self._where(filters or Filters()))
        notices = self._refreshed(progress)
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

    def _fit(self) -> None:
        """Fit an embedder that learns from the texts themselves and has not done so yet."""
        from workbench.providers.embedding.lsa import LSA, fit_lsa, is_fitted  # noqa: PLC0415

        folder = self._lake.home.vectors
        if self._config.embedding.model != LSA or self._config.embedding.model_path or is_fitted(folder):
            return
        make_folder(folder, mode=0o700)
        for name, content in fit_lsa(self.index.missing_vectors("")["text"].to_list()).files().items():
            write_atomic(folder / name, content)

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

    def _refreshed(self, progress: Progress | None) -> list[str]:
        """Bring the index up to date, if nobody else is just doing that; what the answer lacks otherwise."""
        try:
            self.refresh(progress=progress)
        except BusyError:
            return ["another process is bringing the index up to date; this answer is from what was there before"]
        except StoreError as error:
            return [f"the index could not be brought up to date, this answer is from what was there before: {error}"]
        return []

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

    def _where(self, filters: Filters) -> Where | None:
        if filters.kind is not None and filters.kind not in KINDS:
            raise BadInputError(f"there is no kind {filters.kind!r}; there are {', '.join(KINDS)}")
        return Where.of(
            since=filters.since,
            until=filters.until,
            project_id=self._project_ids(filters.project),
            tool=filters.tool,
            role=filters.role,
            agent=filters.agent,
            session_id=filters.session_id,
            kind=filters.kind,
        )

    def _project_ids(self, project: str | None) -> Sequence[str] | None:
        """The projects that are meant by an id or by a part of a path."""
        if project is None:
            return None
        query = """
            select distinct project_id from sessions
            where project_id = $project or (project_id is not null and contains(cwd, $project)) order by project_id
        """
        return [str(found) for found in self._lake.sql(query, {"project": project})["project_id"].to_list()]
