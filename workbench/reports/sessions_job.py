"""From a lake to the files of the sessions report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.errors import StoreError
from workbench.providers.prices import PriceList
from workbench.reports.asking import Ask, answer
from workbench.reports.render.manifest import Manifest, write_report
from workbench.reports.render.numbers import Clock
from workbench.reports.sessions import sessions_report
from workbench.reports.sessions_calls import calls_by_quarter_hour, costs_by_session
from workbench.reports.sessions_frames import FROM_CALLS, QUERIES, SessionsFrames, typed
from workbench.reports.sessions_pages import PageFrames, read_pages

if TYPE_CHECKING:
    import duckdb
    import polars as pl

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


class Read(NamedTuple):
    """What a report is made of, and the versions of the tables that it was read at."""

    frames: SessionsFrames
    texts: PageFrames
    versions: dict[str, int | None]


def read_report(lake: Lake, session_ids: Sequence[str] | None = None, *, with_texts: bool = True) -> Read:
    """Ask the lake for everything that the report tells.

    Args:
        lake: The tables.
        session_ids: Only of these sessions; of all unless given.
        with_texts: Whether to read what the sessions' own pages are made of.

    Raises:
        StoreError: A table cannot be read, or imports never paused.
    """
    for _ in range(ATTEMPTS):
        versions = table_versions(lake)
        connection = lake.connection()
        ask = asker(connection)
        try:
            answers = {name: typed(answer(ask, name, session_ids), name) for name in QUERIES}
            paged = answers["session_overview"]["session_id"].to_list() if with_texts else []
            texts = read_pages(ask, paged)
            calls = _from_calls(ask, session_ids)
        finally:
            connection.close()
        frames = SessionsFrames(**answers, **{name: typed(frame, name) for name, frame in calls.items()})
        if table_versions(lake) == versions:
            return Read(frames, texts, versions)
    raise StoreError("imports finish faster than the report can be made; try again in a moment")


def asker(connection: duckdb.DuckDBPyConnection) -> Ask:
    """Ask one connection, so that all answers are of one snapshot."""
    return lambda query, bound: connection.sql(query, params=dict(bound)).pl()


def _from_calls(ask: Ask, session_ids: Sequence[str] | None) -> dict[str, pl.DataFrame]:
    """The frames that are made from model calls of the sessions of the report."""
    prices = PriceList()
    once, told = answer(ask, "usage_once", session_ids), answer(ask, "model_calls", session_ids)
    frames = (calls_by_quarter_hour(once, prices), costs_by_session(told, prices))
    return dict(zip(FROM_CALLS, frames, strict=True))


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
    frames, texts, versions = read_report(lake, session_ids)
    html = sessions_report(frames, created_at=made_at, zone=zone, title=title, about=about, texts=texts)
    chosen = None if session_ids is None else list(session_ids)
    parameters = {"session_ids": chosen, "title": title, "zone": Clock.of(zone, [made_at]).name}
    path = out if out.suffix.lower() in (".html", ".htm") else out / FILE
    try:
        manifest = write_report(path, html, Manifest("sessions", made_at, versions, parameters))
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"the report {path} cannot be written ({why}); name another place for it") from error
    return WrittenReport(path, manifest, frames.session_overview.height, len(html.encode()))
