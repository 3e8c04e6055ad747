"""The public face: one object over one home.

>>> import workbench as wb
>>> bench = wb.open()  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import load_config, resolve_home
from workbench.errors import AmbiguousError, NotFoundError, StoreError
from workbench.keeping import Keeping
from workbench.replaying import Replaying
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.studying import Studying
from workbench.vaulting import Vaulting

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.ingest.importer import ImportResult, Progress
    from workbench.ingest.rebuild import RebuildResult
    from workbench.providers.embedding import Embedder
    from workbench.reports.doctor import Finding
    from workbench.reports.looking import Look
    from workbench.reports.sessions_job import WrittenReport
    from workbench.reports.usage import By
    from workbench.search.query import Answer
    from workbench.search.refresh import Embedded
    from workbench.search.sessions import SessionSearch
    from workbench.store.maintenance import MaintainResult
    from workbench.store.verify.run import Verification
    from workbench.text.redaction import Redactor

PathLike = str | os.PathLike[str]


def open(home: PathLike | None = None, **settings: Any) -> Workbench:  # noqa: A001
    """Open a home.

    Args:
        home: Its folder; `WORKBENCH_HOME` or the platform's user data folder unless given. Made when it is missing.
        settings: Configuration that comes before every file and variable, such as `compiler={"token_budget": 50000}`.

    Raises:
        NewerHomeError: A newer workbench made it.
        StoreError: It cannot be opened.
    """
    return Workbench(home, settings=settings)


class Workbench(Keeping, Replaying, Studying, Vaulting):
    """Everything that can be done with one home.

    Args:
        home: Its folder; see `open`.
        settings: See `open`.

    Attributes:
        notices: What answers so far lack, in words; the command line prints them.
    """

    def __init__(self, home: PathLike | None = None, *, settings: Mapping[str, Any] | None = None) -> None:
        self.home = Home.open(resolve_home(None if home is None else Path(home)))
        self._settings = dict(settings or {})
        self._lake = Lake(self.home)
        self.notices: list[str] = []

    @cached_property
    def config(self) -> Config:
        """The configuration, each value with its origin."""
        return load_config(self.home.root, project_dir=Path.cwd(), overrides=self._settings)

    # -- import --------------------------------------------------------------------------------------------------------

    def ingest(
        self,
        *paths: PathLike,
        rehash: bool = False,
        again: bool = False,
        progress: Progress | None = None,
        wait_seconds: float = 600,
    ) -> ImportResult:
        """Import agents' transcripts.

        Args:
            paths: Files and folders; where agents keep their own unless given.
            rehash: Read files again whose size, time and inode did not change.
            again: Bring back sessions that were forgotten and are found there.
            progress: Called with bytes done, bytes in all and the path at hand.
            wait_seconds: How long to wait for another import into this home.

        Returns:
            What landed, what was skipped and what could not be read.

        Raises:
            NotFoundError: No path was given and no agent's folder was found.
            StoreError: The home cannot be written to.
        """
        from workbench.ingest.importer import Importer  # noqa: PLC0415

        found = [Path(path) for path in paths] or self.agent_folders()
        importer = Importer(self._lake, redactor=self._redactor, progress=progress)
        return importer.run(found, rehash=rehash, again=again, wait_seconds=wait_seconds)

    def rebuild(
        self, *, dry_run: bool = False, progress: Progress | None = None, wait_seconds: float = 600
    ) -> RebuildResult:
        """Make every derived table and `blobs` again, from the archive and our own logs alone.

        Args:
            dry_run: Only read the archive through and tell what is in it.
            progress: Called with bytes done, bytes in all and the path at hand.
            wait_seconds: How long to wait for an import into this home.

        Returns:
            What landed anew, and what could not be read, with remedies.

        Raises:
            StoreError: The home cannot be read or written to.
        """
        from workbench.ingest.rebuild import Rebuilder  # noqa: PLC0415

        rebuilder = Rebuilder(self._lake, redactor=self._redactor, progress=progress)
        return rebuilder.rebuild(dry_run=dry_run, wait_seconds=wait_seconds)

    @property
    def _redactor(self) -> Redactor:
        from workbench.text.redaction import redact, unredacted  # noqa: PLC0415

        return redact if self.config.redaction.enabled else unredacted

    def agent_folders(self) -> list[Path]:
        """Where agents keep their sessions on this machine, as far as the folders exist.

        Raises:
            NotFoundError: None of them exists.
        """
        from workbench.ingest.discover import agent_folders  # noqa: PLC0415

        ingest = self.config.ingest
        candidates = agent_folders(ingest.claude_config_dir, ingest.codex_home, ingest.xdg_config_dir, Path.home())
        found = [folder for folder in candidates if folder.is_dir()]
        if not found:
            looked = ", ".join(map(str, candidates))
            raise NotFoundError(
                f"no agent's sessions were found (looked in {looked}); name a file or folder: workbench ingest PATH"
            )
        return found

    def land_logs(self, *, wait_seconds: float = 0.5) -> ImportResult | None:
        """Land new events of sessions run here; called before every question.

        Returns:
            What landed; None where there was nothing new, or where it could not be landed now (`notices` says why).
        """
        logs = sorted(self.home.sessions.glob("*/events.jsonl"))
        if not logs:
            return None
        from workbench.ingest.importer import has_news  # noqa: PLC0415  (150 ms)

        if not has_news(self._lake, logs):
            return None
        try:
            return self.ingest(*logs, wait_seconds=wait_seconds)
        except StoreError as error:
            self.notices.append(f"the newest events of sessions run here are not in this answer: {error}")
            return None

    # -- care ----------------------------------------------------------------------------------------------------------

    def maintain(
        self, *, dry_run: bool = False, progress: Progress | None = None, wait_seconds: float = 10
    ) -> MaintainResult:
        """Compact tables, and remove what nobody can read any more.

        Replaced files are kept for `store.file_retention_days`. Safe while others import and read.

        Args:
            dry_run: Only tell what there is to do.
            progress: Called with steps done, steps in all and the step at hand.
            wait_seconds: How long to wait for an import, a backup or a `forget`.

        Returns:
            What was done, and what had to be left out.

        Raises:
            BusyError: Another maintenance, a backup or a `forget` is at work.
            StoreError: The home cannot be written to.
        """
        from workbench.store.maintenance import maintain  # noqa: PLC0415

        store = self.config.store
        return maintain(
            self._lake,
            retention=timedelta(days=store.file_retention_days),
            compact_above_files=store.compact_above_files,
            dry_run=dry_run,
            progress=progress,
            wait_seconds=wait_seconds,
        )

    def verify(
        self, *, repair: bool = False, progress: Progress | None = None, wait_seconds: float = 600
    ) -> Verification:
        """Look whether the home is sound; safe while others import and read.

        Args:
            repair: Repair what can be repaired: what is in the way is moved to `.aside` in the home, and tables that
                are a function of the archive are made again. Each problem says whether that is so of it.
            progress: Called with checks done, checks in all and what is looked at.
            wait_seconds: With `repair`, how long to wait for an import, a backup or a `forget`.

        Returns:
            The problems that there are now, and those that were repaired.

        Raises:
            BusyError: With `repair`, somebody is at work for longer than that.
            StoreError: The home cannot be read or written.
        """
        from workbench.store.verify import run  # noqa: PLC0415

        if not repair:
            return run.check(self._lake, progress=progress)
        done = run.repair(self._lake, progress=progress, wait_seconds=wait_seconds)
        if done.lacks_rows:
            self.rebuild(wait_seconds=wait_seconds)
            done.problems = run.check(self._lake, progress=progress).problems
        return done

    def doctor(self) -> list[Finding]:
        """What a person should know about this machine and home, in the order of the checks; nothing is changed."""
        from workbench.reports.doctor import Patient, doctor  # noqa: PLC0415

        try:
            folders = self.agent_folders()
        except NotFoundError:
            folders = []
        return doctor(Patient(self._lake, self.config, folders, datetime.now(UTC)))

    # -- reading -------------------------------------------------------------------------------------------------------

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Ask the lake; new events of sessions run here are landed first.

        Args:
            query: DuckDB SQL over the tables of `docs/tables.md`.
            parameters: Values for `?`, or by name for `$name`.

        Returns:
            A Polars frame; times are UTC.

        Raises:
            QueryError: DuckDB refused it.
        """
        self.land_logs()
        return self._lake.sql(query, parameters)

    def scan(self, table: str) -> pl.LazyFrame:
        """A table as a Polars lazy frame.

        Raises:
            NotFoundError: There is no such table.
        """
        self.land_logs()
        return self._lake.scan(table)

    def as_of(self, table: str, moment: datetime) -> pl.DataFrame:
        """An entity table as it was at a moment (with a zone).

        Raises:
            NotFoundError: There is no such entity table.
        """
        return self._lake.as_of(table, moment)

    @property
    def sessions(self) -> pl.DataFrame:
        """All sessions, newest first."""
        return self.sql("select * from sessions order by started_at desc nulls last, session_id")

    def resolve_session(self, name: str) -> str:
        """The session that is meant by an id, a prefix of one that fits no other, or `last`.

        Raises:
            NotFoundError: No session fits.
            AmbiguousError: Several fit.
        """
        if name == "last":
            found = self.sql("select session_id from sessions order by ended_at desc nulls last, session_id limit 1")
        else:
            query = (
                "select session_id from sessions where starts_with(session_id, ?) "
                "order by session_id != ?, session_id limit 6"
            )
            found = self.sql(query, [name, name])
        ids = found["session_id"].to_list() if found.height else []
        if not ids and name == "last":
            raise NotFoundError("there are no sessions in this home yet; `workbench ingest` imports them")
        if not ids:
            raise NotFoundError(f"no session begins with {name!r}; `workbench sessions` lists them")
        if len(ids) > 1 and ids[0] != name:
            listed = ", ".join(ids[:5]) + (" ..." if len(ids) > 5 else "")  # noqa: PLR2004
            raise AmbiguousError(f"{name!r} fits several sessions: {listed}; write more of the id")
        return str(ids[0])

    def list_sessions(
        self, *, project: str | None = None, agent: str | None = None, since: datetime | None = None
    ) -> pl.DataFrame:
        """Sessions that fit all filters, newest first.

        Args:
            project: A project id, or part of the project's path.
            agent: An agent's name.
            since: Those that were active at or after this time (with a zone).

        Returns:
            Rows of `sessions`; people's titles, where they gave any, in the place of ours.
        """
        return self.sql(
            """
            select s.* replace (coalesce(l.title, s.title) as title)
            from sessions s left join session_labels l using (session_id)
            where ($project is null or s.project_id = $project or contains(s.cwd, $project))
              and ($agent is null or s.agent = $agent)
              and ($since is null or s.ended_at >= $since)
            order by s.started_at desc nulls last, s.session_id
            """,
            {"project": project, "agent": agent, "since": since},
        )

    def session(self, name: str) -> dict[str, Any]:
        """One session: its row, its labels, and its exchanges.

        Args:
            name: Id, prefix or `last`.

        Returns:
            `session` (the row), `labels` (a row or None), `turn_records` (rows), `import_issues` (rows).

        Raises:
            NotFoundError, AmbiguousError: As for `resolve_session`.
        """
        session_id = self.resolve_session(name)
        labels = self._rows("session_labels", session_id, "session_id")
        return {
            "session": self._rows("sessions", session_id, "session_id")[0],
            "labels": labels[0] if labels else None,
            "turn_records": self._rows("turn_records", session_id, "turn"),
            "import_issues": self._rows("import_issues", session_id, "source_id, line"),
        }

    def session_markdown(self, name: str) -> str:
        """One session as a Markdown document.

        Raises:
            NotFoundError, AmbiguousError: As for `resolve_session`.
        """
        from workbench.reports.markdown import session_markdown  # noqa: PLC0415

        session_id = self.resolve_session(name)
        (about,) = self._rows("sessions", session_id, "session_id")
        return session_markdown(
            about, self._rows("turns", session_id, "sequence_number"), self._rows("tool_calls", session_id, "seq")
        )

    def _rows(self, table: str, session_id: str, order: str) -> list[dict[str, Any]]:
        return self._lake.sql(f"select * from {table} where session_id = ? order by {order}", [session_id]).to_dicts()

    def usage(self, by: By = "model", *, since: datetime | None = None, project: str | None = None) -> pl.DataFrame:
        """Tokens and cost of model calls, each once, by day, project, model or session.

        Args:
            by: `day` (local), `project`, `model` or `session` (each session sees its own calls).
            since: Calls at or after this time (with a zone).
            project: A project id, or part of the project's path.

        Returns:
            One row a key; `cost_usd` is null where no price is known. See `reports.usage.read_usage`.
        """
        from workbench.reports.usage import usage_frame  # noqa: PLC0415

        self.land_logs()
        return usage_frame(self._lake, by, since=since, project=project)

    # -- search --------------------------------------------------------------------------------------------------------

    def search(self, query: str, *, mode: str | None = None, limit: int | None = None, **filters: Any) -> pl.DataFrame:
        """Search over everything that was said and done. What the answer lacks is told in `notices`.

        Args:
            query: Words to be found, or a question; nothing in it is syntax.
            mode: `keyword`, `semantic` or `hybrid`; `search.mode` of the configuration unless given.
            limit: Most hits; `search.default_limit` unless given.
            filters: `project`, `since`, `until`, `tool`, `role`, `agent`, `session`, `kind`; see `answer`.

        Returns:
            Hits, best first: whose they are (`session_id`, `kind`, `id`), `score` and each of its terms, `text`, and
            the part that shows why it was found (`snippet`, with `marks`).

        Raises:
            BadInputError: There is no such mode, kind or limit.
            StoreError: The index cannot be read.
        """
        answer = self.answer(query, mode=mode, limit=limit, **filters)
        self.notices += [*answer.lacks, *answer.notices]
        return answer.hits

    def answer(
        self,
        query: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tool: str | None = None,
        role: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        kind: str | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Search as `search` does, and tell apart what the answer lacks.

        Args:
            query: See `search`.
            mode: See `search`.
            limit: See `search`.
            project: A project id, or part of the project's path.
            since: That time or later, with a zone.
            until: Before that time, with a zone.
            tool: A tool's name.
            role: `user` or `assistant`.
            agent: An agent's name.
            session: Id, prefix or `last`.
            kind: `turn`, `tool_result` or `session`.
            progress: Called with sessions done, sessions in all and the one at hand, while the index is brought up to
                date.

        Raises:
            BadInputError: There is no such mode, kind or limit.
            NotFoundError, AmbiguousError: As for `resolve_session`.
            StoreError: The index cannot be read.
        """
        from workbench.search.sessions import Filters  # noqa: PLC0415

        self.land_logs()
        session_id = None if session is None else self.resolve_session(session)
        filters = Filters(project, since, until, tool, role, agent, session_id, kind)
        return self._search.ask(query, mode=mode, limit=limit, filters=filters, progress=progress)

    def embed(self, *, progress: Progress | None = None) -> Embedded:
        """Give every text a vector. It can be interrupted: what is done stays, and the next call goes on from there.

        Args:
            progress: Called with texts done, texts in all and the model.

        Raises:
            EmbedderUnavailableError: There is no embedder; the message says what is missing.
            BusyError: Another process embeds.
            StoreError: The index cannot be read or written.
        """
        self.land_logs()
        done = self._search.embed(progress=progress)
        if advice := self._search.advice():
            self.notices.append(advice)
        return done

    @property
    def embedder(self) -> Embedder:
        """The embedder that is configured, loaded.

        Raises:
            EmbedderUnavailableError: It is not there; the message says what is missing and what helps.
        """
        return self._search.embedder

    @cached_property
    def _search(self) -> SessionSearch:
        from workbench.search.sessions import SessionSearch  # noqa: PLC0415

        return SessionSearch(self._lake, self.config)

    # -- reports -------------------------------------------------------------------------------------------------------

    def report(
        self,
        name: str,
        out: PathLike,
        *,
        session_ids: Sequence[str] | None = None,
        about: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> WrittenReport:
        """Write a report: one HTML file that needs nothing else, and a manifest of what it was made from.

        Args:
            name: `sessions`, or `context`: sessions without a replay that still holds are replayed first.
            out: A file that ends in `.html`, or a folder.
            session_ids: Only these sessions; all unless given.
            about: Further lines for the page's foot.
            progress: Called with sessions done, sessions in all and the one at hand, while sessions are replayed.

        Raises:
            NotFoundError: There is no such report.
        """
        if name not in ("sessions", "context"):
            raise NotFoundError(f"there is no report {name!r}; there are: sessions, context")
        self.land_logs()
        if name == "context":
            from workbench.reports.context_job import write_context_report  # noqa: PLC0415

            return write_context_report(
                self._lake, self.config, Path(out), session_ids=session_ids, about=about, progress=progress
            )
        from workbench.reports.sessions_job import write_sessions_report  # noqa: PLC0415

        return write_sessions_report(self._lake, Path(out), session_ids=session_ids, about=about)

    def look(self, session_ids: Sequence[str] | None = None) -> Look:
        """What the sessions report is made of, to show parts of it in a notebook.

        Args:
            session_ids: Only these sessions; all unless given.

        Returns:
            `frames`, their sums and the local clock: the arguments of the sections in `reports.sessions_overview` and
            `reports.sessions_details`.
        """
        from workbench.reports.looking import look_at  # noqa: PLC0415
        from workbench.reports.sessions_job import read_report  # noqa: PLC0415

        self.land_logs()
        return look_at(read_report(self._lake, session_ids, with_texts=False).frames)
