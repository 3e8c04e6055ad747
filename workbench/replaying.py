"""What `Workbench` does with recorded sessions under the context engine (`docs/context.md`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from workbench.store.lake import Lake

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.context.session import Level
    from workbench.experiments.replay import Mode
    from workbench.experiments.replay_job import OnExchange, ReplayResult
    from workbench.ingest.importer import ImportResult
    from workbench.providers.embedding import Embedder


class Replaying(ABC):
    """The methods of `Workbench` that replay."""

    _lake: Lake

    @property
    @abstractmethod
    def config(self) -> Config:
        """The configuration."""

    @abstractmethod
    def resolve_session(self, name: str) -> str:
        """The session that is meant by a name."""

    @abstractmethod
    def land_logs(self, *, wait_seconds: float = 0.5) -> ImportResult | None:
        """Land new events of sessions run here."""

    @property
    @abstractmethod
    def embedder(self) -> Embedder:
        """The configured embedder, loaded."""

    def replay(
        self,
        *sessions: str,
        mode: Mode = "engine",
        level: Level = "exchange",
        semantic: bool = False,
        progress: OnExchange | None = None,
    ) -> ReplayResult:
        """Say what each prompt of recorded sessions would have held; the rows go to `compiles` and `unit_scores`.

        Args:
            sessions: Ids, prefixes or `last`; all sessions, the oldest first, unless given.
            mode: `engine`, or `classic`: the whole history.
            level: One prompt an `exchange`, or one a `step` (model call).
            semantic: Judge meaning too, by the configured embedder.
            progress: Called with sessions done, sessions in all and the session at hand.

        Raises:
            NotFoundError, AmbiguousError: As for `resolve_session`.
            EmbedderUnavailableError: `semantic` is asked for and there is no embedder.
        """
        from workbench.experiments.replay_job import policy_of, replay_sessions  # noqa: PLC0415

        self.land_logs()
        embedder = self.embedder if semantic else None
        return replay_sessions(
            self._lake,
            [self.resolve_session(name) for name in sessions] or self._all_sessions(),
            policy_of(self.config, level),
            mode=mode,
            embed=embedder.embed if embedder else None,
            embedder=embedder.model_id if embedder else None,
            progress=progress,
        )

    def why(self, session: str, turn: int, unit: str, *, step: int = 0, replay_id: str | None = None) -> dict[str, Any]:
        """Why a unit was in a prompt or not; see `experiments.replay_job.why`.

        Args:
            session: Id, prefix or `last`.
            turn: The exchange, from 1.
            unit: The unit's id, or a part of it that fits no other.
            step: The model call in the exchange; 0 for a prompt by exchange.
            replay_id: The replay; the newest unless given.

        Raises:
            NotFoundError, AmbiguousError: There is no such session, replay, prompt or unit, or several fit.
        """
        from workbench.experiments.replay_job import why  # noqa: PLC0415

        return why(self._lake, self.resolve_session(session), turn, unit, step=step, replay_id=replay_id)

    def _all_sessions(self) -> list[str]:
        query = "select session_id from sessions order by started_at nulls last, session_id"
        return [str(row[0]) for row in self._lake.sql(query).rows()]
