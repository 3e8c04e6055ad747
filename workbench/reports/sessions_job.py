"""From a lake to the files of the sessions report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.errors import StoreError
from workbench.reports.render.manifest import Manifest, write_report
from workbench.reports.render.numbers import Clock
from workbench.reports.sessions import sessions_report
from workbench.reports.sessions_frames import SCHEMAS, SessionsFrames, typed
from workbench.store.sql import query

if TYPE_CHECKING:
    import duckdb

    from workbench.store.lake import Lake

FILE: Final = "sessions.html"

ATTEMPTS: Final = 5
"""How often everything is asked again because an import landed in between."""


class WrittenReport(NamedTuple):
    """A report on disk."""

    path: Path
    manifest: Path
    sessions: int
    size_bytes: int


def table_versions(lake: Lake) -> dict[str, int | None]:
    """The Delta version of each table now; None for one that does not exist.

    Raises:
        StoreError: A table cannot be read.
    """
    handles = {name: store.handle() for name, store in lake.stores.items()}
    return {name: None if handle is None else handle.version() for name, handle in handles.items()}


def read_frames(lake: Lake, session_ids: Sequence[str] | None = None) -> tuple[SessionsFrames, dict[str, int | None]]:
    """Ask the lake for everything that the report tells.

    Args:
        lake: The tables.
        session_ids: Only of these sessions; of all unless given.

    Returns:
        The frames, and the versions of the tables that they were read at.

    Raises:
        StoreError: A table cannot be read, or imports never paused.
    """
    for _ in range(ATTEMPTS):
        versions = table_versions(lake)
        connection = lake.connection()
        try:
            if session_ids is not None:
                _choose(connection, session_ids)
            frames = SessionsFrames(**{name: typed(connection.sql(query(name)).pl(), name) for name in SCHEMAS})
        finally:
            connection.close()
        if table_versions(lake) == versions:
            return frames, versions
    raise StoreError("imports finish faster than the report can be made; try again in a moment")


def _choose(connection: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> None:
    """Let `sessions` be only the chosen ones; every query of the report starts from it."""
    ids = "select unnest($ids::varchar[]) as session_id"
    connection.execute(
        f"create or replace temp table chosen as from sessions semi join ({ids}) using (session_id)",
        {"ids": list(session_ids)},
    )
    connection.execute("create or replace temp view sessions as from chosen")


def write_sessions_report(
    lake: Lake,
    out: Path,
    *,
    session_ids: Sequence[str] | None = None,
    title: str = "Sessions",
    about: Sequence[str] = (),
    created_at: datetime | None = None,
    zone: tzinfo | None = None,
) -> WrittenReport:
    """Write the report, and beside it `<name>.manifest.json`.

    Args:
        lake: The tables.
        out: The file, or a folder for `sessions.html`.
        session_ids: Only of these sessions.
        title: The page's heading.
        about: Further lines for the page's foot.
        created_at: The time it bears, with a zone; now unless given.
        zone: Of its times; None is the local one.

    Returns:
        Where it is.

    Raises:
        StoreError: The tables cannot be read or the file cannot be written.
    """
    made_at = datetime.now(UTC) if created_at is None else created_at
    frames, versions = read_frames(lake, session_ids)
    html = sessions_report(frames, created_at=made_at, zone=zone, title=title, about=about)
    chosen = None if session_ids is None else list(session_ids)
    parameters = {"session_ids": chosen, "title": title, "zone": Clock.of(zone, [made_at]).name}
    path = out if out.suffix.lower() in (".html", ".htm") else out / FILE
    try:
        manifest = write_report(path, html, Manifest("sessions", made_at, versions, parameters))
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"the report {path} cannot be written ({why}); name another place for it") from error
    return WrittenReport(path, manifest, frames.session_overview.height, len(html.encode()))
