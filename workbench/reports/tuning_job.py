"""From a lake to the files of the tuning report, and its study made again from the same snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from workbench.errors import BadInputError, StoreError
from workbench.experiments.setting_jobs import setting_study_again
from workbench.experiments.setting_studies import RecordedSettingStudy, SettingRecipe, recorded_setting_studies
from workbench.experiments.study.plain import SpaceResult
from workbench.experiments.study.result import StudyResult
from workbench.experiments.study_job import Recipe, RecordedStudy, beginning, recorded_studies, study_again, the_one
from workbench.reports.render.manifest import Manifest, write_report
from workbench.reports.render.numbers import Clock
from workbench.reports.setting_report import numbers_frame as setting_numbers
from workbench.reports.setting_report import told_by as settings_told
from workbench.reports.tuning import told_by as weights_told
from workbench.reports.tuning_numbers import numbers_frame as weight_numbers
from workbench.reports.tuning_parts import study_page

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.context.pool import Embed
    from workbench.store.lake import Lake

NAME: Final = "tuning"
FILE: Final = "tuning.html"


class _OfWeights(msgspec.Struct, frozen=True):
    """What a manifest tells of a study of weights."""

    recipe: Recipe | None


class _OfSettings(msgspec.Struct, frozen=True):
    """The same of other settings."""

    setting_recipe: SettingRecipe


class WrittenStudy(NamedTuple):
    """A report on disk, the study it tells, and its verdict in a sentence."""

    path: Path
    manifest: Path
    numbers: Path
    size_bytes: int
    result: StudyResult | SpaceResult
    headline: str


def write_tuning_report(
    lake: Lake,
    out: Path,
    study: str | None = None,
    *,
    command: str | None = None,
    about: Sequence[str] = (),
    created_at: datetime | None = None,
    zone: tzinfo | None = None,
) -> WrittenStudy:
    """Write the report, beside it `<name>.parquet` with its numbers and `<name>.manifest.json`.

    Args:
        lake: The tables.
        out: The file, or a folder for `tuning.html`.
        study: Id of a recorded study, of weights or of other settings, or its beginning; the newest unless given.
        command: What makes it anew; `workbench report tuning` with the study's id unless given.
        about: Further lines for the page's foot.
        created_at: The time it bears, with a zone; now unless given.
        zone: Of its times; None is the local one.

    Raises:
        NotFoundError, AmbiguousError: As for `recorded_study`.
        StoreError: The tables cannot be read or the files cannot be written.
    """
    begins = beginning(study)
    found: list[RecordedStudy | RecordedSettingStudy]
    found = [*recorded_studies(lake, begins), *recorded_setting_studies(lake, begins)]
    result, recipe, ended_at = the_one(sorted(found, key=lambda each: each.recorded_at, reverse=True), study)
    made_at = datetime.now(UTC) if created_at is None else created_at
    told = weights_told(result) if isinstance(result, StudyResult) else settings_told(result)
    html = study_page(told, made_at=ended_at, created_at=made_at, zone=zone, about=about)
    path = out if out.suffix.lower() in (".html", ".htm") else out / FILE
    parameters = {"study": result.study_id, "zone": Clock.of(zone, [made_at]).name}
    manifest = Manifest(
        NAME,
        made_at,
        {} if recipe is None else recipe.tables,
        parameters | {"setting_recipe" if isinstance(recipe, SettingRecipe) else "recipe": msgspec.to_builtins(recipe)},
        seed=result.seed,
        command=command or f"workbench report tuning {result.study_id}",
    )
    try:
        beside = write_report(path, html, manifest, _numbers(result))
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"the report {path} cannot be written ({why}); name another place for it") from error
    return WrittenStudy(path, beside, path.with_suffix(".parquet"), len(html.encode()), result, told.headline)


def numbers_again(
    lake: Lake,
    config: Config,
    told: Mapping[str, Any],
    *,
    progress: Callable[[int, int, str], None] | None = None,
) -> pl.DataFrame:
    """The numbers of a report made again: every trial, fold and permutation.

    Args:
        lake: At the versions of the tables that the manifest names.
        config: Of today; what the manifest tells comes before it.
        told: The manifest.
        progress: Called with things done, things in all and what they are.

    Raises:
        msgspec.ValidationError: It does not tell all of that.
        BadInputError: It is of a study that did not keep what it was made from, or of another embedder.
        EmbedderUnavailableError: Vectors are to be made and there is no embedder.
    """
    if "setting_recipe" in told["parameters"]:
        setting = msgspec.convert(told["parameters"], _OfSettings).setting_recipe
        return _numbers(setting_study_again(lake, config, setting, progress=progress))
    recipe = msgspec.convert(told["parameters"], _OfWeights).recipe
    if recipe is None:
        raise BadInputError(
            "the report is of a study by an older workbench, which did not keep what it was made from; "
            "`workbench tune` makes it anew, `workbench report tuning` its report"
        )
    embed = None if recipe.embedder is None else _embed(lake, config, recipe.embedder)
    return _numbers(study_again(lake, config, recipe, embed=embed, progress=progress))


def _numbers(result: StudyResult | SpaceResult) -> pl.DataFrame:
    return weight_numbers(result) if isinstance(result, StudyResult) else setting_numbers(result)


def _embed(lake: Lake, config: Config, model: str) -> Embed:
    """The embedder of a study, loaded when the first vector is to be made: frames in the cache have theirs.

    Raises:
        BadInputError: When it is called and another model is configured.
    """

    def embed(texts: Sequence[str]) -> Any:
        from workbench.search.sessions import SessionSearch  # noqa: PLC0415

        embedder = SessionSearch(lake, config).embedder
        if embedder.model_id != model:
            raise BadInputError(
                f"the study judged meaning by {model}, and {embedder.model_id} is configured; "
                "set embedding.model to the former"
            )
        return embedder.embed(texts)

    return embed
