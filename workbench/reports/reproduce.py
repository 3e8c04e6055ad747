"""A report's numbers made again from its manifest, on the very snapshots it was made from, and what is different.

A report that can be reproduced has a module with `numbers_again(lake, config, told, progress=...)`, listed in `AGAIN`;
its manifest names a Parquet file of its numbers (`render.manifest.write_report`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol

import msgspec

from workbench.errors import BadInputError, NotFoundError
from workbench.reports.render.manifest import package_versions
from workbench.store.pinned import pinned_lake

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.store.lake import Lake

AGAIN: Final = {
    "telemetry": "workbench.reports.telemetry_job",
    "tuning": "workbench.reports.tuning_job",
}
"""Modules that make a report's numbers again, by report."""

SHOWN: Final = 20
"""Different numbers that are listed; all are counted."""

Progress = Callable[[int, int, str], None]


class _File(msgspec.Struct, frozen=True):
    file: str
    sha256: str


class _Told(msgspec.Struct, frozen=True):
    """What every manifest tells that numbers are made from again; what else it tells is the report's own."""

    report: str
    file: str
    sha256: str
    tables: dict[str, Annotated[int, msgspec.Meta(ge=0)] | None]
    packages: dict[str, str | None]
    parameters: dict[str, Any]
    numbers: _File | None = None
    command: str | None = None


class Change(msgspec.Struct, frozen=True):
    """Something that is not as it was."""

    name: str
    before: Any
    now: Any


class Reproduction(msgspec.Struct, frozen=True):
    """What came of it.

    Attributes:
        report: Which report.
        equal: Whether every number is the same, to the last digit.
        close: Whether every number is the same to nine digits, where they are not equal.
        numbers: How many were compared.
        different: How many differ.
        changes: The first of those that differ.
        shape: Columns or rows that are not the same, in words.
        packages: Packages of other versions than then.
        report_file: `same`, `changed` or `missing`: the page itself, against its hash.
        command: What makes the report anew from the tables as they are now.
    """

    report: str
    equal: bool
    close: bool
    numbers: int
    different: int
    changes: list[Change]
    shape: list[str]
    packages: list[Change]
    report_file: str
    command: str | None


class Again(Protocol):
    """Makes the numbers of a report again."""

    def __call__(
        self, lake: Lake, config: Config, told: Mapping[str, Any], *, progress: Progress | None = None
    ) -> pl.DataFrame:
        """The numbers, by what the manifest tells."""


def reproduce(lake: Lake, config: Config, path: Path, *, progress: Progress | None = None) -> Reproduction:
    """Make a report's numbers again and compare.

    Args:
        lake: The home that the report was made from.
        config: Of today; what the manifest tells comes before it.
        path: The manifest.
        progress: Called with things done, things in all and what they are.

    Raises:
        NotFoundError: There is no such file, or its numbers are not beside it.
        BadInputError: It is no manifest, of a report that cannot be reproduced, or its numbers were changed.
        StoreError: A snapshot cannot be read any more.
    """
    told = read_manifest(path)
    before = _numbers(path, told)
    again: Again = import_module(AGAIN[told["report"]]).numbers_again
    try:
        now = again(pinned_lake(lake, told["tables"]), config, told, progress=progress)
    except msgspec.ValidationError as error:
        raise BadInputError(f"{path} does not tell how the numbers were made: {error}") from error
    shape = list(_shape(before, now))
    differing = [] if shape else list(_differing(before, now))
    return Reproduction(
        report=told["report"],
        equal=not shape and not differing,
        close=not shape and all(is_close for _, is_close in differing),
        numbers=before.height * before.width,
        different=len(differing),
        changes=[change for change, _ in differing[:SHOWN]],
        shape=shape,
        packages=_packages(told["packages"]),
        report_file=_report_file(path, told),
        command=told.get("command"),
    )


def read_manifest(path: Path) -> dict[str, Any]:
    """A manifest of a report that can be reproduced.

    Raises:
        NotFoundError: There is no such file.
        BadInputError: It is no manifest, or of another report.
    """
    try:
        told = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no manifest {path}; it lies beside the report: NAME.manifest.json") from error
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} cannot be read as a manifest: {error}") from error
    try:
        msgspec.convert(told, _Told)
    except msgspec.ValidationError as error:
        raise BadInputError(
            f"{path} is no manifest of a report ({error}); name the file NAME.manifest.json beside it"
        ) from error
    if told["report"] not in AGAIN or not told.get("numbers"):
        raise BadInputError(
            f"the report {told['report']!r} keeps no numbers to compare; those that do: {', '.join(AGAIN)}"
        )
    return dict(told)


def _numbers(path: Path, told: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415  (175 ms)

    file = path.with_name(Path(str(told["numbers"]["file"])).name)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise NotFoundError(f"the numbers of the report are not there: {file}; they lie beside the manifest") from error
    if sha256(content).hexdigest() != told["numbers"]["sha256"]:
        raise BadInputError(f"{file} is not what the manifest names: it was changed after the report was written")
    try:
        return pl.read_parquet(content)
    except pl.exceptions.PolarsError as error:
        raise BadInputError(f"{file} cannot be read as Parquet: {error}") from error


def _shape(before: pl.DataFrame, now: pl.DataFrame) -> Iterator[str]:
    gone, new = (sorted(set(one.columns) - set(other.columns)) for one, other in ((before, now), (now, before)))
    if gone:
        yield f"columns that are not there any more: {', '.join(gone)}"
    if new:
        yield f"new columns: {', '.join(new)}"
    if before.height != now.height:
        yield f"{before.height} rows then, {now.height} now"


def _differing(before: pl.DataFrame, now: pl.DataFrame) -> Iterator[tuple[Change, bool]]:
    """Cells that are not the same, and whether they are close; rows are named by their first texts."""
    for place, (old, new) in enumerate(zip(before.iter_rows(named=True), now.iter_rows(named=True), strict=True)):
        name = " ".join(value for value in list(old.values())[:2] if isinstance(value, str)) or f"row {place + 1}"
        for column, value in old.items():
            if not _same(value, new[column]):
                yield Change(f"{name}: {column}", value, new[column]), _is_close(value, new[column])


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124  (not a number is not itself)


def _is_close(one: Any, other: Any) -> bool:
    is_number = isinstance(one, float) and isinstance(other, float)
    return is_number and isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _packages(then: Mapping[str, Any]) -> list[Change]:
    now = package_versions()
    names = sorted({*then, *now})
    return [Change(name, then.get(name), now.get(name)) for name in names if then.get(name) != now.get(name)]


def _report_file(path: Path, told: Mapping[str, Any]) -> str:
    file = path.with_name(Path(str(told["file"])).name)
    try:
        content = file.read_bytes()
    except OSError:
        return "missing"
    return "same" if sha256(content).hexdigest() == told["sha256"] else "changed"
