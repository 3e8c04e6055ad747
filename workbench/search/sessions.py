"""Search over the sessions of a home: what `bench.search` and `bench.embed` do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.errors import BadInputError
from workbench.search.collections import KINDS, NAME, SessionTexts
from workbench.search.query import Answer
from workbench.search.refresh import Progress
from workbench.search.searching import CollectionSearch
from workbench.store.filters import Where

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.store.lake import Lake


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


class SessionSearch(CollectionSearch):
    """Search over the sessions of one home.

    Args:
        lake: The home's tables.
        config: Its configuration.
    """

    def __init__(self, lake: Lake, config: Config) -> None:
        self._lake = lake
        texts = SessionTexts(lake, config.search.chunk_tokens)
        super().__init__(lake.home, config, NAME, texts, fits=lake.home.vectors)

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
        """Answer a question; see `CollectionSearch.answer`.

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
        where = self._where(filters or Filters())
        return self.answer(text, mode=mode, limit=limit, where=where, now=now, progress=progress)

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
