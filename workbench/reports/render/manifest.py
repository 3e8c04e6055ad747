"""What a report was made from, so that it can be made again: a JSON file beside it."""

from __future__ import annotations

import io
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.store.files import write_atomic

if TYPE_CHECKING:
    import polars as pl

PACKAGES: Final = (
    "workbench", "deltalake", "duckdb", "genai-prices", "numpy", "optuna", "polars", "pyarrow",
    "scikit-learn", "scipy", "vl-convert-python",
)  # fmt: skip
"""Those that a report's numbers and drawings depend on."""


def package_versions() -> dict[str, str | None]:
    """Versions of Python and `PACKAGES`; None for what is not installed as a package."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Manifest:
    """What a report was made from.

    Attributes:
        report: Which report it is.
        created_at: When, with a zone.
        tables: The Delta version of each table that was read; None for one that did not exist.
        parameters: What was asked for.
        seed: Where chance had a part.
        packages: Versions by package.
        command: What makes it anew from the tables as they are.
        configuration: Settings that the numbers depend on.
    """

    report: str
    created_at: datetime
    tables: Mapping[str, int | None]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    packages: Mapping[str, str | None] = field(default_factory=package_versions)
    command: str | None = None
    configuration: Mapping[str, Any] | None = None

    def json(self, file: str, content: bytes, numbers: tuple[str, bytes] | None = None) -> bytes:
        """The manifest of a written report, which it names by its hash, as it does the file of its numbers."""
        told = {
            "report": self.report,
            "file": file,
            "sha256": sha256(content).hexdigest(),
            "size_bytes": len(content),
            "created_at": self.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "numbers": None if numbers is None else _named(*numbers),
            "command": self.command,
            "parameters": dict(self.parameters),
            "configuration": None if self.configuration is None else dict(self.configuration),
            "seed": self.seed,
            "tables": dict(self.tables),
            "packages": dict(self.packages),
        }
        return json.dumps(told, indent=1, ensure_ascii=False).encode() + b"\n"


def _named(file: str, content: bytes) -> dict[str, Any]:
    return {"file": file, "sha256": sha256(content).hexdigest(), "size_bytes": len(content)}


def write_report(path: Path, html: str, manifest: Manifest, numbers: pl.DataFrame | None = None) -> Path:
    """Write a report, its numbers and its manifest, each wholly or not at all.

    Args:
        path: The report's file; its folder is made.
        html: The page.
        manifest: What it was made from.
        numbers: What is in it, for `<name>.parquet`; no such file unless given.

    Returns:
        The manifest's file, `<name>.manifest.json`.

    Raises:
        OSError: The folder cannot be written to.
    """
    content = html.encode()
    beside = path.with_name(f"{path.stem}.manifest.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content)
    written = None if numbers is None else (f"{path.stem}.parquet", _parquet(numbers))
    if written is not None:
        write_atomic(path.with_name(written[0]), written[1])
    write_atomic(beside, manifest.json(path.name, content, written))
    return beside


def _parquet(frame: pl.DataFrame) -> bytes:
    made = io.BytesIO()
    frame.write_parquet(made)
    return made.getvalue()
