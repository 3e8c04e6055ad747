"""A study over a home: frames and groups in, trials recorded as they come, the result last.

A study exists when its row in `studies` does. One that was broken off has left trials; the same command goes on from
there, since its id follows from the data and from what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import msgspec

from workbench import __version__
from workbench.config import config_hash
from workbench.config.context import ContextEngine, Tiers
from workbench.errors import AmbiguousError, NotFoundError, StoreError
from workbench.experiments import recorded
from workbench.experiments.frame_cache import frame_keys, read_frames
from workbench.experiments.frames import FRAME_VERSION
from workbench.experiments.replay_job import policy_of
from workbench.experiments.setting_studies import RecordedSettingStudy
from workbench.experiments.study.folds import connected, developer_of
from workbench.experiments.study.memory import Memory
from workbench.experiments.study.result import StudyResult
from workbench.experiments.study.run import Study
from workbench.experiments.study.settings import Grouping, StudySettings
from workbench.store.pinned import pinned_lake, versions_of
from workbench.text.ids import content_hash

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.context.pool import Embed
    from workbench.context.session import Level, Policy
    from workbench.experiments.frames import SessionFrame
    from workbench.store.lake import Lake

STUDY_VERSION: Final = 3
"""Part of a study's id: raise it when the same trials would be judged otherwise."""
_DIGITS: Final = 24

READ: Final = (*recorded.READ, "sources")
"""Tables that a study is made from."""
ATTEMPTS: Final = 5
"""How often versions are looked up again because an import landed in between."""

Progress = Callable[[int, int, str], None]

_SHARED: Final = """
    with seen as (select event_id, min(session_id) as first from events group by event_id
                  having count(distinct session_id) > 1)
    select distinct e.session_id, s.first from events e join seen s using (event_id) where e.session_id != s.first
"""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """All that a study is made from: by it and the tables the same study is made again.

    Attributes:
        settings: What was asked for.
        engine: How cards are made, of the configuration.
        tiers: How state sinks, of the configuration.
        steps_max: Model calls at a session's end that are looked at.
        embedder: Model that judges meaning; None where words alone tell.
        session_ids: Whole ids; None for all sessions.
        tables: The version of each table; None for one that did not exist.
    """

    settings: StudySettings
    engine: ContextEngine
    tiers: Tiers
    steps_max: int
    embedder: str | None
    session_ids: list[str] | None
    tables: dict[str, int | None]


class _Kept(msgspec.Struct, frozen=True):
    recipe: Recipe | None = None


class RecordedStudy(NamedTuple):
    """A study that ended: what it says, what it was made from (None of an older one), and when."""

    result: StudyResult
    recipe: Recipe | None
    recorded_at: datetime


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
    """Make a study, or go on with one that was broken off; one that ended is told as it was kept.

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
    recipe = Recipe(
        settings=settings,
        engine=config.context_engine,
        tiers=config.tiers,
        steps_max=config.study.steps_max,
        embedder=embedder,
        session_ids=None if session_ids is None else list(session_ids),
        tables=settled_versions(lake),
    )
    pinned = pinned_lake(lake, recipe.tables)
    grouping = _grouping(pinned, recipe)
    study_id = _study_id(pinned, config, recipe, grouping)
    ended = _ended(lake, study_id)
    if ended is not None:
        return ended
    study = _study(pinned, config, recipe, embed, progress, (study_id, grouping))
    study.memory = Memory(_known(lake, study_id), lambda rows: _record(lake, study_id, rows))
    result = study.run()
    _finish(lake, config, result, recipe)
    return result


def study_again(
    lake: Lake, config: Config, recipe: Recipe, *, embed: Embed | None = None, progress: Progress | None = None
) -> StudyResult:
    """Make a study again from the tables alone: every trial and permutation anew. Nothing is recorded.

    Args:
        lake: At the versions of the recipe.
        config: Of today; the recipe comes before it.
        recipe: What the study was made from.
        embed: Makes vectors, where the recipe asks for them and the cache has none.
        progress: As for `run_study`.
    """
    grouping = _grouping(lake, recipe)
    named = _study_id(lake, config, recipe, grouping), grouping
    return _study(lake, config, recipe, embed, progress, named).run()


def recorded_study(lake: Lake, name: str | None = None) -> RecordedStudy:
    """A study of weights that ended.

    Args:
        lake: The tables.
        name: Its id or the beginning of it; the newest study unless given, or for `last`.

    Raises:
        NotFoundError: There is none.
        AmbiguousError: Several ids begin so.
    """
    return the_one(recorded_studies(lake, beginning(name)), name)


def recorded_studies(lake: Lake, name: str | None = None, most: int = 6) -> list[RecordedStudy]:
    """Studies of weights that ended, the newest first; arguments are those of `recorded_setting_studies`."""
    rows = lake.sql(
        "select result, recorded_at from studies where $name is null or starts_with(study_id, $name) "
        "qualify row_number() over (partition by study_id order by recorded_at) = 1 "
        "order by recorded_at desc limit $most",
        {"name": name, "most": most},
    )
    return [
        RecordedStudy(
            msgspec.json.decode(kept, type=StudyResult), msgspec.json.decode(kept, type=_Kept).recipe, recorded_at
        )
        for kept, recorded_at in rows.rows()
    ]


def beginning(name: str | None) -> str | None:
    """How the id of a study begins that is asked for by this name; None for `last` and where none is given."""
    return None if name == "last" else name


R = TypeVar("R", bound=RecordedStudy | RecordedSettingStudy)


def the_one(found: Sequence[R], name: str | None) -> R:
    """The study that is meant, of those that fit, the newest first.

    Raises:
        NotFoundError: There is none.
        AmbiguousError: Several ids begin so.
    """
    if not found:
        told = f"no study begins with {name!r}" if beginning(name) is not None else "no study was made in this home yet"
        raise NotFoundError(f"{told}; `workbench tune` makes one")
    if beginning(name) is not None and len(found) > 1:
        listed = ", ".join(str(each.result.study_id) for each in found)
        raise AmbiguousError(f"{name!r} fits several studies: {listed}; write more of the id")
    return found[0]


def _study(
    lake: Lake,
    config: Config,
    recipe: Recipe,
    embed: Embed | None,
    progress: Progress | None,
    named: tuple[str, Grouping],
) -> Study:
    """A study that nothing was done of yet."""
    frames: dict[str, dict[str, SessionFrame]] = {}
    for level in _levels(recipe.settings.level):
        framed = read_frames(
            lake,
            _policy(config, recipe, level),
            steps_max=recipe.steps_max,
            embed=embed,
            embedder=recipe.embedder,
            session_ids=recipe.session_ids,
            progress=progress,
        )
        frames[level] = framed.frames
    study_id, grouping = named
    return Study(study_id, recipe.settings, frames, grouping, recipe.embedder, Memory(), progress)


def _policy(config: Config, recipe: Recipe, level: Level) -> Policy:
    return policy_of(msgspec.structs.replace(config, context_engine=recipe.engine, tiers=recipe.tiers), level)


def _ended(lake: Lake, study_id: str) -> StudyResult | None:
    """The result of a study that ended; None where it has not."""
    query = "select result from studies where study_id = ? order by recorded_at limit 1"
    rows = lake.sql(query, [study_id])
    return msgspec.json.decode(rows.item(), type=StudyResult) if rows.height else None


def settled_versions(lake: Lake) -> dict[str, int | None]:
    """Versions of all tables between two imports.

    Raises:
        StoreError: Imports never paused.
    """
    for _ in range(ATTEMPTS):
        versions = versions_of(lake, READ)
        if versions_of(lake, READ) == versions:
            return versions
    raise StoreError("imports finish faster than the tables can be looked at; try again in a moment")


def _levels(level: str) -> Sequence[Level]:
    return ("step", "exchange") if level == "step" else ("exchange", "step")


def _study_id(lake: Lake, config: Config, recipe: Recipe, grouping: Grouping) -> str:
    """Hash of all that a study depends on; no frame is read for it."""
    keys = {
        level: frame_keys(
            lake,
            _policy(config, recipe, level),
            steps_max=recipe.steps_max,
            embedder=recipe.embedder,
            session_ids=recipe.session_ids,
        )
        for level in _levels(recipe.settings.level)
    }
    asked = [msgspec.to_builtins(recipe.settings), recipe.embedder]
    told = msgspec.json.encode([STUDY_VERSION, FRAME_VERSION, asked, keys, msgspec.to_builtins(grouping)])
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


def groups_of(lake: Lake, session_ids: Sequence[str] | None = None) -> dict[str, str]:
    """Sessions and the group of each: those that share records are in one, which is named after its first.

    Args:
        lake: The tables.
        session_ids: Whole ids; all sessions unless given.
    """
    names = lake.sql("select session_id from sessions order by session_id")["session_id"].to_list()
    shared = connected(names, lake.sql(_SHARED).rows())
    wanted = set(names) if session_ids is None else set(session_ids)
    return _named_within({name: group for name, group in shared.items() if name in wanted})


def _grouping(lake: Lake, recipe: Recipe) -> Grouping:
    """What is known of the sessions of a study; who else shares records with them does not matter."""
    shared = groups_of(lake, recipe.session_ids)
    rows = lake.sql("select session_id, project_id, cwd from sessions order by session_id").rows()
    return Grouping(
        shared=shared,
        developers={row[0]: developer_of(row[2]) for row in rows if row[0] in shared},
        projects={row[0]: row[1] for row in rows if row[0] in shared},
    )


def _named_within(groups: Mapping[str, str]) -> dict[str, str]:
    """Groups by their first member among these names, so that sessions of other studies do not rename them."""
    first: dict[str, str] = {}
    for name in sorted(groups):
        first.setdefault(groups[name], name)
    return {name: first[groups[name]] for name in sorted(groups)}


def _finish(lake: Lake, config: Config, result: StudyResult, recipe: Recipe) -> None:
    if lake.sql("select 1 from studies where study_id = ? limit 1", [result.study_id]).height:
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
        "result": msgspec.json.encode(result.to_dict() | {"recipe": recipe}).decode(),
        "config_hash": config_hash(config),
        "code_version": __version__,
        "recorded_at": datetime.now(UTC),
    }
    store.append(store.table.from_dicts([row]))
