"""Replays of recorded sessions, written to the context tables; and why a unit was in a prompt or not.

A replay exists when its row in `replays` does: the other tables are written first, so that one that was broken off
leaves nothing that a reader would take for whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.context.scoring import ADDED
from workbench.context.session import Policy
from workbench.errors import AmbiguousError, NotFoundError
from workbench.experiments.recorded import read_each
from workbench.experiments.replay import replay
from workbench.experiments.replay_rows import policy_id, replay_rows

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.context.pool import Embed
    from workbench.context.session import Level
    from workbench.experiments.replay import Mode
    from workbench.experiments.replay_rows import Row
    from workbench.store.lake import Lake

BATCH_ROWS: Final = 50_000
"""Rows of `unit_scores` held before they are written: a commit costs some 20 ms."""

OnExchange = Callable[[int, int, str], None]
"""Called with sessions done, sessions in all, and the session at hand."""


class ReplayedSession(msgspec.Struct, frozen=True):
    """One session that was replayed."""

    replay_id: str
    session_id: str
    prompts: int
    raw_tokens: int
    classic_tokens: int
    most_pressure: float


class ReplayResult(msgspec.Struct, frozen=True):
    """What was replayed, and under which policy."""

    policy_id: str
    mode: str
    level: str
    embedder: str | None
    sessions: list[ReplayedSession]


def policy_of(config: Config, level: Level) -> Policy:
    """The configured policy."""
    window = config.llm.context_window or config.llm.fallback_context_window
    return Policy(
        compiler=config.compiler, tiers=config.tiers, engine=config.context_engine, window=window, level=level
    )


def replay_sessions(
    lake: Lake,
    session_ids: Sequence[str],
    policy: Policy,
    *,
    mode: Mode = "engine",
    embed: Embed | None = None,
    embedder: str | None = None,
    progress: OnExchange | None = None,
) -> ReplayResult:
    """Replay sessions and write what came of it.

    Args:
        lake: The tables.
        session_ids: Whole ids.
        policy: How prompts are made.
        mode: `engine` or `classic`.
        embed: Makes vectors; words alone tell relevance without it.
        embedder: Its model id.
        progress: Hears of each session.

    Returns:
        One entry a session. Broken off, what was written stays, each session wholly or not at all.
    """
    done: list[ReplayedSession] = []
    waiting: dict[str, list[Row]] = {}
    for place, session in enumerate(read_each(lake, session_ids)):
        if progress:
            progress(place, len(session_ids), session.session_id)
        made = replay(session, policy, mode=mode, embed=embed)
        rows = replay_rows(made, mode=mode, embedder=embedder, recorded_at=datetime.now(UTC))
        for table, found in rows.items():
            waiting.setdefault(table, []).extend(found)
        done.append(_told(rows))
        if len(waiting["unit_scores"]) >= BATCH_ROWS:
            _write(lake, waiting)
    _write(lake, waiting)
    if progress:
        progress(len(session_ids), len(session_ids), "")
    return ReplayResult(policy_id(policy), mode, policy.level, embedder, done)


def why(
    lake: Lake, session_id: str, turn: int, unit: str, *, step: int = 0, replay_id: str | None = None
) -> dict[str, Any]:
    """Why a unit was in a prompt or not.

    Args:
        lake: The tables.
        session_id: Whole id.
        turn: The exchange, from 1.
        unit: The unit's id, or a part of it that fits no other unit of the prompt.
        step: The model call in the exchange; 0 for a prompt by exchange.
        replay_id: The replay; the newest one of the engine at this level unless given.

    Returns:
        `unit` (its row of `unit_scores`), `terms` (those that add up to its score), `compile` (the row of the prompt),
        and `last_included` and `first_left_out` of its band (rows, or None): what it competed with.

    Raises:
        NotFoundError: There is no such replay, prompt or unit; the message says what there is.
        AmbiguousError: Several units fit.
    """
    prompt = _prompt(lake, session_id, turn, step, replay_id)
    units = lake.sql(
        "select * from unit_scores where compile_id = ? order by band, rank", [prompt["compile_id"]]
    ).to_dicts()
    row = _unit(units, unit, turn)
    rivals = [other for other in units if other["band"] == row["band"] and other["unit_id"] != row["unit_id"]]
    return {
        "unit": row,
        "terms": {name: row[name] for name in ADDED},
        "compile": prompt,
        "last_included": next((each for each in reversed(rivals) if each["included"]), None),
        "first_left_out": next((each for each in rivals if not each["included"]), None),
    }


def _told(rows: dict[str, list[Row]]) -> ReplayedSession:
    (about,), prompts = rows["replays"], rows["compiles"]
    return ReplayedSession(
        replay_id=about["replay_id"],
        session_id=about["session_id"],
        prompts=len(prompts),
        raw_tokens=sum(row["raw_tokens"] for row in prompts),
        classic_tokens=sum(row["classic_tokens"] for row in prompts),
        most_pressure=max((row["pressure"] for row in prompts), default=0.0),
    )


def _write(lake: Lake, waiting: dict[str, list[Row]]) -> None:
    """Append what waits, the rows of `replays` last."""
    for name in sorted(waiting, key=lambda name: name == "replays"):
        if waiting[name]:
            store = lake.stores[name]
            store.append(store.table.from_dicts(waiting[name]))
    waiting.clear()


def _prompt(lake: Lake, session_id: str, turn: int, step: int, replay_id: str | None) -> dict[str, Any]:
    level = "step" if step else "exchange"
    asked = {"session": session_id, "level": level, "replay": replay_id}
    found = lake.sql(
        """
        select replay_id from replays
        where session_id = $session and level = $level and mode = 'engine' and ($replay is null or replay_id = $replay)
        order by recorded_at desc, replay_id desc limit 1
        """,
        asked,
    )
    if not found.height:
        which = f"replay {replay_id}" if replay_id else "replay"
        command = f"workbench context replay {session_id} --level {level}"
        raise NotFoundError(f"session {session_id} has no {which} by {level}; make one: {command}")
    name = found.item()
    rows = lake.sql(
        "select * from compiles where replay_id = ? and turn = ? and step = ?", [name, turn, step]
    ).to_dicts()
    if rows:
        return rows[0]
    there = lake.sql("select distinct turn, step from compiles where replay_id = ? order by turn, step", [name]).rows()
    told = ", ".join(f"{one}.{other}" if other else str(one) for one, other in there[:_SHOWN])
    more = " ..." if len(there) > _SHOWN else ""
    raise NotFoundError(
        f"replay {name} has no prompt {turn}{f'.{step}' if step else ''}; it has {told or 'none'}{more}"
    )


def _unit(units: Sequence[dict[str, Any]], wanted: str, turn: int) -> dict[str, Any]:
    exact = [row for row in units if row["unit_id"] == wanted]
    fitting = exact or [row for row in units if wanted in row["unit_id"]]
    if len(fitting) == 1:
        return fitting[0]
    ids = [row["unit_id"] for row in (fitting or units)]
    told = ", ".join(ids[:_SHOWN]) + (" ..." if len(ids) > _SHOWN else "")
    if fitting:
        raise AmbiguousError(f"{wanted!r} fits several units of turn {turn}: {told}")
    raise NotFoundError(f"no unit {wanted!r} was on offer at turn {turn}; there were {told or 'none'}")


_SHOWN: Final = 12
"""Names listed in a message."""
