"""A study over a home: frames and groups in, trials recorded as they come, the result last.

A study exists when its row in `studies` does. One that was broken off has left trials; the same command goes on from
there, since its id follows from the data and from what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench import __version__
from workbench.config import config_hash
from workbench.experiments.frame_cache import read_frames
from workbench.experiments.frames import FRAME_VERSION
from workbench.experiments.replay_job import policy_of
from workbench.experiments.study.folds import connected, developer_of
from workbench.experiments.study.memory import Memory
from workbench.experiments.study.result import StudyResult
from workbench.experiments.study.run import Study
from workbench.experiments.study.settings import Grouping, StudySettings
from workbench.text.ids import content_hash

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.context.pool import Embed
    from workbench.context.session import Level
    from workbench.experiments.frames import SessionFrame
    from workbench.store.lake import Lake

STUDY_VERSION: Final = 1
"""Part of a study's id: raise it when the same trials would be judged otherwise."""
_DIGITS: Final = 24

Progress = Callable[[int, int, str], None]

_SHARED: Final = """
    with seen as (select event_id, min(session_id) as first from events group by event_id
                  having count(distinct session_id) > 1)
    select distinct e.session_id, s.first from events e join seen s using (event_id) where e.session_id != s.first
"""


def run_study(
    lake: Lake,
    config: Config,
    settings: StudySettings,
    *,
    embed: Embed | None = None,
    embedder: str | None = None,
    session_ids: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Make a study, or go on with one that was broken off.

    Args:
        lake: The tables.
        config: How cards are made.
        settings: What is asked for.
        embed: Makes vectors; words alone tell without it.
        embedder: Its model id.
        session_ids: Whole ids; all sessions unless given.
        progress: Called with things done, things in all and what they are.

    Returns:
        The result, which is then in `studies`.
    """
    frames: dict[str, dict[str, SessionFrame]] = {}
    keys: dict[str, dict[str, str]] = {}
    for level in _levels(settings.level):
        framed = read_frames(
            lake,
            policy_of(config, level),
            steps_max=config.study.steps_max,
            embed=embed,
            embedder=embedder,
            session_ids=session_ids,
            progress=progress,
        )
        frames[level], keys[level] = framed.frames, framed.keys
    study_id = _study_id(settings, keys, embedder)
    memory = Memory(_known(lake, study_id), lambda rows: _record(lake, study_id, rows))
    study = Study(study_id, settings, frames, _grouping(lake), embedder, memory, progress)
    result = study.run()
    _finish(lake, config, result)
    return result


def recorded_study(lake: Lake, study_id: str) -> StudyResult | None:
    """A study that ended, by its id; None where there is none."""
    rows = lake.sql("select result from studies where study_id = ? order by recorded_at desc limit 1", [study_id])
    return msgspec.json.decode(rows.item(), type=StudyResult) if rows.height else None


def _levels(level: str) -> Sequence[Level]:
    return ("step", "exchange") if level == "step" else ("exchange", "step")


def _study_id(settings: StudySettings, keys: Mapping[str, Mapping[str, str]], embedder: str | None) -> str:
    told = msgspec.json.encode([STUDY_VERSION, FRAME_VERSION, msgspec.to_builtins(settings), keys, embedder])
    return content_hash(told.decode())[:_DIGITS]


def _known(lake: Lake, study_id: str) -> list[dict[str, Any]]:
    rows = lake.sql("select stage, run, part, number, settings, value from trials where study_id = ?", [study_id])
    return [row | {"settings": msgspec.json.decode(row["settings"])} for row in rows.iter_rows(named=True)]


def _record(lake: Lake, study_id: str, rows: Sequence[Mapping[str, Any]]) -> None:
    now = datetime.now(UTC)
    store = lake.stores["trials"]
    told = [
        {**row, "settings": msgspec.json.encode(row["settings"]).decode(), "study_id": study_id, "recorded_at": now}
        for row in rows
    ]
    store.append(store.table.from_dicts(told))


def _grouping(lake: Lake) -> Grouping:
    rows = lake.sql("select session_id, project_id, cwd from sessions").rows()
    return Grouping(
        shared=connected((row[0] for row in rows), lake.sql(_SHARED).rows()),
        developers={row[0]: developer_of(row[2]) for row in rows},
        projects={row[0]: row[1] for row in rows},
    )


def _finish(lake: Lake, config: Config, result: StudyResult) -> None:
    if recorded_study(lake, result.study_id) is not None:
        return
    gain, null = result.gain, result.null
    store = lake.stores["studies"]
    row = {
        "study_id": result.study_id,
        "kind": "scoring",
        "level": result.level,
        "need": result.need,
        "budget_tokens": result.budget_tokens,
        "embedder": result.embedder,
        "seed": result.seed,
        "sessions": result.dropped["sessions"],
        "sessions_scored": result.dropped["sessions_scored"],
        "moments_scored": result.dropped["moments_scored"],
        "best_hand_set": result.best_hand_set,
        "gain": None if gain is None else gain.estimate,
        "gain_low": None if gain is None else gain.low,
        "gain_high": None if gain is None else gain.high,
        "minimum_detectable": result.minimum_detectable_effect,
        "null_mean": None if null is None else null.mean,
        "null_standard_error": None if null is None else null.standard_error,
        "null_holds": None if null is None else null.holds,
        "verdict": result.verdict,
        "weights": msgspec.json.encode(result.weights).decode(),
        "result": msgspec.json.encode(result).decode(),
        "config_hash": config_hash(config),
        "code_version": __version__,
        "recorded_at": datetime.now(UTC),
    }
    store.append(store.table.from_dicts([row]))
