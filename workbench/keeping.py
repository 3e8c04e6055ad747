"""What `Workbench` does with a home as a whole: forget sessions, back up, restore, export (`docs/erasure.md`)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import resolve_home
from workbench.errors import BadInputError, NotFoundError
from workbench.store.home import Home
from workbench.store.lake import Lake

if TYPE_CHECKING:
    from workbench.ingest.forget import ForgetResult
    from workbench.ingest.importer import ImportResult, Progress
    from workbench.store.backup import BackupResult
    from workbench.store.export import ExportResult
    from workbench.store.restore import RestoreResult

PathLike = str | os.PathLike[str]


def restore(
    backup: PathLike, home: PathLike | None = None, *, dry_run: bool = False, progress: Progress | None = None
) -> RestoreResult:
    """Make a home out of a backup.

    Args:
        backup: The file that `Workbench.backup` wrote.
        home: The home's folder, missing or empty; the usual one unless given.
        dry_run: Only read the backup and check it.
        progress: Called with bytes done, bytes in all and the file at hand.

    Raises:
        NotFoundError: There is no such file.
        BadInputError: It is no backup or damaged, or the folder is not empty.
        NewerHomeError: A newer workbench made it.
        StoreError: The home cannot be written.
    """
    from workbench.store.restore import restore as restored  # noqa: PLC0415

    return restored(
        Path(backup), resolve_home(None if home is None else Path(home)), dry_run=dry_run, progress=progress
    )


class Keeping(ABC):
    """The methods of `Workbench` that copy and erase.

    Attributes:
        home: The home.
    """

    home: Home
    _lake: Lake

    @abstractmethod
    def resolve_session(self, name: str) -> str:
        """The session that is meant by a name."""

    @abstractmethod
    def land_logs(self, *, wait_seconds: float = 0.5) -> ImportResult | None:
        """Land new events of sessions run here."""

    def forget(
        self,
        *sessions: str,
        project: str | None = None,
        matching: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
        wait_seconds: float = 600,
    ) -> ForgetResult:
        """Remove everything of some sessions for good; see `docs/erasure.md`.

        A forget that was interrupted is completed by the next one, whatever that one names; without arguments it is
        all that is done. Exact snapshots of the tables from before are gone.

        Args:
            sessions: Ids, prefixes or `last`.
            project: Only sessions of this project: its id, or a folder in or below which they began.
            matching: Only sessions of which any text contains this.
            dry_run: Only look what there is.
            progress: Called with steps done, steps in all and the name of the one at hand.
            wait_seconds: How long to wait for an import or a backup.

        Returns:
            What went, or would go, and what stays.

        Raises:
            BadInputError: Nothing was named, or a source cannot be taken apart; nothing was changed.
            NotFoundError, AmbiguousError: No session fits, or a prefix fits several.
            StoreError: The home cannot be read or written to, or a session is being written to.
        """
        from workbench.ingest.forget import forget  # noqa: PLC0415

        chosen = self._chosen(sessions, project, matching)
        return forget(self._lake, chosen, dry_run=dry_run, progress=progress, wait_seconds=wait_seconds)

    def backup(
        self,
        out: PathLike,
        *,
        vectors: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
        wait_seconds: float = 600,
    ) -> BackupResult:
        """Write everything that this home holds into one file, while others may go on working; `restore` reads it.

        Args:
            out: The file; or a folder that exists, in which it gets a name with the time.
            vectors: Whether LanceDB's folder goes in; it can be made anew.
            dry_run: Only look what would go in.
            progress: Called with bytes done, bytes in all and the file at hand.
            wait_seconds: How long to wait for an import, another backup or a `forget`.

        Raises:
            BadInputError: The file is there already, or would lie in the home.
            StoreError: The home cannot be read, or the file not be written.
        """
        from workbench.store.backup import backup  # noqa: PLC0415

        return backup(
            self.home, Path(out), vectors=vectors, dry_run=dry_run, progress=progress, wait_seconds=wait_seconds
        )

    def export(
        self,
        *,
        parquet: PathLike | None = None,
        duckdb: PathLike | None = None,
        sessions: Sequence[str] | None = None,
        since: datetime | None = None,
        tables: Sequence[str] | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> ExportResult:
        """Write the tables as other programs read them: a folder of Parquet files, or one DuckDB file.

        Args:
            parquet: The folder; give this or `duckdb`.
            duckdb: The file.
            sessions: Only these: ids, prefixes or `last`.
            since: Only sessions that were active at or after this time (with a zone).
            tables: Only these tables.
            overwrite: Whether an earlier export at that place may be replaced.
            progress: Called with bytes done, bytes in all and the table at hand.

        Raises:
            BadInputError: Not one of the two targets was given, or it is there already.
            NotFoundError, AmbiguousError: No session or table fits, or a prefix fits several.
            StoreError: The tables cannot be read or the files not be written.
        """
        from workbench.store.export import Choice, export_duckdb, export_parquet  # noqa: PLC0415

        target = parquet if duckdb is None else duckdb
        if target is None or (parquet is not None and duckdb is not None):
            raise BadInputError("give a folder for Parquet files or a DuckDB file, and one of the two only")
        if since is not None and since.utcoffset() is None:
            raise BadInputError(f"since needs a time with a zone, got {since!r}")
        self.land_logs()
        chosen = None if sessions is None else {self.resolve_session(name) for name in sessions}
        write = export_parquet if duckdb is None else export_duckdb
        choice = Choice(tables, chosen, since)
        return write(self._lake, Path(target), choice, overwrite=overwrite, progress=progress)

    def _chosen(self, names: Sequence[str], project: str | None, matching: str | None) -> set[str]:
        from workbench.store import choice  # noqa: PLC0415
        from workbench.store.forget import read_journal  # noqa: PLC0415

        unfinished = set(read_journal(self.home))
        named = {name if name in unfinished else self._stored_session(name) for name in names}
        parts = [named] if names else []
        parts += [choice.of_project(self._lake, project)] if project is not None else []
        parts += [choice.matching(self._lake, matching)] if matching else []
        chosen = set.intersection(*parts) if parts else set()
        if not chosen and not unfinished:
            if not parts:
                raise BadInputError("name the sessions to forget, a project or a text that they contain")
            raise NotFoundError("no session fits; `workbench sessions` lists them")
        return chosen

    def _stored_session(self, name: str) -> str:
        """As `resolve_session`; a whole id also of what is stored and not shown, because its import did not end."""
        from workbench.store.forget import known_ids  # noqa: PLC0415

        try:
            return self.resolve_session(name)
        except NotFoundError:
            if name in known_ids(self._lake):
                return name
            raise
