"""From a lake to the files of the context report: sessions without a replay that still holds are replayed first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from workbench import __version__
from workbench.errors import StoreError
from workbench.experiments.replay_job import policy_of, replay_sessions
from workbench.experiments.replay_rows import policy_id
from workbench.reports.asking import answer
from workbench.reports.context import context_report
from workbench.reports.context_frames import ContextFrames, typed
from workbench.reports.render.manifest import Manifest, write_report
from workbench.reports.render.numbers import Clock
from workbench.reports.sessions_job import ATTEMPTS, WrittenReport, asker, table_versions
from workbench.store.sql import query

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.experiments.replay_job import OnExchange
    from workbench.store.lake import Lake

FILE: Final = "context.html"

READ: Final = (
    "sessions", "session_labels", "sources", "turn_records", "replays", "compiles", "unit_scores", "distiller_stats",
)  # fmt: skip
"""Tables that the report is made from."""


class ReadContext(NamedTuple):
    """What the report is made of, and the versions of the tables that it was read at."""

    frames: ContextFrames
    versions: dict[str, int | None]


def read_context(lake: Lake, session_ids: Sequence[str] | None = None) -> ReadContext:
    """Ask the lake for everything that the report tells.

    Args:
        lake: The tables.
        session_ids: Only of these sessions; of all unless given.

    Raises:
        StoreError: A table cannot be read, or imports never paused.
    """
    for _ in range(ATTEMPTS):
        versions = _versions(lake)
        connection = lake.connection(READ)
        ask = asker(connection)
        try:
            replays = typed(answer(ask, "context_replays", session_ids), "replays")
            chosen = {"replay_ids": replays["replay_id"].drop_nulls().to_list()}
            names = ("prompts", "units", "distillers")
            told = {name: typed(ask(query(f"context_{name}"), chosen), name) for name in names}
        finally:
            connection.close()
        if _versions(lake) == versions:
            return ReadContext(ContextFrames(replays, **told), versions)
    raise StoreError("imports finish faster than the report can be made; try again in a moment")


def to_replay(replays: pl.DataFrame, policy: str) -> list[str]:
    """Sessions with exchanges whose newest replay is missing or no longer holds, in the order of the frame.

    A replay holds as long as configuration and version of workbench are the same, and the session was not imported
    again.

    Args:
        replays: As in `ContextFrames`.
        policy: Id of the configuration that counts.
    """
    holds = (
        pl.col("replay_id").is_not_null()
        & (pl.col("policy_id") == policy)
        & (pl.col("code_version") == __version__)
        & ~pl.col("is_outdated")
    ).fill_null(value=False)
    return replays.filter((pl.col("exchanges") > 0) & ~holds)["session_id"].to_list()


def write_context_report(
    lake: Lake,
    config: Config,
    out: Path,
    *,
    session_ids: Sequence[str] | None = None,
    about: Sequence[str] = (),
    created_at: datetime | None = None,
    zone: tzinfo | None = None,
    progress: OnExchange | None = None,
) -> WrittenReport:
    """Write the report, and beside it `<name>.manifest.json`; replay first what needs it, by words alone.

    Args:
        lake: The tables.
        config: Under which prompts are made.
        out: The file, or a folder for `context.html`.
        session_ids: Only of these sessions.
        about: Further lines for the page's foot.
        created_at: The time it bears, with a zone; now unless given.
        zone: Of its times; None is the local one.
        progress: Hears of each session that is replayed.

    Returns:
        Where it is.

    Raises:
        StoreError: The tables cannot be read or written, or the file cannot be written.
    """
    policy = policy_of(config, "exchange")
    waiting = to_replay(_replays(lake, session_ids), policy_id(policy))
    if waiting:
        replay_sessions(lake, waiting, policy, progress=progress)
    frames, versions = read_context(lake, session_ids)
    made_at = datetime.now(UTC) if created_at is None else created_at
    html = context_report(
        frames,
        config.context_engine.pressure,
        created_at=made_at,
        zone=zone,
        about=[_made_under(policy_id(policy)), *about],
    )
    parameters = {
        "session_ids": None if session_ids is None else list(session_ids),
        "policy_id": policy_id(policy),
        "level": "exchange",
        "embedders": sorted(set(frames.replays["embedder"].drop_nulls())),
        "zone": Clock.of(zone, [made_at]).name,
    }
    path = out if out.suffix.lower() in (".html", ".htm") else out / FILE
    try:
        manifest = write_report(path, html, Manifest("context", made_at, versions, parameters))
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"the report {path} cannot be written ({why}); name another place for it") from error
    return WrittenReport(path, manifest, frames.replays.height, len(html.encode()))


def _made_under(policy: str) -> str:
    return f"Prompts were made under policy {policy}; the table replays holds the whole of it."


def _replays(lake: Lake, session_ids: Sequence[str] | None) -> pl.DataFrame:
    return typed(answer(lake.sql, "context_replays", session_ids), "replays")


def _versions(lake: Lake) -> dict[str, int | None]:
    return {name: version for name, version in table_versions(lake).items() if name in READ}
