"""From a lake to the files of the telemetry report, and its numbers again from the same snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec

from workbench.config.context import ContextEngine
from workbench.errors import StoreError
from workbench.reports.comparing import Compared, Question, make_comparison
from workbench.reports.render.manifest import Manifest, write_report
from workbench.reports.render.numbers import Clock
from workbench.reports.telemetry import numbers_frame, telemetry_report

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.store.lake import Lake

NAME: Final = "telemetry"
FILE: Final = "telemetry.html"


class _Study(msgspec.Struct, frozen=True):
    bootstrap_draws: Annotated[int, msgspec.Meta(ge=1)]


class _Configuration(msgspec.Struct, frozen=True):
    study: _Study
    context_engine: ContextEngine


class _Parameters(msgspec.Struct, frozen=True):
    question: Question


class _Made(msgspec.Struct, frozen=True):
    """What a manifest tells of how the numbers were made."""

    configuration: _Configuration
    parameters: _Parameters


class WrittenComparison(NamedTuple):
    """A report on disk, and the comparison it tells."""

    path: Path
    manifest: Path
    numbers: Path
    size_bytes: int
    compared: Compared


def write_telemetry_report(
    lake: Lake,
    config: Config,
    out: Path,
    question: Question,
    *,
    command: str | None = None,
    about: Sequence[str] = (),
    created_at: datetime | None = None,
    zone: tzinfo | None = None,
) -> WrittenComparison:
    """Write the report, beside it `<name>.parquet` with its numbers and `<name>.manifest.json`.

    Args:
        lake: The tables.
        config: Of the draws, and of the kinds of task.
        out: The file, or a folder for `telemetry.html`.
        question: What is compared with what.
        command: What makes it anew.
        about: Further lines for the page's foot.
        created_at: The time it bears, with a zone; now unless given.
        zone: Of its times; None is the local one.

    Raises:
        BadInputError: As for `make_comparison`.
        StoreError: The tables cannot be read or the files cannot be written.
    """
    compared = make_comparison(lake, config, question)
    made_at = datetime.now(UTC) if created_at is None else created_at
    html = telemetry_report(compared, created_at=made_at, zone=zone, about=about)
    parameters = {"question": msgspec.to_builtins(question), "zone": Clock.of(zone, [made_at]).name}
    path = out if out.suffix.lower() in (".html", ".htm") else out / FILE
    manifest = Manifest(
        NAME,
        made_at,
        compared.versions,
        parameters,
        seed=question.seed,
        command=command,
        configuration=configuration_of(config),
    )
    try:
        beside = write_report(path, html, manifest, numbers_frame(compared))
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"the report {path} cannot be written ({why}); name another place for it") from error
    return WrittenComparison(path, beside, path.with_suffix(".parquet"), len(html.encode()), compared)


def configuration_of(config: Config) -> dict[str, Any]:
    """The settings that the numbers depend on."""
    return {
        "context_engine": msgspec.to_builtins(config.context_engine),
        "study": {"bootstrap_draws": config.study.bootstrap_draws},
    }


def numbers_again(
    lake: Lake,
    config: Config,
    told: Mapping[str, Any],
    *,
    progress: Callable[[int, int, str], None] | None = None,
) -> pl.DataFrame:
    """The numbers of a report made again.

    Args:
        lake: At the versions of the tables that the manifest names.
        config: Of today; what the manifest tells comes before it.
        told: The manifest.
        progress: Not called: it takes seconds.

    Raises:
        msgspec.ValidationError: It does not tell all of that.
    """
    del progress
    made = msgspec.convert(told, _Made, strict=False)
    study = msgspec.structs.replace(config.study, bootstrap_draws=made.configuration.study.bootstrap_draws)
    then = msgspec.structs.replace(config, study=study, context_engine=made.configuration.context_engine)
    return numbers_frame(make_comparison(lake, then, made.parameters.question))
