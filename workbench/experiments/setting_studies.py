"""Studies of settings in the table `setting_studies`: what was found, and what it was made from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from workbench import __version__
from workbench.config import config_hash
from workbench.experiments.study.plain import SpaceResult
from workbench.text.ids import content_hash

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.store.lake import Lake

_DIGITS: Final = 24


class SettingRecipe(msgspec.Struct, frozen=True, kw_only=True):
    """What a study of settings was made from.

    Attributes:
        what: fusion, idle-turns or hydration.
        asked: The arguments of its runner, and hashes of files that it read.
        settings: All that decides it of the configuration, by section.
        tables: The version of each table that was read; empty where it was made from files.
    """

    what: str
    asked: dict[str, Any]
    settings: dict[str, Any]
    tables: dict[str, int | None] = {}


class _Kept(msgspec.Struct, frozen=True):
    result: SpaceResult
    recipe: SettingRecipe


class RecordedSettingStudy(NamedTuple):
    """A study that ended: what it says (with its id), what it was made from, and when."""

    result: SpaceResult
    recipe: SettingRecipe
    recorded_at: datetime


def record_setting_study(lake: Lake, config: Config, result: SpaceResult, recipe: SettingRecipe) -> SpaceResult:
    """Keep a study; one that was kept already stays as it is.

    Returns:
        It with its id: a hash of what it was made from and what it found.

    Raises:
        StoreError: The table cannot be written.
    """
    kept = msgspec.json.encode(_Kept(result, recipe)).decode()
    study_id = content_hash(kept)[:_DIGITS]
    if lake.sql("select 1 from setting_studies where study_id = ? limit 1", [study_id]).height:
        return msgspec.structs.replace(result, study_id=study_id)
    store = lake.stores["setting_studies"]
    row = {
        "study_id": study_id,
        "what": recipe.what,
        "measure": result.measure,
        "grouped_by": result.of,
        "groups": result.groups,
        "seed": result.seed,
        "best_hand_set": result.best_hand_set,
        "gain": result.gain.estimate,
        "gain_low": result.gain.low,
        "gain_high": result.gain.high,
        "minimum_detectable": result.minimum_detectable_effect,
        "null_mean": result.null.mean,
        "null_standard_error": result.null.standard_error,
        "null_holds": result.null.holds,
        "verdict": result.verdict,
        "settings": msgspec.json.encode(result.found).decode(),
        "result": kept,
        "config_hash": config_hash(config),
        "code_version": __version__,
        "recorded_at": datetime.now(UTC),
    }
    store.append(store.table.from_dicts([row]))
    return msgspec.structs.replace(result, study_id=study_id)


def recorded_setting_studies(lake: Lake, name: str | None = None, most: int = 6) -> list[RecordedSettingStudy]:
    """Studies of settings that ended, the newest first.

    Args:
        lake: The tables.
        name: The beginning of their ids; any unless given.
        most: How many at most.
    """
    rows = lake.sql(
        "select study_id, result, recorded_at from setting_studies where $name is null or starts_with(study_id, $name) "
        "qualify row_number() over (partition by study_id order by recorded_at) = 1 "
        "order by recorded_at desc limit $most",
        {"name": name, "most": most},
    )
    found = [(study_id, msgspec.json.decode(kept, type=_Kept), at) for study_id, kept, at in rows.rows()]
    return [
        RecordedSettingStudy(msgspec.structs.replace(kept.result, study_id=study_id), kept.recipe, at)
        for study_id, kept, at in found
    ]
